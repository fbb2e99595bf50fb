/* A thread's batch: counting states, when the keeper must look, copies of settlements. */
#include "running/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "protocol/settlement.h"
#include "support/cmocka.h"

static rv_batch batch;

static int set_up(void **state)
{
    (void)state;
    return rv_batch_init(&batch, 8, 3, NULL) == REEVE_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    rv_batch_fini(&batch);
    return 0;
}

/* w, r, f, h: a state each. */
static void fill(const char *states)
{
    static const char letters[] = "wrfh";
    batch.count = strlen(states);
    batch.running = RV_NONE;
    batch.running_since_ms = 1000;
    batch.running_until_ms = RV_FOREVER;
    for (size_t i = 0; i < batch.count; i++) {
        batch.items[i] = (rv_item){.state = (rv_item_state)(strchr(letters, states[i]) - letters)};
        if (states[i] == 'r') batch.running = i;
    }
}

static void room_for_twice_a_lease(void **state)
{
    (void)state;
    assert_int_equal(batch.capacity, 16);
    assert_int_equal(batch.count, 0);
    assert_int_equal(batch.running, RV_NONE);
    assert_string_equal(batch.sessions[2], "");
}

static void states_are_counted(void **state)
{
    (void)state;
    fill("ffrwwwhh");
    assert_int_equal(rv_batch_count(&batch, RV_ITEM_FINISHED), 2);
    assert_int_equal(rv_batch_count(&batch, RV_ITEM_RUNNING), 1);
    assert_int_equal(rv_batch_count(&batch, RV_ITEM_WAITING), 3);
    assert_int_equal(rv_batch_count(&batch, RV_ITEM_OFFLOADED), 2);
    fill("");
    for (int i = 0; i < 4; i++) assert_int_equal(rv_batch_count(&batch, (rv_item_state)i), 0);
}

static void when_the_keeper_must_look(void **state)
{
    (void)state;
    fill("");
    assert_int_equal(rv_batch_attention(&batch, 1005), RV_FOREVER);
    fill("ff"); /* the thread is about to settle them */
    assert_int_equal(rv_batch_attention(&batch, 1005), RV_FOREVER);
    fill("ww"); /* between lease and first run */
    assert_int_equal(rv_batch_attention(&batch, 1005), 1005 + RV_PATIENCE_MS);
    batch.resting = true; /* it waits for company */
    assert_int_equal(rv_batch_attention(&batch, 1005), RV_FOREVER);
    batch.resting = false;
    fill("r"); /* alone it may take its time */
    assert_int_equal(rv_batch_attention(&batch, 1005), RV_FOREVER);
    fill("rhh");
    assert_int_equal(rv_batch_attention(&batch, 1005), RV_FOREVER);
    fill("rw"); /* somebody waits behind it, */
    assert_int_equal(rv_batch_attention(&batch, 1005), 1000 + RV_PATIENCE_MS);
    fill("fr"); /* or is done and waits to be told */
    assert_int_equal(rv_batch_attention(&batch, 1005), 1000 + RV_PATIENCE_MS);
    batch.running_until_ms = 1003;
    assert_int_equal(rv_batch_attention(&batch, 1005), 1003);
    batch.running_until_ms = 5000;
    assert_int_equal(rv_batch_attention(&batch, 1005), 1000 + RV_PATIENCE_MS);
    fill("r");
    batch.running_until_ms = 5000;
    assert_int_equal(rv_batch_attention(&batch, 1005), 5000);
}

static void clearing_frees_what_was_kept(void **state)
{
    (void)state;
    fill("ffr");
    const rv_settlement done = {.id = "x", .outcome = REEVE_OUTCOME_DONE};
    assert_true(rv_settlement_copy(&batch.items[0].settlement, &batch.items[0].kept, &done));
    rv_batch_clear(&batch);
    assert_int_equal(batch.count, 0);
    assert_int_equal(batch.running, RV_NONE);
    assert_null(batch.items[0].kept);
    rv_batch_clear(&batch);
}

/* ---- copies ---------------------------------------------------------------------------------------------------- */

static void a_copy_is_whole(void **state)
{
    (void)state;
    rv_settlement copy;
    void *kept;
    char id[] = "the-id", kind[] = "kind", message[] = "message", result[] = "a\0b";
    const rv_settlement from = {.id = id,
                                .outcome = REEVE_OUTCOME_DONE,
                                .has_info = true,
                                .has_result = true,
                                .result = {result, 3},
                                .delay_ms = 5,
                                .counts = true,
                                .kind = kind,
                                .message = message};
    assert_true(rv_settlement_copy(&copy, &kept, &from));
    memset(id, '-', sizeof(id) - 1);
    memset(kind, '-', sizeof(kind) - 1);
    memset(message, '-', sizeof(message) - 1);
    memset(result, '-', sizeof(result) - 1);
    assert_string_equal(copy.id, "the-id");
    assert_string_equal(copy.kind, "kind");
    assert_string_equal(copy.message, "message");
    assert_int_equal(copy.result.length, 3);
    assert_memory_equal(copy.result.data, "a\0b", 4);
    assert_int_equal(copy.outcome, REEVE_OUTCOME_DONE);
    assert_true(copy.has_info);
    assert_true(copy.has_result);
    assert_true(copy.counts);
    assert_int_equal(copy.delay_ms, 5);
    rv_free(kept);
}

static void a_copy_of_little(void **state)
{
    (void)state;
    rv_settlement copy;
    void *kept;
    /* A result that does not count is not looked at. */
    const rv_settlement from = {.id = "", .outcome = REEVE_OUTCOME_SNOOZE, .result = {(void *)1, 999999}};
    assert_true(rv_settlement_copy(&copy, &kept, &from));
    assert_string_equal(copy.id, "");
    assert_string_equal(copy.kind, "");
    assert_string_equal(copy.message, "");
    assert_false(copy.has_result);
    rv_free(kept);
    const rv_settlement empty = {.id = "x", .has_result = true};
    assert_true(rv_settlement_copy(&copy, &kept, &empty));
    assert_int_equal(copy.result.length, 0);
    rv_free(kept);
}

static void no_memory(void **state)
{
    (void)state;
    rv_settlement copy;
    void *kept;
    rv_batch other;
    rv_error error;
    const rv_settlement from = {.id = "x"};
    (void)rv_mem_fail_at(1);
    assert_false(rv_settlement_copy(&copy, &kept, &from));
    for (unsigned long nth = 1; nth <= 2; nth++) {
        (void)rv_mem_fail_at(nth);
        assert_int_equal(rv_batch_init(&other, 8, 3, &error), REEVE_ENOMEM);
        rv_batch_fini(&other); /* nothing is left of it */
    }
    (void)rv_mem_fail_at(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(room_for_twice_a_lease, set_up, tear_down),
        cmocka_unit_test_setup_teardown(states_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(when_the_keeper_must_look, set_up, tear_down),
        cmocka_unit_test_setup_teardown(clearing_frees_what_was_kept, set_up, tear_down),
        cmocka_unit_test(a_copy_is_whole),
        cmocka_unit_test(a_copy_of_little),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("ut_batch", tests, NULL, NULL);
}
