/*
 * client_failure_types.c - the dead letters by type. Redis keeps them by kind only, so they are read, the latest first,
 * in as many calls as it takes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "client/spread.h"
#include "protocol/definition.h"
#include "protocol/scripts.h"
#include "reeve/dead.h"

/* The reply of failure_types.lua, and the places of a type in it. */
enum { TOTAL, SEEN, TYPES };
enum { TYPE, COUNT, LAST_MS, LAST_ID, LAST_KIND, LAST_MESSAGE, TYPE_FIELDS };

/* Types, as they are gathered. */
typedef struct gathered {
    reeve_type_failure *list;
    size_t count;
    uint64_t seen;
} gathered;

static void copy_at(char *target, size_t size, const rv_reply *reply, size_t index)
{
    rv_copy_text(target, size, reply->items[index]->text);
}

static bool read_type(reeve_type_failure *ret, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < TYPE_FIELDS) return false;
    int64_t count = rv_reply_int(reply->items[COUNT], 0);
    copy_at(ret->type, sizeof(ret->type), reply, TYPE);
    ret->count = count > 0 ? (uint64_t)count : 0;
    ret->last_ms = rv_reply_int(reply->items[LAST_MS], 0);
    copy_at(ret->last_id, sizeof(ret->last_id), reply, LAST_ID);
    copy_at(ret->last_kind, sizeof(ret->last_kind), reply, LAST_KIND);
    copy_at(ret->last_message, sizeof(ret->last_message), reply, LAST_MESSAGE);
    return true;
}

/* There is room for one more. */
static void add_type(gathered *sum, const reeve_type_failure *more)
{
    size_t at = 0;
    while (at < sum->count && strcmp(sum->list[at].type, more->type) != 0) at++;
    if (at == sum->count) {
        sum->list[sum->count++] = *more;
        return;
    }
    uint64_t count = sum->list[at].count + more->count;
    if (more->last_ms > sum->list[at].last_ms) sum->list[at] = *more;
    sum->list[at].count = count;
}

static reeve_status add_reply(reeve_client *client, gathered *sum, const rv_reply *reply)
{
    size_t more = reply->count - TYPES;
    reeve_type_failure *grown = rv_realloc_array(sum->list, sum->count + more + 1, sizeof(*grown));
    if (grown == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for %zu types of dead tasks", more);
    sum->list = grown;
    for (size_t i = 0; i < more; i++) {
        reeve_type_failure one = {0};
        if (!read_type(&one, reply->items[TYPES + i])) return rv_client_odd_reply(client, "failure_types");
        add_type(sum, &one);
    }
    return REEVE_OK;
}

/* The latest dead tasks of one queue; look 0: all. */
static reeve_status gather(reeve_client *client, const char *queue, uint64_t look, gathered *sum)
{
    uint64_t seen = 0, total = 0, now = 0;
    do {
        char skip[24], max[24];
        (void)snprintf(skip, sizeof(skip), "%" PRIu64, seen);
        (void)snprintf(max, sizeof(max), "%" PRIu64,
                       look == 0 || look - seen > RV_CALL_MAX ? RV_CALL_MAX : look - seen);
        const rv_reply *reply;
        rv_simple_call call = {.script = &rv_script_failure_types, .queue = queue, .args = {skip, max}, .count = 2};
        reeve_status status = rv_client_script(client, &call, &reply, NULL);
        if (status != REEVE_OK) return status;
        if (!rv_reply_is(reply, RV_ARRAY) || reply->count < TYPES) return rv_client_odd_reply(client, "failure_types");
        total = rv_reply_sum(reply->items[TOTAL]);
        now = rv_reply_sum(reply->items[SEEN]);
        status = add_reply(client, sum, reply);
        if (status != REEVE_OK) return status;
        seen += now;
    } while (now > 0 && seen < total && (look == 0 || seen < look));
    sum->seen += seen;
    return REEVE_OK;
}

/* The same number of each partition. */
static reeve_status gather_spread(reeve_client *client, rv_spread *spread, uint64_t look, gathered *sum)
{
    reeve_status status = REEVE_OK;
    uint64_t each = look == 0 ? 0 : (look - 1) / spread->count + 1;
    while (status == REEVE_OK && rv_spread_next(spread)) status = gather(client, spread->name, each, sum);
    return status;
}

static int most_first(const void *a, const void *b)
{
    const reeve_type_failure *one = a, *other = b;
    if (one->count != other->count) return one->count < other->count ? 1 : -1;
    return strcmp(one->type, other->type);
}

reeve_status reeve_failures_by_type(reeve_client *client, const char *queue, uint64_t look, reeve_type_failure **ret,
                                    size_t *ret_count, uint64_t *ret_seen)
{
    if (client == NULL || queue == NULL || ret == NULL || ret_count == NULL) return REEVE_EINVAL;
    gathered sum = {0};
    rv_spread spread;
    reeve_status status = rv_spread_begin(&spread, client, queue) ? gather_spread(client, &spread, look, &sum)
                                                                  : gather(client, queue, look, &sum);
    if (status != REEVE_OK) {
        rv_free(sum.list);
        return status;
    }
    if (sum.count > 0) qsort(sum.list, sum.count, sizeof(*sum.list), most_first);
    *ret = sum.list;
    *ret_count = sum.count;
    if (ret_seen != NULL) *ret_seen = sum.seen;
    return REEVE_OK;
}

void reeve_type_failures_free(reeve_type_failure *list)
{
    rv_free(list);
}
