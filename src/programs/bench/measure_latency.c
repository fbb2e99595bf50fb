/*
 * measure_latency.c - how long an idle worker takes from an enqueue to its handler, one task at a time, and beside it
 * the least that Redis allows: a blocking pop of a list, over the same kind of connection.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench.h"
#include "client/client.h"

#define QUEUE "latency"
#define WARM_UP 50
#define LOST_S 10

/* Somebody saw the task, and when. */
struct arrival {
    sem_t seen;
    double at;
};

static void note(struct arrival *arrival)
{
    arrival->at = bench_now();
    (void)sem_post(&arrival->seen);
}

static int await(bench_run *bench, struct arrival *arrival)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LOST_S;
    while (sem_timedwait(&arrival->seen, &until) != 0) {
        int status = bench_go_on(bench);

        if (status != CLI_DONE) return status;
        if (errno == ETIMEDOUT) return cli_fail(bench->cli, CLI_REFUSED, "a task did not arrive in %d s", LOST_S);
    }
    return CLI_DONE;
}

/* Irregular, so that nothing falls into step. */
static void rest(void)
{
    struct timespec pause = {.tv_nsec = 1000000 + random() % 3000000};

    (void)nanosleep(&pause, NULL);
}

/* Sends one after the other; send makes it leave. Samples are microseconds. */
static int measure(bench_run *bench, const char *prefix, struct arrival *arrival, int (*send)(bench_run *bench))
{
    int status = CLI_DONE;

    for (int64_t i = -WARM_UP; status == CLI_DONE && i < bench->tasks; i++) {
        double sent;

        rest();
        sent = bench_now();
        status = send(bench);
        if (status == CLI_DONE) status = await(bench, arrival);
        if (status == CLI_DONE && i >= 0) bench->samples[i] = (arrival->at - sent) * 1e6;
    }
    if (status == CLI_DONE) bench_note_samples(&bench->figures, prefix, "us", bench->samples, (size_t)bench->tasks);
    return status;
}

/* ---- reeve ------------------------------------------------------------------------------------------------------ */

static reeve_outcome arrive(reeve_task *task, void *user)
{
    note(user);
    return reeve_task_done(task, NULL, 0);
}

static int send_task(bench_run *bench)
{
    reeve_task_spec spec = {.size = sizeof(spec),
                            .queue = QUEUE,
                            .type = "arrive",
                            .payload = {bench->bytes, (size_t)bench->options->payload}};
    reeve_status result = reeve_enqueue(bench->cli->client, &spec, NULL);

    return result == REEVE_OK ? CLI_DONE : cli_fail_call(bench->cli, result, NULL);
}

static int measure_tasks(bench_run *bench, struct arrival *arrival)
{
    reeve_handler handler = {REEVE_HANDLER, .type = "arrive", .run = arrive, .user = arrival};
    reeve_worker *worker = NULL;
    int status = bench_set_keep(bench, QUEUE);

    if (status == CLI_DONE)
        status = bench_hire(bench, &(bench_crew){.queue = QUEUE, .handlers = &handler, .handler_count = 1}, &worker);
    if (status == CLI_DONE) status = bench_settle(bench, worker);
    if (status == CLI_DONE) status = measure(bench, "", arrival, send_task);
    bench_dismiss(worker);
    return status;
}

/* ---- the least that there can be -------------------------------------------------------------------------------- */

struct popper {
    rv_conn *conn;
    struct arrival *arrival;
    rv_buf key;
};

static void add_raw_key(rv_buf *key, const bench_run *bench)
{
    rv_buf_init(key, 256);
    rv_buf_addf(key, "%s:{raw}:list", bench->cli->ns);
}

/* Until an empty payload comes, or the connection goes. */
static void *pop(void *user)
{
    struct popper *popper = user;
    bool goes_on = true;

    while (goes_on) {
        const rv_reply *reply;

        rv_cmd(popper->conn, 3);
        rv_args(popper->conn, "BLPOP");
        rv_arg(popper->conn, popper->key.data, popper->key.length);
        rv_args(popper->conn, "0");
        goes_on = rv_conn_call(popper->conn, RV_FOREVER, &reply) == REEVE_OK && rv_reply_at(reply, 1)->length > 1;
        note(popper->arrival);
    }
    return NULL;
}

struct push {
    rv_buf key;
    const char *bytes;
    size_t length;
};

static void build_push(rv_conn *conn, bool again, const void *context)
{
    const struct push *push = context;

    (void)again;
    rv_cmd(conn, 3);
    rv_args(conn, "RPUSH");
    rv_arg(conn, push->key.data, push->key.length);
    rv_arg(conn, push->bytes, push->length);
}

static int push_bytes(bench_run *bench, const char *bytes, size_t length)
{
    struct push push = {.bytes = bytes, .length = length};
    const rv_reply *reply;
    reeve_status result;

    add_raw_key(&push.key, bench);
    result = push.key.failed ? REEVE_ENOMEM : rv_client_call(bench->cli->client, build_push, &push, &reply, NULL);
    rv_buf_fini(&push.key);
    return result == REEVE_OK ? CLI_DONE : cli_fail_call(bench->cli, result, NULL);
}

static int send_raw(bench_run *bench)
{
    return push_bytes(bench, bench->bytes, (size_t)bench->options->payload + 2);
}

static int measure_pops(bench_run *bench, struct arrival *arrival)
{
    struct popper popper = {.arrival = arrival};
    rv_conn_options options = {.url = &bench->cli->client->url, .name = "reeve-bench"};
    rv_error error = {0};
    reeve_status result = rv_conn_create(&popper.conn, &options, &error);
    pthread_t thread;
    int status;

    add_raw_key(&popper.key, bench);
    if (result == REEVE_OK) result = rv_conn_open(popper.conn, rv_deadline(5000));
    if (result != REEVE_OK || popper.key.failed) {
        status = cli_fail(bench->cli, CLI_NO_REDIS, "a second connection to Redis cannot be made");
    } else if (pthread_create(&thread, NULL, pop, &popper) != 0) {
        status = cli_fail(bench->cli, CLI_REFUSED, "a thread cannot be started");
    } else {
        status = measure(bench, "raw_", arrival, send_raw);
        (void)push_bytes(bench, "x", 1);
        (void)pthread_join(thread, NULL);
        while (sem_trywait(&arrival->seen) == 0) {} /* of that last one */
    }
    rv_buf_fini(&popper.key);
    rv_conn_destroy(popper.conn);
    return status;
}

static int round_of(bench_run *bench)
{
    struct arrival arrival = {0};
    int status;

    if (sem_init(&arrival.seen, 0, 0) != 0) return cli_no_memory(bench->cli);
    status = measure_pops(bench, &arrival);
    if (status == CLI_DONE) status = measure_tasks(bench, &arrival);
    (void)sem_destroy(&arrival.seen);
    return status;
}

const bench_kind bench_latency = {"latency", "from an enqueue to the handler of an idle worker", 1000, round_of};
