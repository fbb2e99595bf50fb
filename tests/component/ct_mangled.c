/*
 * Workers, clients and the command line on a server whose replies are changed: what they then do is anybody's guess,
 * but nothing crashes, and nothing hangs. Under a sanitizer this finds numbers and texts that are believed.
 *
 * REEVE_TEST_ROUNDS: so many rounds (1). REEVE_TEST_SEED: the first one's.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reeve/reeve.h"
#include "support/mangle.h"
#include "support/worker.h"

extern char **environ;

static unsigned long rounds = 1, seed = 1;

static void read_environment(void)
{
    const char *value = getenv("REEVE_TEST_ROUNDS");
    if (value) rounds = strtoul(value, NULL, 10);
    value = getenv("REEVE_TEST_SEED");
    if (value) seed = strtoul(value, NULL, 10);
}

/* ---- what a worker runs ---------------------------------------------------------------------------------------- */

/* Asks its host for all that there is to ask for. */
static reeve_outcome ask_everything(reeve_task *task, void *user)
{
    (void)user;
    const reeve_task_parent *parents;
    reeve_bytes bytes;
    size_t count;
    char id[REEVE_ID_MAX];
    (void)reeve_task_progress(task, 50, "half");
    (void)reeve_task_heartbeat(task);
    if (reeve_task_last_checkpoint(task, &bytes) == REEVE_OK && bytes.length > 0) test_ran++;
    (void)reeve_task_checkpoint(task, "c", 1);
    (void)reeve_task_log(task, "line");
    if (reeve_task_parents(task, &parents, &count) == REEVE_OK) {
        for (size_t i = 0; i < count; i++) (void)reeve_task_parent_result(task, parents[i].handle, &bytes);
    }
    const reeve_task_spec more = {.queue = "q", .type = "t"};
    (void)reeve_task_chain(task, &more, id);
    return reeve_task_attempt(task) < 2 ? reeve_task_retry(task, 1, "again", "once more")
                                        : reeve_task_done(task, "result", 6);
}

static void run_together(reeve_task *const *tasks, size_t count, void *user)
{
    (void)user;
    for (size_t i = 0; i < count; i++) (void)reeve_task_done(tasks[i], "r", 1);
}

static reeve_worker *start_worker(const char *url)
{
    const reeve_worker_options options = {.redis = url, .session_ms = 600, .command_ms = 500};
    const reeve_handler asks = {REEVE_HANDLER, .type = "ask", .run = ask_everything, .backoff = {.base_ms = 1}};
    const reeve_handler many = {REEVE_HANDLER, .type = "many", .run_batch = run_together, .batch_size = 8,
                                .batch_wait_ms = 5};
    const reeve_handler once = {REEVE_HANDLER, .type = "once", .run = ask_everything, .at_most_once = true};
    reeve_worker *worker = test_worker_new(&options);
    assert_int_equal(reeve_worker_register(worker, &asks), REEVE_OK);
    assert_int_equal(reeve_worker_register(worker, &many), REEVE_OK);
    assert_int_equal(reeve_worker_register(worker, &once), REEVE_OK);
    test_worker_pool(worker, "q", 2, 0);
    test_worker_pool(worker, "a b q", 2, 4);
    test_worker_start(worker);
    return worker;
}

/* What there is to run, from a client that nobody lies to. */
static void put_some(size_t round)
{
    static const char *const types[] = {"t", "ask", "many", "once", "nap"}, *const queues[] = {"q", "a", "b"};
    enum { COUNT = 60 };
    const char *const tags[] = {"tag"};
    const reeve_meta meta = {"k", "v"};
    for (size_t i = 0; i < COUNT; i++) {
        reeve_task_spec spec = {.queue = queues[i % 3], .type = types[i % 5], .payload = {"1", 1}};
        if (i % 7 == 1) spec.group = "g";
        if (i % 7 == 2) spec.in_ms = 20;
        if (i % 7 == 3) spec.tags = tags, spec.tag_count = 1;
        if (i % 7 == 4) spec.meta = &meta, spec.meta_count = 1;
        if (i % 11 == 5) spec.deadline_ms = 30000;
        (void)reeve_enqueue(test_client, &spec, NULL);
    }
    char parent[64], child[64];
    (void)snprintf(parent, sizeof(parent), "p%zu", round);
    (void)snprintf(child, sizeof(child), "c%zu", round);
    const reeve_parent after[] = {{.handle = "q/parent"}, {.handle = "a/parent2"}};
    reeve_task_spec spec = {.queue = "q", .type = "ask", .id = "parent"};
    (void)reeve_enqueue(test_client, &spec, NULL);
    spec = (reeve_task_spec){.queue = "a", .type = "t", .id = "parent2"};
    (void)reeve_enqueue(test_client, &spec, NULL);
    spec = (reeve_task_spec){.queue = "b", .type = "ask", .id = child, .after = after, .after_count = 2};
    (void)reeve_enqueue(test_client, &spec, NULL);
    (void)reeve_events_keep(test_client, "q", 1000);
    const reeve_task_spec recurring = {.queue = "q", .type = "t"};
    const reeve_cron_entry entry = {.name = "e", .spec = "every 1s", .task = &recurring};
    (void)reeve_cron_set(test_client, &entry, NULL);
}

static void workers_survive(void **state)
{
    (void)state;
    unsigned long changed = 0;
    for (unsigned long round = 0; round < rounds; round++) {
        (void)test_cmd(test_conn, "FLUSHALL");
        test_mangle *mangle = test_mangle_start(test_redis, seed + round);
        reeve_worker *worker = start_worker(test_mangle_url(mangle));
        for (int i = 0; i < 12; i++) {
            test_mangle_share(mangle, i % 4 == 3 ? 0 : i % 4 == 0 ? 3 : 25);
            put_some(round * 12 + (unsigned)i);
            usleep(100000);
        }
        test_mangle_share(mangle, round % 2 == 0 ? 0 : 10);
        int64_t begin = rv_now_ms();
        (void)reeve_worker_stop(worker, 1000);
        reeve_worker_destroy(worker);
        assert_in_range(rv_now_ms() - begin, 0, 40000);
        changed += test_mangle_count(mangle);
        test_mangle_stop(mangle);
    }
    assert_true(changed > 0);
}

/* ---- clients --------------------------------------------------------------------------------------------------- */

static void call_everything(reeve_client *client)
{
    enum { MANY = 200 };
    static reeve_task_spec specs[MANY];
    static reeve_enqueued results[MANY];
    char id[REEVE_ID_MAX], words[512];
    for (size_t i = 0; i < MANY; i++) specs[i] = (reeve_task_spec){.queue = i < 100 ? "q" : "a", .type = "t"};
    (void)reeve_enqueue_many(client, specs, MANY, results);
    for (size_t i = 0; i < MANY; i++) reeve_enqueued_error(client, &specs[i], &results[i], words, sizeof(words));
    const reeve_task_spec one = {.queue = "q", .type = "t", .unique = "u"};
    (void)reeve_enqueue(client, &one, id);
    reeve_batch batch;
    const reeve_task_spec complete = {.queue = "q", .type = "t"};
    if (reeve_batch_open(client, &batch, &(reeve_batch_callbacks){.complete = &complete}) == REEVE_OK) {
        (void)reeve_batch_add(client, &batch, specs, 5, results);
        (void)reeve_batch_close(client, &batch);
    }
    reeve_watch *watch;
    const reeve_watch_options options = {.queue = "q", .since_ms = 1};
    if (reeve_watch_open(&watch, client, &options) == REEVE_OK) {
        const reeve_event *event;
        for (int i = 0; i < 20; i++)
            if (reeve_watch_next(watch, 5, &event) != REEVE_OK) break;
        reeve_watch_close(watch);
    }
    reeve_task_info *info;
    if (reeve_wait(client, "q", "parent", 20, &info) == REEVE_OK) reeve_task_info_free(info);
}

static void clients_survive(void **state)
{
    (void)state;
    (void)test_cmd(test_conn, "FLUSHALL");
    for (unsigned long round = 0; round < rounds; round++) {
        put_some(round);
        test_mangle *mangle = test_mangle_start(test_redis, seed + round);
        const reeve_client_options options = {.redis = test_mangle_url(mangle), .timeout_ms = 1500};
        reeve_client *client;
        TEST_AWAIT(reeve_client_open(&client, &options) == REEVE_OK); /* (a busy machine takes its time) */
        test_mangle_share(mangle, 2);
        for (int i = 0; i < 12; i++) call_everything(client);
        reeve_client_close(client);
        test_mangle_stop(mangle);
    }
}

/* ---- the command line ------------------------------------------------------------------------------------------ */

static const char *const lines[] = {"queues",
                                    "queues --json",
                                    "workers",
                                    "workers --json",
                                    "show q/parent",
                                    "show q/parent --json",
                                    "show b/c0",
                                    "list q --state ready",
                                    "list q --state running --json",
                                    "list q --state completed",
                                    "list q --state scheduled",
                                    "list b --state blocked --json",
                                    "list q --state dead",
                                    "list q --tag tag",
                                    "peek q",
                                    "peek q --json",
                                    "tags q",
                                    "stats q",
                                    "stats q --json",
                                    "stats",
                                    "stats --types",
                                    "stats q --minutes 60",
                                    "stats --minutes 2 --json",
                                    "failures q",
                                    "failures q --json",
                                    "limit q",
                                    "limit q --json",
                                    "settings q",
                                    "settings q --json",
                                    "cron list",
                                    "cron list --json",
                                    "events q",
                                    "watch q/parent --timeout 1",
                                    "wait q/parent --timeout 1",
                                    "enqueue q t 1 --priority 1",
                                    "enqueue q t 1 --wait=1",
                                    "retry q --state dead --all",
                                    "purge q --state completed",
                                    "reschedule q/parent --in 5",
                                    "depend b/c0 --after q/x",
                                    "cancel q/parent",
                                    "delete q/parent2",
                                    "pause q",
                                    "resume q"};

/* Starts the command line with these words; its exit status, or minus the signal that ended it. */
static int run_line(const char *url, const char *line)
{
    char program[512], copy[256], *arguments[32], *save = NULL;
    size_t count = 0;
    pid_t pid;
    int status;
    posix_spawn_file_actions_t actions;
    (void)snprintf(program, sizeof(program), "%s/bin/reeve", getenv("REEVE_BUILD"));
    (void)snprintf(copy, sizeof(copy), "--redis %s %s", url, line);
    arguments[count++] = program;
    for (char *word = strtok_r(copy, " ", &save); word && count < 31; word = strtok_r(NULL, " ", &save))
        arguments[count++] = word;
    arguments[count] = NULL;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    assert_int_equal(posix_spawn(&pid, program, &actions, NULL, arguments, environ), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    while (waitpid(pid, &status, 0) < 0) assert_int_equal(errno, EINTR);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void the_command_line_survives(void **state)
{
    (void)state;
    (void)setenv("ASAN_OPTIONS", "exitcode=99:detect_leaks=0", 1);
    (void)setenv("UBSAN_OPTIONS", "exitcode=99:halt_on_error=1:print_stacktrace=1", 1);
    (void)test_cmd(test_conn, "FLUSHALL");
    for (unsigned long round = 0; round < rounds; round++) {
        test_mangle *mangle = test_mangle_start(test_redis, seed + round);
        test_mangle_share(mangle, 2);
        put_some(round);
        for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
            int status = run_line(test_mangle_url(mangle), lines[i]);
            if (status < 0 || status == 99) fail_msg("round %lu: reeve %s: %d", round, lines[i], status);
        }
        test_mangle_stop(mangle);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_survive),
        cmocka_unit_test(clients_survive),
        cmocka_unit_test(the_command_line_survives),
    };
    read_environment();
    return cmocka_run_group_tests_name("ct_mangled", tests, test_place_start, test_place_stop);
}
