/* Who says how often a task is tried, how long it waits and how long it may run: the task, else its handler, else its
 * queue, else nobody; and that a queue's word holds as soon as it is given. */
#include <stdio.h>
#include <string.h>

#include "protocol/turn_reply.h"
#include "running/worker_state.h"
#include "support/worker.h"

#define Q "reeve:{q}:"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

/* ---- handlers: of each kind one that says something ("said:...") and one that does not -------------------------- */

static reeve_outcome run_fails(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_retry(task, -1, "k", "m");
}

static reeve_outcome run_again(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_retry(task, 0, "k", "m");
}

static reeve_outcome run_waits(reeve_task *task, void *user)
{
    (void)user;
    atomic_fetch_add(&test_begun, 1);
    while (!reeve_task_should_stop(task)) test_pause();
    return reeve_task_done(task, NULL, 0);
}

static atomic_bool go_on;

static reeve_outcome run_fails_later(reeve_task *task, void *user)
{
    (void)user;
    atomic_fetch_add(&test_begun, 1);
    while (!go_on) test_pause();
    return reeve_task_retry(task, -1, "k", "m");
}

static atomic_int backs;

static reeve_outcome run_gives_back(reeve_task *task, void *user)
{
    (void)user;
    if (reeve_task_attempt(task) != 1) return reeve_task_fail(task, "attempt", "%u", reeve_task_attempt(task));
    return atomic_fetch_add(&backs, 1) < 3 ? reeve_task_give_back(task) : reeve_task_done(task, NULL, 0);
}

static reeve_worker *worker_run(void)
{
    static const struct {
        const char *type;
        reeve_handler_fn run;
    } all[] = {{"fails", run_fails},       {"said:fails", run_fails},      {"again", run_again},
               {"said:again", run_again},  {"waits", run_waits},           {"said:waits", run_waits},
               {"later", run_fails_later}, {"gives-back", run_gives_back}, {"said:t", run_again}};
    reeve_worker *worker = test_worker_new(NULL);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        reeve_handler handler = {REEVE_HANDLER, .type = all[i].type, .run = all[i].run};
        if (strncmp(all[i].type, "said:", 5) == 0) {
            handler.attempts = 4;
            handler.max_crashes = 2;
            handler.timeout_ms = 90;
            handler.retry_for_ms = 3600000;
            handler.backoff = (reeve_backoff){.shape = REEVE_BACKOFF_FIXED, .base_ms = 40000, .jitter = -1};
        }
        assert_int_equal(reeve_worker_register(worker, &handler), REEVE_OK);
    }
    test_worker_pool(worker, "q", 2, 1);
    test_worker_start(worker);
    return worker;
}

static void set_policy(const reeve_queue_policy *policy)
{
    const reeve_queue_settings settings = {.policy = policy};
    test_ok(test_client, reeve_queue_set(test_client, "q", &settings));
}

/* What the worker has heard of the queue's policy. */
static rv_task_policy known(reeve_worker *worker)
{
    rv_task_policy policy;
    if (!rv_queue_session_get_policy(worker->queue_sessions[0], &policy)) memset(&policy, 0, sizeof(policy));
    return policy;
}

static const reeve_backoff queues_backoff = {.shape = REEVE_BACKOFF_LIST, .list_ms = {50000, 60000}, .jitter = -1};
static const reeve_backoff own_backoff = {.base_ms = 70000, .jitter = -1};

static void put(const char *id, const char *type)
{
    test_put_spec((reeve_task_spec){.id = id, .type = type});
}

/* How long the task waits for its next attempt. (What crashed may have been put off before it failed.) */
static int64_t wait_of(const char *id)
{
    TEST_AWAIT(test_number("HEXISTS " Q "info:%s failures", id) == 1);
    TEST_AWAIT_STATE(id, "scheduled");
    reeve_task_info *info = test_show("q", id);
    int64_t wait = info->due_ms - info->failed_ms;
    reeve_task_info_free(info);
    return wait;
}

static unsigned failures_of(const char *id)
{
    TEST_AWAIT_STATE(id, "dead");
    reeve_task_info *info = test_show("q", id);
    unsigned failures = info->failures;
    reeve_task_info_free(info);
    return failures;
}

static const char *death_of(const char *id)
{
    static char text[REEVE_MESSAGE_MAX + 1];
    TEST_AWAIT_STATE(id, "dead");
    reeve_task_info *info = test_show("q", id);
    rv_copy_text(text, sizeof(text), info->error_message);
    reeve_task_info_free(info);
    return text;
}

/* ---- who says it ----------------------------------------------------------------------------------------------- */

static void how_long_it_waits(void **state)
{
    (void)state;
    set_policy(&(reeve_queue_policy){.backoff = &queues_backoff});
    reeve_worker *worker = worker_run();
    test_put_spec((reeve_task_spec){.id = "own", .type = "said:fails", .backoff = &own_backoff});
    put("handlers", "said:fails");
    put("queues", "fails");
    assert_int_equal(wait_of("own"), 70000);
    assert_int_equal(wait_of("handlers"), 40000);
    assert_int_equal(wait_of("queues"), 50000);
    test_ok(test_client, reeve_retry(test_client, "q", "queues"));
    TEST_AWAIT(test_number("HGET " Q "info:queues failures") == 2);
    assert_int_equal(wait_of("queues"), 60000);
    /* Nobody says it. */
    set_policy(&(reeve_queue_policy){.attempts = 9});
    TEST_AWAIT(known(worker).attempts == 9);
    put("nobodys", "fails");
    assert_in_range(wait_of("nobodys"), 800, 1200);
    test_worker_end(worker);
}

static void how_often_it_is_tried(void **state)
{
    (void)state;
    set_policy(&(reeve_queue_policy){.attempts = 3});
    reeve_worker *worker = worker_run();
    test_put_spec((reeve_task_spec){.id = "own", .type = "said:again", .attempts = 2});
    put("handlers", "said:again");
    put("queues", "again");
    assert_int_equal(failures_of("own"), 2);
    assert_int_equal(failures_of("handlers"), 4);
    assert_int_equal(failures_of("queues"), 3);
    set_policy(&(reeve_queue_policy){0});
    TEST_AWAIT(worker->queue_sessions[0]->policy_state == RV_POLICY_NONE);
    put("nobodys", "again");
    assert_int_equal(failures_of("nobodys"), 20);
    test_worker_end(worker);
}

/* Their age is that of tasks of long ago, or of tasks that have just come. */
static void how_long_it_is_retried(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "own", .type = "fails", .retry_for_ms = 3600000});
    test_put_spec((reeve_task_spec){.id = "own-more", .type = "said:fails", .retry_for_ms = 9007199254740991});
    test_put_spec((reeve_task_spec){.id = "own-less", .type = "said:fails", .retry_for_ms = 1, .timeout_ms = 60000});
    test_put_spec((reeve_task_spec){.id = "late", .type = "waits", .retry_for_ms = 1, .timeout_ms = 60});
    put("handlers", "said:fails");
    put("nobodys", "fails");
    for (const char *const *id =
             (const char *const[]){"own", "own-more", "own-less", "late", "handlers", "nobodys", NULL};
         *id != NULL; id++)
        test_age(*id);
    test_put_spec((reeve_task_spec){.id = "own-young", .type = "fails", .retry_for_ms = 3600000});
    put("handlers-young", "said:fails");
    reeve_worker *worker = worker_run();
    assert_int_equal(failures_of("own"), 1);
    assert_string_equal(death_of("own"), "m");
    assert_int_equal(failures_of("own-less"), 1);
    assert_int_equal(failures_of("handlers"), 1);
    assert_string_equal(death_of("late"), "not done within 60 ms");
    assert_int_equal(wait_of("own-more"), 40000);
    assert_int_equal(wait_of("handlers-young"), 40000);
    assert_in_range(wait_of("own-young"), 800, 1200);
    assert_in_range(wait_of("nobodys"), 800, 1200);
    (void)reeve_worker_stop(worker, 0);
    reeve_worker_destroy(worker);
}

/* A failure is compared with the clock of Redis at the time of the failure, not of the lease. */
static void it_is_retried_until_it_fails_late(void **state)
{
    (void)state;
    reeve_worker *worker = worker_run();
    go_on = false;
    test_put_spec((reeve_task_spec){.id = "a", .type = "later", .retry_for_ms = 2});
    TEST_AWAIT(test_begun == 1);
    TEST_AWAIT(atomic_load(&worker->scheduler.clock_ahead_ms) != 0);
    int64_t begun_ms = rv_now_ms();
    TEST_AWAIT(rv_now_ms() >= begun_ms + 10);
    go_on = true;
    assert_int_equal(failures_of("a"), 1);
    test_worker_end(worker);
}

static void how_long_it_may_run(void **state)
{
    (void)state;
    set_policy(&(reeve_queue_policy){.timeout_ms = 60, .attempts = 1});
    reeve_worker *worker = worker_run();
    test_put_spec((reeve_task_spec){.id = "own", .type = "said:waits", .timeout_ms = 120, .attempts = 1});
    test_put_spec((reeve_task_spec){.id = "handlers", .type = "said:waits", .attempts = 1});
    put("queues", "waits");
    assert_string_equal(death_of("own"), "not done within 120 ms");
    assert_string_equal(death_of("handlers"), "not done within 90 ms");
    assert_string_equal(death_of("queues"), "not done within 60 ms");
    /* The keeper's failures wait as all others. */
    set_policy(&(reeve_queue_policy){.timeout_ms = 60, .backoff = &queues_backoff});
    TEST_AWAIT(known(worker).has_backoff);
    put("again", "waits");
    assert_int_equal(wait_of("again"), 50000);
    set_policy(&(reeve_queue_policy){0});
    TEST_AWAIT(worker->queue_sessions[0]->policy_state == RV_POLICY_NONE);
    unsigned begun = test_begun;
    put("nobodys", "waits");
    TEST_AWAIT(test_begun == begun + 1);
    assert_string_equal(test_state("q", "nobodys"), "running");
    (void)reeve_worker_stop(worker, 0);
    reeve_worker_destroy(worker);
}

/* Workers run what has crashed before alone, so that its crash is known to be its own. */
static void crash(unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        test_hand hand;
        test_hand_init(&hand, "1", "q");
        assert_int_equal(test_lease(&hand, 1), 1);
        if (i > 0) assert_true(test_says_it_runs(&hand, "alone"));
        test_expire(&hand);
        test_maintain_all("q");
    }
}

static void how_many_workers_it_may_take_down(void **state)
{
    (void)state;
    set_policy(&(reeve_queue_policy){.max_crashes = 1});
    put("queues", "t");
    crash(1);
    test_put_spec((reeve_task_spec){.id = "handlers", .type = "said:t", .priority = -1});
    crash(2);
    test_put_spec((reeve_task_spec){.id = "handlers-less", .type = "said:fails", .priority = -2});
    crash(1);
    test_put_spec((reeve_task_spec){.id = "own", .type = "said:fails", .max_crashes = 4, .priority = -3});
    crash(3);
    reeve_worker *worker = worker_run();
    assert_string_equal(death_of("queues"), "a worker died while it held this task");
    assert_string_equal(death_of("handlers"), "2 workers died while they held this task");
    assert_int_equal(wait_of("handlers-less"), 40000);
    assert_int_equal(wait_of("own"), 40000);
    test_worker_end(worker);
    set_policy(&(reeve_queue_policy){0});
    put("nobodys", "t");
    crash(2);
    worker = worker_run();
    TEST_AWAIT_STATE("nobodys", "completed");
    test_worker_end(worker);
}

/* ---- when it holds --------------------------------------------------------------------------------------------- */

static void from_the_next_failure_on(void **state)
{
    (void)state;
    reeve_backoff fixed = {.shape = REEVE_BACKOFF_FIXED, .base_ms = 30000, .jitter = -1};
    reeve_worker *worker = worker_run();
    go_on = false;
    put("running", "later"); /* which begins before anybody says anything */
    TEST_AWAIT(test_begun == 1);
    set_policy(&(reeve_queue_policy){.backoff = &fixed});
    TEST_AWAIT(worker->queue_sessions[0]->policy_state ==
               RV_POLICY_GIVEN); /* (in far less than the safety net's 15 s: it is told) */
    go_on = true;
    assert_int_equal(wait_of("running"), 30000);
    for (int64_t delay = 31000; delay < 34000; delay += 1000) {
        char id[24];
        fixed.base_ms = delay;
        set_policy(&(reeve_queue_policy){.backoff = &fixed});
        TEST_AWAIT(known(worker).backoff.base_ms == delay);
        (void)snprintf(id, sizeof(id), "n%lld", (long long)delay);
        put(id, "fails");
        assert_int_equal(wait_of(id), delay);
    }
    set_policy(&(reeve_queue_policy){.attempts = 1});
    TEST_AWAIT(known(worker).attempts == 1);
    test_ok(test_client, reeve_retry(test_client, "q", "running"));
    assert_int_equal(failures_of("running"), 2);
    test_worker_end(worker);
}

/* A session that begins is told, so that no first failure is waited out wrongly. */
static void with_the_session(void **state)
{
    (void)state;
    test_hand hand;
    const rv_reply *reply;
    rv_begin_session_reply begun;
    static const char *const policies[] = {
        "" /* it has none */, "{\"attempts\":3,\"backoff\":{\"shape\":2,\"jitter\":-1000,\"list\":[50000,60000]}}"};
    set_policy(&(reeve_queue_policy){.attempts = 3, .backoff = &queues_backoff});
    test_hand_init(&hand, "1", "first q");
    for (size_t i = 0; i < 2; i++) {
        rv_begin_session_call_build(test_conn, &hand.prefixes[i], hand.sessions[i], 60000, "{}");
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_true(rv_begin_session_call_read(&begun, reply));
        assert_true(begun.alive);
        assert_string_equal(begun.policy->text, policies[i]);
    }
    assert_string_equal(test_maintain("q", 10).policy->text, policies[1]);
    assert_int_equal(test_maintain("first", 10).policy->length, 0);
}

/* ---- setting it ------------------------------------------------------------------------------------------------ */

static void it_is_set_left_and_forgotten(void **state)
{
    (void)state;
    const reeve_keep keep = {5000, 7};
    reeve_queue_settings settings = {
        .completed = &keep, .dead = &keep, .policy = &(reeve_queue_policy){.max_crashes = 2}};
    test_ok(test_client, reeve_queue_set(test_client, "q", &settings));
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings policy"), "{\"crashes\":2}");
    assert_int_equal(test_number("HGET " Q "settings dead_count"), 7);
    settings = (reeve_queue_settings){.completed = &keep};
    test_ok(test_client, reeve_queue_set(test_client, "q", &settings));
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings policy"), "{\"crashes\":2}");
    set_policy(&(reeve_queue_policy){.backoff = &(reeve_backoff){0}});
    assert_int_equal(test_number("HEXISTS " Q "settings policy"), 0);
    assert_int_equal(test_number("HGET " Q "settings completed_age"), 5000);
    settings = (reeve_queue_settings){0};
    test_ok(test_client, reeve_queue_set(test_client, "q", &settings));
    const reeve_backoff wrong = {.shape = REEVE_BACKOFF_LIST};
    settings.policy = &(reeve_queue_policy){.backoff = &wrong};
    test_refused(test_client, reeve_queue_set(test_client, "q", &settings), REEVE_EINVAL,
                 "a list needs at least one delay");
    settings.policy = &(reeve_queue_policy){.attempts = -1};
    test_refused(test_client, reeve_queue_set(test_client, "q", &settings), REEVE_EINVAL,
                 "attempts -1: must be from 1 to 1000000");
    settings.policy = &(reeve_queue_policy){.max_crashes = 1000001};
    test_refused(test_client, reeve_queue_set(test_client, "q", &settings), REEVE_EINVAL,
                 "max_crashes 1000001: must be from 1 to 1000000");
    settings.policy = &(reeve_queue_policy){.timeout_ms = -1};
    test_refused(test_client, reeve_queue_set(test_client, "q", &settings), REEVE_EINVAL, "timeout -1: must be");
    assert_int_equal(test_number("HEXISTS " Q "settings policy"), 0);
    /* What Redis refuses is told. */
    assert_string_equal(test_cmd(test_conn, "SET " Q "settings x"), "OK");
    settings.policy = &(reeve_queue_policy){.attempts = 1};
    test_refused(test_client, reeve_queue_set(test_client, "q", &settings), REEVE_EREDIS, "WRONGTYPE");
}

static void handlers_are_checked(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(NULL);
    const reeve_backoff wrong = {.shape = REEVE_BACKOFF_LIST};
    const reeve_handler handler = {REEVE_HANDLER, .type = "x", .run = run_fails, .backoff = wrong};
    const reeve_handler_policy policy = {.type = "t", .backoff = &wrong};
    assert_int_equal(reeve_worker_register(worker, &handler), REEVE_EINVAL);
    assert_string_equal(reeve_worker_error(worker), "type x: backoff: a list needs at least one delay above zero");
    assert_int_equal(reeve_worker_set_policy(worker, &policy), REEVE_EINVAL);
    assert_string_equal(reeve_worker_error(worker), "type t: backoff: a list needs at least one delay above zero");
    reeve_worker_destroy(worker);
}

/* ---- what else a task says ------------------------------------------------------------------------------------- */

static void it_is_shown(void **state)
{
    (void)state;
    const reeve_backoff list = {.shape = REEVE_BACKOFF_LIST, .list_ms = {1000, 10000, 60000}, .jitter = 0.1};
    test_put_spec((reeve_task_spec){.id = "full", .group = "g", .weight = 3, .backoff = &list});
    test_put_spec((reeve_task_spec){.id = "group", .group = "g"});
    put("plain", "t");
    reeve_task_info *full = test_show("q", "full"), *group = test_show("q", "group"), *plain = test_show("q", "plain");
    assert_string_equal(full->backoff, "list:1s,10s,1m~0.1");
    assert_int_equal(full->weight, 3);
    assert_null(group->backoff);
    assert_int_equal(group->weight, 1);
    assert_null(plain->backoff);
    assert_int_equal(plain->weight, 1);
    reeve_task_info_free(full);
    reeve_task_info_free(group);
    reeve_task_info_free(plain);
}

static void given_back_it_uses_no_attempt(void **state)
{
    (void)state;
    backs = 0;
    reeve_worker *worker = worker_run();
    test_put_spec((reeve_task_spec){.id = "x", .type = "gives-back", .attempts = 1});
    TEST_AWAIT_STATE("x", "completed");
    test_worker_end(worker);
    assert_int_equal(backs, 4);
}

/* A plain task's lock goes with its completion, by a worker or by the keeper. */
static void a_lock_is_released(void **state)
{
    (void)state;
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &(reeve_keep){0, 0}}));
    assert_string_equal(test_cmd(test_conn, "SET " Q "unique:k x"), "OK");
    (void)test_cmd(test_conn, "HSET " Q "tasks x %s", "{\"at\":1,\"type\":\"t\",\"unique\":\"k\"}\n");
    (void)test_cmd(test_conn, "ZADD " Q "ready 1 x");
    reeve_worker *worker = worker_run();
    TEST_AWAIT(test_number("EXISTS " Q "unique:k") == 0);
    TEST_AWAIT(test_number("HLEN " Q "tasks") == 0);
    test_worker_end(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(how_long_it_waits, set_up),
        cmocka_unit_test_setup(how_often_it_is_tried, set_up),
        cmocka_unit_test_setup(how_long_it_is_retried, set_up),
        cmocka_unit_test_setup(it_is_retried_until_it_fails_late, set_up),
        cmocka_unit_test_setup(how_long_it_may_run, set_up),
        cmocka_unit_test_setup(how_many_workers_it_may_take_down, set_up),
        cmocka_unit_test_setup(from_the_next_failure_on, set_up),
        cmocka_unit_test_setup(with_the_session, set_up),
        cmocka_unit_test_setup(it_is_set_left_and_forgotten, set_up),
        cmocka_unit_test_setup(handlers_are_checked, set_up),
        cmocka_unit_test_setup(it_is_shown, set_up),
        cmocka_unit_test_setup(given_back_it_uses_no_attempt, set_up),
        cmocka_unit_test_setup(a_lock_is_released, set_up),
    };
    return cmocka_run_group_tests_name("ct_policy", tests, test_place_start, test_place_stop);
}
