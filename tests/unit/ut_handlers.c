/* The table of handlers: it grows, finds, and refuses what is there already. */
#include "handlers/handler_table.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "support/cmocka.h"

static reeve_outcome run(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, NULL, 0);
}

static unsigned freed;

static void free_user(void *user)
{
    assert_ptr_equal(user, &freed);
    freed++;
}

static reeve_status add(rv_handlers *handlers, const char *type, rv_error *error)
{
    const reeve_handler handler = {REEVE_HANDLER, .type = type, .run = run, .user = &freed, .free_user = free_user};
    return rv_handler_table_add(handlers, &handler, NULL, error);
}

static void an_empty_table(void **state)
{
    (void)state;
    rv_handlers handlers = {0};
    assert_null(rv_handler_table_find(&handlers, "t", 1));
    assert_null(rv_handler_table_find(&handlers, "", 0));
    rv_handler_table_fini(&handlers);
}

static void it_grows(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    rv_handlers handlers = {0};
    char type[32];
    for (size_t i = 0; i < COUNT; i++) {
        (void)snprintf(type, sizeof(type), "type/%zu", i * 7919);
        assert_int_equal(add(&handlers, type, NULL), REEVE_OK);
        assert_true(handlers.slot_count >= 2 * handlers.count);
        assert_int_equal(handlers.slot_count & (handlers.slot_count - 1), 0);
    }
    assert_int_equal(handlers.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        (void)snprintf(type, sizeof(type), "type/%zu", i * 7919);
        const rv_handler *found = rv_handler_table_find(&handlers, type, strlen(type));
        assert_non_null(found);
        assert_string_equal(found->handler.type, type);
        assert_ptr_not_equal(found->handler.type, type); /* its own copy */
        assert_int_equal(found->index, i);
        assert_ptr_equal(found, handlers.list[i]);
        assert_null(rv_handler_table_find(&handlers, type, strlen(type) - 1 > 5 ? 5 : 4)); /* "type/": none */
    }
    assert_null(rv_handler_table_find(&handlers, "type/x", 6));
    assert_int_equal(add(&handlers, "type/*", NULL), REEVE_OK);
    assert_string_equal(rv_handler_table_find(&handlers, "type/x", 6)->handler.type, "type/*");
    assert_string_equal(rv_handler_table_find(&handlers, "type/0", 6)->handler.type, "type/0");
    assert_null(rv_handler_table_find(&handlers, "type", 4));
    assert_null(rv_handler_table_find_own(&handlers, "type/x"));
    assert_non_null(rv_handler_table_find_own(&handlers, "type/*"));
    freed = 0;
    rv_handler_table_fini(&handlers);
    assert_int_equal(freed, COUNT + 1);
    assert_null(rv_handler_table_find(&handlers, "type/0", 6));
    rv_handler_table_fini(&handlers); /* again is fine */
    assert_int_equal(freed, COUNT + 1);
}

/* The type stands in an envelope, with something else behind it. */
static void found_without_a_zero_byte(void **state)
{
    (void)state;
    rv_handlers handlers = {0};
    assert_int_equal(add(&handlers, "thumb", NULL), REEVE_OK);
    assert_int_equal(add(&handlers, "thumbs", NULL), REEVE_OK);
    assert_string_equal(rv_handler_table_find(&handlers, "thumbs\"}", 5)->handler.type, "thumb");
    assert_string_equal(rv_handler_table_find(&handlers, "thumbs\"}", 6)->handler.type, "thumbs");
    assert_null(rv_handler_table_find(&handlers, "thumbs\"}", 7));
    assert_null(rv_handler_table_find(&handlers, "Thumb", 5));
    rv_handler_table_fini(&handlers);
}

static void refusals(void **state)
{
    (void)state;
    rv_handlers handlers = {0};
    rv_error error;
    freed = 0;
    assert_int_equal(add(&handlers, "t", &error), REEVE_OK);
    assert_int_equal(add(&handlers, "t", &error), REEVE_EDUPLICATE);
    assert_string_equal(error.text, "type t has a handler already (registered by the program)");
    assert_int_equal(add(&handlers, "a b", &error), REEVE_EINVAL);
    assert_non_null(strstr(error.text, "\"a b\""));
    assert_int_equal(add(&handlers, "", &error), REEVE_EINVAL);
    assert_int_equal(add(&handlers, NULL, &error), REEVE_EINVAL);
    const reeve_handler none = {REEVE_HANDLER, .type = "none"};
    assert_int_equal(rv_handler_table_add(&handlers, &none, NULL, &error), REEVE_EINVAL);
    assert_string_equal(error.text, "type none: the handler has no function to run");
    const reeve_handler negative = {REEVE_HANDLER, .type = "none", .run = run, .batch_wait_ms = -1};
    assert_int_equal(rv_handler_table_add(&handlers, &negative, NULL, &error), REEVE_EINVAL);
    assert_non_null(strstr(error.text, "type none: the handler takes one task at a time"));
    char path[] = "/p/x.so";
    reeve_plugin_handle plugin = {.path = path};
    const reeve_handler from_plugin = {REEVE_HANDLER, .type = "u", .run = run};
    assert_int_equal(rv_handler_table_add(&handlers, &from_plugin, &plugin, &error), REEVE_OK);
    assert_ptr_equal(rv_handler_table_find(&handlers, "u", 1)->plugin, &plugin);
    assert_int_equal(add(&handlers, "u", &error), REEVE_EDUPLICATE);
    assert_string_equal(error.text, "type u has a handler already (/p/x.so)");
    assert_int_equal(handlers.count, 2);
    rv_handler_table_fini(&handlers);
    assert_int_equal(freed, 1); /* what was refused still belongs to the caller */
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    rv_handlers handlers = {0};
    rv_error error;
    char type[16];
    for (size_t i = 0; i < 40; i++) {
        reeve_status status = REEVE_ENOMEM;
        (void)snprintf(type, sizeof(type), "t%zu", i);
        for (unsigned long nth = 1; status != REEVE_OK; nth++) {
            assert_true(nth < 10);
            (void)rv_mem_fail_at(nth);
            status = add(&handlers, type, &error);
            (void)rv_mem_fail_at(0);
            if (status == REEVE_OK) break;
            assert_int_equal(status, REEVE_ENOMEM);
            assert_null(rv_handler_table_find(&handlers, type, strlen(type)));
            assert_int_equal(handlers.count, i);
            if (i > 0) assert_non_null(rv_handler_table_find(&handlers, "t0", 2));
        }
    }
    assert_int_equal(handlers.count, 40);
    rv_handler_table_fini(&handlers);
}

static void run_batch(reeve_task *const *tasks, size_t count, void *user)
{
    (void)tasks;
    (void)count;
    (void)user;
}

static void the_largest_call(void **state)
{
    (void)state;
    rv_handlers handlers = {0};
    assert_int_equal(rv_handler_table_batch_max(&handlers), 1);
    assert_int_equal(add(&handlers, "t", NULL), REEVE_OK);
    assert_int_equal(rv_handler_table_batch_max(&handlers), 1);
    reeve_handler many = {REEVE_HANDLER, .type = "usual", .run_batch = run_batch};
    assert_int_equal(rv_handler_table_add(&handlers, &many, NULL, NULL), REEVE_OK);
    assert_int_equal(rv_handler_table_batch_max(&handlers), REEVE_BATCH_SIZE_DEFAULT);
    many = (reeve_handler){REEVE_HANDLER, .type = "large", .run_batch = run_batch, .batch_size = 200};
    assert_int_equal(rv_handler_table_add(&handlers, &many, NULL, NULL), REEVE_OK);
    assert_int_equal(rv_handler_table_batch_max(&handlers), 200);
    rv_handler_table_fini(&handlers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_table),
        cmocka_unit_test(it_grows),
        cmocka_unit_test(found_without_a_zero_byte),
        cmocka_unit_test(refusals),
        cmocka_unit_test(the_largest_call),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("ut_handlers", tests, NULL, NULL);
}
