/* Handlers that ask whether their task is still theirs, and those that are silent for too long. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/worker.h"

#define Q "reeve:{q}:"

static atomic_int heard; /* what the last heartbeat said */

/* Gives signs of life, each of another kind, until the gate opens... */
static reeve_outcome lively(reeve_task *task, void *user)
{
    (void)user;
    atomic_fetch_add(&test_begun, 1);
    for (int i = 0; i < 60; i++) {
        usleep(40000);
        reeve_status status = i % 4 == 0   ? reeve_task_heartbeat(task)
                              : i % 4 == 1 ? reeve_task_progress(task, i, NULL)
                              : i % 4 == 2 ? reeve_task_checkpoint(task, "c", 1)
                                           : reeve_task_log(task, "at %d", i);
        TEST_MUST(status == REEVE_OK);
    }
    return reeve_task_done(task, NULL, 0);
}

/* ... until it is refused. */
static reeve_outcome asking(reeve_task *task, void *user)
{
    (void)user;
    atomic_fetch_add(&test_begun, 1);
    for (;;) {
        reeve_status status = reeve_task_heartbeat(task);
        atomic_store(&heard, (int)status);
        if (status == REEVE_EREFUSED) break;
        test_pause();
    }
    TEST_MUST(reeve_task_should_stop(task));
    TEST_MUST(!reeve_task_is_cancelled(task));
    return reeve_task_done(task, NULL, 0);
}

static int set_up(void **state)
{
    test_close_gate();
    atomic_store(&heard, -1);
    return test_place_empty(state);
}

static reeve_worker *start(void)
{
    reeve_worker *worker = test_worker_new(NULL);
    const reeve_handler handler = {REEVE_HANDLER, .type = "lively", .run = lively, .heartbeat_ms = 2000};
    assert_int_equal(reeve_worker_register(worker, &handler), REEVE_OK);
    assert_int_equal(reeve_worker_handle(worker, "asking", asking, NULL), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    return worker;
}

static void a_lost_lease_is_told(void **state)
{
    (void)state;
    reeve_worker *worker = start();
    test_put_spec((reeve_task_spec){.id = "x", .type = "asking"});
    TEST_AWAIT(heard == REEVE_OK);
    reeve_task_info *info = test_show("q", "x");
    (void)test_cmd(test_conn, "HDEL " Q "running:%s x", info->session);
    reeve_task_info_free(info);
    TEST_AWAIT(heard == REEVE_EREFUSED);
    test_worker_end(worker);
}

static void signs_of_life(void **state)
{
    (void)state;
    reeve_worker *worker = start();
    test_put_spec((reeve_task_spec){.id = "x", .type = "lively"});
    TEST_AWAIT_STATE("x", "completed");
    assert_int_equal(test_begun, 1);
    test_worker_end(worker);
}

static void silence(void **state)
{
    (void)state;
    reeve_worker *worker = start();
    test_put_spec((reeve_task_spec){.id = "x", .type = "hold", .heartbeat_ms = 60, .timeout_ms = 60000, .attempts = 1});
    TEST_AWAIT_STATE("x", "dead");
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->heartbeat_ms, 60);
    assert_string_equal(info->error_kind, "silent");
    assert_string_equal(info->error_message, "silent for 60 ms");
    assert_int_equal(info->failures, 1);
    reeve_task_info_free(info);
    TEST_AWAIT(test_announced == 1);
    /* The run time limit holds as before. */
    test_put_spec((reeve_task_spec){.id = "y", .type = "hold", .heartbeat_ms = 60000, .timeout_ms = 60, .attempts = 1});
    TEST_AWAIT_STATE("y", "dead");
    info = test_show("q", "y");
    assert_string_equal(info->error_message, "not done within 60 ms");
    reeve_task_info_free(info);
    test_worker_end(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_lost_lease_is_told, set_up),
        cmocka_unit_test_setup(signs_of_life, set_up),
        cmocka_unit_test_setup(silence, set_up),
    };
    return cmocka_run_group_tests_name("ct_heartbeat", tests, test_place_start, test_place_stop);
}
