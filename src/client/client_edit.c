/*
 * client_edit.c - changes options, payload, tags and metadata of a task.
 */
#include <stdio.h>
#include <string.h>

#include "base/layout.h"
#include "client/change_call.h"
#include "client/partitions.h"
#include "protocol/enqueue_refusal.h"
#include "protocol/scripts.h"
#include "protocol/spec.h"
#include "protocol/task_policy.h"
#include "reeve/change.h"

typedef struct edit_call {
    rv_prefix prefix;
    const char *id;
    const reeve_task_edit *edit;
    rv_buf text; /* JSON values, one after the other */
} edit_call;

/* ---- checks ---------------------------------------------------------------------------------------------------- */

/* The fields that apply, as an enqueue checks them. */
static reeve_status check_fields(reeve_client *client, const char *queue, const reeve_task_edit *edit)
{
    unsigned fields = edit->fields;
    reeve_task_spec spec = {.queue = queue, .type = "t", .tags = edit->tags, .tag_count = edit->tag_count};
    spec.meta = edit->meta;
    spec.meta_count = edit->meta_count;
    if (fields & REEVE_EDIT_PAYLOAD) spec.payload = edit->payload;
    if (fields & REEVE_EDIT_TYPE) spec.type = edit->type;
    if (fields & REEVE_EDIT_PRIORITY) spec.priority = edit->priority;
    if (fields & REEVE_EDIT_GROUP) spec.group = edit->group;
    if (fields & REEVE_EDIT_GROUP) spec.weight = edit->weight;
    if (fields & REEVE_EDIT_ATTEMPTS) spec.attempts = edit->attempts;
    if (fields & REEVE_EDIT_MAX_CRASHES) spec.max_crashes = edit->max_crashes;
    if (fields & REEVE_EDIT_TIMEOUT) spec.timeout_ms = edit->timeout_ms;
    if (fields & REEVE_EDIT_HEARTBEAT) spec.heartbeat_ms = edit->heartbeat_ms;
    if (fields & REEVE_EDIT_BACKOFF) spec.backoff = edit->backoff;
    if (fields & REEVE_EDIT_RETRY_FOR) spec.retry_for_ms = edit->retry_for_ms;
    if (fields & REEVE_EDIT_MAX_SNOOZES) spec.max_snoozes = edit->max_snoozes;
    if (fields & REEVE_EDIT_KEEP) spec.keep_ms = edit->keep_ms;
    if (fields & REEVE_EDIT_COST) spec.cost = edit->cost;
    if (fields & REEVE_EDIT_ON_DEAD) spec.on_dead = edit->on_dead;
    if (fields & REEVE_EDIT_LIMIT_KEYS) spec.limit_keys = edit->limit_keys;
    if (fields & REEVE_EDIT_LIMIT_KEYS) spec.limit_key_count = edit->limit_key_count;
    return rv_spec_check_under(&spec, &client->size_limits, &client->error);
}

static reeve_status check_removed(reeve_client *client, const char *what, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names == NULL || names[i] == NULL || names[i][0] == '\0')
            return rv_fail(&client->error, REEVE_EINVAL, "%s to remove: number %zu is empty", what, i + 1);
    return REEVE_OK;
}

static reeve_status check(reeve_client *client, const char *queue, const char *id, const reeve_task_edit *edit)
{
    const unsigned known = 2 * REEVE_EDIT_LIMIT_KEYS - 1;
    reeve_status status = rv_keys_check_id(id, &client->error);
    if (status == REEVE_OK && edit->fields > known)
        status = rv_fail(&client->error, REEVE_EINVAL, "fields to change: there is no field %u", edit->fields & ~known);
    if (status == REEVE_OK) status = check_fields(client, queue, edit);
    if (status == REEVE_OK) status = check_removed(client, "a tag", edit->removed_tags, edit->removed_tag_count);
    if (status == REEVE_OK) status = check_removed(client, "a key", edit->removed_meta, edit->removed_meta_count);
    return status;
}

/* ---- the call -------------------------------------------------------------------------------------------------- */

static unsigned count_bits(unsigned fields)
{
    unsigned count = 0;
    for (; fields > 0; fields &= fields - 1) count++;
    return count;
}

static size_t count_changes(const reeve_task_edit *edit)
{
    return count_bits(edit->fields) + ((edit->fields & REEVE_EDIT_GROUP) != 0) + edit->tag_count +
           edit->removed_tag_count + edit->meta_count + edit->removed_meta_count;
}

static void add_pair(rv_conn *conn, const char *name, const char *value, size_t length)
{
    rv_args(conn, name);
    rv_arg(conn, value, length);
}

/* 0: the field is removed. */
static void add_number(rv_conn *conn, const char *name, int64_t number)
{
    char digits[24] = "";
    if (number != 0) (void)snprintf(digits, sizeof(digits), "%lld", (long long)number);
    add_pair(conn, name, digits, strlen(digits));
}

/* A text that is JSON in `text`, from `start` on; NULL: the field is removed. */
static void add_json(edit_call *call, rv_conn *conn, const char *name, const char *text)
{
    rv_buf_clear(&call->text);
    if (text != NULL) rv_buf_add_json(&call->text, text, strlen(text));
    add_pair(conn, name, rv_buf_text(&call->text), call->text.length);
}

static void add_backoff(edit_call *call, rv_conn *conn, const reeve_backoff *backoff)
{
    rv_buf_clear(&call->text);
    if (backoff != NULL) rv_task_policy_write_backoff(&call->text, backoff);
    add_pair(conn, "backoff", rv_buf_text(&call->text), call->text.length);
}

static void add_limit_keys(edit_call *call, rv_conn *conn)
{
    rv_buf_clear(&call->text);
    rv_spec_write_texts(&call->text, call->edit->limit_keys, call->edit->limit_key_count);
    add_pair(conn, "limit_keys", rv_buf_text(&call->text), call->text.length);
}

static void add_options(edit_call *call, rv_conn *conn)
{
    const reeve_task_edit *e = call->edit;
    if (e->fields & REEVE_EDIT_PAYLOAD) add_pair(conn, "payload", e->payload.data, e->payload.length);
    if (e->fields & REEVE_EDIT_TYPE) add_pair(conn, "type", e->type, strlen(e->type));
    if (e->fields & REEVE_EDIT_PRIORITY) add_number(conn, "priority", e->priority);
    if (e->fields & REEVE_EDIT_GROUP) add_json(call, conn, "group", e->group);
    if (e->fields & REEVE_EDIT_GROUP) add_number(conn, "weight", e->weight > 1 ? e->weight : 0);
    if (e->fields & REEVE_EDIT_ATTEMPTS) add_number(conn, "attempts", e->attempts);
    if (e->fields & REEVE_EDIT_MAX_CRASHES) add_number(conn, "crashes", e->max_crashes);
    if (e->fields & REEVE_EDIT_TIMEOUT) add_number(conn, "timeout", e->timeout_ms);
    if (e->fields & REEVE_EDIT_HEARTBEAT) add_number(conn, "heartbeat", e->heartbeat_ms);
    if (e->fields & REEVE_EDIT_BACKOFF) add_backoff(call, conn, e->backoff);
    if (e->fields & REEVE_EDIT_RETRY_FOR) add_number(conn, "retry_for", e->retry_for_ms);
    if (e->fields & REEVE_EDIT_MAX_SNOOZES) add_number(conn, "snoozes", e->max_snoozes);
    if (e->fields & REEVE_EDIT_KEEP) add_number(conn, "keep", e->keep_ms);
    if (e->fields & REEVE_EDIT_COST) add_number(conn, "cost", e->cost);
    if (e->fields & REEVE_EDIT_ON_DEAD) add_json(call, conn, "on_dead", e->on_dead);
    if (e->fields & REEVE_EDIT_LIMIT_KEYS) add_limit_keys(call, conn);
}

static void add_meta(edit_call *call, rv_conn *conn, const reeve_meta *meta)
{
    rv_buf_clear(&call->text);
    rv_buf_add_json(&call->text, meta->key, strlen(meta->key));
    rv_buf_addc(&call->text, ':');
    rv_buf_add_json(&call->text, meta->value, strlen(meta->value));
    add_pair(conn, "meta", rv_buf_text(&call->text), call->text.length);
}

static void build(rv_conn *conn, bool again, const void *context)
{
    edit_call *call = (edit_call *)context; /* its text is scratch space */
    const reeve_task_edit *e = call->edit;
    (void)again;
    rv_cmd_script(conn, &rv_script_edit, 1, 1 + 2 * (count_changes(e) + e->expire));
    rv_arg(conn, call->prefix.text, call->prefix.length);
    rv_args(conn, call->id);
    add_options(call, conn);
    if (e->expire) add_pair(conn, "expire", "1", 1);
    for (size_t i = 0; i < e->removed_tag_count; i++)
        add_pair(conn, "untag", e->removed_tags[i], strlen(e->removed_tags[i]));
    for (size_t i = 0; i < e->tag_count; i++) add_pair(conn, "tag", e->tags[i], strlen(e->tags[i]));
    for (size_t i = 0; i < e->removed_meta_count; i++)
        add_pair(conn, "unmeta", e->removed_meta[i], strlen(e->removed_meta[i]));
    for (size_t i = 0; i < e->meta_count; i++) add_meta(call, conn, &e->meta[i]);
}

static reeve_status run(reeve_client *client, const char *queue, edit_call *call)
{
    const rv_reply *reply;
    bool again;
    const rv_change_call what = {{&rv_script_edit, queue, {call->id}, 1}, "edit", NULL, NULL, false};
    rv_keys_set_prefix(&call->prefix, client->ns, queue);
    reeve_status status = rv_client_call(client, build, call, &reply, &again);
    if (status != REEVE_OK) return status;
    if (rv_reply_is(reply, RV_TEXT) && strncmp(reply->text, "tags ", 5) == 0)
        return rv_fail(&client->error, REEVE_ETOOBIG, "cannot edit %s/%s: it would have %s tags; at most %d", queue,
                       call->id, reply->text + 5, REEVE_TAGS_MAX);
    if (rv_reply_is(reply, RV_TEXT) && strncmp(reply->text, "large ", 6) == 0)
        return rv_enqueue_refusal_explain_size(&client->error, queue, reply->text + 6);
    return rv_change_call_answer(client, &what, reply, again);
}

#define TEXT_MAX ((size_t)1 << 20)

reeve_status reeve_edit_sized(reeve_client *client, const char *queue, const char *id, const reeve_task_edit *given,
                              size_t edit_size)
{
    if (client == NULL) return REEVE_EINVAL;
    reeve_task_edit edit;
    edit_call call = {.id = id, .edit = &edit};
    if (given == NULL) return rv_fail(&client->error, REEVE_EINVAL, "no changes were given");
    reeve_status status = RV_LAYOUT_READ(&edit, given, edit_size, "the changes", &client->error);
    if (status == REEVE_OK) status = check(client, queue, id, &edit);
    if (status != REEVE_OK) return status;
    if (count_changes(&edit) == 0) return REEVE_OK;
    char partition[REEVE_QUEUE_MAX + 1];
    const char *found = rv_partitions_locate(client, queue, id, partition);
    if (found == NULL) return client->error.status;
    rv_buf_init(&call.text, TEXT_MAX);
    status = run(client, found, &call);
    rv_buf_fini(&call.text);
    return status;
}
