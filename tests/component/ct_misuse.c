/* What a program may do wrong with a worker or a client, and is told instead of hanging or crashing. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "redis/embedded_dir.h"
#include "reeve/depend.h"
#include "reeve/layer.h"
#include "reeve/plugin.h"
#include "reeve/testing.h"
#include "reeve/watch.h"
#include "support/dirs.h"
#include "support/worker.h"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

static reeve_worker *victim;
static atomic_int answer;

static reeve_outcome stop_it(reeve_task *task, void *user)
{
    (void)user;
    reeve_worker_destroy(victim);
    atomic_store(&answer, (int)reeve_worker_stop(victim, 1000));
    return reeve_task_done(task, NULL, 0);
}

static void a_handler_cannot_stop_its_worker(void **state)
{
    (void)state;
    victim = test_worker_new(NULL);
    atomic_store(&answer, -1);
    assert_int_equal(reeve_worker_handle(victim, "stops", stop_it, NULL), REEVE_OK);
    test_worker_pool(victim, "q", 1, 0);
    test_worker_start(victim);
    test_put_spec((reeve_task_spec){.id = "x", .type = "stops"});
    TEST_AWAIT_STATE("x", "completed");
    assert_int_equal(atomic_load(&answer), REEVE_ESTATE);
    test_worker_end(victim);
}

static void arrays_that_are_not_there(void **state)
{
    (void)state;
    char id[REEVE_ID_MAX];
    reeve_batch batch;
    reeve_enqueued results[2];
    const reeve_task_spec callback = {.queue = "q", .type = "t"};
    const reeve_task_spec tags = {.queue = "q", .type = "t", .tag_count = 2};
    const reeve_task_spec meta = {.queue = "q", .type = "t", .meta_count = 2};
    test_refused(test_client, reeve_enqueue(test_client, &tags, id), REEVE_EINVAL, "the list of tags is NULL");
    test_refused(test_client, reeve_enqueue(test_client, &meta, id), REEVE_EINVAL, "the list of metadata is NULL");
    test_ok(test_client, reeve_batch_open(test_client, &batch, &(reeve_batch_callbacks){.complete = &callback}));
    test_refused(test_client, reeve_batch_add(test_client, &batch, NULL, 2, results), REEVE_EINVAL, "no tasks");
    test_refused(test_client, reeve_batch_add(test_client, &batch, &callback, 1, NULL), REEVE_EINVAL, "no room");
    test_refused(test_client, reeve_batch_add_tasks(test_client, &batch, NULL, 2), REEVE_EINVAL, "no handles");
}

/* Each child says which identity its worker has. */
static void tell_identity(reeve_worker *worker, int to)
{
    bool good = reeve_worker_start(worker) == REEVE_OK && write(to, reeve_worker_id(worker), 16) == 16;
    (void)reeve_worker_stop(worker, 0);
    reeve_worker_destroy(worker);
    _exit(good ? 0 : 1);
}

static void forked_children_have_an_identity_each(void **state)
{
    (void)state;
    int pipes[2], status;
    char ids[3][17] = {"", "", ""};
    assert_int_equal(pipe(pipes), 0);
    reeve_worker *worker = test_worker_new(NULL);
    test_worker_pool(worker, "q", 1, 0);
    memcpy(ids[2], reeve_worker_id(worker), 16);
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) tell_identity(worker, pipes[1]);
        assert_int_equal(read(pipes[0], ids[i], 16), 16);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    assert_string_not_equal(ids[0], ids[1]);
    assert_string_not_equal(ids[0], ids[2]);
    assert_string_not_equal(ids[1], ids[2]);
    reeve_worker_destroy(worker);
    close(pipes[0]);
    close(pipes[1]);
}

/* What a forked child does with a client that its parent has opened: it is told, and closes it. Returns 0 when all is
 * so. */
static int use_inherited(reeve_client *client, reeve_watch *watch)
{
    const reeve_task_spec spec = {.queue = "q", .id = "childs", .type = "t"};
    const reeve_event *event;
    if (reeve_enqueue(client, &spec, NULL) != REEVE_EINVAL) return 1;
    if (strstr(reeve_client_error(client), "before a fork") == NULL) return 2;
    if (reeve_wait(client, "q", "parents", 1, NULL) != REEVE_EINVAL) return 3;
    if (reeve_watch_next(watch, 1, &event) != REEVE_EINVAL) return 4;
    reeve_client_interrupt(client);
    reeve_watch_close(watch);
    reeve_client_close(client);
    return 0;
}

static void used_by_a_child(const char *url)
{
    int status;
    reeve_client *client;
    reeve_watch *watch;
    char words[512] = "";
    const reeve_client_options options = {.redis = url, .timeout_ms = 60000};
    if (reeve_client_open_with_error(&client, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    test_ok(client, reeve_watch_open(&watch, client, &(reeve_watch_options){.queue = "q"}));
    const reeve_event *event;
    assert_int_equal(reeve_watch_next(watch, 1, &event), REEVE_ETIMEOUT);
    pid_t child = fork();
    if (child == 0) _exit(use_inherited(client, watch));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    /* The parent's connections, and its embedded server, are as they were. */
    const reeve_task_spec spec = {.queue = "q", .id = "parents", .type = "t"};
    test_ok(client, reeve_enqueue(client, &spec, NULL));
    test_ok(client, reeve_watch_next(watch, 60000, &event));
    assert_string_equal(event->id, "parents");
    assert_int_equal(reeve_wait(client, "q", "parents", 1, NULL), REEVE_ETIMEOUT);
    reeve_watch_close(watch);
    reeve_client_close(client);
}

static void a_forked_child_does_not_use_its_parents_client(void **state)
{
    (void)state;
    char url[512];
    used_by_a_child(test_redis_url(test_redis));
    (void)snprintf(url, sizeof(url), "embedded:%s", test_dir());
    used_by_a_child(url);
}

static void the_directory_of_an_embedded_server_becomes_private(void **state)
{
    (void)state;
    struct stat about;
    rv_error error = {0};
    rv_embedded_dir dir;
    const char *place = test_dir();
    assert_int_equal(chmod(place, 0755), 0);
    assert_int_equal(rv_embedded_dir_open(&dir, place, &error), REEVE_OK);
    rv_embedded_dir_close(&dir);
    assert_int_equal(stat(place, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    assert_int_equal(chmod(place, 0777), 0);
    assert_int_equal(rv_embedded_dir_open(&dir, place, &error), REEVE_ESYSTEM);
    assert_non_null(strstr(error.text, "can be written by others"));
    assert_int_equal(chmod(place, 0700), 0);
}

/* ---- processes and threads ------------------------------------------------------------------------------------- */

#define CHILD_S 30 /* a child that hangs is killed then, and the test fails */

static pid_t end_of(pid_t child)
{
    int status = -1;
    TEST_MUST(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A child has lost the memory of its parent's threads: under valgrind that is what it ends with (scripts/check). */
#define VALGRIND_LEAK 99

static void expect_end(int ended, int expected)
{
    if (ended != VALGRIND_LEAK) assert_int_equal(ended, expected);
}

static atomic_int child_end;

/* The child returns from the handler, or the layer, as its parent does. */
static bool fork_once(void)
{
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(CHILD_S);
        return false;
    }
    atomic_store(&child_end, end_of(child));
    return true;
}

static reeve_outcome return_twice(reeve_task *task, void *user)
{
    (void)user;
    return fork_once() ? reeve_task_done(task, "parent", 6) : reeve_task_done(task, "child", 5);
}

static void return_many_twice(reeve_task *const *tasks, size_t count, void *user)
{
    for (size_t i = 0; i < count; i++) (void)return_twice(tasks[i], user);
}

static reeve_outcome layer_twice(reeve_task *task, reeve_next *next, void *user)
{
    (void)user;
    return fork_once() ? reeve_next_run(next, task) : reeve_task_fail(task, "child", NULL);
}

static void a_child_that_returns_ends(const char *id, const reeve_handler *handler, const reeve_layer *layer)
{
    reeve_worker *worker = test_worker_new(NULL);
    atomic_store(&child_end, -1);
    assert_int_equal(reeve_worker_register(worker, handler), REEVE_OK);
    if (layer != NULL) assert_int_equal(reeve_worker_add_layer(worker, layer), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_put_spec((reeve_task_spec){.id = id, .type = handler->type});
    test_worker_start(worker);
    TEST_AWAIT_STATE(id, "completed");
    expect_end(atomic_load(&child_end), 70);
    /* Its connection and its session are the parent's alone. */
    test_put_spec((reeve_task_spec){.id = "n0", .type = "t"});
    TEST_AWAIT_STATE("n0", "completed");
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
    assert_int_equal(test_worker_stats(worker).completed, 2);
    test_worker_end(worker);
}

static void a_child_that_returns_from_a_handler_ends(void **state)
{
    (void)state;
    a_child_that_returns_ends("one", &(reeve_handler){.type = "forks", .run = return_twice}, NULL);
}

static void a_child_that_returns_from_a_call_of_many_ends(void **state)
{
    (void)state;
    a_child_that_returns_ends("many", &(reeve_handler){.type = "forks", .run_batch = return_many_twice}, NULL);
}

static reeve_outcome end_well(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, NULL, 0);
}

static void a_child_that_returns_from_a_layer_ends(void **state)
{
    (void)state;
    a_child_that_returns_ends("layered", &(reeve_handler){.type = "x", .run = end_well},
                              &(reeve_layer){.name = "forks", .type = "x", .run = layer_twice});
}

/* A program that forks while its worker runs, and ends as it always does. */
static void a_forked_child_cannot_stop_its_parents_worker(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 0);
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(CHILD_S);
        reeve_worker_quiet(worker);
        bool refused = reeve_worker_stop(worker, 1000) == REEVE_ESTATE;
        reeve_worker_destroy(worker);
        _exit(refused ? 0 : 1);
    }
    expect_end(end_of(child), 0);
    test_put_spec((reeve_task_spec){.id = "n0", .type = "t"});
    TEST_AWAIT_STATE("n0", "completed");
    test_worker_end(worker);
}

static reeve_outcome end_thread(reeve_task *task, void *user)
{
    (void)user;
    if (reeve_task_attempt(task) > 1) return reeve_task_done(task, NULL, 0);
    (void)reeve_task_done(task, "not yet", 7);
    pthread_exit(NULL);
}

static void end_thread_of_many(reeve_task *const *tasks, size_t count, void *user)
{
    for (size_t i = 0; i < count; i++) (void)end_thread(tasks[i], user);
}

static atomic_int states, starts;

static int count_state(void *user, void **ret_state)
{
    (void)user;
    if (atomic_fetch_add(&starts, 1) == 0) pthread_exit(NULL);
    atomic_fetch_add(&states, 1);
    *ret_state = NULL;
    return 0;
}

static void uncount_state(void *user, void *thread_state)
{
    (void)user;
    (void)thread_state;
    atomic_fetch_sub(&states, 1);
    pthread_exit(NULL);
}

static void another_thread_takes_the_place(const reeve_handler *handler)
{
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_register(worker, handler), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_put_spec((reeve_task_spec){
        .id = "x", .type = handler->type, .backoff = &(reeve_backoff){.shape = REEVE_BACKOFF_FIXED, .base_ms = 1}});
    test_put_spec((reeve_task_spec){.id = "n0", .type = "t"});
    test_worker_start(worker);
    TEST_AWAIT_STATE("x", "completed");
    TEST_AWAIT_STATE("n0", "completed");
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
    assert_int_equal(test_worker_stats(worker).refused, 0);
    test_worker_end(worker);
}

static void a_handler_that_ends_its_thread_has_failed(void **state)
{
    (void)state;
    reeve_task_info *info;
    another_thread_takes_the_place(&(reeve_handler){.type = "ends", .run = end_thread});
    test_ok(test_client, reeve_show(test_client, "q", "x", &info));
    assert_int_equal(info->failures, 1);
    assert_string_equal(info->error_kind, "handler");
    assert_non_null(strstr(info->error_message, "pthread_exit"));
    reeve_task_info_free(info);
}

static void a_call_of_many_may_end_its_thread(void **state)
{
    (void)state;
    another_thread_takes_the_place(&(reeve_handler){.type = "ends", .run_batch = end_thread_of_many});
}

/* What it asks for is not done, neither in it nor in what the worker does behind it. */
static reeve_outcome cancel_thread(reeve_task *task, void *user)
{
    (void)user;
    (void)pthread_cancel(pthread_self());
    return reeve_task_done(task, NULL, 0);
}

static void a_handler_that_cancels_its_thread_goes_on(void **state)
{
    (void)state;
    another_thread_takes_the_place(&(reeve_handler){.type = "cancels", .run = cancel_thread});
}

/* It lets its thread be cancelled, as a library may for a call that it wants to break off. */
static reeve_outcome cancel_thread_later(reeve_task *task, void *user)
{
    (void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    return cancel_thread(task, user);
}

static void a_handler_that_lets_its_thread_be_cancelled_goes_on(void **state)
{
    (void)state;
    another_thread_takes_the_place(&(reeve_handler){.type = "cancels", .run = cancel_thread_later});
}

static reeve_outcome finish(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, NULL, 0);
}

/* The thread of the pool that comes takes the place of one that a hook ended. */
static void a_pool_is_replaced_though_a_hook_ends_its_threads(void **state)
{
    (void)state;
    atomic_store(&states, 0);
    atomic_store(&starts, 1);
    reeve_worker *worker = test_worker_new(NULL);
    const reeve_handler handler = {
        .type = "hooked", .run = finish, .thread_start = count_state, .thread_stop = uncount_state};
    assert_int_equal(reeve_worker_register(worker, &handler), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.id = "x", .type = "hooked"});
    TEST_AWAIT_STATE("x", "completed");
    const reeve_pool_options other = {
        .name = "pool-1", .queues = (const char *const[]){"q"}, .queue_count = 1, .threads = 1, .batch = 9};
    assert_int_equal(reeve_worker_set_pool(worker, &other), REEVE_OK);
    test_put_spec((reeve_task_spec){.id = "y", .type = "hooked"});
    TEST_AWAIT_STATE("y", "completed");
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
    test_worker_end(worker);
}

static void thread_hooks_may_end_their_thread(void **state)
{
    (void)state;
    atomic_store(&states, 0);
    atomic_store(&starts, 0);
    another_thread_takes_the_place(
        &(reeve_handler){.type = "ends", .run = end_thread, .thread_start = count_state, .thread_stop = uncount_state});
    assert_int_equal(atomic_load(&states), 0);
}

static void *stop_victim(void *unused)
{
    TEST_MUST(reeve_worker_stop(victim, 10000) == REEVE_OK);
    return unused;
}

static void several_threads_may_stop_a_worker(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        pthread_t threads[4];
        victim = test_worker_run(2, 0);
        for (size_t i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, stop_victim, NULL), 0);
        for (size_t i = 0; i < 4; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
        reeve_worker_destroy(victim);
    }
}

static void handles_that_are_not_there(void **state)
{
    (void)state;
    reeve_worker_stats stats = {.leased = 1};
    reeve_worker_get_stats(NULL, &stats);
    assert_int_equal(stats.leased, 0);
    assert_string_equal(reeve_worker_id(NULL), "");
    assert_int_equal(reeve_plugin_open(NULL, "x", NULL, NULL, 0), REEVE_EINVAL);
    reeve_test_report *report = reeve_test_run_plugin(NULL, NULL);
    assert_int_equal(report->status, REEVE_EINVAL);
    reeve_test_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_handler_cannot_stop_its_worker, set_up),
        cmocka_unit_test_setup(arrays_that_are_not_there, set_up),
        cmocka_unit_test_setup(forked_children_have_an_identity_each, set_up),
        cmocka_unit_test_setup(a_forked_child_does_not_use_its_parents_client, set_up),
        cmocka_unit_test_setup(the_directory_of_an_embedded_server_becomes_private, set_up),
        cmocka_unit_test_setup(a_child_that_returns_from_a_handler_ends, set_up),
        cmocka_unit_test_setup(a_child_that_returns_from_a_call_of_many_ends, set_up),
        cmocka_unit_test_setup(a_child_that_returns_from_a_layer_ends, set_up),
        cmocka_unit_test_setup(a_forked_child_cannot_stop_its_parents_worker, set_up),
        cmocka_unit_test_setup(a_handler_that_ends_its_thread_has_failed, set_up),
        cmocka_unit_test_setup(a_call_of_many_may_end_its_thread, set_up),
        cmocka_unit_test_setup(a_pool_is_replaced_though_a_hook_ends_its_threads, set_up),
        cmocka_unit_test_setup(thread_hooks_may_end_their_thread, set_up),
        cmocka_unit_test_setup(a_handler_that_cancels_its_thread_goes_on, set_up),
        cmocka_unit_test_setup(a_handler_that_lets_its_thread_be_cancelled_goes_on, set_up),
        cmocka_unit_test_setup(several_threads_may_stop_a_worker, set_up),
        cmocka_unit_test_setup(handles_that_are_not_there, set_up),
    };
    return cmocka_run_group_tests_name("ct_misuse", tests, test_place_start, test_place_stop);
}
