/* A node that says it cannot do it: clients and workers leave it, look the endpoint up again, and recover by
 * themselves. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/peer.h"
#include "support/worker.h"

static rv_test_redis *other; /* the new master */
static rv_conn *other_conn;

static int start(void **state)
{
    test_place_start(state);
    other = test_redis_start(NULL);
    other_conn = test_conn_open(other);
    return 0;
}

static int stop(void **state)
{
    rv_conn_destroy(other_conn);
    test_redis_stop(other);
    return test_place_stop(state);
}

static int set_up(void **state)
{
    (void)test_cmd(test_conn, "REPLICAOF NO ONE");
    (void)test_cmd(other_conn, "FLUSHALL");
    test_close_gate();
    test_link_make();
    return test_place_empty(state);
}

static reeve_client *open_by_link(int64_t timeout_ms)
{
    reeve_client *client;
    char words[512];
    const reeve_client_options options = {.redis = test_link_url(), .timeout_ms = timeout_ms};
    if (reeve_client_open_with_error(&client, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    return client;
}

/* The server becomes a replica of nobody that is there; the name of the endpoint leads elsewhere. */
static void demote(void)
{
    assert_string_equal(test_cmd(test_conn, "REPLICAOF 127.0.0.1 1"), "OK");
}

static void fail_over(void)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/link.sock", test_redis_dir(test_redis));
    test_link_remove();
    assert_int_equal(symlink(strchr(test_redis_url(other), '/') + 2, path), 0);
}

/* ---- clients --------------------------------------------------------------------------------------------------- */

static void a_client_follows_the_name_to_the_new_master(void **state)
{
    (void)state;
    reeve_client *client = open_by_link(10000);
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "x"};
    test_ok(client, reeve_enqueue(client, &spec, NULL));
    demote();
    fail_over();
    test_ok(client, reeve_enqueue(client, &spec, NULL));
    assert_string_equal(test_cmd(other_conn, "HEXISTS reeve:{q}:tasks x"), "1");
    test_ok(client, reeve_cancel(client, "q", "x"));
    reeve_client_close(client);
}

static void many_tasks_follow_too(void **state)
{
    (void)state;
    enum { MANY = 300 };
    static reeve_task_spec specs[MANY];
    static reeve_enqueued results[MANY];
    reeve_client *client = open_by_link(10000);
    for (size_t i = 0; i < MANY; i++) specs[i] = (reeve_task_spec){.queue = "q", .type = "t"};
    for (int i = 0; i < 3; i++) test_ok(client, reeve_enqueue_many(client, specs, MANY, results));
    demote();
    fail_over();
    test_ok(client, reeve_enqueue_many(client, specs, MANY, results));
    assert_string_equal(test_cmd(other_conn, "HLEN reeve:{q}:tasks"), "300");
    reeve_client_close(client);
}

typedef struct call {
    reeve_client *client;
    reeve_status status;
} call;

static void *enqueue_in_a_thread(void *context)
{
    call *c = context;
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "x"};
    c->status = reeve_enqueue(c->client, &spec, NULL);
    return NULL;
}

static long long errors_of(const char *code)
{
    const char *at = strstr(test_cmd(test_conn, "INFO errorstats"), code);
    return at != NULL ? strtoll(strstr(at, "count=") + 6, NULL, 10) : 0;
}

/* Enqueues while the server refuses, heals it when it has refused twice: the call goes well. */
static void expect_recovery(const char *code, void (*heal)(void))
{
    call c = {.client = test_client_open(20000)};
    pthread_t thread;
    long long before = errors_of(code);
    assert_int_equal(pthread_create(&thread, NULL, enqueue_in_a_thread, &c), 0);
    TEST_AWAIT(errors_of(code) >= before + 2);
    heal();
    (void)pthread_join(thread, NULL);
    if (c.status != REEVE_OK) fail_msg("%s", reeve_client_error(c.client));
    assert_string_equal(test_state("q", "x"), "ready");
    reeve_client_close(c.client);
}

static void promote(void)
{
    (void)test_cmd(test_conn, "REPLICAOF NO ONE");
}

static void a_replica_becomes_the_master_again(void **state)
{
    (void)state;
    demote();
    expect_recovery("READONLY", promote);
}

static void want_no_replicas(void)
{
    (void)test_cmd(test_conn, "CONFIG SET min-replicas-to-write 0");
}

static void replicas_come_back(void **state)
{
    (void)state;
    (void)test_cmd(test_conn, "CONFIG SET min-replicas-to-write 1");
    expect_recovery("NOREPLICAS", want_no_replicas);
}

static void dump_path(char *path, size_t size)
{
    (void)snprintf(path, size, "%s/dump.rdb", test_redis_dir(test_redis));
}

/* Blanks and nothing are values here. */
static void set_save_points(const char *points)
{
    const rv_reply *reply;
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "CONFIG");
    rv_args(test_conn, "SET");
    rv_args(test_conn, "save");
    rv_args(test_conn, points);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
}

/* A directory stands in the way of the dump. */
static void make_disk_fail(void)
{
    char path[512];
    dump_path(path, sizeof(path));
    (void)unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    set_save_points("100000 1");
    (void)test_cmd(test_conn, "BGSAVE");
    TEST_AWAIT(strstr(test_cmd(test_conn, "INFO persistence"), "rdb_last_bgsave_status:err") != NULL);
}

static void heal_disk(void)
{
    char path[512];
    dump_path(path, sizeof(path));
    (void)rmdir(path);
    (void)test_cmd(test_conn, "BGSAVE");
    TEST_AWAIT(strstr(test_cmd(test_conn, "INFO persistence"), "rdb_last_bgsave_status:ok") != NULL);
    set_save_points("");
}

static void the_disk_has_room_again(void **state)
{
    (void)state;
    make_disk_fail();
    expect_recovery("MISCONF", heal_disk);
}

static void what_does_not_pass_is_told_in_time(void **state)
{
    (void)state;
    reeve_client *client = test_client_open(1500);
    const reeve_task_spec spec = {.queue = "q", .type = "t"};
    int64_t begin = rv_now_ms();
    demote();
    test_refused(client, reeve_enqueue(client, &spec, NULL), REEVE_EREDIS, "READONLY");
    assert_non_null(strstr(reeve_client_error(client), "this server is a replica"));
    test_refused(client, reeve_cancel(client, "q", "x"), REEVE_EREDIS, "this server is a replica");
    assert_in_range(rv_now_ms() - begin, 500, 20000);
    make_disk_fail();
    promote();
    test_refused(client, reeve_enqueue(client, &spec, NULL), REEVE_EREDIS, "make room there");
    heal_disk();
    reeve_client_close(client);
}

/* The node that refused is slow to be reached again, or another one in its place. */
static void a_refusal_is_told_where_no_other_try_is_possible(void **state)
{
    (void)state;
    const peer_step script[] = {
        {PEER_COMMANDS, 6, NULL, 0},
        PEER_SAY("+OK\r\n:7\r\n*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n$-1\r\n*0\r\n+PONG\r\n"),
        {PEER_COMMANDS, 1, NULL, 0},
        PEER_SAY("-READONLY You can't write against a read only replica.\r\n"),
        {PEER_CLOSE, 0, NULL, 0},
        {PEER_STALL, 0, NULL, 0},
        {PEER_END, 0, NULL, 0},
    };
    test_peer *peer = test_peer_start(script);
    reeve_client *client;
    const reeve_client_options options = {.redis = test_peer_url(peer), .timeout_ms = 3000};
    assert_int_equal(reeve_client_open(&client, &options), REEVE_OK);
    test_refused(client, reeve_cancel(client, "q", "x"), REEVE_EREDIS, "READONLY");
    reeve_client_close(client);
    test_peer_stop(peer);
}

static void what_a_user_may_not_do_is_told_at_once(void **state)
{
    (void)state;
    char url[512];
    reeve_client *client;
    (void)test_cmd(test_conn, "ACL SETUSER u on >p ~* &* +@all -evalsha");
    (void)snprintf(url, sizeof(url), "unix://u:p@%s", strchr(test_redis_url(test_redis), '/') + 2);
    const reeve_client_options options = {.redis = url, .timeout_ms = 60000};
    assert_int_equal(reeve_client_open(&client, &options), REEVE_OK);
    const reeve_task_spec spec = {.queue = "q", .type = "t"};
    int64_t begin = rv_now_ms();
    test_refused(client, reeve_enqueue(client, &spec, NULL), REEVE_EREDIS, "'evalsha'");
    assert_non_null(strstr(reeve_client_error(client), "ACL SETUSER"));
    (void)test_cmd(test_conn, "ACL SETUSER u +@all -hset");
    test_refused(client, reeve_cancel(client, "q", "x"), REEVE_EREDIS, "ACL SETUSER");
    test_put("q", "x");
    test_refused(client,
                 reeve_enqueue_many(client, &(reeve_task_spec){.queue = "q", .type = "t", .group = "g"}, 1,
                                    &(reeve_enqueued){0}),
                 REEVE_EREDIS, "ACL SETUSER");
    assert_in_range(rv_now_ms() - begin, 0, 30000);
    reeve_client_close(client);
    (void)test_cmd(test_conn, "ACL DELUSER u");
}

/* Codes that a lone server does not answer with. The call's second try is answered. */
static void expect_second_try(const char *error)
{
    reeve_client *client;
    const peer_step hello[] = {{PEER_COMMANDS, 6, NULL, 0},
                               PEER_SAY("+OK\r\n:7\r\n*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n$-1\r\n*0\r\n+PONG\r\n")};
    const peer_step script[] = {hello[0],
                                hello[1],
                                {PEER_COMMANDS, 1, NULL, 0},
                                {PEER_SEND, strlen(error), error, 0},
                                {PEER_CLOSE, 0, NULL, 0},
                                hello[0],
                                hello[1],
                                {PEER_COMMANDS, 1, NULL, 0},
                                PEER_SAY("$2\r\nok\r\n"),
                                {PEER_STALL, 0, NULL, 0},
                                {PEER_END, 0, NULL, 0}};
    test_peer *peer = test_peer_start(script);
    const reeve_client_options options = {.redis = test_peer_url(peer), .timeout_ms = 20000};
    assert_int_equal(reeve_client_open(&client, &options), REEVE_OK);
    test_ok(client, reeve_cancel(client, "q", "x"));
    reeve_client_close(client);
    test_peer_stop(peer);
}

static void other_codes_are_waited_out_too(void **state)
{
    (void)state;
    expect_second_try("-LOADING Redis is loading the dataset in memory\r\n");
    expect_second_try("-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.\r\n");
    expect_second_try("-CLUSTERDOWN Hash slot not served\r\n");
    expect_second_try("-NOAUTH Authentication required.\r\n");
    expect_second_try("-BUSY Redis is busy running a script.\r\n");
    expect_second_try("-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
}

/* ---- workers --------------------------------------------------------------------------------------------------- */

static reeve_worker *run_by_link(void)
{
    const reeve_worker_options options = {.redis = test_link_url(), .session_ms = 1500};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 2, 0);
    test_worker_pool(worker, "a b", 1, 0);
    test_worker_start(worker);
    test_put("q", "n0");
    TEST_AWAIT_STATE("n0", "completed");
    return worker;
}

static bool stands_at_other(const char *command, const char *reply)
{
    return strcmp(test_cmd(other_conn, "%s", command), reply) == 0;
}

static void a_worker_moves_to_the_new_master(void **state)
{
    (void)state;
    reeve_worker *worker = run_by_link();
    reeve_client *client;
    demote();
    fail_over();
    const reeve_client_options options = {.redis = test_redis_url(other)};
    assert_int_equal(reeve_client_open(&client, &options), REEVE_OK);
    /* A thread, the scheduler, the heartbeat and the control channel. */
    reeve_task_spec spec = {.queue = "q", .type = "t", .id = "n1"};
    test_ok(client, reeve_enqueue(client, &spec, NULL));
    spec = (reeve_task_spec){.queue = "b", .type = "t", .id = "n2", .in_ms = 50};
    test_ok(client, reeve_enqueue(client, &spec, NULL));
    TEST_AWAIT(stands_at_other("ZCARD reeve:{q}:completed", "1"));
    TEST_AWAIT(stands_at_other("ZCARD reeve:{b}:completed", "1"));
    TEST_AWAIT(stands_at_other("SCARD reeve:workers", "1"));
    TEST_AWAIT(stands_at_other("PUBSUB NUMSUB reeve:control", "[reeve:control 1]"));
    reeve_client_close(client);
    test_worker_end(worker);
    assert_true(stands_at_other("EXISTS reeve:{q}:sessions reeve:{b}:sessions reeve:workers", "0"));
}

/* What the log says about the control channel. */
typedef struct subscription_log {
    atomic_uint count;
    char error[512]; /* of the first one */
} subscription_log;

static void note_subscription(const reeve_log_record *record, void *user)
{
    subscription_log *log = user;
    if (strstr(record->message, "cannot subscribe") == NULL) return;
    for (size_t i = 0; i < record->field_count && atomic_load(&log->count) == 0; i++) {
        if (strcmp(record->fields[i].key, "error") == 0)
            (void)snprintf(log->error, sizeof(log->error), "%s", record->fields[i].value);
    }
    atomic_fetch_add(&log->count, 1);
}

/* Redis refuses to wake the idle threads, which comes before the worker subscribes. */
static void why_the_worker_cannot_subscribe_is_logged_once(void **state)
{
    (void)state;
    subscription_log log = {0};
    reeve_worker *worker = run_by_link();
    TEST_AWAIT(test_number("LLEN reeve:{q}:idle") > 0);
    TEST_AWAIT(strcmp(test_cmd(test_conn, "PUBSUB NUMSUB reeve:control"), "[reeve:control 1]") == 0);
    reeve_log_set(note_subscription, &log, REEVE_LOG_DEBUG);
    make_disk_fail();
    test_kill_connections();
    TEST_AWAIT(atomic_load(&log.count) > 0);
    long long before = errors_of("MISCONF");
    TEST_AWAIT(errors_of("MISCONF") >= before + 20);
    heal_disk();
    TEST_AWAIT(strcmp(test_cmd(test_conn, "PUBSUB NUMSUB reeve:control"), "[reeve:control 1]") == 0);
    reeve_log_set(NULL, NULL, REEVE_LOG_DEBUG);
    test_worker_end(worker);
    assert_non_null(strstr(log.error, "MISCONF"));
    assert_int_equal(atomic_load(&log.count), 1);
}

static long long commands_so_far(void)
{
    const char *at = strstr(test_cmd(test_conn, "INFO stats"), "total_commands_processed:");
    return strtoll(at + strlen("total_commands_processed:"), NULL, 10);
}

static void a_stop_on_a_replica_is_short_and_quiet(void **state)
{
    (void)state;
    reeve_worker *worker = run_by_link();
    demote();
    TEST_AWAIT(errors_of("READONLY") > 0);
    long long before = commands_so_far();
    int64_t begin = rv_now_ms();
    reeve_status status = reeve_worker_stop(worker, 0);
    if (status != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
    reeve_worker_destroy(worker);
    assert_in_range(rv_now_ms() - begin, 0, 30000);
    assert_in_range(commands_so_far() - before, 0, 300);
}

static void a_stop_on_a_frozen_server_is_short(void **state)
{
    (void)state;
    reeve_worker *worker = run_by_link();
    test_redis_freeze(test_redis);
    int64_t begin = rv_now_ms();
    reeve_status status = reeve_worker_stop(worker, 0);
    if (status != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
    assert_in_range(rv_now_ms() - begin, 0, 30000);
    reeve_worker_destroy(worker);
    assert_in_range(rv_now_ms() - begin, 0, 30000);
    test_redis_thaw(test_redis);
}

static void handlers_that_still_run_are_told(void **state)
{
    (void)state;
    reeve_worker *worker = run_by_link();
    const reeve_task_spec spec = {.queue = "q", .type = "stubborn", .id = "n1"};
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
    TEST_AWAIT(test_worker_stats(worker).busy == 1);
    demote();
    assert_int_equal(reeve_worker_stop(worker, 0), REEVE_ETIMEOUT);
    assert_non_null(strstr(reeve_worker_error(worker), "1 handlers still run"));
    test_open_gate();
    reeve_worker_destroy(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_client_follows_the_name_to_the_new_master, set_up),
        cmocka_unit_test_setup(many_tasks_follow_too, set_up),
        cmocka_unit_test_setup(a_replica_becomes_the_master_again, set_up),
        cmocka_unit_test_setup(replicas_come_back, set_up),
        cmocka_unit_test_setup(the_disk_has_room_again, set_up),
        cmocka_unit_test_setup(what_does_not_pass_is_told_in_time, set_up),
        cmocka_unit_test_setup(a_refusal_is_told_where_no_other_try_is_possible, set_up),
        cmocka_unit_test_setup(what_a_user_may_not_do_is_told_at_once, set_up),
        cmocka_unit_test_setup(other_codes_are_waited_out_too, set_up),
        cmocka_unit_test_setup(a_worker_moves_to_the_new_master, set_up),
        cmocka_unit_test_setup(why_the_worker_cannot_subscribe_is_logged_once, set_up),
        cmocka_unit_test_setup(a_stop_on_a_replica_is_short_and_quiet, set_up),
        cmocka_unit_test_setup(a_stop_on_a_frozen_server_is_short, set_up),
        cmocka_unit_test_setup(handlers_that_still_run_are_told, set_up),
    };
    return cmocka_run_group_tests_name("ct_refusals", tests, start, stop);
}
