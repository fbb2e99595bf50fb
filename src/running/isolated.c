#include "running/isolated.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process_memory.h"
#include "base/text.h"
#include "isolation/runner_limits.h"
#include "isolation/runner_process.h"
#include "isolation/runner_run.h"
#include "protocol/crash_list.h"
#include "running/flight.h"
#include "running/invocation.h"
#include "running/run_task.h"

#define GRACE_MS 2000 /* from the request to stop to SIGTERM, and from there to SIGKILL, unless the pool says so */
#define END_MS 500    /* for the hooks of plugins when the thread ends */
#define START_AGAIN_MS 1000
#define LIST_MS 1000
#define BACKTRACE_MAX ((size_t)64 * 1024)
#define BUFFER_KEEP ((size_t)1024 * 1024)

struct rv_isolated {
    pthread_mutex_t lock; /* held while the runner is replaced, or visited by another thread */
    rv_runner runner;
    rv_waker waker; /* rung when a running task is asked to stop */
    rv_buf hello;
    uint64_t tasks;         /* that the runner was given */
    uint64_t max_tasks;     /* with so many it is replaced; 0: never */
    char scratch[PATH_MAX]; /* of the present run; "": none */
    rv_buf in;
    rv_buf out;
};

/* The run that the thread is busy with. */
typedef struct run_state {
    rv_thread *t;
    rv_isolated *own;
    reeve_task *const *tasks;
    size_t count;
    bool done;
    bool lost;         /* the process has died, or does not behave as a runner, */
    bool is_garbled;   /* which this tells */
    bool is_stopped;   /* all tasks were asked to stop */
    bool was_ended;    /* for that the process was sent a signal */
    int64_t signal_at; /* when the next one is sent (monotonic ms) */
    pid_t pid;         /* lost: of the process that has died, */
    rv_runner_end end; /* and how */
    void *crash;       /* what it has recorded of that, or NULL; to be unmapped */
} run_state;

/* ---- life ------------------------------------------------------------------------------------------------------ */

static const char *find_foreign_layer(const reeve_worker *worker)
{
    size_t of_plugins = 0;
    for (size_t i = 0; i < worker->set->plugin_count; i++) of_plugins += worker->set->plugins[i]->plugin.layer_count;
    return worker->set->layers.count > of_plugins ? worker->set->layers.list[0].name : NULL;
}

reeve_status rv_isolated_check(const reeve_worker *worker, const char *pool, rv_error *error)
{
    for (size_t i = 0; i < worker->set->handlers.count; i++) {
        if (worker->set->handlers.list[i]->plugin != NULL) continue;
        return rv_fail(error, REEVE_EUNSUPPORTED,
                       "pool %s: handlers run in processes of their own, and that of %s, which the program has "
                       "registered, cannot: put it into a plugin",
                       pool, worker->set->handlers.list[i]->handler.type);
    }
    const char *layer = find_foreign_layer(worker);
    if (layer == NULL) return REEVE_OK;
    return rv_fail(
        error, REEVE_EUNSUPPORTED,
        "pool %s: handlers run in processes of their own, and a layer that the program has added cannot: put "
        "it into a plugin (the first layer is \"%s\")",
        pool, layer);
}

bool rv_isolated_adopt(rv_thread *t)
{
    const rv_handler_set *set = t->worker->set;
    rv_buf *hello = &t->isolated->hello;
    rv_buf_clear(hello);
    rv_runner_hello_write(hello, set->plugins, set->plugin_count, &t->worker->size_limits, &t->pool->runner,
                          &t->pool->sandbox);
    return !hello->failed;
}

reeve_status rv_isolated_init(rv_thread *t, rv_error *error)
{
    rv_isolated *own = rv_zalloc(sizeof(*own));
    if (own == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a runner");
    own->runner = RV_RUNNER_NONE;
    rv_lock_check(pthread_mutex_init(&own->lock, NULL));
    own->waker.fd = -1;
    rv_buf_init(&own->hello, RV_RUNNER_BODY_MAX);
    rv_buf_init(&own->in, RV_RUNNER_BODY_MAX);
    rv_buf_init(&own->out, RV_RUNNER_BODY_MAX);
    t->isolated = own;
    if (!rv_isolated_adopt(t)) return rv_fail(error, REEVE_ENOMEM, "no memory for a runner");
    reeve_status status = rv_waker_init(&own->waker, error);
    if (status == REEVE_OK) t->batch.notice = &own->waker;
    return status;
}

/* From here on, no other thread visits it. */
static rv_runner take_runner(rv_thread *t)
{
    rv_isolated *own = t->isolated;
    rv_lock(&own->lock);
    rv_runner taken = own->runner;
    own->runner = RV_RUNNER_NONE;
    rv_unlock(&own->lock);
    atomic_store(&t->runner_pid, 0);
    return taken;
}

/* With time for the hooks of its plugins. */
static void stop(rv_thread *t)
{
    rv_runner taken = take_runner(t);
    rv_runner_process_stop(&taken, END_MS);
}

void rv_isolated_fini(rv_thread *t)
{
    rv_isolated *own = t->isolated;
    if (own == NULL) return;
    stop(t);
    rv_lock_check(pthread_mutex_destroy(&own->lock));
    rv_waker_fini(&own->waker);
    rv_buf_fini(&own->hello);
    rv_buf_fini(&own->in);
    rv_buf_fini(&own->out);
    rv_free(own);
    t->isolated = NULL;
}

/* Not all at once. */
static uint64_t choose_max_tasks(const reeve_runner_options *limits)
{
    double less = (double)limits->max_tasks / 10 * rv_random_unit();
    return (uint64_t)(limits->max_tasks - (int64_t)less);
}

/* For `reeve workers`. What cannot be put in force is logged once for each pool. */
static void note_sandbox(rv_thread *t, const char *in_force)
{
    reeve_worker *worker = t->worker;
    rv_lock(&worker->lock);
    bool is_new = strcmp(t->pool->in_force, in_force) != 0;
    rv_copy_text(t->pool->in_force, sizeof(t->pool->in_force), in_force);
    rv_unlock(&worker->lock);
    if (is_new && strstr(in_force, "not in force") != NULL)
        rv_log(REEVE_LOG_WARN, "runner.unconfined", "the kernel or the build lacks a part of the sandbox of a pool",
               "worker", worker->id, "pool", t->pool->name, "sandbox", in_force, NULL);
}

reeve_status rv_isolated_start(rv_thread *t, rv_error *error)
{
    rv_isolated *own = t->isolated;
    if (own->runner.pid != 0) return REEVE_OK;
    size_t shared_size = t->worker->describe_crash != NULL ? sizeof(rv_flight_runner) : 0;
    rv_runner started;
    char in_force[RV_RUNNER_SANDBOX_TEXT];
    reeve_status status = rv_runner_process_start(&started, t->name, &own->hello, shared_size, error);
    if (status == REEVE_OK)
        status = rv_runner_process_await(&started, rv_deadline(RV_RUNNER_START_MS), in_force, error);
    if (status != REEVE_OK) return status;
    note_sandbox(t, in_force);
    rv_lock(&own->lock);
    own->runner = started;
    rv_unlock(&own->lock);
    own->tasks = 0;
    own->max_tasks = choose_max_tasks(&t->pool->runner);
    atomic_store(&t->runner_pid, (int)own->runner.pid);
    char pid[RV_NUMBER_TEXT];
    rv_log(REEVE_LOG_DEBUG, "runner.started", "a runner has loaded the plugins", "thread", t->name, "pid",
           rv_number_text(pid, (uint64_t)own->runner.pid), NULL);
    return REEVE_OK;
}

void rv_isolated_end(rv_thread *t)
{
    if (t->isolated != NULL) stop(t);
}

/* ---- flags ----------------------------------------------------------------------------------------------------- */

static int64_t grace_ms(const rv_thread *t)
{
    int64_t chosen = t->pool->runner.grace_ms;
    return chosen > 0 ? chosen : GRACE_MS;
}

int64_t rv_isolated_end_ms(const rv_thread *t)
{
    return t->isolated != NULL ? 2 * grace_ms(t) : 0;
}

/* Tells the runner which tasks are to stop. */
static void pass_flags(run_state *run)
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
    run->signal_at = rv_deadline(grace_ms(run->t));
}

static void end_stubborn(run_state *run)
{
    bool again = run->was_ended;
    run->was_ended = true;
    run->signal_at = rv_deadline(grace_ms(run->t));
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

static reeve_status send_run(run_state *run, const rv_handler *handler)
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

static bool answer_call(run_state *run, const rv_runner_message *call)
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

static bool take_outcomes(run_state *run, const rv_runner_message *done)
{
    rv_runner_reader in = rv_runner_message_read(done);
    int64_t count = (int64_t)run->count;
    if (rv_runner_message_get_number(&in, count, count) != count || in.failed) return false;
    for (size_t i = 0; i < run->count; i++)
        if (!rv_runner_run_read_outcome(&in, run->tasks[i])) return false;
    return rv_runner_message_is_read(&in);
}

static void take_message(run_state *run)
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

/* The waiting place of a thread whose handler runs in its runner. */
static void wait_for_end(run_state *run)
{
    enum { SOCKET, WAKER, PROCESS };
    rv_isolated *own = run->own;
    struct pollfd waits[] = {[SOCKET] = {.fd = own->runner.fd, .events = POLLIN},
                             [WAKER] = {.fd = own->waker.fd, .events = POLLIN},
                             [PROCESS] = {.fd = own->runner.pidfd, .events = POLLIN}};
    while (!run->done && !run->lost) {
        if (poll(waits, 3, rv_poll_timeout(run->is_stopped ? run->signal_at : RV_FOREVER)) < 0) continue;
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

/* ---- what a death means ---------------------------------------------------------------------------------------- */

static void log_crash(const run_state *run, const char *message, pid_t pid)
{
    char number[RV_NUMBER_TEXT];
    const reeve_task *task = run->tasks[0];
    const char *what = run->count > 1 ? "a runner died in a call of several tasks: they run again, one by one"
                                      : "a runner died while a handler ran";
    rv_log(REEVE_LOG_ERROR, "runner.crashed", what, "thread", run->t->name, "pid",
           rv_number_text(number, (uint64_t)pid), "queue", task->queue, "task", task->id, "type", task->type, "error",
           message, NULL);
}

/* For `reeve workers --crashes`. Without Redis it is not listed. */
static void list_crash(rv_thread *t, reeve_task *task, const char *message, const char *backtrace)
{
    const rv_crash_entry entry = {.at_ms = rv_wall_ms(),
                                  .worker = t->worker->id,
                                  .thread = t->name,
                                  .task = reeve_task_handle(task),
                                  .type = task->type,
                                  .message = message,
                                  .backtrace = backtrace,
                                  .crashed = 1};
    if (!rv_conn_is_open(t->conn) && rv_conn_open(t->conn, rv_deadline(LIST_MS)) != REEVE_OK) return;
    rv_crash_list_add(t->conn, t->worker->ns, &entry);
    (void)rv_conn_exec(t->conn, rv_deadline(LIST_MS), NULL, NULL);
}

static void note_crash(run_state *run, const char *message, const rv_buf *backtrace)
{
    reeve_task *task = run->tasks[0];
    list_crash(run->t, task, message, rv_buf_text(backtrace));
    (void)rv_task_failed(task, REEVE_OUTCOME_FAIL, "crash", "%s", message);
    task->backtrace = rv_chunks_add_copy(&task->payloads, rv_buf_text(backtrace), backtrace->length + 1);
    task->crashed = true;
}

/* Its tasks were asked to stop: those that have no outcome yet go back, and that is no failure. One that was settled
 * before it ran has failed. */
static void note_ended(run_state *run)
{
    for (size_t i = 0; i < run->count; i++) {
        if (run->tasks[i]->past)
            (void)rv_task_failed(run->tasks[i], REEVE_OUTCOME_RETRY, "stopped", "ended: it did not stop when asked to");
        else
            (void)reeve_task_give_back(run->tasks[i]);
    }
}

/* One of several tasks has ended the process: they run again one by one, which shows which one it was. One that runs at
 * most once has failed. */
static void run_singly(const run_state *run, const rv_handler *handler)
{
    for (size_t i = 0; i < run->count; i++) {
        if (run->tasks[i]->past)
            (void)rv_task_failed(run->tasks[i], REEVE_OUTCOME_FAIL, "crash", "%s", "the process of its call has died");
        else
            rv_isolated_run(run->t, handler, &run->tasks[i], 1);
    }
}

static void reap(run_state *run)
{
    rv_runner taken = take_runner(run->t);
    run->pid = taken.pid;
    run->crash = taken.crash;
    taken.crash = NULL;
    run->end = run->is_garbled ? rv_runner_process_kill(&taken) : rv_runner_process_reap(&taken);
}

/* Message and backtrace of the death. */
static void describe(const run_state *run, rv_buf *message, rv_buf *backtrace)
{
    char how[64];
    const reeve_worker *worker = run->t->worker;
    if (run->crash != NULL && worker->describe_crash != NULL && worker->describe_crash(run->crash, message, backtrace))
        return;
    rv_buf_clear(message);
    if (run->is_garbled) {
        rv_buf_adds(message, "its process was ended: what came from it is no message of a runner (handlers must leave "
                             "descriptor 3 alone)");
        return;
    }
    rv_runner_process_describe_end(&run->end, how, sizeof(how));
    rv_buf_addf(message, "its process %s", how);
}

static void take_death(run_state *run, const rv_handler *handler)
{
    if (run->was_ended) {
        rv_log(REEVE_LOG_WARN, "runner.ended", "a handler did not stop when asked to: its runner was ended", "thread",
               run->t->name, "queue", run->tasks[0]->queue, "task", run->tasks[0]->id, "type", run->tasks[0]->type,
               NULL);
        note_ended(run);
        return;
    }
    rv_buf message, backtrace;
    rv_buf_init(&message, (size_t)4 * REEVE_MESSAGE_MAX);
    rv_buf_init(&backtrace, BACKTRACE_MAX);
    describe(run, &message, &backtrace);
    log_crash(run, rv_buf_text(&message), run->pid);
    if (run->count > 1)
        run_singly(run, handler);
    else
        note_crash(run, rv_buf_text(&message), &backtrace);
    rv_buf_fini(&message);
    rv_buf_fini(&backtrace);
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

/* ---- one call -------------------------------------------------------------------------------------------------- */

static bool make_scratch(run_state *run, rv_error *error)
{
    const char *base = run->t->pool->runner.scratch;
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

static bool is_worn(const run_state *run)
{
    const rv_isolated *own = run->own;
    const reeve_runner_options *limits = &run->t->pool->runner;
    if (own->max_tasks > 0 && own->tasks >= own->max_tasks) return true;
    if (limits->max_age_ms > 0 && rv_now_ms() - own->runner.started_ms >= limits->max_age_ms) return true;
    return limits->max_memory > 0 && rv_process_memory((int)own->runner.pid) > limits->max_memory;
}

static void end_run(run_state *run)
{
    rv_isolated *own = run->own;
    if (own->scratch[0] != '\0') rv_runner_limits_remove_scratch(own->scratch);
    own->scratch[0] = '\0';
    own->tasks += run->count;
    if (own->runner.pid != 0 && is_worn(run)) {
        rv_log(REEVE_LOG_DEBUG, "runner.replaced", "a runner has reached a limit of its pool", "thread", run->t->name,
               NULL);
        stop(run->t);
    }
    rv_buf_clear(&own->in);
    rv_buf_trim(&own->in, BUFFER_KEEP);
    rv_buf_clear(&own->out);
    rv_buf_trim(&own->out, BUFFER_KEEP);
}

void rv_isolated_run(rv_thread *t, const rv_handler *handler, reeve_task *const *tasks, size_t count)
{
    rv_error error = {0};
    run_state run = {.t = t, .own = t->isolated, .tasks = tasks, .count = count};
    if (rv_isolated_start(t, &error) != REEVE_OK || !make_scratch(&run, &error)) {
        put_off(t, tasks, count, error.text);
        return;
    }
    reeve_status status = send_run(&run, handler);
    if (status == REEVE_ELOST) { /* it has ended since its last task */
        rv_runner ended = take_runner(t);
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
    if (run.lost) reap(&run);
    end_run(&run);
    if (run.lost) take_death(&run, handler);
    if (run.crash != NULL) (void)munmap(run.crash, sizeof(rv_flight_runner));
}

/* ---- for other threads ----------------------------------------------------------------------------------------- */

static void describe_run(rv_thread *t, rv_isolated_seen *seen)
{
    rv_batch *batch = &t->batch;
    rv_lock(&batch->lock);
    if (batch->running != RV_NONE) {
        const rv_item *item = &batch->items[batch->running];
        const rv_envelope *envelope = &item->lease.envelope;
        size_t length = envelope->type_length < REEVE_TYPE_MAX ? envelope->type_length : REEVE_TYPE_MAX;
        rv_copy_text(seen->queue, sizeof(seen->queue), t->pool->queue_sessions[item->lease.queue]->queue);
        rv_copy_text(seen->id, sizeof(seen->id), item->lease.id);
        memcpy(seen->type, envelope->type, length);
        seen->since_ms = batch->running_since_ms;
    }
    rv_unlock(&batch->lock);
}

static void visit(rv_thread *t, void (*each)(const rv_isolated_seen *seen, void *user), void *user)
{
    rv_isolated *own = t->isolated;
    rv_lock(&own->lock);
    rv_isolated_seen seen = {.thread = t->name, .pid = own->runner.pid};
    if (own->runner.crash != NULL) seen.stacks = &((rv_flight_runner *)own->runner.crash)->stacks;
    if (seen.pid != 0) {
        describe_run(t, &seen);
        each(&seen, user);
    }
    rv_unlock(&own->lock);
}

void rv_isolated_visit(reeve_worker *worker, void (*each)(const rv_isolated_seen *seen, void *user), void *user)
{
    for (size_t i = 0; i < worker->pool_count; i++) {
        const rv_pool *pool = rv_worker_pool(worker, i);
        for (unsigned j = 0; pool->isolated && j < pool->thread_count; j++)
            visit(rv_worker_pool_thread(pool, j), each, user);
    }
}
