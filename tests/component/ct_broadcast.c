/* A broadcast: each live worker of a queue runs a task once, and no other one does. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reeve/broadcast.h"
#include "reeve/limits.h"
#include "support/consumer.h"
#include "support/limits.h"
#include "support/worker.h"

#define WORKERS 3

static reeve_broadcast_task *tasks;
static size_t count;

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

/* Each is in the list of workers, and listens to its channel. */
static bool all_answer(size_t expected)
{
    reeve_worker_info *list;
    reeve_answer answers[WORKERS];
    const char *ids[WORKERS];
    size_t found, done = 0;
    assert_int_equal(reeve_workers(test_client, &list, &found), REEVE_OK);
    bool all = found == expected;
    for (size_t i = 0; all && i < found; i++) ids[i] = list[i].id;
    if (all) assert_int_equal(reeve_ask_workers(test_client, ids, found, "resume", 10000, answers), REEVE_OK);
    for (size_t i = 0; all && i < found; i++) done += answers[i].done;
    reeve_workers_free(list, found);
    return all && done == expected;
}

/* Each in a place of its own: the id of the worker tells them apart. */
static void start(reeve_worker *workers[], size_t number, const char *queues, unsigned threads)
{
    for (size_t i = 0; i < number; i++) {
        workers[i] = test_worker_new(NULL);
        test_worker_pool(workers[i], queues, threads, 0);
        test_worker_start(workers[i]);
    }
    TEST_AWAIT(all_answer(number));
}

static reeve_status send(const reeve_task_spec *given)
{
    reeve_task_spec spec = *given;
    spec.queue = "q";
    if (spec.type == NULL) spec.type = "t";
    return reeve_broadcast(test_client, &spec, 10000, &tasks, &count);
}

static const char *state_of(size_t i)
{
    return test_state("q", tasks[i].id);
}

static void each_worker_runs_it_once(void **state)
{
    (void)state;
    reeve_worker *workers[WORKERS];
    start(workers, WORKERS, "other q", 2);
    for (int round = 0; round < 5; round++) {
        unsigned long before = test_ran;
        assert_int_equal(send(&(reeve_task_spec){.at_most_once = round % 2 != 0, .max_snoozes = round}), REEVE_OK);
        assert_int_equal(count, WORKERS);
        for (size_t i = 0; i < count; i++) {
            assert_true(tasks[i].accepted);
            TEST_AWAIT(strcmp(state_of(i), "completed") == 0);
        }
        TEST_AWAIT(test_ran - before >= WORKERS); /* (one that runs at most once is completed before) */
        assert_int_equal(test_ran - before, WORKERS);
        reeve_broadcast_free(tasks);
    }
    for (int i = 0; i < WORKERS; i++) test_worker_end(workers[i]);
}

static void pauses_and_limits_do_not_hold_it(void **state)
{
    (void)state;
    reeve_worker *workers[WORKERS];
    start(workers, WORKERS, "q", 2);
    test_limit_queue(1, NULL);
    test_limit_type("hold", 1, NULL);
    assert_int_equal(send(&(reeve_task_spec){.type = "hold"}), REEVE_OK);
    TEST_AWAIT(test_begun == WORKERS);
    assert_int_equal(reeve_pause(test_client, "q"), REEVE_OK);
    test_open_gate();
    for (size_t i = 0; i < count; i++) TEST_AWAIT(strcmp(state_of(i), "completed") == 0);
    reeve_broadcast_free(tasks);
    assert_int_equal(send(&(reeve_task_spec){0}), REEVE_OK);
    for (size_t i = 0; i < count; i++) TEST_AWAIT(strcmp(state_of(i), "completed") == 0);
    reeve_broadcast_free(tasks);
    test_limits_agree();
    for (int i = 0; i < WORKERS; i++) test_worker_end(workers[i]);
}

/* The only thread is busy: the task waits for it, and no consumer can take it. */
static void it_waits_for_a_thread_of_its_worker(void **state)
{
    (void)state;
    reeve_worker *worker[1];
    start(worker, 1, "q", 1);
    test_put_spec((reeve_task_spec){.id = "long", .type = "stubborn"});
    TEST_AWAIT_STATE("long", "running");
    assert_int_equal(send(&(reeve_task_spec){0}), REEVE_OK);
    assert_int_equal(count, 1);
    assert_string_equal(state_of(0), "blocked");
    reeve_consumer *c = test_consumer_open("q", NULL);
    assert_int_equal(reeve_consumer_lease_id(c, "q", tasks[0].id, &test_pulled[0]), REEVE_EREFUSED);
    test_good(c, reeve_consumer_close(c));
    test_open_gate();
    TEST_AWAIT(strcmp(state_of(0), "completed") == 0);
    reeve_broadcast_free(tasks);
    test_worker_end(worker[0]);
}

/* Its only thread is busy when the pool is replaced by one that serves another queue, too. */
static void it_runs_on_the_pool_that_replaces_its_own(void **state)
{
    (void)state;
    reeve_worker *worker[1];
    start(worker, 1, "q", 1);
    test_put_spec((reeve_task_spec){.id = "long", .type = "stubborn"});
    TEST_AWAIT_STATE("long", "running");
    assert_int_equal(send(&(reeve_task_spec){0}), REEVE_OK);
    assert_true(tasks[0].accepted);
    assert_int_equal(reeve_worker_add_queue(worker[0], "pool-1", "other", 1), REEVE_OK);
    test_open_gate();
    TEST_AWAIT(strcmp(state_of(0), "completed") == 0);
    reeve_broadcast_free(tasks);
    test_worker_end(worker[0]);
}

/* It is given back, and another program leases it: it dies. */
static void only_its_worker_runs_it(void **state)
{
    (void)state;
    reeve_worker *worker[1];
    start(worker, 1, "q", 1);
    assert_int_equal(send(&(reeve_task_spec){.type = "act", .payload = {"snooze 0", 8}}), REEVE_OK);
    TEST_AWAIT(test_ran > 0);
    reeve_worker_quiet(worker[0]);
    TEST_AWAIT(strcmp(state_of(0), "ready") == 0);
    reeve_consumer *c = test_consumer_open("q", NULL);
    assert_string_equal(test_pull(c, 8, false), "");
    TEST_AWAIT(strcmp(state_of(0), "dead") == 0);
    reeve_task_info *info = test_show("q", tasks[0].id);
    assert_string_equal(info->error_kind, "worker");
    reeve_task_info_free(info);
    test_good(c, reeve_consumer_close(c));
    reeve_broadcast_free(tasks);
    test_worker_end(worker[0]);
}

static void a_quiet_worker_refuses(void **state)
{
    (void)state;
    reeve_worker *workers[2];
    start(workers, 2, "q", 1);
    reeve_worker_quiet(workers[0]);
    assert_int_equal(send(&(reeve_task_spec){0}), REEVE_OK);
    assert_int_equal(count, 2);
    size_t quiet = tasks[0].accepted ? 1 : 0;
    assert_false(tasks[quiet].accepted);
    assert_true(tasks[1 - quiet].accepted);
    assert_non_null(strstr(tasks[quiet].reason, "no new tasks"));
    assert_string_equal(state_of(quiet), "cancelled");
    TEST_AWAIT(strcmp(state_of(1 - quiet), "completed") == 0);
    reeve_broadcast_free(tasks);
    for (int i = 0; i < 2; i++) test_worker_end(workers[i]);
}

/* ---- a worker that is asked twice ------------------------------------------------------------------------------ */

static atomic_uint missed;

static void note_missed(const reeve_log_record *record, void *user)
{
    (void)user;
    if (strcmp(record->event, "broadcast.missed") == 0) atomic_fetch_add(&missed, 1);
}

/* The request of the broadcast for its first task, once more. */
static void ask_again(void)
{
    const char *id = tasks[0].id, *worker = tasks[0].worker;
    char request[128];
    reeve_answer answer;
    (void)snprintf(request, sizeof(request), "broadcast q %.*s", (int)(strrchr(id, '.') - id), id);
    assert_int_equal(reeve_ask_workers(test_client, &worker, 1, request, 10000, &answer), REEVE_OK);
    assert_true(answer.done);
}

/* Whatever has become of the task, the second request is not one that was missed. */
static void a_repeated_request_changes_nothing(void **state)
{
    static const struct {
        const char *payload, *end;
        bool deleted;
    } cases[] = {{"result r", "completed", false}, {"result r", "completed", true}, {"fail", "dead", false}};
    reeve_worker *worker[1];
    (void)state;
    start(worker, 1, "q", 1);
    atomic_store(&missed, 0);
    reeve_log_set(note_missed, NULL, REEVE_LOG_WARN);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const reeve_task_spec spec = {.type = "act", .payload = {cases[i].payload, strlen(cases[i].payload)}};
        unsigned long before = test_ran;
        assert_int_equal(send(&spec), REEVE_OK);
        TEST_AWAIT(strcmp(state_of(0), cases[i].end) == 0);
        if (cases[i].deleted) assert_int_equal(reeve_delete(test_client, "q", tasks[0].id), REEVE_OK);
        ask_again();
        reeve_broadcast_free(tasks);
        assert_int_equal(send(&(reeve_task_spec){0}), REEVE_OK); /* (its thread comes to this one last) */
        TEST_AWAIT(strcmp(state_of(0), "completed") == 0);
        reeve_broadcast_free(tasks);
        assert_int_equal(test_ran - before, 2);
    }
    test_worker_end(worker[0]);
    reeve_log_set(NULL, NULL, REEVE_LOG_OFF);
    assert_int_equal(atomic_load(&missed), 0);
}

/* ---- a worker that does not listen yet ------------------------------------------------------------------------- */

#define LATE "0123456789abcdef"

/* What it is asked: "ask <id of the request> broadcast q <id of the broadcast>". Returns the id of the request. */
static const char *hear_request(rv_conn *conn)
{
    static char id[64];
    const rv_reply *message;
    do {
        assert_int_equal(rv_conn_receive(conn, rv_deadline(60000), &message), REEVE_OK);
    } while (!rv_reply_is_text(rv_reply_at(message, 0), "message"));
    assert_int_equal(sscanf(rv_reply_at(message, 2)->text, "ask %63s broadcast q", id), 1);
    return id;
}

/* Subscribes once the client has met that it does not listen. */
static void *listen_late(void *argument)
{
    rv_conn *own = test_conn_open(test_redis), *listener = test_conn_open(test_redis);
    const rv_reply *reply;
    char key[96];
    (void)argument;
    while (strtoll(test_cmd(own, "ZCARD reeve:{q}:blocked"), NULL, 10) == 0) (void)poll(NULL, 0, 1);
    while (strstr(test_cmd(own, "INFO commandstats"), "cmdstat_publish:calls=1") == NULL) (void)poll(NULL, 0, 1);
    rv_cmd(listener, 2);
    rv_args(listener, "SUBSCRIBE");
    rv_args(listener, "reeve:alive:" LATE);
    assert_int_equal(rv_conn_call(listener, rv_deadline(10000), &reply), REEVE_OK);
    (void)snprintf(key, sizeof(key), "reeve:answer:%s", hear_request(listener));
    rv_cmd(own, 3);
    rv_args(own, "RPUSH");
    rv_args(own, key);
    rv_args(own, LATE " ok done");
    assert_int_equal(rv_conn_call(own, rv_deadline(10000), &reply), REEVE_OK);
    rv_conn_destroy(own);
    rv_conn_destroy(listener);
    return NULL;
}

static void a_worker_that_does_not_listen_yet_is_asked_again(void **state)
{
    pthread_t thread;
    (void)state;
    (void)test_cmd(test_conn, "SADD reeve:workers " LATE);
    (void)test_cmd(test_conn, "SET reeve:worker:" LATE " {\"name\":\"late\",\"pools\":[{\"queues\":[\"q\"]}]}");
    /* A deadline that comes first: so the enqueue announces nothing, and what is published is the request. */
    (void)test_cmd(test_conn, "ZADD reeve:{q}:deadlines 1 none");
    (void)test_cmd(test_conn, "CONFIG RESETSTAT");
    assert_int_equal(pthread_create(&thread, NULL, listen_late, NULL), 0);
    assert_int_equal(send(&(reeve_task_spec){0}), REEVE_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(count, 1);
    assert_true(tasks[0].accepted);
    assert_string_equal(state_of(0), "blocked");
    reeve_broadcast_free(tasks);
}

/* ---- a call that fails half way -------------------------------------------------------------------------------- */

#define ABSENT "fedcba9876543210"

static void expect_taken_back(reeve_client *client, const char *expected, const char *why)
{
    char id[REEVE_ID_MAX];
    assert_non_null(strstr(reeve_client_error(client), why));
    assert_string_equal(test_cmd(test_conn, "ZCARD reeve:{q}:blocked"), "0");
    assert_string_equal(test_cmd(test_conn, "ZCARD reeve:{q}:cancelled"), expected);
    assert_int_equal(sscanf(test_cmd(test_conn, "ZRANGE reeve:{q}:cancelled 0 0"), "[%100[^]]", id), 1);
    reeve_task_info *info = test_show("q", id);
    assert_int_equal(strncmp(info->cancel_reason, "broadcast: ", 11), 0);
    assert_non_null(strstr(info->cancel_reason, why));
    reeve_task_info_free(info);
}

static void add_workers(void)
{
    (void)test_cmd(test_conn, "SADD reeve:workers " LATE " " ABSENT);
    (void)test_cmd(test_conn, "SET reeve:worker:" LATE " {\"name\":\"late\",\"pools\":[{\"queues\":[\"q\"]}]}");
    (void)test_cmd(test_conn, "SET reeve:worker:" ABSENT " {\"name\":\"gone\",\"pools\":[{\"queues\":[\"q\"]}]}");
}

static void what_nobody_has_accepted_is_taken_back(void **state)
{
    (void)state;
    add_workers();
    (void)test_cmd(test_conn, "ACL SETUSER default -blpop");
    reeve_status status = send(&(reeve_task_spec){0});
    (void)test_cmd(test_conn, "ACL SETUSER default +blpop");
    assert_int_equal(status, REEVE_EREDIS);
    expect_taken_back(test_client, "2", "NOPERM");
}

static reeve_status refuse_the_second(reeve_outgoing *task, reeve_task_spec *spec, void *user)
{
    int *calls = user;
    (void)spec;
    return ++*calls == 2 ? reeve_outgoing_refuse(task, REEVE_EREFUSED, "not this one") : REEVE_OK;
}

static void what_is_enqueued_beside_a_refused_one_is_taken_back(void **state)
{
    int calls = 0;
    const reeve_layer layer = {REEVE_LAYER, .name = "one", .enqueue = refuse_the_second, .user = &calls};
    const reeve_task_spec spec = {.queue = "q", .type = "t"};
    reeve_client *client = test_client_open(10000);
    (void)state;
    add_workers();
    assert_int_equal(reeve_client_add_layer(client, &layer), REEVE_OK);
    assert_int_equal(reeve_broadcast(client, &spec, 10000, &tasks, &count), REEVE_EREFUSED);
    expect_taken_back(client, "1", "not this one");
    reeve_client_close(client);
}

static void what_cannot_be_sent_is_refused(void **state)
{
    (void)state;
    const reeve_parent parent = {.handle = "!s"};
    assert_int_equal(send(&(reeve_task_spec){0}), REEVE_ENOTFOUND);
    reeve_consumer *c = test_consumer_open("q", NULL);
    assert_int_equal(send(&(reeve_task_spec){.group = "g"}), REEVE_EINVAL);
    assert_int_equal(send(&(reeve_task_spec){.id = "i"}), REEVE_EINVAL);
    assert_int_equal(send(&(reeve_task_spec){.in_ms = 1}), REEVE_EINVAL);
    assert_int_equal(send(&(reeve_task_spec){.attempts = 2}), REEVE_EINVAL);
    assert_int_equal(send(&(reeve_task_spec){.max_crashes = 2}), REEVE_EINVAL);
    assert_int_equal(send(&(reeve_task_spec){.unique = "u"}), REEVE_EINVAL);
    assert_int_equal(send(&(reeve_task_spec){.group = "g", .weight = 2}), REEVE_EINVAL);
    assert_int_equal(send(&(reeve_task_spec){.if_exists = REEVE_EXISTS_IGNORE}), REEVE_EINVAL);
    assert_int_equal(send(&(reeve_task_spec){.backoff = &(reeve_backoff){.base_ms = 1}}), REEVE_EINVAL);
    assert_non_null(strstr(reeve_client_error(test_client), "a backoff"));
    assert_int_equal(send(&(reeve_task_spec){.retry_for_ms = 1000}), REEVE_EINVAL);
    assert_non_null(strstr(reeve_client_error(test_client), "a time of retries"));
    assert_int_equal(send(&(reeve_task_spec){.after = &parent, .after_count = 1}), REEVE_EINVAL);
    assert_int_equal(reeve_broadcast(test_client, &(reeve_task_spec){.queue = "q", .type = "t"}, -1, &tasks, &count),
                     REEVE_EINVAL);
    assert_int_equal(reeve_broadcast(test_client, NULL, 1, &tasks, &count), REEVE_EINVAL);
    test_good(c, reeve_consumer_close(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_worker_runs_it_once, set_up),
        cmocka_unit_test_setup(pauses_and_limits_do_not_hold_it, set_up),
        cmocka_unit_test_setup(it_waits_for_a_thread_of_its_worker, set_up),
        cmocka_unit_test_setup(it_runs_on_the_pool_that_replaces_its_own, set_up),
        cmocka_unit_test_setup(only_its_worker_runs_it, set_up),
        cmocka_unit_test_setup(a_quiet_worker_refuses, set_up),
        cmocka_unit_test_setup(a_repeated_request_changes_nothing, set_up),
        cmocka_unit_test_setup(a_worker_that_does_not_listen_yet_is_asked_again, set_up),
        cmocka_unit_test_setup(what_nobody_has_accepted_is_taken_back, set_up),
        cmocka_unit_test_setup(what_is_enqueued_beside_a_refused_one_is_taken_back, set_up),
        cmocka_unit_test_setup(what_cannot_be_sent_is_refused, set_up),
    };
    return cmocka_run_group_tests_name("ct_broadcast", tests, test_place_start, test_place_stop);
}
