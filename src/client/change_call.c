#include "client/change_call.h"

#include <string.h>

#include "base/text.h"
#include "client/fan.h"
#include "client/partitions.h"
#include "protocol/scripts.h"

/* Informs the tasks that waited for this one, and its parents. */
static reeve_status follow(reeve_client *client, const char *queue)
{
    rv_fan_run(client, queue);
    return REEVE_OK;
}

/* Those whose replies do not say that others are to hear of it. */
static bool may_inform(const rv_script *script)
{
    return script == &rv_script_retry || script == &rv_script_expire;
}

/* The script answers "ok", or "ok more" when others are to hear of it, the state that does not allow it, "" for no such
 * task, or "unique <holder's id>". */
reeve_status rv_change_call_run(reeve_client *client, const rv_change_call *what)
{
    if (client == NULL) return REEVE_EINVAL;
    reeve_status status = rv_keys_check_id(what->call.args[0], &client->error);
    if (status != REEVE_OK) return status;
    const rv_reply *reply;
    char partition[REEVE_QUEUE_MAX + 1];
    bool again;
    rv_change_call found = *what;
    found.call.queue = rv_partitions_locate(client, what->call.queue, what->call.args[0], partition);
    if (found.call.queue == NULL) return client->error.status;
    status = rv_client_script(client, &found.call, &reply, &again);
    return status == REEVE_OK ? rv_change_call_answer(client, &found, reply, again) : status;
}

reeve_status rv_change_call_answer(reeve_client *client, const rv_change_call *what, const rv_reply *reply, bool again)
{
    const char *id = what->call.args[0];
    char queue[REEVE_QUEUE_MAX + 1]; /* for the words */
    rv_copy_text(queue, sizeof(queue), what->call.queue);
    rv_partition_strip(queue);
    if (!rv_reply_is(reply, RV_TEXT)) return rv_client_odd_reply(client, what->verb);
    if (strcmp(reply->text, "ok") == 0) {
        if (may_inform(what->call.script)) rv_fan_follow(client, what->call.queue);
        return REEVE_OK;
    }
    if (strcmp(reply->text, "ok more") == 0) return follow(client, what->call.queue);
    if (what->ret_running != NULL) {
        *what->ret_running = strcmp(reply->text, "running") == 0;
        if (*what->ret_running) return what->cascades ? follow(client, what->call.queue) : REEVE_OK;
    }
    if (again && what->done != NULL && strcmp(reply->text, what->done) == 0) return REEVE_OK;
    /* A retried task may wait for its parents again. */
    if (again && what->call.script == &rv_script_retry && strcmp(reply->text, "blocked") == 0) return REEVE_OK;
    if (reply->length == 0) return rv_fail(&client->error, REEVE_ENOTFOUND, "no task %s/%s (any more)", queue, id);
    if (strncmp(reply->text, "unique ", 7) == 0) {
        return rv_fail(&client->error, REEVE_EUNIQUE, "cannot %s %s/%s: its unique key is held by %s/%s", what->verb,
                       queue, id, queue, reply->text + 7);
    }
    if (strncmp(reply->text, "children ", 9) == 0) {
        return rv_fail(&client->error, REEVE_ESTATE,
                       what->call.script == &rv_script_move
                           ? "cannot %s %s/%s: too many tasks wait for it (%s)"
                           : "cannot %s %s/%s: others wait for it (%s); cancel them, too (cascade)",
                       what->verb, queue, id, reply->text + 9);
    }
    if (strncmp(reply->text, "parents ", 8) == 0)
        return rv_fail(&client->error, REEVE_ESTATE, "cannot %s %s/%s: it has too many parents (%s)", what->verb, queue,
                       id, reply->text + 8);
    if (strcmp(reply->text, "open") == 0)
        return rv_fail(&client->error, REEVE_ESTATE, "cannot %s %s/%s: its parents are not all named yet", what->verb,
                       queue, id);
    if (strncmp(reply->text, "readers ", 8) == 0) {
        return rv_fail(&client->error, REEVE_ESTATE,
                       "cannot %s %s/%s: its result would be removed, and tasks that depended on it may read it (%s)",
                       what->verb, queue, id, reply->text + 8);
    }
    return rv_fail(&client->error, REEVE_ESTATE, "cannot %s %s/%s: it is %s", what->verb, queue, id, reply->text);
}

/* It is a word of a message, and a text of JSON. */
reeve_status rv_change_call_check_reason(reeve_client *client, const char *reason)
{
    if (strlen(reason) > REEVE_REASON_MAX)
        return rv_fail(&client->error, REEVE_ETOOBIG, "the reason has %zu bytes: at most %d", strlen(reason),
                       REEVE_REASON_MAX);
    for (const char *at = reason; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            return rv_fail(&client->error, REEVE_EINVAL, "the reason has more than one line");
    if (rv_utf8_is_valid(reason, strlen(reason))) return REEVE_OK;
    return rv_fail(&client->error, REEVE_EINVAL, "the reason: must be UTF-8");
}
