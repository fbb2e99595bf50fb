/* Of two tasks between which there was an edge before: what is still to be told of that one does not count for the new
 * one. */
#include <stdio.h>

#include "protocol/scripts.h"
#include "support/depend.h"
#include "support/script.h"

#define Q "reeve:{q}:"

/* Its death is still to be told to a child. */
static void kill_a(void)
{
    test_kill("q", "a");
    assert_int_equal(test_number("LLEN " Q "fanout"), 1);
}

/* By the scripts alone: a client also tells what is still to be told. */
static void retry(const char *id)
{
    assert_string_equal(TEST_SCRIPT(retry, Q, id), "ok");
}

static void step(const rv_script *script, const char *id)
{
    assert_string_equal(test_script_text(script, (const char *const[]){Q, id, "", NULL}), "ok more");
}

static void again(const char *id)
{
    step(&rv_script_cancel, id);
    retry(id);
}

/* The child waits for the parent's next end, and hears of that. */
static void hears_of_the_next_end(const char *child)
{
    test_state_is("q", child, "blocked");
    test_settle_queues("q");
    test_state_is("q", child, "blocked");
    test_complete("q", "a");
    test_settle_queues("q");
    test_state_is("q", child, "ready");
    test_complete("q", child);
    test_no_edges_left("q");
}

static void a_retried_child_of_a_retried_parent(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    kill_a();
    retry("a");
    again("b");
    hears_of_the_next_end("b");
}

/* The other way round the child is retried before. */
static void a_retried_parent_of_a_retried_child(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    kill_a();
    again("b");
    retry("a");
    hears_of_the_next_end("b");
}

static void a_child_that_comes_again(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    kill_a();
    retry("a");
    step(&rv_script_delete, "b");
    test_put_after("q", "b", "f:q/a");
    hears_of_the_next_end("b");
}

static void an_edge_that_is_taken_away_and_comes_again(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    kill_a();
    retry("a");
    assert_string_equal(TEST_SCRIPT(depend, Q, "remove", "b", "q/a"), "ok");
    test_add_edges("q", "b", "f:q/a");
    hears_of_the_next_end("b");
}

/* A cascade is told as ends are. */
static void a_cascade(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    (void)TEST_WORDS("RPUSH", Q "fanout", "1 cascade a");
    (void)test_cmd(test_conn, "ZADD " Q "fanout:1 1600000000000000 q/b");
    hears_of_the_next_end("b");
}

/* Both ends are still to be told: of the parent that died, and of the same one that has completed with many
 * children. */
static void two_ends_that_are_still_to_be_told(void **state)
{
    char id[16];
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    kill_a();
    retry("a");
    again("b");
    for (int i = 0; i < 20; i++) {
        (void)snprintf(id, sizeof(id), "c%02d", i);
        test_put_after("q", id, "f:q/a");
    }
    test_complete("q", "a");
    assert_int_equal(test_number("LLEN " Q "fanout"), 2);
    test_state_is("q", "b", "blocked");
    test_settle_queues("q");
    test_state_is("q", "b", "ready");
    test_state_is("q", "c19", "ready");
}

/* Another task takes the parent's place, whose id was that of one that died. */
static void an_replacement_whose_id_was_that_of_another_one(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    kill_a();
    assert_string_equal(TEST_SCRIPT(delete, Q, "a", ""), "ok");
    step(&rv_script_delete, "b");
    test_put_spec((reeve_task_spec){.id = "h", .unique = "k", .priority = -5});
    test_put_after("q", "b", "f:q/h");
    test_put_spec((reeve_task_spec){.id = "a", .unique = "k", .on_conflict = REEVE_CONFLICT_REPLACE});
    hears_of_the_next_end("b");
}

/* ---- edges that an earlier version made -------------------------------------------------------------------------- */

static void an_edge_without_a_number(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    (void)test_cmd(test_conn, "HSET " Q "parents:b q/a f-0");
    (void)test_cmd(test_conn, "ZADD " Q "children:a 1700000000000.5 q/b");
    hears_of_the_next_end("b");
}

/* One that was made again by a retry had a number, and stood in `children` by the time. */
static void a_number_that_its_parent_does_not_know(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    (void)test_cmd(test_conn, "ZADD " Q "children:a 1700000000000.5 q/b");
    hears_of_the_next_end("b");
}

static void a_number_that_is_told_in_steps(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    (void)test_cmd(test_conn, "ZADD " Q "children:a 1700000000000.5 q/b");
    kill_a();
    test_settle_queues("q");
    test_state_is("q", "b", "dead");
}

/* An edge of an earlier version gets another policy. */
static void an_edge_that_is_changed(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    (void)test_cmd(test_conn, "HSET " Q "parents:b q/a f-0");
    (void)test_cmd(test_conn, "ZADD " Q "children:a 1700000000000.5 q/b");
    test_add_edges("q", "b", "g:q/a");
    hears_of_the_next_end("b");
}

/* ---- across queues ----------------------------------------------------------------------------------------------- */

/* A message that registers an edge by its first policy comes behind the one that registers it by its second. */
static void a_policy_that_comes_late(void **state)
{
    (void)state;
    test_put("p", "a");
    (void)TEST_SCRIPT(enqueue, Q, "0", "b", "{\"after\":[[\"p/a\",\"f\"]]}", "\"type\":\"t\"}\n");
    (void)test_cmd(test_conn, "LMOVE " Q "outbox " Q "unread LEFT RIGHT");
    test_add_edges("q", "b", "w:p/a");
    test_settle_queues("q p");
    assert_int_equal(test_number("LLEN " Q "unread"), 1);
    (void)test_cmd(test_conn, "LMOVE " Q "unread " Q "outbox LEFT RIGHT");
    test_settle_queues("q p");
    assert_int_equal(test_number("LLEN " Q "unread"), 0);
    test_complete("p", "a");
    test_settle_queues("q p");
    test_state_is("q", "b", "ready");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_retried_child_of_a_retried_parent, test_place_empty),
        cmocka_unit_test_setup(a_retried_parent_of_a_retried_child, test_place_empty),
        cmocka_unit_test_setup(a_child_that_comes_again, test_place_empty),
        cmocka_unit_test_setup(an_edge_that_is_taken_away_and_comes_again, test_place_empty),
        cmocka_unit_test_setup(a_cascade, test_place_empty),
        cmocka_unit_test_setup(two_ends_that_are_still_to_be_told, test_place_empty),
        cmocka_unit_test_setup(an_replacement_whose_id_was_that_of_another_one, test_place_empty),
        cmocka_unit_test_setup(an_edge_without_a_number, test_place_empty),
        cmocka_unit_test_setup(a_number_that_its_parent_does_not_know, test_place_empty),
        cmocka_unit_test_setup(a_number_that_is_told_in_steps, test_place_empty),
        cmocka_unit_test_setup(an_edge_that_is_changed, test_place_empty),
        cmocka_unit_test_setup(a_policy_that_comes_late, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_depend_anew", tests, test_place_start, test_place_stop);
}
