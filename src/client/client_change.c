/*
 * client_change.c - changes of single tasks by hand that are not in client_control.c.
 */
#include "reeve/change.h"

#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "base/text.h"
#include "client/change_call.h"
#include "client/partitions.h"
#include "protocol/scripts.h"

reeve_status reeve_expire(reeve_client *client, const char *queue, const char *id)
{
    const rv_change_call what = {{&rv_script_expire, queue, {id}, 1}, "expire the lease of", "ready", NULL, false};
    return rv_change_call_run(client, &what);
}

reeve_status reeve_fail(reeve_client *client, const char *queue, const char *id, const char *kind, const char *message)
{
    if (client == NULL) return REEVE_EINVAL;
    if (message == NULL) message = "";
    if (kind == NULL || kind[0] == '\0' || strlen(kind) > REEVE_KIND_MAX)
        return rv_fail(&client->error, REEVE_EINVAL, "the kind of the error: it has 1 to %d bytes", REEVE_KIND_MAX);
    if (strlen(message) > REEVE_MESSAGE_MAX)
        return rv_fail(&client->error, REEVE_EINVAL, "the message: it has at most %d bytes", REEVE_MESSAGE_MAX);
    const rv_change_call what = {{&rv_script_fail, queue, {id, kind, message}, 3}, "fail", "dead", NULL, false};
    return rv_change_call_run(client, &what);
}

reeve_status reeve_add_log(reeve_client *client, const char *queue, const char *id, const char *line)
{
    if (client == NULL) return REEVE_EINVAL;
    if (line == NULL) return rv_fail(&client->error, REEVE_EINVAL, "no line was given");
    char cut[REEVE_MESSAGE_MAX + 1], lines[16], call_id[RV_RANDOM_LENGTH + 1];
    size_t length = rv_utf8_cut(line, strnlen(line, REEVE_MESSAGE_MAX + 1), REEVE_MESSAGE_MAX);
    memcpy(cut, line, length);
    cut[length] = '\0';
    rv_utf8_clean(cut, length);
    (void)snprintf(lines, sizeof(lines), "%d", REEVE_LOG_LINES);
    rv_random_id(call_id);
    const rv_change_call what = {
        {&rv_script_add_log, queue, {id, cut, lines, call_id}, 4}, "add a line to the log of", NULL, NULL, false};
    return rv_change_call_run(client, &what);
}

reeve_status reeve_unlock(reeve_client *client, const char *queue, const char *key, char ret_holder[REEVE_ID_MAX])
{
    if (client == NULL) return REEVE_EINVAL;
    if (key == NULL || key[0] == '\0' || strlen(key) > REEVE_UNIQUE_MAX)
        return rv_fail(&client->error, REEVE_EINVAL, "the unique key: it has 1 to %d bytes", REEVE_UNIQUE_MAX);
    const rv_reply *reply;
    bool again;
    const rv_simple_call call = {.script = &rv_script_unlock, .queue = queue, .args = {key}, .count = 1};
    reeve_status status = rv_client_script(client, &call, &reply, &again);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_TEXT)) return rv_client_odd_reply(client, "unlock");
    if (ret_holder != NULL) rv_copy_text(ret_holder, REEVE_ID_MAX, reply->text);
    if (reply->length > 0 || again) return REEVE_OK;
    return rv_fail(&client->error, REEVE_ENOTFOUND, "no task of queue %s holds the key \"%s\"", queue, key);
}

/* ---- move ------------------------------------------------------------------------------------------------------ */

/* The unique key of the task; "": none, or there is no such task: move.lua says what has become of it. */
static reeve_status read_unique(reeve_client *client, const char *queue, const char *id, char ret[REEVE_UNIQUE_MAX + 1])
{
    reeve_task_info *info;
    ret[0] = '\0';
    reeve_status status = reeve_show(client, queue, id, &info);
    if (status != REEVE_OK) return status == REEVE_ENOTFOUND ? REEVE_OK : status;
    if (info->unique != NULL) rv_copy_text(ret, REEVE_UNIQUE_MAX + 1, info->unique);
    reeve_task_info_free(info);
    return REEVE_OK;
}

/* Whether the target has a place for the task. */
static reeve_status look_at_target(reeve_client *client, const char *queue, const char *id, const char *target)
{
    const rv_reply *reply;
    char unique[REEVE_UNIQUE_MAX + 1];
    reeve_status status = read_unique(client, queue, id, unique);
    if (status != REEVE_OK) return status;
    const rv_simple_call call = {
        .script = &rv_script_arrive, .queue = target, .args = {"look", id, unique}, .count = 3};
    status = rv_client_script(client, &call, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_TEXT)) return rv_client_odd_reply(client, "move");
    if (strcmp(reply->text, "exists") == 0)
        return rv_fail(&client->error, REEVE_EEXISTS, "cannot move %s/%s: a task %s/%s exists already", queue, id,
                       target, id);
    if (strncmp(reply->text, "unique ", 7) == 0)
        return rv_fail(&client->error, REEVE_EUNIQUE, "cannot move %s/%s: its unique key is held by %s/%s", queue, id,
                       target, reply->text + 7);
    return REEVE_OK;
}

/* Whether an earlier call has moved it. */
static bool was_moved(reeve_client *client, const char *queue, const char *id, const char *target)
{
    const rv_reply *reply;
    const rv_simple_call call = {.script = &rv_script_move, .queue = queue, .args = {id, target}, .count = 2};
    reeve_task_info *info;
    if (reeve_show(client, queue, id, &info) == REEVE_OK) {
        reeve_task_info_free(info);
        return false;
    }
    return rv_client_script(client, &call, &reply, NULL) == REEVE_OK && rv_reply_is_text(reply, "ok more");
}

/* The partition of a divided target: the name that scripts know, and the exact one, for calls to it. */
typedef struct destination {
    char name[REEVE_QUEUE_MAX + 1];
    char exact[REEVE_QUEUE_MAX + 1];
} destination;

static reeve_status find_destination(reeve_client *client, const char *queue, const char *id, const char *target,
                                     destination *ret)
{
    const rv_partition_layout *layout = rv_partitions_find(client, target);
    reeve_task_info *info;
    rv_copy_text(ret->name, sizeof(ret->name), target);
    rv_copy_text(ret->exact, sizeof(ret->exact), target);
    rv_partition_canonicalize(ret->name);
    if (layout == NULL) return REEVE_OK;
    const rv_partition_layout copied = *layout;
    reeve_status status = reeve_show(client, queue, id, &info);
    if (status != REEVE_OK) return status;
    const char *key = info->unique != NULL ? info->unique : info->group;
    unsigned number = rv_partition_of(key != NULL ? key : id, copied.count);
    reeve_task_info_free(info);
    rv_partition_name(ret->name, target, number);
    rv_partition_exact_name(ret->exact, target, number);
    return REEVE_OK;
}

static reeve_status move(reeve_client *client, const char *queue, const char *id, const destination *to, bool expires)
{
    reeve_status status = look_at_target(client, queue, id, to->exact);
    if (status == REEVE_EEXISTS) {
        rv_error why = client->error;
        if (was_moved(client, queue, id, to->name)) return REEVE_OK;
        client->error = why;
    }
    if (status != REEVE_OK) return status;
    const rv_change_call what = {
        {&rv_script_move, queue, {id, to->name, expires ? "1" : "0"}, 3}, "move", NULL, NULL, false};
    return rv_change_call_run(client, &what);
}

static reeve_status find_and_move(reeve_client *client, const char *queue, const char *id, const char *target,
                                  bool expires)
{
    destination to;
    char partition[REEVE_QUEUE_MAX + 1];
    if (client == NULL) return REEVE_EINVAL;
    reeve_status status = rv_keys_check_id(id, &client->error);
    if (status == REEVE_OK) status = rv_keys_check_queue(queue, &client->error);
    if (status == REEVE_OK) status = rv_keys_check_queue(target, &client->error);
    if (status == REEVE_OK && rv_partition_is_same(queue, target))
        status = rv_fail(&client->error, REEVE_EINVAL, "cannot move %s/%s: it is in queue %s", queue, id, target);
    if (status == REEVE_OK) status = find_destination(client, queue, id, target, &to);
    if (status != REEVE_OK) return status;
    const char *from = rv_partitions_locate(client, queue, id, partition);
    return from != NULL ? move(client, from, id, &to, expires) : client->error.status;
}

reeve_status reeve_move(reeve_client *client, const char *queue, const char *id, const char *target)
{
    return find_and_move(client, queue, id, target, false);
}

reeve_status reeve_move_running(reeve_client *client, const char *queue, const char *id, const char *target)
{
    return find_and_move(client, queue, id, target, true);
}
