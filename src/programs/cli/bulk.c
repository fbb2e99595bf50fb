/*
 * bulk.c - `reeve enqueue --bulk`: JSON lines from standard input, sent in chunks, in constant memory.
 *
 * A chunk is sent when it is full and when the input pauses, so that a pipe that trickles is enqueued as it comes. A
 * line that is refused never stops the others; a Redis that is lost does, and the words say from which line on.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bulk_line.h"
#include "handle.h"
#include "lines.h"
#include "stop.h"
#include "verbs.h"

#define CHUNK_LINES 500
#define CHUNK_BYTES (1024u * 1024)
#define LINE_MAX_BYTES (65u * 1024 * 1024)
#define REPORTS_MAX 20
#define REASONS_MAX 40

/* How often lines were refused for the same reason. */
struct tally {
    const char *text;
    uint64_t count;
};

struct bulk {
    cli_context *cli;
    cli_bulk_defaults defaults;
    cli_lines input;
    uint64_t line_number; /* of the line read last */
    int read_error;       /* errno of a failed read, or 0 */
    /* the chunk */
    cli_bulk_line lines[CHUNK_LINES];
    uint64_t numbers[CHUNK_LINES];
    reeve_task_spec specs[CHUNK_LINES];
    reeve_enqueued results[CHUNK_LINES];
    size_t count;
    size_t bytes;
    /* the outcome */
    uint64_t enqueued;
    uint64_t refused;
    uint64_t unknown;  /* sent, but the reply did not come */
    uint64_t not_sent; /* Redis was gone */
    struct tally reasons[REASONS_MAX];
    int status;
};

/* ---- refusals -------------------------------------------------------------------------------------------------- */

static void count_reason(struct bulk *bulk, const char *text)
{
    struct tally *tally = bulk->reasons;

    while (tally < bulk->reasons + REASONS_MAX - 1 && tally->text != NULL && strcmp(tally->text, text) != 0) tally++;
    if (tally->text == NULL) tally->text = text;
    tally->count++;
}

static void refuse(struct bulk *bulk, uint64_t number, const char *reason, const char *words)
{
    bulk->refused++;
    if (bulk->status == CLI_DONE) bulk->status = CLI_REFUSED;
    count_reason(bulk, reason);
    if (bulk->refused <= REPORTS_MAX) cli_say(bulk->cli, "line %" PRIu64 ": %s", number, words);
    if (bulk->refused == REPORTS_MAX + 1) cli_say(bulk->cli, "further refused lines are only counted");
}

static void refuse_result(struct bulk *bulk, size_t at, reeve_status status)
{
    const reeve_task_spec *spec = &bulk->specs[at];
    char words[512];

    if (status == REEVE_EEXISTS)
        (void)snprintf(words, sizeof(words), "a task %s/%s exists already", spec->queue, bulk->results[at].id);
    else if (status == REEVE_EUNIQUE)
        (void)snprintf(words, sizeof(words), "the unique key \"%s\" is held by %s/%s", spec->unique, spec->queue,
                       bulk->results[at].id);
    else /* the client keeps the words of the chunk's first failure; what Redis refuses, it refuses alike */
        (void)snprintf(words, sizeof(words), "%.500s", reeve_client_error(bulk->cli->client));
    refuse(bulk, bulk->numbers[at], reeve_status_text(status), words);
}

/* ---- chunks ---------------------------------------------------------------------------------------------------- */

/* Redis went away: the first such line is told, the input after this chunk is not read any more. */
static void lose(struct bulk *bulk, size_t at, reeve_status status)
{
    bool unknown = status != REEVE_ECONNECT;

    if (unknown)
        bulk->unknown++;
    else
        bulk->not_sent++;
    if (bulk->status == CLI_NO_REDIS) return;
    bulk->status = CLI_NO_REDIS;
    cli_say(bulk->cli, "line %" PRIu64 ": %s: %s; stopped here", bulk->numbers[at],
            unknown ? "unknown whether enqueued" : "not enqueued", reeve_client_error(bulk->cli->client));
}

static void take_result(struct bulk *bulk, size_t at)
{
    reeve_status status = bulk->results[at].status;

    if (status == REEVE_OK) {
        cli_handle handle;

        bulk->enqueued++;
        (void)snprintf(handle.queue, sizeof(handle.queue), "%s", bulk->specs[at].queue);
        (void)snprintf(handle.id, sizeof(handle.id), "%s", bulk->results[at].id);
        cli_handle_print(bulk->cli, &handle);
    } else if (cli_exit_of(status) == CLI_NO_REDIS) {
        lose(bulk, at, status);
    } else {
        refuse_result(bulk, at, status);
    }
}

static void empty_chunk(struct bulk *bulk)
{
    for (size_t i = 0; i < bulk->count; i++) cli_bulk_line_fini(&bulk->lines[i]);
    bulk->count = 0;
    bulk->bytes = 0;
}

/* False: no more can be sent, or nobody reads the handles any more. */
static bool send_chunk(struct bulk *bulk)
{
    if (bulk->count == 0) return true;
    (void)reeve_enqueue_many(bulk->cli->client, bulk->specs, bulk->count, bulk->results);
    for (size_t i = 0; i < bulk->count; i++) take_result(bulk, i);
    empty_chunk(bulk);
    if (!cli_flush(bulk->cli) && bulk->status == CLI_DONE) bulk->status = CLI_REFUSED;
    return ferror(stdout) == 0 && bulk->status != CLI_NO_REDIS;
}

/* ---- lines ----------------------------------------------------------------------------------------------------- */

static bool is_blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r') return false;
    return true;
}

static bool add_line(struct bulk *bulk, const char *text, size_t length)
{
    cli_bulk_line *line = &bulk->lines[bulk->count];
    cli_bulk_fault fault;

    if (is_blank(text, length)) return true;
    if (!cli_bulk_line_parse(line, text, length, &bulk->defaults, &fault)) {
        refuse(bulk, bulk->line_number, fault.reason, fault.words);
        return true;
    }
    bulk->specs[bulk->count] = line->spec;
    bulk->numbers[bulk->count] = bulk->line_number;
    bulk->count++;
    bulk->bytes += line->spec.payload.length;
    return bulk->count < CHUNK_LINES && bulk->bytes < CHUNK_BYTES ? true : send_chunk(bulk);
}

static bool add_next(struct bulk *bulk, const char *text, size_t length)
{
    static const char mark[] = "\xef\xbb\xbf"; /* the byte order mark that some editors put first */

    bulk->line_number++;
    if (bulk->line_number == 1 && length >= 3 && memcmp(text, mark, 3) == 0)
        return add_line(bulk, text + 3, length - 3);
    return add_line(bulk, text, length);
}

/* Takes a line and deals with it. False: that was the last. */
static bool step(struct bulk *bulk)
{
    const char *text;
    size_t length;

    switch (cli_lines_next(&bulk->input, bulk->count == 0, &text, &length)) {
    case CLI_LINE:
        return add_next(bulk, text, length);
    case CLI_LINE_WAIT:
        return send_chunk(bulk);
    case CLI_LINE_END:
        return false;
    case CLI_LINE_ERROR:
        break;
    case CLI_LINE_TOO_LONG:
        bulk->line_number++;
        refuse(bulk, bulk->line_number, "line too long", "longer than 65 MiB");
        return true;
    }
    if (errno == EINTR) return true;
    bulk->read_error = errno;
    return false;
}

static void read_input(struct bulk *bulk)
{
    while (cli_stop_signal() == 0 && step(bulk)) continue;
    (void)send_chunk(bulk);
    if (cli_stop_signal() != 0)
        bulk->status = CLI_SIGNALLED + cli_stop_signal();
    else if (bulk->read_error != 0 && bulk->status <= CLI_REFUSED)
        bulk->status = cli_fail(bulk->cli, CLI_REFUSED, "standard input: %s", strerror(bulk->read_error));
}

static void say_outcome(struct bulk *bulk)
{
    (void)fprintf(stderr, "%" PRIu64 " enqueued, %" PRIu64 " refused", bulk->enqueued, bulk->refused);
    for (size_t i = 0; i < REASONS_MAX && bulk->reasons[i].text != NULL; i++)
        (void)fprintf(stderr, "%s%s: %" PRIu64, i == 0 ? " (" : ", ", bulk->reasons[i].text, bulk->reasons[i].count);
    if (bulk->refused > 0) (void)fputc(')', stderr);
    if (bulk->not_sent > 0) (void)fprintf(stderr, ", %" PRIu64 " not sent", bulk->not_sent);
    if (bulk->unknown > 0) (void)fprintf(stderr, ", %" PRIu64 " unknown", bulk->unknown);
    (void)fputc('\n', stderr);
}

int cli_bulk(cli_context *cli, const char *queue, const char *type)
{
    int status = cli_open(cli);
    struct bulk *bulk;

    if (status != CLI_DONE) return status;
    bulk = rv_zalloc(sizeof(*bulk));
    if (bulk == NULL) return cli_no_memory(cli);
    bulk->cli = cli;
    bulk->defaults = (cli_bulk_defaults){.queue = queue, .type = type};
    cli_stop_catch(NULL);
    cli_lines_init(&bulk->input, STDIN_FILENO, cli_stop_fd(), LINE_MAX_BYTES);
    read_input(bulk);
    cli_stop_release();
    say_outcome(bulk);
    status = bulk->status;
    empty_chunk(bulk);
    cli_lines_fini(&bulk->input);
    rv_free(bulk);
    return status;
}
