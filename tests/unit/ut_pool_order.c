/* Which queue a thread asks first: strict, round-robin, weighted, against queues that are played by hand. */
#include "running/queue_order.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "support/cmocka.h"

#define MAX 1000
#define ENDLESS SIZE_MAX

/* What stands in each queue, and what was taken from it. */
static size_t stock[MAX], taken[MAX];

static int set_up(void **state)
{
    (void)state;
    memset(stock, 0, sizeof(stock));
    memset(taken, 0, sizeof(taken));
    return 0;
}

static rv_queue_order new_order(reeve_order kind, size_t count, const unsigned *weights)
{
    rv_queue_order order;
    assert_true(rv_queue_order_init(&order, kind, count, weights));
    return order;
}

/* A turn as turn.lua takes it. Returns the queue that was leased from last, or count. */
static size_t turn(rv_queue_order *order, size_t want)
{
    size_t last = order->count;
    for (size_t place = 0; place < rv_queue_order_places(order) && want > 0; place++) {
        size_t queue = rv_queue_order_queue(order, place), n = stock[queue] < want ? stock[queue] : want;
        if (n == 0) continue;
        if (stock[queue] != ENDLESS) stock[queue] -= n;
        taken[queue] += n;
        want -= n;
        last = queue;
        rv_queue_order_charge(order, place, n);
    }
    rv_queue_order_settle(order, 0);
    return last;
}

/* The queues of turns of one task, as letters from A on; '-': nothing. */
static const char *letters(rv_queue_order *order, size_t turns)
{
    static char text[512];
    assert_true(turns < sizeof(text));
    for (size_t i = 0; i < turns; i++) {
        size_t queue = turn(order, 1);
        text[i] = queue == order->count ? '-' : (char)('A' + queue);
    }
    text[turns] = '\0';
    return text;
}

/* Each queue has one place. */
static void expect_permutation(const rv_queue_order *order)
{
    bool seen[MAX] = {false};
    for (size_t place = 0; place < order->count; place++) {
        size_t queue = rv_queue_order_queue(order, place);
        assert_true(queue < order->count && !seen[queue]);
        seen[queue] = true;
    }
}

/* ---- strict, round-robin --------------------------------------------------------------------------------------- */

static void strict_is_the_list(void **state)
{
    (void)state;
    rv_queue_order order = new_order(REEVE_ORDER_STRICT, 3, NULL);
    stock[0] = 3, stock[1] = 2, stock[2] = 5;
    assert_string_equal(letters(&order, 11), "AAABBCCCCC-");
    rv_queue_order_fini(&order);
}

static void round_robin_goes_round(void **state)
{
    (void)state;
    rv_queue_order order = new_order(REEVE_ORDER_ROUND_ROBIN, 3, NULL);
    stock[0] = 3, stock[1] = 2, stock[2] = 5;
    assert_string_equal(letters(&order, 11), "ABCABCACCC-");
    stock[0] = stock[1] = stock[2] = 2; /* (goes on where it was) */
    assert_string_equal(letters(&order, 7), "ABCABC-");
    stock[1] = 1;
    assert_string_equal(letters(&order, 3), "B--");
    stock[0] = stock[1] = stock[2] = 1;
    assert_string_equal(letters(&order, 4), "CAB-");
    rv_queue_order_fini(&order);
}

/* The turn after one that took from several begins behind the last of them. */
static void round_robin_in_batches(void **state)
{
    (void)state;
    rv_queue_order order = new_order(REEVE_ORDER_ROUND_ROBIN, 4, NULL);
    stock[0] = 3, stock[1] = 20, stock[2] = 20, stock[3] = 20;
    assert_int_equal(turn(&order, 8), 1);
    assert_int_equal(taken[0], 3);
    assert_int_equal(taken[1], 5);
    assert_int_equal(rv_queue_order_queue(&order, 0), 2);
    assert_int_equal(rv_queue_order_queue(&order, 3), 1);
    expect_permutation(&order);
    assert_int_equal(turn(&order, 8), 2);
    assert_int_equal(turn(&order, 8), 3);
    assert_int_equal(turn(&order, 8), 1);
    rv_queue_order_fini(&order);
}

/* ---- weighted -------------------------------------------------------------------------------------------------- */

static void weighted_is_smooth(void **state)
{
    (void)state;
    const unsigned five[] = {5, 1}, three[] = {1, 2, 3};
    rv_queue_order order = new_order(REEVE_ORDER_WEIGHTED, 2, five);
    stock[0] = stock[1] = stock[2] = ENDLESS;
    assert_string_equal(letters(&order, 24), "ABAAAABAAAAABAAAAABAAAAA");
    rv_queue_order_fini(&order);
    order = new_order(REEVE_ORDER_WEIGHTED, 3, three);
    assert_string_equal(letters(&order, 18), "ABCCBCABCCBCABCCBC");
    rv_queue_order_fini(&order);
    order = new_order(REEVE_ORDER_WEIGHTED, 3, NULL); /* all the same: one after the other */
    assert_string_equal(letters(&order, 9), "ABCABCABC");
    rv_queue_order_fini(&order);
}

/* At any time no full queue is further behind another than one batch, each by its weight. */
static void expect_shares(rv_queue_order *order, const unsigned *weights, size_t turns, size_t batch)
{
    for (size_t i = 0; i < turns; i++) {
        turn(order, 1 + (i * 7) % batch);
        for (size_t a = 0; a < order->count; a++) {
            for (size_t b = 0; b < order->count; b++) {
                /* taken[a] / weights[a] - taken[b] / weights[b] is at most batch / weights[a]. */
                if (taken[a] > batch && (taken[a] - batch) * weights[b] > taken[b] * weights[a] + weights[a])
                    fail_msg("turn %zu: %zu of weight %u, %zu of weight %u", i, taken[a], weights[a], taken[b],
                             weights[b]);
            }
        }
    }
    expect_permutation(order);
}

static void weighted_shares_hold(void **state)
{
    (void)state;
    static const unsigned sets[][5] = {{5, 1, 5, 1, 5}, {1, 1, 1, 1, 1}, {1000, 1, 7, 13, 999}, {3, 10, 11, 17, 2}};
    static const size_t batches[] = {1, 2, 16, 64, 256};
    for (size_t set = 0; set < 4; set++) {
        for (size_t i = 0; i < 5; i++) {
            rv_queue_order order = new_order(REEVE_ORDER_WEIGHTED, 5, sets[set]);
            for (size_t j = 0; j < 5; j++) stock[j] = ENDLESS, taken[j] = 0;
            expect_shares(&order, sets[set], 20000, batches[i]);
            rv_queue_order_fini(&order);
        }
    }
}

static void weighted_long_run(void **state)
{
    (void)state;
    const unsigned weights[] = {5, 1};
    rv_queue_order order = new_order(REEVE_ORDER_WEIGHTED, 2, weights);
    stock[0] = stock[1] = ENDLESS;
    for (size_t i = 0; i < 6000000; i++) turn(&order, 1 + i % 64);
    double share = (double)taken[0] / (double)(taken[0] + taken[1]) * 6;
    if (share < 4.9999 || share > 5.0001) fail_msg("%.6f of 6", share);
    rv_queue_order_fini(&order);
}

/* While B is empty A has it all; then B is at its share at once, and no more. */
static void an_empty_queue_saves_nothing(void **state)
{
    (void)state;
    const unsigned weights[] = {5, 1};
    rv_queue_order order = new_order(REEVE_ORDER_WEIGHTED, 2, weights);
    stock[0] = ENDLESS;
    for (int i = 0; i < 1000; i++) assert_int_equal(turn(&order, 1), 0);
    stock[1] = ENDLESS;
    assert_string_equal(letters(&order, 17), "BAAAABAAAAABAAAAA");
    stock[0] = 0;
    for (int i = 0; i < 1000; i++) assert_int_equal(turn(&order, 1), 1);
    stock[0] = ENDLESS;
    assert_string_equal(letters(&order, 18), "ABAAAAABAAAAABAAAA");
    rv_queue_order_fini(&order);
}

/* However much heavier it is than those that were served meanwhile. */
static void an_empty_queue_gets_a_batch_at_most(void **state)
{
    (void)state;
    const unsigned weights[] = {1, 1000};
    rv_queue_order order = new_order(REEVE_ORDER_WEIGHTED, 2, weights);
    stock[0] = ENDLESS;
    for (int i = 0; i < 100; i++) assert_int_equal(turn(&order, 64), 0);
    stock[1] = ENDLESS;
    assert_int_equal(turn(&order, 64), 1);
    assert_int_equal(turn(&order, 64), 0);
    rv_queue_order_fini(&order);
}

/* A queue that has something now and then gets what it has, and the other the rest. */
static void a_trickle_is_served_at_once(void **state)
{
    (void)state;
    const unsigned weights[] = {5, 1};
    rv_queue_order order = new_order(REEVE_ORDER_WEIGHTED, 2, weights);
    stock[0] = ENDLESS;
    for (int i = 0; i < 500; i++) {
        stock[1] = 1;
        assert_string_equal(letters(&order, 1), i == 0 ? "A" : "B");
        assert_string_equal(letters(&order, 11), i == 0 ? "BAAAAAAAAAA" : "AAAAAAAAAAA");
    }
    rv_queue_order_fini(&order);
}

static void idle_clears_the_account(void **state)
{
    (void)state;
    const unsigned weights[] = {1, 1};
    rv_queue_order order = new_order(REEVE_ORDER_WEIGHTED, 2, weights);
    stock[0] = 64;
    assert_int_equal(turn(&order, 64), 0);
    assert_int_equal(turn(&order, 64), 2);
    stock[0] = stock[1] = ENDLESS;
    assert_string_equal(letters(&order, 8), "ABABABAB");
    rv_queue_order_fini(&order);
}

/* One full queue among a thousand of all weights is found at each turn, and all are served when they fill. */
static void a_thousand_queues(void **state)
{
    (void)state;
    static unsigned weights[MAX];
    for (size_t i = 0; i < MAX; i++) weights[i] = 1 + (unsigned)(i * 7919 % 1000);
    rv_queue_order order = new_order(REEVE_ORDER_WEIGHTED, MAX, weights);
    stock[500] = ENDLESS;
    for (int i = 0; i < 2000; i++) assert_int_equal(turn(&order, 1 + (size_t)i % 64), 500);
    expect_permutation(&order);
    for (size_t i = 0; i < MAX; i++) stock[i] = ENDLESS;
    memset(taken, 0, sizeof(taken));
    size_t all = 0, sum = 0;
    for (; all < 1000000; all += 64) turn(&order, 64);
    expect_permutation(&order);
    for (size_t i = 0; i < MAX; i++) sum += weights[i];
    for (size_t i = 0; i < MAX; i++) {
        double due = (double)all * weights[i] / (double)sum;
        if ((double)taken[i] < due - 2 * 64 || (double)taken[i] > due + 2 * 64)
            fail_msg("weight %u: %zu of %.1f", weights[i], taken[i], due);
    }
    rv_queue_order_fini(&order);
}

static void one_queue(void **state)
{
    (void)state;
    static const reeve_order kinds[] = {REEVE_ORDER_STRICT, REEVE_ORDER_ROUND_ROBIN, REEVE_ORDER_WEIGHTED};
    for (size_t i = 0; i < 3; i++) {
        rv_queue_order order = new_order(kinds[i], 1, NULL);
        stock[0] = 2;
        assert_string_equal(letters(&order, 3), "AA-");
        rv_queue_order_fini(&order);
    }
}

/* Two are alike when they would ask the same queues in the same order. */
static void who_is_alike(void **state)
{
    (void)state;
    static const unsigned weights[] = {1, 1, 1};
    static const reeve_order kinds[] = {REEVE_ORDER_STRICT, REEVE_ORDER_ROUND_ROBIN, REEVE_ORDER_WEIGHTED};
    for (size_t i = 0; i < 3; i++) {
        const unsigned *given = kinds[i] == REEVE_ORDER_WEIGHTED ? weights : NULL;
        rv_queue_order one = new_order(kinds[i], 3, given), other = new_order(kinds[i], 3, given);
        stock[0] = stock[1] = stock[2] = ENDLESS;
        assert_true(rv_queue_order_is_like(&one, &other));
        assert_int_equal(turn(&one, 1), 0);
        assert_int_equal(rv_queue_order_is_like(&one, &other), kinds[i] == REEVE_ORDER_STRICT);
        assert_int_equal(turn(&other, 1), 0);
        assert_true(rv_queue_order_is_like(&one, &other));
        assert_int_equal(rv_queue_order_hash(&one), rv_queue_order_hash(&other));
        rv_queue_order_fini(&one);
        rv_queue_order_fini(&other);
    }
}

static void of_very_many_the_same_are_asked(void **state)
{
    (void)state;
    rv_queue_order one = new_order(REEVE_ORDER_ROUND_ROBIN, 100, NULL);
    rv_queue_order other = new_order(REEVE_ORDER_ROUND_ROBIN, 100, NULL);
    for (int i = 0; i < 3; i++) {
        rv_queue_order_choose(&one, false); /* goes on to other queues each time */
        (void)turn(&one, 1);
    }
    assert_true(rv_queue_order_is_like(&one, &other)); /* neither was leased anything */
    rv_queue_order_choose(&one, false);
    rv_queue_order_choose(&other, false);
    rv_queue_order_adopt(&other, &one);
    assert_int_equal(rv_queue_order_places(&one), rv_queue_order_places(&other));
    for (size_t place = 0; place < rv_queue_order_places(&one); place++)
        assert_int_equal(rv_queue_order_queue(&one, place), rv_queue_order_queue(&other, place));
    (void)turn(&one, 1);
    (void)turn(&other, 1);
    assert_int_equal(one.next, other.next);
    rv_queue_order_fini(&one);
    rv_queue_order_fini(&other);
}

static void no_memory(void **state)
{
    (void)state;
    rv_queue_order order;
    for (unsigned long nth = 1; nth <= 4; nth++) {
        (void)rv_mem_fail_at(nth);
        assert_false(rv_queue_order_init(&order, REEVE_ORDER_WEIGHTED, 3, NULL));
        (void)rv_mem_fail_at(0);
        rv_queue_order_fini(&order); /* (twice is harmless) */
    }
}

static void words(void **state)
{
    (void)state;
    assert_string_equal(rv_queue_order_word(REEVE_ORDER_STRICT), "strict");
    assert_string_equal(rv_queue_order_word(REEVE_ORDER_WEIGHTED), "weighted");
    assert_string_equal(rv_queue_order_word(REEVE_ORDER_ROUND_ROBIN), "round-robin");
}

/* ---- some of very many ------------------------------------------------------------------------------------------- */

static void some_of_many(reeve_order kind)
{
    rv_queue_order order = new_order(kind, MAX, NULL);
    bool asked[MAX] = {false};
    stock[700] = stock[20] = ENDLESS;
    for (size_t i = 0; i < MAX / (RV_ORDER_AT_ONCE - 1) + 1; i++) {
        bool served = false;
        rv_queue_order_choose(&order, false);
        assert_int_equal(rv_queue_order_places(&order), RV_ORDER_AT_ONCE);
        for (size_t place = 0; place < RV_ORDER_AT_ONCE; place++) {
            size_t queue = rv_queue_order_queue(&order, place);
            if (kind == REEVE_ORDER_STRICT && place > 0) assert_true(queue > rv_queue_order_queue(&order, place - 1));
            served = served || queue == order.served;
            asked[queue] = true;
        }
        assert_true(served);
        (void)turn(&order, 1);
    }
    for (size_t queue = 0; queue < MAX; queue++) assert_true(asked[queue]);
    assert_true(taken[20] > 0);
    rv_queue_order_choose(&order, true); /* who waits asks all */
    assert_int_equal(rv_queue_order_places(&order), MAX);
    expect_permutation(&order);
    rv_queue_order_fini(&order);
}

static void some_of_many_strict(void **state)
{
    (void)state;
    some_of_many(REEVE_ORDER_STRICT);
}

static void some_of_many_round_robin(void **state)
{
    (void)state;
    some_of_many(REEVE_ORDER_ROUND_ROBIN);
    /* Those that have something share. */
    assert_true(taken[20] > 1 && taken[700] > 1);
}

static void few_are_all_asked(void **state)
{
    (void)state;
    rv_queue_order order = new_order(REEVE_ORDER_STRICT, RV_ORDER_AT_ONCE, NULL);
    rv_queue_order_choose(&order, false);
    assert_int_equal(rv_queue_order_places(&order), RV_ORDER_AT_ONCE);
    expect_permutation(&order);
    rv_queue_order_fini(&order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(strict_is_the_list, set_up),
        cmocka_unit_test_setup(round_robin_goes_round, set_up),
        cmocka_unit_test_setup(round_robin_in_batches, set_up),
        cmocka_unit_test_setup(weighted_is_smooth, set_up),
        cmocka_unit_test_setup(weighted_shares_hold, set_up),
        cmocka_unit_test_setup(weighted_long_run, set_up),
        cmocka_unit_test_setup(an_empty_queue_saves_nothing, set_up),
        cmocka_unit_test_setup(an_empty_queue_gets_a_batch_at_most, set_up),
        cmocka_unit_test_setup(a_trickle_is_served_at_once, set_up),
        cmocka_unit_test_setup(idle_clears_the_account, set_up),
        cmocka_unit_test_setup(a_thousand_queues, set_up),
        cmocka_unit_test_setup(one_queue, set_up),
        cmocka_unit_test_setup(some_of_many_strict, set_up),
        cmocka_unit_test_setup(some_of_many_round_robin, set_up),
        cmocka_unit_test_setup(few_are_all_asked, set_up),
        cmocka_unit_test_setup(who_is_alike, set_up),
        cmocka_unit_test_setup(of_very_many_the_same_are_asked, set_up),
        cmocka_unit_test_setup(no_memory, set_up),
        cmocka_unit_test_setup(words, set_up),
    };
    return cmocka_run_group_tests_name("ut_pool_order", tests, NULL, NULL);
}
