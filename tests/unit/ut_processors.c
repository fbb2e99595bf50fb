/* ut_processors.c - lists of processors, and how many this process may use. */
#include <sched.h>
#include <stdio.h>

#include "base/cpu_list.h"
#include "running/processors.h"
#include "support/cmocka.h"

static void lists_are_read(void **state)
{
    (void)state;
    cpu_set_t set;
    assert_true(rv_cpu_list_parse("0", &set));
    assert_int_equal(CPU_COUNT(&set), 1);
    assert_true(rv_cpu_list_parse("0-3,8,10-11", &set));
    assert_int_equal(CPU_COUNT(&set), 7);
    assert_true(CPU_ISSET(8, &set) && CPU_ISSET(11, &set) && !CPU_ISSET(9, &set));
    assert_true(rv_cpu_list_parse("1023", &set));
}

static void what_is_no_list_is_refused(void **state)
{
    (void)state;
    const char *const wrong[] = {"",     "-1",    "1-",   "3-1",          "1,",  ",1", "a",
                                 "1 ,2", "1-2-3", "1024", "0-9999999999", "0x1", " 1", "1 "};
    cpu_set_t set;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) assert_false(rv_cpu_list_parse(wrong[i], &set));
}

static void a_quota_is_rounded_up(void **state)
{
    (void)state;
    assert_int_equal(rv_processors_quota(150000, 100000), 2);
    assert_int_equal(rv_processors_quota(100000, 100000), 1);
    assert_int_equal(rv_processors_quota(1000, 100000), 1);
    assert_int_equal(rv_processors_quota(-1, 100000), UINT32_MAX);
    assert_int_equal(rv_processors_quota(100000, 0), UINT32_MAX);
}

static void the_affinity_counts(void **state)
{
    (void)state;
    cpu_set_t all, one;
    rv_error error = {0};
    unsigned count = 0;
    char first[16], other[32];
    int cpu = 0;
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    while (!CPU_ISSET((size_t)cpu, &all)) cpu++;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(rv_processors(), 1);
    (void)snprintf(first, sizeof(first), "%d-%d", cpu, cpu + 1);
    (void)snprintf(other, sizeof(other), "%d", cpu + 1);
    assert_int_equal(rv_processors_of(first, &count, &error), REEVE_OK);
    assert_int_equal(count, 1);
    assert_int_equal(rv_processors_of(other, &count, &error), REEVE_EINVAL);
    assert_int_equal(rv_processors_of("x", &count, &error), REEVE_EINVAL);
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
    assert_int_equal(rv_processors_of(NULL, &count, &error), REEVE_OK);
    assert_in_range(count, 1, (unsigned)CPU_COUNT(&all));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(what_is_no_list_is_refused),
        cmocka_unit_test(a_quota_is_rounded_up),
        cmocka_unit_test(the_affinity_counts),
    };
    return cmocka_run_group_tests_name("ut_processors", tests, NULL, NULL);
}
