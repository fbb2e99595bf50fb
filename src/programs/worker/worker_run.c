/*
 * The main thread's life: start the worker, then wait for signals, the time of the next sign of life and, if Redis was
 * not there before, the time to write the settings of queues, all in one poll.
 *
 * Told to stop, it quiets the worker and drains: it waits, in the same place, until no handler runs or worker.drain has
 * passed. Then the worker is stopped on a thread of its own (stopper.h), since that may take as long as Redis is away.
 * A second signal cuts either step short.
 */
#include "worker_run.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alive.h"
#include "asked.h"
#include "base/clock.h"
#include "base/log.h"
#include "configured_queues.h"
#include "crash_report.h"
#include "cron_entries.h"
#include "exit_guard.h"
#include "health.h"
#include "log/log_writer.h"
#include "log_file.h"
#include "notify.h"
#include "reload.h"
#include "renewal.h"
#include "servers.h"
#include "setup.h"
#include "signals.h"
#include "stacks.h"
#include "stopper.h"
#include "supervised.h"
#include "totals.h"
#include "worker/abandon.h"

#define LOOK_FOR_REDIS_MS 200
#define WRITE_AGAIN_MS 5000 /* at first; twice as long each time */
#define WRITE_AGAIN_MAX_MS 60000
#define FIRST_MS 1000
#define ORPHAN_MS 1000
#define LOOK_AGAIN_MS 1000
#define LOOK_AT_HANDLERS_MS 20

typedef enum host_phase { HOST_WORKING, HOST_DRAINING, HOST_STOPPING } host_phase;

typedef struct host {
    rv_config *config; /* what is in force; a reload changes it */
    const char *redis;
    host_plugins *plugins; /* that are open; a reload changes them */
    host_servers *servers;
    reeve_worker *worker;
    int64_t started_ms;
    atomic_bool data_lost;  /* Redis has lost its data */
    int64_t write_again_ms; /* how long to wait when they were not all written */
    int64_t settings_at;    /* when to try to write what the file says of queues and entries; RV_FOREVER: done */
    int64_t look_at;        /* when to see again whether the worker is to make way for a new one */
    bool renews;            /* it does */
    bool is_exhausted;      /* it is to, and has no supervisor */
    host_phase phase;
    int64_t drained_at; /* when draining ends, whatever runs */
    int64_t gone_at; /* without its supervisor: when the process ends, whatever is left to do; RV_FOREVER: it has one */
    host_stopper stopper;
} host;

/* ---- what happens ---------------------------------------------------------------------------------------------- */

static void begin_drain(host *at)
{
    char state[64];
    int64_t drain_ms = at->config->worker.drain_ms;

    rv_log(REEVE_LOG_INFO, "program.stopping", "stopping: nothing new is taken, running tasks may finish", NULL);
    (void)snprintf(state, sizeof(state), "STOPPING=1\nEXTEND_TIMEOUT_USEC=%" PRId64, (drain_ms + 15000) * 1000);
    host_notify(at->renews ? "STATUS=a new worker is about to start" : state);
    rv_worker_begin_drain(at->worker);
    at->phase = HOST_DRAINING;
    at->drained_at = rv_deadline(drain_ms);
    at->settings_at = RV_FOREVER;
}

static void begin_stop(host *at)
{
    int64_t left = at->drained_at - rv_now_ms();

    at->phase = HOST_STOPPING;
    if (host_stopper_start(&at->stopper, at->worker, left > 0 ? left : 0)) return;
    rv_log(REEVE_LOG_WARN, "program.stopping", "no thread to stop the worker with, waiting here", NULL);
    at->stopper.status = reeve_worker_stop(at->worker, left > 0 ? left : 0);
}

static void go_on_draining(host *at)
{
    reeve_worker_stats stats;
    unsigned unspared;

    reeve_worker_get_stats(at->worker, &stats);
    /* Nobody waits for handlers that do not return. */
    unsigned stuck = rv_worker_stuck(at->worker, &unspared);
    if (stuck > 0 && stats.busy <= stuck) at->drained_at = rv_now_ms();
    if (stats.busy == 0 || rv_now_ms() >= at->drained_at) begin_stop(at);
}

/* No handler runs any more when the worker is being stopped: it waits for a Redis that is away, or is just done. */
static void told_again(host *at)
{
    if (at->phase == HOST_DRAINING) {
        rv_log(REEVE_LOG_WARN, "program.stopping", "told again to stop: giving back what runs", NULL);
        at->drained_at = rv_now_ms();
    } else {
        rv_log(REEVE_LOG_WARN, "program.stopping", "told again to stop: going without a word to Redis", NULL);
        host_log_flush(HOST_LOG_END_MS);
        host_supervised_ends();
        _exit(0);
    }
}

/* Without a supervisor, the worker goes on. */
static void note_exhausted(host *at, const char *reason)
{
    if (reason != NULL && !at->is_exhausted)
        rv_log(REEVE_LOG_ERROR, "worker.exhausted",
               "the worker is to be started again: without a supervisor, it goes on and reports that it is not ready",
               "reason", reason, NULL);
    at->is_exhausted = reason != NULL;
    host_health_set_exhausted(at->is_exhausted);
    if (at->is_exhausted) at->look_at = rv_deadline(LOOK_AGAIN_MS);
}

/* A supervised worker ends, and a new one takes its place. */
static void look_for_renewal(host *at)
{
    const char *reason = at->phase == HOST_WORKING ? host_renewal_reason(at->config, at->worker) : NULL;

    at->look_at = at->phase == HOST_WORKING ? host_renewal_next(at->config) : RV_FOREVER;
    if (at->phase != HOST_WORKING || host_supervised_is_orphan()) return;
    if (host_supervised_by() == 0) {
        note_exhausted(at, reason);
    } else if (reason != NULL) {
        rv_log(REEVE_LOG_WARN, "worker.renewed", "the worker makes way for a new one", "reason", reason, NULL);
        at->renews = host_supervised_renew(true);
        begin_drain(at);
    }
}

static void report_stuck(host *at)
{
    const char *thread;

    while ((thread = host_renewal_stuck()) != NULL) {
        host_stacks_log(thread);
        at->look_at = rv_now_ms();
    }
}

/* Told to stop while it makes way for a new one: there is none. */
static bool stop_renewing(host *at)
{
    if (!at->renews) return false;
    at->renews = false;
    (void)host_supervised_renew(false);
    return true;
}

/* The supervisor has died: whoever starts it again starts a worker, too. */
static void leave_at_once(host *at)
{
    if (at->phase == HOST_WORKING) begin_drain(at);
    at->drained_at = rv_now_ms();
    if (at->gone_at == RV_FOREVER) at->gone_at = rv_deadline(ORPHAN_MS);
}

/* Tasks that Redis has not got back return when the session expires. */
static void leave_behind(void)
{
    rv_log(REEVE_LOG_WARN, "program.ended", "the supervisor has died, and Redis does not take the tasks back: ending",
           NULL);
    host_log_flush(0);
    host_supervised_ends();
    host_supervised_end_group();
    _exit(1);
}

/* What was logged before goes to the old file. The supervisor has the file open, too; it passes the signal back, which does
 * no harm. id: of a request; NULL: a signal asked. */
static void rotate(const host *at, const char *id)
{
    rv_error error = {0};

    host_log_flush(HOST_LOG_END_MS);
    reeve_status status = host_log_file_reopen(&error);
    if (status == REEVE_OK)
        rv_log(REEVE_LOG_INFO, "log.rotate", "the log file was opened again", "file", host_log_file_path(), NULL);
    else
        rv_log(status == REEVE_ENOTFOUND ? REEVE_LOG_INFO : REEVE_LOG_ERROR, "log.rotate", error.text, NULL);
    if (id == NULL) return;
    if (host_supervised_by() != 0) (void)kill(host_supervised_by(), SIGUSR2);
    (void)reeve_worker_answer(at->worker, id, status == REEVE_OK,
                              status == REEVE_OK ? "the log file was opened again" : error.text);
}

static void try_to_write_settings(host *at)
{
    bool queues = host_write_queue_settings(at->config, at->redis);
    bool entries = host_write_entries(at->config, at->redis);

    at->settings_at = queues && entries ? RV_FOREVER : rv_deadline(at->write_again_ms);
    at->write_again_ms = queues && entries ? WRITE_AGAIN_MS : 2 * at->write_again_ms;
    if (at->write_again_ms > WRITE_AGAIN_MAX_MS) at->write_again_ms = WRITE_AGAIN_MAX_MS;
}

/* Redis may come later: until the worker's heartbeat has reached it nothing is tried again. */
static void write_settings(host *at)
{
    reeve_worker_stats stats;

    reeve_worker_get_stats(at->worker, &stats);
    if (!stats.connected) {
        at->settings_at = rv_deadline(LOOK_FOR_REDIS_MS);
        return;
    }
    host_alive_begin_slow();
    try_to_write_settings(at);
    host_alive_end_slow();
}

static bool has_settings(const rv_config *config)
{
    return host_has_queue_settings(config) || config->cron_count > 0;
}

static void write_settings_again(host *at)
{
    if (!has_settings(at->config)) return;
    rv_log(REEVE_LOG_INFO, "program.settings",
           "writing what the configuration says of queues and recurring entries again", NULL);
    at->settings_at = rv_now_ms();
    at->write_again_ms = WRITE_AGAIN_MS;
}

static void answer_reload(host *at, const char *id, bool done, const char *text)
{
    if (id != NULL) (void)reeve_worker_answer(at->worker, id, done, text);
}

/* What the file says of queues and recurring entries is written even if the file has not changed: somebody may have
 * changed it in Redis. id: of a request; NULL: a signal asked. */
static void reload(host *at, const char *id)
{
    host_reload_result result;
    char state[64];

    if (at->phase != HOST_WORKING) {
        answer_reload(at, id, false, "the worker is stopping");
        return;
    }
    (void)snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%" PRId64, rv_now_ms() * 1000);
    host_notify(state);
    host_alive_begin_slow();
    host_reload(&result, at->config,
                &(host_reload_target){.worker = at->worker, .plugins = at->plugins, .servers = at->servers});
    host_alive_end_slow();
    if (result.accepted && has_settings(at->config)) {
        at->write_again_ms = WRITE_AGAIN_MS;
        write_settings(at);
        if (at->settings_at != RV_FOREVER)
            host_reload_add(&result, "settings of queues and recurring entries are written when Redis takes them");
    }
    host_notify("READY=1");
    answer_reload(at, id, result.done, result.text);
}

/* A worker that stops does not resume. CONT may also come from a shell, to a worker that was not quiet. */
static void resume(host *at)
{
    if (at->phase != HOST_WORKING) return;
    if (reeve_worker_resume(at->worker) == REEVE_OK)
        host_notify("STATUS=running");
    else
        rv_log(REEVE_LOG_WARN, "program.resume", "the worker stays quiet", "error", reeve_worker_error(at->worker),
               NULL);
}

/* TERM or INT. If the supervisor has not passed it on, it comes from a handler that has signalled its process group, say,
 * or from a system that ends all processes of a service at once: the supervisor may be about to pass it on. */
static void take_end(host *at)
{
    bool is_told = host_supervised_was_told();

    if (host_supervised_is_orphan()) {
        leave_at_once(at);
    } else if (at->phase == HOST_WORKING && is_told) {
        begin_drain(at);
    } else if (at->phase == HOST_WORKING) {
        rv_log(REEVE_LOG_WARN, "worker.renewed", "the worker makes way for a new one", "reason",
               "a signal that its supervisor has not sent", NULL);
        at->renews = host_supervised_renew(true);
        begin_drain(at);
    } else if (is_told ? !stop_renewing(at) : at->renews) {
        told_again(at);
    }
}

static void take_signal(host *at, int number_of_signal)
{
    switch (number_of_signal) {
    case SIGTERM:
    case SIGINT:
        take_end(at);
        break;
    case SIGTSTP:
        host_notify("STATUS=quiet");
        reeve_worker_quiet(at->worker);
        break;
    case SIGCONT:
        resume(at);
        break;
    case SIGUSR2:
        rotate(at, NULL);
        break;
    case SIGQUIT:
        host_stacks_log(NULL);
        break;
    case SIGHUP:
        reload(at, NULL);
        break;
    case SIGUSR1:
        host_totals_log(at->worker, at->started_ms, "program.stats", "totals since the start");
        break;
    default:
        break;
    }
}

/* A worker that is stopping already goes on with that. */
static void take_stop(host *at, const char *id)
{
    (void)reeve_worker_answer(at->worker, id, true, "stops");
    (void)stop_renewing(at);
    if (at->phase == HOST_WORKING) begin_drain(at);
}

static void answer_stacks(const host *at, const host_asked *asked)
{
    rv_buf answer;

    rv_buf_init(&answer, HOST_STACKS_MAX);
    bool done = host_stacks_json(&answer, asked->thread[0] != '\0' ? asked->thread : NULL);
    (void)reeve_worker_answer(at->worker, asked->id, done, rv_buf_text(&answer));
    rv_buf_fini(&answer);
}

static void take_requests(host *at)
{
    host_asked asked;

    while (host_asked_take(&asked)) {
        if (asked.request == HOST_ASKED_STOP)
            take_stop(at, asked.id);
        else if (asked.request == HOST_ASKED_STACK)
            answer_stacks(at, &asked);
        else if (asked.request == HOST_ASKED_RELOAD)
            reload(at, asked.id);
        else
            rotate(at, asked.id);
    }
}

static int64_t next_time(const host *at)
{
    int64_t look_at = at->phase == HOST_DRAINING ? rv_deadline(LOOK_AT_HANDLERS_MS) : RV_FOREVER;
    int64_t tick_at = host_alive_tick(), next = tick_at < at->settings_at ? tick_at : at->settings_at;

    if (at->gone_at < next) next = at->gone_at;
    if (at->look_at < next) next = at->look_at;
    return look_at < next ? look_at : next;
}

static void do_what_is_due(host *at)
{
    if (rv_now_ms() >= at->settings_at) write_settings(at);
    report_stuck(at);
    if (rv_now_ms() >= at->look_at) look_for_renewal(at);
    if (rv_now_ms() >= at->gone_at) leave_behind();
    if (at->phase == HOST_DRAINING) go_on_draining(at);
}

/* The waiting place; returns when the worker has stopped. */
static void wait_and_serve(host *at)
{
    while (at->phase != HOST_STOPPING || at->stopper.started) {
        int signal = host_signals_wait(next_time(at));

        if (atomic_load(&at->stopper.done)) return;
        rv_worker_check_descriptors(at->worker);
        if (atomic_exchange(&at->data_lost, false)) write_settings_again(at);
        if (signal != 0) take_signal(at, signal);
        take_requests(at);
        do_what_is_due(at);
    }
}

/* Before the first task is leased, if Redis is there: limits are to hold for it, too. Returns a client, to be closed
 * when the worker has started: an embedded server stays as long as somebody uses it. */
static reeve_client *write_first_settings(host *at)
{
    reeve_client_options options = {.size = sizeof(options),
                                    .redis = at->redis,
                                    .tls = &at->config->tls,
                                    .ns = at->config->ns,
                                    .timeout_ms = FIRST_MS,
                                    .name = "reeve-worker"};
    reeve_client *client = NULL;

    if (at->settings_at == RV_FOREVER || reeve_client_open(&client, &options) != REEVE_OK) return NULL;
    try_to_write_settings(at);
    return client;
}

/* Calls of this process would go to whatever has these numbers next. */
static void end_without_descriptors(void)
{
    rv_log(REEVE_LOG_ERROR, "program.ended", "the worker cannot go on: ending at once, what runs counts as crashed",
           NULL);
    host_log_flush(HOST_LOG_END_MS);
    _exit(HOST_EXIT_STATUS);
}

static bool start(host *at)
{
    rv_error error;

    rv_error_clear(&error);
    if (host_make_worker(&at->worker, at->config, at->redis, &at->data_lost, &error) == REEVE_OK) {
        rv_worker_on_descriptors_lost(at->worker, end_without_descriptors);
        rv_worker_on_stuck(at->worker, host_renewal_note_stuck);
        rv_worker_on_runner_crash(at->worker, host_crash_report_describe);
        host_stacks_watch(at->worker);
        host_supervised_prepare(at->worker);
        reeve_client *client = write_first_settings(at);
        bool started = reeve_worker_start(at->worker) == REEVE_OK;
        reeve_client_close(client);
        if (started) return true;
        rv_fail(&error, REEVE_ESYSTEM, "%s", reeve_worker_error(at->worker));
        host_stacks_watch(NULL);
        reeve_worker_destroy(at->worker);
    }
    host_log_flush(HOST_LOG_END_MS);
    (void)host_log_file_set(NULL, NULL);
    (void)fprintf(stderr, "reeve-worker: cannot start: %s\n", error.text);
    return false;
}

int host_run(rv_config *config, const char *redis, host_plugins *plugins)
{
    host at = {.config = config,
               .redis = redis,
               .plugins = plugins,
               .started_ms = rv_now_ms(),
               .gone_at = RV_FOREVER,
               .look_at = host_renewal_next(config),
               .write_again_ms = WRITE_AGAIN_MS,
               .settings_at = has_settings(config) ? rv_now_ms() : RV_FOREVER};

    host_health health;

    if (!start(&at)) return 1;
    host_health_start(&health, at.worker, config->worker.health);
    at.servers = host_servers_start(config, redis, at.worker);
    host_supervised_works();
    host_notify("READY=1\nSTATUS=running");
    wait_and_serve(&at);
    host_health_stop(&health);
    host_servers_stop(at.servers);
    host_supervised_ends();
    reeve_status status = at.stopper.started ? host_stopper_join(&at.stopper) : at.stopper.status;
    host_totals_log(at.worker, at.started_ms, "program.ended", "ended");
    if (status == REEVE_ETIMEOUT) {
        /* Their threads cannot be ended from outside; the process goes without them. */
        rv_log(REEVE_LOG_WARN, "program.ended", "handlers still run past the deadline; their tasks are given back",
               NULL);
        rv_worker_leave_embedded(at.worker);
        host_log_flush(HOST_LOG_END_MS);
        host_supervised_end_group();
        _exit(0);
    }
    host_stacks_watch(NULL);
    reeve_worker_destroy(at.worker);
    return 0;
}
