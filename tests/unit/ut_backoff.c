/* ut_backoff.c - delays between attempts: shapes, defaults, caps, jitter, extreme arguments. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/backoff.h"

static void exponential_doubles_to_the_cap(void **state)
{
    (void)state;
    const reeve_backoff backoff = {.base_ms = 100, .cap_ms = 1000, .jitter = -1};
    static const int64_t expected[] = {100, 200, 400, 800, 1000, 1000};
    for (unsigned n = 1; n <= 6; n++) assert_int_equal(rv_backoff_delay(&backoff, n, 0.3), expected[n - 1]);
    assert_int_equal(rv_backoff_delay(&backoff, 0, 0.3), 100);
    assert_int_equal(rv_backoff_delay(&backoff, UINT_MAX, 0.3), 1000);
}

static void defaults_are_those_of_the_manual(void **state)
{
    (void)state;
    const reeve_backoff zeroed = {0};
    const reeve_backoff negative = {.base_ms = -1, .cap_ms = -1};
    const reeve_backoff *all[] = {NULL, &zeroed, &negative};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(rv_backoff_delay(all[i], 1, 0.5), 1000);
        assert_int_equal(rv_backoff_delay(all[i], 1, 0), 800);
        assert_int_equal(rv_backoff_delay(all[i], 3, 0.5), 4000);
        assert_int_equal(rv_backoff_delay(all[i], 12, 0.5), 2048000);
        assert_int_equal(rv_backoff_delay(all[i], 13, 0.5), 3600000);
        assert_int_equal(rv_backoff_delay(all[i], 10000, 0.5), 3600000);
    }
}

static void fixed_stays(void **state)
{
    (void)state;
    const reeve_backoff backoff = {.shape = REEVE_BACKOFF_FIXED, .base_ms = 7000, .jitter = -1};
    assert_int_equal(rv_backoff_delay(&backoff, 1, 0), 7000);
    assert_int_equal(rv_backoff_delay(&backoff, 30, 0.9), 7000);
}

static void a_list_has_its_own_delays(void **state)
{
    (void)state;
    reeve_backoff backoff = {
        .shape = REEVE_BACKOFF_LIST, .list_ms = {50, 7000, 100}, .base_ms = 9, .cap_ms = 60, .jitter = -1};
    static const int64_t expected[] = {50, 50, 7000, 100, 100, 100};
    for (unsigned n = 0; n <= 5; n++) assert_int_equal(rv_backoff_delay(&backoff, n, 0.3), expected[n]);
    assert_int_equal(rv_backoff_delay(&backoff, UINT_MAX, 0.3), 100);
    backoff.jitter = 0;
    assert_int_equal(rv_backoff_delay(&backoff, 2, 0), 5600);
    backoff.jitter = 0.5;
    assert_int_equal(rv_backoff_delay(&backoff, 2, 0.75), 8750);
    for (int i = 0; i < REEVE_BACKOFF_LIST_MAX; i++) backoff.list_ms[i] = 1000 + i;
    backoff.jitter = -1;
    assert_int_equal(rv_backoff_delay(&backoff, 16, 0), 1015);
    assert_int_equal(rv_backoff_delay(&backoff, 17, 0), 1015);
    backoff = (reeve_backoff){.shape = REEVE_BACKOFF_LIST, .jitter = -1};
    assert_int_equal(rv_backoff_delay(&backoff, 3, 0), 4000); /* none at all: as if nothing was said */
}

static void wrong(reeve_backoff backoff, const char *words)
{
    rv_error error = {0};
    assert_int_equal(rv_backoff_check(&backoff, &error), REEVE_EINVAL);
    assert_string_equal(error.text, words);
}

static void what_makes_no_sense(void **state)
{
    (void)state;
    assert_int_equal(rv_backoff_check(NULL, NULL), REEVE_OK);
    assert_int_equal(rv_backoff_check(&(reeve_backoff){0}, NULL), REEVE_OK);
    assert_int_equal(rv_backoff_check(&(reeve_backoff){.shape = REEVE_BACKOFF_FIXED, .jitter = 1}, NULL), REEVE_OK);
    assert_int_equal(rv_backoff_check(&(reeve_backoff){.shape = REEVE_BACKOFF_LIST, .list_ms = {1}}, NULL), REEVE_OK);
    wrong((reeve_backoff){.shape = REEVE_BACKOFF_LIST}, "backoff: a list needs at least one delay above zero");
    wrong((reeve_backoff){.shape = REEVE_BACKOFF_LIST, .list_ms = {0, 5}},
          "backoff: a list needs at least one delay above zero");
    wrong((reeve_backoff){.shape = REEVE_BACKOFF_LIST, .list_ms = {5, -5}}, "backoff: delay 2 of the list is negative");
    wrong((reeve_backoff){.shape = (reeve_backoff_shape)7}, "backoff: there is no shape 7");
    wrong((reeve_backoff){.jitter = 1.5}, "backoff: jitter is a share, at most 1");
    wrong((reeve_backoff){.jitter = NAN}, "backoff: jitter is a share, at most 1");
    assert_int_equal(rv_backoff_check(&(reeve_backoff){.shape = REEVE_BACKOFF_LIST}, NULL), REEVE_EINVAL);
}

static void whether_it_says_anything(void **state)
{
    (void)state;
    assert_false(rv_backoff_is_given(&(reeve_backoff){0}));
    assert_true(rv_backoff_is_given(&(reeve_backoff){.shape = REEVE_BACKOFF_FIXED}));
    assert_true(rv_backoff_is_given(&(reeve_backoff){.base_ms = 1}));
    assert_true(rv_backoff_is_given(&(reeve_backoff){.cap_ms = 1}));
    assert_true(rv_backoff_is_given(&(reeve_backoff){.jitter = -1}));
    assert_true(rv_backoff_is_given(&(reeve_backoff){.jitter = 0.1}));
}

static void only_a_given_cap_shortens_the_base(void **state)
{
    (void)state;
    reeve_backoff backoff = {.base_ms = 7200000, .jitter = -1};
    assert_int_equal(rv_backoff_delay(&backoff, 5, 0), 7200000);
    backoff.cap_ms = 60000;
    assert_int_equal(rv_backoff_delay(&backoff, 1, 0), 60000);
    backoff.shape = REEVE_BACKOFF_FIXED;
    assert_int_equal(rv_backoff_delay(&backoff, 1, 0), 60000);
}

static void jitter_spreads_around_the_delay(void **state)
{
    (void)state;
    reeve_backoff backoff = {.base_ms = 1000, .cap_ms = 1000, .jitter = 0.5};
    assert_int_equal(rv_backoff_delay(&backoff, 4, 0), 500);
    assert_int_equal(rv_backoff_delay(&backoff, 4, 0.25), 750);
    assert_int_equal(rv_backoff_delay(&backoff, 4, 0.75), 1250); /* past the cap, by its jitter */
    backoff.jitter = 17;
    assert_int_equal(rv_backoff_delay(&backoff, 1, 0), 0);
    assert_int_equal(rv_backoff_delay(&backoff, 1, 0.5), 1000);
    assert_in_range(rv_backoff_delay(&backoff, 1, 0.999999), 1999, 2000);
}

static void no_argument_overflows(void **state)
{
    (void)state;
    reeve_backoff backoff = {.base_ms = INT64_MAX, .cap_ms = INT64_MAX, .jitter = 1};
    assert_true(rv_backoff_delay(&backoff, UINT_MAX, 0.9) == INT64_MAX);
    backoff = (reeve_backoff){.base_ms = 3, .cap_ms = INT64_MAX, .jitter = -1};
    assert_true(rv_backoff_delay(&backoff, UINT_MAX, 0) == INT64_MAX);
    backoff.jitter = NAN;
    assert_in_range(rv_backoff_delay(&backoff, 1, NAN), 2, 3);
    backoff.jitter = INFINITY;
    assert_int_equal(rv_backoff_delay(&backoff, 1, -5), 0);
    assert_int_equal(rv_backoff_delay(&backoff, 1, 5), 6);
    assert_true(rv_backoff_delay(&(reeve_backoff){.jitter = -INFINITY}, 1, 0) == 1000);
}

static void reconnecting_waits_half_to_whole(void **state)
{
    (void)state;
    static const int64_t whole[] = {50, 100, 200, 400, 800, 1600, 2000, 2000};
    for (unsigned n = 1; n <= 8; n++) {
        assert_int_equal(rv_backoff_reconnect(n, 0), whole[n - 1] / 2);
        assert_in_range(rv_backoff_reconnect(n, 0.9999999), whole[n - 1] - 1, whole[n - 1]);
    }
    assert_int_equal(rv_backoff_reconnect(0, 0), 25);
    assert_int_equal(rv_backoff_reconnect(UINT_MAX, 0.5), 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_doubles_to_the_cap),
        cmocka_unit_test(defaults_are_those_of_the_manual),
        cmocka_unit_test(fixed_stays),
        cmocka_unit_test(a_list_has_its_own_delays),
        cmocka_unit_test(what_makes_no_sense),
        cmocka_unit_test(whether_it_says_anything),
        cmocka_unit_test(only_a_given_cap_shortens_the_base),
        cmocka_unit_test(jitter_spreads_around_the_delay),
        cmocka_unit_test(no_argument_overflows),
        cmocka_unit_test(reconnecting_waits_half_to_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
