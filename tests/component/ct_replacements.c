/* A task that takes the place of another one takes over those that wait for it, and its priority. */
#include <stdio.h>
#include <string.h>

#include "reeve/signal.h"
#include "support/depend.h"
#include "support/script.h"
#include "support/unique.h"

static const char *only_parent(const char *queue, const char *id)
{
    static char handle[REEVE_HANDLE_MAX];
    reeve_task_info *info = test_show(queue, id);
    assert_int_equal(info->parent_count, 1);
    assert_int_equal(sscanf(info->parents, "[{\"handle\":\"%60[^\"]\"", handle), 1);
    reeve_task_info_free(info);
    return handle;
}

static void complete_one(const char *id)
{
    test_hand hand;
    test_hand_init(&hand, "9", "q");
    test_lease_one(&hand, id);
    test_settle(&hand, TEST_UNIQUE_DONE(id));
}

/* ---- those that wait --------------------------------------------------------------------------------------------- */

static void they_wait_for_the_new_one(void **state)
{
    (void)state;
    test_put_key("a");
    test_put_after("q", "fail", "f:q/a");
    test_put_after("q", "go", "g:q/a");
    test_put_after("q", "wait", "w:q/a");
    test_put_after("q", "death", "x:q/a");
    test_put_spec(test_replacing("b"));
    test_state_is("q", "a", "");
    assert_string_equal(only_parent("q", "fail"), "q/b");
    assert_string_equal(only_parent("q", "wait"), "q/b");
    assert_int_equal(test_count("q", "blocked"), 4);
    test_refused(test_client, reeve_cancel(test_client, "q", "b"), REEVE_ESTATE, "others wait for it (4)");
    reeve_task_spec pushed = test_replacing("c");
    pushed.on_conflict = REEVE_CONFLICT_DEBOUNCE;
    test_put_spec(pushed);
    test_state_is("q", "fail", "blocked");
    complete_one("c");
    test_state_is("q", "fail", "ready");
    test_state_is("q", "go", "ready");
    test_state_is("q", "wait", "ready");
    test_state_is("q", "death", "");
    test_settle_all();
}

static void one_that_waits_for_both(void **state)
{
    (void)state;
    const reeve_parent both[] = {{.handle = "q/a"}, {.handle = "q/b", .unknown = REEVE_UNKNOWN_EXPECTED}};
    test_put_key("a");
    test_put_spec((reeve_task_spec){.id = "c", .after = both, .after_count = 2});
    test_put_spec(test_replacing("b"));
    assert_string_equal(only_parent("q", "c"), "q/b");
    test_state_is("q", "c", "blocked");
    complete_one("b");
    test_state_is("q", "c", "ready");
    test_settle_all();
}

static void the_new_one_dies(void **state)
{
    (void)state;
    test_put_key("a");
    test_put_after("q", "c", "f:q/a");
    test_put_after("p", "d", "f:q/a");
    test_put_spec(test_replacing("b"));
    test_kill("q", "b");
    test_settle_queues("p q");
    test_state_is("q", "c", "dead");
    test_state_is("p", "d", "dead");
    test_ok(test_client, reeve_retry(test_client, "q", "b"));
    test_ok(test_client, reeve_retry(test_client, "q", "c"));
    test_ok(test_client, reeve_retry(test_client, "p", "d"));
    test_settle_queues("p q");
    test_state_is("q", "c", "blocked");
    complete_one("b");
    test_settle_queues("p q");
    test_state_is("q", "c", "ready");
    test_state_is("p", "d", "ready");
    test_settle_all();
}

static void in_another_queue(void **state)
{
    (void)state;
    test_put_key("a");
    test_put_after("p", "c", "f:q/a");
    test_put_after("p", "d", "f:q/a");
    test_put_spec(test_replacing("b"));
    /* One that left while the message was on its way does not hold up the new one. */
    test_ok(test_client, reeve_cancel(test_client, "p", "d"));
    test_settle_queues("p q");
    assert_string_equal(only_parent("p", "c"), "q/b");
    test_refused(test_client, reeve_cancel(test_client, "q", "b"), REEVE_ESTATE, "others wait for it (1)");
    test_put_spec(test_replacing("e"));
    /* Both messages are on their way together. */
    complete_one("e");
    test_settle_queues("p q");
    test_state_is("p", "c", "ready");
    test_complete("p", "c");
    test_settle_all();
}

/* Its place is taken again while the child's queue has yet to tell that it waits for the new one. */
static void in_another_queue_twice(void **state)
{
    (void)state;
    test_put_key("a");
    test_put_after("p", "c", "f:q/a");
    test_put_after("p", "g", "g:q/a");
    test_settle_queues("p q");
    test_put_spec(test_replacing("b"));
    test_settle_queues("q");
    test_put_spec(test_replacing("d"));
    test_settle_queues("p q");
    test_state_is("p", "c", "blocked");
    assert_string_equal(only_parent("p", "c"), "q/d");
    assert_string_equal(only_parent("p", "g"), "q/d");
    test_put_spec(test_replacing("e"));
    test_settle_queues("q");
    test_put_spec(test_replacing("f"));
    test_settle_queues("q");
    test_put_spec(test_replacing("h"));
    complete_one("h");
    test_settle_queues("p q");
    test_state_is("p", "c", "ready");
    test_complete("p", "c");
    test_complete("p", "g");
    test_settle_all();
}

/* The same, where the child hears of the second one before its registration for the first goes. */
static void in_another_queue_thrice(void **state)
{
    (void)state;
    test_put_key("a");
    test_put_after("p", "c", "f:q/a");
    test_settle_queues("p q");
    test_put_spec(test_replacing("b"));
    test_settle_queues("q");
    test_put_spec(test_replacing("d"));
    test_settle_queues("q");
    test_settle_queues("p");
    test_put_spec(test_replacing("e"));
    test_settle_queues("p q");
    test_state_is("p", "c", "blocked");
    assert_string_equal(only_parent("p", "c"), "q/e");
    complete_one("e");
    test_settle_queues("p q");
    test_state_is("p", "c", "ready");
    test_complete("p", "c");
    test_settle_all();
}

/* A child of q/a comes into p; that it waits is not carried yet. policy: "f", and what holds for a parent that is
 * not known. */
static void put_unheard(const char *id, const char *policy)
{
    char options[64];
    (void)snprintf(options, sizeof(options), "{\"after\":[[\"q/a\",\"%s\"]]}", policy);
    assert_string_equal(TEST_SCRIPT(enqueue, "reeve:{p}:", "0", id, options, "\"type\":\"t\"}\n"), "[1]");
    assert_int_equal(test_number("LLEN reeve:{p}:outbox"), 1);
}

/* Its place is taken before its queue has heard of the child: nobody else waits for it. */
static void in_another_queue_unheard(void **state)
{
    (void)state;
    const char *const policies[] = {"f", "fg", "fe", "w"};
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        (void)test_place_empty(NULL);
        test_put_key("a");
        put_unheard("c", policies[i]);
        test_put_spec(test_replacing("b"));
        test_settle_queues("p q");
        test_state_is("p", "c", "blocked");
        assert_string_equal(only_parent("p", "c"), "q/b");
        complete_one("b");
        test_settle_queues("p q");
        test_complete("p", "c");
        test_settle_all();
    }
}

/* The place is taken faster than messages go: the child hears of who stands there now, not of each. */
static void in_another_queue_unheard_often(void **state)
{
    (void)state;
    enum { OFTEN = 20 };
    char id[8];
    test_put_key("a");
    put_unheard("c", "f");
    for (int i = 0; i < OFTEN; i++) {
        (void)snprintf(id, sizeof(id), "b%d", i);
        reeve_task_spec pushed = test_replacing(id);
        if (i % 2 > 0) pushed.on_conflict = REEVE_CONFLICT_DEBOUNCE;
        test_put_spec(pushed);
    }
    test_settle_queues("p q");
    assert_string_equal(only_parent("p", "c"), "q/b19");
    assert_int_equal(test_number("ZCARD reeve:{q}:children:b19"), 1);
    complete_one("b19");
    test_settle_queues("p q");
    test_complete("p", "c");
    test_settle_all();
}

/* Ids that come again lead nobody astray. */
static void in_another_queue_unheard_and_back(void **state)
{
    (void)state;
    test_put_key("a");
    put_unheard("c", "f");
    test_put_spec(test_replacing("b"));
    test_put_spec(test_replacing("a"));
    test_put_spec(test_replacing("b"));
    assert_int_equal(test_number("EXISTS reeve:{q}:replaced_by:b"), 0);
    test_settle_queues("p q");
    assert_string_equal(only_parent("p", "c"), "q/b");
    /* One that is known is waited for, whoever took the place of another one of that id. */
    test_put("q", "a");
    test_put_after("p", "d", "f:q/a");
    test_settle_queues("p q");
    assert_string_equal(only_parent("p", "d"), "q/a");
}

/* What tells who took a place goes in minutes, unless somebody elsewhere waits. */
static void it_is_known_for_a_time(void **state)
{
    (void)state;
    test_put_key("a");
    test_put_spec(test_replacing("b"));
    assert_in_range(test_number("PTTL reeve:{q}:replaced_by:a"), 1, 300000);
    test_put_after("q", "near", "f:q/b");
    test_put_spec(test_replacing("d"));
    assert_in_range(test_number("PTTL reeve:{q}:replaced_by:b"), 1, 300000);
    test_put_after("p", "far", "f:q/d");
    test_put_spec(test_replacing("e"));
    assert_in_range(test_number("PTTL reeve:{q}:replaced_by:d"), 300001, 86400000);
}

static void not_where_they_are_too_many(void **state)
{
    (void)state;
    enum { CHILDREN = 1001 };
    const reeve_parent parent = {.handle = "q/a"};
    static reeve_task_spec specs[CHILDREN];
    static reeve_enqueued results[CHILDREN];
    test_put_key("a");
    for (int i = 0; i < CHILDREN; i++)
        specs[i] = (reeve_task_spec){.queue = "q", .type = "t", .after = &parent, .after_count = 1};
    test_ok(test_client, reeve_enqueue_many(test_client, specs, CHILDREN, results));
    char holder[REEVE_ID_MAX];
    assert_int_equal(test_enqueue(test_replacing("b"), holder), REEVE_EUNIQUE);
    assert_string_equal(holder, "a");
    assert_int_equal(test_count("q", "blocked"), CHILDREN);
    test_ok(test_client, reeve_delete(test_client, "q", results[0].id));
    test_put_spec(test_replacing("b"));
    assert_int_equal(test_count("q", "blocked"), CHILDREN - 1);
    complete_one("b");
    test_settle_all();
    assert_int_equal(test_count("q", "ready"), CHILDREN - 1);
}

/* ---- what it waits for itself ------------------------------------------------------------------------------------ */

static reeve_task_spec with_parents(const char *id, const reeve_parent *parents, size_t count)
{
    reeve_task_spec spec = test_with_key(id, "k");
    spec.after = parents;
    spec.after_count = count;
    return spec;
}

static void it_waits_for_the_same_parents(void **state)
{
    (void)state;
    const reeve_parent parents[] = {{.handle = "q/one"}, {.handle = "p/two"}, {.handle = "q/done"}};
    test_put("q", "done");
    test_put("q", "one");
    test_put("p", "two");
    test_put_spec(with_parents("a", parents, 3));
    test_complete("q", "done");
    test_settle_queues("p q");
    /* Its record is kept for whoever reads it. */
    test_cmd(test_conn, "HSET reeve:{q}:settings completed_count 0");
    test_put_spec(test_replacing("b"));
    test_state_is("q", "a", "");
    test_settle_queues("p q");
    test_state_is("q", "b", "blocked");
    test_state_is("q", "done", "completed");
    test_complete("q", "one");
    test_settle_queues("p q");
    test_state_is("q", "b", "blocked");
    reeve_task_spec pushed = test_replacing("c");
    pushed.on_conflict = REEVE_CONFLICT_DEBOUNCE;
    pushed.in_ms = 3600000;
    test_put_spec(pushed);
    test_settle_queues("p q");
    test_state_is("q", "c", "blocked");
    test_complete("p", "two");
    test_settle_queues("p q");
    test_state_is("q", "c", "scheduled");
    test_settle_all();
}

/* But not for a placeholder, nor for the worker that a broadcast names. */
static void it_waits_for_the_same_signals(void **state)
{
    (void)state;
    static const reeve_parent parents[] = {
        {.handle = "!approval"}, {.handle = "!payment"}, {.handle = REEVE_PARENT_OPEN}};
    test_put_spec((reeve_task_spec){.id = "a", .unique = "k", .after = parents, .after_count = 3});
    test_ok(test_client, reeve_signal_task(test_client, "q", "a", "payment", (reeve_bytes){"1", 1}));
    test_put_spec(test_replacing("b"));
    test_state_is("q", "a", "");
    test_state_is("q", "b", "blocked");
    assert_string_equal(test_cmd(test_conn, "HKEYS reeve:{q}:parents:b"), "[!approval]");
    assert_int_equal(reeve_signal_task(test_client, "q", "b", "payment", (reeve_bytes){"", 0}), REEVE_ESTATE);
    test_ok(test_client, reeve_signal_task(test_client, "q", "b", "approval", (reeve_bytes){"yes", 3}));
    test_state_is("q", "b", "ready");
    test_put_spec((reeve_task_spec){
        .id = "c", .unique = "w", .after = &(reeve_parent){.handle = "!worker.w1"}, .after_count = 1});
    test_put_spec((reeve_task_spec){.id = "d", .unique = "w", .on_conflict = REEVE_CONFLICT_REPLACE});
    test_state_is("q", "d", "ready");
}

static void it_keeps_the_time(void **state)
{
    (void)state;
    const reeve_parent parent = {.handle = "q/one"};
    test_put("q", "one");
    reeve_task_spec later = with_parents("a", &parent, 1);
    later.in_ms = 3600000;
    test_put_spec(later);
    test_put_spec(test_replacing("b"));
    test_state_is("q", "b", "blocked");
    test_complete("q", "one");
    test_settle_all();
    test_state_is("q", "b", "scheduled");
}

static void it_has_parents_of_its_own(void **state)
{
    (void)state;
    const reeve_parent parent = {.handle = "q/one"}, other = {.handle = "q/two"};
    test_put("q", "one");
    test_put("q", "two");
    test_put_spec(with_parents("a", &parent, 1));
    reeve_task_spec own = test_replacing("b");
    own.after = &other;
    own.after_count = 1;
    test_put_spec(own);
    assert_string_equal(only_parent("q", "b"), "q/two");
}

static void it_does_not_wait_for_the_holder(void **state)
{
    (void)state;
    const reeve_parent holder = {.handle = "q/a"};
    char id[REEVE_ID_MAX];
    test_put_key("a");
    test_put_after("q", "c", "f:q/a");
    reeve_task_spec own = test_replacing("b");
    own.after = &holder;
    own.after_count = 1;
    assert_int_equal(test_enqueue(own, id), REEVE_EUNIQUE);
    assert_string_equal(id, "a");
    test_state_is("q", "a", "ready");
    test_state_is("q", "c", "blocked");
}

static void not_where_it_waits_for_too_many(void **state)
{
    (void)state;
    enum { PARENTS = 65 };
    static char handles[PARENTS][32];
    reeve_parent parents[PARENTS] = {0};
    char id[REEVE_ID_MAX];
    for (int i = 0; i < PARENTS; i++) {
        (void)snprintf(handles[i], sizeof(handles[i]), "q/p%d", i);
        parents[i].handle = handles[i];
        test_put("q", handles[i] + 2);
    }
    test_put_spec(with_parents("a", parents, PARENTS));
    assert_int_equal(test_enqueue(test_replacing("b"), id), REEVE_EUNIQUE);
    assert_string_equal(id, "a");
    test_state_is("q", "a", "blocked");
}

/* A task that is refused keeps no record of the parents that it would have had. */
static void one_that_is_refused_reads_nothing(void **state)
{
    (void)state;
    enum { CHILDREN = 1001 };
    const reeve_parent parents[] = {{.handle = "q/one"}, {.handle = "q/done"}}, parent = {.handle = "q/a"};
    static reeve_task_spec specs[CHILDREN];
    static reeve_enqueued results[CHILDREN];
    char id[REEVE_ID_MAX];
    test_put("q", "done");
    test_put("q", "one");
    test_put_spec(with_parents("a", parents, 2));
    test_complete("q", "done");
    for (int i = 0; i < CHILDREN; i++)
        specs[i] = (reeve_task_spec){.queue = "q", .type = "t", .after = &parent, .after_count = 1};
    test_ok(test_client, reeve_enqueue_many(test_client, specs, CHILDREN, results));
    assert_string_equal(test_cmd(test_conn, "ZRANGE reeve:{q}:readers:done 0 -1"), "[q/a]");
    assert_int_equal(test_enqueue(test_replacing("b"), id), REEVE_EUNIQUE);
    assert_string_equal(id, "a");
    assert_string_equal(test_cmd(test_conn, "ZRANGE reeve:{q}:readers:done 0 -1"), "[q/a]");
    assert_string_equal(test_cmd(test_conn, "EXISTS reeve:{q}:reads:b"), "0");
    assert_string_equal(test_cmd(test_conn, "HGET reeve:{q}:settings reads"), "1");
}

/* ---- the priority ---------------------------------------------------------------------------------------------- */

static void priority_is(const char *id, int priority)
{
    reeve_task_info *info = test_show("q", id);
    assert_int_equal(info->priority, priority);
    reeve_task_info_free(info);
}

static void the_priority_is_kept(void **state)
{
    (void)state;
    reeve_task_spec urgent = test_with_key("a", "k");
    urgent.priority = -5;
    test_put("q", "x");
    test_put_spec(urgent);
    test_put_spec(test_replacing("b"));
    priority_is("b", -5);
    /* With a time, too. */
    reeve_task_spec later = test_replacing("c");
    later.in_ms = 3600000;
    test_put_spec(later);
    priority_is("c", -5);
    assert_string_equal(test_state("q", "c"), "scheduled");
    test_ok(test_client, reeve_retry(test_client, "q", "c"));
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    assert_int_equal(test_lease(&hand, 2), 2);
    assert_string_equal(test_leased_ids(&hand), "c x");
    test_settle(&hand, TEST_UNIQUE_DONE("c"));
    /* One that is pushed back has its own. */
    test_put_spec(urgent);
    reeve_task_spec pushed = test_replacing("d");
    pushed.on_conflict = REEVE_CONFLICT_DEBOUNCE;
    test_put_spec(pushed);
    priority_is("d", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(they_wait_for_the_new_one, test_place_empty),
        cmocka_unit_test_setup(one_that_waits_for_both, test_place_empty),
        cmocka_unit_test_setup(the_new_one_dies, test_place_empty),
        cmocka_unit_test_setup(in_another_queue, test_place_empty),
        cmocka_unit_test_setup(in_another_queue_twice, test_place_empty),
        cmocka_unit_test_setup(in_another_queue_thrice, test_place_empty),
        cmocka_unit_test_setup(in_another_queue_unheard, test_place_empty),
        cmocka_unit_test_setup(in_another_queue_unheard_often, test_place_empty),
        cmocka_unit_test_setup(in_another_queue_unheard_and_back, test_place_empty),
        cmocka_unit_test_setup(it_is_known_for_a_time, test_place_empty),
        cmocka_unit_test_setup(not_where_they_are_too_many, test_place_empty),
        cmocka_unit_test_setup(it_waits_for_the_same_parents, test_place_empty),
        cmocka_unit_test_setup(it_waits_for_the_same_signals, test_place_empty),
        cmocka_unit_test_setup(it_keeps_the_time, test_place_empty),
        cmocka_unit_test_setup(it_has_parents_of_its_own, test_place_empty),
        cmocka_unit_test_setup(it_does_not_wait_for_the_holder, test_place_empty),
        cmocka_unit_test_setup(not_where_it_waits_for_too_many, test_place_empty),
        cmocka_unit_test_setup(one_that_is_refused_reads_nothing, test_place_empty),
        cmocka_unit_test_setup(the_priority_is_kept, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_replacements", tests, test_place_start, test_place_stop);
}
