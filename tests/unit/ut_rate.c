/* ut_rate.c - rates as people write them: COUNT/PERIOD[:BURST]. */
#include "support/cmocka.h"

#include <stdlib.h>

#include "cli/rate.h"

/* It is read so, and written as told. */
static void reads(const char *text, int64_t count, int64_t period_ms, int64_t burst, const char *written)
{
    reeve_rate rate, again;
    char words[CLI_RATE_TEXT];

    if (!cli_rate_parse(text, &rate)) fail_msg("%s: was refused", text);
    assert_int_equal(rate.count, count);
    assert_int_equal(rate.period_ms, period_ms);
    assert_int_equal(rate.burst, burst);
    cli_rate_text(&rate, words);
    assert_string_equal(words, written);
    assert_true(cli_rate_parse(words, &again));
    assert_int_equal(again.count, count);
    assert_int_equal(again.period_ms, period_ms);
}

static void rates(void **state)
{
    (void)state;
    reads("100/1s", 100, 1000, 0, "100/1s");
    reads("100/s", 100, 1000, 0, "100/1s");
    reads("5/m", 5, 60000, 0, "5/1m");
    reads("5/h:2", 5, 3600000, 2, "5/1h:2");
    reads("1/d", 1, 86400000, 0, "1/1d");
    reads("1/ms", 1, 1, 0, "1/1ms");
    reads("7/250ms:7", 7, 250, 7, "7/250ms");
    reads("3/1.5", 3, 1500, 0, "3/1500ms");
    reads("3/90", 3, 90000, 0, "3/90s");
    reads("3/120s", 3, 120000, 0, "3/2m");
    reads("1000000000/366d:1000000000", 1000000000, INT64_C(31622400000), 1000000000, "1000000000/366d");
}

static void no_rates(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",        "100",      "/1s",      "100/",     "100/:1",       "0/1s",           "-1/1s",
        "1.5/1s",  "a/1s",     "100/1x",   "100/0",    "100/0ms",      "1/1s:",          "1/1s:0",
        "1/1s:-1", "1/1s:x",   "1/1s:1:1", "1/1s/1",   " 1/1s",        "1 /1s",          "1/ 1s",
        "1/1s ",   "1/-1s",    "1/367d",   "1/1s:1 ",  "1000000001/s", "1/s:1000000001", "99999999999999999999/s",
        "none",    "1/1s:1e9", "1\n/1s",   "1/0.0001",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        reeve_rate rate = {7, 7, 7};

        if (cli_rate_parse(bad[i], &rate)) fail_msg("%s: was taken", bad[i]);
        assert_int_equal(rate.count, 7); /* nothing is written */
    }
}

static void what_is_not_said(void **state)
{
    (void)state;
    reeve_rate rate = {.count = 5};
    char words[CLI_RATE_TEXT];

    cli_rate_text(&rate, words);
    assert_string_equal(words, "5/1s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates),
        cmocka_unit_test(no_rates),
        cmocka_unit_test(what_is_not_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
