/*
 * web_enqueue.c - tasks from the body of a request: one JSON object, or many, a line each, as `reeve enqueue --bulk`
 * reads them. One is answered with its handle, or an error. Many are answered with a JSON line each, in their order.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/bulk_line.h"
#include "cli/cli.h"
#include "cli/handle.h"
#include "web.h"

#define QUEUE(call) ((call)->params.value[0])
#define CHUNK 500

struct enqueue {
    web_call *call;
    cli_bulk_defaults defaults;
    char type[REEVE_TYPE_MAX + 1];
    cli_bulk_line lines[CHUNK];
    cli_bulk_fault faults[CHUNK];
    bool parsed[CHUNK];
    reeve_task_spec specs[CHUNK];
    reeve_enqueued results[CHUNK];
    size_t count;
    size_t specs_count;
    bool many;
    bool has_lines; /* some are not blank */
};

static void print_fault(struct enqueue *enqueue, reeve_status status, const char *words, const char *holder)
{
    cli_json json;

    if (!enqueue->many) {
        web_refuse_words(enqueue->call, status, words);
        return;
    }
    cli_json_begin(&json, enqueue->call->out);
    cli_json_text(&json, "error", cli_code_of(status));
    cli_json_text(&json, "message", words);
    cli_json_text(&json, "holder", holder);
    cli_json_end(&json);
}

static void print_result(struct enqueue *enqueue, size_t at)
{
    const reeve_task_spec *spec = &enqueue->specs[at];
    const reeve_enqueued *result = &enqueue->results[at];
    char words[512];
    cli_json json;

    if (result->status != REEVE_OK) {
        reeve_enqueued_error(enqueue->call->client, spec, result, words, sizeof(words));
        print_fault(enqueue, result->status, words, result->status == REEVE_EUNIQUE ? result->id : NULL);
        return;
    }
    if (!enqueue->many) enqueue->call->http->status = 201;
    cli_json_begin(&json, enqueue->call->out);
    cli_handle_json(&json, spec->queue, result->id);
    cli_json_end(&json);
}

static void send_chunk(struct enqueue *enqueue)
{
    size_t spec = 0;

    if (enqueue->specs_count > 0)
        (void)reeve_enqueue_many(enqueue->call->client, enqueue->specs, enqueue->specs_count, enqueue->results);
    for (size_t i = 0; i < enqueue->count; i++) {
        if (enqueue->parsed[i])
            print_result(enqueue, spec++);
        else
            print_fault(enqueue, enqueue->faults[i].status, enqueue->faults[i].words, NULL);
        if (enqueue->parsed[i]) cli_bulk_line_fini(&enqueue->lines[i]);
    }
    enqueue->count = enqueue->specs_count = 0;
}

static void add_line(struct enqueue *enqueue, const char *text, size_t length)
{
    size_t at = enqueue->count++;
    bool *parsed = &enqueue->parsed[at];

    *parsed = cli_bulk_line_parse(&enqueue->lines[at], text, length, &enqueue->defaults, &enqueue->faults[at]);
    if (*parsed && strcmp(enqueue->lines[at].spec.queue, QUEUE(enqueue->call)) != 0) {
        cli_bulk_line_fini(&enqueue->lines[at]);
        *parsed = false;
        enqueue->faults[at].status = REEVE_EINVAL;
        (void)snprintf(enqueue->faults[at].words, sizeof(enqueue->faults[at].words),
                       "\"queue\" is not that of the path, %.64s", QUEUE(enqueue->call));
    }
    if (*parsed) enqueue->specs[enqueue->specs_count++] = enqueue->lines[at].spec;
    if (enqueue->count == CHUNK) send_chunk(enqueue);
}

static bool is_blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (memchr(" \t\r\n", text[i], 4) == NULL) return false;
    return true;
}

/* JSON lines; one object may have several lines. */
static void read_body(struct enqueue *enqueue)
{
    const char *at = enqueue->call->http->body, *end = at + enqueue->call->http->length;

    while (at < end) {
        const char *feed = enqueue->many ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        size_t length = feed == NULL ? (size_t)(end - at) : (size_t)(feed - at);
        bool blank = is_blank(at, length);
        if (!blank) add_line(enqueue, at, length);
        enqueue->has_lines = enqueue->has_lines || !blank;
        at += length + 1;
    }
    send_chunk(enqueue);
}

/* One object may have line feeds inside. Many objects are announced by their type, or have one on each line. */
static bool has_many(const web_call *call)
{
    const char *type = rv_http_server_header(call->http, "Content-Type");

    return type != NULL &&
           (strstr(type, "ndjson") != NULL || strstr(type, "jsonl") != NULL || strstr(type, "json-lines") != NULL);
}

static void refuse_empty(web_call *call)
{
    web_refuse(call, 400, "invalid", "the body is empty: expected {\"type\":\"...\",\"payload\":...}");
}

void web_run_enqueue(web_call *call)
{
    struct enqueue *enqueue = rv_zalloc(sizeof(*enqueue));

    if (enqueue == NULL) {
        web_refuse(call, 503, "busy", "no memory");
        return;
    }
    enqueue->call = call;
    enqueue->many = has_many(call);
    enqueue->defaults = (cli_bulk_defaults){.queue = QUEUE(call),
                                            .type = web_query(call, "type", enqueue->type, sizeof(enqueue->type))};
    if (enqueue->many) call->http->type = "application/x-ndjson";
    read_body(enqueue);
    if (!enqueue->has_lines) refuse_empty(call);
    rv_free(enqueue);
}
