/*
 * Two buffers: lines are added to one while the thread writes the other; when that is done they change places. Lines
 * are dropped only while the one that takes them is full, so their number is reported right behind what it holds.
 */
#include "log_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "log_flood.h"
#include "running/os_thread.h"

#define BUFFER_BYTES ((size_t)512 * 1024)
#define LINE_BYTES_MAX ((size_t)65536)

typedef struct host_log_buffer {
    char bytes[BUFFER_BYTES]; /* (a page that was never used costs nothing) */
    size_t length;
    uint64_t dropped; /* lines that were to stand behind these */
} host_log_buffer;

static host_log_buffer buffers[2];

static struct {
    pthread_mutex_t lock;  /* guards all but buffers[writing] */
    pthread_cond_t filled; /* there is something to write, or the end */
    pthread_cond_t empty;  /* all is written */
    unsigned writing;      /* the thread's buffer; the other one takes lines */
    bool busy;             /* the thread writes */
    bool ends;
    bool ended;
    pthread_t id;
} writer = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER, .empty = PTHREAD_COND_INITIALIZER};

static _Atomic int log_format; /* rv_log_format */

/* ---- what is logged -------------------------------------------------------------------------------------------- */

static bool add_line(host_log_buffer *to, const char *prefix, const char *line, size_t length)
{
    size_t before = strlen(prefix);

    if (before + length > sizeof(to->bytes) - to->length) return false;
    memcpy(to->bytes + to->length, prefix, before);
    memcpy(to->bytes + to->length + before, line, length);
    to->length += before + length;
    return true;
}

static bool is_json(void)
{
    return atomic_load(&log_format) == RV_LOG_JSON;
}

/* What the journal reads the priority from. */
static const char *prefix_of(reeve_log_level level)
{
    static const char *const prefixes[] = {
        [REEVE_LOG_DEBUG] = "<7>", [REEVE_LOG_INFO] = "<6>", [REEVE_LOG_WARN] = "<4>", [REEVE_LOG_ERROR] = "<3>"};

    return atomic_load(&log_format) == RV_LOG_JOURNALD ? prefixes[level] : "";
}

static void write_record(const reeve_log_record *record)
{
    rv_buf line;

    rv_buf_init(&line, LINE_BYTES_MAX);
    const char *text = rv_log_line(&line, record, is_json());
    size_t length = strlen(text);
    rv_lock(&writer.lock);
    host_log_buffer *to = &buffers[1 - writer.writing];
    /* Once a line was dropped, those behind it are: the order of what is written is that of what was logged. */
    if (to->dropped > 0 || !add_line(to, prefix_of(record->level), text, length)) to->dropped++;
    rv_lock_check(pthread_cond_signal(&writer.filled));
    rv_unlock(&writer.lock);
    rv_buf_fini(&line);
}

static void report_held(int64_t time_ms, bool at_end)
{
    const char *event;
    uint64_t held;

    while ((event = host_log_flood_next(time_ms, at_end, &held)) != NULL) {
        char number[24];
        const reeve_log_field fields[] = {{"id", event}, {"lines", number}};
        const reeve_log_record record = {.level = REEVE_LOG_WARN,
                                         .time_ms = time_ms,
                                         .event = "log.held",
                                         .message = "log lines were held back: too many with this id in a second",
                                         .fields = fields,
                                         .field_count = 2};

        (void)snprintf(number, sizeof(number), "%" PRIu64, held);
        write_record(&record);
    }
}

/* The library's log makes one call at a time. */
static void take_record(const reeve_log_record *record, void *user)
{
    (void)user;
    report_held(record->time_ms, false);
    if (host_log_flood_admits(record->event, record->time_ms)) write_record(record);
}

/* ---- the thread ------------------------------------------------------------------------------------------------ */

/* How many bytes were written; fewer when the reader is gone, the disk is full, or the like. */
static size_t put(const char *bytes, size_t length)
{
    size_t done = 0;

    while (done < length) {
        ssize_t put = write(STDERR_FILENO, bytes + done, length - done);
        struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
        if (put > 0)
            done += (size_t)put;
        else if (put < 0 && errno == EAGAIN)
            (void)poll(&room, 1, -1);
        else if (put == 0 || errno != EINTR)
            break;
    }
    return done;
}

static uint64_t count_lines(const char *bytes, size_t length)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < length; i++) lines += bytes[i] == '\n';
    return lines;
}

static bool report_dropped(uint64_t lines)
{
    char number[24];
    const reeve_log_field field = {"lines", number};
    const reeve_log_record record = {.level = REEVE_LOG_WARN,
                                     .time_ms = rv_wall_ms(),
                                     .event = "log.dropped",
                                     .message = "log lines were dropped: nobody took them in time",
                                     .fields = &field,
                                     .field_count = 1};
    rv_buf line;

    (void)snprintf(number, sizeof(number), "%" PRIu64, lines);
    rv_buf_init(&line, LINE_BYTES_MAX);
    const char *text = rv_log_line(&line, &record, is_json());
    bool reported = put(text, strlen(text)) == strlen(text);
    rv_buf_fini(&line);
    return reported;
}

/* Writes a buffer; *lost counts lines that were dropped and not reported yet, cut says that the last one has no end. */
static void write_out(host_log_buffer *from, uint64_t *lost, bool *cut)
{
    bool flows = !*cut || put("\n", 1) == 1;
    if (flows) *cut = false;
    if (flows && *lost > 0) flows = report_dropped(*lost);
    if (flows) *lost = 0;
    size_t done = flows ? put(from->bytes, from->length) : 0;
    if (done > 0 && from->bytes[done - 1] != '\n') *cut = true;
    *lost += count_lines(from->bytes + done, from->length - done) + from->dropped;
    if (done == from->length && flows && *lost > 0 && report_dropped(*lost)) *lost = 0;
    from->length = 0;
    from->dropped = 0;
}

static void *write_all(void *unused)
{
    uint64_t lost = 0;
    bool cut = false;

    (void)unused;
    rv_lock(&writer.lock);
    for (;;) {
        host_log_buffer *next = &buffers[1 - writer.writing];
        while (next->length == 0 && next->dropped == 0 && !writer.ends)
            rv_lock_check(pthread_cond_wait(&writer.filled, &writer.lock));
        if (next->length == 0 && next->dropped == 0) break;
        writer.writing = 1 - writer.writing;
        writer.busy = true;
        rv_unlock(&writer.lock);
        write_out(next, &lost, &cut);
        rv_lock(&writer.lock);
        writer.busy = false;
        rv_lock_check(pthread_cond_broadcast(&writer.empty));
    }
    writer.ended = true;
    rv_lock_check(pthread_cond_broadcast(&writer.empty));
    rv_unlock(&writer.lock);
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

static bool is_open;

void host_log_open(rv_log_format format, reeve_log_level min)
{
    rv_error error = {0};

    atomic_store(&log_format, (int)format);
    is_open = rv_os_thread_start(&writer.id, write_all, NULL, "reeve-log", &error) == REEVE_OK;
    if (is_open)
        reeve_log_set(take_record, NULL, min);
    else
        reeve_log_set(is_json() ? reeve_log_to_json : reeve_log_to_logfmt, stderr, min);
}

void host_log_change(rv_log_format format, reeve_log_level min)
{
    atomic_store(&log_format, (int)format);
    if (is_open)
        (void)rv_log_set_level(min);
    else
        reeve_log_set(is_json() ? reeve_log_to_json : reeve_log_to_logfmt, stderr, min);
}

static bool is_written(void)
{
    const host_log_buffer *next = &buffers[1 - writer.writing];
    return writer.ends ? writer.ended : !writer.busy && next->length == 0 && next->dropped == 0;
}

/* The caller holds the lock. */
static void wait_until_written(int64_t max_ms)
{
    int64_t deadline = rv_deadline(max_ms);
    struct timespec until = {.tv_sec = deadline / 1000, .tv_nsec = deadline % 1000 * 1000000};
    int failed = 0;

    while (!is_written() && failed == 0)
        failed = pthread_cond_clockwait(&writer.empty, &writer.lock, CLOCK_MONOTONIC, &until);
    rv_lock_check(failed != 0 && failed != ETIMEDOUT);
}

void host_log_flush(int64_t max_ms)
{
    if (!is_open) return;
    rv_lock(&writer.lock);
    wait_until_written(max_ms);
    rv_unlock(&writer.lock);
}

void host_log_close(int64_t max_ms)
{
    if (!is_open) return;
    reeve_log_set(NULL, NULL, REEVE_LOG_OFF);
    report_held(rv_wall_ms(), true); /* nobody logs any more */
    rv_lock(&writer.lock);
    writer.ends = true;
    rv_lock_check(pthread_cond_signal(&writer.filled));
    wait_until_written(max_ms);
    bool ended = writer.ended;
    rv_unlock(&writer.lock);
    if (ended) rv_lock_check(pthread_join(writer.id, NULL));
    is_open = false;
}
