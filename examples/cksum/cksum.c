/*
 * cksum.c - a plugin with one long task that goes on where it was when its worker died: see README.md.
 *
 * Type "cksum": the POSIX checksum of a file, as cksum(1) prints it. The payload is the file's path. The metadata
 * mib_per_second (optional) says how fast it may read, so that a large file does not take the disk from everybody else.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <reeve/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK ((size_t)256 * 1024)
#define MIB (1024.0 * 1024.0)
#define CHECKPOINT_MS 1000 /* a checkpoint and a progress are a round trip each: now and then, not for each block */
#define NAP_MS 50

/* How far it is, and of which file. This is what a checkpoint is. */
struct state {
    int64_t offset;
    uint32_t sum;
    int64_t size;
    int64_t changed_ns;
};

/* What an attempt needs besides. */
struct reading {
    int file;
    int64_t began_ms;
    int64_t began_at;
    int64_t told_ms;
    double bytes_per_ms; /* 0: any */
};

/* ---- the sum --------------------------------------------------------------------------------------------------- */

static uint32_t table[256];

/* The plugin's load hook: once in a process, before any handler runs. */
static int make_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i << 24;
        for (int bit = 0; bit < 8; bit++) table[i] = (table[i] << 1) ^ ((table[i] >> 31) * UINT32_C(0x04c11db7));
    }
    return 0;
}

static uint32_t add_bytes(uint32_t sum, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) sum = (sum << 8) ^ table[(sum >> 24) ^ bytes[i]];
    return sum;
}

/* The length belongs to the sum, its lowest byte first, as many bytes as it has. */
static uint32_t finish(uint32_t sum, int64_t size)
{
    for (uint64_t left = (uint64_t)size; left > 0; left >>= 8) {
        const unsigned char byte = (unsigned char)left;

        sum = add_bytes(sum, &byte, 1);
    }
    return ~sum;
}

/* ---- checkpoints ----------------------------------------------------------------------------------------------- */

/*
 * A checkpoint may be older than this program: it was left before an update. So it says which form it has; one that is
 * not understood, or speaks of another file, is passed over.
 */
#define FORM "cksum-1 %" PRId64 " %" PRIu32 " %" PRId64 " %" PRId64
#define FORM_READ "cksum-1 %" SCNd64 " %" SCNu32 " %" SCNd64 " %" SCNd64

static reeve_status leave(reeve_task *task, const struct state *state)
{
    char text[128];
    int length = snprintf(text, sizeof(text), FORM, state->offset, state->sum, state->size, state->changed_ns);

    return reeve_task_checkpoint(task, text, (size_t)length);
}

static void find_place(struct state *state, reeve_bytes checkpoint)
{
    struct state left;

    /* (data is NULL where no attempt left anything; else a zero byte follows it) */
    if (checkpoint.data == NULL) return;
    if (sscanf(checkpoint.data, FORM_READ, &left.offset, &left.sum, &left.size, &left.changed_ns) != 4) return;
    if (left.size == state->size && left.changed_ns == state->changed_ns) *state = left;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static int look(int file, struct state *ret)
{
    struct stat about;

    if (fstat(file, &about) != 0) return errno;
    if (!S_ISREG(about.st_mode)) return EINVAL;
    *ret = (struct state){.size = about.st_size,
                          .changed_ns = (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec};
    return 0;
}

/* Keeps to the pace, with an ear for the worker. */
static void rest(reeve_task *task, const struct reading *reading, const struct state *state)
{
    const struct timespec nap = {0, NAP_MS * 1000000L};

    if (reading->bytes_per_ms <= 0) return;
    while ((double)(state->offset - reading->began_at) >
               reading->bytes_per_ms * (double)(reeve_task_now_ms(task) - reading->began_ms) &&
           !reeve_task_should_stop(task)) {
        (void)nanosleep(&nap, NULL);
    }
}

/* For people; whether it arrives does not matter. */
static void show(reeve_task *task, const struct state *state)
{
    char words[64];
    int percent = state->size > 0 ? (int)(100 * state->offset / state->size) : 100;

    (void)snprintf(words, sizeof(words), "%.1f of %.1f MiB", (double)state->offset / MIB, (double)state->size / MIB);
    (void)reeve_task_progress(task, percent, words);
}

/* Says how far it is, once a second. REEVE_EREFUSED: somebody else has the task by now. */
static reeve_status tell(reeve_task *task, struct reading *reading, const struct state *state)
{
    if (reeve_task_now_ms(task) - reading->told_ms < CHECKPOINT_MS) return REEVE_OK;
    reading->told_ms = reeve_task_now_ms(task);
    show(task, state);
    return leave(task, state);
}

/* NONE: the whole file is in the sum. */
static reeve_outcome read_file(reeve_task *task, struct reading *reading, struct state *state)
{
    unsigned char block[BLOCK];

    while (state->offset < state->size) {
        ssize_t got = pread(reading->file, block, sizeof(block), (off_t)state->offset);

        if (got < 0) return reeve_task_retry(task, -1, "read", "%s", strerror(errno));
        if (got == 0) break; /* it is shorter by now */
        state->sum = add_bytes(state->sum, block, (size_t)got);
        state->offset += got;
        /* Whatever fails but this (Redis is away for a moment, say) costs no more than a part of the way. */
        if (tell(task, reading, state) == REEVE_EREFUSED) return reeve_task_give_back(task);
        rest(task, reading, state);
        if (reeve_task_should_stop(task)) {
            (void)leave(task, state); /* a deploy costs nothing of what was done */
            return reeve_task_give_back(task);
        }
    }
    return REEVE_OUTCOME_NONE;
}

static reeve_outcome done(reeve_task *task, const struct reading *reading, const struct state *state)
{
    struct state now = {0};
    char result[64];
    int length;

    if (look(reading->file, &now) != 0 || now.size != state->size || now.changed_ns != state->changed_ns) {
        return reeve_task_retry(task, -1, "changed", "the file was written to meanwhile");
    }
    show(task, state);
    (void)reeve_task_log(task, "read %" PRId64 " bytes in this attempt", state->offset - reading->began_at);
    length = snprintf(result, sizeof(result), "%" PRIu32 " %" PRId64, finish(state->sum, state->size), state->size);
    return reeve_task_done(task, result, (size_t)length);
}

static reeve_outcome sum_file(reeve_task *task, struct reading *reading)
{
    const char *pace = reeve_task_meta(task, "mib_per_second");
    struct state state;
    reeve_bytes checkpoint;
    reeve_outcome outcome;
    int error = look(reading->file, &state);

    if (error != 0) return reeve_task_fail(task, "read", "%s", error == EINVAL ? "no regular file" : strerror(error));
    /* Not known is not the same as none: better to try again than to begin at the beginning. */
    if (reeve_task_last_checkpoint(task, &checkpoint) != REEVE_OK) {
        return reeve_task_retry(task, -1, "redis", "the checkpoint was not read");
    }
    find_place(&state, checkpoint);
    reading->began_at = state.offset;
    reading->began_ms = reading->told_ms = reeve_task_now_ms(task);
    if (pace != NULL) reading->bytes_per_ms = strtod(pace, NULL) * MIB / 1000;
    (void)reeve_task_log(task, "begins at byte %" PRId64, state.offset);
    outcome = read_file(task, reading, &state);
    return outcome == REEVE_OUTCOME_NONE ? done(task, reading, &state) : outcome;
}

static reeve_outcome cksum(reeve_task *task, void *user)
{
    const char *path = reeve_task_payload(task).data; /* a zero byte follows a payload */
    struct reading reading = {.file = -1};
    reeve_outcome outcome;

    (void)user;
    if (path[0] != '/') return reeve_task_fail(task, "payload", "expected the absolute path of a file");
    reading.file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (reading.file < 0) return reeve_task_fail(task, "read", "%s: %s", path, strerror(errno));
    outcome = sum_file(task, &reading);
    (void)close(reading.file);
    return outcome;
}

static const reeve_handler handlers[] = {
    {REEVE_HANDLER, .type = "cksum", .run = cksum, .attempts = 5,
     .heartbeat_ms = 60000, /* it tells once a second; silence for a minute means that it hangs, in a dead disk say */
     .summary = "checksum of the file in the payload, as cksum(1); metadata: mib_per_second=N"},
};

REEVE_PLUGIN(.name = "cksum", .version = "1.0", .summary = "checksums of large files", .handlers = handlers,
             .handler_count = 1, .load = make_table)
