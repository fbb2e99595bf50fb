#include "running/isolated.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "isolation/runner_limits.h"
#include "isolation/runner_process.h"
#include "running/flight.h"
#include "running/isolated_state.h"

#define GRACE_MS 2000 /* from the request to stop to SIGTERM, and from there to SIGKILL, unless the pool says so */
#define START_AGAIN_MS 1000
#define END_MS 500 /* for the hooks of plugins when the thread ends */

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

static bool write_hello(rv_thread *t)
{
    rv_isolated *own = t->isolated;
    rv_runner_sandbox sandbox = t->pool->sandbox;
    for (size_t i = 0; i < sandbox.path_count && own->base[0] != '\0'; i++)
        if (sandbox.paths[i].is_scratch) sandbox.paths[i].path = own->base;
    rv_buf_clear(&own->hello);
    rv_runner_hello_write(&own->hello, own->set->plugins, own->set->plugin_count, &t->worker->size_limits,
                          &t->pool->runner, &sandbox);
    return !own->hello.failed;
}

bool rv_isolated_adopt(rv_thread *t)
{
    t->isolated->set = t->worker->set;
    return write_hello(t);
}

static bool confines_scratch(const rv_thread *t)
{
    for (size_t i = 0; i < t->pool->sandbox.path_count; i++)
        if (t->pool->sandbox.paths[i].is_scratch) return true;
    return false;
}

/* A sandbox is for the whole life of a runner: its tasks have their directories in one that no other runner reaches. */
static reeve_status make_base(rv_thread *t, rv_error *error)
{
    rv_isolated *own = t->isolated;
    const char *scratch = t->pool->runner.scratch;
    char words[128];
    if (own->base[0] != '\0' || !confines_scratch(t)) return REEVE_OK;
    if (!rv_runner_limits_make_scratch(scratch, &t->pool->sandbox, own->base, sizeof(own->base))) {
        own->base[0] = '\0';
        return rv_fail(error, REEVE_ESYSTEM, "no directory for a runner in %.200s: %s", scratch,
                       strerror_r(errno, words, sizeof(words)));
    }
    return write_hello(t) ? REEVE_OK : rv_fail(error, REEVE_ENOMEM, "no memory for a runner");
}

static void remove_base(rv_isolated *own)
{
    if (own->base[0] != '\0') rv_runner_limits_remove_scratch(own->base);
    own->base[0] = '\0';
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
rv_runner rv_isolated_take_runner(rv_thread *t)
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
    rv_runner taken = rv_isolated_take_runner(t);
    rv_runner_process_stop(&taken, END_MS);
    remove_base(t->isolated);
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

/* Adds what of the control group is in force to what of the sandbox is. */
static void add_cgroup(const rv_runner_cgroup_options *cgroup, const rv_runner *runner,
                       char in_force[RV_RUNNER_SANDBOX_TEXT])
{
    char words[64];
    size_t length = strlen(in_force);
    rv_runner_cgroup_describe(cgroup, &runner->cgroup, words, sizeof(words));
    if (words[0] == '\0') return;
    (void)snprintf(in_force + length, RV_RUNNER_SANDBOX_TEXT - length, "%s%s", length > 0 ? "; " : "", words);
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
        rv_log(REEVE_LOG_WARN, "runner.unconfined",
               "the system or the build lacks a part of the sandbox, or of the control group, of a pool", "worker",
               worker->id, "pool", t->pool->name, "sandbox", in_force, NULL);
}

/* The first failure is logged, until a start succeeds. */
static reeve_status note_failure(rv_thread *t, reeve_status status, const rv_error *error)
{
    if (t->isolated->again_at == 0 && rv_worker_phase(t->worker) != RV_PHASE_CREATED)
        rv_log(REEVE_LOG_ERROR, "runner.failed",
               "no runner could be started: the thread takes no tasks, and tries again each second", "worker",
               t->worker->id, "thread", t->name, "error", error->text, NULL);
    t->isolated->again_at = rv_deadline(START_AGAIN_MS);
    return status;
}

static reeve_status start(rv_thread *t, rv_error *error)
{
    rv_isolated *own = t->isolated;
    size_t shared_size = t->worker->describe_crash != NULL ? sizeof(rv_flight_runner) : 0;
    rv_runner started;
    char in_force[RV_RUNNER_SANDBOX_TEXT];
    const rv_runner_cgroup_options cgroup = {t->pool->runner.cgroup, t->pool->runner.cgroup_memory};
    reeve_status status = make_base(t, error);
    if (status == REEVE_OK)
        status = rv_runner_process_start(&started, t->name, &own->hello, shared_size, &cgroup, error);
    if (status == REEVE_OK)
        status = rv_runner_process_await(&started, rv_deadline(RV_RUNNER_START_MS), in_force, error);
    if (status != REEVE_OK) return status;
    add_cgroup(&cgroup, &started, in_force);
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

reeve_status rv_isolated_start(rv_thread *t, rv_error *error)
{
    rv_isolated *own = t->isolated;
    if (own->runner.pid != 0) return REEVE_OK;
    if (rv_now_ms() < own->again_at) return rv_fail(error, REEVE_ESYSTEM, "no runner could be started just now");
    reeve_status status = start(t, error);
    if (status != REEVE_OK) return note_failure(t, status, error);
    own->again_at = 0;
    return REEVE_OK;
}

bool rv_isolated_is_able(rv_thread *t)
{
    rv_error ignored = {0};
    return t->isolated->again_at == 0 || rv_isolated_start(t, &ignored) == REEVE_OK;
}

void rv_isolated_hold(rv_thread *t)
{
    rv_waker_silence(&t->waker);
    if (rv_thread_phase(t) == RV_PHASE_RUNNING) rv_waker_wait(&t->waker, t->isolated->again_at);
}

void rv_isolated_end(rv_thread *t)
{
    if (t->isolated != NULL) stop(t);
}

int64_t rv_isolated_grace_ms(const rv_thread *t)
{
    int64_t chosen = t->pool->runner.grace_ms;
    return chosen > 0 ? chosen : GRACE_MS;
}

int64_t rv_isolated_end_ms(const rv_thread *t)
{
    return t->isolated != NULL ? 2 * rv_isolated_grace_ms(t) : 0;
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
