/*
 * client_cron_backfill.c - tasks for slots that are past.
 */
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "client/cron_index.h"
#include "protocol/cron_definition.h"
#include "protocol/scripts.h"

#define AT_ONCE 50

static reeve_status read_rule(reeve_client *client, const char *queue, const char *name, rv_cron_rule *ret)
{
    const rv_reply *reply;
    rv_error why = {0};
    reeve_status status = rv_cron_fetch(client, queue, name, &reply);
    if (status != REEVE_OK) return status;
    if (reply == NULL)
        return rv_fail(&client->error, REEVE_ENOTFOUND, "there is no recurring entry %s/%s", queue, name);
    const char *line = reply->items[0]->text, *end = memchr(line, '\n', reply->items[0]->length);
    status = rv_cron_definition_read_rule(ret, name, line, end != NULL ? (size_t)(end - line) : 0, &why);
    if (status == REEVE_EINVAL) status = REEVE_EPROTO;
    if (status == REEVE_OK) return status;
    return rv_fail(&client->error, status, "the recurring entry %s/%s: %s", queue, name, why.text);
}

/* fire.lua for some slots; it makes those that are not there. */
static reeve_status make_some(reeve_client *client, const char *queue, const char *name, char (*ids)[REEVE_ID_MAX],
                              size_t count, reeve_backfill *done)
{
    const rv_reply *reply;
    _Static_assert(RV_SIMPLE_ARGS >= AT_ONCE + 3, "the arguments of a call fit");
    rv_simple_call call = {.script = &rv_script_fire, .queue = queue, .args = {name, "past", "-1"}, .count = 3};
    for (size_t i = 0; i < count; i++) call.args[call.count++] = ids[i];
    reeve_status status = rv_client_script(client, &call, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_INT)) return rv_client_odd_reply(client, "fire");
    if (reply->number < 0)
        return rv_fail(&client->error, REEVE_ENOTFOUND, "there is no recurring entry %s/%s (any more)", queue, name);
    done->enqueued += (uint64_t)reply->number;
    return REEVE_OK;
}

static reeve_status check(reeve_client *client, const char *name, int64_t from_ms, int64_t to_ms, size_t limit)
{
    reeve_status status = rv_cron_definition_check_name(name, &client->error);
    if (status != REEVE_OK) return status;
    if (from_ms < 0 || to_ms < from_ms)
        return rv_fail(&client->error, REEVE_EINVAL,
                       "the range of a backfill must not be negative or end before it begins");
    if (limit >= 1 && limit <= REEVE_CRON_BACKFILL_MAX) return REEVE_OK;
    return rv_fail(&client->error, REEVE_EINVAL, "a backfill of %zu slots: must be from 1 to %d", limit,
                   REEVE_CRON_BACKFILL_MAX);
}

reeve_status reeve_cron_backfill(reeve_client *client, const char *queue, const char *name, int64_t from_ms,
                                 int64_t to_ms, size_t limit, bool dry_run, reeve_backfill *ret)
{
    char ids[AT_ONCE][REEVE_ID_MAX];
    reeve_backfill done = {0};
    rv_cron_rule rule;
    size_t count = 0;
    if (client == NULL) return REEVE_EINVAL;
    reeve_status status = check(client, name, from_ms, to_ms, limit);
    if (status == REEVE_OK) status = read_rule(client, queue, name, &rule);
    int64_t slot = status == REEVE_OK ? rv_cron_definition_next_slot(&rule, from_ms - 1) : -1;
    while (status == REEVE_OK && slot >= 0 && slot <= to_ms && done.slots < limit) {
        rv_cron_definition_slot_id(ids[count++], name, slot);
        done.slots++;
        slot = rv_cron_definition_next_slot(&rule, slot);
        bool full = count == AT_ONCE || slot < 0 || slot > to_ms || done.slots == limit;
        if (!full) continue;
        if (!dry_run) status = make_some(client, queue, name, ids, count, &done);
        count = 0;
    }
    if (ret != NULL) *ret = done;
    return status;
}
