/*
 * client_cron.c - a client's calls about recurring entries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/client.h"
#include "client/cron_index.h"
#include "protocol/cron_definition.h"
#include "protocol/cron_layered.h"
#include "protocol/envelope.h"
#include "protocol/outgoing.h"
#include "protocol/partition.h"
#include "protocol/scripts.h"
#include "protocol/spec.h"

/* A payload, and a line with what is in a header, escaped. */
#define DEFINITION_MAX ((size_t)REEVE_CRON_PAYLOAD_MAX + 8 * (size_t)REEVE_META_MAX + 8 * 4096)

/* ---- setting --------------------------------------------------------------------------------------------------- */

typedef struct set_call {
    reeve_client *client;
    rv_prefix prefix;
    const char *ns;
    const reeve_cron_entry *entry;
    bool paused; /* where it is new */
    rv_buf definition;
    int64_t answer;  /* -1: none that is understood */
    char words[256]; /* of the first error */
} set_call;

/* An entry's queue is there to be seen before its first task. */
static void build_set(rv_conn *conn, bool again, const void *context)
{
    const set_call *call = context;
    (void)again;
    rv_cmd(conn, 3);
    rv_args(conn, "SADD");
    rv_arg2(conn, call->ns, strlen(call->ns), ":queues", 7);
    rv_args(conn, call->entry->task->queue);
    rv_cmd_script(conn, &rv_script_cron, 1, 4);
    rv_arg(conn, call->prefix.text, call->prefix.length);
    rv_args(conn, "set");
    rv_args(conn, call->entry->name);
    rv_arg(conn, call->definition.data, call->definition.length);
    rv_args(conn, call->paused ? "paused" : "");
}

static void on_set(size_t index, const rv_reply *reply, void *context)
{
    set_call *call = context;
    if (index == 0) call->words[0] = '\0'; /* an earlier try may have left an error */
    if (rv_client_put_off(call->client, reply)) return;
    if (rv_reply_is(reply, RV_ERROR) && call->words[0] == '\0')
        rv_copy_text(call->words, sizeof(call->words), reply->text);
    if (index == 1) call->answer = rv_reply_int(reply, -1);
}

static reeve_status send_set(reeve_client *client, set_call *call, bool *ret_changed)
{
    bool again = false;
    if (call->definition.failed) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a recurring entry");
    reeve_status status = rv_client_exec(client, build_set, call, on_set, call, &again);
    if (status != REEVE_OK) return status;
    if (call->words[0] != '\0') return rv_client_refused(client, call->words);
    if (call->answer < 0) return rv_client_odd_reply(client, "cron");
    /* A first call whose reply was lost may have changed it. */
    if (ret_changed != NULL) *ret_changed = call->answer > 0 || again;
    return REEVE_OK;
}

/* ---- where it was ---------------------------------------------------------------------------------------------- */

/* The other queue that has the entry of this name, or ""; and whether it is paused there. */
static reeve_status find_elsewhere(reeve_client *client, const reeve_cron_entry *entry, char known[REEVE_QUEUE_MAX + 1],
                                   char ret_from[REEVE_QUEUE_MAX + 1], bool *ret_paused)
{
    const rv_reply *reply;
    ret_from[0] = '\0';
    reeve_status status = rv_cron_index_read(client, entry->name, known);
    if (status != REEVE_OK || known[0] == '\0' || rv_partition_is_same(known, entry->task->queue)) return status;
    status = rv_cron_fetch(client, known, entry->name, &reply);
    if (status != REEVE_OK || reply == NULL) return status;
    rv_copy_text(ret_from, REEVE_QUEUE_MAX + 1, known);
    *ret_paused = rv_reply_is_text(reply->items[2], "paused");
    return REEVE_OK;
}

/* It is set where it is to be, then removed where it was: cut short in between, it is there twice until it is set
 * again, and is lost at no time. */
static reeve_status set_and_move(reeve_client *client, set_call *call, bool *ret_changed,
                                 char ret_from[REEVE_QUEUE_MAX + 1])
{
    const reeve_cron_entry *entry = call->entry;
    char known[REEVE_QUEUE_MAX + 1];
    reeve_status status = find_elsewhere(client, entry, known, ret_from, &call->paused);
    if (status == REEVE_OK) status = send_set(client, call, ret_changed);
    if (status == REEVE_OK && ret_from[0] != '\0') {
        const rv_reply *reply;
        rv_simple_call removal = {
            .script = &rv_script_cron, .queue = ret_from, .args = {"remove", entry->name}, .count = 2};
        status = rv_client_script(client, &removal, &reply, NULL);
    }
    if (status != REEVE_OK || strcmp(known, entry->task->queue) == 0) return status;
    return rv_cron_index_write(client, entry->name, entry->task->queue);
}

/* digest_key, given: of the layers, and the task before them. */
static reeve_status set_checked(reeve_client *client, const reeve_cron_entry *entry, const rv_siphash_key *digest_key,
                                const reeve_task_spec *given, bool *ret_changed, char ret_from[REEVE_QUEUE_MAX + 1])
{
    char digest[RV_CRON_DIGEST_MAX];
    reeve_status status = rv_cron_definition_check(entry, &client->error);
    if (status == REEVE_OK) status = rv_spec_check_under(entry->task, &client->size_limits, &client->error);
    if (status == REEVE_OK) status = rv_cron_layered_digest(digest, entry, given, digest_key, &client->error);
    if (status != REEVE_OK) return status;
    set_call call = {.client = client, .ns = client->ns, .entry = entry, .answer = -1};
    rv_keys_set_prefix(&call.prefix, client->ns, entry->task->queue);
    rv_buf_init(&call.definition, DEFINITION_MAX);
    rv_cron_definition_write(&call.definition, entry, digest);
    status = set_and_move(client, &call, ret_changed, ret_from);
    rv_buf_fini(&call.definition);
    return status;
}

/* So that the entry is not taken for one of another queue, and removed there. A malformed name stays: it is refused. */
static void use_canonical_queue(reeve_task_spec *task, char ret[REEVE_QUEUE_MAX + 1])
{
    if (task->queue == NULL || !rv_valid_queue(task->queue, strlen(task->queue))) return;
    rv_copy_text(ret, REEVE_QUEUE_MAX + 1, task->queue);
    rv_partition_canonicalize(ret);
    task->queue = ret;
}

reeve_status reeve_cron_set_with_origin_sized(reeve_client *client, const reeve_cron_entry *given, bool *ret_changed,
                                              char *ret_from, size_t entry_size, size_t spec_size)
{
    reeve_cron_entry entry;
    reeve_task_spec task = {0};
    reeve_outgoing outgoing = {0};
    char from[REEVE_QUEUE_MAX + 1] = "", queue[REEVE_QUEUE_MAX + 1];
    if (client == NULL) return REEVE_EINVAL;
    reeve_status status = rv_cron_definition_read(&entry, &task, given, entry_size, spec_size, &client->error);
    const reeve_task_spec before = task;
    if (status == REEVE_OK && client->layers.count > 0 && entry.layered == NULL)
        status = rv_outgoing_apply(&outgoing, &client->layers, &client->size_limits, &task, &client->error);
    if (status == REEVE_OK) use_canonical_queue(&task, queue);
    if (status == REEVE_OK) status = set_checked(client, &entry, &outgoing.digest_key, &before, ret_changed, from);
    rv_outgoing_fini(&outgoing);
    if (status == REEVE_OK && ret_from != NULL) memcpy(ret_from, from, sizeof(from));
    return status;
}

reeve_status reeve_cron_set_sized(reeve_client *client, const reeve_cron_entry *given, bool *ret_changed,
                                  size_t entry_size, size_t spec_size)
{
    return reeve_cron_set_with_origin_sized(client, given, ret_changed, NULL, entry_size, spec_size);
}

/* ---- changes by hand --------------------------------------------------------------------------------------------- */

static reeve_status no_entry(reeve_client *client, const char *queue, const char *name)
{
    return rv_fail(&client->error, REEVE_ENOTFOUND, "there is no recurring entry %s/%s", queue, name);
}

/* Returns 1, 0 or -1 as cron.lua does. *ret_again: an earlier try may have been executed. */
static reeve_status make_change(reeve_client *client, const char *verb, const char *queue, const char *name,
                                int64_t *ret, bool *ret_again)
{
    if (client == NULL) return REEVE_EINVAL;
    reeve_status status = rv_cron_definition_check_name(name, &client->error);
    if (status != REEVE_OK) return status;
    const rv_reply *reply;
    rv_simple_call call = {.script = &rv_script_cron, .queue = queue, .args = {verb, name}, .count = 2};
    status = rv_client_script(client, &call, &reply, ret_again);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_INT)) return rv_client_odd_reply(client, "cron");
    *ret = reply->number;
    return REEVE_OK;
}

reeve_status reeve_cron_remove(reeve_client *client, const char *queue, const char *name)
{
    int64_t answer = 0;
    bool again;
    reeve_status status = make_change(client, "remove", queue, name, &answer, &again);
    if (status == REEVE_OK) status = rv_cron_index_drop(client, name, queue);
    if (status != REEVE_OK || answer >= 0 || again) return status;
    return no_entry(client, queue, name);
}

static reeve_status set_paused(reeve_client *client, const char *verb, const char *queue, const char *name,
                               bool *ret_changed)
{
    int64_t answer = 0;
    bool again;
    reeve_status status = make_change(client, verb, queue, name, &answer, &again);
    if (status != REEVE_OK) return status;
    if (answer < 0) return no_entry(client, queue, name);
    if (ret_changed != NULL) *ret_changed = answer > 0 || again;
    return REEVE_OK;
}

reeve_status reeve_cron_pause(reeve_client *client, const char *queue, const char *name, bool *ret_changed)
{
    return set_paused(client, "pause", queue, name, ret_changed);
}

reeve_status reeve_cron_resume(reeve_client *client, const char *queue, const char *name, bool *ret_changed)
{
    return set_paused(client, "resume", queue, name, ret_changed);
}

/* ---- a task now ------------------------------------------------------------------------------------------------ */

static void build_time(rv_conn *conn, bool again, const void *context)
{
    (void)again;
    (void)context;
    rv_cmd(conn, 1);
    rv_args(conn, "TIME");
}

static reeve_status ask_time(reeve_client *client, int64_t *ret_ms)
{
    const rv_reply *reply;
    reeve_status status = rv_client_call(client, build_time, NULL, &reply, NULL);
    if (status != REEVE_OK) return status;
    int64_t seconds = rv_reply_int(rv_reply_at(reply, 0), -1), us = rv_reply_int(rv_reply_at(reply, 1), -1);
    if (seconds < 0 || us < 0) return rv_client_odd_reply(client, "TIME");
    *ret_ms = seconds * 1000 + us / 1000;
    return REEVE_OK;
}

/* *ret: the reply of fire.lua; a task that an earlier try made counts as made. */
static reeve_status fire_now(reeve_client *client, const char *queue, const char *name, const char *id, int64_t *ret)
{
    const rv_reply *reply;
    bool again;
    rv_simple_call call = {.script = &rv_script_fire, .queue = queue, .args = {name, "", "-1", id}, .count = 4};
    reeve_status status = rv_client_script(client, &call, &reply, &again);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_INT)) return rv_client_odd_reply(client, "fire");
    *ret = again && reply->number == 0 ? 1 : reply->number;
    return REEVE_OK;
}

reeve_status reeve_cron_run(reeve_client *client, const char *queue, const char *name, char ret_id[REEVE_ID_MAX])
{
    char id[REEVE_ID_MAX];
    int64_t now = 0, answer = 0;
    if (client == NULL) return REEVE_EINVAL;
    reeve_status status = rv_cron_definition_check_name(name, &client->error);
    if (status == REEVE_OK) status = rv_keys_check_queue(queue, &client->error);
    if (status == REEVE_OK) status = ask_time(client, &now);
    if (status != REEVE_OK) return status;
    int length = snprintf(id, sizeof(id), "cron:%s:now:%lld", name, (long long)now);
    status = fire_now(client, queue, name, id, &answer);
    if (status == REEVE_OK && answer == 0) { /* the id is taken: by another one in this millisecond */
        char unlike[RV_RANDOM_LENGTH + 1];
        rv_random_id(unlike);
        (void)snprintf(id + length, sizeof(id) - (size_t)length, "-%.6s", unlike);
        status = fire_now(client, queue, name, id, &answer);
    }
    if (status != REEVE_OK) return status;
    if (answer == -2) {
        return rv_fail(&client->error, REEVE_ESTATE, "%s/%s wants no overlap, and its last task has not ended", queue,
                       name);
    }
    if (answer < 0) return no_entry(client, queue, name);
    if (answer == 0) return rv_fail(&client->error, REEVE_EEXISTS, "a task %s/%s exists already", queue, id);
    if (ret_id != NULL) memcpy(ret_id, id, sizeof(id));
    return REEVE_OK;
}
