/*
 * ut_web_track.c - what the dashboard remembers of a queue: rates, steps, and whether its oldest wait rises.
 */
#include "support/cmocka.h"
#include "web/web_track.h"

/* Notes slots from 1000 on, each with a wait. */
static void note_waits(web_track *track, const int64_t *waits, size_t count)
{
    reeve_queue_info info = {.completed_total = 10};

    *track = (web_track){.name = "mail"};
    for (size_t i = 0; i < count; i++) {
        info.completed_total += 2;
        web_track_note(track, &info, 1000 + (int64_t)i, waits[i], i == 0);
    }
}

static bool rises(int64_t first, int64_t by, size_t count, int64_t *ret_before)
{
    int64_t waits[60];
    web_track track;

    for (size_t i = 0; i < count; i++) waits[i] = first + by * (int64_t)i;
    note_waits(&track, waits, count);
    return web_track_rises(&track, ret_before);
}

static void finds_a_wait_that_rises(void **state)
{
    int64_t before = 0;

    (void)state;
    assert_true(rises(1000, 5000, 45, &before)); /* its head is stuck */
    assert_int_equal(before, 1000 + 14 * 5000);
    assert_false(rises(1000, 5000, 30, &before));    /* for too short a time to know */
    assert_false(rises(1000, 0, 45, &before));       /* always the same */
    assert_false(rises(3600000, 5000, 45, &before)); /* old, but hardly older than before */
    assert_false(rises(1000, 100, 45, &before));     /* rising, and small */
    assert_false(rises(400000, -5000, 45, &before));
    assert_false(rises(-1, 0, 45, &before)); /* nothing is ready */
}

static void finds_no_rise_where_it_was_drained_or_not_read(void **state)
{
    int64_t waits[45], before = 0;
    web_track track;

    (void)state;
    for (int i = 0; i < 45; i++) waits[i] = i >= 15 && i < 30 ? -1 : 1000 + 5000 * i;
    note_waits(&track, waits, 45);
    assert_false(web_track_rises(&track, &before));
    for (int i = 0; i < 45; i++) waits[i] = i % 12 == 2 ? 1000 + 5000 * i : -1; /* read once a minute */
    note_waits(&track, waits, 45);
    assert_true(web_track_rises(&track, &before));
}

static void counts_steps_and_rates(void **state)
{
    int64_t waits[70] = {0};
    web_track track;
    reeve_queue_info info = {.completed_total = 1000};

    (void)state;
    note_waits(&track, waits, 60);
    assert_int_equal(web_track_step(&track, track.completed, track.slot), 2);
    assert_true(web_track_rate(&track, track.completed, 12) > 0.39 &&
                web_track_rate(&track, track.completed, 12) < 0.41);
    web_track_note(&track, &info, track.slot + 3, 7000, false); /* nobody looked: it is spread over these slots */
    assert_int_equal(track.slot, 1062);
    assert_int_equal(track.first_slot, 1002);
    for (int64_t slot = 1060; slot <= 1062; slot++)
        assert_int_equal(web_track_step(&track, track.completed, slot), (1000 - 130) / 3);
    web_track_note(&track, &info, track.slot + 100, 0, false); /* for too long */
    assert_int_equal(track.first_slot, track.slot);
    assert_true(web_track_rate(&track, track.completed, 12) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_wait_that_rises),
        cmocka_unit_test(finds_no_rise_where_it_was_drained_or_not_read),
        cmocka_unit_test(counts_steps_and_rates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
