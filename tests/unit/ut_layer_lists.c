/* ut_layer_lists.c - lists of layers: what is accepted, and which layers are around the handlers of a type. */
#include <string.h>

#include "base/mem.h"
#include "handlers/handler_table.h"
#include "reeve/worker.h"
#include "support/cmocka.h"

/* Nothing is run. */
static reeve_outcome done(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, NULL, 0);
}

static reeve_outcome pass(reeve_task *task, reeve_next *next, void *user)
{
    (void)user;
    return reeve_next_run(next, task);
}

static void mute(reeve_task *task, void *user)
{
    (void)task;
    (void)user;
}

static void a_type_without_layers_has_none(void **state)
{
    rv_handlers handlers = {0};
    rv_layers layers = {0};
    rv_error error;
    const reeve_layer for_a = {.name = "l", .type = "a", .run = pass};

    (void)state;
    assert_int_equal(rv_layers_add(&layers, &for_a, &error), REEVE_OK);
    assert_int_equal(rv_handler_table_add(&handlers, &(reeve_handler){.type = "a", .run = done}, NULL, &error),
                     REEVE_OK);
    assert_int_equal(rv_handler_table_add(&handlers, &(reeve_handler){.type = "b", .run = done}, NULL, &error),
                     REEVE_OK);
    assert_int_equal(rv_handler_table_wrap(&handlers, &layers, &error), REEVE_OK);
    assert_null(rv_handler_table_find(&handlers, "b", 1)->layers);
    assert_ptr_equal(rv_handler_table_find(&handlers, "a", 1)->layers[0], &layers.list[0]);
    assert_null(rv_handler_table_find(&handlers, "a", 1)->layers[1]);
    rv_handler_table_fini(&handlers);
    rv_layers_fini(&layers);
}

static void a_pattern_has_what_a_task_of_it_may_need(void **state)
{
    rv_handlers handlers = {0};
    rv_layers layers = {0};
    rv_error error;
    const reeve_layer run = {.name = "r", .type = "m.n", .run = pass};
    const reeve_layer after = {.name = "a", .type = "m.n", .after = mute};
    const reeve_layer other = {.name = "o", .type = "n", .after = mute};

    (void)state;
    assert_int_equal(rv_layers_add(&layers, &run, &error), REEVE_OK);
    assert_int_equal(rv_layers_add(&layers, &after, &error), REEVE_OK);
    assert_int_equal(rv_layers_add(&layers, &other, &error), REEVE_OK);
    assert_int_equal(rv_handler_table_add(&handlers, &(reeve_handler){.type = "m.*", .run = done}, NULL, &error),
                     REEVE_OK);
    assert_int_equal(rv_handler_table_wrap(&handlers, &layers, &error), REEVE_OK);
    assert_ptr_equal(rv_handler_table_find(&handlers, "m.n", 3)->layers[0], &layers.list[1]);
    assert_null(rv_handler_table_find(&handlers, "m.n", 3)->layers[1]);
    rv_handler_table_fini(&handlers);
    rv_layers_fini(&layers);
}

static void count_free(void *user)
{
    ++*(int *)user;
}

static reeve_worker *new_worker(void)
{
    reeve_worker *worker = NULL;

    assert_int_equal(reeve_worker_create(&worker, &(reeve_worker_options){.redis = "unix:///nowhere"}, NULL, 0),
                     REEVE_OK);
    return worker;
}

static void refused(reeve_worker *worker, reeve_layer layer, const char *words)
{
    assert_int_equal(reeve_worker_add_layer(worker, &layer), REEVE_EINVAL);
    if (strstr(reeve_worker_error(worker), words) == NULL) fail_msg("%s", reeve_worker_error(worker));
}

static void a_worker_takes_what_can_be_a_layer(void **state)
{
    reeve_worker *worker = new_worker();
    int freed = 0;
    char name[] = "name";

    (void)state;
    assert_int_equal(reeve_worker_add_layer(NULL, NULL), REEVE_EINVAL);
    assert_int_equal(reeve_worker_add_layer(worker, NULL), REEVE_EINVAL);
    refused(worker, (reeve_layer){.run = pass}, "no name");
    refused(worker, (reeve_layer){.name = "", .run = pass}, "no name");
    refused(worker, (reeve_layer){.name = "x"}, "\"x\" has no function");
    refused(worker, (reeve_layer){.name = "x", .run = pass, .type = ""}, "\"\" is no task type");
    refused(worker, (reeve_layer){.size = 3, .name = "x", .run = pass}, "size 3");
    for (int i = 0; i < REEVE_LAYERS_MAX; i++) {
        reeve_layer layer = {REEVE_LAYER, .name = name, .run = pass, .user = &freed, .free_user = count_free};
        assert_int_equal(reeve_worker_add_layer(worker, &layer), REEVE_OK);
    }
    refused(worker, (reeve_layer){.name = "last", .run = pass}, "\"last\" is one too many: at most 64");
    reeve_worker_destroy(worker);
    assert_int_equal(freed, REEVE_LAYERS_MAX);
}

static void memory_that_runs_out_adds_nothing(void **state)
{
    rv_layers layers = {0};
    const reeve_layer layer = {.name = "l", .type = "a", .run = pass};
    const reeve_layer **chosen;
    rv_error error;
    reeve_status status = REEVE_ENOMEM;
    unsigned long nth;

    (void)state;
    for (nth = 1; status == REEVE_ENOMEM && nth < 10; nth++) {
        (void)rv_mem_fail_at(nth);
        status = rv_layers_add(&layers, &layer, &error);
        (void)rv_mem_fail_at(0);
        assert_int_equal(layers.count, status == REEVE_OK ? 1 : 0);
    }
    assert_int_equal(nth, 5); /* the list, two texts, and none that failed */
    (void)rv_mem_fail_at(1);
    assert_false(rv_layers_choose(&chosen, &layers, "a", false));
    assert_true(rv_layers_choose(&chosen, &layers, "b", false));
    (void)rv_mem_fail_at(0);
    assert_null(chosen);
    rv_layers_fini(&layers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_type_without_layers_has_none),
        cmocka_unit_test(a_pattern_has_what_a_task_of_it_may_need),
        cmocka_unit_test(a_worker_takes_what_can_be_a_layer),
        cmocka_unit_test(memory_that_runs_out_adds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
