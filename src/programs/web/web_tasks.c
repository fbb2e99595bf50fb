/*
 * web_tasks.c - tasks: the pages of a queue's tasks that a filter selects, one task, its log.
 *
 * A page looks at a limited number of tasks, and says at how many: the next page goes on from there. Its cursor is
 * "STATE:PLACE", the state that is being looked at and the place in it.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/handle.h"
#include "cli/task_view.h"
#include "web.h"
#include "web_filter.h"
#include "web_redact.h"
#include "web_serving.h"

#define QUEUE(call) ((call)->params.value[0])
#define ID(call) ((call)->params.value[1])
#define SEEN_MAX 20000
/* An answer that has become so long ends, with a cursor. One call of find.lua adds as much at most. */
#define BYTES_MAX (8 << 20)
#define WAIT_MAX_MS 60000
#define CURSOR_WORDS "cursor: expected that of an earlier page"
#define CURSOR_TEXT (3 * REEVE_CURSOR_MAX + 32)

/* A page that is being put together. */
struct page {
    web_call *call;
    web_filter filter;
    char cursor[REEVE_CURSOR_MAX];
    int state;
    size_t limit, count;
    uint64_t seen;
    bool resumes; /* its cursor came with the request, and was not used yet */
};

/* Prints a task; its payload and result are put back, so that they are freed. */
static void print_task(const web_call *call, reeve_task_info *info, const reeve_why *why)
{
    const web_options *options = &call->web->options;
    reeve_bytes payload = info->payload, result = info->result;
    rv_buf rooms[2];

    for (size_t i = 0; i < 2; i++) rv_buf_init(&rooms[i], SIZE_MAX);
    info->payload = web_redact_shown(&rooms[0], options->hide_payloads, options->redact, payload);
    if (result.data != NULL)
        info->result = web_redact_shown(&rooms[1], options->hide_payloads, options->redact, result);
    cli_task_json_why(info, why, call->out);
    info->payload = payload;
    info->result = result;
    for (size_t i = 0; i < 2; i++) rv_buf_fini(&rooms[i]);
}

/* "STATE:PLACE", the place without characters that have a meaning in a query: these are ~XX. */
static void write_cursor(const struct page *page, char ret[CURSOR_TEXT])
{
    int used = snprintf(ret, CURSOR_TEXT, "%s:", reeve_state_name((reeve_state)page->state));

    for (const char *at = page->cursor; *at != '\0' && used + 4 < CURSOR_TEXT; at++) {
        bool plain = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        used += snprintf(ret + used, CURSOR_TEXT - (size_t)used, plain ? "%c" : "~%02X", (unsigned char)*at);
    }
}

static bool read_cursor(struct page *page)
{
    const char *cursor = rv_http_server_query(page->call->http, "cursor"), *colon = NULL;
    char encoded[CURSOR_TEXT], text[CURSOR_TEXT];
    reeve_state state;

    if (cursor == NULL) return true;
    rv_copy_text(encoded, sizeof(encoded), cursor);
    for (char *at = encoded; *at != '\0'; at++)
        if (*at == '~') *at = '%';
    if (rv_http_path_decode(text, sizeof(text), encoded, strlen(encoded))) colon = strchr(text, ':');
    if (colon != NULL) text[colon - text] = '\0';
    if (colon == NULL || strlen(colon + 1) >= sizeof(page->cursor) || reeve_state_parse(text, &state) != REEVE_OK) {
        web_refuse(page->call, 400, "invalid", CURSOR_WORDS);
        return false;
    }
    page->resumes = true;
    page->state = (int)state;
    rv_copy_text(page->cursor, sizeof(page->cursor), colon + 1);
    return true;
}

/* The tasks of one step. False: the call was refused. */
static bool step(struct page *page)
{
    web_call *call = page->call;
    const reeve_filter filter = cli_filter_in(&page->filter.filter, (reeve_state)page->state);
    reeve_task_info **list = NULL;
    size_t count = 0;
    uint64_t seen = 0;
    reeve_status status =
        reeve_find(call->client, QUEUE(call), &filter, page->cursor, page->limit - page->count, &list, &count, &seen);

    if (status == REEVE_EREDIS && page->resumes) {
        web_refuse(call, 400, "invalid", CURSOR_WORDS);
        return false;
    }
    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return false;
    }
    page->resumes = false;
    for (size_t i = 0; i < count; i++) {
        if (page->count++ > 0) (void)fputc(',', call->out);
        print_task(call, list[i], NULL);
    }
    page->seen += seen;
    reeve_task_list_free(list, count);
    return true;
}

/* Goes to the next state at the end of one. False: there is none. */
static bool go_on(struct page *page)
{
    if (page->cursor[0] != '\0') return true;
    if (page->filter.filter.has_state && !page->filter.filter.all_states) return false;
    return ++page->state < REEVE_STATE_COUNT;
}

static void print_end(struct page *page, bool more, uint64_t total)
{
    cli_json json = {.out = page->call->out, .comma = true};
    char cursor[CURSOR_TEXT] = "";

    (void)fputc(']', page->call->out);
    if (more) write_cursor(page, cursor);
    cli_json_text(&json, "cursor", more ? cursor : NULL);
    cli_json_uint(&json, "seen", page->seen);
    cli_json_uint(&json, "total", total);
    cli_json_end(&json);
}

/* How many tasks there are in the states that are looked at. */
static bool count_all(struct page *page, uint64_t *ret)
{
    const cli_filter *filter = &page->filter.filter;
    reeve_queue_info info;
    reeve_status status = reeve_queue(page->call->client, QUEUE(page->call), &info);

    *ret = 0;
    if (status != REEVE_OK) {
        web_refuse_status(page->call, status);
        return false;
    }
    for (int i = 0; i < REEVE_STATE_COUNT; i++)
        if (!filter->has_state || filter->all_states || i == (int)filter->state) *ret += info.count[i];
    return true;
}

void web_run_tasks(web_call *call)
{
    struct page page = {.call = call};
    uint64_t total;
    int64_t limit;
    bool more = true;

    if (!web_filter_from_query(call, &page.filter) || !web_filter_resolve(call, &page.filter)) return;
    if (!web_query_number(call, "limit", 1, 1000, 50, &limit)) return;
    page.limit = (size_t)limit;
    page.state = page.filter.filter.has_state && !page.filter.filter.all_states ? (int)page.filter.filter.state : 0;
    if (!read_cursor(&page) || !count_all(&page, &total)) return;
    (void)fputs("{\"tasks\":[", call->out);
    while (more && page.count < page.limit && page.seen < SEEN_MAX && ftell(call->out) < BYTES_MAX) {
        if (!step(&page)) return;
        more = go_on(&page);
    }
    print_end(&page, more, total);
}

/* ---- one ------------------------------------------------------------------------------------------------------- */

static void stop_waiting(void *client)
{
    reeve_client_interrupt(client);
}

/* Waits for the end of the task, or until the client has closed the connection: it may have closed one direction only,
 * and gets the task as it is. *ret may be NULL. */
static reeve_status wait_for(web_call *call, int64_t wait_ms, reeve_task_info **ret)
{
    rv_http_server_watch(call->http, stop_waiting, call->client);
    reeve_status status = reeve_wait(call->client, QUEUE(call), ID(call), wait_ms, ret);

    (void)rv_http_server_unwatch(call->http);
    if (status == REEVE_EINTERRUPTED) return REEVE_ETIMEOUT;
    return status == REEVE_EDEAD || status == REEVE_ECANCELLED ? REEVE_OK : status;
}

void web_run_task(web_call *call)
{
    reeve_task_info *info = NULL;
    reeve_why *why = NULL;
    int64_t wait_ms;
    reeve_status status = REEVE_ETIMEOUT;

    if (!web_query_duration(call, "wait", 0, &wait_ms)) return;
    if (wait_ms > 0) status = wait_for(call, wait_ms < WAIT_MAX_MS ? wait_ms : WAIT_MAX_MS, &info);
    if (status == REEVE_ETIMEOUT) status = reeve_show(call->client, QUEUE(call), ID(call), &info);
    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return;
    }
    if (web_serving_why(call, QUEUE(call), ID(call), &why) != REEVE_OK) why = NULL;
    print_task(call, info, why);
    reeve_why_free(why);
    reeve_task_info_free(info);
}

void web_run_task_log(web_call *call)
{
    reeve_task_info *info = NULL;
    reeve_status status = reeve_show(call->client, QUEUE(call), ID(call), &info);
    cli_json json;

    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return;
    }
    cli_json_begin(&json, call->out);
    cli_json_open_array(&json, "lines");
    for (size_t i = 0; i < info->log_count; i++) {
        cli_json_open(&json, NULL);
        cli_json_int(&json, "at_ms", info->log[i].time_ms);
        cli_json_text(&json, "text", info->log[i].text);
        cli_json_close(&json);
    }
    cli_json_close_array(&json);
    cli_json_end(&json);
    reeve_task_info_free(info);
}

/* How the parents of a task have ended, as of a batch; by pages of a thousand. */
void web_run_task_parents(web_call *call)
{
    char handle[REEVE_HANDLE_MAX];
    reeve_batch_counts counts;
    cli_json json;

    if (snprintf(handle, sizeof(handle), "%s/%s", QUEUE(call), ID(call)) >= (int)sizeof(handle)) {
        web_refuse(call, 400, "invalid", "the handle is too long");
        return;
    }
    reeve_status status = reeve_batch_count(call->client, handle, &counts);
    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return;
    }
    cli_json_begin(&json, call->out);
    cli_handle_json(&json, QUEUE(call), ID(call));
    cli_json_bool(&json, "open", counts.open);
    cli_json_uint(&json, "members", counts.members);
    cli_json_uint(&json, "completed", counts.completed);
    cli_json_uint(&json, "dead", counts.dead);
    cli_json_uint(&json, "cancelled", counts.cancelled);
    cli_json_uint(&json, "left", counts.left);
    cli_json_uint(&json, "failed", counts.failed);
    cli_json_end(&json);
}
