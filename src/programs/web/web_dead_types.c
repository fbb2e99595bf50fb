/*
 * web_dead_types.c - the latest dead tasks of a queue by type. Redis counts them by kind of error only, so a limited number of them is
 * read, and the answer says how many.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "web.h"

#define QUEUE(call) ((call)->params.value[0])
#define PAGE 200
#define BYTES_MAX ((size_t)16 * 1024 * 1024) /* of payloads, which are read as well */

typedef struct dead_type {
    char name[REEVE_TYPE_MAX + 1];
    uint64_t count;
    int64_t last_ms;
    char last_id[REEVE_ID_MAX];
    char last_kind[REEVE_KIND_MAX + 1];
    char last_message[REEVE_MESSAGE_MAX + 1];
} dead_type;

typedef struct type_tally {
    dead_type *types;
    size_t count, room;
    uint64_t seen;
    size_t bytes;
} type_tally;

static dead_type *find_type(type_tally *tally, const char *name)
{
    for (size_t i = 0; i < tally->count; i++)
        if (strcmp(tally->types[i].name, name) == 0) return &tally->types[i];
    if (tally->count == tally->room) {
        size_t room = tally->room == 0 ? 16 : 2 * tally->room;
        dead_type *types = rv_zalloc_array(room, sizeof(*types));
        if (types == NULL) return NULL;
        if (tally->count > 0) memcpy(types, tally->types, tally->count * sizeof(*types));
        rv_free(tally->types);
        tally->types = types;
        tally->room = room;
    }
    dead_type *made = &tally->types[tally->count++];
    (void)snprintf(made->name, sizeof(made->name), "%s", name);
    return made;
}

static bool add_task(type_tally *tally, const reeve_task_info *info)
{
    dead_type *type = find_type(tally, info->type == NULL ? "" : info->type);

    if (type == NULL) return false;
    tally->bytes += info->payload.length + info->result.length;
    type->count++;
    if (type->count > 1 && info->ended_ms <= type->last_ms) return true;
    type->last_ms = info->ended_ms;
    (void)snprintf(type->last_id, sizeof(type->last_id), "%s", info->id);
    (void)snprintf(type->last_kind, sizeof(type->last_kind), "%s", info->error_kind == NULL ? "" : info->error_kind);
    (void)snprintf(type->last_message, sizeof(type->last_message), "%s",
                   info->error_message == NULL ? "" : info->error_message);
    return true;
}

static reeve_status read_page(web_call *call, type_tally *tally, char cursor[REEVE_CURSOR_MAX])
{
    const reeve_filter filter = {.size = sizeof(filter), .state = REEVE_STATE_DEAD};
    reeve_task_info **list = NULL;
    size_t count = 0;
    uint64_t seen = 0;
    reeve_status status = reeve_find(call->client, QUEUE(call), &filter, cursor, PAGE, &list, &count, &seen);

    if (status != REEVE_OK) return status;
    for (size_t i = 0; i < count && status == REEVE_OK; i++)
        if (!add_task(tally, list[i])) status = REEVE_ENOMEM;
    tally->seen += seen;
    reeve_task_list_free(list, count);
    return status;
}

static int most_first(const void *one, const void *other)
{
    const dead_type *a = one, *b = other;

    if (a->count != b->count) return a->count < b->count ? 1 : -1;
    return strcmp(a->name, b->name);
}

static void write_types(web_call *call, const type_tally *tally, uint64_t total)
{
    char handle[REEVE_QUEUE_MAX + REEVE_ID_MAX + 2];
    cli_json json;

    cli_json_begin(&json, call->out);
    cli_json_open_array(&json, "types");
    for (size_t i = 0; i < tally->count; i++) {
        const dead_type *type = &tally->types[i];
        (void)snprintf(handle, sizeof(handle), "%.*s/%s", REEVE_QUEUE_MAX, QUEUE(call), type->last_id);
        cli_json_open(&json, NULL);
        cli_json_text(&json, "queue", QUEUE(call));
        cli_json_text(&json, "type", type->name);
        cli_json_uint(&json, "count", type->count);
        cli_json_maybe(&json, "last_ms", type->last_ms);
        cli_json_text(&json, "last_handle", handle);
        cli_json_text(&json, "last_kind", type->last_kind);
        cli_json_text(&json, "last_message", type->last_message);
        cli_json_close(&json);
    }
    cli_json_close_array(&json);
    cli_json_uint(&json, "seen", tally->seen);
    cli_json_uint(&json, "total", total);
    cli_json_end(&json);
}

void web_run_dead_types(web_call *call)
{
    char cursor[REEVE_CURSOR_MAX] = "";
    reeve_queue_info info;
    type_tally tally = {.count = 0};
    int64_t look;

    if (!web_query_number(call, "look", 1, 10000, 1000, &look)) return;
    reeve_status status = reeve_queue(call->client, QUEUE(call), &info);
    do {
        if (status == REEVE_OK) status = read_page(call, &tally, cursor);
    } while (status == REEVE_OK && cursor[0] != '\0' && tally.seen < (uint64_t)look && tally.bytes < BYTES_MAX);
    if (tally.count > 0) qsort(tally.types, tally.count, sizeof(*tally.types), most_first);
    if (status == REEVE_OK)
        write_types(call, &tally, info.count[REEVE_STATE_DEAD]);
    else
        web_refuse_status(call, status);
    rv_free(tally.types);
}
