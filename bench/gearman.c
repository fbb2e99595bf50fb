/*
 * gearman.c - gearmand, measured as reeve is: background jobs of one function, drained by threads that have a
 * connection each; one producer, job by job and many in a run; and the pickup of an idle worker.
 *
 *     bench-gearman PORT PID drain|enqueue|pickup [TASKS [THREADS [HANDLER_US]]]
 *
 * HANDLER_US: how long each handler of a drain sleeps.
 */
#include <libgearman/gearman.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "figures.h"

#define PAYLOAD 100
#define AT_ONCE 1000
#define THREADS_MAX 256
#define WARM_UP 50
#define HOST "127.0.0.1"
#define FUNCTION "bench"

static in_port_t port;
static char payload[PAYLOAD];
static long handler_us;

/* ---- the producer ----------------------------------------------------------------------------------------------- */

static gearman_client_st *open_client(void)
{
    gearman_client_st *client = gearman_client_create(NULL);

    if (client == NULL || gearman_client_add_server(client, HOST, port) != GEARMAN_SUCCESS)
        fail("gearman", "no client");
    return client;
}

static void put_one(gearman_client_st *client)
{
    gearman_job_handle_t handle;

    if (gearman_client_do_background(client, FUNCTION, NULL, payload, sizeof(payload), handle) != GEARMAN_SUCCESS)
        fail("gearman", gearman_client_error(client));
}

static void put_many(gearman_client_st *client, long count)
{
    gearman_return_t result;

    for (long i = 0; i < count; i++)
        if (gearman_client_add_task_background(client, NULL, NULL, FUNCTION, NULL, payload, sizeof(payload), &result) ==
            NULL)
            fail("gearman", gearman_client_error(client));
    if (gearman_client_run_tasks(client) != GEARMAN_SUCCESS) fail("gearman", gearman_client_error(client));
    gearman_client_task_free_all(client);
}

static void fill(long tasks, long at_once)
{
    gearman_client_st *client = open_client();

    for (long done = 0; done < tasks;) {
        long count = tasks - done < at_once ? tasks - done : at_once;

        if (at_once == 1)
            put_one(client);
        else
            put_many(client, count);
        done += count;
    }
    gearman_client_free(client);
}

/* ---- the worker ------------------------------------------------------------------------------------------------- */

static atomic_long left; /* jobs that are to come */
static sem_t seen;
static double seen_at;
static pthread_barrier_t start;

static void *run_job(gearman_job_st *job, void *single, size_t *ret_size, gearman_return_t *ret_result)
{
    (void)job;
    *ret_size = 0;
    *ret_result = GEARMAN_SUCCESS;
    if (single != NULL) seen_at = now();
    run_handler(handler_us);
    if (atomic_fetch_sub(&left, 1) == 1 || single != NULL) (void)sem_post(&seen);
    return NULL;
}

/* Until all was done; a look at that, where nothing comes, every 200 ms. */
static void *work(void *single)
{
    gearman_worker_st *worker = gearman_worker_create(NULL);

    if (worker == NULL || gearman_worker_add_server(worker, HOST, port) != GEARMAN_SUCCESS ||
        gearman_worker_add_function(worker, FUNCTION, 0, run_job, single) != GEARMAN_SUCCESS)
        fail("gearman", "no worker");
    gearman_worker_set_timeout(worker, 200);
    (void)pthread_barrier_wait(&start);
    while (atomic_load(&left) > 0) (void)gearman_worker_work(worker);
    gearman_worker_free(worker);
    return NULL;
}

static void start_threads(pthread_t *ids, long threads, void *single)
{
    if (sem_init(&seen, 0, 0) != 0 || pthread_barrier_init(&start, NULL, (unsigned)threads + 1) != 0)
        fail("bench-gearman", "no memory");
    for (long i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, work, single) != 0) fail("bench-gearman", "no thread");
}

static void drain(pid_t pid, long tasks, long threads)
{
    pthread_t ids[THREADS_MAX];
    double cpu, own, began, seconds, memory = process_bytes(pid);

    fill(tasks, AT_ONCE);
    memory = (process_bytes(pid) - memory) / (double)tasks;
    atomic_store(&left, tasks);
    start_threads(ids, threads, NULL);
    cpu = process_cpu_seconds(pid);
    own = own_cpu_seconds();
    (void)pthread_barrier_wait(&start);
    began = now();
    while (sem_wait(&seen) != 0) {}
    seconds = now() - began;
    own = own_cpu_seconds() - own;
    cpu = process_cpu_seconds(pid) - cpu;
    for (long i = 0; i < threads; i++) (void)pthread_join(ids[i], NULL);
    print_rate("", tasks, seconds, cpu, own);
    (void)printf("task_bytes=%.0f\n", memory);
}

static void pickup(long samples)
{
    gearman_client_st *client = open_client();
    double *values = calloc((size_t)samples, sizeof(*values));
    pthread_t thread;
    char single = 1;

    if (values == NULL) fail("bench-gearman", "no memory");
    atomic_store(&left, samples + WARM_UP);
    start_threads(&thread, 1, &single);
    (void)pthread_barrier_wait(&start);
    for (long i = -WARM_UP; i < samples; i++) {
        struct timespec pause = {.tv_nsec = 1000000 + random() % 3000000};
        double sent;

        (void)nanosleep(&pause, NULL);
        sent = now();
        put_one(client);
        while (sem_wait(&seen) != 0) {}
        if (i >= 0) values[i] = (seen_at - sent) * 1e6;
    }
    (void)pthread_join(thread, NULL);
    print_percentiles(values, samples);
    free(values);
    gearman_client_free(client);
}

int main(int argc, char **argv)
{
    long tasks = number_argument(argc, argv, 4, 100000, 1), threads = number_argument(argc, argv, 5, 4, 1);
    const char *what = argc > 3 ? argv[3] : "";
    pid_t pid;

    handler_us = number_argument(argc, argv, 6, 0, 0);
    if (argc < 4 || threads > THREADS_MAX) fail("bench-gearman", "see the head of its source");
    memset(payload, 'x', sizeof(payload));
    port = (in_port_t)number_argument(argc, argv, 1, 0, 1);
    pid = (pid_t)number_argument(argc, argv, 2, 0, 1);
    if (strcmp(what, "drain") == 0)
        drain(pid, tasks, threads);
    else if (strcmp(what, "enqueue") == 0)
        print_enqueue(pid, tasks, AT_ONCE, fill);
    else if (strcmp(what, "pickup") == 0)
        pickup(tasks);
    else
        fail(what, "drain, enqueue or pickup");
    return 0;
}
