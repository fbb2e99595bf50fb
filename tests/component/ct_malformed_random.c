/*
 * A producer in another language puts malformed tasks among good ones at random, while sessions settle, die and leave and
 * groups are at limits: in the end every good task has run to its end, every malformed one is dead or cancelled, and
 * nothing is stuck. REEVE_TEST_SEED and REEVE_TEST_ROUNDS choose what is played.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/clock.h"
#include "support/depend.h"
#include "support/foreign.h"
#include "support/limits.h"

#define Q "reeve:{q}:"
#define NOW 1900000000000

enum { HANDS = 2, OPS = 120, TASKS = 2000 };

static uint64_t dice;
static test_hand hands[HANDS];
static size_t made;
static char kinds[TASKS]; /* 'g'ood, 'm'alformed */

static uint64_t below(uint64_t n)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice % n;
}

static int set_up(void **state)
{
    test_clock_set(NOW);
    made = 0;
    return test_place_empty(state);
}

static const char *new_id(char kind)
{
    static char id[32];
    kinds[made] = kind;
    (void)snprintf(id, sizeof(id), "%c%zu", kind, made++);
    return id;
}

static void put_good(void)
{
    static const char *const groups[] = {NULL, "a", "b"};
    reeve_task_spec spec = {.id = new_id('g'), .group = groups[below(3)]};
    spec.priority = (int)below(3) - 1;
    if (below(3) == 0) spec.delay_ms = 1 + (int64_t)below(3000);
    test_put_spec(spec);
}

/* In `ready`, `scheduled`, or in place of a task that waits for another. */
static void put_foreign(char kind)
{
    static const char *const good[] = {"{\"at\":1,\"type\":\"t\"}\n", "{\"at\":1,\"type\":\"t\",\"group\":\"a\"}\nx",
                                       "{\"at\":1,\"type\":\"t\",\"priority\":-1,\"later\":null}\n"};
    const char *envelope = kind == 'g' ? good[below(3)] : test_malformed[below(test_malformed_count)];
    const char *id;
    char parent[32];
    size_t before = made;
    switch (below(3)) {
    case 0:
        test_foreign("q", "ready", 1099511627776.0 + (double)below(100000), new_id(kind), envelope);
        return;
    case 1:
        test_foreign("q", "scheduled", (double)(NOW + (int64_t)below(5000)), new_id(kind), envelope);
        return;
    default:
        if (before == 0 || kinds[before - 1] != 'g') return;
        (void)snprintf(parent, sizeof(parent), "g:q/g%zu", before - 1);
        id = new_id(kind);
        test_put_after("q", id, parent);
        if (strcmp(test_state("q", id), "blocked") == 0) {
            test_foreign("q", "blocked", 1, id, envelope);
        } else {
            kinds[--made] = 0; /* (its parent has ended: it is a good one that comes again under this number) */
            (void)reeve_delete(test_client, "q", id);
        }
    }
}

/* What the last turn leased ends: malformed ones as a worker ends them. */
static void settle(test_hand *hand, bool all)
{
    static test_outcome outcomes[2 * RV_BATCH_MAX];
    static char ids[2 * RV_BATCH_MAX][REEVE_ID_MAX];
    size_t count = 0;
    for (size_t i = 0; i < hand->count; i++) {
        memcpy(ids[count], hand->leased[i].id, sizeof(ids[count]));
        const char *id = ids[count];
        bool malformed = id[0] == 'm';
        uint64_t what = all ? 0 : below(4);
        if (malformed)
            outcomes[count++] = (test_outcome){
                0, {.id = id, .verb = REEVE_OUTCOME_FAIL, .kind = "malformed", .message = "by a worker"}};
        else if (what == 0)
            outcomes[count++] = (test_outcome)TEST_DONE(id);
        else if (what == 1)
            outcomes[count++] = (test_outcome)TEST_RETRY(id, 500);
        else if (what == 2)
            outcomes[count++] = (test_outcome)TEST_SNOOZE(id, 0);
    }
    (void)test_turn(hand, 0, outcomes, count);
    hand->count = 0;
}

static void leave(test_hand *hand, const char *thread)
{
    uint64_t back;
    const rv_reply *reply;
    for (bool more = true; more;) {
        rv_leave_build(test_conn, &hand->prefixes[0], hand->sessions[0], 20);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_true(rv_leave_read(reply, &back, &more));
    }
    test_hand_init(hand, thread, "q");
}

static void step(void)
{
    static const char *const threads[HANDS] = {"1", "2"};
    size_t n = (size_t)below(HANDS);
    test_hand *hand = &hands[n];
    switch (below(12)) {
    case 0:
    case 1:
        put_good();
        break;
    case 2:
    case 3:
    case 4:
        put_foreign('m');
        break;
    case 5:
        put_foreign('g');
        break;
    case 6:
    case 7:
        (void)test_lease(hand, 1 + (unsigned)below(20));
        if (below(4) > 0) settle(hand, false);
        break;
    case 8:
        (void)test_tend("q", 1 + (unsigned)below(50));
        break;
    case 9:
        test_clock_advance((int64_t)below(2000));
        break;
    case 10:
        if (below(2) == 0) leave(hand, threads[n]);
        break;
    default:
        if (below(2) == 0 && test_number("EXISTS " Q "running:%s", hand->sessions[0]) == 1) {
            test_expire(hand);
            test_hand_init(hand, threads[n], "q");
        }
    }
}

static uint64_t left(void)
{
    return test_count("q", "ready") + test_count("q", "scheduled") + test_count("q", "parked") +
           test_count("q", "blocked") + test_count("q", "running");
}

static void wind_up(void)
{
    leave(&hands[0], "1");
    leave(&hands[1], "2");
    for (int i = 0; i < 2000 && left() > 0; i++) {
        test_clock_advance(1000);
        test_tend_all("q");
        (void)test_lease(&hands[0], 64);
        settle(&hands[0], true);
    }
}

static void everything_ended(void)
{
    for (size_t i = 0; i < made; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "%c%zu", kinds[i], i);
        const char *state = test_state("q", id);
        if (strcmp(state, kinds[i] == 'g' ? "completed" : "dead") != 0) fail_msg("%s is \"%s\"", id, state);
    }
    assert_int_equal(left(), 0);
    if (test_count("q", "dead") > 0)
        assert_int_equal(test_number("ZCARD " Q "failures:malformed"), test_count("q", "dead"));
    test_limits_agree();
}

static void play(uint64_t seed)
{
    dice = seed * 2654435761u + 88172645463325252u;
    test_hand_init(&hands[0], "1", "q");
    test_hand_init(&hands[1], "2", "q");
    if (below(2) == 0) test_limit_groups(1 + (int64_t)below(2), NULL);
    if (below(3) == 0) test_limit_queue(5, NULL);
    for (int i = 0; i < OPS; i++) step();
    wind_up();
    everything_ended();
}

static void no_other_task_is_lost_or_stuck(void **state)
{
    const char *given = getenv("REEVE_TEST_SEED"), *rounds = getenv("REEVE_TEST_ROUNDS");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : 1,
             count = rounds != NULL ? strtoull(rounds, NULL, 10) : 15;
    for (uint64_t i = 0; i < count; i++, seed++) {
        print_message("REEVE_TEST_SEED=%llu REEVE_TEST_ROUNDS=1\n", (unsigned long long)seed);
        (void)set_up(state);
        play(seed);
    }
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(no_other_task_is_lost_or_stuck, set_up)};
    test_clock_set(NOW);
    return cmocka_run_group_tests_name("ct_malformed_random", tests, test_place_start, test_place_stop);
}
