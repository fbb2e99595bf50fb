/* A task that waits for a task of another queue is moved while the two queues have still to hear of one another. */
#include <string.h>

#include "client/outbox.h"
#include "reeve/change.h"
#include "reeve/check.h"
#include "reeve/signal.h"
#include "support/depend.h"
#include "support/queue.h"
#include "support/script.h"

#define Q "reeve:{q}:"

static int set_up(void **state)
{
    return test_place_empty(state);
}

static void put(const char *queue, const char *id, const char *parent, reeve_unknown_parent unknown)
{
    const reeve_parent after = {.handle = parent, .unknown = unknown};
    const reeve_task_spec spec = {
        .queue = queue, .type = "t", .id = id, .after = parent ? &after : NULL, .after_count = parent != NULL};
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
}

/* While a key has a wrong type, a queue takes no messages. */
static void close_queue(const char *queue)
{
    (void)test_cmd(test_conn, "SET reeve:{%s}:linked x", queue);
}

static void open_queue(const char *queue)
{
    (void)test_cmd(test_conn, "DEL reeve:{%s}:linked", queue);
}

/* Its message waits in the outbox of q. */
static void move(const char *id, const char *target)
{
    assert_string_equal(TEST_SCRIPT(move, Q, id, target), "ok more");
}

/* ---- parents that are not known ----------------------------------------------------------------------------------- */

static void move_before_the_parent_is_asked(const char *target, reeve_unknown_parent unknown)
{
    close_queue("b");
    put("q", "a", "b/p", unknown);
    move("a", target);
    open_queue("b");
    test_settle_queues("q b c");
}

static void an_unknown_parent_counts_as_completed_there(void **state)
{
    (void)state;
    move_before_the_parent_is_asked("c", REEVE_UNKNOWN_COMPLETED);
    assert_string_equal(test_state("c", "a"), "ready");
}

static void an_unknown_parent_in_the_target_counts_as_completed(void **state)
{
    (void)state;
    move_before_the_parent_is_asked("b", REEVE_UNKNOWN_COMPLETED);
    assert_string_equal(test_state("b", "a"), "ready");
}

static void an_unknown_parent_is_refused_there(void **state)
{
    (void)state;
    move_before_the_parent_is_asked("c", REEVE_UNKNOWN_REFUSE);
    assert_string_equal(test_state("c", "a"), "dead");
}

static void a_replacement_does_not_expect_an_unknown_parent(void **state)
{
    const reeve_parent after = {.handle = "b/p", .unknown = REEVE_UNKNOWN_COMPLETED};
    reeve_task_spec spec = {.queue = "q", .type = "t", .id = "a", .unique = "u", .after = &after, .after_count = 1};
    (void)state;
    close_queue("b");
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
    spec =
        (reeve_task_spec){.queue = "q", .type = "t", .id = "n", .unique = "u", .on_conflict = REEVE_CONFLICT_REPLACE};
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
    assert_string_equal(test_state("q", "n"), "blocked");
    open_queue("b");
    test_settle_queues("q b");
    assert_string_equal(test_state("q", "n"), "ready");
}

static void expect_it(const char *target)
{
    put("b", "p", NULL, 0);
    test_settle_queues("q b c");
    assert_string_equal(test_state(target, "a"), "blocked");
    test_complete("b", "p");
    test_settle_queues("q b c");
    assert_string_equal(test_state(target, "a"), "ready");
}

static void an_expected_parent_is_expected_there(void **state)
{
    (void)state;
    move_before_the_parent_is_asked("c", REEVE_UNKNOWN_EXPECTED);
    assert_string_equal(test_state("c", "a"), "blocked");
    expect_it("c");
}

static void an_expected_parent_that_was_asked_is_expected_there(void **state)
{
    (void)state;
    put("q", "a", "b/p", REEVE_UNKNOWN_EXPECTED);
    test_settle_queues("q b c");
    move("a", "c");
    test_settle_queues("q b c");
    assert_string_equal(test_state("c", "a"), "blocked");
    expect_it("c");
}

static void a_parent_that_the_target_expects_is_expected(void **state)
{
    (void)state;
    put("q", "a", "b/p", REEVE_UNKNOWN_EXPECTED);
    test_settle_queues("q b");
    move("a", "b");
    test_settle_queues("q b");
    assert_string_equal(test_state("b", "a"), "blocked");
    expect_it("b");
}

/* b hears that q/a has gone, and c does not take it yet. */
static void carry_past_c(void)
{
    size_t carried;
    rv_error error = {0};
    assert_int_equal(rv_outbox_carry(test_conn, "reeve", "q", 1, &carried, &error), REEVE_EREDIS);
    assert_int_equal(carried, 1);
}

static void a_signal_is_waited_for_there(void **state)
{
    reeve_checked checked;
    (void)state;
    put("q", "a", "!go", REEVE_UNKNOWN_REFUSE);
    move("a", "c");
    test_settle_queues("q c");
    assert_string_equal(test_state("c", "a"), "blocked");
    test_ok(test_client, reeve_check(test_client, "c", false, NULL, NULL, NULL, &checked));
    assert_int_equal(checked.findings, 0);
    test_ok(test_client, reeve_signal_task(test_client, "c", "a", "go", (reeve_bytes){"x", 1}));
    assert_string_equal(test_state("c", "a"), "ready");
}

/* ---- parents that end while it is on its way ------------------------------------------------------------------------ */

static void lose_the_parent_on_the_way(const char *target)
{
    const reeve_keep none = {0, 0};
    test_ok(test_client, reeve_queue_set(test_client, "b", &(reeve_queue_settings){.completed = &none}));
    put("b", "p", NULL, 0);
    put("q", "a", "b/p", REEVE_UNKNOWN_REFUSE);
    test_settle_queues("q b");
    close_queue("c");
    move("a", target);
    if (strcmp(target, "c") == 0) carry_past_c();
    test_complete("b", "p");
    open_queue("c");
    test_settle_queues("q b c");
}

static void a_parent_that_is_gone_is_not_waited_for(void **state)
{
    (void)state;
    lose_the_parent_on_the_way("c");
    assert_string_equal(test_state("c", "a"), "ready");
}

static void a_parent_of_the_target_that_is_gone_is_not_waited_for(void **state)
{
    (void)state;
    lose_the_parent_on_the_way("b");
    assert_string_equal(test_state("b", "a"), "ready");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_unknown_parent_counts_as_completed_there, set_up),
        cmocka_unit_test_setup(an_unknown_parent_in_the_target_counts_as_completed, set_up),
        cmocka_unit_test_setup(an_unknown_parent_is_refused_there, set_up),
        cmocka_unit_test_setup(a_replacement_does_not_expect_an_unknown_parent, set_up),
        cmocka_unit_test_setup(an_expected_parent_is_expected_there, set_up),
        cmocka_unit_test_setup(an_expected_parent_that_was_asked_is_expected_there, set_up),
        cmocka_unit_test_setup(a_parent_that_the_target_expects_is_expected, set_up),
        cmocka_unit_test_setup(a_signal_is_waited_for_there, set_up),
        cmocka_unit_test_setup(a_parent_that_is_gone_is_not_waited_for, set_up),
        cmocka_unit_test_setup(a_parent_of_the_target_that_is_gone_is_not_waited_for, set_up),
    };
    return cmocka_run_group_tests(tests, test_place_start, test_place_stop);
}
