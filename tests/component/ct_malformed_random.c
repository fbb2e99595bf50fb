/*
 * A producer in another language puts malformed tasks among good ones at random, while sessions settle, die and leave
 * and groups are at limits, lays some, and spoils the envelopes of others wherever these stand: in the end every good
 * task has run to its end, every malformed one is dead or cancelled, and nothing is stuck. REEVE_TEST_SEED and
 * REEVE_TEST_ROUNDS choose what is played.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/definition.h"
#include "protocol/end_session_call.h"
#include "protocol/scripts.h"
#include "support/clock.h"
#include "support/depend.h"
#include "support/foreign.h"
#include "support/limits.h"
#include "support/segments.h"

#define Q "reeve:{q}:"
#define NOW 1900000000000

enum { HANDS = 2, OPS = 120, TASKS = 2000 };

static uint64_t dice;
static test_hand hands[HANDS];
static size_t made;
static char kinds[TASKS]; /* 'g'ood, 'm'alformed, 'v': good at first, and then perhaps spoilt */
static bool spoilt[TASKS];

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
    spoilt[made] = kind == 'm';
    (void)snprintf(id, sizeof(id), "%c%zu", kind, made++);
    return id;
}

static void put_good(void)
{
    static const char *const groups[] = {NULL, "a", "b"};
    reeve_task_spec spec = {.id = new_id('g'), .group = groups[below(3)]};
    spec.priority = (int)below(3) - 1;
    if (below(3) == 0) spec.in_ms = 1 + (int64_t)below(3000);
    test_put_spec(spec);
}

static const char *any_malformed(void)
{
    return test_malformed[below(test_malformed_count)];
}

/* Some that come together, which make a segment where there are no groups; those to spoil are spoilt later. */
static void put_together(void)
{
    char ids[256] = "";
    for (int i = 0; i < 6; i++) {
        size_t length = strlen(ids);
        (void)snprintf(ids + length, sizeof(ids) - length, "%s%s", i > 0 ? " " : "", new_id(below(2) ? 'v' : 'g'));
    }
    (void)test_put_call(ids, (reeve_task_spec){.type = "t"});
}

/* A producer lays tasks (src/lua/lib/bulk_insert.lua), of which scripts do not see the envelopes; every second one is
 * malformed. */
static void lay(void)
{
    char p[16], now[24], head[64];
    const char *const rests[] = {"\"type\":\"t\"}\n", "\"type\":\"t\",\"group\":null}\n"};
    (void)snprintf(p, sizeof(p), "9%08llu", (unsigned long long)below(100000000));
    (void)snprintf(now, sizeof(now), "%lld", (long long)test_clock_now());
    (void)snprintf(head, sizeof(head), "{\"at\":%s,\"p\":%s,", now, p);
    for (int i = 0; i < 4; i++) {
        char envelope[128];
        const char *id = new_id(i % 2 ? 'm' : 'g');
        const rv_reply *reply;
        (void)snprintf(envelope, sizeof(envelope), "%s%s", head, rests[i % 2]);
        (void)test_cmd(test_conn, "RPUSH " Q "segment:%s %s", p, id);
        rv_cmd(test_conn, 4);
        rv_args(test_conn, "HSET");
        rv_args(test_conn, Q "tasks");
        rv_args(test_conn, id);
        rv_args(test_conn, envelope);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    }
    const rv_reply *reply;
    rv_cmd_script(test_conn, &rv_script_enqueue, 1, 4);
    rv_args(test_conn, Q);
    rv_args(test_conn, "bulk");
    rv_args(test_conn, now);
    rv_args(test_conn, p);
    rv_args(test_conn, "4");
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
}

/* A malformed envelope in place of another; it still says in which segment the task came, as nothing else does. */
static const char *spoilt_envelope(const char *id)
{
    static char envelope[256];
    const char *known = test_cmd(test_conn, "HGET " Q "tasks %s", id), *type = strstr(known, "\"type\":");
    if (strncmp(known, "{\"at\":", 6) != 0 || type == NULL || strstr(known, "\"p\":") == NULL) return any_malformed();
    (void)snprintf(envelope, sizeof(envelope), "%.*s\"type\":\"t\",\"tags\":7}\n", (int)(type - known), known);
    return envelope;
}

/* Somebody overwrites the envelope of a task that has not ended, wherever it stands: also while it runs, in a segment,
 * or at the limit of the group that the envelope named. */
static void spoil(void)
{
    for (int tries = 0; made > 0 && tries < 20; tries++) {
        char id[32];
        size_t i = (size_t)below(made);
        (void)snprintf(id, sizeof(id), "%c%zu", kinds[i], i);
        const char *state = test_state("q", id);
        if (kinds[i] != 'v' || spoilt[i] || !*state || strstr("completed dead cancelled", state)) continue;
        const char *envelope = spoilt_envelope(id);
        const rv_reply *reply;
        rv_cmd(test_conn, 4);
        rv_args(test_conn, "HSET");
        rv_args(test_conn, Q "tasks");
        rv_args(test_conn, id);
        rv_args(test_conn, envelope);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        spoilt[i] = true;
        return;
    }
}

static void put_victim(void)
{
    static const char *const groups[] = {NULL, "a", "b"};
    reeve_task_spec spec = {.id = new_id('v'), .group = groups[below(3)]};
    if (below(3) == 0) spec.in_ms = 1 + (int64_t)below(3000);
    test_put_spec(spec);
}

/* In `ready`, `scheduled`, or in place of a task that waits for another. */
static void put_foreign(char kind)
{
    static const char *const good[] = {"{\"at\":1,\"type\":\"t\"}\n", "{\"at\":1,\"type\":\"t\",\"group\":\"a\"}\nx",
                                       "{\"at\":1,\"type\":\"t\",\"priority\":-1,\"later\":null}\n"};
    const char *envelope = kind == 'g' ? good[below(3)] : any_malformed();
    const char *id;
    char parent[32];
    size_t before = made;
    switch (below(3)) {
    case 0:
        test_foreign("q", "ready", (double)RV_SCORE_START + (double)below(100000), new_id(kind), envelope);
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
        bool malformed = spoilt[strtoul(id + 1, NULL, 10)];
        uint64_t what = all ? 0 : below(4);
        if (malformed)
            outcomes[count++] = (test_outcome){
                0, {.id = id, .outcome = REEVE_OUTCOME_FAIL, .kind = "malformed", .message = "by a worker"}};
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
        rv_end_session_call_build(test_conn, &hand->prefixes[0], hand->sessions[0], 20);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_true(rv_end_session_call_read(reply, &back, &more));
    }
    test_hand_init(hand, thread, "q");
}

static void step(void)
{
    static const char *const threads[HANDS] = {"1", "2"};
    size_t n = (size_t)below(HANDS);
    test_hand *hand = &hands[n];
    switch (below(18)) {
    case 12:
        put_together();
        break;
    case 13:
        lay();
        break;
    case 14:
        put_victim();
        break;
    case 15:
    case 16:
    case 17:
        spoil();
        break;
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
        (void)test_maintain("q", 1 + (unsigned)below(50));
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
        if (i % 20 == 19) leave(&hands[0], "1"); /* (before its session ends) */
        test_maintain_all("q");
        (void)test_lease(&hands[0], 64);
        settle(&hands[0], true);
    }
    for (int i = 0; i < 20; i++)
        test_maintain_all("q"); /* groups lose what is left of overwritten tasks in some calls */
}

static void everything_ended(void)
{
    for (size_t i = 0; i < made; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "%c%zu", kinds[i], i);
        const char *state = test_state("q", id);
        if (strcmp(state, spoilt[i] ? "dead" : "completed") != 0) fail_msg("%s is \"%s\"", id, state);
    }
    assert_int_equal(left(), 0);
    if (test_count("q", "dead") > 0)
        assert_int_equal(test_number("ZCARD " Q "failures:malformed"), test_count("q", "dead"));
    test_limits_agree();
}

/* They can be looked at as they are, and go. */
static void malformed_ones_are_seen_and_deleted(void)
{
    for (size_t i = 0; i < made; i++) {
        char id[32];
        if (!spoilt[i]) continue;
        (void)snprintf(id, sizeof(id), "%c%zu", kinds[i], i);
        reeve_task_info *info = test_show("q", id);
        assert_int_equal(info->state, REEVE_STATE_DEAD);
        assert_string_equal(info->error_kind, "malformed");
        reeve_task_info_free(info);
        test_ok(test_client, reeve_delete(test_client, "q", id));
    }
    assert_int_equal(test_count("q", "dead"), 0);
    assert_int_equal(test_number("EXISTS " Q "failures " Q "failures:malformed"), 0);
    assert_int_equal(test_number("HLEN " Q "tasks"), test_count("q", "completed"));
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
    malformed_ones_are_seen_and_deleted();
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
