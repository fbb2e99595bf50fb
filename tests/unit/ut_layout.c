/* Structs of programs and plugins that were compiled with an older or a later version (reeve/status.h, "Structs"). */
#include <stdlib.h>
#include <string.h>

#include "reeve/reeve.h"
#include "support/cmocka.h"

#define LATER_BYTES 24

static char words[512];

/* A copy of a struct with its size set, in a block of exactly that many bytes: a sanitizer sees a read behind them. */
static void *shaped(const void *from, size_t known, size_t size)
{
    unsigned char *copy = calloc(1, size);
    assert_non_null(copy);
    memcpy(copy, from, size < known ? size : known);
    memcpy(copy, &size, sizeof(size));
    return copy;
}

#define SHAPED(from, size) shaped((from), sizeof(*(from)), (size))

static reeve_outcome run(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, "ran", 3);
}

static void expect_later_words(const char *what)
{
    if (strstr(words, what) == NULL || strstr(words, "compiled for a later version") == NULL) fail_msg("%s", words);
}

static const reeve_task_spec spec = {.queue = "q", .type = "t", .expires_in_ms = -1};

static void a_spec_of_an_older_program_lacks_fields(void **state)
{
    (void)state;
    assert_int_equal(reeve_task_spec_check(&spec, words, sizeof(words)), REEVE_EINVAL); /* its last fields are read */
    reeve_task_spec *old = SHAPED(&spec, offsetof(reeve_task_spec, expires_in_ms));
    assert_int_equal(reeve_task_spec_check(old, words, sizeof(words)), REEVE_OK);
    free(old);
    old = SHAPED(&spec, offsetof(reeve_task_spec, id));
    assert_int_equal(reeve_task_spec_check(old, words, sizeof(words)), REEVE_OK);
    free(old);
}

static void a_spec_without_a_size_has_that_of_the_calling_program(void **state)
{
    (void)state;
    const size_t none = 0, old_size = offsetof(reeve_task_spec, expires_in_ms);
    reeve_task_spec *old = SHAPED(&spec, old_size);
    memcpy(old, &none, sizeof(none));
    assert_int_equal(reeve_task_spec_check_sized(old, words, sizeof(words), old_size), REEVE_OK);
    free(old);
}

static void a_later_spec_is_accepted_while_its_new_fields_are_zero(void **state)
{
    (void)state;
    reeve_task_spec plain = {.queue = "q", .type = "t"};
    unsigned char *later = SHAPED(&plain, sizeof(plain) + LATER_BYTES);
    assert_int_equal(reeve_task_spec_check((void *)later, words, sizeof(words)), REEVE_OK);
    later[sizeof(plain) + LATER_BYTES - 1] = 1;
    assert_int_equal(reeve_task_spec_check((void *)later, words, sizeof(words)), REEVE_EINVAL);
    expect_later_words("the task's spec");
    free(later);
}

static void a_size_that_cannot_be_is_refused(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, sizeof(size_t) - 1, 65537, SIZE_MAX};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        reeve_task_spec odd = {.size = sizes[i], .queue = "q", .type = "t"};
        assert_int_equal(reeve_task_spec_check(&odd, words, sizeof(words)), REEVE_EINVAL);
        assert_non_null(strstr(words, "cannot be: set it to the sizeof"));
    }
}

static void entries_and_their_tasks_may_be_of_any_version(void **state)
{
    (void)state;
    reeve_task_spec plain = {.queue = "q", .type = "t"};
    reeve_cron_entry entry = {.name = "n", .spec = "@daily"};
    reeve_task_spec *task = SHAPED(&plain, offsetof(reeve_task_spec, id));
    unsigned char *later = SHAPED(&entry, sizeof(entry) + LATER_BYTES);
    ((reeve_cron_entry *)(void *)later)->task = task;
    assert_int_equal(reeve_cron_check((void *)later, words, sizeof(words)), REEVE_OK);
    later[sizeof(entry)] = 1;
    assert_int_equal(reeve_cron_check((void *)later, words, sizeof(words)), REEVE_EINVAL);
    expect_later_words("the entry");
    free(later);
    free(task);
}

static void workers_handlers_layers_and_pools_may_be_of_any_version(void **state)
{
    (void)state;
    static const char *const queues[] = {"q"};
    reeve_worker *worker;
    reeve_worker_options options = {.redis = "redis://127.0.0.1:1", .session_ms = 1000, .size_limits.payload = -1};
    reeve_worker_options *old = SHAPED(&options, offsetof(reeve_worker_options, size_limits));
    assert_int_equal(reeve_worker_create(&worker, old, words, sizeof(words)), REEVE_OK);
    free(old);

    reeve_handler handler = {.type = "old", .run = run};
    reeve_handler *old_handler = SHAPED(&handler, offsetof(reeve_handler, user));
    assert_int_equal(reeve_worker_register(worker, old_handler), REEVE_OK);
    free(old_handler);
    handler.type = "later";
    unsigned char *later = SHAPED(&handler, sizeof(handler) + LATER_BYTES);
    assert_int_equal(reeve_worker_register(worker, (void *)later), REEVE_OK);
    later[sizeof(handler)] = 1;
    assert_int_equal(reeve_worker_register(worker, (void *)later), REEVE_EINVAL);
    free(later);
    assert_non_null(strstr(reeve_worker_error(worker), "the handler: has"));

    reeve_handler_policy policy = {
        .type = "old", .attempts = 2, .batch_size = 7}; /* (a run handler takes no batch_size) */
    reeve_handler_policy *old_policy = SHAPED(&policy, offsetof(reeve_handler_policy, batch_size));
    assert_int_equal(reeve_worker_set_policy(worker, old_policy), REEVE_OK);
    free(old_policy);

    reeve_pool_options pool = {.queues = queues, .queue_count = 1, .threads = 2, .batch = 1000};
    assert_int_equal(reeve_worker_add_pool(worker, &pool), REEVE_EINVAL);
    reeve_pool_options *old_pool = SHAPED(&pool, offsetof(reeve_pool_options, batch));
    assert_int_equal(reeve_worker_add_pool(worker, old_pool), REEVE_OK);
    free(old_pool);
    reeve_worker_destroy(worker);
}

static reeve_outcome sign(reeve_task *task, reeve_next *next, void *user)
{
    char text[16] = "";
    (void)reeve_next_run(next, task);
    strncat(text, reeve_task_result(task).data, 8);
    strncat(text, user, 1);
    return reeve_task_done(task, text, strlen(text));
}

/* A layer of a later version: 16 bytes more. */
typedef struct later_layer {
    reeve_layer known;
    void *unknown[2];
} later_layer;

static void expect_result(reeve_test_report *report, const char *result)
{
    assert_non_null(report);
    if (report->status != REEVE_OK) fail_msg("%s", report->message);
    assert_string_equal((const char *)report->result.data, result);
    reeve_test_report_free(report);
}

static void a_tests_layers_stand_as_far_apart_as_they_say(void **state)
{
    (void)state;
    static char a[] = "a", b[] = "b";
    later_layer layers[] = {{{.size = sizeof(later_layer), .name = "a", .run = sign, .user = a}, {NULL, NULL}},
                            {{.size = sizeof(later_layer), .name = "b", .run = sign, .user = b}, {NULL, NULL}}};
    reeve_handler handler = {.run = run};
    reeve_test_options options = {.layers = &layers[0].known, .layer_count = 2};
    expect_result(reeve_test_run(&handler, &options), "ranba");
    layers[0].known.size = layers[1].known.size = 0; /* the program's compiler tells */
    expect_result(reeve_test_run_sized(&handler, &options, sizeof(handler), sizeof(options), sizeof(later_layer)),
                  "ranba");
    layers[1].unknown[1] = a;
    reeve_test_report *report =
        reeve_test_run_sized(&handler, &options, sizeof(handler), sizeof(options), sizeof(later_layer));
    assert_int_equal(report->status, REEVE_EINVAL);
    assert_non_null(strstr(report->message, "the layer: has"));
    reeve_test_report_free(report);
}

static void the_functions_behind_the_macros_are_there(void **state)
{
    (void)state;
    reeve_status (*check)(const reeve_task_spec *, char *, size_t) = reeve_task_spec_check;
    reeve_test_report *(*test)(const reeve_handler *, const reeve_test_options *) = reeve_test_run;
    assert_int_equal(check(&(reeve_task_spec){.queue = "q", .type = "t"}, words, sizeof(words)), REEVE_OK);
    expect_result(test(&(reeve_handler){.run = run}, NULL), "ran");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spec_of_an_older_program_lacks_fields),
        cmocka_unit_test(a_spec_without_a_size_has_that_of_the_calling_program),
        cmocka_unit_test(a_later_spec_is_accepted_while_its_new_fields_are_zero),
        cmocka_unit_test(a_size_that_cannot_be_is_refused),
        cmocka_unit_test(entries_and_their_tasks_may_be_of_any_version),
        cmocka_unit_test(workers_handlers_layers_and_pools_may_be_of_any_version),
        cmocka_unit_test(a_tests_layers_stand_as_far_apart_as_they_say),
        cmocka_unit_test(the_functions_behind_the_macros_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
