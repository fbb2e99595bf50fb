/* A field that counts in which another program has put what is no number: scripts go on, and no other task waits for
 * ever. */
#include <stdio.h>
#include <string.h>

#include "support/depend.h"
#include "support/limits.h"
#include "support/script.h"

#define Q "reeve:{q}:"
#define P "reeve:{p}:"

static const char *const texts[] = {
    "abc", "", "01", "1.0", "1e3", "nan", "99999999999999999999", "9223372036854775807"};
enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

static test_hand a;

static int set_up(void **state)
{
    test_hand_init(&a, "1", "q");
    return test_place_empty(state);
}

static void overwrite(const char *key, const char *field, const char *value)
{
    const char *const words[] = {"HSET", key, field, value, NULL};
    assert_null(strstr(test_words_text(words), "error"));
}

/* ---- of parents -------------------------------------------------------------------------------------------------- */

static const char *const edge_fields[] = {"pending", "restoring"};
enum { EDGE_FIELDS = sizeof(edge_fields) / sizeof(edge_fields[0]) };

/* Runs a test with each text in each field. */
#define EACH_TEXT(test)                                             \
    for (int i = 0; i < EDGE_FIELDS * TEXTS; i++) {                 \
        (void)set_up(state);                                        \
        test(edge_fields[i % EDGE_FIELDS], texts[i / EDGE_FIELDS]); \
    }

/* What waits in q for q/p, and for q/r. */
static void one_child_of_three(const char *field, const char *text)
{
    test_put("q", "p r");
    test_put_after("q", "x", "f:q/p g:q/r");
    test_put_after("q", "y", "f:q/p g:q/r");
    test_put_after("q", "z", "f:q/p g:q/r");
    overwrite(Q "info:x", field, text);
    test_complete("q", "p");
    test_maintain_all("q");
    for (const char *id = "xyz"; *id != '\0'; id++) test_state_is("q", (char[]){*id, '\0'}, "blocked");
    test_kill("q", "r");
    test_maintain_all("q");
    for (const char *id = "xyz"; *id != '\0'; id++) test_state_is("q", (char[]){*id, '\0'}, "ready");
    test_no_edges_left("q");
}

static void a_child_and_its_siblings_wait_for_what_they_did(void **state)
{
    EACH_TEXT(one_child_of_three)
}

static void one_child_dies(const char *field, const char *text)
{
    test_put("q", "p");
    test_put_after("q", "x", "f:q/p");
    test_put_after("q", "y", "f:q/p");
    overwrite(Q "info:x", field, text);
    test_kill("q", "p");
    test_maintain_all("q");
    test_state_is("q", "x", "dead");
    test_state_is("q", "y", "dead");
    test_no_edges_left("q");
}

static void a_child_dies_of_its_parent(void **state)
{
    EACH_TEXT(one_child_dies)
}

/* Many children are told in steps. */
static void one_child_of_forty(const char *field, const char *text)
{
    char id[8];
    test_put("q", "p");
    for (int i = 0; i < 40; i++) {
        (void)snprintf(id, sizeof(id), "c%d", i);
        test_put_after("q", id, "f:q/p");
    }
    overwrite(Q "info:c20", field, text);
    test_complete("q", "p");
    test_maintain_all("q");
    assert_int_equal(test_count("q", "blocked"), 0);
    assert_int_equal(test_count("q", "ready"), 40);
    test_no_edges_left("q");
}

static void children_that_are_told_in_steps_become_ready(void **state)
{
    EACH_TEXT(one_child_of_forty)
}

static void one_child_elsewhere(const char *field, const char *text)
{
    test_put("q", "p");
    test_put_after("p", "x", "f:q/p");
    test_put_after("p", "y", "f:q/p");
    test_settle_queues("p q");
    overwrite(P "info:x", field, text);
    test_complete("q", "p");
    test_settle_queues("p q");
    test_state_is("p", "x", "ready");
    test_state_is("p", "y", "ready");
    test_no_edges_left("q");
    test_no_edges_left("p");
}

static void children_in_another_queue_become_ready(void **state)
{
    EACH_TEXT(one_child_elsewhere)
}

static void parents_are_changed(const char *field, const char *text)
{
    test_put("q", "p r s");
    test_put_after("q", "x", "f:q/p f:q/r");
    test_put_after("q", "y", "f:q/p");
    overwrite(Q "info:x", field, text);
    overwrite(Q "info:y", field, text);
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "x", (const char *const[]){"q/r"}, 1));
    test_add_edges("q", "y", "f:q/s");
    test_maintain_all("q");
    test_complete("q", "p");
    test_maintain_all("q");
    test_state_is("q", "x", "ready");
    test_state_is("q", "y", "blocked");
    test_complete("q", "r");
    test_complete("q", "s");
    test_maintain_all("q");
    test_state_is("q", "y", "ready");
    test_no_edges_left("q");
}

static void parents_that_come_and_go_count(void **state)
{
    EACH_TEXT(parents_are_changed)
}

/* ---- of limits --------------------------------------------------------------------------------------------------- */

static void groups_go_on(const char *key, const char *field, const char *text)
{
    char hash[64];
    (void)snprintf(hash, sizeof(hash), Q "%s", key);
    test_limit_queue(3, NULL);
    test_limit_groups(2, NULL);
    test_put_in("a b c d e f", "g", 0);
    (void)test_lease(&a, 9);
    overwrite(hash, field, text);
    test_done(&a);
    for (int i = 0; i < 24 && test_count("q", "completed") < 6; i++) {
        (void)test_lease(&a, 9);
        overwrite(hash, field, text);
        test_done(&a);
        test_maintain_all("q");
    }
    assert_int_equal(test_count("q", "completed"), 6);
    test_maintain_all("q");
    test_groups_forgotten();
}

static void what_limits_count_is_counted_again(void **state)
{
    for (int i = 0; i < TEXTS; i++) {
        (void)set_up(state);
        groups_go_on("taken", "g", texts[i]);
        (void)set_up(state);
        groups_go_on("gate", "running", texts[i]);
    }
}

/* ---- of the order ------------------------------------------------------------------------------------------------ */

/* Where the next place is no number, what ran goes to the front, and a thread that finds nothing makes it right. */
static void a_place_that_is_none_stops_no_turn(void **state)
{
    for (int i = 0; i < TEXTS; i++) {
        (void)set_up(state);
        test_put("q", "x y z");
        assert_int_equal(test_lease(&a, 1), 1);
        overwrite(Q "sequence", "next", texts[i]);
        test_expire(&a);
        test_maintain_all("q");
        test_state_is("q", "x", "ready");
        test_hand b;
        test_hand_init(&b, "1", "q");
        overwrite(Q "sequence", "next", texts[i]);
        assert_int_equal(test_lease(&b, 1), 1);
        test_done(&b);
        assert_int_equal(test_lease(&b, 9), 2);
        test_done(&b);
        b.hand = RV_HAND_IDLE;
        assert_int_equal(test_lease(&b, 9), 0);
        test_put("q", "w");
    }
}

/* ---- of results -------------------------------------------------------------------------------------------------- */

static void sizes_of_results_that_are_none_stop_no_turn(void **state)
{
    for (int i = 0; i < TEXTS; i++) {
        (void)set_up(state);
        assert_int_equal(test_number("HSET " Q "settings completed_bytes 10 completed_count 2"), 2);
        test_put("q", "u v w x y z");
        for (int n = 0; n < 6; n++) {
            char id[REEVE_ID_MAX];
            assert_int_equal(test_lease(&a, 1), 1);
            rv_copy_text(id, sizeof(id), a.leased[0].id);
            test_settle(&a, TEST_RESULT(id, "four"));
            assert_string_equal(a.refused, "");
            overwrite(Q "result_sizes", n % 2 == 0 ? "#" : id, texts[i]);
        }
        test_maintain_all("q");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_child_and_its_siblings_wait_for_what_they_did, set_up),
        cmocka_unit_test_setup(a_child_dies_of_its_parent, set_up),
        cmocka_unit_test_setup(children_that_are_told_in_steps_become_ready, set_up),
        cmocka_unit_test_setup(children_in_another_queue_become_ready, set_up),
        cmocka_unit_test_setup(parents_that_come_and_go_count, set_up),
        cmocka_unit_test_setup(what_limits_count_is_counted_again, set_up),
        cmocka_unit_test_setup(a_place_that_is_none_stops_no_turn, set_up),
        cmocka_unit_test_setup(sizes_of_results_that_are_none_stop_no_turn, set_up),
    };
    return cmocka_run_group_tests_name("ct_foreign_counts", tests, test_place_start, test_place_stop);
}
