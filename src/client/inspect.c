/*
 * inspect.c - looking: one task, many, a page of a queue.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "client/client.h"
#include "client/spread.h"
#include "protocol/definition.h"
#include "protocol/scripts.h"

#define OFFSET_MAX ((uint64_t)1 << 52) /* whole numbers in Lua */

static reeve_status no_task(reeve_client *client, const char *queue, const char *id)
{
    return rv_fail(&client->error, REEVE_ENOTFOUND, "no task %s/%s (any more)", queue, id);
}

/* Another program may have written the task into `tasks` alone, or a bulk insert was cut off. */
static bool is_in_no_state(const rv_reply *reply)
{
    const rv_reply *state = rv_reply_at(reply, 1);
    return state != NULL && rv_reply_is(state, RV_TEXT) && strcmp(state->text, "unknown") == 0;
}

static reeve_status read_info(reeve_client *client, const char *queue, const rv_reply *reply, reeve_task_info **ret)
{
    reeve_status status = rv_task_info_read(queue, reply, ret);
    if (status == REEVE_EPROTO && is_in_no_state(reply))
        return rv_fail(&client->error, status,
                       "%s/%s is in no state, and does not run: delete it, and enqueue it again", queue,
                       reply->items[0]->text);
    if (status == REEVE_EPROTO) return rv_client_odd_reply(client, "show");
    if (status != REEVE_OK) return rv_fail(&client->error, status, "no memory for a task");
    return REEVE_OK;
}

reeve_status reeve_show(reeve_client *client, const char *queue, const char *id, reeve_task_info **ret)
{
    if (client == NULL || ret == NULL) return REEVE_EINVAL;
    reeve_status status = rv_keys_check_id(id, &client->error);
    if (status != REEVE_OK) return status;
    const rv_reply *reply;
    rv_simple_call call = {.script = &rv_script_show, .queue = queue, .args = {id}, .count = 1};
    status = rv_client_script(client, &call, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (rv_reply_is(reply, RV_NIL)) return no_task(client, queue, id);
    return read_info(client, queue, reply, ret);
}

/* ---- many tasks ------------------------------------------------------------------------------------------------ */

enum { SHOW_PAGE = 32 };

typedef struct shown {
    reeve_client *client;
    const char *const *handles;
    size_t count;
    reeve_task_info **ret;
    reeve_status status; /* the first that is not REEVE_OK; its error is the client's */
} shown;

static void build_shown(rv_conn *conn, bool again, const void *context)
{
    const shown *page = context;
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    rv_prefix prefix;
    (void)again;
    for (size_t i = 0; i < page->count; i++) {
        (void)rv_keys_split_handle(page->handles[i], queue, id);
        rv_keys_set_prefix(&prefix, page->client->ns, queue);
        rv_cmd_script(conn, &rv_script_show, 1, 1);
        rv_arg(conn, prefix.text, prefix.length);
        rv_args(conn, id);
    }
}

static void on_shown(size_t index, const rv_reply *reply, void *context)
{
    shown *page = context;
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    if (index >= page->count) return;
    if (index == 0) page->status = REEVE_OK;
    reeve_task_info_free(page->ret[index]); /* of an earlier try */
    page->ret[index] = NULL;
    if (page->status != REEVE_OK || rv_reply_is(reply, RV_NIL)) return;
    (void)rv_keys_split_handle(page->handles[index], queue, id);
    if (rv_reply_is(reply, RV_ERROR))
        page->status = rv_client_refused(page->client, reply->text);
    else
        page->status = read_info(page->client, queue, reply, &page->ret[index]);
    if (page->status != REEVE_OK) page->ret[index] = NULL;
}

static reeve_status check_handles(reeve_client *client, const char *const *handles, size_t count)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    for (size_t i = 0; i < count; i++)
        if (handles[i] == NULL || !rv_keys_split_handle(handles[i], queue, id))
            return rv_fail(&client->error, REEVE_EINVAL, "\"%s\" is no handle; expected QUEUE/ID",
                           handles[i] != NULL ? handles[i] : "");
    return REEVE_OK;
}

static bool has_divided(reeve_client *client, const char *const *handles, size_t count)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    for (size_t i = 0; i < count; i++)
        if (rv_keys_split_handle(handles[i], queue, id) && rv_partitions_find(client, queue) != NULL) return true;
    return false;
}

/* Tasks that have to be looked for. */
static reeve_status show_each(reeve_client *client, const char *const *handles, size_t count, reeve_task_info **ret)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    reeve_status status = REEVE_OK;
    for (size_t i = 0; i < count && status == REEVE_OK; i++) {
        (void)rv_keys_split_handle(handles[i], queue, id);
        status = reeve_show(client, queue, id, &ret[i]);
        if (status == REEVE_ENOTFOUND) status = REEVE_OK;
    }
    for (size_t i = 0; status != REEVE_OK && i < count; i++) {
        reeve_task_info_free(ret[i]);
        ret[i] = NULL;
    }
    return status;
}

reeve_status reeve_show_many(reeve_client *client, const char *const *handles, size_t count, reeve_task_info **ret)
{
    if (client == NULL || (count > 0 && (handles == NULL || ret == NULL))) return REEVE_EINVAL;
    for (size_t i = 0; i < count; i++) ret[i] = NULL;
    reeve_status status = check_handles(client, handles, count);
    if (status == REEVE_OK && has_divided(client, handles, count)) return show_each(client, handles, count, ret);
    for (size_t at = 0; at < count && status == REEVE_OK; at += SHOW_PAGE) {
        shown page = {.client = client, .handles = handles + at, .ret = ret + at, .status = REEVE_OK};
        page.count = count - at < SHOW_PAGE ? count - at : SHOW_PAGE;
        status = rv_client_exec(client, build_shown, &page, on_shown, &page, NULL);
        if (status == REEVE_OK) status = page.status;
    }
    if (status == REEVE_OK) return REEVE_OK;
    for (size_t i = 0; i < count; i++) {
        reeve_task_info_free(ret[i]);
        ret[i] = NULL;
    }
    return status;
}

/* ---- pages ------------------------------------------------------------------------------------------------------ */

void reeve_task_list_free(reeve_task_info **list, size_t count)
{
    if (list == NULL) return;
    for (size_t i = 0; i < count; i++) reeve_task_info_free(list[i]);
    rv_free(list);
}

reeve_status rv_inspect_read(reeve_client *client, const char *queue, const rv_reply *reply, size_t first,
                             reeve_task_info ***ret, size_t *ret_count)
{
    size_t count = reply->count - first;
    reeve_task_info **list = rv_zalloc_array(count + 1, sizeof(*list));
    if (list == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a list of %zu tasks", count);
    for (size_t i = 0; i < count; i++) {
        reeve_status status = read_info(client, queue, reply->items[i + first], &list[i]);
        if (status != REEVE_OK) {
            reeve_task_list_free(list, i);
            return status;
        }
    }
    *ret = list;
    *ret_count = count;
    return REEVE_OK;
}

reeve_status rv_inspect_page_args(reeve_client *client, rv_page *page, const char *what)
{
    if (page->limit > RV_CALL_MAX)
        return rv_fail(&client->error, REEVE_EINVAL, "a page has at most %d %s", RV_CALL_MAX, what);
    if (page->offset > OFFSET_MAX) return rv_fail(&client->error, REEVE_EINVAL, "the offset is too large");
    (void)snprintf(page->skip, sizeof(page->skip), "%llu", (unsigned long long)page->offset);
    (void)snprintf(page->max, sizeof(page->max), "%zu", page->limit);
    return REEVE_OK;
}

reeve_status reeve_list(reeve_client *client, const char *queue, reeve_state state, uint64_t offset, size_t limit,
                        reeve_task_info ***ret, size_t *ret_count, uint64_t *ret_total)
{
    rv_page page = {.offset = offset, .limit = limit};
    return rv_inspect_list(client, queue, state, "", &page, ret, ret_count, ret_total);
}

/* A text is the cursor of the next page, which is always further; anything else is the result. */
static bool goes_on(const rv_reply *reply, char *from, size_t size)
{
    unsigned long long before = strtoull(from, NULL, 10);
    if (!rv_reply_is(reply, RV_TEXT) || reply->length >= size) return false;
    rv_copy_text(from, size, reply->text);
    return strtoull(from, NULL, 10) > before;
}

/* The pages of the partitions, one after the other. */
static reeve_status list_spread(reeve_client *client, rv_spread *spread, reeve_state state, const char *kind,
                                const rv_page *page, reeve_task_info ***ret, size_t *ret_count, uint64_t *ret_total)
{
    reeve_task_info **list = rv_zalloc_array(page->limit + 1, sizeof(*list));
    uint64_t total = 0, skip = page->offset;
    size_t count = 0;
    reeve_status status = REEVE_OK;
    if (list == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a list of %zu tasks", page->limit);
    while (status == REEVE_OK && rv_spread_next(spread)) {
        rv_page part = {.offset = skip, .limit = page->limit - count};
        reeve_task_info **some = NULL;
        size_t some_count = 0;
        uint64_t some_total = 0;
        status = rv_inspect_list(client, spread->name, state, kind, &part, &some, &some_count, &some_total);
        if (status != REEVE_OK) break;
        for (size_t i = 0; i < some_count && count < page->limit; i++) {
            list[count++] = some[i];
            some[i] = NULL;
        }
        reeve_task_list_free(some, some_count);
        total += some_total;
        skip = skip > some_total ? skip - some_total : 0;
    }
    if (status != REEVE_OK) {
        reeve_task_list_free(list, count);
        return status;
    }
    if (ret_total != NULL) *ret_total = total;
    *ret = list;
    *ret_count = count;
    return REEVE_OK;
}

reeve_status rv_inspect_list(reeve_client *client, const char *queue, reeve_state state, const char *kind,
                             rv_page *page, reeve_task_info ***ret, size_t *ret_count, uint64_t *ret_total)
{
    if (client == NULL || ret == NULL || ret_count == NULL) return REEVE_EINVAL;
    if ((unsigned)state >= REEVE_STATE_COUNT) return rv_fail(&client->error, REEVE_EINVAL, "there is no such state");
    rv_spread spread;
    reeve_status status = rv_inspect_page_args(client, page, "tasks");
    if (status != REEVE_OK) return status;
    if (rv_spread_begin(&spread, client, queue))
        return list_spread(client, &spread, state, kind, page, ret, ret_count, ret_total);
    const rv_reply *reply;
    char from[48] = "";
    rv_simple_call call = {.script = &rv_script_list,
                           .queue = queue,
                           .count = 5,
                           .args = {reeve_state_name(state), page->skip, page->max, kind, from}};
    do {
        status = rv_client_script(client, &call, &reply, NULL);
        if (status != REEVE_OK) return status;
    } while (goes_on(reply, from, sizeof(from)));
    return rv_inspect_read_page(client, queue, reply, ret, ret_count, ret_total);
}

reeve_status rv_inspect_read_page(reeve_client *client, const char *queue, const rv_reply *reply,
                                  reeve_task_info ***ret, size_t *ret_count, uint64_t *ret_total)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 1) return rv_client_odd_reply(client, "list");
    if (ret_total != NULL) *ret_total = rv_reply_sum(reply->items[0]);
    return rv_inspect_read(client, queue, reply, 1, ret, ret_count);
}
