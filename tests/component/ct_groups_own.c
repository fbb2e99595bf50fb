/* Own limits of groups: they go before the queue's, and are listed. The clock is the test's. */
#include <stdio.h>
#include <string.h>

#include "support/clock.h"
#include "support/limits.h"
#include "support/segments.h"

#define Q "reeve:{q}:"
#define NOW 1900000000000

static test_hand a, b;

static int set_up(void **state)
{
    return test_limits_begin(state, NOW, &a, &b);
}

static void own_limits_count_more(void **state)
{
    (void)state;
    test_limit_groups(2, NULL);
    test_limit_group("one", 1, NULL);
    test_limit_group("any", -1, NULL);
    test_put_group("a", 10, "one");
    test_put_group("b", 10, "two");
    test_put_group("c", 10, "any");
    (void)test_lease(&a, 100);
    size_t count[3] = {0};
    for (size_t i = 0; i < a.count; i++) count[a.leased[i].id[0] - 'a']++;
    assert_int_equal(count[0], 1);
    assert_int_equal(count[1], 2);
    assert_int_equal(count[2], 10);
    test_limits_agree();
    test_limit_forget("one");
    test_maintain_all("q");
    assert_int_equal(test_lease(&a, 100), 1);
    assert_int_equal(a.leased[0].id[0], 'a');
    test_limit_groups(-1, NULL);
    test_limit_group("two", 3, NULL);
    test_limit_forget("any");
    test_maintain_all("q");
    (void)test_lease(&b, 100);
    assert_int_equal(b.count, 8 + 1);
    test_limits_agree();
    test_limit_forget("two");
    test_maintain_all("q");
    assert_int_equal(test_lease(&b, 100), 7);
    test_groups_forgotten(); /* while they run: nobody counts them */
    assert_int_equal(test_number("HEXISTS " Q "settings in_force"), 0);
}

static void what_is_set_is_told(void **state)
{
    (void)state;
    test_limit_group("b", 3, TEST_RATE(5, 0, 0));
    test_limit_group("c", -1, TEST_ANY_RATE);
    test_limit_groups(1, NULL);
    test_hold("a", 9000);
    test_put_in("x0 x1 x2 x3 x4 x5", "b", 0);
    test_put_in("y0 y1 y2", "d", 0);
    (void)test_lease(&a, 100);
    assert_int_equal(a.count, 4);
    reeve_limits *limits = test_limits();
    assert_int_equal(limits->group_count, 4);
    assert_int_equal(limits->group_total, 4);
    const reeve_group_limits *g = limits->groups;
    assert_string_equal(g[0].group, "a");
    assert_int_equal(g[0].concurrency, 0);
    assert_int_equal(g[0].rate.count, 0);
    assert_int_equal(g[0].pause_until_ms, NOW + 9000);
    assert_string_equal(g[1].group, "b");
    assert_int_equal(g[1].concurrency, 3);
    assert_int_equal(g[1].rate.count, 5);
    assert_int_equal(g[1].rate.period_ms, 1000);
    assert_int_equal(g[1].running, 3);
    assert_int_equal(g[1].parked, 3);
    assert_string_equal(g[2].group, "c");
    assert_int_equal(g[2].concurrency, -1);
    assert_int_equal(g[2].rate.count, -1);
    assert_int_equal(g[2].running, 0);
    assert_string_equal(g[3].group, "d");
    assert_int_equal(g[3].concurrency, 0);
    assert_int_equal(g[3].running, 1);
    assert_int_equal(g[3].parked, 2);
    reeve_limits_free(limits);
    test_ok(test_client, reeve_limits_get(test_client, "q", 1, 2, &limits));
    assert_int_equal(limits->group_count, 2);
    assert_int_equal(limits->group_total, 4);
    assert_string_equal(limits->groups[0].group, "b");
    reeve_limits_free(limits);
    test_ok(test_client, reeve_limits_get(test_client, "q", 9, 2, &limits));
    assert_int_equal(limits->group_count, 0);
    reeve_limits_free(limits);
}

static size_t list_from(uint64_t offset, uint64_t *ret_next, char ids[12000])
{
    reeve_limits *limits;
    test_ok(test_client, reeve_limits_get(test_client, "q", offset, 300, &limits));
    size_t count = limits->group_count;
    for (size_t i = 0; i < count; i++) {
        strcat(ids, limits->groups[i].group);
        strcat(ids, " ");
    }
    assert_true(limits->group_total >= 1000);
    *ret_next = limits->next;
    reeve_limits_free(limits);
    return count;
}

/* Of many groups each is listed once: own limits, holds, parked tasks. */
static void many_groups_by_pages(void **state)
{
    (void)state;
    static char ids[12000];
    const char *const fill = "for i = 0, 799 do redis.call('HSET', 'reeve:{q}:limits', 'c:l' .. i, 1, 'r:l' .. i, '')\n"
                             "redis.call('ZADD', 'reeve:{q}:limited', 0, 'l' .. i) end\n"
                             "for i = 500, 999 do redis.call('ZADD', 'reeve:{q}:paused_groups', 9e12, 'l' .. i) end\n"
                             "for i = 900, 1099 do redis.call('ZADD', 'reeve:{q}:limit_due', 1, 'l' .. i) end";
    (void)test_eval((const char *const[]){fill}, 1, "q");
    size_t all = 0, pages = 0;
    uint64_t next = 0;
    ids[0] = '\0';
    do {
        all += list_from(next, &next, ids);
        assert_true(++pages < 20);
    } while (next > 0);
    assert_int_equal(all, 1100);
    assert_memory_equal(ids, "l0 l1 l10 l100 l101 ", 20);
    for (int i = 0; i < 1100; i++) {
        char id[16], *found;
        (void)snprintf(id, sizeof(id), "l%d ", i);
        found = strstr(ids, id);
        assert_non_null(found);
        assert_null(strstr(found + 1, id));
    }
    assert_int_equal(list_from(5000, &next, ids), 0);
    assert_int_equal(next, 0);
}

static void names_of_any_text(void **state)
{
    (void)state;
    static const char *const names[] = {"a:b", "c:", "-1:x", "{q}", "new\nline", "\xc3\xa9 \"quoted\" \\", "%s;5", "0"};
    test_limit_groups(1, NULL);
    for (size_t i = 0; i < 8; i++) {
        char name[8];
        (void)snprintf(name, sizeof(name), "%c", (char)('a' + i));
        test_put_group(name, 3, names[i]);
    }
    assert_int_equal(test_lease(&a, 100), 8);
    for (size_t i = 0; i < 8; i++) test_limit_group(names[i], 2, NULL);
    test_limits_agree();
    test_maintain_all("q");
    assert_int_equal(test_lease(&b, 100), 8);
    test_done(&a);
    test_done(&b);
    assert_int_equal(test_run_all(&a), 8);
    test_limits_agree();
    for (size_t i = 0; i < 8; i++) test_limit_forget(names[i]);
    test_groups_forgotten();
    assert_int_equal(test_number("EXISTS " Q "limits"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(own_limits_count_more, set_up),
        cmocka_unit_test_setup(what_is_set_is_told, set_up),
        cmocka_unit_test_setup(many_groups_by_pages, set_up),
        cmocka_unit_test_setup(names_of_any_text, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_groups_own", tests, test_place_start, test_place_stop);
}
