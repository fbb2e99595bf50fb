/* Histograms of few and wide buckets: reading, percentiles. */
#include <math.h>

#include "protocol/wide_times.h"
#include "support/cmocka.h"

#define WAIT 1000
#define RUN 1

static rv_wide_times read(const char *text)
{
    rv_wide_times times = {0};
    rv_wide_times_read(&times, text);
    return times;
}

static void texts_are_added(void **state)
{
    (void)state;
    rv_wide_times times = read("100 1 0 2"), more = read("7 0 0 1 4");
    rv_wide_times_add(&times, &more);
    rv_wide_times_read(&times, "3");
    assert_int_equal(times.sum, 110);
    assert_int_equal(rv_wide_times_count(&times), 8);
    assert_int_equal(times.count[2], 3);
    assert_int_equal(times.count[3], 4);
}

static void what_is_no_such_text_adds_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "x", "1 x", "-1 1", "1 -1", "1 2x", "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"};
    const rv_wide_times none = {0};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        rv_wide_times times = read(texts[i]);
        assert_memory_equal(&times, &none, sizeof(times));
    }
}

static void expect(const char *text, unsigned unit_us, double percent, double ms)
{
    rv_wide_times times = read(text);
    assert_true(fabs(rv_wide_times_percentile(&times, unit_us, percent) - ms) < 1e-9);
}

static void percentiles_lie_within_their_buckets(void **state)
{
    (void)state;
    /* 10 of 10 to 20 ms, 10 of 1 to 2 s. */
    const char *two = "15150 0 0 0 0 10 0 0 0 0 0 10";
    expect(two, WAIT, 25, 15);
    expect(two, WAIT, 50, 20);
    expect(two, WAIT, 75, 1500);
    expect(two, WAIT, 100, 2000);
    expect(two, WAIT, 0, 0);
    expect("0", WAIT, 50, -1);
    /* The last bucket has no end. */
    expect("700000000 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1", WAIT, 99, 604800000);
}

/* Runs of 20 us are all in the first bucket, to 1 ms: half of them cannot take more than twice the mean. */
static void the_mean_bounds_percentiles(void **state)
{
    (void)state;
    expect("2000 100", RUN, 50, 0.04);
    expect("2000 100", RUN, 95, 0.4);
    expect("90000 100", RUN, 95, 0.95);
    /* Never below the bucket: another program may have changed the sum. */
    expect("1 0 0 0 100", RUN, 50, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_added),
        cmocka_unit_test(what_is_no_such_text_adds_nothing),
        cmocka_unit_test(percentiles_lie_within_their_buckets),
        cmocka_unit_test(the_mean_bounds_percentiles),
    };
    return cmocka_run_group_tests_name("ut_wide_times", tests, NULL, NULL);
}
