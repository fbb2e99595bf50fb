/*
 * spans.c - a layer that writes a span of OpenTelemetry for each run of a handler, as a line of OTLP JSON. The span belongs to the
 * trace that the metadata "traceparent" of the task names (W3C Trace Context), so that a trace goes from producer to handler. A
 * task without it begins a trace of its own; one that is not sampled has no span.
 *
 * Option "file": where lines are appended. Option "service": the name of the service.
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

#define TRACE_LENGTH 32
#define SPAN_LENGTH 16
#define SERVICE_MAX 100
#define TEXT_MAX 640 /* a text of at most 100 bytes with all of them escaped, and more */

static int file = -1;
static char service[SERVICE_MAX + 1];

typedef struct span {
    char trace[TRACE_LENGTH + 1];
    char id[SPAN_LENGTH + 1];
    char parent[SPAN_LENGTH + 1]; /* "": none */
} span;

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

static const char format[] =
    "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"%s\"}}]}"
    ","
    "\"scopeSpans\":[{\"scope\":{\"name\":\"reeve\",\"version\":\"" REEVE_VERSION "\"},\"spans\":["
    "{\"traceId\":\"%s\",\"spanId\":\"%s\",\"parentSpanId\":\"%s\",\"name\":\"process %s\",\"kind\":5,"
    "\"startTimeUnixNano\":\"%" PRId64 "\",\"endTimeUnixNano\":\"%" PRId64 "\",\"attributes\":["
    "{\"key\":\"messaging.system\",\"value\":{\"stringValue\":\"reeve\"}},"
    "{\"key\":\"messaging.operation.name\",\"value\":{\"stringValue\":\"process\"}},"
    "{\"key\":\"messaging.operation.type\",\"value\":{\"stringValue\":\"process\"}}," TEXT("messaging.destination.name")
        TEXT("messaging.message.id") TEXT("reeve.task.type")
            TEXT("reeve.task.outcome") "{\"key\":\"reeve.task.attempt\",\"value\":{\"intValue\":\"%u\"}}],\"status\":{"
                                       "\"code\":%d}}]}]}]}\n";

/* One write, so that lines of several threads and workers do not mix. The names are those of OpenTelemetry's conventions for
 * messaging. */
static void write_span(const span *of, reeve_task *task, int64_t began_ns, reeve_outcome outcome)
{
    char line[8192], id[TEXT_MAX], type[TEXT_MAX];
    const char *queue = reeve_task_queue(task);
    int length = snprintf(line, sizeof(line), format, service, of->trace, of->id, of->parent, queue, began_ns, now_ns(),
                          queue, escape(id, reeve_task_id(task)), escape(type, reeve_task_type(task)),
                          reeve_outcome_name(outcome), reeve_task_attempt(task), is_error(outcome) ? 2 : 0);

    if (length <= 0 || (size_t)length >= sizeof(line)) return;
    if (write(file, line, (size_t)length) != length)
        reeve_log_write(REEVE_LOG_WARN, "spans.lost", "a span could not be written",
                        &(reeve_log_field){"task", reeve_task_handle(task)}, 1);
}

static reeve_outcome around(reeve_task *task, reeve_next *next, void *user)
{
    span of;
    bool writes = begin(&of, task);
    int64_t began = now_ns();
    reeve_outcome outcome = reeve_next_run(next, task);

    (void)user;
    if (writes) write_span(&of, task, began, outcome);
    return outcome;
}

static int load(const reeve_options *options)
{
    const char *path = reeve_option_text(options, "file");
    char escaped[TEXT_MAX];

    if (snprintf(service, sizeof(service), "%s", escape(escaped, reeve_option_text(options, "service"))) >=
        (int)sizeof(service))
        return E2BIG;
    file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    return file >= 0 ? 0 : errno;
}

static void unload(void)
{
    if (file >= 0) (void)close(file);
    file = -1;
}

static const reeve_option options[] = {
    {REEVE_OPTION, .name = "file", .type = REEVE_OPTION_TEXT, .otherwise = "/dev/stderr",
     .summary = "where spans are appended, as lines of OTLP JSON"},
    {REEVE_OPTION, .name = "service", .type = REEVE_OPTION_TEXT, .otherwise = "reeve-worker",
     .summary = "the name of the service (service.name)"},
};

static const reeve_layer layers[] = {
    {REEVE_LAYER, .name = "spans", .run = around, .summary = "writes a span of OpenTelemetry for each run"},
};

REEVE_PLUGIN(.name = "spans", .version = REEVE_VERSION, .summary = "writes spans of OpenTelemetry", .layers = layers,
             .layer_count = 1, .options = options, .option_count = 2, .load_with_options = load, .unload = unload)
