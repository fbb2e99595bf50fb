/* Leasing over several queues, waking idle threads, and tasks that a crash left behind. */
#include <stdio.h>
#include <string.h>

#include "protocol/turn_build.h"
#include "protocol/turn_reply.h"
#include "support/queue.h"

static test_hand a, b, several;

static int set_up(void **state)
{
    test_hand_init(&a, "1", "q");
    test_hand_init(&b, "7", "q");
    test_hand_init(&several, "3", "first second third");
    return test_place_empty(state);
}

#define Q "reeve:{q}:"

/* ---- several queues -------------------------------------------------------------------------------------------- */

static void queues_are_served_in_order(void **state)
{
    (void)state;
    test_put("third", "t1 t2");
    test_put("second", "s1 s2");
    test_put("first", "f1 f2");
    assert_int_equal(test_lease(&several, 1), 1);
    assert_string_equal(test_leased_ids(&several), "f1");
    assert_int_equal(test_lease(&several, 2), 2); /* fills up from the next */
    assert_string_equal(test_leased_ids(&several), "f2 s1");
    assert_int_equal(several.leased[1].queue, 1);
    test_put("first", "f3");
    assert_int_equal(test_lease(&several, 9), 4);
    assert_string_equal(test_leased_ids(&several), "f3 s2 t1 t2");
    assert_int_equal(several.leased[3].queue, 2);
}

static void a_session_begins_only_where_it_leases(void **state)
{
    (void)state;
    test_put("second", "s1");
    assert_int_equal(test_lease(&several, 5), 1);
    assert_int_equal(test_number("EXISTS reeve:{first}:sessions reeve:{third}:sessions"), 0);
    assert_int_equal(test_number("ZCARD reeve:{second}:sessions"), 1);
    assert_true(several.begun[1]);
    assert_false(several.begun[0]);
}

static void outcomes_of_several_queues(void **state)
{
    (void)state;
    test_put("first", "same f");
    test_put("second", "same");
    test_put("third", "t");
    assert_int_equal(test_lease(&several, 9), 4);
    const test_outcome outcomes[] = {
        {2, {.id = "t", .outcome = REEVE_OUTCOME_DONE}},
        {1, {.id = "same", .outcome = REEVE_OUTCOME_SNOOZE}},
        {0, {.id = "same", .outcome = REEVE_OUTCOME_DONE}},
        {0, {.id = "f", .outcome = REEVE_OUTCOME_RETRY, .delay_ms = 9000, .kind = "k", .message = "m"}}};
    assert_int_equal(test_turn(&several, 9, outcomes, 4), 1);
    assert_string_equal(several.refused, "");
    assert_int_equal(several.leased[0].queue, 1);
    assert_string_equal(test_state("first", "same"), "completed");
    assert_string_equal(test_state("second", "same"), "running");
    assert_string_equal(test_state("first", "f"), "scheduled");
    assert_string_equal(test_state("third", "t"), "completed");
}

/* A turn that leases from one queue and settles in others, as after a change of what a thread serves. */
static void settles_where_it_does_not_lease(void **state)
{
    (void)state;
    test_put("first", "f1 f2");
    test_put("third", "t1");
    assert_int_equal(test_lease(&several, 1), 1);
    test_hand third;
    test_hand_init(&third, "3", "third");
    assert_int_equal(test_lease(&third, 1), 1);
    const rv_settlement f1 = {.id = "f1", .outcome = REEVE_OUTCOME_DONE};
    const rv_settlement t1 = {.id = "t1", .outcome = REEVE_OUTCOME_FAIL, .kind = "k", .message = "m"};
    const rv_settlement *const items[] = {&f1, &t1};
    const rv_turn_group groups[] = {
        {.prefix = &third.prefixes[0], .session = third.sessions[0], .items = &items[1], .count = 1},
        {.prefix = &several.prefixes[0], .session = several.sessions[0], .items = &items[0], .count = 1}};
    const rv_turn_queue queues[] = {{.prefix = &several.prefixes[1], .session = several.sessions[1]},
                                    {.prefix = &several.prefixes[0], .session = several.sessions[0]}};
    const rv_turn turn = {
        .thread = "3", .want = 5, .queues = queues, .queue_count = 2, .groups = groups, .group_count = 2};
    const rv_reply *reply;
    test_begin(&several, 1);
    rv_turn_build(test_conn, &turn);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    rv_turn_reply read;
    rv_lease leases[4];
    size_t bad;
    assert_true(rv_turn_reply_read(&read, reply));
    assert_int_equal(read.refused->count, 0);
    assert_int_equal(rv_turn_reply_leases(&read, 1000, leases, 4, &bad), 1);
    assert_string_equal(leases[0].id, "f2");
    assert_int_equal(leases[0].queue, 1);
    assert_string_equal(test_state("first", "f1"), "completed");
    assert_string_equal(test_state("third", "t1"), "dead");
}

static void a_session_gone_in_one_queue(void **state)
{
    (void)state;
    test_put("first", "f1 f2");
    test_put("second", "s1 s2");
    test_put("third", "t1");
    assert_int_equal(test_lease(&several, 1), 1);
    assert_int_equal(test_number("DEL reeve:{first}:running:%s reeve:{first}:sessions", several.sessions[0]), 2);
    assert_int_equal(test_lease(&several, 2), 0); /* nothing from the queues behind it, either */
    assert_string_equal(several.gone, "1");
    rv_session_id(several.sessions[0], "by_hand");
    several.begun[0] = false;
    assert_int_equal(test_lease(&several, 2), 2);
    assert_string_equal(test_leased_ids(&several), "f2 s1");
}

static void a_paused_queue_is_passed_over(void **state)
{
    (void)state;
    test_put("first", "f1");
    test_put("second", "s1");
    test_ok(test_client, reeve_pause(test_client, "first"));
    assert_int_equal(test_lease(&several, 5), 1);
    assert_string_equal(test_leased_ids(&several), "s1");
}

/* ---- waking up ------------------------------------------------------------------------------------------------- */

static long long tokens(void)
{
    return test_number("LLEN " Q "wake");
}

static void take_token(void)
{
    assert_string_equal(test_cmd(test_conn, "LPOP " Q "wake"), "1");
    assert_int_equal(tokens(), 0);
}

static void one_token_however_many_tasks(void **state)
{
    (void)state;
    test_put("q", "v w x y z");
    assert_int_equal(tokens(), 1);
    test_put_many("q", 500, "m%03zu");
    assert_int_equal(tokens(), 1);
    test_put_spec((reeve_task_spec){.id = "later", .in_ms = 60000});
    take_token();
    test_put_spec((reeve_task_spec){.id = "later-still", .in_ms = 90000});
    assert_int_equal(tokens(), 0); /* nobody is woken for what is not due */
}

/* Whoever leaves tasks behind wakes the next one. */
static void the_token_is_put_back(void **state)
{
    (void)state;
    test_put("q", "w x y z");
    take_token();
    (void)test_lease(&a, 2);
    assert_int_equal(tokens(), 1);
    take_token();
    (void)test_lease(&b, 2); /* all that there are: nothing is left */
    assert_int_equal(tokens(), 0);
    test_settle(&b, TEST_SNOOZE("z", 0));
    assert_int_equal(tokens(), 1);
    test_settle(&b, TEST_SNOOZE("y", 0));
    assert_int_equal(tokens(), 1);
}

static void what_becomes_ready_wakes(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "s", .in_ms = 1});
    while (test_maintain("q", 10).promoted == 0) test_pause();
    take_token();
    (void)test_lease(&a, 9);
    test_settle(&a, TEST_FAIL("s"));
    assert_int_equal(tokens(), 0);
    test_ok(test_client, reeve_retry(test_client, "q", "s"));
    take_token();
    test_ok(test_client, reeve_pause(test_client, "q"));
    assert_int_equal(tokens(), 0);
    test_ok(test_client, reeve_resume(test_client, "q"));
    take_token();
    (void)test_lease(&a, 9);
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_ok(test_client, reeve_resume(test_client, "q"));
    assert_int_equal(tokens(), 0); /* nothing waits */
}

/* ---- after a crash --------------------------------------------------------------------------------------------- */

/* Makes it look as if a worker had died while it held some tasks. */
static void crash_with(test_hand *hand, unsigned tasks)
{
    (void)test_lease(hand, tasks);
    test_expire(hand);
    test_maintain_all("q");
    test_hand_init(hand, hand->thread, "q");
}

static void a_crashed_task_is_leased_alone(void **state)
{
    (void)state;
    test_put("q", "c1 c2 x y");
    crash_with(&a, 2);
    assert_int_equal(test_lease(&a, 9), 1);
    assert_string_equal(test_leased_ids(&a), "c1");
    assert_int_equal(a.leased[0].crashes, 1);
    assert_int_equal(a.leased[0].failures, 0);
    assert_int_equal(tokens(), 1);
    assert_int_equal(test_lease(&b, 9), 1);
    assert_string_equal(test_leased_ids(&b), "c2");
    assert_int_equal(test_lease(&b, 9), 2);
    assert_string_equal(test_leased_ids(&b), "x y");
}

static void others_go_before_a_crashed_one(void **state)
{
    (void)state;
    test_put("q", "c x");
    crash_with(&a, 1);
    test_put_spec((reeve_task_spec){.id = "urgent1", .priority = -3});
    test_put_spec((reeve_task_spec){.id = "urgent2", .priority = -3});
    assert_int_equal(test_lease(&a, 9), 2);
    assert_string_equal(test_leased_ids(&a), "urgent1 urgent2");
    take_token(); /* for the one that comes next */
    assert_int_equal(test_lease(&b, 9), 1);
    assert_string_equal(test_leased_ids(&b), "c");
}

static void alone_behind_another_queue(void **state)
{
    (void)state;
    test_hand two;
    test_put("q", "c x");
    crash_with(&a, 1);
    take_token();
    test_hand_init(&two, "5", "first q third");
    test_put("first", "f");
    test_put("third", "t");
    assert_int_equal(test_lease(&two, 9), 2); /* not in the company of others */
    assert_string_equal(test_leased_ids(&two), "f t");
    take_token();
    assert_int_equal(test_lease(&two, 9), 1);
    assert_string_equal(test_leased_ids(&two), "c");
    test_put("third", "t2");
    assert_int_equal(test_lease(&two, 9), 2);
    assert_string_equal(test_leased_ids(&two), "x t2");
}

static void a_crashed_one_in_front_ends_the_lease(void **state)
{
    (void)state;
    test_hand two;
    test_put("q", "c");
    crash_with(&a, 1);
    test_hand_init(&two, "5", "q third");
    test_put("third", "t");
    assert_int_equal(test_lease(&two, 9), 1);
    assert_string_equal(test_leased_ids(&two), "c");
}

static void failures_alone_need_no_solitude(void **state)
{
    (void)state;
    test_put("q", "x y z");
    (void)test_lease(&a, 2);
    test_settle(&a, TEST_RETRY("x", 0), TEST_RETRY("y", 0));
    test_maintain_all("q");
    assert_int_equal(test_lease(&a, 9), 3);
    for (size_t i = 0; i < 3; i++) assert_int_equal(a.leased[i].failures, strcmp(a.leased[i].id, "z") == 0 ? 0 : 1);
}

static void crash_as(test_hand *hand, const char *how)
{
    assert_int_equal(test_lease(hand, 1), 1);
    assert_true(test_says_it_runs(hand, how));
    test_expire(hand);
    test_maintain_all("q");
    test_hand_init(hand, hand->thread, "q");
}

static int crashes_of(const char *id)
{
    reeve_task_info *info = test_show("q", id);
    int crashes = (int)info->crashes;
    reeve_task_info_free(info);
    return crashes;
}

/* Of a worker that dies while a task runs alone, that task's crash is the only one. */
static void what_runs_alone_is_guilty(void **state)
{
    (void)state;
    test_put("q", "s x y");
    crash_with(&a, 1);
    crash_with(&a, 1);
    test_hand other = a;
    other.thread = "2";
    assert_int_equal(test_lease(&a, 1), 1);
    memcpy(other.sessions, a.sessions, sizeof(a.sessions));
    memcpy(other.begun, a.begun, sizeof(a.begun));
    assert_int_equal(test_lease(&other, 2), 2);
    assert_true(test_says_it_runs(&a, "alone"));
    test_expire(&a);
    while (test_maintain("q", 1).session[0] != '\0') continue;
    assert_int_equal(crashes_of("s"), 3);
    assert_int_equal(crashes_of("x") + crashes_of("y"), 0);
    assert_int_equal(test_number("HGET " Q "info:s alone"), 1);
    assert_int_equal(test_number("EXISTS " Q "info:x " Q "info:y"), 0);
    assert_int_equal(test_number("EXISTS " Q "lost:%s", other.sessions[0]), 0);
}

static void a_suspect_that_has_not_begun_is_not_guilty(void **state)
{
    (void)state;
    test_put("q", "s");
    for (int i = 0; i < 4; i++) crash_with(&a, 1);
    assert_int_equal(crashes_of("s"), 2);
}

static void a_run_alone_clears(void **state)
{
    (void)state;
    test_put("q", "s");
    crash_with(&a, 1);
    crash_with(&a, 1);
    crash_as(&a, "alone");
    assert_int_equal(test_lease(&a, 1), 1);
    assert_true(a.leased[0].crashed_alone);
    assert_true(test_says_it_runs(&a, "alone"));
    assert_true(test_says_it_runs(&a, "clear"));
    test_settle(&a, TEST_SNOOZE("s", 0));
    assert_false(test_says_it_runs(&a, "alone")); /* it is not ours any more */
    assert_int_equal(test_lease(&a, 1), 1);
    assert_int_equal(a.leased[0].crashes, 0);
    assert_false(a.leased[0].crashed_alone);
}

static void crashes_add_up(void **state)
{
    (void)state;
    test_put("q", "c");
    for (unsigned i = 0; i < 2; i++) crash_with(&a, 1);
    crash_as(&a, "beside");
    (void)test_lease(&a, 1);
    assert_int_equal(a.leased[0].crashes, 3);
    assert_false(a.leased[0].crashed_alone);
    reeve_task_info *info = test_show("q", "c");
    assert_int_equal(info->crashes, 3);
    reeve_task_info_free(info);
    reeve_queue_info queue;
    test_ok(test_client, reeve_queue(test_client, "q", &queue));
    assert_int_equal(queue.crashed_total, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(queues_are_served_in_order, set_up),
        cmocka_unit_test_setup(a_session_begins_only_where_it_leases, set_up),
        cmocka_unit_test_setup(outcomes_of_several_queues, set_up),
        cmocka_unit_test_setup(settles_where_it_does_not_lease, set_up),
        cmocka_unit_test_setup(a_session_gone_in_one_queue, set_up),
        cmocka_unit_test_setup(a_paused_queue_is_passed_over, set_up),
        cmocka_unit_test_setup(one_token_however_many_tasks, set_up),
        cmocka_unit_test_setup(the_token_is_put_back, set_up),
        cmocka_unit_test_setup(what_becomes_ready_wakes, set_up),
        cmocka_unit_test_setup(a_crashed_task_is_leased_alone, set_up),
        cmocka_unit_test_setup(others_go_before_a_crashed_one, set_up),
        cmocka_unit_test_setup(alone_behind_another_queue, set_up),
        cmocka_unit_test_setup(a_crashed_one_in_front_ends_the_lease, set_up),
        cmocka_unit_test_setup(failures_alone_need_no_solitude, set_up),
        cmocka_unit_test_setup(crashes_add_up, set_up),
        cmocka_unit_test_setup(what_runs_alone_is_guilty, set_up),
        cmocka_unit_test_setup(a_suspect_that_has_not_begun_is_not_guilty, set_up),
        cmocka_unit_test_setup(a_run_alone_clears, set_up),
    };
    return cmocka_run_group_tests_name("ct_lease", tests, test_place_start, test_place_stop);
}
