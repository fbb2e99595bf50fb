/* What a program may do wrong with a worker or a client, and is told instead of hanging or crashing. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "redis/embedded_dir.h"
#include "reeve/depend.h"
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
    test_ok(test_client, reeve_batch_open(test_client, &batch, &callback, NULL));
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

/* What a forked child does with a client that its parent has opened: it is told, and closes it. Returns 0 when all is so. */
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
    if (reeve_client_open_or_say(&client, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_handler_cannot_stop_its_worker, set_up),
        cmocka_unit_test_setup(arrays_that_are_not_there, set_up),
        cmocka_unit_test_setup(forked_children_have_an_identity_each, set_up),
        cmocka_unit_test_setup(a_forked_child_does_not_use_its_parents_client, set_up),
        cmocka_unit_test_setup(the_directory_of_an_embedded_server_becomes_private, set_up),
    };
    return cmocka_run_group_tests_name("ct_misuse", tests, test_place_start, test_place_stop);
}
