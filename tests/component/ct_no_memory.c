/* A lack of memory while JSON is parsed: no task runs without its options, and no setting is lost. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "reeve/depend.h"
#include "support/consumer.h"
#include "support/worker.h"

#define Q "reeve:{q}:"

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static atomic_uint every; /* each so many-th allocation of the parser fails; 0: none */
static atomic_uint asked, failed;

static void *allocate(size_t size)
{
    unsigned n = every;
    if (n > 0 && atomic_fetch_add(&asked, 1) % n == n - 1) {
        atomic_fetch_add(&failed, 1);
        errno = ENOMEM;
        return NULL;
    }
    return malloc(size);
}

static int start(void **state)
{
    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = allocate, .free_fn = free});
    return test_place_start(state);
}

static int set_up(void **state)
{
    every = 0;
    test_close_gate();
    return test_place_empty(state);
}

/* ---- handlers -------------------------------------------------------------------------------------------------- */

#define TASKS 400
static atomic_uint runs[TASKS]; /* by the number that a task has as its payload */
static atomic_uint strange;     /* tasks that were not given what they were enqueued with */

static size_t number_of(const reeve_task *task)
{
    return strtoul(reeve_task_payload(task).data, NULL, 10) % TASKS;
}

static bool is_text(const char *text, const char *expected)
{
    return text != NULL && strcmp(text, expected) == 0;
}

/* The kind of the task is the first letter of its id. */
static reeve_outcome act(reeve_task *task)
{
    atomic_fetch_add(&runs[number_of(task)], 1);
    switch (reeve_task_id(task)[0]) {
    case 'g':
        if (!is_text(reeve_task_group(task), "acme") || !is_text(reeve_task_meta(task, "k"), "v"))
            atomic_fetch_add(&strange, 1);
        return reeve_task_done(task, NULL, 0);
    case 't':
        while (!reeve_task_should_stop(task)) test_pause();
        return reeve_task_retry(task, 0, "k", "m");
    case 'u':
        return reeve_task_done(task, NULL, 0);
    default:
        return reeve_task_retry(task, 0, "k", "m");
    }
}

static reeve_outcome run_one(reeve_task *task, void *user)
{
    (void)user;
    return act(task);
}

static void run_many(reeve_task *const *tasks, size_t count, void *user)
{
    (void)user;
    for (size_t i = 0; i < count; i++) (void)act(tasks[i]);
}

static reeve_worker *worker_run(unsigned threads)
{
    const reeve_handler one = {REEVE_HANDLER, .type = "one", .run = run_one};
    const reeve_handler many = {REEVE_HANDLER, .type = "many", .run_batch = run_many, .batch_size = 4};
    const reeve_worker_options options = {.session_ms = 2000};
    reeve_worker *worker = test_worker_new(&options);
    assert_int_equal(reeve_worker_register(worker, &one), REEVE_OK);
    assert_int_equal(reeve_worker_register(worker, &many), REEVE_OK);
    test_worker_pool(worker, "q", threads, 8);
    test_worker_start(worker);
    for (size_t i = 0; i < TASKS; i++) runs[i] = 0;
    strange = failed = asked = 0;
    return worker;
}

/* ---- tasks ----------------------------------------------------------------------------------------------------- */

/* One of each kind: with a unique key, at most once, with one attempt, a time limit, and what its handler reads. */
static const char kinds[] = "uoatg";
#define KINDS (sizeof(kinds) - 1)

static void name(char ret[32], size_t n)
{
    (void)snprintf(ret, 32, "%c%zu", kinds[n % KINDS], n);
}

static void put(size_t n, const char *type)
{
    static const reeve_meta meta[] = {{"k", "v"}};
    char id[32], key[32], number[32];
    name(id, n);
    (void)snprintf(key, sizeof(key), "key%zu", n);
    (void)snprintf(number, sizeof(number), "%zu", n);
    reeve_task_spec spec = {.id = id, .type = type, .payload = {number, strlen(number)}};
    switch (id[0]) {
    case 'u':
        spec.unique = key;
        break;
    case 'o':
        spec.at_most_once = true;
        break;
    case 'a':
        spec.attempts = 1;
        break;
    case 't':
        spec.attempts = 1;
        spec.timeout_ms = 50;
        break;
    default:
        spec.group = "acme";
        spec.meta = meta;
        spec.meta_count = 1;
        break;
    }
    test_put_spec(spec);
}

static void expect_all_ended(size_t count)
{
    TEST_AWAIT(test_number("ZCARD " Q "completed") + test_number("ZCARD " Q "dead") == (long long)count);
    for (size_t n = 0; n < count; n++) {
        char id[32];
        name(id, n);
        bool dies = id[0] == 'a' || id[0] == 't';
        assert_int_equal(test_number("ZCARD " Q "running"), 0);
        assert_string_equal(test_state("q", id), dies ? "dead" : "completed");
        assert_int_equal(runs[n], 1);
        assert_int_equal(test_number("EXISTS " Q "unique:key%zu", n), 0);
    }
    assert_int_equal(strange, 0);
}

/* ---- tests ----------------------------------------------------------------------------------------------------- */

static void it_waits_until_there_is_memory(const char *type)
{
    reeve_worker *worker = worker_run(2);
    every = 1;
    for (size_t n = 0; n < KINDS; n++) put(n, type);
    TEST_AWAIT(test_number("ZCARD " Q "scheduled") == KINDS);
    for (size_t n = 0; n < KINDS; n++) assert_int_equal(runs[n], 0);
    every = 0;
    expect_all_ended(KINDS);
    test_worker_end(worker);
}

static void a_task_waits_until_there_is_memory(void **state)
{
    (void)state;
    it_waits_until_there_is_memory("one");
}

static void a_task_of_a_batch_handler_waits_until_there_is_memory(void **state)
{
    (void)state;
    it_waits_until_there_is_memory("many");
}

/* Any single allocation, of any task: the numbers have no common divisor with those of a header. */
static void wherever_it_fails_options_hold(void **state)
{
    (void)state;
    reeve_worker *worker = worker_run(4);
    every = 31;
    for (size_t n = 0; n < TASKS; n++) put(n, n % 3 == 0 ? "many" : "one");
    TEST_AWAIT(test_number("ZCARD " Q "completed") + test_number("ZCARD " Q "dead") > TASKS / 2);
    every = 0;
    expect_all_ended(TASKS);
    assert_true(failed > 10);
    test_worker_end(worker);
}

static void a_queues_policy_holds_although_it_could_not_be_read(void **state)
{
    (void)state;
    const reeve_queue_policy policy = {.attempts = 1};
    const reeve_queue_settings settings = {.policy = &policy};
    test_ok(test_client, reeve_queue_set(test_client, "q", &settings));
    every = 1;
    reeve_worker *worker = worker_run(1);
    test_put_spec((reeve_task_spec){.id = "x", .type = "one", .payload = {"7", 1}});
    TEST_AWAIT(test_number("ZCARD " Q "scheduled") == 1);
    assert_int_equal(runs[7], 0);
    every = 0;
    TEST_AWAIT(test_number("ZCARD " Q "dead") == 1);
    assert_int_equal(runs[7], 1);
    test_worker_end(worker);
}

static void a_consumer_gets_a_task_when_there_is_memory(void **state)
{
    (void)state;
    static const reeve_meta meta[] = {{"k", "v"}};
    reeve_consumer *c = test_consumer_open("q", NULL);
    test_put_spec((reeve_task_spec){.id = "a", .type = "one", .group = "acme", .meta = meta, .meta_count = 1});
    every = 1;
    assert_string_equal(test_pull(c, 8, false), "");
    assert_int_equal(test_number("ZCARD " Q "scheduled"), 1);
    every = 0;
    test_ok(test_client, reeve_reschedule(test_client, "q", "a", 0));
    assert_string_equal(test_pull(c, 8, true), "a");
    every = 1;
    assert_string_equal(reeve_task_group(test_pulled[0]), "acme");
    assert_string_equal(reeve_task_meta(test_pulled[0], "k"), "v");
    test_good(c, test_settle_done(c, 0, ""));
    test_good(c, reeve_consumer_close(c));
    every = 0;
}

/* A program that reads the settings to write them changed must not lose what it could not read. */
static void settings_are_read_in_full_or_not_at_all(void **state)
{
    (void)state;
    const reeve_queue_policy policy = {.attempts = 3, .timeout_ms = 5000};
    const reeve_queue_settings settings = {.policy = &policy};
    reeve_queue_settings *read;
    test_ok(test_client, reeve_queue_set(test_client, "q", &settings));
    reeve_status status = REEVE_ENOMEM;
    for (unsigned n = 1; status == REEVE_ENOMEM; n++) {
        asked = 0;
        every = n;
        status = reeve_queue_settings_get(test_client, "q", &read);
        every = 0;
        assert_true(status == REEVE_OK || status == REEVE_ENOMEM);
        assert_true(n > 3 || status == REEVE_ENOMEM);
    }
    assert_int_equal(read->policy->attempts, 3);
    assert_int_equal(read->policy->timeout_ms, 5000);
    reeve_queue_settings_free(read);
}

/* What a client shows of a task has all of its options, or it says that there is no memory. */
static void a_task_is_shown_in_full_or_not_at_all(void **state)
{
    (void)state;
    reeve_task_info *info;
    put(4, "one");
    reeve_status status = REEVE_ENOMEM;
    for (unsigned n = 1; status == REEVE_ENOMEM; n++) {
        asked = 0;
        every = n;
        status = reeve_show(test_client, "q", "g4", &info);
        every = 0;
        assert_true(status == REEVE_OK || status == REEVE_ENOMEM);
        assert_true(n > 3 || status == REEVE_ENOMEM);
    }
    assert_string_equal(info->group, "acme");
    assert_string_equal(info->meta, "{\"k\":\"v\"}");
    reeve_task_info_free(info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_task_waits_until_there_is_memory, set_up),
        cmocka_unit_test_setup(a_task_of_a_batch_handler_waits_until_there_is_memory, set_up),
        cmocka_unit_test_setup(wherever_it_fails_options_hold, set_up),
        cmocka_unit_test_setup(a_queues_policy_holds_although_it_could_not_be_read, set_up),
        cmocka_unit_test_setup(a_consumer_gets_a_task_when_there_is_memory, set_up),
        cmocka_unit_test_setup(settings_are_read_in_full_or_not_at_all, set_up),
        cmocka_unit_test_setup(a_task_is_shown_in_full_or_not_at_all, set_up),
    };
    return cmocka_run_group_tests(tests, start, test_place_stop);
}
