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
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "bulk_line.h"
#include "handle.h"
#include "json.h"
#include "lines.h"
#include "progress.h"
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
    bool with_ended; /* listed tasks that had ended are enqueued, too */
    bool joins;      /* the tasks become members of the batch */
    reeve_batch batch;
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
    uint64_t skipped;  /* listed tasks that had ended */
    uint64_t unknown;  /* sent, but the reply did not come */
    uint64_t not_sent; /* Redis was gone */
    struct tally reasons[REASONS_MAX];
    int status;
    cli_progress progress;
    uint64_t size; /* of the input when it is a file; 0: not known */
    bool says_buffered;
    bool says_unconfirmed;
};

/* ---- refusals -------------------------------------------------------------------------------------------------- */

static void count_reason(struct bulk *bulk, const char *text)
{
    struct tally *tally = bulk->reasons;

    while (tally < bulk->reasons + REASONS_MAX - 1 && tally->text != NULL && strcmp(tally->text, text) != 0) tally++;
    if (tally->text == NULL) tally->text = text;
    tally->count++;
}

/* People are told of the first ones, programs of each. */
static void refuse(struct bulk *bulk, const cli_fault *fault, const char *reason, const char *words)
{
    const cli_context *cli = bulk->cli;

    bulk->refused++;
    if (bulk->status == CLI_DONE) bulk->status = CLI_REFUSED;
    count_reason(bulk, reason);
    if (!cli->json && bulk->refused > REPORTS_MAX + 1) return;
    cli_progress_clear(&bulk->progress);
    if (cli->json)
        (void)cli_fault_say(cli, CLI_REFUSED, fault, "%s", words);
    else if (bulk->refused <= REPORTS_MAX)
        (void)cli_fail(cli, CLI_REFUSED, "line %" PRIu64 ": %s", fault->line, words);
    else
        cli_note(cli, "further refused lines are only counted");
}

static void refuse_line(struct bulk *bulk, const cli_bulk_fault *fault)
{
    const cli_fault located = {.code = cli_code_of(fault->status), .line = bulk->line_number};

    refuse(bulk, &located, fault->reason, fault->words);
}

static void refuse_result(struct bulk *bulk, size_t at)
{
    const reeve_task_spec *spec = &bulk->specs[at];
    const reeve_enqueued *result = &bulk->results[at];
    cli_fault fault = {.code = cli_code_of(result->status), .line = bulk->numbers[at]};
    char words[512], name[REEVE_HANDLE_MAX + 1];

    (void)snprintf(name, sizeof(name), "%s/%s", spec->queue, result->id);
    if (result->status == REEVE_EUNIQUE) {
        fault.unique = spec->unique;
        fault.holder = name;
    } else if (result->id[0] != '\0') {
        fault.handle = name;
    }
    reeve_enqueued_error(bulk->cli->client, spec, result, words, sizeof(words));
    refuse(bulk, &fault, reeve_status_text(result->status), words);
}

/* ---- chunks ---------------------------------------------------------------------------------------------------- */

/* Redis went away: the first such line is told, to programs each; the input after this chunk is not read any more. */
static void lose(struct bulk *bulk, size_t at)
{
    const cli_context *cli = bulk->cli;
    reeve_status status = bulk->results[at].status;
    bool unknown = status != REEVE_ECONNECT, first = bulk->status != CLI_NO_REDIS;
    char words[512], name[REEVE_HANDLE_MAX + 1] = "";

    if (unknown)
        bulk->unknown++;
    else
        bulk->not_sent++;
    bulk->status = CLI_NO_REDIS;
    if (!cli->json && !first && !unknown) return;
    if (unknown) (void)snprintf(name, sizeof(name), "%s/%s", bulk->specs[at].queue, bulk->results[at].id);
    reeve_enqueued_error(cli->client, &bulk->specs[at], &bulk->results[at], words, sizeof(words));
    cli_progress_clear(&bulk->progress);
    const cli_fault fault = {.code = cli_code_of(status), .line = bulk->numbers[at], .handle = unknown ? name : NULL};
    (void)cli_fault_say(cli, unknown ? CLI_UNKNOWN : CLI_NO_REDIS, &fault, "line %" PRIu64 ": %s%s: %s%s",
                        bulk->numbers[at], unknown ? "unknown whether enqueued: " : "not enqueued", name, words,
                        first ? "; stopped here" : "");
}

/* A line, and with --json an object that says which line of the input it was. */
static void print_enqueued(const struct bulk *bulk, size_t at)
{
    const char *queue = bulk->specs[at].queue, *id = bulk->results[at].id;
    cli_json json;

    if (!bulk->cli->json) {
        (void)printf("%s/%s\n", queue, id);
        return;
    }
    cli_json_begin(&json, stdout);
    cli_handle_json(&json, queue, id);
    cli_json_uint(&json, "line", bulk->numbers[at]);
    cli_json_end(&json);
}

/* Once: the file has the tasks from here on. */
static void say_buffered(struct bulk *bulk, size_t at)
{
    if (bulk->says_buffered) return;
    bulk->says_buffered = true;
    cli_progress_clear(&bulk->progress);
    (void)cli_fault_say(
        bulk->cli, CLI_DONE, &(cli_fault){.code = cli_code_of(REEVE_BUFFERED), .line = bulk->numbers[at]},
        "line %" PRIu64 ": Redis cannot be reached: tasks are kept in %s", bulk->numbers[at], bulk->cli->buffer);
}

/* Once: others may follow. */
static void say_unconfirmed(struct bulk *bulk, size_t at)
{
    if (bulk->status == CLI_DONE) bulk->status = CLI_UNKNOWN;
    if (bulk->says_unconfirmed) return;
    bulk->says_unconfirmed = true;
    cli_progress_clear(&bulk->progress);
    (void)cli_fault_say(bulk->cli, CLI_UNKNOWN,
                        &(cli_fault){.code = cli_code_of(REEVE_UNCONFIRMED), .line = bulk->numbers[at]},
                        "line %" PRIu64 ": %s", bulk->numbers[at], reeve_client_error(bulk->cli->client));
}

static void take_result(struct bulk *bulk, size_t at)
{
    reeve_status status = bulk->results[at].status;

    if (status == REEVE_BUFFERED) say_buffered(bulk, at);
    if (status == REEVE_UNCONFIRMED) say_unconfirmed(bulk, at);
    if (status == REEVE_OK || status == REEVE_BUFFERED || status == REEVE_UNCONFIRMED) {
        bulk->enqueued++;
        print_enqueued(bulk, at);
    } else if (cli_exit_of(status) == CLI_NO_REDIS) {
        lose(bulk, at);
    } else {
        refuse_result(bulk, at);
    }
}

/* How far it is: by the bytes of a file, else only how many. */
static void show_progress(struct bulk *bulk)
{
    char enqueued[CLI_COUNT_TEXT], refused[CLI_COUNT_TEXT];
    off_t at = bulk->size > 0 ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;

    if (!cli_progress_begin(&bulk->progress, at > 0 ? (uint64_t)at : 0, bulk->size)) return;
    (void)fprintf(stderr, "%s enqueued", cli_count_text(bulk->enqueued, enqueued));
    if (bulk->refused > 0) (void)fprintf(stderr, ", %s refused", cli_count_text(bulk->refused, refused));
    cli_progress_end(&bulk->progress);
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
    if (bulk->joins)
        (void)reeve_batch_add(bulk->cli->client, &bulk->batch, bulk->specs, bulk->count, bulk->results);
    else
        (void)reeve_enqueue_many(bulk->cli->client, bulk->specs, bulk->count, bulk->results);
    for (size_t i = 0; i < bulk->count; i++) take_result(bulk, i);
    empty_chunk(bulk);
    show_progress(bulk);
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

/* What a call may have at most is no limit to the lines. */
static bool has_room(const struct bulk *bulk)
{
    return bulk->count < CHUNK_LINES && bulk->bytes < CHUNK_BYTES &&
           (int64_t)bulk->count < bulk->cli->size_limits.batch;
}

static bool add_line(struct bulk *bulk, const char *text, size_t length)
{
    cli_bulk_line *line = &bulk->lines[bulk->count];
    cli_bulk_fault fault;

    if (is_blank(text, length)) return true;
    if (!cli_bulk_line_parse(line, text, length, &bulk->defaults, &fault)) {
        refuse_line(bulk, &fault);
        return true;
    }
    if (line->has_ended && !bulk->with_ended) {
        bulk->skipped++;
        cli_bulk_line_fini(line);
        return true;
    }
    bulk->specs[bulk->count] = line->spec;
    bulk->numbers[bulk->count] = bulk->line_number;
    bulk->count++;
    bulk->bytes += line->spec.payload.length;
    return has_room(bulk) || send_chunk(bulk);
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
        refuse_line(bulk, &(cli_bulk_fault){REEVE_ETOOBIG, "line too long", "longer than 65 MiB"});
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
    cli_progress_clear(&bulk->progress);
    if (cli_stop_signal() != 0)
        bulk->status = cli_signalled(bulk->cli, cli_stop_signal());
    else if (bulk->read_error != 0 && bulk->status <= CLI_REFUSED)
        bulk->status = cli_fault_say(bulk->cli, CLI_REFUSED, &(cli_fault){.code = "input"}, "standard input: %s",
                                     strerror(bulk->read_error));
}

/* For people: the sums. */
static void say_outcome(struct bulk *bulk)
{
    if (bulk->cli->json) return;
    (void)fprintf(stderr, "%" PRIu64 " enqueued, %" PRIu64 " refused", bulk->enqueued, bulk->refused);
    for (size_t i = 0; i < REASONS_MAX && bulk->reasons[i].text != NULL; i++)
        (void)fprintf(stderr, "%s%s: %" PRIu64, i == 0 ? " (" : ", ", bulk->reasons[i].text, bulk->reasons[i].count);
    if (bulk->refused > 0) (void)fputc(')', stderr);
    if (bulk->skipped > 0)
        (void)fprintf(stderr, ", %" PRIu64 " skipped as they had ended (--ended enqueues them, too)", bulk->skipped);
    if (bulk->not_sent > 0) (void)fprintf(stderr, ", %" PRIu64 " not sent", bulk->not_sent);
    if (bulk->unknown > 0) (void)fprintf(stderr, ", %" PRIu64 " unknown", bulk->unknown);
    (void)fputc('\n', stderr);
}

/* Handles that are printed on a terminal tell enough of the progress. */
static void init_progress(struct bulk *bulk)
{
    struct stat about;

    cli_progress_init(&bulk->progress, bulk->cli);
    if (isatty(STDOUT_FILENO) == 1 || isatty(STDIN_FILENO) == 1) bulk->progress.shows = false;
    if (fstat(STDIN_FILENO, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0)
        bulk->size = (uint64_t)about.st_size;
}

static void run_bulk(struct bulk *bulk)
{
    init_progress(bulk);
    cli_stop_catch(NULL);
    cli_lines_init(&bulk->input, STDIN_FILENO, cli_stop_fd(), LINE_MAX_BYTES);
    read_input(bulk);
    cli_stop_release();
    say_outcome(bulk);
    empty_chunk(bulk);
    cli_lines_fini(&bulk->input);
}

/* CLI_DONE, or an exit status after words. */
static int find_batch(struct bulk *bulk, const cli_bulk_call *call)
{
    reeve_client *client = bulk->cli->client;

    bulk->joins = call->callback_count > 0;
    if (!bulk->joins) return CLI_DONE;
    reeve_status status =
        reeve_batch_find(client, (const char *const *)call->callbacks, call->callback_count, &bulk->batch);
    return status == REEVE_OK ? CLI_DONE : cli_fail_call(bulk->cli, status, NULL);
}

int cli_bulk(cli_context *cli, const cli_bulk_call *call)
{
    int status = cli_open(cli);
    struct bulk *bulk;

    if (status != CLI_DONE) return status;
    bulk = rv_zalloc(sizeof(*bulk));
    if (bulk == NULL) return cli_no_memory(cli);
    bulk->cli = cli;
    bulk->defaults = (cli_bulk_defaults){.queue = call->queue, .type = call->type};
    bulk->with_ended = call->with_ended;
    status = find_batch(bulk, call);
    if (status == CLI_DONE) {
        run_bulk(bulk);
        status = bulk->status == CLI_NO_REDIS && bulk->unknown > 0 ? CLI_UNKNOWN : bulk->status;
    }
    rv_free(bulk);
    return status;
}
