/* How much a single call of a script does at most, in commands, however much there is to do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/clock.h"
#include "support/queue.h"

#define Q "reeve:{q}:"

/* Calls of one command since the last reset, those by scripts included; NULL: of all. */
static long long calls_of(const char *command)
{
    char key[64];
    long long sum = 0;
    (void)snprintf(key, sizeof(key), "cmdstat_%s:calls=", command ? command : "");
    const char *found = test_cmd(test_conn, "INFO commandstats"), *what = command ? key : ":calls=";
    for (; (found = strstr(found, what)) != NULL; found++) sum += atoll(found + strlen(what));
    return sum;
}

static void count_anew(void)
{
    assert_string_equal(test_cmd(test_conn, "CONFIG RESETSTAT"), "OK");
}

/* `count` tasks whose ids differ behind their 75th character, all past their deadlines. */
static void put_late(size_t count, reeve_task_spec like)
{
    reeve_task_spec *specs = calloc(count, sizeof(*specs));
    reeve_enqueued *results = calloc(count, sizeof(*results));
    char(*ids)[REEVE_ID_MAX] = calloc(count, sizeof(*ids));
    assert_true(specs && results && ids);
    for (size_t i = 0; i < count; i++) {
        memset(ids[i], 'x', 75);
        (void)snprintf(ids[i] + 75, 8, "%04zu", i);
        specs[i] = like;
        specs[i].id = ids[i];
        specs[i].queue = "q";
        specs[i].type = "t";
        specs[i].expires_in_ms = 1;
    }
    test_ok(test_client, reeve_enqueue_many(test_client, specs, count, results));
    free(specs);
    free(results);
    free(ids);
    test_clock_advance(10);
}

/* Each of many deaths in one ms is told of by one try, also where their ids are cut to the same name. */
static void deaths_in_one_ms_are_told_of_at_the_first_try(void **state)
{
    (void)state;
    enum { DEATHS = 40 };
    put_late(DEATHS, (reeve_task_spec){.on_dead = "mourner"});
    count_anew();
    (void)test_tend("q", 200);
    assert_int_equal(calls_of("hsetnx"), DEATHS);
    test_tend_all("q");
    assert_int_equal(test_count("q", "dead"), DEATHS);
    assert_int_equal(test_count("q", "ready"), DEATHS);
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(deaths_in_one_ms_are_told_of_at_the_first_try, test_place_empty),
    };
    test_clock_set(1900000000000); /* it stands still */
    return cmocka_run_group_tests_name("ct_bounds", tests, test_place_start, test_place_stop);
}
