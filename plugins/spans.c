/*
 * spans.c - a layer that makes a span of OpenTelemetry for each enqueue and for each run of a handler. Spans are appended to a file as
 * lines of OTLP JSON, or sent to a receiver of OTLP over HTTP (spans_send.h).
 *
 * A call of a batch handler has a span for each of its tasks.
 *
 * The metadata "traceparent" of a task (W3C Trace Context) connects the spans: the span of an enqueue is a child of what it names, or
 * of the run that chains the task, and is then named there; the span of a run is a child of that. A task without it begins a trace of
 * its own; one that is not sampled has no span.
 *
 * Options: "file", "endpoint", "service". The defaults of the last two are OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_SERVICE_NAME.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <reeve/plugin.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "spans_send.h"

#define TRACE_LENGTH 32
#define SPAN_LENGTH 16
#define SERVICE_MAX 100
#define TEXT_MAX 640 /* a text of at most 100 bytes with all of them escaped, and more */

static int file = -1; /* -1: spans are sent */
static char before[TEXT_MAX + 512];

typedef struct span {
    char trace[TRACE_LENGTH + 1];
    char id[SPAN_LENGTH + 1];
    char parent[SPAN_LENGTH + 1]; /* "": none */
} span;

/* That of the handler which this thread runs: what it chains belongs there. */
static _Thread_local const span *around_this;

static bool is_hex(const char *text, size_t length)
{
    return strspn(text, "0123456789abcdef") >= length && strspn(text, "0") < length;
}

/* Reads "00-TRACE-SPAN-FLAGS". False: it is none. */
static bool read_parent(span *ret, const char *text, bool *ret_sampled)
{
    if (text == NULL || strlen(text) < 55 || strspn(text, "0123456789abcdef-") < 55) return false;
    if (text[2] != '-' || text[35] != '-' || text[52] != '-' || strncmp(text, "ff", 2) == 0) return false;
    if (!is_hex(text + 3, TRACE_LENGTH) || !is_hex(text + 36, SPAN_LENGTH)) return false;
    memcpy(ret->trace, text + 3, TRACE_LENGTH);
    memcpy(ret->parent, text + 36, SPAN_LENGTH);
    *ret_sampled = (strtoul(text + 53, NULL, 16) & 1) != 0;
    return true;
}

static bool make_id(char *ret, size_t length)
{
    unsigned char bytes[TRACE_LENGTH / 2];

    if (getrandom(bytes, length / 2, 0) != (ssize_t)(length / 2)) return false;
    bytes[0] |= 1; /* (an id of zeros is none) */
    for (size_t i = 0; i < length / 2; i++) (void)snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* False: there is no span to write. */
static bool begin(span *ret, reeve_task *task)
{
    bool sampled = true;

    memset(ret, 0, sizeof(*ret));
    if (!read_parent(ret, reeve_task_meta(task, "traceparent"), &sampled) && !make_id(ret->trace, TRACE_LENGTH))
        return false;
    return sampled && make_id(ret->id, SPAN_LENGTH);
}

static int64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail on Linux */
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A text as JSON, cut where it does not fit. */
static const char *escape(char ret[TEXT_MAX], const char *text)
{
    size_t length = 0;

    for (; *text != '\0' && length + 7 < TEXT_MAX; text++) {
        if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
            length += (size_t)snprintf(ret + length, TEXT_MAX - length, "\\u%04x", (unsigned char)*text);
        else
            ret[length++] = *text;
    }
    ret[length] = '\0';
    return ret;
}

static bool is_error(reeve_outcome outcome)
{
    return outcome == REEVE_OUTCOME_RETRY || outcome == REEVE_OUTCOME_FAIL || outcome == REEVE_OUTCOME_NONE;
}

#define TEXT(name) "{\"key\":\"" name "\",\"value\":{\"stringValue\":\"%s\"}},"

static const char before_format[] =
    "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"%s\"}}]}"
    ","
    "\"scopeSpans\":[{\"scope\":{\"name\":\"reeve\",\"version\":\"" REEVE_VERSION "\"},\"spans\":[";
static const char after[] = "]}]}]}\n";

/* The names are those of OpenTelemetry's conventions for messaging. */
static const char format[] =
    "{\"traceId\":\"%s\",\"spanId\":\"%s\",\"parentSpanId\":\"%s\",\"name\":\"%s %s\",\"kind\":%d,"
    "\"startTimeUnixNano\":\"%" PRId64 "\",\"endTimeUnixNano\":\"%" PRId64 "\",\"attributes\":["
    "{\"key\":\"messaging.system\",\"value\":{\"stringValue\":\"reeve\"}}," TEXT("messaging.operation.name")
        TEXT("messaging.operation.type") TEXT("messaging.destination.name") TEXT("messaging.message.id")
            TEXT("reeve.task.outcome") "%s{\"key\":\"reeve.task.type\",\"value\":{\"stringValue\":\"%s\"}}],\"status\":"
                                       "{\"code\":%d}}";

/* To a file by one write, so that lines of several threads and workers do not mix. */
static void put(const char *text, size_t length, const char *id)
{
    char line[8192 + sizeof(before) + sizeof(after)];

    if (file < 0) {
        spans_send_put(text, length);
        return;
    }
    int size = snprintf(line, sizeof(line), "%s%s%s", before, text, after);
    if (size > 0 && (size_t)size < sizeof(line) && write(file, line, (size_t)size) == size) return;
    spans_send_count_lost(1);
    reeve_log_write(REEVE_LOG_WARN, "spans.lost", "a span could not be written", &(reeve_log_field){"task", id}, 1);
}

static void write_run(const span *of, reeve_task *task, int64_t began_ns, reeve_outcome outcome)
{
    char text[8192], id[TEXT_MAX], type[TEXT_MAX], attempt[80];
    const char *queue = reeve_task_queue(task);

    (void)snprintf(attempt, sizeof(attempt), "{\"key\":\"reeve.task.attempt\",\"value\":{\"intValue\":\"%u\"}},",
                   reeve_task_attempt(task));
    int length =
        snprintf(text, sizeof(text), format, of->trace, of->id, of->parent, "process", queue, 5, began_ns, now_ns(),
                 "process", "process", queue, escape(id, reeve_task_id(task)), reeve_outcome_name(outcome), attempt,
                 escape(type, reeve_task_type(task)), is_error(outcome) ? 2 : 0);
    if (length > 0 && (size_t)length < sizeof(text)) put(text, (size_t)length, reeve_task_handle(task));
}

/* For want of memory or of random numbers there is no span. */
static void run_without(reeve_task *const *tasks, size_t count, reeve_next_batch *next)
{
    around_this = NULL;
    reeve_next_run_batch(next, tasks, count);
    spans_send_count_lost(count);
}

/* A span for each task, as each has a trace of its own. What the handler chains belongs to one of them, and nobody knows
 * which: unless there is one only, it begins a trace. */
static void around_batch(reeve_task *const *tasks, size_t count, reeve_next_batch *next, void *user)
{
    span *spans = malloc(count * sizeof(*spans));
    const span *outer = around_this;
    int64_t began = now_ns();

    (void)user;
    if (spans == NULL) {
        run_without(tasks, count, next);
    } else {
        for (size_t i = 0; i < count; i++)
            if (!begin(&spans[i], tasks[i])) spans[i].id[0] = '\0';
        around_this = count == 1 && spans[0].id[0] != '\0' ? &spans[0] : NULL;
        reeve_next_run_batch(next, tasks, count);
        for (size_t i = 0; i < count; i++)
            if (spans[i].id[0] != '\0') write_run(&spans[i], tasks[i], began, reeve_task_outcome(tasks[i]));
    }
    around_this = outer;
    free(spans);
}

static reeve_outcome around(reeve_task *task, reeve_next *next, void *user)
{
    span of;
    const span *outer = around_this;
    bool writes = begin(&of, task);
    int64_t began = now_ns();

    (void)user;
    around_this = writes ? &of : NULL;
    reeve_outcome outcome = reeve_next_run(next, task);
    around_this = outer;
    if (writes) write_run(&of, task, began, outcome);
    return outcome;
}

static void write_enqueue(const span *of, const reeve_task_spec *spec, int64_t began_ns)
{
    char text[8192], id[TEXT_MAX], type[TEXT_MAX];
    int length = snprintf(text, sizeof(text), format, of->trace, of->id, of->parent, "send", spec->queue, 4, began_ns,
                          now_ns(), "send", "send", spec->queue, escape(id, spec->id == NULL ? "" : spec->id),
                          "enqueue", "", escape(type, spec->type), 0);

    if (length > 0 && (size_t)length < sizeof(text)) put(text, (size_t)length, spec->queue);
}

/* The span of an enqueue, which the task then names. What is not sampled stays so. */
static reeve_status enqueue(reeve_outgoing *task, reeve_task_spec *spec, void *user)
{
    span of = {.parent = ""};
    char named[64];
    int64_t began = now_ns();
    bool sampled = true;

    (void)user;
    if (read_parent(&of, reeve_outgoing_meta(task, "traceparent"), &sampled)) {
        if (!sampled) return REEVE_OK;
    } else if (around_this != NULL) {
        memcpy(of.trace, around_this->trace, sizeof(of.trace));
        memcpy(of.parent, around_this->id, sizeof(of.parent));
    } else if (!make_id(of.trace, TRACE_LENGTH)) {
        return REEVE_OK;
    }
    if (!make_id(of.id, SPAN_LENGTH)) return REEVE_OK;
    (void)snprintf(named, sizeof(named), "00-%s-%s-01", of.trace, of.id);
    reeve_status status = reeve_outgoing_set_meta(task, "traceparent", named);
    if (status == REEVE_OK) write_enqueue(&of, spec, began);
    return status;
}

/* The option; else the variable of the environment that OpenTelemetry names; else what is given. */
static const char *setting(const reeve_options *options, const char *name, const char *variable, const char *otherwise)
{
    const char *text = reeve_option_text(options, name);

    if (text != NULL && text[0] != '\0') return text;
    text = variable == NULL ? NULL : getenv(variable);
    return text != NULL && text[0] != '\0' ? text : otherwise;
}

static int load(const reeve_options *options)
{
    const char *path = setting(options, "file", NULL, NULL);
    const char *endpoint = setting(options, "endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT", NULL);
    char escaped[TEXT_MAX];

    (void)escape(escaped, setting(options, "service", "OTEL_SERVICE_NAME", "reeve-worker"));
    if (strlen(escaped) > SERVICE_MAX) return E2BIG;
    (void)snprintf(before, sizeof(before), before_format, escaped);
    spans_send_count_lost(0); /* the metric begins at 0 */
    if (path == NULL && endpoint != NULL) return spans_send_start(endpoint, before, after);
    file = open(path == NULL ? "/dev/stderr" : path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    return file >= 0 ? 0 : errno;
}

static void unload(void)
{
    spans_send_stop();
    if (file >= 0) (void)close(file);
    file = -1;
}

static const reeve_option options[] = {
    {REEVE_OPTION, .name = "file", .type = REEVE_OPTION_TEXT, .otherwise = "",
     .summary = "where spans are appended, as lines of OTLP JSON; without an endpoint: standard error"},
    {REEVE_OPTION, .name = "endpoint", .type = REEVE_OPTION_TEXT, .otherwise = "",
     .summary = "http://HOST:PORT of a receiver of OTLP over HTTP; else OTEL_EXPORTER_OTLP_ENDPOINT"},
    {REEVE_OPTION, .name = "service", .type = REEVE_OPTION_TEXT, .otherwise = "",
     .summary = "the name of the service; else OTEL_SERVICE_NAME, else reeve-worker"},
};

static const reeve_layer layers[] = {
    {REEVE_LAYER, .name = "spans", .run = around, .run_batch = around_batch, .enqueue = enqueue,
     .summary = "makes a span of OpenTelemetry for each enqueue and run"},
};

REEVE_PLUGIN(.name = "spans", .version = REEVE_VERSION, .summary = "makes spans of OpenTelemetry", .layers = layers,
             .layer_count = 1, .options = options, .option_count = 3, .load_with_options = load, .unload = unload)
