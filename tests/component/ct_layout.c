/* Specs in arrays from programs that were compiled with another version: they stand closer together, or farther
 * apart. */
#include <stdlib.h>
#include <string.h>

#include "reeve/depend.h"
#include "support/queue.h"

enum { COUNT = 3, OLD_BYTES = offsetof(reeve_task_spec, id), LATER_BYTES = sizeof(reeve_task_spec) + 40 };

static reeve_enqueued results[COUNT];
static char payloads[COUNT] = {'a', 'b', 'c'};

/* An array of specs of so many bytes each; those with declare set say so in their size. */
static unsigned char *make(size_t bytes, bool declare)
{
    unsigned char *specs = calloc(COUNT, bytes);
    assert_non_null(specs);
    for (size_t i = 0; i < COUNT; i++) {
        reeve_task_spec spec = {
            .size = declare ? bytes : 0, .queue = "q", .type = "t", .payload = {&payloads[i], 1}, .in_ms = 60000};
        memcpy(specs + i * bytes, &spec, bytes < sizeof(spec) ? bytes : sizeof(spec));
    }
    return specs;
}

static void expect(size_t index, const char *state)
{
    reeve_task_info *info;
    test_ok(test_client, reeve_show(test_client, "q", results[index].id, &info));
    assert_string_equal(reeve_state_name(info->state), state);
    assert_int_equal(info->payload.length, 1);
    assert_memory_equal(info->payload.data, &payloads[index], 1);
    reeve_task_info_free(info);
}

static void specs_of_an_older_program_are_enqueued(void **state)
{
    (void)state;
    for (int declare = 0; declare < 2; declare++) {
        unsigned char *specs = make(OLD_BYTES, declare == 1);
        test_ok(test_client, reeve_enqueue_many_sized(test_client, (void *)specs, COUNT, results, OLD_BYTES));
        for (size_t i = 0; i < COUNT; i++) expect(i, "ready"); /* its delay is behind what they have */
        free(specs);
    }
}

static void specs_of_a_later_program_are_enqueued_or_refused_each(void **state)
{
    (void)state;
    for (int declare = 0; declare < 2; declare++) {
        unsigned char *specs = make(LATER_BYTES, declare == 1);
        specs[2 * LATER_BYTES - 1] = 1; /* the second one sets its last field */
        assert_int_equal(reeve_enqueue_many_sized(test_client, (void *)specs, COUNT, results, LATER_BYTES),
                         REEVE_EINVAL);
        assert_non_null(strstr(reeve_client_error(test_client), "is not understood"));
        assert_int_equal(results[1].status, REEVE_EINVAL);
        expect(0, "scheduled");
        expect(2, "scheduled");
        char words[512];
        reeve_enqueued_error_sized(test_client, (void *)(specs + LATER_BYTES), &results[1], words, sizeof(words),
                                   LATER_BYTES);
        assert_non_null(strstr(words, "compiled for a later version"));
        free(specs);
    }
}

static void a_batchs_members_may_be_of_any_version(void **state)
{
    (void)state;
    reeve_batch batch;
    const reeve_task_spec complete = {.queue = "q", .type = "done"};
    test_ok(test_client, reeve_batch_open(test_client, &batch, &(reeve_batch_callbacks){.complete = &complete}));
    unsigned char *specs = make(LATER_BYTES, true);
    test_ok(test_client, reeve_batch_add_sized(test_client, &batch, (void *)specs, COUNT, results, LATER_BYTES));
    free(specs);
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    reeve_task_info *info;
    test_ok(test_client, reeve_show(test_client, "q", strchr(batch.complete, '/') + 1, &info));
    assert_int_equal(info->parent_count, COUNT);
    reeve_task_info_free(info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(specs_of_an_older_program_are_enqueued, test_place_empty),
        cmocka_unit_test_setup(specs_of_a_later_program_are_enqueued_or_refused_each, test_place_empty),
        cmocka_unit_test_setup(a_batchs_members_may_be_of_any_version, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_layout", tests, test_place_start, test_place_stop);
}
