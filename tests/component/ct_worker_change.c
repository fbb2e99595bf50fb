/* Pools, threads and queues of a worker that change while it runs, quiet and resume, and requests through Redis. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/worker.h"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

static void must(reeve_worker *worker, reeve_status status)
{
    if (status != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
}

/* The pool of test_worker_pool has no name of its own. */
#define POOL "pool-1"

/* The one worker, as Redis has it. False: not as expected (threads: of all pools; queues: of the first pool). */
static bool is_shown(unsigned threads, const char *state, const char *pools)
{
    reeve_worker_info *list;
    size_t count;
    test_ok(test_client, reeve_workers(test_client, &list, &count));
    bool shown = count == 1 && list[0].threads == threads && strcmp(list[0].state, state) == 0 &&
                 strstr(list[0].pools, pools) != NULL;
    reeve_workers_free(list, count);
    return shown;
}

/* ---- threads --------------------------------------------------------------------------------------------------- */

static void more_threads_run_more_tasks(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(2, 1);
    for (int i = 0; i < 8; i++) test_put_spec((reeve_task_spec){.type = "hold"});
    TEST_AWAIT(test_begun == 2);
    must(worker, reeve_worker_set_threads(worker, POOL, 8, 8));
    TEST_AWAIT(test_begun == 8);
    assert_int_equal(test_worker_stats(worker).threads, 8);
    TEST_AWAIT(is_shown(8, "running", "\"threads\":8"));
    test_open_gate();
    TEST_AWAIT(test_count("q", "completed") == 8);
    test_worker_end(worker);
}

/* Running handlers are not told to stop; those that are too many take nothing more. */
static void fewer_threads_let_their_tasks_end(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(4, 1);
    for (int i = 0; i < 4; i++) test_put_spec((reeve_task_spec){.type = "hold"});
    TEST_AWAIT(test_begun == 4);
    must(worker, reeve_worker_set_threads(worker, POOL, 1, 1));
    for (int i = 0; i < 4; i++) test_put_spec((reeve_task_spec){.type = "stubborn"});
    TEST_AWAIT(is_shown(1, "running", "\"threads\":1"));
    assert_int_equal(test_announced, 0);
    assert_int_equal(test_count("q", "running"), 4);
    test_open_gate();
    TEST_AWAIT(test_count("q", "completed") == 8);
    assert_int_equal(test_announced, 0);
    assert_int_equal(test_worker_stats(worker).given_back, 0);
    TEST_AWAIT(test_threads_are_idle(1));
    test_worker_end(worker);
}

/* One that retires and is needed again goes on. */
static void a_thread_that_retires_may_stay(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(3, 1);
    for (int i = 0; i < 3; i++) test_put_spec((reeve_task_spec){.type = "hold"});
    TEST_AWAIT(test_begun == 3);
    must(worker, reeve_worker_set_threads(worker, POOL, 1, 1));
    must(worker, reeve_worker_set_threads(worker, POOL, 3, 3));
    test_open_gate();
    TEST_AWAIT(test_count("q", "completed") == 3);
    TEST_AWAIT(test_threads_are_idle(3));
    test_worker_end(worker);
}

static void numbers_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 1);
    assert_int_equal(reeve_worker_set_threads(worker, POOL, 0, 0), REEVE_EINVAL);
    assert_int_equal(reeve_worker_set_threads(worker, POOL, 1025, 1025), REEVE_EINVAL);
    assert_int_equal(reeve_worker_set_threads(worker, POOL, 3, 2), REEVE_EINVAL);
    assert_int_equal(reeve_worker_set_threads(worker, "none", 1, 1), REEVE_ENOTFOUND);
    assert_non_null(strstr(reeve_worker_error(worker), "no pool \"none\""));
    assert_int_equal(reeve_worker_remove_pool(worker, POOL), REEVE_EINVAL); /* the last one */
    assert_int_equal(reeve_worker_remove_queue(worker, POOL, "q"), REEVE_EINVAL);
    assert_int_equal(reeve_worker_remove_queue(worker, POOL, "p"), REEVE_ENOTFOUND);
    assert_int_equal(reeve_worker_add_queue(worker, POOL, "q", 0), REEVE_EDUPLICATE);
    assert_int_equal(reeve_worker_add_queue(worker, POOL, "{q}", 0), REEVE_EINVAL);
    test_worker_end(worker);
}

/* ---- pools and queues ------------------------------------------------------------------------------------------ */

static void pools_come_and_go(void **state)
{
    (void)state;
    const char *const queues[] = {"r"};
    reeve_pool_options options = {.name = "more", .queues = queues, .queue_count = 1, .threads = 2, .batch = 1};
    reeve_worker *worker = test_worker_run(1, 1);
    must(worker, reeve_worker_add_pool(worker, &options));
    assert_int_equal(reeve_worker_add_pool(worker, &options), REEVE_EDUPLICATE);
    test_put("r", "a b c");
    TEST_AWAIT(test_count("r", "completed") == 3);
    test_put_spec((reeve_task_spec){.queue = "r", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    must(worker, reeve_worker_remove_pool(worker, "more"));
    TEST_AWAIT(is_shown(1, "running", "\"queues\":[\"q\"]}]"));
    assert_int_equal(test_number("ZCARD reeve:{r}:sessions"), 1); /* its task runs */
    test_open_gate();
    TEST_AWAIT(test_count("r", "completed") == 4);
    TEST_AWAIT(test_number("ZCARD reeve:{r}:sessions") == 0); /* and has ended */
    test_put("r", "d");
    must(worker, reeve_worker_add_pool(worker, &options)); /* it takes the place that it had */
    TEST_AWAIT(test_count("r", "completed") == 5);
    test_worker_end(worker);
}

/* The new pool takes the place of the old one thread by thread: never more than one runs. */
static void a_pool_of_one_thread_stays_one(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 1);
    test_put_spec((reeve_task_spec){.type = "hold"});
    TEST_AWAIT(test_begun == 1);
    must(worker, reeve_worker_add_queue(worker, POOL, "r", 0));
    test_put_spec((reeve_task_spec){.queue = "r", .type = "hold"});
    TEST_AWAIT(is_shown(1, "running", "[\"q\",\"r\"]"));
    assert_int_equal(test_begun, 1);
    assert_int_equal(test_count("r", "ready"), 1);
    test_open_gate();
    TEST_AWAIT(test_count("r", "completed") == 1);
    must(worker, reeve_worker_remove_queue(worker, POOL, "q"));
    TEST_AWAIT(test_number("ZCARD reeve:{q}:sessions") == 0);
    TEST_AWAIT(is_shown(1, "running", "\"queues\":[\"r\"]}]"));
    test_put("r", "a");
    TEST_AWAIT(test_count("r", "completed") == 2);
    test_worker_end(worker);
}

/* ---- quiet and resume ------------------------------------------------------------------------------------------ */

static void a_quiet_worker_resumes(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(2, 1);
    assert_int_equal(reeve_worker_resume(worker), REEVE_OK);
    for (unsigned round = 1; round <= 3; round++) {
        reeve_worker_quiet(worker);
        TEST_AWAIT(is_shown(2, "quiet", "q"));
        TEST_AWAIT(test_number("LLEN reeve:{q}:idle") == 0);
        test_put("q", "a");
        assert_int_equal(test_count("q", "ready"), 1);
        must(worker, reeve_worker_resume(worker));
        TEST_AWAIT(test_count("q", "completed") == 1);
        (void)test_cmd(test_conn, "DEL reeve:{q}:completed reeve:{q}:tasks");
    }
    assert_int_equal(reeve_worker_stop(worker, 5000), REEVE_OK);
    assert_int_equal(reeve_worker_resume(worker), REEVE_ESTATE);
    reeve_worker_destroy(worker);
}

/* ---- everything at once ---------------------------------------------------------------------------------------- */

enum { TASKS = 4000 };

static void *put_tasks(void *argument)
{
    reeve_client *client = argument;
    for (int i = 0; i < TASKS; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%d", i);
        const reeve_task_spec spec = {.queue = i % 2 == 0 ? "q" : "r", .type = "t", .id = id};
        TEST_MUST(reeve_enqueue(client, &spec, NULL) == REEVE_OK);
    }
    return NULL;
}

static void change(reeve_worker *worker, unsigned round)
{
    static const unsigned threads[] = {8, 2, 5, 1, 3};
    unsigned n = threads[round % 5];
    must(worker, reeve_worker_set_threads(worker, POOL, n, n));
    if (round % 4 == 0) must(worker, reeve_worker_add_queue(worker, POOL, "r", 0));
    if (round % 4 == 2) must(worker, reeve_worker_remove_queue(worker, POOL, "r"));
    if (round % 7 == 3) reeve_worker_quiet(worker);
    if (round % 7 == 4) must(worker, reeve_worker_resume(worker));
}

/* A hundred rounds of changes under load: each task runs once, and no outcome is refused. */
static void changes_under_load_lose_nothing(void **state)
{
    (void)state;
    pthread_t puts;
    reeve_client *client = test_client_open(10000);
    reeve_worker *worker = test_worker_run(2, 16);
    const char *const queues[] = {"r"};
    reeve_pool_options other = {.name = "other", .queues = queues, .queue_count = 1, .threads = 2};
    assert_int_equal(pthread_create(&puts, NULL, put_tasks, client), 0);
    for (unsigned round = 0; round < 100; round++) {
        change(worker, round);
        if (round % 6 == 1) must(worker, reeve_worker_add_pool(worker, &other));
        if (round % 6 == 4) must(worker, reeve_worker_remove_pool(worker, "other"));
        test_pause();
    }
    must(worker, reeve_worker_resume(worker));
    (void)pthread_join(puts, NULL);
    reeve_client_close(client);
    TEST_AWAIT(test_count("q", "completed") == TASKS / 2);
    other.name = "last";
    must(worker, reeve_worker_add_pool(worker, &other));
    TEST_AWAIT(test_count("r", "completed") == TASKS / 2);
    test_worker_end_after(worker, TASKS);
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

static reeve_answer ask(const reeve_worker *worker, const char *request)
{
    const char *id = reeve_worker_id(worker);
    reeve_answer answer;
    test_ok(test_client, reeve_ask_workers(test_client, &id, 1, request, 10000, &answer));
    return answer;
}

static bool says(reeve_answer answer, bool done, const char *text)
{
    if (answer.answered && answer.done == done && strstr(answer.text, text) != NULL) return true;
    (void)fprintf(stderr, "%s %s: %s\n", answer.answered ? "answered" : "no answer", answer.done ? "done" : "not done",
                  answer.text);
    return false;
}

static void requests_are_answered(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 1);
    TEST_AWAIT(ask(worker, "resume").answered);
    assert_true(says(ask(worker, "threads " POOL " 3 3"), true, ""));
    TEST_AWAIT(is_shown(3, "running", "\"threads\":3"));
    assert_true(says(ask(worker, "add-queue " POOL " r"), true, ""));
    TEST_AWAIT(is_shown(3, "running", "[\"q\",\"r\"]"));
    assert_true(says(ask(worker, "quiet"), true, ""));
    TEST_AWAIT(is_shown(3, "quiet", "q"));
    assert_true(says(ask(worker, "resume"), true, ""));
    assert_true(says(ask(worker, "remove-queue " POOL " z"), false, "does not serve queue z"));
    assert_true(says(ask(worker, "threads " POOL), false, "two numbers"));
    assert_true(says(ask(worker, "threads none 1 1"), false, "no pool"));
    assert_true(says(ask(worker, "dance"), false, "does not know the request \"dance\""));
    assert_true(says(ask(worker, "stop"), false, "does not carry out"));
    assert_true(says(ask(worker, "log-level loud"), false, "debug, info"));
    test_worker_end(worker);
}

/* What is no request is ignored, and disturbs nothing. */
static void malformed_messages_are_ignored(void **state)
{
    (void)state;
    static const char *const messages[] = {
        "ask",      "ask ",          "ask x",         "ask x ", "ask * quiet",
        "ask \n a", "ask x\ty",      "asking for it", "",       "ask ask ask ask ask",
        "%s%s%n",   "ask a threads", "ask \xff\xfe x"};
    char command[256];
    reeve_worker *worker = test_worker_run(1, 1);
    TEST_AWAIT(ask(worker, "resume").answered);
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        (void)snprintf(command, sizeof(command), "reeve:alive:%s", reeve_worker_id(worker));
        rv_cmd(test_conn, 3);
        rv_args(test_conn, "PUBLISH");
        rv_args(test_conn, command);
        rv_args(test_conn, messages[i]);
        const rv_reply *reply;
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    }
    assert_true(says(ask(worker, "resume"), true, ""));
    assert_true(is_shown(1, "running", "q"));
    test_worker_end(worker);
}

static void who_does_not_listen_gives_no_answer(void **state)
{
    (void)state;
    const char *const ids[] = {"0123456789abcdef"};
    reeve_answer answer;
    test_ok(test_client, reeve_ask_workers(test_client, ids, 1, "quiet", 10000, &answer)); /* at once */
    assert_false(answer.answered);
    assert_non_null(strstr(answer.text, "does not listen"));
    assert_int_equal(reeve_ask_workers(test_client, ids, 1, "", 10, &answer), REEVE_EINVAL);
    assert_int_equal(reeve_ask_workers(test_client, ids, 1, "a\nb", 10, &answer), REEVE_EINVAL);
}

static atomic_uint requested;

static bool on_request(void *user, const char *id, const char *request)
{
    reeve_worker **worker = user;
    if (strcmp(request, "reload") != 0) return false;
    requested++;
    TEST_MUST(reeve_worker_answer(*worker, id, true, "read again") == REEVE_OK);
    return true;
}

static void the_program_answers_what_it_does(void **state)
{
    (void)state;
    reeve_worker *worker = NULL;
    reeve_worker_options options = {.on_request = on_request, .on_request_user = &worker};
    worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 1, 1);
    test_worker_start(worker);
    TEST_AWAIT(ask(worker, "resume").answered);
    assert_true(says(ask(worker, "reload"), true, "read again"));
    assert_int_equal(requested, 1);
    assert_true(says(ask(worker, "rotate-logs"), false, "does not carry out"));
    test_worker_end(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(more_threads_run_more_tasks, set_up),
        cmocka_unit_test_setup(fewer_threads_let_their_tasks_end, set_up),
        cmocka_unit_test_setup(a_thread_that_retires_may_stay, set_up),
        cmocka_unit_test_setup(numbers_that_make_no_sense_are_refused, set_up),
        cmocka_unit_test_setup(pools_come_and_go, set_up),
        cmocka_unit_test_setup(a_pool_of_one_thread_stays_one, set_up),
        cmocka_unit_test_setup(a_quiet_worker_resumes, set_up),
        cmocka_unit_test_setup(changes_under_load_lose_nothing, set_up),
        cmocka_unit_test_setup(requests_are_answered, set_up),
        cmocka_unit_test_setup(malformed_messages_are_ignored, set_up),
        cmocka_unit_test_setup(who_does_not_listen_gives_no_answer, set_up),
        cmocka_unit_test_setup(the_program_answers_what_it_does, set_up),
    };
    return cmocka_run_group_tests_name("ct_worker_change", tests, test_place_start, test_place_stop);
}
