/*
 * A pool that is made again from itself, because its queues change, has the same options. The tables name all fields of
 * the options: a new field makes the test fail until it has a row here, and the pool has to keep it.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "reeve/worker.h"
#include "running/pool.h"
#include "support/cmocka.h"

typedef enum kind { NUMBER, TEXT, TEXTS, OTHER } kind; /* OTHER: another row, or the test itself, looks at it */

typedef struct field {
    const char *name;
    size_t at;
    size_t size;
    kind kind;
} field;

#define FIELD(of, name, kind)                                       \
    {                                                               \
#name, offsetof(of, name), sizeof(((of *)NULL)->name), kind \
    }

static const field pool_fields[] = {
    FIELD(reeve_pool_options, size, NUMBER),
    FIELD(reeve_pool_options, name, TEXT),
    FIELD(reeve_pool_options, queues, OTHER),
    FIELD(reeve_pool_options, queue_count, OTHER),
    FIELD(reeve_pool_options, threads, NUMBER),
    FIELD(reeve_pool_options, batch, NUMBER),
    FIELD(reeve_pool_options, order, NUMBER),
    FIELD(reeve_pool_options, weights, OTHER),
    FIELD(reeve_pool_options, batch_ms, NUMBER),
    FIELD(reeve_pool_options, isolation, NUMBER),
    FIELD(reeve_pool_options, runner, OTHER),
    FIELD(reeve_pool_options, threads_min, NUMBER),
    FIELD(reeve_pool_options, nice, NUMBER),
    FIELD(reeve_pool_options, target_wait_ms, NUMBER),
    FIELD(reeve_pool_options, shrink_after_ms, NUMBER),
    FIELD(reeve_pool_options, cpus, TEXT),
};

static const field runner_fields[] = {
    FIELD(reeve_runner_options, size, NUMBER),          FIELD(reeve_runner_options, memory, NUMBER),
    FIELD(reeve_runner_options, cpu_ms, NUMBER),        FIELD(reeve_runner_options, files, NUMBER),
    FIELD(reeve_runner_options, processes, NUMBER),     FIELD(reeve_runner_options, file_size, NUMBER),
    FIELD(reeve_runner_options, max_tasks, NUMBER),     FIELD(reeve_runner_options, max_memory, NUMBER),
    FIELD(reeve_runner_options, max_age_ms, NUMBER),    FIELD(reeve_runner_options, grace_ms, NUMBER),
    FIELD(reeve_runner_options, scratch, TEXT),         FIELD(reeve_runner_options, user, TEXT),
    FIELD(reeve_runner_options, paths, TEXTS),          FIELD(reeve_runner_options, path_count, NUMBER),
    FIELD(reeve_runner_options, sandbox, NUMBER),       FIELD(reeve_runner_options, cgroup, TEXT),
    FIELD(reeve_runner_options, cgroup_memory, NUMBER),
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* The fields follow one another, to the end of the struct, without room for another one. */
static void expect_all(const field *fields, size_t count, size_t size, const char *name)
{
    size_t end = 0;
    for (size_t i = 0; i < count; i++) {
        if (fields[i].at != end && fields[i].at != (end + 7) / 8 * 8)
            fail_msg("%s: a field before \"%s\" has no row in this test", name, fields[i].name);
        end = fields[i].at + fields[i].size;
    }
    if (size - end >= sizeof(int)) fail_msg("%s: its last field has no row in this test", name);
}

static const char *text_at(const void *options, const field *of)
{
    const char *text;
    memcpy(&text, (const char *)options + of->at, sizeof(text));
    return text;
}

static void expect_texts(const void *got, const void *wanted, const field *of)
{
    const char *const *ours, *const *theirs;
    memcpy(&ours, (const char *)got + of->at, sizeof(ours));
    memcpy(&theirs, (const char *)wanted + of->at, sizeof(theirs));
    assert_non_null(ours);
    for (size_t i = 0; i < 2; i++) assert_string_equal(ours[i], theirs[i]);
}

/* What was given is not what an option is without a value: a field that is lost is seen. */
static void expect_same(const void *got, const void *wanted, const field *fields, size_t count)
{
    static const char none[16] = {0};
    for (size_t i = 0; i < count; i++) {
        const char *ours = (const char *)got + fields[i].at, *theirs = (const char *)wanted + fields[i].at;
        if (memcmp(theirs, none, fields[i].size) == 0) fail_msg("the test sets no \"%s\"", fields[i].name);
        if (memcmp(ours, none, fields[i].size) == 0) fail_msg("the pool has lost \"%s\"", fields[i].name);
        if (fields[i].kind == NUMBER && memcmp(ours, theirs, fields[i].size) != 0)
            fail_msg("the pool has another \"%s\"", fields[i].name);
        if (fields[i].kind == TEXT) assert_string_equal(text_at(got, &fields[i]), text_at(wanted, &fields[i]));
        if (fields[i].kind == TEXTS) expect_texts(got, wanted, &fields[i]);
    }
}

static reeve_worker *new_worker(void)
{
    reeve_worker *worker = NULL;
    const reeve_worker_options options = {.size = sizeof(options), .redis = "unix:///nowhere"};
    char error[256];
    assert_int_equal(reeve_worker_create(&worker, &options, error, sizeof(error)), REEVE_OK);
    return worker;
}

static const rv_pool *present(reeve_worker *worker)
{
    for (size_t i = 0; i < worker->pool_count; i++)
        if (!atomic_load(&rv_worker_pool(worker, i)->removed)) return rv_worker_pool(worker, i);
    fail_msg("the worker has no pool");
    return NULL;
}

static void expect_options(reeve_worker *worker, const reeve_pool_options *wanted)
{
    reeve_pool_options got = rv_pool_get_options(present(worker));
    got.queues = wanted->queues;
    got.queue_count = wanted->queue_count;
    expect_same(&got, wanted, pool_fields, COUNT(pool_fields));
    expect_same(got.runner, wanted->runner, runner_fields, COUNT(runner_fields));
}

static void is_the_same_when_its_queues_change(void **state)
{
    (void)state;
    char user[24];
    (void)snprintf(user, sizeof(user), "%u", (unsigned)geteuid());
    reeve_runner_options runner = {.size = sizeof(runner),
                                   .memory = 64 << 20,
                                   .cpu_ms = 2000,
                                   .files = 31,
                                   .processes = 1000,
                                   .file_size = 4096,
                                   .max_tasks = 7,
                                   .max_memory = 128 << 20,
                                   .max_age_ms = 5000,
                                   .grace_ms = 300,
                                   .scratch = "/tmp",
                                   .user = user,
                                   .paths = (const char *const[]){"ro:/etc", "rw:scratch"},
                                   .path_count = 2,
                                   .sandbox = REEVE_SANDBOX_NO_NETWORK | REEVE_SANDBOX_SYSCALLS,
                                   .cgroup = "own",
                                   .cgroup_memory = 256 << 20};
    const reeve_pool_options options = {.size = sizeof(options),
                                        .name = "p",
                                        .queues = (const char *const[]){"q"},
                                        .queue_count = 1,
                                        .threads = 5,
                                        .batch = 3,
                                        .order = REEVE_ORDER_WEIGHTED,
                                        .weights = (const unsigned[]){9},
                                        .batch_ms = 11,
                                        .isolation = REEVE_ISOLATION_PROCESS,
                                        .runner = &runner,
                                        .threads_min = 2,
                                        .nice = 4,
                                        .target_wait_ms = 70,
                                        .shrink_after_ms = 80,
                                        .cpus = "0"};
    reeve_worker *worker = new_worker();
    assert_int_equal(reeve_worker_add_pool(worker, &options), REEVE_OK);
    expect_options(worker, &options);
    const rv_pool *first = present(worker);
    assert_int_equal(reeve_worker_add_queue(worker, "p", "r", 8), REEVE_OK);
    assert_ptr_not_equal(present(worker), first);
    expect_options(worker, &options);
    assert_memory_equal(present(worker)->weights, ((const unsigned[]){9, 8}), 2 * sizeof(unsigned));
    assert_true(rv_runner_sandbox_equals(&present(worker)->sandbox, &first->sandbox));
    assert_int_equal(present(worker)->sandbox.path_count, 2);
    assert_int_equal(reeve_worker_remove_queue(worker, "p", "q"), REEVE_OK);
    expect_options(worker, &options);
    reeve_worker_destroy(worker);
}

static void the_tables_have_all_fields(void **state)
{
    (void)state;
    expect_all(pool_fields, COUNT(pool_fields), sizeof(reeve_pool_options), "reeve_pool_options");
    expect_all(runner_fields, COUNT(runner_fields), sizeof(reeve_runner_options), "reeve_runner_options");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tables_have_all_fields),
        cmocka_unit_test(is_the_same_when_its_queues_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
