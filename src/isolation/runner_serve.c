#include "isolation/runner_serve.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/mem.h"
#include "handlers/layers_run.h"
#include "isolation/runner_host.h"
#include "isolation/runner_limits.h"
#include "protocol/json_parse.h"

#define FORKED_STATUS 70 /* as running/forked.h */
#define BUFFER_KEEP ((size_t)1024 * 1024)
#define END_ALONE_MS 500 /* how long a runner whose worker is gone may take for its hooks */

typedef struct runner {
    rv_runner_at at;
    rv_runner_loaded loaded;
    rv_buf run_in;  /* the message of the run: the tasks lie in it */
    rv_buf run_out; /* the outcomes */
    rv_runner_place *places;
    reeve_task **tasks;
    size_t room;
    size_t count;  /* of the run */
    void **states; /* what thread_start left, by handler */
    bool *set_up;
    const rv_handler *handler;
    unsigned generation;
    uint64_t counted[REEVE_COUNTERS_MAX]; /* what the worker has been told of each counter */
} runner;

static atomic_bool is_busy; /* a handler runs */

/* ---- the end of the worker ------------------------------------------------------------------------------------- */

static void kill_all(void)
{
    if (getpgrp() == getpid()) (void)kill(0, SIGKILL);
    _exit(1);
}

/* Waits until the other end is closed. The main thread sees that, too, unless it is in a handler. */
static void *watch(void *unused)
{
    struct pollfd other = {.fd = RV_RUNNER_SOCKET_FD};
    const struct timespec patience = {.tv_nsec = (long)END_ALONE_MS * 1000000};
    (void)unused;
    while (poll(&other, 1, -1) <= 0 || (other.revents & (POLLHUP | POLLERR | POLLNVAL)) == 0) continue;
    if (!atomic_load(&is_busy)) (void)nanosleep(&patience, NULL);
    kill_all();
    return NULL;
}

static bool start_watch(void)
{
    pthread_t thread;
    sigset_t all, before;
    (void)sigfillset(&all);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        (void)sigdelset(&all, number); /* one asks for its stack */
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    bool started = pthread_create(&thread, NULL, watch, NULL) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) (void)pthread_detach(thread);
    return started;
}

/* ---- one run --------------------------------------------------------------------------------------------------- */

static bool make_room(runner *r, size_t count)
{
    if (count <= r->room) return true;
    rv_runner_place *places = rv_zalloc_array(count, sizeof(*places));
    reeve_task **tasks = rv_zalloc_array(count, sizeof(reeve_task *));
    if (places == NULL || tasks == NULL) {
        rv_free(places);
        rv_free(tasks);
        return false;
    }
    for (size_t i = 0; i < r->room; i++) rv_task_fini(&r->places[i].task);
    rv_free(r->places);
    rv_free(r->tasks);
    r->places = places;
    r->tasks = tasks;
    r->room = count;
    for (size_t i = 0; i < count; i++) rv_task_init(&places[i].task);
    return true;
}

/* False: there is no memory for its options. */
static bool begin_task(runner *r, size_t index, const rv_runner_task *from)
{
    rv_runner_place *place = &r->places[index];
    reeve_task *task = &place->task;
    cJSON *options = NULL;
    rv_task_begin(task);
    if (from->header.length > 0 &&
        rv_json_parse_object(&options, from->header.data, from->header.length) == REEVE_ENOMEM)
        return false;
    place->at = &r->at;
    place->index = (uint32_t)index;
    atomic_store(&place->result_max, from->result_max);
    atomic_store(&place->payload_max, from->payload_max);
    rv_runner_host_make(place);
    task->queue = from->queue;
    task->id = from->id;
    task->type = from->type;
    task->payload = from->payload;
    task->options = task->kept_options = options;
    task->attempt = from->attempt;
    task->crashes = from->crashes;
    task->enqueued_ms = from->enqueued_ms;
    task->past = from->past;
    task->host = &place->host;
    r->tasks[index] = task;
    return true;
}

/* REEVE_EPROTO, REEVE_ENOMEM. */
static reeve_status begin_run(runner *r, const rv_runner_message *message)
{
    rv_runner_reader in = rv_runner_message_read(message);
    const char *scratch;
    const char *type = rv_runner_run_read(&in, &scratch, &r->count);
    if (in.failed) return REEVE_EPROTO;
    r->handler = rv_handler_table_find_own(&r->loaded.handlers, type);
    if (!make_room(r, r->count)) return REEVE_ENOMEM;
    for (size_t i = 0; i < r->count; i++) {
        rv_runner_task task;
        rv_runner_run_read_task(&in, &task);
        if (in.failed) return REEVE_EPROTO;
        if (!begin_task(r, i, &task)) return REEVE_ENOMEM;
    }
    r->at.run = message->run;
    rv_runner_limits_begin(&r->loaded.limits, scratch);
    return rv_runner_message_is_read(&in) ? REEVE_OK : REEVE_EPROTO;
}

static void fail_all(runner *r, const char *kind, const char *why)
{
    for (size_t i = 0; i < r->count; i++)
        (void)rv_task_failed(r->tasks[i], REEVE_OUTCOME_RETRY, kind, "the handler of type %s %s",
                             r->handler != NULL ? r->handler->handler.type : "this", why);
}

static bool set_up(runner *r)
{
    const rv_handler *entry = r->handler;
    if (entry->handler.thread_start == NULL || r->set_up[entry->index]) return true;
    if (entry->handler.thread_start(entry->handler.user, &r->states[entry->index]) != 0) return false;
    r->set_up[entry->index] = true;
    return true;
}

static void call_handler(runner *r)
{
    const rv_handler *entry = r->handler;
    for (size_t i = 0; i < r->count; i++) r->tasks[i]->thread_state = r->states[entry->index];
    if (entry->handler.run_batch != NULL)
        rv_layers_run_batch(entry->layers, r->tasks, r->count, &entry->handler);
    else
        (void)rv_layers_run(entry->layers, r->tasks[0], &entry->handler);
}

static reeve_status send_outcomes(runner *r)
{
    rv_buf *out = &r->run_out;
    rv_buf_clear(out);
    rv_runner_message_put_number(out, (int64_t)r->count);
    for (size_t i = 0; i < r->count; i++) rv_runner_run_write_outcome(out, r->tasks[i]);
    rv_runner_run_write_counters(out, r->counted);
    if (out->failed) return REEVE_ENOMEM;
    const rv_runner_message done = {.kind = RV_RUNNER_DONE, .run = r->at.run, .body = out->data, .length = out->length};
    return rv_runner_host_send(&r->at, &done);
}

/* A handler, layer or hook ends its thread (pthread_exit), which is that of the runner. */
static void end_early(void *context)
{
    runner *r = context;
    if (r->generation != rv_fork_generation_known()) _exit(FORKED_STATUS);
    for (size_t i = 0; i < r->count; i++) {
        if (r->tasks[i]->outcome != REEVE_OUTCOME_NONE && r->handler->handler.run_batch != NULL) continue;
        (void)rv_task_failed(r->tasks[i], REEVE_OUTCOME_RETRY, "handler", "%s",
                             "it ended the thread that it ran on (pthread_exit)");
    }
    (void)send_outcomes(r);
    kill_all();
}

static reeve_status run(runner *r, const rv_runner_message *message)
{
    reeve_status status = begin_run(r, message);
    if (status != REEVE_OK) return status;
    atomic_store(&is_busy, true);
    pthread_cleanup_push(end_early, r);
    if (r->handler == NULL)
        fail_all(r, "no_handler", "is not loaded");
    else if (!set_up(r))
        fail_all(r, "setup", "could not set up this thread");
    else
        call_handler(r);
    if (r->generation != rv_fork_generation_known()) _exit(FORKED_STATUS); /* a child that the handler forked */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cleanup_pop(0);
    atomic_store(&is_busy, false);
    status = send_outcomes(r);
    for (size_t i = 0; i < r->count; i++) rv_task_begin(r->tasks[i]);
    rv_buf *const buffers[] = {&r->run_in, &r->run_out, &r->at.in, &r->at.out};
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        rv_buf_clear(buffers[i]);
        rv_buf_trim(buffers[i], BUFFER_KEEP);
    }
    return status;
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

static bool map_flags(runner *r)
{
    void *flags = mmap(NULL, sizeof(rv_runner_flags), PROT_READ, MAP_SHARED, RV_RUNNER_FLAGS_FD, 0);
    (void)close(RV_RUNNER_FLAGS_FD);
    if (flags == MAP_FAILED) return false;
    r->at.flags = flags;
    return true;
}

static bool allocate(runner *r)
{
    size_t handlers = r->loaded.handlers.count;
    r->states = rv_zalloc_array(handlers + 1, sizeof(*r->states));
    r->set_up = rv_zalloc_array(handlers + 1, sizeof(*r->set_up));
    return r->states != NULL && r->set_up != NULL;
}

/* The answer to the hello. */
static bool say(runner *r, reeve_status status, const rv_error *error)
{
    const char *in_force = r->loaded.in_force;
    rv_runner_message answer = {.kind = RV_RUNNER_READY, .body = in_force, .length = strlen(in_force)};
    if (status != REEVE_OK)
        answer = (rv_runner_message){.kind = RV_RUNNER_REFUSED, .body = error->text, .length = strlen(error->text)};
    return rv_runner_message_send(r->at.fd, true, &answer) == REEVE_OK && status == REEVE_OK;
}

static bool begin(runner *r, rv_runner_confine_fn confine)
{
    rv_runner_message hello;
    rv_error error = {0};
    reeve_status status = rv_runner_message_receive(r->at.fd, &r->run_in, true, &hello);
    if (status != REEVE_OK || hello.kind != RV_RUNNER_HELLO) return false;
    status = rv_runner_hello_load(&r->loaded, &hello, confine, &error);
    if (status == REEVE_OK && !(map_flags(r) && allocate(r) && start_watch()))
        status = rv_fail(&error, REEVE_ESYSTEM, "no memory, or no thread");
    if (status == REEVE_OK) rv_runner_limits_set(&r->loaded.limits);
    return say(r, status, &error);
}

static void tear_down(const runner *r)
{
    for (size_t i = 0; i < r->loaded.handlers.count; i++) {
        const reeve_handler *handler = &r->loaded.handlers.list[i]->handler;
        if (r->set_up[i] && handler->thread_stop != NULL) handler->thread_stop(handler->user, r->states[i]);
    }
}

static void fini(runner *r)
{
    for (size_t i = 0; i < r->room; i++) rv_task_fini(&r->places[i].task);
    rv_free(r->places);
    rv_free(r->tasks);
    rv_free(r->states);
    rv_free(r->set_up);
    rv_runner_hello_fini(&r->loaded);
    rv_buf_fini(&r->run_in);
    rv_buf_fini(&r->run_out);
    rv_buf_fini(&r->at.in);
    rv_buf_fini(&r->at.out);
}

int rv_runner_serve(rv_runner_confine_fn confine)
{
    static runner r; /* the watching thread may outlive this call */
    rv_runner_message message;
    r.at.fd = RV_RUNNER_SOCKET_FD;
    (void)fcntl(RV_RUNNER_SOCKET_FD, F_SETFD, FD_CLOEXEC); /* programs that handlers run do not get it */
    r.at.loaded = &r.loaded;
    r.generation = rv_fork_generation();
    rv_buf_init(&r.run_in, RV_RUNNER_BODY_MAX);
    rv_buf_init(&r.run_out, RV_RUNNER_BODY_MAX);
    rv_buf_init(&r.at.in, RV_RUNNER_BODY_MAX);
    rv_buf_init(&r.at.out, RV_RUNNER_BODY_MAX);
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    if (!begin(&r, confine)) return 1;
    reeve_status status = REEVE_OK;
    while (status == REEVE_OK) {
        status = rv_runner_message_receive(r.at.fd, &r.run_in, true, &message);
        if (status == REEVE_OK) status = message.kind == RV_RUNNER_RUN ? run(&r, &message) : REEVE_EPROTO;
    }
    tear_down(&r);
    fini(&r);
    return status == REEVE_ELOST ? 0 : 1;
}
