/*
 * isolated_run.c - one call of a handler in the runner of a thread: the tasks are sent, the calls of the handler are made, and the
 * outcomes are taken.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/pause.h"
#include "base/process_memory.h"
#include "base/text.h"
#include "isolation/runner_limits.h"
#include "isolation/runner_run.h"
#include "running/invocation.h"
#include "running/isolated.h"
#include "running/isolated_death.h"
#include "running/isolated_state.h"

#define START_AGAIN_MS 1000
#define BUFFER_KEEP ((size_t)1024 * 1024)

/* ---- flags ----------------------------------------------------------------------------------------------------- */

/* Tells the runner which tasks are to stop. */
static void pass_flags(rv_isolated_call *run)
{
    size_t stopped = 0;
    for (size_t i = 0; i < run->count; i++) {
        const rv_item *item = rv_invocation_item(run->t, run->tasks[i]);
        bool cancelled = atomic_load(rv_invocation_cancelled(run->t, item));
        bool stop = atomic_load(rv_invocation_stop(run->t, item));
        if (cancelled && !atomic_load(&run->own->runner.flags->tasks[i].cancelled))
            rv_copy_text(run->own->runner.flags->tasks[i].cancel_reason, REEVE_REASON_MAX + 1,
                         rv_invocation_cancel_reason(run->t, item));
        atomic_store(&run->own->runner.flags->tasks[i].cancelled, cancelled);
        atomic_store(&run->own->runner.flags->tasks[i].stop, stop);
        if (stop) stopped++;
    }
    if (stopped < run->count || run->is_stopped) return;
    run->is_stopped = true;
    run->signal_at = rv_deadline(rv_isolated_grace_ms(run->t));
}

static void end_stubborn(rv_isolated_call *run)
{
    bool again = run->was_ended;
    run->was_ended = true;
    run->signal_at = rv_deadline(rv_isolated_grace_ms(run->t));
    rv_runner_process_signal(&run->own->runner, again ? SIGKILL : SIGTERM);
}

/* ---- sending tasks --------------------------------------------------------------------------------------------- */

static void write_task(rv_buf *out, rv_thread *t, reeve_task *task)
{
    const rv_envelope *envelope = &rv_invocation_item(t, task)->lease.envelope;
    const rv_task_host *host = task->host;
    const rv_runner_task sent = {
        .queue = task->queue,
        .id = task->id,
        .type = task->type,
        .attempt = task->attempt,
        .crashes = task->crashes,
        .enqueued_ms = task->enqueued_ms,
        .past = task->past,
        .result_max = host->result_max != NULL ? atomic_load(host->result_max) : 0,
        .payload_max = host->payload_max != NULL ? atomic_load(host->payload_max) : 0,
        .header = {envelope->header, task->options != NULL ? envelope->header_length : 0},
        .payload = task->payload,
    };
    rv_runner_run_add(out, &sent);
}

static reeve_status send_run(rv_isolated_call *run, const rv_handler *handler)
{
    rv_isolated *own = run->own;
    rv_buf_clear(&own->out);
    rv_runner_run_begin(&own->out, handler->handler.type, own->scratch, run->count);
    rv_waker_silence(&own->waker);
    pass_flags(run);
    for (size_t i = 0; i < run->count; i++) write_task(&own->out, run->t, run->tasks[i]);
    if (own->out.failed) return REEVE_ENOMEM;
    const rv_runner_message message = {
        .kind = RV_RUNNER_RUN, .run = ++own->runner.runs, .body = own->out.data, .length = own->out.length};
    return rv_runner_message_send(own->runner.fd, false, &message);
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

static bool answer_call(rv_isolated_call *run, const rv_runner_message *call)
{
    rv_isolated *own = run->own;
    rv_runner_reader in = rv_runner_message_read(call);
    if (call->index >= run->count) return false;
    rv_buf_clear(&own->out);
    if (!rv_runner_run_answer(&own->out, &in, run->tasks[call->index])) return false;
    pass_flags(run); /* the call may have shown that the lease is lost */
    const rv_runner_message answer = {.kind = RV_RUNNER_ANSWER,
                                      .index = call->index,
                                      .run = call->run,
                                      .body = own->out.data,
                                      .length = own->out.length};
    reeve_status status = rv_runner_message_send(own->runner.fd, false, &answer);
    return status == REEVE_OK || status == REEVE_ELOST; /* lost: its end is seen next */
}

static bool take_outcomes(rv_isolated_call *run, const rv_runner_message *done)
{
    rv_runner_reader in = rv_runner_message_read(done);
    int64_t count = (int64_t)run->count;
    if (rv_runner_message_get_number(&in, count, count) != count || in.failed) return false;
    for (size_t i = 0; i < run->count; i++)
        if (!rv_runner_run_read_outcome(&in, run->tasks[i])) return false;
    return rv_runner_run_read_counters(&in) && rv_runner_message_is_read(&in);
}

static void take_message(rv_isolated_call *run)
{
    rv_runner_message message;
    reeve_status status = rv_runner_message_receive(run->own->runner.fd, &run->own->in, false, &message);
    if (status == REEVE_ETIMEOUT) return;
    bool good = status == REEVE_OK && message.run == run->own->runner.runs;
    if (good && message.kind == RV_RUNNER_CALL)
        good = answer_call(run, &message);
    else if (good && message.kind == RV_RUNNER_DONE)
        good = run->done = take_outcomes(run, &message);
    else
        good = false;
    run->lost = !good;
    run->is_garbled = !good && status != REEVE_ELOST;
}

/* Of a handler that was asked to stop, until it gets a signal. If it wakes up much later than that, this process did not
 * run (base/pause.h), and perhaps the runner did not either: it has the whole time again, once. */
static int wait_for_any(rv_isolated_call *run, struct pollfd *waits, nfds_t count)
{
    if (!run->is_stopped) return poll(waits, count, -1);
    bool is_early = rv_now_ms() < run->signal_at;
    int ready = poll(waits, count, rv_poll_timeout(run->signal_at));
    if (!is_early || run->is_prolonged || rv_now_ms() <= run->signal_at + RV_PAUSE_LATE_MS) return ready;
    run->is_prolonged = true;
    run->signal_at = rv_deadline(rv_isolated_grace_ms(run->t));
    return ready;
}

/* The waiting place of a thread whose handler runs in its runner. */
static void wait_for_end(rv_isolated_call *run)
{
    enum { SOCKET, WAKER, PROCESS };
    rv_isolated *own = run->own;
    struct pollfd waits[] = {[SOCKET] = {.fd = own->runner.fd, .events = POLLIN},
                             [WAKER] = {.fd = own->waker.fd, .events = POLLIN},
                             [PROCESS] = {.fd = own->runner.pidfd, .events = POLLIN}};
    while (!run->done && !run->lost) {
        if (wait_for_any(run, waits, 3) < 0) continue;
        if (waits[WAKER].revents != 0) {
            rv_waker_silence(&own->waker);
            pass_flags(run);
        }
        if (waits[SOCKET].revents != 0)
            take_message(run);
        else if (waits[PROCESS].revents != 0)
            run->lost = true;
        if (run->is_stopped && rv_now_ms() >= run->signal_at) end_stubborn(run);
    }
}

/* ---- one call -------------------------------------------------------------------------------------------------- */

/* There is no runner: the thread leases no more until there is one, and another thread may have one. */
static void give_back(rv_thread *t, reeve_task *const *tasks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)reeve_task_give_back(tasks[i]);
        rv_invocation_item(t, tasks[i])->unbegun = true;
    }
}

/* No handler was called, and that is not for the tasks. */
static void put_off(rv_thread *t, reeve_task *const *tasks, size_t count, const char *why)
{
    rv_log(REEVE_LOG_ERROR, "runner.failed", "no runner: tasks go back, and are tried again in a second", "thread",
           t->name, "error", why, NULL);
    for (size_t i = 0; i < count; i++) {
        (void)reeve_task_snooze(tasks[i], START_AGAIN_MS);
        rv_invocation_item(t, tasks[i])->unbegun = true;
    }
}

static bool make_scratch(rv_isolated_call *run, rv_error *error)
{
    const char *base = run->own->base[0] != '\0' ? run->own->base : run->t->pool->runner.scratch;
    char words[128];
    run->own->scratch[0] = '\0';
    if (base == NULL ||
        rv_runner_limits_make_scratch(base, &run->t->pool->sandbox, run->own->scratch, sizeof(run->own->scratch)))
        return true;
    run->own->scratch[0] = '\0';
    (void)rv_fail(error, REEVE_ESYSTEM, "no directory for a task in %.200s: %s", base,
                  strerror_r(errno, words, sizeof(words)));
    return false;
}

static bool is_worn(const rv_isolated_call *run)
{
    const rv_isolated *own = run->own;
    const reeve_runner_options *limits = &run->t->pool->runner;
    if (own->max_tasks > 0 && own->tasks >= own->max_tasks) return true;
    if (limits->max_age_ms > 0 && rv_now_ms() - own->runner.started_ms >= limits->max_age_ms) return true;
    return limits->max_memory > 0 && rv_process_memory((int)own->runner.pid) > limits->max_memory;
}

static void end_run(rv_isolated_call *run)
{
    rv_isolated *own = run->own;
    if (own->scratch[0] != '\0') rv_runner_limits_remove_scratch(own->scratch);
    own->scratch[0] = '\0';
    if (own->base[0] != '\0') rv_runner_limits_empty_scratch(own->base); /* the next task is another one's */
    own->tasks += run->count;
    if (own->runner.pid != 0 && is_worn(run)) {
        rv_log(REEVE_LOG_DEBUG, "runner.replaced", "a runner has reached a limit of its pool", "thread", run->t->name,
               NULL);
        rv_isolated_end(run->t);
    }
    rv_buf_clear(&own->in);
    rv_buf_trim(&own->in, BUFFER_KEEP);
    rv_buf_clear(&own->out);
    rv_buf_trim(&own->out, BUFFER_KEEP);
}

void rv_isolated_run(rv_thread *t, const rv_handler *handler, reeve_task *const *tasks, size_t count)
{
    rv_error error = {0};
    rv_isolated_call run = {.t = t, .own = t->isolated, .tasks = tasks, .count = count};
    if (rv_isolated_start(t, &error) != REEVE_OK) {
        give_back(t, tasks, count);
        return;
    }
    if (!make_scratch(&run, &error)) {
        put_off(t, tasks, count, error.text);
        return;
    }
    reeve_status status = send_run(&run, handler);
    if (status == REEVE_ELOST) { /* it has ended since its last task */
        rv_runner ended = rv_isolated_take_runner(t);
        (void)rv_runner_process_kill(&ended);
        status = rv_isolated_start(t, &error);
        if (status == REEVE_OK) status = send_run(&run, handler);
    }
    if (status != REEVE_OK) {
        end_run(&run);
        put_off(t, tasks, count, error.text[0] != '\0' ? error.text : reeve_status_text(status));
        return;
    }
    wait_for_end(&run);
    if (run.lost) rv_isolated_death_reap(&run);
    end_run(&run);
    if (run.lost) rv_isolated_death_take(&run, handler);
    if (run.crash != NULL) (void)munmap(run.crash, sizeof(rv_flight_runner));
}
