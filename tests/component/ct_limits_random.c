/*
 * Random operations under limits that change all the time, with sessions that die, leave and lose replies, and a clock
 * that jumps: after each operation the counts are right, no limit is exceeded and nothing stands where nobody looks;
 * and when all is over, every task has ended and nothing is left. REEVE_TEST_SEED and REEVE_TEST_ROUNDS choose what is
 * played.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "protocol/end_session_call.h"
#include "support/clock.h"
#include "support/limits.h"

#define Q "reeve:{q}:"
#define NOW 1900000000000

enum { HANDS = 3, GROUPS = 4, HELD = 400, OPS = 400 };

static uint64_t dice;
static test_hand hands[HANDS];
static struct {
    char id[REEVE_ID_MAX];
    int hand;
    bool flagged;
} held[HELD];
static size_t held_count, made;
static int64_t queue_limit, groups_limit, own_limit[GROUPS]; /* 0: none of its own; -1: any */

static uint64_t below(uint64_t n)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice % n;
}

static const char *group_name(size_t group)
{
    static const char *const names[GROUPS] = {"a", "b:1", "c d", "%e"};
    return names[group];
}

/* An id says its group: "0-17"; "n-18" has none. */
static int group_of(const char *id)
{
    return id[0] == 'n' ? -1 : id[0] - '0';
}

static const char *any_id(void)
{
    static char id[REEVE_ID_MAX];
    (void)snprintf(id, sizeof(id), "%c-%zu", "0123n"[below(5)], (size_t)below(made + 1));
    return id;
}

/* ---- what must hold -------------------------------------------------------------------------------------------- */

static void check_limit(const char *what, long long running, int64_t limit)
{
    if (limit > 0 && running > limit) fail_msg("%s: %lld run, the limit is %lld", what, running, (long long)limit);
}

static void check_leased(const test_hand *hand)
{
    for (size_t i = 0; i < hand->count; i++) {
        int group = group_of(hand->leased[i].id);
        if (group < 0) continue;
        int64_t limit = own_limit[group] != 0 ? own_limit[group] : groups_limit;
        const rv_reply *reply;
        if (limit <= 0) continue;
        rv_cmd(test_conn, 3);
        rv_args(test_conn, "HGET");
        rv_args(test_conn, Q "group_running");
        rv_args(test_conn, group_name((size_t)group));
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        check_limit(group_name((size_t)group), rv_reply_int(reply, 0), limit);
    }
    if (hand->count > 0 && queue_limit > 0)
        check_limit("the queue", test_number("HGET " Q "limit_state running"), queue_limit);
}

/* ---- operations ------------------------------------------------------------------------------------------------ */

static void put(void)
{
    size_t count = 1 + below(8), group = below(GROUPS + 1);
    for (size_t i = 0; i < count; i++, made++) {
        char id[REEVE_ID_MAX];
        (void)snprintf(id, sizeof(id), "%c-%zu", "0123n"[group], made);
        test_put_spec((reeve_task_spec){.id = id,
                                        .group = group < GROUPS ? group_name(group) : NULL,
                                        .priority = below(5) == 0 ? (int)below(3) - 1 : 0,
                                        .weight = group < GROUPS ? 1 + (unsigned)below(3) * 50 : 0,
                                        .in_ms = below(8) == 0 ? (int64_t)below(3000) : 0});
    }
}

static void keep_leased(int which)
{
    const test_hand *hand = &hands[which];
    for (size_t i = 0; i < hand->count && held_count < HELD; i++) {
        rv_copy_text(held[held_count].id, REEVE_ID_MAX, hand->leased[i].id);
        held[held_count].hand = which;
        held[held_count++].flagged = hand->leased[i].has_info;
    }
}

static size_t choose_outcomes(int which, test_outcome *outcomes, size_t max)
{
    static test_outcome kinds[] = {TEST_DONE(NULL),        TEST_DONE(NULL),      TEST_DONE(NULL),
                                   TEST_RESULT(NULL, "r"), TEST_RETRY(NULL, 0),  TEST_RETRY(NULL, 700),
                                   TEST_FAIL(NULL),        TEST_SNOOZE(NULL, 0), TEST_SNOOZE(NULL, 300)};
    static char ids[64][REEVE_ID_MAX];
    size_t count = 0;
    for (size_t i = 0; i < held_count && count < max;) {
        if (held[i].hand != which || below(3) == 0) {
            i++;
            continue;
        }
        rv_copy_text(ids[count], REEVE_ID_MAX, held[i].id);
        outcomes[count] = kinds[below(sizeof(kinds) / sizeof(kinds[0]))];
        outcomes[count].is.id = ids[count];
        outcomes[count++].is.has_info = held[i].flagged;
        held[i] = held[--held_count];
    }
    return count;
}

static void turn(void)
{
    int which = (int)below(HANDS);
    test_outcome outcomes[64];
    size_t count = below(3) == 0 ? 0 : choose_outcomes(which, outcomes, 1 + below(30));
    unsigned want = below(4) == 0 ? 0 : 1 + (unsigned)below(12);
    (void)test_turn(&hands[which], want, outcomes, count);
    check_leased(&hands[which]);
    if (hands[which].gone[0] == '1') test_hand_init(&hands[which], "1", "q");
    if (below(40) == 0) return; /* the reply is lost: its tasks are there until the session ends */
    keep_leased(which);
    if (below(10) == 0 && count > 0) { /* sent again, or by somebody else */
        test_hand other = hands[below(2) == 0 ? (size_t)which : below(HANDS)];
        bool leased_again = false;
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < held_count; j++)
                leased_again = leased_again || strcmp(held[j].id, outcomes[i].is.id) == 0;
        if (!leased_again) (void)test_turn(&other, 0, outcomes, count);
    }
}

static void forget_held(int which)
{
    for (size_t i = 0; i < held_count;) {
        if (held[i].hand == which)
            held[i] = held[--held_count];
        else
            i++;
    }
    test_hand_init(&hands[which], which == 0 ? "1" : "2", "q");
}

static void end_session(void)
{
    int which = (int)below(HANDS);
    if (test_number("EXISTS " Q "running:%s", hands[which].sessions[0]) == 0) return;
    if (below(2) == 0) {
        test_expire(&hands[which]);
    } else {
        const rv_reply *reply;
        for (uint64_t i = below(4); i < 4; i++) { /* it may die meanwhile */
            rv_end_session_call_build(test_conn, &hands[which].prefixes[0], hands[which].sessions[0],
                                      1 + (unsigned)below(5));
            assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        }
    }
    forget_held(which);
}

static void change_limit(void)
{
    static const int64_t numbers[] = {-1, 1, 1, 2, 3, 5};
    static const reeve_rate rates[] = {{0, 0, 0}, {0, 0, 0}, {5, 1000, 1}, {20, 1000, 3}, {2000, 1000, 1}};
    int64_t number = numbers[below(6)];
    const reeve_rate *rate = below(3) == 0 ? &rates[below(5)] : NULL;
    size_t group = below(GROUPS);
    switch (below(4)) {
    case 0:
        test_limit_queue(queue_limit = number < 0 ? number : 3 * number, rate);
        break;
    case 1:
        test_limit_groups(groups_limit = number, rate);
        break;
    case 2:
        test_limit_group(group_name(group), own_limit[group] = number, rate);
        break;
    default:
        test_limit_forget(group_name(group));
        own_limit[group] = 0;
    }
}

static void change_hold(void)
{
    size_t group = below(GROUPS + 1);
    test_ok(test_client, reeve_pause_for(test_client, "q", group < GROUPS ? group_name(group) : NULL,
                                         (int64_t)below(3) * 400, NULL));
}

static void steer(void)
{
    const char *id = any_id();
    reeve_status status;
    switch (below(6)) {
    case 0:
        status = reeve_cancel(test_client, "q", id);
        break;
    case 1:
        status = reeve_delete(test_client, "q", id);
        break;
    case 2:
        status = reeve_retry(test_client, "q", id);
        break;
    case 3:
        status = reeve_reschedule_in(test_client, "q", id, (int64_t)below(900));
        break;
    case 4:
        status = reeve_reschedule(test_client, "q", id, 0);
        break;
    default:
        status = reeve_set_priority(test_client, "q", id, (int)below(3) - 1);
    }
    if (status != REEVE_OK && status != REEVE_ENOTFOUND && status != REEVE_ESTATE)
        fail_msg("%s", reeve_client_error(test_client));
}

static void pause_or_resume(void)
{
    if (below(3) == 0)
        test_ok(test_client, reeve_pause(test_client, "q"));
    else
        test_ok(test_client, reeve_resume(test_client, "q"));
}

static void operate(void)
{
    uint64_t which = below(100);
    if (which < 15)
        put();
    else if (which < 55)
        turn();
    else if (which < 65)
        (void)test_maintain("q", 1 + (unsigned)below(30));
    else if (which < 75)
        test_clock_advance((int64_t)below(400));
    else if (which < 80)
        end_session();
    else if (which < 87)
        change_limit();
    else if (which < 90)
        change_hold();
    else if (which < 98)
        steer();
    else
        pause_or_resume();
}

/* ---- the end --------------------------------------------------------------------------------------------------- */

static uint64_t waiting(void)
{
    reeve_queue_info info;
    test_ok(test_client, reeve_queue(test_client, "q", &info));
    return info.count[REEVE_STATE_READY] + info.count[REEVE_STATE_PARKED] + info.count[REEVE_STATE_SCHEDULED] +
           info.count[REEVE_STATE_RUNNING];
}

/* Limits stay: all that is done is to lease, to complete, and to tend when tend says so. */
static void finish(void)
{
    test_ok(test_client, reeve_resume(test_client, "q"));
    for (int which = 0; which < HANDS; which++) {
        if (test_number("EXISTS " Q "running:%s", hands[which].sessions[0]) == 1) test_expire(&hands[which]);
        forget_held(which);
    }
    for (int steps = 0; waiting() > 0; steps++) {
        if (steps == 20000) fail_msg("%llu tasks wait for ever", (unsigned long long)waiting());
        test_maintained maintained = test_maintain("q", 100);
        test_hand *hand = &hands[steps % HANDS];
        size_t count = 0;
        while (test_lease(hand, 8) > 0) {
            count += hand->count;
            check_leased(hand);
            test_done(hand);
        }
        if (hand->gone[0] == '1') test_hand_init(hand, "1", "q");
        if (count > 0 || maintained.more) continue;
        /* Only what tend said when it was last asked may be waited for. */
        maintained = test_maintain("q", 100);
        if (!maintained.more && waiting() > 0) {
            if (maintained.next_in_ms < 0) fail_msg("%llu tasks wait for nothing", (unsigned long long)waiting());
            test_clock_advance(maintained.next_in_ms);
        }
    }
    test_limits_agree();
    if (queue_limit > 0) assert_int_equal(test_limits_running(), 0);
    assert_int_equal(
        test_number("EXISTS " Q "running_group " Q "group_running " Q "parked " Q "limit_due " Q "limit_dirty"), 0);
    test_clock_advance(100000);
    test_limit_queue(-1, TEST_ANY_RATE);
    test_limit_groups(-1, TEST_ANY_RATE);
    for (size_t i = 0; i < GROUPS; i++) test_limit_forget(group_name(i));
    test_maintain_all("q");
    test_groups_forgotten();
    assert_int_equal(test_number("HEXISTS " Q "settings in_force"), 0);
    assert_int_equal(test_number("EXISTS " Q "limit_state " Q "limits"), 0);
}

static void counts_are_right_whatever_happens(void **state)
{
    const char *given = getenv("REEVE_TEST_SEED"), *rounds = getenv("REEVE_TEST_ROUNDS");
    uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    for (int round = rounds ? atoi(rounds) : 12; round > 0; round--, seed++) {
        print_message("REEVE_TEST_SEED=%llu REEVE_TEST_ROUNDS=1\n", (unsigned long long)seed);
        (void)test_place_empty(state);
        test_clock_set(NOW);
        dice = seed * 0x9e3779b97f4a7c15u | 1;
        held_count = made = 0;
        queue_limit = groups_limit = 0;
        memset(own_limit, 0, sizeof(own_limit));
        for (size_t i = 0; i < HANDS; i++) test_hand_init(&hands[i], i == 0 ? "1" : "2", "q");
        for (int i = 0; i < OPS; i++) {
            operate();
            test_limits_agree();
        }
        finish();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_are_right_whatever_happens)};
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_limits_random", tests, test_place_start, test_place_stop);
}
