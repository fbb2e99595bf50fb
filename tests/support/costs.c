#include "support/costs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool counts_sadd;
static int wrong; /* lines of a table that do not hold */

int test_costs_count_all(void **state)
{
    (void)state;
    reeve_client_close(test_client);
    test_client = test_client_open(10000);
    counts_sadd = true;
    return 0;
}

test_hand test_costs_hand;

void test_costs_begin(void)
{
    test_hand_init(&test_costs_hand, "1", "q");
    test_put("q", "known");
    test_put("far", "known");
    test_ok(test_client, reeve_delete(test_client, "q", "known"));
    test_ok(test_client, reeve_delete(test_client, "far", "known"));
}

void test_costs_lease(unsigned count)
{
    assert_int_equal(test_lease(&test_costs_hand, count), count);
}

void test_costs_done(const char *id)
{
    test_settle(&test_costs_hand, {0, {.id = id, .outcome = REEVE_OUTCOME_DONE}});
}

void test_costs_reset(void)
{
    assert_string_equal(test_cmd(test_conn, "CONFIG RESETSTAT"), "OK");
}

static bool is_counted(const char *name)
{
    static const char *const others[] = {"info", "config|resetstat", "client|id", "client|setname", "ping"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(name, others[i]) == 0) return false;
    return counts_sadd || strcmp(name, "sadd") != 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b); /* (the name comes first) */
}

/* "cmdstat_hset:calls=2,usec=..." for each command. */
test_costs test_costs_read(void)
{
    test_costs ret = {.count = 0};
    const char *line = test_cmd(test_conn, "INFO commandstats");
    while ((line = strstr(line, "cmdstat_")) != NULL) {
        line += strlen("cmdstat_");
        size_t length = strcspn(line, ":");
        assert_in_range(ret.count, 0, TEST_COMMANDS - 1);
        assert_in_range(length, 1, sizeof(ret.of[0].name) - 1);
        memcpy(ret.of[ret.count].name, line, length);
        ret.of[ret.count].name[length] = '\0';
        ret.of[ret.count].calls = atoi(line + length + strlen(":calls="));
        if (is_counted(ret.of[ret.count].name)) ret.count++;
    }
    qsort(ret.of, ret.count, sizeof(ret.of[0]), by_name);
    return ret;
}

static int calls_of(const test_costs *from, const char *name)
{
    for (size_t i = 0; i < from->count; i++)
        if (strcmp(from->of[i].name, name) == 0) return from->of[i].calls;
    return 0;
}

static void add_one(char text[1024], const char *format, int calls, const char *name)
{
    size_t length = strlen(text);
    (void)snprintf(text + length, 1024 - length, "%s%s%s%d", length > 0 ? " " : "", name, format, calls);
}

const char *test_costs_text(const test_costs *from)
{
    static char text[1024];
    text[0] = '\0';
    for (size_t i = 0; i < from->count; i++) add_one(text, "=", from->of[i].calls, from->of[i].name);
    return text;
}

const char *test_costs_difference(const test_costs *from, const test_costs *than)
{
    static char text[1024];
    test_costs names = *from;
    for (size_t i = 0; i < than->count && names.count < TEST_COMMANDS; i++)
        if (calls_of(from, than->of[i].name) == 0) names.of[names.count++] = than->of[i];
    qsort(names.of, names.count, sizeof(names.of[0]), by_name);
    text[0] = '\0';
    for (size_t i = 0; i < names.count; i++) {
        int more = calls_of(from, names.of[i].name) - calls_of(than, names.of[i].name);
        if (more != 0) add_one(text, more > 0 ? "+" : "", more, names.of[i].name);
    }
    return text;
}

void test_costs_check(const char *feature, const char *what, const char *actual, const char *expected)
{
    if (strcmp(actual, expected) == 0) return;
    print_message("%s: %s: \"%s\" instead of \"%s\"\n", feature, what, actual, expected);
    wrong++;
}

void test_costs_hold(void)
{
    int found = wrong;
    wrong = 0;
    assert_int_equal(found, 0);
}

/* The first time makes its scripts known. */
static test_costs measure(const test_costs_row *row, void (*act)(void))
{
    test_costs ret;
    for (int i = 0; i < 2; i++) {
        (void)test_place_empty(NULL);
        if (row->prepare != NULL) row->prepare();
        test_costs_reset();
        act();
        ret = test_costs_read();
    }
    return ret;
}

void test_costs_check_rows(const test_costs_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        test_costs now = measure(&rows[i], rows[i].act);
        const char *text = test_costs_text(&now);
        if (rows[i].than != NULL) {
            test_costs than = measure(&rows[i], rows[i].than);
            text = test_costs_difference(&now, &than);
        }
        test_costs_check(rows[i].name, "it", text, rows[i].expected);
    }
    test_costs_hold();
}
