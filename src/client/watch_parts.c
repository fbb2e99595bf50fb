#include "client/watch_parts.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "client/spread.h"
#include "redis/slots.h"

void rv_watch_parts_fini(rv_watch_parts *parts)
{
    rv_free(parts->list);
    *parts = (rv_watch_parts){0};
}

static reeve_status add(rv_watch_parts *parts, reeve_client *client, const char *queue, const char *place)
{
    rv_watch_part *list = rv_realloc_array(parts->list, parts->count + 1, sizeof(*list));
    rv_prefix prefix;
    if (list == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a watch");
    parts->list = list;
    rv_watch_part *part = &list[parts->count++];
    *part = (rv_watch_part){.ready = true};
    rv_copy_text(part->queue, sizeof(part->queue), queue);
    rv_copy_text(part->last, sizeof(part->last), place);
    rv_keys_set_prefix(&prefix, client->ns, queue);
    (void)snprintf(part->key, sizeof(part->key), "%sevents", prefix.text);
    return REEVE_OK;
}

reeve_status rv_watch_parts_renew(rv_watch_parts *parts, reeve_client *client, const char *queue, const char *place)
{
    rv_spread spread;
    if (!rv_spread_begin(&spread, client, queue)) return parts->count > 0 ? REEVE_OK : add(parts, client, queue, place);
    /* The only part of a queue that was not divided is partition 0. */
    if (parts->count == 1) rv_partition_exact_name(parts->list[0].queue, queue, 0);
    reeve_status status = REEVE_OK;
    for (size_t i = 0; status == REEVE_OK && rv_spread_next(&spread); i++)
        if (i >= parts->count) status = add(parts, client, spread.name, place);
    return status;
}

bool rv_watch_parts_next(rv_watch_parts *parts)
{
    for (size_t i = 1; i <= parts->count; i++) {
        size_t at = (parts->at + i) % parts->count;
        if (!parts->list[at].ready) continue;
        parts->at = at;
        return true;
    }
    return false;
}

/* ---- waiting ---------------------------------------------------------------------------------------------------- */

/* XREAD of several streams; in a cluster, of one hash slot. */
static void build(rv_conn *conn, const rv_watch_part *const *parts, size_t count, int64_t block_ms, const char *page)
{
    rv_cmd(conn, (block_ms >= 0 ? 6 : 4) + 2 * count);
    rv_args(conn, "XREAD");
    rv_args(conn, "COUNT");
    rv_args(conn, page);
    if (block_ms >= 0) {
        rv_args(conn, "BLOCK");
        rv_argi(conn, block_ms);
    }
    rv_args(conn, "STREAMS");
    for (size_t i = 0; i < count; i++) rv_args(conn, parts[i]->key);
    for (size_t i = 0; i < count; i++) rv_args(conn, parts[i]->last);
}

void rv_watch_parts_build(rv_conn *conn, const rv_watch_part *part, int64_t block_ms, const char *page)
{
    build(conn, &part, 1, block_ms > 0 ? block_ms : -1, page);
}

static unsigned slot_of(const rv_watch_part *part)
{
    return rv_slots_of(part->key, strlen(part->key));
}

/* Whether an earlier part is in the same slot. */
static bool is_repeated(const rv_watch_parts *parts, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (slot_of(&parts->list[i]) == slot_of(&parts->list[index])) return true;
    return false;
}

/* One command for each hash slot, in the order of the first part of each. */
static void build_by_slot(rv_watch_parts *parts, rv_conn *conn)
{
    const rv_watch_part *together[REEVE_PARTITIONS_MAX];
    for (size_t i = 0; i < parts->count; i++) {
        size_t count = 0;
        if (is_repeated(parts, i)) continue;
        for (size_t j = i; j < parts->count && count < REEVE_PARTITIONS_MAX; j++)
            if (slot_of(&parts->list[j]) == slot_of(&parts->list[i])) together[count++] = &parts->list[j];
        build(conn, together, count, 0, "1");
    }
}

static reeve_status wait_for_nodes(rv_watch_parts *parts, rv_conn *conn, int64_t until)
{
    bool answered[REEVE_PARTITIONS_MAX + 1] = {false};
    build_by_slot(parts, conn);
    reeve_status status = rv_conn_wait_any(conn, until, answered);
    if (status != REEVE_OK) return status;
    size_t command = 0;
    for (size_t i = 0; i < parts->count; i++) {
        if (is_repeated(parts, i)) continue;
        for (size_t j = i; answered[command] && j < parts->count; j++)
            if (slot_of(&parts->list[j]) == slot_of(&parts->list[i])) parts->list[j].ready = true;
        command++;
    }
    return REEVE_OK;
}

reeve_status rv_watch_parts_wait(rv_watch_parts *parts, reeve_client *client, rv_conn *conn, int64_t until,
                                 const rv_reply **ret)
{
    const rv_watch_part *all[REEVE_PARTITIONS_MAX];
    size_t count = parts->count < REEVE_PARTITIONS_MAX ? parts->count : REEVE_PARTITIONS_MAX;
    int64_t block_ms = until - rv_now_ms();
    *ret = NULL;
    if (block_ms <= 0) return REEVE_OK;
    rv_conn_discard(conn);
    if (client->url.kind == RV_URL_CLUSTER) return wait_for_nodes(parts, conn, until);
    for (size_t i = 0; i < count; i++) all[i] = &parts->list[i];
    build(conn, all, count, block_ms, "1");
    reeve_status status = rv_conn_call_blocking(conn, rv_deadline(block_ms + client->timeout_ms), ret);
    /* The reply has a list for each stream that has an entry. */
    for (size_t i = 0; status == REEVE_OK && rv_reply_is(*ret, RV_ARRAY) && i < (*ret)->count; i++)
        for (size_t j = 0; j < count; j++)
            if (rv_reply_is_text(rv_reply_at(rv_reply_at(*ret, i), 0), parts->list[j].key)) parts->list[j].ready = true;
    return status;
}
