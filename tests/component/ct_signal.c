/* Tasks that wait for signals. */
#include <string.h>

#include "reeve/signal.h"
#include "support/clock.h"
#include "support/cmd.h"
#include "support/depend.h"
#include "support/worker.h"

#define Q "reeve:{q}:"

static reeve_status send_to(const char *id, const char *name, const char *data)
{
    return reeve_signal_task(test_client, "q", id, name, (reeve_bytes){data, strlen(data)});
}

static void waits_until_it_comes(void **state)
{
    (void)state;
    test_put_after("q", "a", "f:!approval");
    test_state_is("q", "a", "blocked");
    test_ok(test_client, send_to("a", "approval", "yes"));
    test_state_is("q", "a", "ready");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "info:a signal:approval"), "yes");
    test_refused(test_client, send_to("a", "approval", "no"), REEVE_EEXISTS, "before");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "info:a signal:approval"), "yes");
    test_complete("q", "a");
    assert_int_equal(test_number("EXISTS " Q "parents:a"), 0);
}

static void waits_for_all(void **state)
{
    (void)state;
    test_put("q", "p");
    test_put_after("q", "a", "f:!one f:q/p f:!two");
    test_ok(test_client, send_to("a", "two", ""));
    test_state_is("q", "a", "blocked");
    test_complete("q", "p");
    test_state_is("q", "a", "blocked");
    test_ok(test_client, send_to("a", "one", "x"));
    test_state_is("q", "a", "ready");
    test_put("q", "b");
    test_add_edges("q", "b", "f:!later");
    test_state_is("q", "b", "blocked");
    test_ok(test_client, send_to("b", "later", "x"));
    test_state_is("q", "b", "ready");
    test_no_edges_left("q");
}

static void one_that_does_not_come(void **state)
{
    (void)state;
    const reeve_parent parent = {.handle = "!never"};
    test_clock_run();
    test_put_spec((reeve_task_spec){.id = "a", .after = &parent, .after_count = 1, .expires_in_ms = 1000});
    test_state_is("q", "a", "blocked");
    test_clock_advance(2000);
    test_maintain_all("q");
    test_state_is("q", "a", "dead");
    test_refused(test_client, send_to("a", "never", ""), REEVE_ESTATE, "dead");
}

static void what_is_refused(void **state)
{
    (void)state;
    const reeve_parent bad = {.handle = "!no way"};
    test_put("q", "a");
    test_put_after("q", "b", "f:!one");
    test_refused(test_client, send_to("a", "one", ""), REEVE_ESTATE, "q/a does not wait for the signal one");
    test_refused(test_client, send_to("b", "other", ""), REEVE_ESTATE, "does not wait for the signal other");
    test_refused(test_client, send_to("c", "one", ""), REEVE_ENOTFOUND, "q/c");
    test_refused(test_client, send_to("b", "", ""), REEVE_EINVAL, "no name of a signal");
    test_refused(test_client, send_to("b", "a b", ""), REEVE_EINVAL, "a b");
    test_refused(test_client, reeve_add_dependency(test_client, "q", "a", &bad, 1), REEVE_EINVAL, "a signal");
    assert_int_equal(reeve_signal_task(NULL, "q", "b", "one", (reeve_bytes){NULL, 0}), REEVE_EINVAL);
    test_complete("q", "a");
    test_refused(test_client, send_to("a", "one", ""), REEVE_ESTATE, "completed");
    test_state_is("q", "b", "blocked");
}

/* ---- in a handler ---------------------------------------------------------------------------------------------- */

static reeve_outcome read_signals(reeve_task *task, void *user)
{
    (void)user;
    reeve_bytes data, other;
    bool good =
        reeve_task_signal(task, "approval", &data) == REEVE_OK && data.length == 3 && memcmp(data.data, "a\0b", 3) == 0;
    good = good && reeve_task_signal(task, "other", &other) == REEVE_OK && other.data == NULL;
    good = good && reeve_task_signal(task, "a b", &other) == REEVE_EINVAL;
    return good ? reeve_task_done(task, NULL, 0) : reeve_task_fail(task, "signal", "not as it was sent");
}

static void its_handler_reads_the_data(void **state)
{
    (void)state;
    const reeve_parent parent = {.handle = "!approval"};
    const reeve_handler handler = {.type = "read", .run = read_signals};
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_register(worker, &handler), REEVE_OK);
    test_worker_pool(worker, "q", 2, 0);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.id = "a", .type = "read", .after = &parent, .after_count = 1});
    test_state_is("q", "a", "blocked");
    test_ok(test_client, reeve_signal_task(test_client, "q", "a", "approval", (reeve_bytes){"a\0b", 3}));
    TEST_AWAIT(test_count("q", "completed") + test_count("q", "dead") == 1);
    test_state_is("q", "a", "completed");
    test_worker_end(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(waits_until_it_comes, test_place_empty),
        cmocka_unit_test_setup(waits_for_all, test_place_empty),
        cmocka_unit_test_setup(one_that_does_not_come, test_place_empty),
        cmocka_unit_test_setup(what_is_refused, test_place_empty),
        cmocka_unit_test_setup(its_handler_reads_the_data, test_place_empty),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_signal", tests, test_place_start, test_place_stop);
}
