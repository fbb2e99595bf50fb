/*
 * serve.c - the back: a worker inside this program makes the reports, until INT or TERM. It says what happens, a line
 * each: "MILLISECONDS begin TENANT REPORT", and "end" likewise.
 */
#include <inttypes.h>
#include <pthread.h>
#include <reeve/client.h>
#include <reeve/worker.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "tenants.h"

#define THREADS 4
#define STOP_WITHIN_MS 10000
#define NAP_MS 10

static void say(reeve_task *task, const char *what, const char *report)
{
    printf("%" PRId64 " %s %s %s\n", reeve_task_now_ms(task), what, reeve_task_group(task), report);
    fflush(stdout);
}

/* Stands for the work. false: the worker stops. */
static bool work(const reeve_task *task, int64_t milliseconds)
{
    const struct timespec nap = {0, NAP_MS * 1000000L};
    int64_t end = reeve_task_now_ms(task) + milliseconds;

    while (reeve_task_now_ms(task) < end) {
        if (reeve_task_should_stop(task)) return false;
        (void)nanosleep(&nap, NULL);
    }
    return true;
}

static reeve_outcome make_report(reeve_task *task, void *user)
{
    char report[65], words[256];
    unsigned milliseconds;
    int length;

    (void)user;
    if (reeve_task_group(task) == NULL) return reeve_task_fail(task, "payload", "whose report? A tenant is a group");
    if (sscanf(reeve_task_payload(task).data, "%64s %7u", report, &milliseconds) != 2) {
        return reeve_task_fail(task, "payload", "expected \"REPORT MILLISECONDS\"");
    }
    say(task, "begin", report);
    if (!work(task, milliseconds)) return reeve_task_give_back(task);
    say(task, "end", report);
    length = snprintf(words, sizeof(words), "%s for %s", report, reeve_task_group(task));
    return reeve_task_done(task, words, (size_t)length);
}

static bool apply_plans(const char *redis)
{
    const reeve_client_options options = {.size = sizeof(options), .redis = redis, .name = "tenants-serve"};
    reeve_client *client = NULL;
    char words[512] = "";
    bool good = reeve_client_open_with_error(&client, &options, words, sizeof(words)) == REEVE_OK;

    if (!good) {
        fprintf(stderr, "tenants: %s\n", words);
    } else if (plans_apply(client) != REEVE_OK) {
        fprintf(stderr, "tenants: %s\n", reeve_client_error(client));
        good = false;
    }
    reeve_client_close(client);
    return good;
}

/* On failure says why and returns NULL. */
static reeve_worker *start_worker(const char *redis)
{
    static const char *const queues[] = {QUEUE};
    const reeve_worker_options options = {.size = sizeof(options), .redis = redis, .name = "tenants"};
    /* A report takes its time, so a thread takes one, and the next when that is done. */
    const reeve_pool_options pool = {
        .size = sizeof(pool), .name = "reports", .queues = queues, .queue_count = 1, .threads = THREADS, .batch = 1};
    char words[512] = "";
    reeve_worker *worker = NULL;

    if (reeve_worker_create(&worker, &options, words, sizeof(words)) != REEVE_OK) {
        fprintf(stderr, "tenants: %s\n", words);
        return NULL;
    }
    if (reeve_worker_handle(worker, TYPE, make_report, NULL) != REEVE_OK ||
        reeve_worker_add_pool(worker, &pool) != REEVE_OK || reeve_worker_start(worker) != REEVE_OK) {
        fprintf(stderr, "tenants: %s\n", reeve_worker_error(worker));
        reeve_worker_destroy(worker);
        return NULL;
    }
    return worker;
}

int serve(const char *redis)
{
    reeve_worker *worker;
    sigset_t stop;
    int number;

    reeve_log_set(reeve_log_to_logfmt, stderr, REEVE_LOG_WARN);
    /* Before there are other threads: they inherit that these two are not theirs. */
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    if (pthread_sigmask(SIG_BLOCK, &stop, NULL) != 0 || !apply_plans(redis)) return 1;
    worker = start_worker(redis);
    if (worker == NULL) return 1;
    (void)sigwait(&stop, &number);
    /* What runs may end; the rest waits in Redis for the next start. */
    if (reeve_worker_stop(worker, STOP_WITHIN_MS) == REEVE_ETIMEOUT) {
        fprintf(stderr, "tenants: a report was not finished; it will be made anew\n");
    }
    reeve_worker_destroy(worker);
    return 0;
}
