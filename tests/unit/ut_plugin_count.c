/* The counters of plugins: added up by name, for the whole process. */
#include <stdio.h>
#include <string.h>

#include "handlers/plugin_count.h"
#include "support/cmocka.h"

/* Counters of the process: those of other tests, too. */
static uint64_t counted(const char *name)
{
    for (size_t i = 0; i < rv_plugin_count_number(); i++)
        if (strcmp(rv_plugin_count_get(i).name, name) == 0) return rv_plugin_count_get(i).value;
    return UINT64_MAX;
}

static void counters_are_added_up_by_name(void **state)
{
    (void)state;
    assert_int_equal(reeve_plugin_count("thumbs_skipped", "Pictures that were too small.", 0), REEVE_OK);
    assert_int_equal(counted("thumbs_skipped"), 0);
    assert_int_equal(reeve_plugin_count("thumbs_skipped", NULL, 2), REEVE_OK);
    assert_int_equal(reeve_plugin_count("thumbs_skipped", "other words", 3), REEVE_OK);
    assert_int_equal(counted("thumbs_skipped"), 5);
    assert_string_equal(rv_plugin_count_get(0).help, "Pictures that were too small.");
}

static void counters_have_limits(void **state)
{
    static const char *const wrong[] = {"", "Upper", "with space", "new\nline", "quo\"te", "dash-ed"};
    char name[REEVE_COUNTER_NAME_MAX + 2], help[REEVE_COUNTER_HELP_MAX + 2];

    (void)state;
    assert_int_equal(reeve_plugin_count(NULL, "h", 1), REEVE_EINVAL);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(reeve_plugin_count(wrong[i], "h", 1), REEVE_EINVAL);
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(reeve_plugin_count(name, "h", 1), REEVE_EINVAL);
    name[sizeof(name) - 2] = '\0';
    memset(help, 'h', sizeof(help) - 1);
    help[sizeof(help) - 1] = '\0';
    assert_int_equal(reeve_plugin_count(name, help, 1), REEVE_OK);
    assert_int_equal(strlen(rv_plugin_count_get(rv_plugin_count_number() - 1).help), REEVE_COUNTER_HELP_MAX);
    for (int i = 0; rv_plugin_count_number() < REEVE_COUNTERS_MAX; i++) {
        (void)snprintf(name, sizeof(name), "n%d", i);
        assert_int_equal(reeve_plugin_count(name, "", 1), REEVE_OK);
    }
    assert_int_equal(reeve_plugin_count("too_many", "", 1), REEVE_ETOOBIG);
    assert_int_equal(reeve_plugin_count("n0", "", 1), REEVE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_are_added_up_by_name),
        cmocka_unit_test(counters_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
