/* ut_backoff_text.c - backoffs as people write them: every form, what is refused, and that what is written is read. */
#include <string.h>

#include "base/backoff.h"
#include "base/backoff_text.h"
#include "support/cmocka.h"

static reeve_backoff parsed(const char *text)
{
    reeve_backoff backoff;
    rv_error why = {0};
    memset(&backoff, 0x55, sizeof(backoff));
    if (rv_backoff_text_parse(text, &backoff, &why) != REEVE_OK) fail_msg("%s: %s", text, why.text);
    assert_int_equal(rv_backoff_check(&backoff, NULL), REEVE_OK);
    return backoff;
}

static void refused(const char *text, const char *words)
{
    reeve_backoff backoff = {.base_ms = 77};
    rv_error why = {0};
    if (rv_backoff_text_parse(text, &backoff, &why) != REEVE_EINVAL) fail_msg("%s: was taken", text);
    if (strstr(why.text, words) == NULL) fail_msg("%s: \"%s\", expected \"%s\"", text, why.text, words);
    assert_int_equal(backoff.base_ms, 77);
    assert_int_equal(rv_backoff_text_parse(text, &backoff, NULL), REEVE_EINVAL);
}

static void exponential(void **state)
{
    (void)state;
    reeve_backoff backoff = parsed("exponential");
    assert_false(rv_backoff_is_given(&backoff));
    backoff = parsed("exponential:500ms");
    assert_int_equal(backoff.shape, REEVE_BACKOFF_EXPONENTIAL);
    assert_int_equal(backoff.base_ms, 500);
    assert_int_equal(backoff.cap_ms, 0);
    assert_true(backoff.jitter == 0);
    backoff = parsed("exponential:1.5:10m~0.5");
    assert_int_equal(backoff.base_ms, 1500);
    assert_int_equal(backoff.cap_ms, 600000);
    assert_true(backoff.jitter == 0.5);
    backoff = parsed("exponential~1");
    assert_int_equal(backoff.base_ms, 0);
    assert_true(backoff.jitter == 1);
}

static void fixed(void **state)
{
    (void)state;
    reeve_backoff backoff = parsed("fixed:30");
    assert_int_equal(backoff.shape, REEVE_BACKOFF_FIXED);
    assert_int_equal(backoff.base_ms, 30000);
    assert_true(backoff.jitter == 0);
    assert_true(parsed("fixed:2h~0").jitter == -1);
    assert_true(parsed("fixed:2h~0.0").jitter == -1);
}

static void list(void **state)
{
    (void)state;
    reeve_backoff backoff = parsed("list:1s,10s,1m~0.1");
    assert_int_equal(backoff.shape, REEVE_BACKOFF_LIST);
    assert_int_equal(rv_backoff_list_count(&backoff), 3);
    assert_int_equal(backoff.list_ms[0], 1000);
    assert_int_equal(backoff.list_ms[1], 10000);
    assert_int_equal(backoff.list_ms[2], 60000);
    assert_int_equal(backoff.list_ms[3], 0);
    assert_true(backoff.jitter == 0.1);
    assert_int_equal(rv_backoff_list_count(&(reeve_backoff){.shape = REEVE_BACKOFF_LIST}), 0);
    backoff = parsed("list:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16");
    assert_int_equal(rv_backoff_list_count(&backoff), 16);
    assert_int_equal(backoff.list_ms[15], 16000);
}

static void what_is_none(void **state)
{
    (void)state;
    static const char *const odd[] = {"", "linear", "Fixed:1", ":", "~", "~0.5", "exp:1s", "list ", "1s"};
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) refused(odd[i], "expected exponential[:BASE[:CAP]]");
    refused("exponential:1s:2s:3s", "\"2s:3s\": expected a duration");
    refused("exponential:", "expected a duration above zero");
    refused("exponential:2s:1s", "the cap is below the first delay");
    refused("exponential:1s,2s", "\"1s,2s\": expected a duration");
    refused("exponential,1s", "expected exponential[");
    refused("fixed", "expected fixed:DELAY");
    refused("fixed~0.1", "expected fixed:DELAY");
    refused("fixed:0", "\"0\": expected a duration above zero");
    refused("fixed:-1s", "\"-1s\": expected");
    refused("fixed:1s:2s", "\"1s:2s\": expected");
    refused("fixed:99999999999999999999", "expected a duration");
    refused("list", "expected list:DELAY");
    refused("list:", "expected a duration");
    refused("list:1s,", "expected a duration");
    refused("list:1s,,2s", "expected a duration");
    refused("list:1s,0", "\"0\": expected a duration above zero");
    refused("list:1s:2s", "\"1s:2s\": expected");
    refused("list:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "a list has at most 16 delays");
    static const char *const shares[] = {"", "1.1", "2", "-0.1", "0.1s", "0.1ms", "x", ".5", "0.5~0.5", "1e-1", "nan"};
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        char text[64] = "fixed:1s~";
        strcat(text, shares[i]);
        refused(text, "expected a share from 0 to 1");
    }
    static char endless[5000];
    memset(endless, '9', sizeof(endless) - 1);
    refused(endless, "expected exponential[");
    memcpy(endless, "list:", 5);
    refused(endless, "expected a duration");
    memcpy(endless, "fixed:1~", 8);
    refused(endless, "expected a share");
}

static void writes(const char *expected, reeve_backoff backoff)
{
    rv_buf out;
    rv_buf_init(&out, 1000);
    rv_backoff_text_format(&out, &backoff);
    assert_false(out.failed);
    assert_string_equal(rv_buf_text(&out), expected);
    /* The same delays come of it. */
    reeve_backoff again = parsed(expected);
    for (unsigned n = 1; n < 20; n++)
        assert_int_equal(rv_backoff_delay(&again, n, 0.3), rv_backoff_delay(&backoff, n, 0.3));
    rv_buf_fini(&out);
}

#define WRITES(expected, ...) writes(expected, (reeve_backoff){__VA_ARGS__})

static void what_is_written_is_read(void **state)
{
    (void)state;
    WRITES("exponential", .shape = REEVE_BACKOFF_EXPONENTIAL);
    WRITES("exponential:500ms", .base_ms = 500);
    WRITES("exponential:2h", .base_ms = 7200000);
    WRITES("exponential:1s:1d", .cap_ms = 86400000);
    WRITES("exponential:300ms:300ms", .base_ms = 1000, .cap_ms = 300);
    WRITES("exponential:90s:90m~0.25", .base_ms = 90000, .cap_ms = 5400000, .jitter = 0.25);
    WRITES("fixed:1s", .shape = REEVE_BACKOFF_FIXED);
    WRITES("fixed:1500ms~0", .shape = REEVE_BACKOFF_FIXED, .base_ms = 1500, .jitter = -1);
    WRITES("fixed:300ms~1", .shape = REEVE_BACKOFF_FIXED, .base_ms = 1500, .cap_ms = 300, .jitter = 1);
    WRITES("list:1ms,1s,1m,1h,1d,86401s~0.007", .shape = REEVE_BACKOFF_LIST,
           .list_ms = {1, 1000, 60000, 3600000, 86400000, 86401000}, .jitter = 0.007);
    WRITES("list:5s~0.1", .shape = REEVE_BACKOFF_LIST, .list_ms = {5000}, .base_ms = 7, .cap_ms = 8, .jitter = 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential),
        cmocka_unit_test(fixed),
        cmocka_unit_test(list),
        cmocka_unit_test(what_is_none),
        cmocka_unit_test(what_is_written_is_read),
    };
    return cmocka_run_group_tests_name("ut_backoff_text", tests, NULL, NULL);
}
