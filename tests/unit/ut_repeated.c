/* ut_repeated.c - a failure that repeats itself is logged once a minute, another one at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/repeated.h"

static void the_same_failure_is_new_once_a_minute(void **state)
{
    (void)state;
    rv_repeated repeated = {0};
    assert_true(rv_repeated_is_new(&repeated, "MISCONF", 1000));
    assert_false(rv_repeated_is_new(&repeated, "MISCONF", 1250));
    assert_false(rv_repeated_is_new(&repeated, "MISCONF", 1000 + RV_REPEATED_MS - 1));
    assert_true(rv_repeated_is_new(&repeated, "MISCONF", 1000 + RV_REPEATED_MS));
    assert_false(rv_repeated_is_new(&repeated, "MISCONF", 1001 + RV_REPEATED_MS));
}

static void another_failure_is_new_at_once(void **state)
{
    (void)state;
    rv_repeated repeated = {0};
    assert_true(rv_repeated_is_new(&repeated, "MISCONF", 1));
    assert_true(rv_repeated_is_new(&repeated, "READONLY", 2));
    assert_false(rv_repeated_is_new(&repeated, "READONLY", 3));
    assert_true(rv_repeated_is_new(&repeated, "MISCONF", 4));
}

static void texts_may_be_long(void **state)
{
    (void)state;
    char text[1000];
    rv_repeated repeated = {0};
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    assert_true(rv_repeated_is_new(&repeated, text, 1));
    assert_false(rv_repeated_is_new(&repeated, text, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_failure_is_new_once_a_minute),
        cmocka_unit_test(another_failure_is_new_at_once),
        cmocka_unit_test(texts_may_be_long),
    };
    return cmocka_run_group_tests_name("ut_repeated", tests, NULL, NULL);
}
