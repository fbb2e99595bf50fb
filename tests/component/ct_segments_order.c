/*
 * Random tasks come, by ones and together, are leased, given back, steered and swept, twice: in calls of which segments
 * are made, and in calls of which none are. What is leased must be the same. Every round that fails tells its seed;
 * REEVE_TEST_SEED makes the first one's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "support/limits.h"
#include "support/segments.h"

#define ROUNDS 30
#define STEPS 60
#define TASKS (STEPS * 12)

static test_hand hand;
static unsigned long long chance;
static bool together; /* in calls of which segments are made */
static char ids[TASKS][REEVE_ID_MAX];
static size_t count;
static long long segments; /* how many there were at once at most */

static unsigned draw(unsigned below)
{
    chance = chance * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(chance >> 33) % below;
}

static void put(size_t n, reeve_task_spec like)
{
    reeve_task_spec specs[12];
    reeve_enqueued results[12];
    for (size_t i = 0; i < n; i++) {
        assert_true(count < TASKS);
        (void)snprintf(ids[count], REEVE_ID_MAX, "%c%zu", "az"[draw(2)], count);
        specs[i] = like;
        specs[i].queue = "q";
        specs[i].type = "t";
        specs[i].id = ids[count++];
    }
    for (size_t i = 0; i < n;) {
        size_t some = together || like.group || n - i < 3 ? n - i : 3;
        test_ok(test_client, reeve_enqueue_many(test_client, specs + i, some, results));
        i += some;
    }
}

/* A task of all that ever were; that it may not be done to some is the same both times. */
static void steer(rv_buf *log)
{
    if (count == 0) return;
    const char *id = ids[draw((unsigned)count)];
    unsigned way = draw(3);
    reeve_status status = way == 0   ? reeve_cancel(test_client, "q", id)
                          : way == 1 ? reeve_delete(test_client, "q", id)
                                     : reeve_set_priority(test_client, "q", id, (int)draw(3) - 1);
    rv_buf_addi(log, (int)status);
    rv_buf_addc(log, ';');
}

static void lease(rv_buf *log)
{
    test_outcome outcomes[2 * RV_BATCH_MAX];
    test_hand copy;
    (void)test_lease(&hand, 1 + draw(7));
    copy = hand;
    rv_buf_adds(log, test_leased_ids(&hand));
    rv_buf_addc(log, ';');
    for (size_t i = 0; i < hand.count; i++) {
        outcomes[i] = (test_outcome)TEST_DONE(hand.leased[i].id);
        if (draw(8) == 0) outcomes[i] = (test_outcome)TEST_SNOOZE(hand.leased[i].id, 0);
    }
    if (hand.count > 0) (void)test_turn(&copy, 0, outcomes, hand.count);
}

static void step(rv_buf *log, bool groups)
{
    static const char *const names[] = {"g", "h"};
    const unsigned what = draw(14);
    if (what < 4)
        put(4 + draw(6), (reeve_task_spec){0});
    else if (what < 5)
        put(1 + draw(3), (reeve_task_spec){0});
    else if (what < 6)
        put(1 + draw(2), (reeve_task_spec){.priority = (int)draw(3) - 1});
    else if (what < 8 && groups)
        put(1 + draw(4), (reeve_task_spec){.group = names[draw(2)], .weight = 1 + 2 * draw(2)});
    else if (what < 10)
        steer(log);
    else if (what < 13)
        lease(log);
    else
        test_maintain_all("q");
    if (together) test_limits_agree();
    if (together && test_segments("q") > segments) segments = test_segments("q");
}

static void run(rv_buf *log, unsigned long long seed, bool with_segments, bool groups)
{
    (void)test_place_empty(NULL);
    test_hand_init(&hand, "1", "q");
    chance = seed;
    together = with_segments;
    count = 0;
    rv_buf_clear(log);
    for (size_t i = 0; i < STEPS; i++) {
        rv_buf_addi(log, (int)i);
        rv_buf_addc(log, ':');
        step(log, groups);
    }
    while (test_ready_count("q") > 0) lease(log);
    assert_false(log->failed);
    test_no_segments();
}

static void as_without(bool groups)
{
    rv_buf with, without;
    const char *given = getenv("REEVE_TEST_SEED");
    unsigned long long first = given ? strtoull(given, NULL, 10) : 1;
    rv_buf_init(&with, 1000000);
    rv_buf_init(&without, 1000000);
    segments = 0;
    for (unsigned long long seed = first; seed < first + ROUNDS; seed++) {
        run(&without, seed, false, groups);
        run(&with, seed, true, groups);
        const char *one = rv_buf_text(&with), *other = rv_buf_text(&without);
        size_t at = 0;
        while (one[at] && one[at] == other[at]) at++;
        size_t from = at > 60 ? at - 60 : 0;
        if (one[at] != other[at])
            fail_msg("seed %llu: ...%.120s\nand without segments ...%.120s", seed, one + from, other + from);
    }
    assert_true(segments > 2);
    rv_buf_fini(&with);
    rv_buf_fini(&without);
}

static void without_groups(void **state)
{
    (void)state;
    as_without(false);
}

static void with_groups(void **state)
{
    (void)state;
    as_without(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_groups, test_place_empty),
        cmocka_unit_test_setup(with_groups, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_segments_order", tests, test_place_start, test_place_stop);
}
