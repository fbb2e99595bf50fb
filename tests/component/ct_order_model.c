/*
 * The order of a queue against a model of self-clocked fair queueing in C: random tasks come, by ones and in bulk, are
 * leased, given back and tended, and each lease must be what the model says. Every round prints its seed;
 * REEVE_TEST_SEED makes the first one's.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "protocol/definition.h"
#include "support/queue.h"

/* ---- the model ------------------------------------------------------------------------------------------------- */

#define BAND RV_SCORE_BAND
#define START RV_SCORE_START
#define STEP RV_SCORE_STEP
#define UNKNOWN LLONG_MIN

enum { TASKS = 4000, BANDS = 3, GROUPS = 6 };

typedef struct model_task {
    char id[16];
    size_t band;
    int group; /* -1: none */
    unsigned weight;
    long long score;
    bool waits;
} model_task;

typedef struct model_band {
    long long plain;        /* the last tag of tasks without a group */
    long long last[GROUPS]; /* of each group, or UNKNOWN */
    long long now;          /* the virtual time, looked up once in a call, or UNKNOWN */
} model_band;

static model_task tasks[TASKS];
static size_t task_count, waiting;
static model_band bands[BANDS];
static bool grouped;

static const int priorities[BANDS] = {-128, 0, 127};

static void begin_again(void)
{
    grouped = false;
    for (size_t i = 0; i < BANDS; i++) {
        bands[i].plain = priorities[i] * BAND + START;
        for (size_t j = 0; j < GROUPS; j++) bands[i].last[j] = UNKNOWN;
    }
}

static void begin_call(void)
{
    for (size_t i = 0; i < BANDS; i++) bands[i].now = UNKNOWN;
}

static bool stands_before(const model_task *one, const model_task *other)
{
    return one->score < other->score || (one->score == other->score && strcmp(one->id, other->id) < 0);
}

/* The first of a band; of all with BANDS. */
static model_task *head_of(size_t band)
{
    model_task *head = NULL;
    for (size_t i = 0; i < task_count; i++) {
        model_task *task = &tasks[i];
        if (!task->waits || (band != BANDS && task->band != band)) continue;
        if (!head || stands_before(task, head)) head = task;
    }
    return head;
}

static long long last_given(const model_band *band)
{
    long long last = band->plain;
    for (size_t i = 0; i < GROUPS; i++)
        if (band->last[i] > last) last = band->last[i];
    return last;
}

static long long virtual_time(size_t band)
{
    model_band *b = &bands[band];
    if (b->now != UNKNOWN) return b->now;
    const model_task *head = head_of(band);
    b->now = head ? head->score - STEP : last_given(b);
    return b->now;
}

static void give_score(model_task *task)
{
    model_band *b = &bands[task->band];
    long long *last = task->group < 0 ? &b->plain : &b->last[task->group];
    if (task->group >= 0) grouped = true;
    if (grouped && (task->group < 0 || b->last[task->group] == UNKNOWN || *last < virtual_time(task->band))) {
        long long now = virtual_time(task->band);
        if (*last < now) *last = now;
    }
    *last += task->group < 0 ? STEP : (long long)(STEP / task->weight);
    task->score = *last;
}

static void model_front(model_task *task)
{
    const model_task *head = head_of(task->band);
    task->score = (head ? head->score : last_given(&bands[task->band])) - 1;
    task->waits = true;
    waiting++;
    /* Who comes to its lane later stands behind it. */
    model_band *b = &bands[task->band];
    if (task->group >= 0) grouped = true;
    long long *last = task->group < 0 ? &b->plain : &b->last[task->group];
    if (*last == UNKNOWN || *last < task->score) *last = task->score;
}

static void model_maintain(void)
{
    const model_task *head = head_of(BANDS);
    bool any = false;
    if (!head) begin_again();
    for (size_t i = 0; head && i < BANDS; i++) {
        const model_task *first = head_of(i);
        for (size_t j = 0; j < GROUPS; j++) {
            if (!first || bands[i].last[j] < first->score) bands[i].last[j] = UNKNOWN;
            any = any || bands[i].last[j] != UNKNOWN;
        }
    }
    if (!any) grouped = false;
}

/* ---- chance ---------------------------------------------------------------------------------------------------- */

static unsigned long long seed;

static unsigned chance(unsigned below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % below;
}

/* ---- what happens, there and here ------------------------------------------------------------------------------ */

static test_hand hand;
static model_task *held[TASKS];
static size_t held_count;

static const char *const groups[GROUPS] = {"a", "b", "c", "d", "e", "f"};

static void come(size_t count, bool groups_too)
{
    reeve_task_spec specs[40];
    reeve_enqueued results[40];
    begin_call();
    for (size_t i = 0; i < count; i++) {
        model_task *task = &tasks[task_count + i];
        (void)snprintf(task->id, sizeof(task->id), "%04x-%zu", chance(65536), task_count + i);
        task->band = chance(10) < 7 ? 1 : chance(BANDS);
        task->group = groups_too && chance(3) > 0 ? (int)chance(GROUPS) : -1;
        task->weight = task->group == 0 ? 3 : task->group == 1 ? 256 : 1 + chance(2);
        give_score(task);
        specs[i] = (reeve_task_spec){.queue = "q",
                                     .type = "t",
                                     .id = task->id,
                                     .priority = priorities[task->band],
                                     .weight = task->group < 0 ? 0 : task->weight};
        if (task->group >= 0) specs[i].group = groups[task->group];
    }
    for (size_t i = 0; i < count; i++) tasks[task_count + i].waits = true;
    task_count += count;
    waiting += count;
    test_ok(test_client, reeve_enqueue_many(test_client, specs, count, results));
}

static void go(size_t count)
{
    if (count > waiting) count = waiting;
    if (count == 0) return;
    assert_int_equal(test_lease(&hand, (unsigned)count), count);
    for (size_t i = 0; i < count; i++) {
        model_task *task = head_of(BANDS);
        if (strcmp(hand.leased[i].id, task->id) != 0)
            fail_msg("after %zu tasks came: %s was leased, the model says %s", task_count, hand.leased[i].id, task->id);
        task->waits = false;
        waiting--;
        held[held_count++] = task;
    }
}

static void go_back(void)
{
    if (held_count == 0) return;
    size_t which = chance((unsigned)held_count);
    model_task *task = held[which];
    held[which] = held[--held_count];
    model_front(task);
    test_settle(&hand, {0, {.id = task->id, .outcome = REEVE_OUTCOME_SNOOZE}});
    assert_string_equal(hand.refused, "");
}

static void maintain(void)
{
    (void)test_maintain("q", 200);
    model_maintain();
}

static void run(bool groups_too)
{
    task_count = waiting = held_count = 0;
    begin_again();
    test_hand_init(&hand, "1", "q");
    (void)test_cmd(test_conn, "FLUSHALL");
    print_message("seed %llu\n", seed);
    while (task_count < TASKS - 40) {
        bool grows = task_count / 300 % 2 == 0;
        switch (chance(10)) {
        case 0:
            come(2 + chance(30), groups_too);
            break;
        case 1:
            go_back();
            break;
        case 2:
            maintain();
            break;
        case 3:
        case 4:
        case 5:
            go(1 + chance(grows ? 3 : 20));
            break;
        default:
            come(1, groups_too);
        }
    }
    go(waiting < 256 ? waiting : 256);
}

static void in_the_model_s_order(void **state)
{
    (void)state;
    const char *given = getenv("REEVE_TEST_SEED");
    seed = given ? strtoull(given, NULL, 10) : (unsigned long long)time(NULL) * 2654435761u + 1;
    for (int round = 0; round < 4; round++) run(round != 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_the_model_s_order)};
    return cmocka_run_group_tests_name("ct_order_model", tests, test_place_start, test_place_stop);
}
