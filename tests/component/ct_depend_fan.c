/* 100,000 tasks that wait for one, and one that waits for 100,000: in bounded steps, each short. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/depend.h"
#include "support/script.h"

#define MANY 100000
#define SOME 20000
#define STEP 200
#define STEP_COMMANDS (50 * STEP)

static char (*names)[24];
static reeve_parent *parents;

/* Commands that Redis has carried out, those of scripts included. */
static long long commands(void)
{
    long long sum = 0;
    for (const char *at = test_cmd(test_conn, "INFO commandstats"); (at = strstr(at, ":calls=")) != NULL; at++)
        sum += atoll(at + strlen(":calls="));
    return sum;
}

/* Each call is short: it does a bounded number of things, however many there are. */
static void expect_short(long long before)
{
    long long taken = commands() - before;
    if (taken > STEP_COMMANDS) fail_msg("a step took %lld commands", taken);
}

/* Calls of scripts that Redis has carried out. */
static long long script_calls(void)
{
    const char *at = strstr(test_cmd(test_conn, "INFO commandstats"), "cmdstat_evalsha:calls=");
    return at != NULL ? atoll(at + strlen("cmdstat_evalsha:calls=")) : 0;
}

/* In so many steps at least, none of which does much. */
static void longest_step(const char *queue, size_t min)
{
    size_t steps = 0;
    for (bool more = true; more; steps++) {
        long long before = commands();
        more = test_maintain(queue, STEP).more;
        expect_short(before);
    }
    assert_true(steps >= min);
}

static void enqueue_children(const char *queue, const reeve_parent *parent, size_t count)
{
    enum { CALL = 5000 };
    reeve_task_spec *specs = calloc(CALL, sizeof(*specs));
    reeve_enqueued *results = calloc(CALL, sizeof(*results));
    for (size_t done = 0; done < count; done += CALL) {
        for (size_t i = 0; i < CALL; i++)
            specs[i] = (reeve_task_spec){.queue = queue, .type = "t", .after = parent, .after_count = 1};
        test_ok(test_client, reeve_enqueue_many(test_client, specs, CALL, results));
    }
    free(specs);
    free(results);
}

static void fan_out(void **state)
{
    (void)state;
    const reeve_parent parent = {.handle = "q/root"};
    test_put("q", "root");
    enqueue_children("q", &parent, MANY);
    assert_int_equal(test_count("q", "blocked"), MANY);
    long long before = commands();
    test_complete("q", "root");
    expect_short(before);
    longest_step("q", MANY / STEP);
    assert_int_equal(test_count("q", "blocked"), 0);
    assert_int_equal(test_count("q", "ready"), MANY);
    test_no_edges_left("q");
}

static void fan_out_of_a_death(void **state)
{
    (void)state;
    const reeve_parent parent = {.handle = "q/root"};
    const reeve_keep few = {-1, 10};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.dead = &few}));
    test_put("q", "root");
    enqueue_children("q", &parent, SOME);
    test_kill("q", "root");
    longest_step("q", SOME / STEP);
    assert_int_equal(test_count("q", "blocked"), 0);
    assert_int_equal(test_count("q", "ready"), 0);
    assert_true(test_count("q", "dead") <= 20);
    test_no_edges_left("q");
}

static void fan_out_across(void **state)
{
    (void)state;
    const reeve_parent parent = {.handle = "p/root"};
    test_put("p", "root");
    enqueue_children("q", &parent, SOME);
    test_settle_queues("q");
    assert_int_equal(test_number("ZCARD reeve:{p}:children:root"), SOME);
    test_complete("p", "root");
    test_settle_queues("p q");
    assert_int_equal(test_count("q", "ready"), SOME);
    test_no_edges_left("p");
    test_no_edges_left("q");
}

static void fan_in(void **state)
{
    (void)state;
    test_put_many("q", MANY, "n%05zu");
    test_put_spec((reeve_task_spec){.id = "last", .after = parents, .after_count = MANY});
    assert_string_equal(test_state("q", "last"), "blocked");
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    for (size_t done = 0; done < MANY; done += hand.count) {
        static test_outcome outcomes[200];
        assert_true(test_lease(&hand, 200) > 0);
        for (size_t i = 0; i < hand.count; i++) outcomes[i] = (test_outcome)TEST_DONE(hand.leased[i].id);
        if (done + hand.count == MANY) assert_string_equal(test_state("q", "last"), "blocked");
        size_t count = hand.count;
        (void)test_turn(&hand, 0, outcomes, count);
        hand.count = count;
    }
    assert_true(test_number("ZCARD reeve:{q}:retained") > 0);
    long long before = commands();
    test_complete("q", "last");
    expect_short(before);
    longest_step("q", MANY / STEP);
    assert_string_equal(test_cmd(test_conn, "EXISTS reeve:{q}:retained reeve:{q}:read"), "0");
    test_no_edges_left("q");
}

static void a_child_of_many_goes(void **state)
{
    (void)state;
    test_put_many("q", SOME, "n%05zu");
    test_put_spec((reeve_task_spec){.id = "one", .after = parents, .after_count = SOME});
    test_put_spec((reeve_task_spec){.id = "two", .after = parents, .after_count = SOME / 10});
    long long before = commands(), calls = script_calls();
    test_ok(test_client, reeve_delete(test_client, "q", "one"));
    test_ok(test_client, reeve_cancel(test_client, "q", "two"));
    calls = script_calls() - calls; /* the client asks for step after step */
    assert_true(calls >= SOME / STEP);
    assert_true(commands() - before <= calls * STEP_COMMANDS);
    longest_step("q", 1);
    test_no_edges_left("q");
    assert_string_equal(test_cmd(test_conn, "EXISTS reeve:{q}:parents:one"), "0");
    test_ok(test_client, reeve_delete(test_client, "q", "two"));
}

/* What it waited for before is unlinked in steps; retried, it waits for all of it again, in steps. */
static void a_child_of_many_waits_anew(void **state)
{
    (void)state;
    enum { PARENTS = 80 };
    test_put_many("q", PARENTS, "n%05zu");
    test_put_spec((reeve_task_spec){.id = "c", .after = parents, .after_count = PARENTS});
    test_kill("q", "n00000");
    (void)test_maintain("q", 10);
    assert_string_equal(test_state("q", "c"), "dead");
    assert_int_equal(test_number("LLEN reeve:{q}:fanout"), 1);
    test_ok(test_client, reeve_retry(test_client, "q", "c"));
    assert_string_equal(test_state("q", "c"), "blocked");
    test_put_spec((reeve_task_spec){.id = "a", .priority = -1});
    test_add_edges("q", "c", "f:q/a");
    test_complete("q", "a");
    test_complete("q", "n00001");
    for (bool more = true; more;) more = test_maintain("q", 10).more;
    assert_int_equal(test_number("EXISTS reeve:{q}:children:n00002"), 1);
    assert_int_equal(test_number("HGET reeve:{q}:info:c pending"), PARENTS - 1);
    for (int i = 2; i < PARENTS; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%05d", i);
        test_complete("q", id);
    }
    assert_string_equal(test_state("q", "c"), "blocked");
    test_ok(test_client, reeve_retry(test_client, "q", "n00000"));
    test_complete("q", "n00000");
    assert_string_equal(test_state("q", "c"), "ready");
    test_no_edges_left("q");
}

/* The same, where it is another task of that id. */
static void a_child_of_many_comes_again(void **state)
{
    (void)state;
    enum { PARENTS = 80 };
    const reeve_keep none = {0, 0};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.dead = &none}));
    test_put_many("q", PARENTS, "n%05zu");
    test_put_spec((reeve_task_spec){.id = "c", .after = parents, .after_count = PARENTS});
    test_kill("q", "n00000");
    (void)test_maintain("q", 10);
    assert_string_equal(test_state("q", "c"), "");
    test_put_after("q", "c", "f:q/n00001");
    test_settle_queues("q");
    test_complete("q", "n00001");
    assert_string_equal(test_state("q", "c"), "ready");
}

/* Tasks with children each end in one call, which takes few commands, and lets so many of the children go. */
static void end_together(unsigned ends, unsigned children, long long commands_max, int let_go)
{
    enum { ENDS = 256, CHILDREN = 16 };
    static test_outcome outcomes[ENDS];
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    test_put_many("q", ends, "n%05zu");
    assert_int_equal(test_lease(&hand, ends), ends);
    for (size_t i = 0; i < ends; i++) {
        reeve_task_spec specs[CHILDREN];
        reeve_enqueued results[CHILDREN];
        for (size_t j = 0; j < children; j++)
            specs[j] = (reeve_task_spec){.queue = "q", .type = "t", .after = &parents[i], .after_count = 1};
        test_ok(test_client, reeve_enqueue_many(test_client, specs, children, results));
        outcomes[i] = (test_outcome)TEST_DONE(hand.leased[i].id);
    }
    long long before = commands();
    (void)test_turn(&hand, 0, outcomes, ends);
    long long taken = commands() - before;
    if (taken > commands_max) fail_msg("the call took %lld commands", taken);
    assert_int_equal(test_count("q", "ready"), let_go);
    longest_step("q", 2);
    assert_int_equal(test_count("q", "ready"), ends * children);
    test_no_edges_left("q");
}

/* Of tasks with a few children each that end in one call some are told at once, and the rest from the next step on. */
static void many_ends_in_one_call(void **state)
{
    (void)state;
    end_together(64, 16, 2500, 64);
}

/* The more end, the fewer are told at once. */
static void as_many_ends_as_a_worker_sends(void **state)
{
    (void)state;
    end_together(256, 2, 4500, 16);
}

/* What another version wrote is left to it, and holds up nothing. */
static void an_entry_that_is_not_understood(void **state)
{
    (void)state;
    (void)test_cmd(test_conn, "ZADD reeve:{q}:fanout:7 1 q/c");
    (void)TEST_WORDS("RPUSH", "reeve:{q}:fanout", "7 postponed x");
    test_put("q", "p");
    const reeve_parent parent = {.handle = "q/p"};
    enqueue_children("q", &parent, 5000);
    test_complete("q", "p");
    test_maintain_all("q");
    test_maintain_all("q");
    assert_int_equal(test_count("q", "ready"), 5000);
    assert_string_equal(test_cmd(test_conn, "LRANGE reeve:{q}:fanout 0 -1"), "[7 postponed x]");
    assert_int_equal(test_number("ZCARD reeve:{q}:fanout:7"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(fan_out, test_place_empty),
        cmocka_unit_test_setup(fan_out_of_a_death, test_place_empty),
        cmocka_unit_test_setup(fan_out_across, test_place_empty),
        cmocka_unit_test_setup(fan_in, test_place_empty),
        cmocka_unit_test_setup(a_child_of_many_goes, test_place_empty),
        cmocka_unit_test_setup(a_child_of_many_waits_anew, test_place_empty),
        cmocka_unit_test_setup(a_child_of_many_comes_again, test_place_empty),
        cmocka_unit_test_setup(many_ends_in_one_call, test_place_empty),
        cmocka_unit_test_setup(as_many_ends_as_a_worker_sends, test_place_empty),
        cmocka_unit_test_setup(an_entry_that_is_not_understood, test_place_empty),
    };
    names = calloc(MANY, sizeof(*names));
    parents = calloc(MANY, sizeof(*parents));
    for (size_t i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "q/n%05zu", i);
        parents[i].handle = names[i];
    }
    int failed = cmocka_run_group_tests_name("ct_depend_fan", tests, test_place_start, test_place_stop);
    free(names);
    free(parents);
    return failed;
}
