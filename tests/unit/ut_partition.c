/* Names of partitions, which partition a text belongs to, layouts, and the order of partitions in a pool. */
#include "protocol/partition.h"

#include <string.h>

#include "base/error.h"
#include "base/id.h"
#include "base/text.h"
#include "protocol/keys.h"
#include "running/queue_order.h"
#include "support/cmocka.h"

static void names_go_both_ways(void **state)
{
    (void)state;
    char name[REEVE_QUEUE_MAX + 1], handle[] = "mail~12/id~x";
    rv_prefix prefix;
    rv_partition_name(name, "mail", 0);
    assert_string_equal(name, "mail");
    rv_partition_exact_name(name, "mail", 0);
    assert_string_equal(name, "mail~0");
    rv_keys_set_prefix(&prefix, "reeve", name);
    assert_string_equal(prefix.text, "reeve:{mail}:");
    rv_partition_name(name, "mail", 12);
    assert_string_equal(name, "mail~12");
    rv_keys_set_prefix(&prefix, "reeve", name);
    assert_string_equal(prefix.text, "reeve:{mail~12}:");
    assert_int_equal(rv_partition_number(name), 12);
    assert_int_equal(rv_partition_number("mail"), 0);
    rv_partition_strip(name);
    assert_string_equal(name, "mail");
    rv_partition_strip(handle);
    assert_string_equal(handle, "mail/id~x");
}

static const char *canonical(const char *text)
{
    static char ret[REEVE_HANDLE_MAX];
    rv_copy_text(ret, sizeof(ret), text);
    rv_partition_canonicalize(ret);
    return ret;
}

static void partition_0_has_one_canonical_name(void **state)
{
    (void)state;
    assert_string_equal(canonical("mail~0"), "mail");
    assert_string_equal(canonical("mail~0/a~0"), "mail/a~0");
    assert_string_equal(canonical("mail~10"), "mail~10");
    assert_string_equal(canonical("mail/a~0"), "mail/a~0");
    assert_string_equal(canonical("~0"), "~0");
    assert_string_equal(canonical(""), "");
    assert_true(rv_partition_is_same("mail~0", "mail"));
    assert_true(rv_partition_is_same("mail~1", "mail~1"));
    assert_false(rv_partition_is_same("mail~1", "mail"));
    assert_false(rv_partition_is_same("mail~0", "mai"));
}

static void users_cannot_take_such_names(void **state)
{
    (void)state;
    static const char *const good[] = {"mail", "mail~0", "mail~63"}, *const bad[] = {"~1",   "a~",    "a~b",
                                                                                     "a~01", "a~123", "a~1~2"};
    for (size_t i = 0; i < 3; i++) assert_true(rv_valid_queue(good[i], strlen(good[i])));
    for (size_t i = 0; i < 6; i++) assert_false(rv_valid_queue(bad[i], strlen(bad[i])));
    assert_false(rv_valid_whole_queue("mail~1", 6));
}

/* Clients of all versions have to agree on it. */
static void a_text_has_the_same_partition_everywhere(void **state)
{
    (void)state;
    unsigned seen[16] = {0};
    for (int i = 0; i < 1600; i++) {
        char id[RV_UUID_LENGTH + 1];
        rv_uuid7(id);
        seen[rv_partition_of(id, 16)]++;
    }
    for (int i = 0; i < 16; i++) assert_in_range(seen[i], 50, 200);
    assert_int_equal(rv_partition_of("ann", 1), 0);
    assert_int_equal(rv_partition_of("ann", 16), 7);
    assert_int_equal(rv_partition_of("bob", 16), 2);
}

static void an_id_is_made_for_a_partition(void **state)
{
    (void)state;
    for (unsigned number = 0; number < 64; number++) {
        char id[REEVE_ID_MAX];
        rv_uuid7(id);
        rv_partition_fit_id(id, number, 64);
        assert_int_equal(rv_partition_of(id, 64), number);
        assert_true(rv_valid_id(id, strlen(id)));
        assert_int_equal(strlen(id), RV_UUID_LENGTH);
    }
}

static void layouts_are_checked(void **state)
{
    (void)state;
    rv_partition_layout layout = {0}, again = {0};
    char text[RV_PARTITION_LAYOUT_TEXT];
    assert_true(rv_partition_layout_read(&layout, "8 4 16 1700000000000 40 100 1000 50"));
    assert_int_equal(layout.count, 8);
    assert_int_equal(layout.before, 4);
    assert_int_equal(layout.served, 16);
    assert_int_equal(layout.concurrency, 40);
    rv_partition_layout_write(text, &layout);
    assert_true(rv_partition_layout_read(&again, text));
    assert_int_equal(again.rate.burst, 50);
    static const char *const bad[] = {
        "", "8", "8 4 7 0 0 0 0 0", "0 1 1 0 0 0 0 0", "65 1 65 0 0 0 0 0", "x 1 1 0 0 0 0 0"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) assert_false(rv_partition_layout_read(&again, bad[i]));
}

/* Queues: a, then the partitions 1 to 3, then b. */
static const size_t families[] = {0, 1, 1, 1, 4};

static void expect_places(const rv_queue_order *order, const size_t *queues)
{
    for (size_t place = 0; place < 5; place++) assert_int_equal(rv_queue_order_queue(order, place), queues[place]);
}

static void partitions_take_turns_in_strict_order(void **state)
{
    (void)state;
    rv_queue_order order, other;
    assert_true(rv_queue_order_init(&order, REEVE_ORDER_STRICT, 5, NULL));
    assert_true(rv_queue_order_set_families(&order, families, 0));
    expect_places(&order, (const size_t[]){0, 1, 2, 3, 4});
    rv_queue_order_charge(&order, 1, 2);
    rv_queue_order_settle(&order, 0);
    expect_places(&order, (const size_t[]){0, 2, 3, 1, 4});
    rv_queue_order_charge(&order, 2, 2); /* queue 3 */
    rv_queue_order_settle(&order, 0);
    expect_places(&order, (const size_t[]){0, 1, 2, 3, 4});
    assert_true(rv_queue_order_init(&other, REEVE_ORDER_STRICT, 5, NULL));
    assert_true(rv_queue_order_set_families(&other, families, 2));
    expect_places(&other, (const size_t[]){0, 3, 1, 2, 4});
    rv_queue_order_adopt(&other, &order);
    expect_places(&other, (const size_t[]){0, 1, 2, 3, 4});
    rv_queue_order_fini(&order);
    rv_queue_order_fini(&other);
}

static void partitions_share_a_weight(void **state)
{
    (void)state;
    rv_queue_order order;
    size_t served[5] = {0};
    assert_true(rv_queue_order_init(&order, REEVE_ORDER_ROUND_ROBIN, 5, NULL));
    assert_true(rv_queue_order_set_families(&order, families, 0));
    for (int i = 0; i < 900; i++) {
        served[rv_queue_order_queue(&order, 0)]++;
        rv_queue_order_charge(&order, 0, 1);
        rv_queue_order_settle(&order, 0);
    }
    assert_in_range(served[0], 290, 310);
    assert_in_range(served[1] + served[2] + served[3], 290, 310);
    assert_in_range(served[4], 290, 310);
    rv_queue_order_fini(&order);
}

/* One turn, at this time, that leases from the first place. Returns the queue. */
static size_t take_turn(rv_queue_order *order, int64_t stay_ms)
{
    size_t queue = rv_queue_order_queue(order, 0);
    rv_queue_order_charge(order, 0, 2);
    rv_queue_order_settle(order, stay_ms);
    return queue;
}

static void a_thread_stays_with_a_partition_for_some_milliseconds(void **state)
{
    static const size_t one_family[] = {0, 0, 0};
    static const reeve_order kinds[] = {REEVE_ORDER_STRICT, REEVE_ORDER_ROUND_ROBIN};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        rv_queue_order order;
        assert_true(rv_queue_order_init(&order, kinds[i], 3, NULL));
        assert_true(rv_queue_order_set_families(&order, one_family, 1));
        for (int64_t now = 100; now <= 100 + RV_ORDER_STAY_MS; now++) assert_int_equal(take_turn(&order, now), 1);
        assert_int_equal(take_turn(&order, 200), 2);
        assert_int_equal(take_turn(&order, 201), 2);
        assert_int_equal(take_turn(&order, 0), 2); /* it was not full */
        assert_int_equal(take_turn(&order, 203), 0);
        rv_queue_order_fini(&order);
    }
}

static void a_thread_leaves_a_partition_when_another_queue_was_served(void **state)
{
    (void)state;
    rv_queue_order order;
    assert_true(rv_queue_order_init(&order, REEVE_ORDER_STRICT, 5, NULL));
    assert_true(rv_queue_order_set_families(&order, families, 0));
    for (size_t turn = 0; turn < 6; turn++) {
        expect_places(&order, (const size_t[]){0, 1 + turn % 3, 1 + (turn + 1) % 3, 1 + (turn + 2) % 3, 4});
        rv_queue_order_charge(&order, 1, 2);
        rv_queue_order_settle(&order, 100);
        expect_places(&order, (const size_t[]){0, 1 + turn % 3, 1 + (turn + 1) % 3, 1 + (turn + 2) % 3, 4});
        assert_int_equal(take_turn(&order, 100), 0);
    }
    rv_queue_order_fini(&order);
}

static void partitions_share_a_weight_while_a_thread_stays(void **state)
{
    (void)state;
    rv_queue_order order;
    size_t served[5] = {0};
    static const unsigned weights[] = {1, 4, 4, 4, 1};
    assert_true(rv_queue_order_init(&order, REEVE_ORDER_WEIGHTED, 5, weights));
    assert_true(rv_queue_order_set_families(&order, families, 0));
    for (int i = 0; i < 900; i++) served[take_turn(&order, 1 + i)]++;
    assert_in_range(served[0], 140, 160);
    for (size_t i = 1; i < 4; i++) assert_in_range(served[i], 100, 400);
    assert_in_range(served[1] + served[2] + served[3], 590, 610);
    assert_in_range(served[4], 140, 160);
    rv_queue_order_fini(&order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(partition_0_has_one_canonical_name),
        cmocka_unit_test(users_cannot_take_such_names),
        cmocka_unit_test(a_text_has_the_same_partition_everywhere),
        cmocka_unit_test(an_id_is_made_for_a_partition),
        cmocka_unit_test(layouts_are_checked),
        cmocka_unit_test(partitions_take_turns_in_strict_order),
        cmocka_unit_test(partitions_share_a_weight),
        cmocka_unit_test(a_thread_stays_with_a_partition_for_some_milliseconds),
        cmocka_unit_test(a_thread_leaves_a_partition_when_another_queue_was_served),
        cmocka_unit_test(partitions_share_a_weight_while_a_thread_stays),
    };
    return cmocka_run_group_tests_name("ut_partition", tests, NULL, NULL);
}
