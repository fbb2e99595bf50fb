/*
 * batch_wait.c - `reeve batch wait`: until all members have ended, with a progress bar meanwhile.
 *
 * Redis reports the end of a callback, but not that of a member. So the members are counted again after a pause, which is
 * at least 20 times as long as the count took: large batches are not counted all the time.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "handle.h"
#include "maintain.h"
#include "progress.h"
#include "stop.h"
#include "verb_batch.h"

#define PAUSE_MS 500
#define PAUSE_FACTOR 20

typedef struct waiting {
    cli_context *cli;
    const char *name;
    cli_handle handle;
    int64_t until_ms; /* negative: no limit */
    reeve_batch_counts counts;
    int64_t count_ms; /* how long the last count took */
    cli_progress progress;
} waiting;

static bool has_ended(const reeve_batch_counts *counts)
{
    return !counts->open && counts->left == 0;
}

static void show_progress(waiting *w)
{
    const reeve_batch_counts *counts = &w->counts;

    if (counts->members == 0) return;
    if (!cli_progress_begin(&w->progress, counts->members - counts->left, counts->members)) return;
    (void)fprintf(stderr, "%" PRIu64 " of %" PRIu64 " have ended", counts->members - counts->left, counts->members);
    if (counts->dead + counts->cancelled > 0)
        (void)fprintf(stderr, ", %" PRIu64 " dead, %" PRIu64 " cancelled", counts->dead, counts->cancelled);
    cli_progress_end(&w->progress);
}

static reeve_status count(waiting *w)
{
    int64_t began = rv_now_ms();
    reeve_status status = reeve_batch_count(w->cli->client, w->name, &w->counts);

    w->count_ms = rv_now_ms() - began;
    return status;
}

/* Until the callback has ended, or it is time to count again. Returns the status of reeve_wait. */
static reeve_status pause_between(const waiting *w)
{
    int64_t pause = w->count_ms * PAUSE_FACTOR > PAUSE_MS ? w->count_ms * PAUSE_FACTOR : PAUSE_MS;
    int64_t left = w->until_ms < 0 ? pause : w->until_ms - rv_now_ms();

    if (left < 0) left = 0;
    return reeve_wait(w->cli->client, w->handle.queue, w->handle.id, left < pause ? left : pause, NULL);
}

/* REEVE_OK: all members have ended. REEVE_ESTATE: the callback has ended before that. */
static reeve_status wait_for_members(waiting *w)
{
    bool callback_ended = false;

    for (;;) {
        reeve_status status = count(w);
        if (status != REEVE_OK) return status;
        if (has_ended(&w->counts)) return REEVE_OK;
        if (callback_ended) return REEVE_ESTATE;
        show_progress(w);
        status = pause_between(w);
        if (cli_stop_signal() != 0) return REEVE_EINTERRUPTED;
        callback_ended = status == REEVE_OK || status == REEVE_EDEAD || status == REEVE_ECANCELLED;
        if (!callback_ended && status != REEVE_ETIMEOUT) return status;
        if (!callback_ended && w->until_ms >= 0 && rv_now_ms() >= w->until_ms) return REEVE_ETIMEOUT;
    }
}

static int say_outcome(const waiting *w, reeve_status result)
{
    const reeve_batch_counts *counts = &w->counts;
    const cli_context *cli = w->cli;

    if (result == REEVE_EINTERRUPTED) return cli_signalled(cli, cli_stop_signal());
    if (result == REEVE_ETIMEOUT)
        return cli_fault_say(cli, CLI_TIMED_OUT, &(cli_fault){.code = "timeout", .handle = w->name},
                             "the batch of %s has not ended in time: %" PRIu64 " members are left%s", w->name,
                             counts->left, counts->open ? ", and it is open" : "");
    if (result == REEVE_ESTATE)
        return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "state", .handle = w->name},
                             "%s has ended before the members of its batch", w->name);
    if (result != REEVE_OK) return cli_fault_call(cli, result, &(cli_fault){.handle = w->name});
    if (counts->dead + counts->cancelled == 0) return CLI_DONE;
    return cli_fault_say(cli, CLI_DEAD, &(cli_fault){.code = "dead", .handle = w->name},
                         "members of the batch of %s: %" PRIu64 " dead, %" PRIu64 " cancelled", w->name, counts->dead,
                         counts->cancelled);
}

int cli_batch_wait(cli_context *cli, void *pointer)
{
    const cli_batch_options *options = pointer;
    waiting w = {.cli = cli, .name = cli->rest[1], .until_ms = -1};
    int status = cli_handle_argument(cli, &w.handle, cli->rest[1]);

    if (status == CLI_DONE) status = cli_open_queue(cli, w.handle.queue);
    if (status != CLI_DONE) return status;
    if (options->timeout_ms >= 0) w.until_ms = rv_now_ms() + options->timeout_ms;
    cli_progress_init(&w.progress, cli);
    cli_stop_catch(cli->client);
    reeve_status result = wait_for_members(&w);
    cli_progress_clear(&w.progress);
    cli_stop_release();
    if (result == REEVE_OK || result == REEVE_ETIMEOUT || result == REEVE_ESTATE)
        cli_batch_show_counts(cli, w.name, &w.counts);
    return say_outcome(&w, result);
}
