/*
 * client_cron_list.c - the recurring entries of a queue, or of all queues.
 */
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/cron_index.h"
#include "client/overview.h"
#include "protocol/cron_definition.h"
#include "protocol/envelope.h"
#include "protocol/json_parse.h"
#include "protocol/scripts.h"
#include "redis/refusal.h"

#define QUEUES_AT_ONCE 64
#define FIELDS 6 /* of an entry in the reply of cron.lua */
#define CURSOR_MAX 24

typedef struct listing {
    reeve_client *client;
    const char (*queues)[REEVE_QUEUE_MAX + 1]; /* of this pipeline */
    size_t queue_count;
    char cursors[QUEUES_AT_ONCE]
                [CURSOR_MAX]; /* where each of these goes on; "": it was not listed, "0": it is at its end */
    reeve_cron_info *list;
    size_t count, capacity;
    rv_error error; /* the first one */
} listing;

/* ---- one entry ------------------------------------------------------------------------------------------------- */

/* A text of the definition's first line. */
static char *text_of(const rv_reply *definition, const char *name)
{
    const char *newline = memchr(definition->text, '\n', definition->length);
    size_t length = newline != NULL ? (size_t)(newline - definition->text) : definition->length;
    cJSON *json;
    if (rv_json_parse(&json, definition->text, length) == REEVE_ENOMEM) return NULL;
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
    char *copy = rv_strdup(text != NULL ? text : "");
    cJSON_Delete(json);
    return copy;
}

/* Its first slot from the time on at which it is looked at. What this version does not understand stays as Redis has
 * it. */
static void read_rule(reeve_cron_info *ret, const rv_reply *definition, int64_t due_ms, const rv_reply *stopped)
{
    const char *newline = memchr(definition->text, '\n', definition->length);
    rv_cron_rule rule = {.zone = RV_ZONE_UTC};
    ret->paused = rv_reply_is_text(stopped, "paused");
    ret->ended = rv_reply_is_text(stopped, "ended");
    ret->next_ms = due_ms;
    if (newline == NULL || rv_cron_definition_read_rule(&rule, ret->name, definition->text,
                                                        (size_t)(newline - definition->text), NULL) != REEVE_OK)
        return;
    ret->local = rule.zone == RV_ZONE_LOCAL;
    ret->catch_up = rule.catch_up;
    ret->catch_up_max = rule.catch_up == REEVE_CATCH_UP_ALL ? rule.max : 0;
    ret->no_overlap = rule.no_overlap;
    if (due_ms > 0) ret->next_ms = rv_cron_definition_next(&rule, due_ms - 1);
    if (due_ms > 0 && ret->next_ms < 0) ret->ended = true; /* no worker has looked yet */
}

/* Type and payload: what follows the line is an envelope without its beginning. */
static bool read_task(reeve_cron_info *ret, const rv_reply *definition)
{
    static const char beginning[] = "{\"at\":0,";
    const char *newline = memchr(definition->text, '\n', definition->length);
    rv_envelope envelope;
    rv_buf text;
    rv_buf_init(&text, definition->length + sizeof(beginning));
    rv_buf_adds(&text, beginning);
    if (newline != NULL) rv_buf_add(&text, newline + 1, definition->length - (size_t)(newline + 1 - definition->text));
    bool good = !text.failed;
    if (good && rv_envelope_read(&envelope, text.data, text.length)) {
        ret->type = rv_strndup(envelope.type, envelope.type_length);
        ret->payload.data = rv_memdup(envelope.payload.data, envelope.payload.length);
        ret->payload.length = envelope.payload.length;
        good = ret->payload.data != NULL || ret->payload.length == 0;
    } else if (good) {
        ret->type = rv_strdup("");
    }
    rv_buf_fini(&text);
    return good && ret->type != NULL;
}

static void release(reeve_cron_info *info)
{
    rv_free(info->spec);
    rv_free(info->zone);
    reeve_cron_entry_free(info->entry);
    rv_free(info->type);
    rv_free((void *)info->payload.data);
}

static bool read_entry(reeve_cron_info *ret, const char *queue, rv_reply *const *fields)
{
    memset(ret, 0, sizeof(*ret));
    rv_copy_text(ret->queue, sizeof(ret->queue), queue);
    rv_copy_text(ret->name, sizeof(ret->name), fields[0]->text);
    rv_copy_text(ret->last_id, sizeof(ret->last_id), fields[3]->text);
    ret->enqueued = rv_reply_within(fields[4], 0, RV_REPLY_NUMBER_MAX, 0);
    read_rule(ret, fields[1], rv_reply_int(fields[2], -1), fields[5]);
    ret->spec = text_of(fields[1], "spec");
    ret->zone = text_of(fields[1], "zone");
    bool good = rv_cron_fetch_read(queue, ret->name, fields[1], &ret->entry) != REEVE_ENOMEM;
    if (good && ret->spec != NULL && ret->zone != NULL && read_task(ret, fields[1])) return true;
    release(ret);
    return false;
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

static bool make_room(listing *all, size_t more)
{
    if (all->capacity - all->count >= more) return true;
    size_t capacity = all->count + more > 2 * all->capacity ? all->count + more : 2 * all->capacity;
    reeve_cron_info *list = rv_realloc_array(all->list, capacity, sizeof(*list));
    if (list == NULL) return false;
    all->list = list;
    all->capacity = capacity;
    return true;
}

static void build_list(rv_conn *conn, bool again, const void *context)
{
    const listing *all = context;
    (void)again;
    for (size_t i = 0; i < all->queue_count; i++) {
        rv_prefix prefix;
        rv_keys_set_prefix(&prefix, all->client->ns, all->queues[i]);
        rv_cmd_script(conn, &rv_script_cron_look, 1, 2);
        rv_arg(conn, prefix.text, prefix.length);
        rv_args(conn, "list");
        rv_args(conn, "0");
    }
}

static bool read_page(listing *all, size_t index, const rv_reply *reply)
{
    if (!make_room(all, reply->count / FIELDS)) return false;
    for (size_t i = 1; i + FIELDS <= reply->count; i += FIELDS) {
        if (!read_entry(&all->list[all->count], all->queues[index], reply->items + i)) return false;
        all->count++;
    }
    rv_copy_text(all->cursors[index], CURSOR_MAX, reply->items[0]->text);
    return true;
}

/* The first page of a queue; an earlier try may have returned its entries already. */
static void on_list(size_t index, const rv_reply *reply, void *context)
{
    listing *all = context;
    if (index >= all->queue_count || all->cursors[index][0] != '\0') return;
    if (rv_reply_is(reply, RV_ERROR)) {
        if (all->error.status == REEVE_OK)
            (void)rv_fail(&all->error, REEVE_EREDIS, "Redis answered: %s%s", reply->text,
                          rv_refusal_advice(reply->text));
        return;
    }
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count == 0 || !rv_reply_is(reply->items[0], RV_TEXT)) return;
    if (!read_page(all, index, reply) && all->error.status == REEVE_OK)
        (void)rv_fail(&all->error, REEVE_ENOMEM, "no memory for a list of recurring entries");
}

/* The other pages of a queue of many entries. */
static reeve_status list_rest(listing *all, size_t index)
{
    char *cursor = all->cursors[index];
    const rv_reply *reply;
    while (cursor[0] != '\0' && strcmp(cursor, "0") != 0) {
        rv_simple_call call = {
            .script = &rv_script_cron_look, .queue = all->queues[index], .args = {"list", cursor}, .count = 2};
        reeve_status status = rv_client_script(all->client, &call, &reply, NULL);
        if (status != REEVE_OK) return status;
        if (!rv_reply_is(reply, RV_ARRAY) || reply->count == 0 || !rv_reply_is(reply->items[0], RV_TEXT))
            return rv_client_odd_reply(all->client, "cron");
        if (!read_page(all, index, reply))
            return rv_fail(&all->client->error, REEVE_ENOMEM, "no memory for a list of recurring entries");
    }
    return REEVE_OK;
}

static reeve_status list_some(listing *all)
{
    memset(all->cursors, 0, sizeof(all->cursors));
    reeve_status status = rv_client_exec(all->client, build_list, all, on_list, all, NULL);
    if (status == REEVE_OK && all->error.status != REEVE_OK) {
        all->client->error = all->error;
        status = all->error.status;
    }
    for (size_t i = 0; i < all->queue_count && status == REEVE_OK; i++) status = list_rest(all, i);
    return status;
}

static reeve_status list_queues(listing *all, const char (*queues)[REEVE_QUEUE_MAX + 1], size_t count)
{
    reeve_status status = REEVE_OK;
    for (size_t i = 0; i < count && status == REEVE_OK; i += QUEUES_AT_ONCE) {
        all->queues = queues + i;
        all->queue_count = count - i < QUEUES_AT_ONCE ? count - i : QUEUES_AT_ONCE;
        status = list_some(all);
    }
    return status;
}

static void build_names(rv_conn *conn, bool again, const void *context)
{
    const char *ns = context;
    (void)again;
    rv_cmd(conn, 2);
    rv_args(conn, "SMEMBERS");
    rv_arg2(conn, ns, strlen(ns), ":queues", 7);
}

static reeve_status list_all(listing *all)
{
    const rv_reply *reply;
    reeve_status status = rv_client_call(all->client, build_names, all->client->ns, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_ARRAY)) return rv_client_odd_reply(all->client, "queues");
    size_t count = reply->count;
    char(*queues)[REEVE_QUEUE_MAX + 1] = rv_zalloc_array(count + 1, sizeof(*queues));
    if (queues == NULL) return rv_fail(&all->client->error, REEVE_ENOMEM, "no memory for %zu queues", count);
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        /* Another program may have added what is no name. */
        if (rv_valid_queue(reply->items[i]->text, reply->items[i]->length))
            rv_copy_text(queues[known++], sizeof(queues[0]), reply->items[i]->text);
    }
    status = list_queues(all, (const char(*)[REEVE_QUEUE_MAX + 1]) queues, known);
    rv_free(queues);
    return status;
}

static int by_queue_and_name(const void *a, const void *b)
{
    const reeve_cron_info *one = a, *other = b;
    int order = strcmp(one->queue, other->queue);
    return order != 0 ? order : strcmp(one->name, other->name);
}

/* An entry that moved in Redis between two pages may have been listed twice; the list is sorted. */
static void drop_repeated(listing *all)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (kept > 0 && by_queue_and_name(&all->list[kept - 1], &all->list[i]) == 0)
            release(&all->list[i]);
        else
            all->list[kept++] = all->list[i];
    }
    all->count = kept;
}

static reeve_status list_one(listing *all, const char *queue)
{
    char name[1][REEVE_QUEUE_MAX + 1];
    reeve_status status = rv_keys_check_queue(queue, &all->client->error);
    if (status != REEVE_OK) return status;
    rv_copy_text(name[0], sizeof(name[0]), queue);
    return list_queues(all, (const char(*)[REEVE_QUEUE_MAX + 1]) name, 1);
}

/* Ends a list, or frees it. */
static reeve_status end(listing *all, reeve_status status, reeve_cron_info **ret, size_t *ret_count)
{
    if (status != REEVE_OK) {
        reeve_cron_free(all->list, all->count);
        return status;
    }
    if (all->count > 0) qsort(all->list, all->count, sizeof(*all->list), by_queue_and_name);
    drop_repeated(all);
    *ret = all->list;
    *ret_count = all->count;
    return REEVE_OK;
}

reeve_status rv_overview_read_cron(reeve_client *client, const rv_reply *reply, reeve_cron_info **ret,
                                   size_t *ret_count)
{
    listing all = {.client = client};
    reeve_status status = REEVE_OK;
    for (size_t i = 0; i + 1 < reply->count && status == REEVE_OK; i += 2) {
        const rv_reply *page = reply->items[i + 1];
        bool is_page = rv_reply_is(reply->items[i], RV_TEXT) && rv_reply_is(page, RV_ARRAY) && page->count > 0 &&
                       rv_reply_is(page->items[0], RV_TEXT);
        if (!is_page || !rv_valid_queue(reply->items[i]->text, reply->items[i]->length)) continue;
        char name[1][REEVE_QUEUE_MAX + 1];
        rv_copy_text(name[0], sizeof(name[0]), reply->items[i]->text);
        all.queues = (const char(*)[REEVE_QUEUE_MAX + 1]) name;
        all.queue_count = 1;
        memset(all.cursors, 0, sizeof(all.cursors));
        if (!read_page(&all, 0, page))
            status = rv_fail(&client->error, REEVE_ENOMEM, "no memory for a list of recurring entries");
        else if (strcmp(all.cursors[0], "0") != 0)
            status = REEVE_ETOOBIG;
    }
    return end(&all, status, ret, ret_count);
}

reeve_status reeve_cron_list(reeve_client *client, const char *queue, reeve_cron_info **ret, size_t *ret_count)
{
    if (client == NULL || ret == NULL || ret_count == NULL) return REEVE_EINVAL;
    listing all = {.client = client};
    return end(&all, queue != NULL ? list_one(&all, queue) : list_all(&all), ret, ret_count);
}

void reeve_cron_free(reeve_cron_info *list, size_t count)
{
    if (list == NULL) return;
    for (size_t i = 0; i < count; i++) release(&list[i]);
    rv_free(list);
}
