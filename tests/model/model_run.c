/*
 * Runs: a list of operations is made while it is carried out (what is made next may depend on what is there), and is
 * from then on a list of its own. One that fails is shrunk: operations, then arguments, are taken out as long as it
 * still fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "model/model_segment.h"
#include "support/clock.h"
#include "support/queue.h"

#define DEFAULT_SEED 1

enum { OPS_MIN = 20, OPS = 80, SHRINK_MS = 20000, PATIENCE = 6 };

/* ---- one run --------------------------------------------------------------------------------------------------- */

static void begin(void)
{
    memset(&model, 0, sizeof(model));
    model_limits_begin();
    model_segments_begin();
    model.now_ms = EPOCH;
    test_clock_set(EPOCH);
    for (int queue = 0; queue < QUEUES; queue++)
        for (int id = 0; id < SLOTS; id++) model.queues[queue].tasks[id].session = -1;
    for (int hand = 0; hand < HANDS; hand++)
        for (int queue = 0; queue < QUEUES; queue++) model_renew(hand, queue);
    model_look_again();
    assert_string_equal(test_cmd(test_conn, "FLUSHALL"), "OK");
}

/* The index of the step after which Redis and the model differ; count when they never do. The operations from `known`
 * on are made now, and stay in ops. */
static size_t run(model_op *ops, size_t known, size_t count)
{
    begin();
    for (size_t i = 0; i < count; i++) {
        if (i >= known) ops[i] = model_make();
        model_kinds[ops[i].kind].run(ops[i].arg);
        if (model.full) return count; /* (it was long enough) */
        model_check();
        model_check_data_always();
        if (model.words[0]) return i;
    }
    model_wind_up();
    return model.words[0] && !model.full && count > 0 ? count - 1 : count;
}

/* ---- shrinking ------------------------------------------------------------------------------------------------- */

typedef struct failure {
    model_op ops[OPS];
    size_t count;
    const char *difference; /* (a list that fails in another way is another failure) */
    int64_t deadline;
} failure;

/* True, and what is not needed goes, when a list of fewer fails, too. */
static bool fails(failure *found, const model_op *ops, size_t count)
{
    model_op copy[OPS];
    if (rv_now_ms() > found->deadline) return false;
    memcpy(copy, ops, count * sizeof(*ops));
    size_t at = run(copy, count, count);
    if (at == count || model.difference != found->difference) return false;
    memcpy(found->ops, copy, (at + 1) * sizeof(*copy));
    found->count = at + 1;
    return true;
}

static bool shrink_runs(failure *found, size_t length)
{
    bool any = false;
    model_op fewer[OPS];
    for (size_t at = 0; at + length <= found->count;) {
        memcpy(fewer, found->ops, at * sizeof(*fewer));
        memcpy(fewer + at, found->ops + at + length, (found->count - at - length) * sizeof(*fewer));
        if (fails(found, fewer, found->count - length)) {
            any = true;
        } else {
            at += length;
        }
    }
    return any;
}

static bool shrink_argument(failure *found, size_t op, int which)
{
    model_op simpler[OPS];
    int value = found->ops[op].arg[which], tries[] = {0, 1, value / 2, value - 1};
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        if (value == 0 || abs(tries[i]) >= abs(value)) continue;
        memcpy(simpler, found->ops, found->count * sizeof(*simpler));
        simpler[op].arg[which] = tries[i];
        if (fails(found, simpler, found->count)) return true;
    }
    return false;
}

static bool shrink_arguments(failure *found)
{
    bool any = false;
    for (size_t op = 0; op < found->count; op++)
        for (int which = 0; which < ARGS; which++)
            while (op < found->count && shrink_argument(found, op, which)) any = true;
    return any;
}

static void shrink(failure *found)
{
    const char *given = getenv("REEVE_TEST_SHRINK_MS");
    bool any = true;
    found->deadline = rv_deadline(given ? atoi(given) : SHRINK_MS);
    while (any && rv_now_ms() < found->deadline) {
        any = false;
        for (size_t length = found->count / 2; length > 0; length /= 2)
            while (shrink_runs(found, length)) any = true;
        any = shrink_arguments(found) || any;
    }
}

static void show(const model_op *ops, size_t count)
{
    print_error("static const model_op found[] = {\n");
    for (size_t i = 0; i < count; i++) {
        print_error("    {%s, {", model_kinds[ops[i].kind].name);
        int last = ARGS - 1;
        while (last > 0 && ops[i].arg[last] == 0) last--;
        for (int which = 0; which <= last; which++) print_error("%s%d", which > 0 ? ", " : "", ops[i].arg[which]);
        print_error("}},\n");
    }
    print_error("};\n");
}

static void report(failure *found)
{
    char words[sizeof(model.words)];
    memcpy(words, model.words, sizeof(words));
    print_error("after %zu operations: %s\n", found->count, words);
    found->difference = model.difference;
    shrink(found);
    (void)run(found->ops, found->count, found->count);
    print_error("shrunk to %zu: %s\n", found->count, model.words[0] ? model.words : "(does not fail every time)");
    show(found->ops, found->count);
}

/* ---- rounds ---------------------------------------------------------------------------------------------------- */

/* Without a seed given, the same sequences every time: what fails, fails because of a change. */
static uint64_t first_seed(void)
{
    const char *given = getenv("REEVE_TEST_SEED");
    if (given && strcmp(given, "random") == 0) return (uint64_t)time(NULL) * 1000003u;
    return given ? strtoull(given, NULL, 10) : DEFAULT_SEED;
}

/* Some sequences go on from where a list leads. */
static size_t begin_with_a_list(model_op *ops)
{
    if (model_chance(4) > 0) return 0;
    const model_path *list = &model_paths[model_chance((unsigned)model_path_count)];
    assert_true(list->count < OPS);
    memcpy(ops, list->ops, list->count * sizeof(*ops));
    return list->count;
}

void model_rounds(int rounds)
{
    static failure found;
    const char *given = getenv("REEVE_TEST_ROUNDS");
    uint64_t seed = first_seed();
    int count = given ? atoi(given) : rounds;
    print_message("REEVE_TEST_SEED=%llu REEVE_TEST_ROUNDS=%d\n", (unsigned long long)seed, count);
    for (int round = 0; round < count || (!given && round < PATIENCE * count && !model_covered_all());
         round++, seed++) {
        model_seed(seed);
        size_t length = OPS_MIN + model_chance(OPS - OPS_MIN + 1);
        size_t begun = begin_with_a_list(found.ops);
        if (length <= begun) length = begun + 1;
        size_t at = run(found.ops, begun, length);
        if (at == length) continue;
        found.count = at + 1;
        print_error("REEVE_TEST_SEED=%llu REEVE_TEST_ROUNDS=1 fails\n", (unsigned long long)seed);
        report(&found);
        fail_msg("%s", model.words);
    }
}

void model_replay(const model_path *list)
{
    model_op copy[OPS];
    assert_true(list->count <= OPS);
    memcpy(copy, list->ops, list->count * sizeof(*copy));
    size_t at = run(copy, list->count, list->count);
    if (at < list->count) fail_msg("%s: after operation %zu: %s", list->words, at + 1, model.words);
}
