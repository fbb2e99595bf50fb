/* Replies of turn.lua, begin_session.lua, recover.lua, heartbeat.lua, end_session.lua and maintain.lua, and those that they would never
 * give. */
#include <string.h>

#include "protocol/begin_session_call.h"
#include "protocol/end_session_call.h"
#include "protocol/fan_call.h"
#include "protocol/heartbeat_call.h"
#include "protocol/lease.h"
#include "protocol/maintain_call.h"
#include "protocol/reap_call.h"
#include "protocol/recover_call.h"
#include "protocol/turn_reply.h"
#include "support/cmocka.h"
#include "support/tree.h"

#define PLAIN "{\"at\":5,\"type\":\"t\"}\np"
#define MARKED "{\"info\":1,\"at\":5,\"type\":\"t\"}\np"

static rv_lease leases[16];
static size_t bad;

static size_t leases_of(const rv_reply *reply, size_t max)
{
    rv_turn_reply turn;
    assert_true(rv_turn_reply_read(&turn, reply));
    memset(leases, 0x55, sizeof(leases));
    return rv_turn_reply_leases(&turn, 1000, leases, max, &bad);
}

/* ---- turn ------------------------------------------------------------------------------------------------------ */

static void an_empty_turn(void **state)
{
    (void)state;
    rv_turn_reply turn;
    assert_true(rv_turn_reply_read(&turn, A(N(99), A(), A(), A())));
    assert_int_equal(turn.now_ms, 99);
    assert_int_equal(turn.refused->count, 0);
    assert_int_equal(turn.gone->count, 0);
    assert_int_equal(leases_of(A(N(99), A(), A(), A()), 16), 0);
    assert_int_equal(bad, 0);
}

static void a_flat_turn(void **state)
{
    (void)state;
    rv_turn_reply turn;
    assert_true(rv_turn_reply_read(&turn, A(N(99))));
    assert_int_equal(turn.now_ms, 99);
    assert_int_equal(turn.refused->count + turn.gone->count + turn.extras->count, 0);
    assert_int_equal(leases_of(A(N(99)), 16), 0);
    assert_int_equal(leases_of(A(N(2), T("x"), T(PLAIN), T("y"), T(PLAIN), N(77)), 16), 2);
    assert_int_equal(bad, 0);
    assert_int_equal(leases[1].queue, 1);
    assert_string_equal(leases[1].id, "y");
    assert_int_equal(leases[1].since_ms, 77);
    assert_false(rv_turn_reply_read(&turn, A(T("x"))));
    assert_false(rv_turn_reply_read(&turn, A(N(2), T("x"), T(PLAIN))));
    assert_false(rv_turn_reply_read(&turn, A(N(2), T("x"), T(PLAIN), NIL)));
}

static void refused_and_gone(void **state)
{
    (void)state;
    rv_turn_reply turn;
    assert_true(rv_turn_reply_read(&turn, A(T("1763712000123"), A(T("a"), T("b")), A(N(2)), A())));
    assert_int_equal(turn.now_ms, 1763712000123); /* as text, too */
    assert_int_equal(turn.refused->count, 2);
    assert_string_equal(turn.refused->items[1]->text, "b");
    assert_int_equal(rv_reply_int(turn.gone->items[0], 0), 2);
}

static void refused_of_several_groups(void **state)
{
    (void)state;
    size_t group = 9, length = 9;
    assert_string_equal(rv_turn_reply_refused(T("a"), 2, &group, &length), "a");
    assert_int_equal(group, 0);
    assert_int_equal(length, 1);
    assert_string_equal(rv_turn_reply_refused(T("2 ab"), 2, &group, &length), "ab");
    assert_int_equal(group, 1);
    assert_int_equal(length, 2);
    assert_null(rv_turn_reply_refused(T("3 a"), 2, &group, &length));
    assert_null(rv_turn_reply_refused(T("0 a"), 2, &group, &length));
    assert_null(rv_turn_reply_refused(T("x a"), 2, &group, &length));
    assert_null(rv_turn_reply_refused(T("a"), 0, &group, &length));
    assert_null(rv_turn_reply_refused(N(1), 2, &group, &length));
}

static void what_is_no_turn(void **state)
{
    (void)state;
    rv_turn_reply turn;
    assert_false(rv_turn_reply_read(&turn, NULL));
    assert_false(rv_turn_reply_read(&turn, NIL));
    assert_false(rv_turn_reply_read(&turn, E("ERR x")));
    assert_false(rv_turn_reply_read(&turn, T("x")));
    assert_false(rv_turn_reply_read(&turn, A()));
    assert_false(rv_turn_reply_read(&turn, A(N(1), A(), A())));
    assert_false(rv_turn_reply_read(&turn, A(N(1), NIL, A(), A())));
    assert_false(rv_turn_reply_read(&turn, A(N(1), A(), N(1), A())));
    assert_false(rv_turn_reply_read(&turn, A(N(1), A(), A(), T("x"))));
}

static void leases_of_several_queues(void **state)
{
    (void)state;
    assert_int_equal(
        leases_of(A(N(77), A(), A(), A(), A(N(2), T("x"), T(PLAIN), T("y"), T("{\"at\":6,\"type\":\"uv\"}\n")),
                    A(N(1), T("x"), T(PLAIN))),
                  16),
        3);
    assert_int_equal(bad, 0);
    assert_int_equal(leases[0].queue, 1);
    assert_string_equal(leases[0].id, "x");
    assert_int_equal(leases[0].since_ms, 77);
    assert_int_equal(leases[0].envelope.payload.length, 1);
    assert_false(leases[0].has_info);
    assert_int_equal(leases[0].failures + leases[0].crashes, 0);
    assert_int_equal(leases[1].queue, 1);
    assert_int_equal(leases[1].envelope.type_length, 2);
    assert_int_equal(leases[2].queue, 0);
    assert_string_equal(leases[2].id, "x");
}

/* One after the other, and each with what is told of it; a malformed one is passed over. */
static void copies_of_leases(void **state)
{
    (void)state;
    rv_turn_reply turn;
    rv_turn_reply_place place = {0};
    rv_lease lease;
    rv_arena arena;
    rv_arena_init(&arena);
    assert_true(rv_turn_reply_read(&turn, A(N(77), A(), A(), A(A(T("x"), N(3), N(1)), A(T("x"), N(4), N(0))),
                                            A(N(2), T("x"), T(MARKED), T("y"), N(5)), A(N(1)),
                                            A(N(9), T("z"), T(PLAIN)), A(N(1), T("x"), T(MARKED)))));
    assert_int_equal(rv_turn_reply_count(&turn), 4);
    assert_true(rv_turn_reply_copy_next(&turn, 2, &place, &arena, &lease));
    assert_string_equal(lease.id, "x");
    assert_int_equal(lease.queue, 1);
    assert_int_equal(lease.failures, 3);
    assert_int_equal(lease.since_ms, 77);
    assert_false(rv_turn_reply_copy_next(&turn, 2, &place, &arena, &lease));
    assert_false(rv_turn_reply_copy_next(&turn, 2, &place, &arena, &lease));
    assert_true(rv_turn_reply_copy_next(&turn, 2, &place, &arena, &lease));
    assert_int_equal(lease.queue, 0);
    assert_int_equal(lease.failures, 4);
    assert_false(rv_turn_reply_copy_next(&turn, 2, &place, &arena, &lease));
    rv_arena_fini(&arena);
}

static void no_more_than_there_is_room_for(void **state)
{
    (void)state;
    const rv_reply *reply = A(N(1), A(), A(), A(), A(N(1), T("a"), T(PLAIN), T("b"), T(PLAIN), T("c"), T(PLAIN)));
    assert_int_equal(leases_of(reply, 2), 2);
    assert_string_equal(leases[1].id, "b");
    assert_int_equal(leases_of(reply, 0), 0);
}

/* What was told goes to marked tasks, in order: the same id may stand in two queues. */
static void extras_find_their_tasks(void **state)
{
    (void)state;
    assert_int_equal(leases_of(A(N(1), A(), A(), A(A(T("b"), N(3), N(1)), A(T("x"), N(1), N(0)), A(T("x"), N(9), N(2))),
                                 A(N(1), T("a"), T(PLAIN), T("b"), T(MARKED), T("x"), T(MARKED)),
                                 A(N(2), T("b"), T(PLAIN), T("x"), T(MARKED))),
                               16),
                     5);
    assert_false(leases[0].has_info);
    assert_true(leases[1].has_info);
    assert_int_equal(leases[1].failures, 3);
    assert_int_equal(leases[1].crashes, 1);
    assert_int_equal(leases[2].failures, 1);
    assert_false(leases[3].has_info);
    assert_int_equal(leases[4].failures, 9);
    assert_int_equal(leases[4].crashes, 2);
}

static void extras_that_do_not_fit(void **state)
{
    (void)state;
    /* Of nobody, of the wrong type, too short. */
    assert_int_equal(leases_of(A(N(1), A(), A(), A(NIL, N(1), A(), A(N(1)), A(T("nobody"), N(7), N(7)), A(T("x"))),
                                 A(N(1), T("x"), T(MARKED), T("y"), T(MARKED))),
                               16),
                     2);
    assert_true(leases[0].has_info);
    assert_int_equal(leases[0].failures, 0);
    assert_false(leases[1].has_info);
    assert_int_equal(leases[1].failures, 0);
}

static void bad_envelopes_are_counted(void **state)
{
    (void)state;
    assert_int_equal(leases_of(A(N(1), A(), A(), A(A(T("b"), N(2), N(0)), A(T("d"), N(4), N(0))),
                                 A(N(1), T("a"), T("nonsense"), T("b"), T("{\"info\":1,x\n"), T("c"), NIL, N(5),
                                   T(PLAIN), T("d"), T(MARKED))),
                               16),
                     3);
    assert_int_equal(bad, 2);
    /* What has an id can be settled. */
    assert_non_null(leases[0].envelope.malformed);
    assert_non_null(leases[1].envelope.malformed);
    assert_string_equal(leases[2].id, "d");
    assert_int_equal(leases[2].failures, 4);
}

static void odd_queues_are_passed_over(void **state)
{
    (void)state;
    assert_int_equal(leases_of(A(N(1), A(), A(), A(), NIL, N(3), T("x"), A(), A(N(1)), A(N(1), T("alone")),
                                 A(N(0), T("a"), T(PLAIN)), A(N(-1), T("a"), T(PLAIN)), A(T("x"), T("a"), T(PLAIN)),
                                 A(N(3), T("good"), T(PLAIN), T("odd"))),
                               16),
                     1);
    assert_string_equal(leases[0].id, "good");
    assert_int_equal(leases[0].queue, 2);
}

/* ---- begin_session --------------------------------------------------------------------------------------------- */

static void begun_sessions(void **state)
{
    (void)state;
    rv_begin_session_reply begun;
    assert_true(rv_begin_session_call_read(&begun, A(T("{\"attempts\":1}"), T("100"), T(""))));
    assert_true(begun.alive);
    assert_string_equal(begun.policy->text, "{\"attempts\":1}");
    assert_int_equal(begun.result_max, 100);
    assert_int_equal(begun.payload_max, 0);
    assert_true(rv_begin_session_call_read(&begun, A()));
    assert_false(begun.alive);
    assert_false(rv_begin_session_call_read(&begun, A(T("x"), T(""))));
    assert_false(rv_begin_session_call_read(&begun, A(N(1), T(""), T(""))));
    assert_false(rv_begin_session_call_read(&begun, E("ERR x")));
    assert_false(rv_begin_session_call_read(&begun, NIL));
}

/* ---- recall ---------------------------------------------------------------------------------------------------- */

static void recalled_leases(void **state)
{
    (void)state;
    rv_recover_reply recalled;
    assert_true(rv_recover_call_read(&recalled, A(N(1), T("17"), A(A(T("y"), N(2), N(1))),
                                                  A(T("x"), T("123 7"), T(PLAIN), T("y"), T("9999999999999 7"),
                                                    T(MARKED), T("z"), T("1 7"), T("bad")))));
    assert_true(recalled.alive);
    assert_string_equal(recalled.cursor, "17");
    assert_int_equal(rv_recover_call_leases(&recalled, 4, leases, 16), 3);
    assert_non_null(leases[2].envelope.malformed);
    assert_int_equal(leases[0].queue, 4);
    assert_int_equal(leases[0].since_ms, 123);
    assert_false(leases[0].has_info);
    assert_int_equal(leases[1].since_ms, 9999999999999);
    assert_int_equal(leases[1].failures, 2);
    assert_int_equal(leases[1].crashes, 1);
    assert_int_equal(rv_recover_call_leases(&recalled, 4, leases, 16), 0);
    /* The same in pieces. */
    recalled.next_task = recalled.next_extra = 0;
    assert_int_equal(rv_recover_call_leases(&recalled, 4, leases, 1), 1);
    assert_int_equal(leases[0].since_ms, 123);
    assert_int_equal(rv_recover_call_leases(&recalled, 4, leases, 1), 1);
    assert_int_equal(leases[0].since_ms, 9999999999999);
    assert_int_equal(leases[0].failures, 2);
    assert_int_equal(rv_recover_call_leases(&recalled, 4, leases, 1), 1);
    assert_non_null(leases[0].envelope.malformed);
    assert_int_equal(rv_recover_call_leases(&recalled, 4, leases, 1), 0);
}

static void leases_of_no_queue_are_left_out(void **state)
{
    (void)state;
    rv_turn_reply turn;
    assert_true(rv_turn_reply_read(&turn, A(N(9), T("x"), T(PLAIN), N(1700000000000))));
    assert_int_equal(rv_turn_reply_leases(&turn, 8, leases, 16, &bad), 0);
    assert_int_equal(bad, 1);
    assert_int_equal(rv_turn_reply_leases(&turn, 9, leases, 16, &bad), 1);
    assert_int_equal(leases[0].queue, 8);
    assert_true(rv_turn_reply_read(&turn, A(N(1700000000000), A(), A(), A(), A(N(INT64_MAX), T("x"), T(PLAIN)))));
    assert_int_equal(rv_turn_reply_leases(&turn, 8, leases, 16, &bad), 0);
    /* What is no time is no turn. */
    assert_false(rv_turn_reply_read(&turn, A(N(-1), A(), A(), A())));
    assert_false(rv_turn_reply_read(&turn, A(N(INT64_MAX), A(), A(), A())));
    assert_false(rv_turn_reply_read(&turn, A(N(1), T("x"), T(PLAIN), N(INT64_MAX))));
}

static void what_is_no_recover(void **state)
{
    (void)state;
    rv_recover_reply recalled;
    assert_true(rv_recover_call_read(&recalled, A(N(0), N(5), A(), A())));
    assert_false(recalled.alive);
    assert_string_equal(recalled.cursor, "0"); /* so that nobody asks for ever */
    assert_true(rv_recover_call_read(&recalled, A(NIL, T("0"), A(), A(T("x"), T("1 1")))));
    assert_false(recalled.alive);
    assert_int_equal(rv_recover_call_leases(&recalled, 0, leases, 16), 0);
    assert_true(
        rv_recover_call_read(&recalled, A(N(1), T("0"), A(), A(T("x"), NIL, T(PLAIN), N(1), T("1 1"), T(PLAIN)))));
    assert_int_equal(rv_recover_call_leases(&recalled, 0, leases, 16), 1);
    assert_int_equal(leases[0].since_ms, 0);
    assert_false(rv_recover_call_read(&recalled, NULL));
    assert_false(rv_recover_call_read(&recalled, E("ERR x")));
    assert_false(rv_recover_call_read(&recalled, A(N(1), T("0"), A())));
    assert_false(rv_recover_call_read(&recalled, A(N(1), T("0"), NIL, A())));
    assert_false(rv_recover_call_read(&recalled, A(N(1), T("0"), A(), NIL)));
}

/* ---- sessions -------------------------------------------------------------------------------------------------- */

static void heartbeats(void **state)
{
    (void)state;
    rv_heartbeat_reply heartbeat;
    assert_true(rv_heartbeat_call_read(&heartbeat, A(N(1), N(12), N(1))));
    assert_true(heartbeat.alive);
    assert_int_equal(heartbeat.held, 12);
    assert_true(heartbeat.woken);
    assert_true(rv_heartbeat_call_read(&heartbeat, A(N(0), N(0), N(0))));
    assert_false(heartbeat.alive);
    assert_true(rv_heartbeat_call_read(&heartbeat, A(N(1), N(-2))));
    assert_int_equal(heartbeat.held, 0);
    assert_false(heartbeat.woken);
    assert_false(rv_heartbeat_call_read(&heartbeat, A(N(1))));
    assert_false(rv_heartbeat_call_read(&heartbeat, E("ERR")));
    assert_false(rv_heartbeat_call_read(&heartbeat, NULL));
}

static void farewells(void **state)
{
    (void)state;
    bool more = false;
    uint64_t back;
    assert_true(rv_end_session_call_read(A(N(7), N(1)), &back, &more));
    assert_int_equal(back, 7);
    assert_true(more);
    assert_true(rv_end_session_call_read(A(N(0), N(0)), &back, &more));
    assert_false(more);
    rv_end_session_turns turns = "x";
    rv_end_session_call_read_turns(A(N(7), N(1), T("0 -77")), turns);
    assert_string_equal(turns, "0 -77");
    rv_end_session_call_read_turns(A(N(7), N(1)), turns);
    assert_string_equal(turns, "");
    assert_false(rv_end_session_call_read(A(N(0)), &back, &more));
    assert_false(rv_end_session_call_read(NIL, &back, &more));
}

static void tending(void **state)
{
    (void)state;
    rv_maintain_reply maintained;
    assert_true(rv_maintain_call_read(&maintained, A(N(1000), N(0), N(1500), N(2), N(1), N(4), N(0))));
    assert_false(maintained.more);
    assert_int_equal(maintained.next_in_ms, 500);
    assert_int_equal(maintained.promoted, 2);
    assert_int_equal(maintained.trimmed, 4);
    assert_true(maintained.dead && !maintained.ends);
    assert_true(rv_maintain_call_read(&maintained, A(N(1000), N(1), N(900), N(0), N(0), N(0), N(1))));
    assert_true(maintained.more);
    assert_int_equal(maintained.next_in_ms, 0); /* it was due */
    assert_true(!maintained.dead && maintained.ends);
    assert_true(rv_maintain_call_read(&maintained, A(N(1000), N(0), N(-1), N(0), N(0), N(0), NIL)));
    assert_int_equal(maintained.next_in_ms, -1);
    assert_false(maintained.dead || maintained.ends);
    assert_false(rv_maintain_call_read(&maintained, A(N(1000), N(0), N(-1), N(0), N(0), N(0))));
    assert_false(rv_maintain_call_read(&maintained, E("ERR")));
}

static void what_maintenance_calls_for(void **state)
{
    (void)state;
    rv_reap_reply reaped;
    assert_true(rv_reap_call_read(&reaped, A(T("s"), N(3), N(1))));
    assert_string_equal(reaped.session, "s");
    assert_int_equal(reaped.recovered, 3);
    assert_true(reaped.more);
    assert_true(rv_reap_call_read(&reaped, A(T(""), N(0), N(0))));
    assert_false(reaped.more);
    assert_false(rv_reap_call_read(&reaped, A(NIL, N(0), N(0))));
    assert_false(rv_reap_call_read(&reaped, A(T("s"), N(3))));
    assert_false(rv_reap_call_read(&reaped, E("ERR")));
    rv_fan_reply fanned;
    assert_true(rv_fan_call_read(&fanned, A(N(1), N(7))));
    assert_true(fanned.more);
    assert_int_equal(fanned.outbox, 7);
    assert_true(rv_fan_call_read(&fanned, A(N(0), N(0), T("q"))));
    assert_false(fanned.more);
    assert_false(rv_fan_call_read(&fanned, A(N(1))));
    assert_false(rv_fan_call_read(&fanned, E("ERR")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_turn),
        cmocka_unit_test(a_flat_turn),
        cmocka_unit_test(refused_and_gone),
        cmocka_unit_test(refused_of_several_groups),
        cmocka_unit_test(what_is_no_turn),
        cmocka_unit_test(leases_of_several_queues),
        cmocka_unit_test(copies_of_leases),
        cmocka_unit_test(no_more_than_there_is_room_for),
        cmocka_unit_test(extras_find_their_tasks),
        cmocka_unit_test(extras_that_do_not_fit),
        cmocka_unit_test(bad_envelopes_are_counted),
        cmocka_unit_test(odd_queues_are_passed_over),
        cmocka_unit_test(begun_sessions),
        cmocka_unit_test(recalled_leases),
        cmocka_unit_test(leases_of_no_queue_are_left_out),
        cmocka_unit_test(what_is_no_recover),
        cmocka_unit_test(heartbeats),
        cmocka_unit_test(farewells),
        cmocka_unit_test(tending),
        cmocka_unit_test(what_maintenance_calls_for),
    };
    return cmocka_run_group_tests_name("ut_turn", tests, NULL, NULL);
}
