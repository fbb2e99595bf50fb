/* ut_test_client.c - the client for tests of reeve/testing.h: what a producer has enqueued, and tasks that run at
 * once. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "reeve/reeve.h"
#include "support/cmocka.h"

static reeve_client *client;

/* Handlers. "echo" returns its payload; "do" does what its payload says; "twice" chains two tasks; "more" enqueues
 * one. */
static reeve_outcome echo(reeve_task *task, void *user)
{
    reeve_bytes in = reeve_task_payload(task);
    (void)user;
    return reeve_task_done(task, in.data, in.length);
}

static reeve_outcome obey(reeve_task *task, void *user)
{
    const char *what = reeve_task_payload(task).data;
    (void)user;
    if (strcmp(what, "fail") == 0) return reeve_task_fail(task, "bad", "as asked");
    if (strcmp(what, "snooze") == 0) return reeve_task_snooze(task, 0);
    if (strcmp(what, "retry") == 0 && reeve_task_attempt(task) < 3)
        return reeve_task_retry(task, 1000, "busy", "later");
    return reeve_task_done(task, NULL, 0);
}

static reeve_outcome chain_two(reeve_task *task, void *user)
{
    const reeve_meta meta = {"k", "v"};
    char id[REEVE_ID_MAX] = "";
    (void)user;
    (void)reeve_task_chain(task, &(reeve_task_spec){.queue = "q", .type = "echo", .meta = &meta, .meta_count = 1}, id);
    (void)reeve_task_chain(task, &(reeve_task_spec){.queue = "q", .type = "echo", .id = "second"}, NULL);
    return reeve_task_done(task, id, strlen(id));
}

static reeve_outcome enqueue_more(reeve_task *task, void *user)
{
    (void)user;
    reeve_test_client_clear(client); /* does nothing here */
    reeve_status status = reeve_enqueue(client, &(reeve_task_spec){.queue = "q", .type = "echo", .id = "more"}, NULL);
    return status == REEVE_OK ? reeve_task_done(task, NULL, 0) : reeve_task_fail(task, "enqueue", "failed");
}

static const reeve_handler handlers[] = {
    {.type = "echo", .run = echo},
    {.type = "do", .run = obey, .attempts = 4},
    {.type = "twice", .run = chain_two},
    {.type = "more", .run = enqueue_more},
};

static void open_client(bool run_at_once)
{
    const reeve_test_client_options options = {.handlers = handlers, .handler_count = 4, .run_at_once = run_at_once};
    assert_int_equal(reeve_test_client_open(&client, &options), REEVE_OK);
}

static int open_plain(void **state)
{
    (void)state;
    open_client(false);
    return 0;
}

static int open_at_once(void **state)
{
    (void)state;
    open_client(true);
    return 0;
}

static int close_it(void **state)
{
    (void)state;
    reeve_client_close(client);
    client = NULL;
    return 0;
}

static void put(const char *id, const char *type, const char *payload)
{
    const reeve_task_spec spec = {.queue = "q", .type = type, .id = id, .payload = reeve_test_text(payload)};
    assert_int_equal(reeve_enqueue(client, &spec, NULL), REEVE_OK);
}

static void put_behind(const char *id, const char *parent, reeve_on_parent_death on_death)
{
    const reeve_parent after = {.handle = parent, .on_death = on_death};
    const reeve_task_spec spec = {.queue = "q", .type = "echo", .id = id, .after = &after, .after_count = 1};
    assert_int_equal(reeve_enqueue(client, &spec, NULL), REEVE_OK);
}

static const char *state_of(const char *id)
{
    reeve_task_info *info = NULL;
    static const char *state;
    if (reeve_show(client, "q", id, &info) != REEVE_OK) return "none";
    state = reeve_state_name(info->state);
    reeve_task_info_free(info);
    return state;
}

/* ---- what was enqueued ------------------------------------------------------------------------------------------- */

static void specs_are_recorded_with_all_options(void **state)
{
    static const char *const tags[] = {"a", "b"};
    const reeve_meta meta[] = {{"trace", "1"}, {"x", ""}};
    const reeve_backoff backoff = {.base_ms = 7};
    char id[REEVE_ID_MAX], payload[] = "a\0b";
    reeve_task_spec spec = {.queue = "mail",
                            .type = "welcome",
                            .payload = {payload, 3},
                            .priority = 3,
                            .in_ms = 60000,
                            .group = "g",
                            .tags = tags,
                            .tag_count = 2,
                            .meta = meta,
                            .meta_count = 2,
                            .backoff = &backoff,
                            .unique = "ann",
                            .on_dead = "dead"};
    (void)state;
    assert_int_equal(reeve_test_client_count(client), 0);
    assert_int_equal(reeve_enqueue(client, &spec, id), REEVE_OK);
    payload[0] = 'z'; /* the record has a copy */
    assert_int_equal(reeve_test_client_count(client), 1);
    const reeve_test_task *task = reeve_test_client_task(client, 0);
    assert_ptr_equal(task, reeve_test_client_find(client, "welcome", 0));
    assert_null(reeve_test_client_find(client, "welcome", 1));
    assert_null(reeve_test_client_find(client, "other", 0));
    assert_null(reeve_test_client_task(client, 1));
    assert_string_equal(task->spec->id, id);
    assert_string_equal(task->handle + strlen("mail/"), id);
    assert_memory_equal(task->spec->payload.data, "a\0b", 4);
    assert_int_equal(task->spec->payload.length, 3);
    assert_int_equal(task->spec->priority, 3);
    assert_int_equal(task->spec->in_ms, 60000);
    assert_string_equal(task->spec->group, "g");
    assert_string_equal(task->spec->tags[1], "b");
    assert_string_equal(task->spec->meta[1].key, "x");
    assert_string_equal(task->spec->meta[0].value, "1");
    assert_int_equal(task->spec->backoff->base_ms, 7);
    assert_string_equal(task->spec->unique, "ann");
    assert_int_equal(task->state, REEVE_STATE_SCHEDULED);
    assert_int_equal(task->enqueued_ms, REEVE_TEST_BEGIN_MS);
    assert_null(task->report);
    reeve_test_client_clear(client);
    assert_int_equal(reeve_test_client_count(client), 0);
}

static void what_redis_refuses_is_refused(void **state)
{
    const reeve_task_spec odd = {.queue = "q", .type = "t", .priority = 1000};
    const reeve_parent none = {.handle = "q/none"};
    const reeve_parent mate = {.handle = "q/mate"};
    const reeve_task_spec specs[] = {
        {.queue = "q", .type = "t", .id = "a", .unique = "u"},
        {.queue = "q", .type = "t", .id = "a"},
        {.queue = "q", .type = "t", .id = "b", .unique = "u"},
        {.queue = "q", .type = "t", .id = "c", .after = &none, .after_count = 1},
        {.queue = "q", .type = "t", .id = "d", .after = &mate, .after_count = 1},
        {.queue = "q", .type = "t", .id = "mate"},
        {.queue = "q", .type = "t", .id = "e", .unique = "u", .on_conflict = REEVE_CONFLICT_REPLACE},
    };
    reeve_enqueued results[7];
    (void)state;
    assert_int_equal(reeve_enqueue(client, &odd, NULL), REEVE_EINVAL);
    assert_non_null(strstr(reeve_client_error(client), "priority 1000"));
    assert_int_equal(reeve_enqueue_many(client, specs, 7, results), REEVE_EEXISTS);
    assert_non_null(strstr(reeve_client_error(client), "q/a exists"));
    assert_int_equal(results[0].status, REEVE_OK);
    assert_int_equal(results[2].status, REEVE_EUNIQUE);
    assert_string_equal(results[2].id, "a");
    assert_int_equal(results[3].status, REEVE_ENOTFOUND);
    assert_string_equal(results[3].id, "none");
    assert_int_equal(results[4].status, REEVE_OK);
    assert_int_equal(results[6].status, REEVE_OK);
    assert_string_equal(state_of("a"), "none");
    assert_string_equal(state_of("e"), "ready");
    assert_string_equal(state_of("d"), "blocked");
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void tasks_run_when_the_test_says(void **state)
{
    reeve_task_info *info = NULL;
    (void)state;
    put("a", "echo", "hello");
    put("b", "do", "fail");
    put("c", "unknown", "");
    put("d", "twice", "");
    assert_int_equal(reeve_wait(client, "q", "a", 1000, NULL), REEVE_ETIMEOUT);
    assert_int_equal(reeve_test_client_run(client), 5); /* with the chained ones */
    assert_int_equal(reeve_wait(client, "q", "a", 1000, &info), REEVE_OK);
    assert_string_equal(info->result.data, "hello");
    assert_int_equal(info->ended_ms, REEVE_TEST_BEGIN_MS);
    reeve_task_info_free(info);
    assert_int_equal(reeve_wait(client, "q", "b", 0, &info), REEVE_EDEAD);
    assert_non_null(strstr(reeve_client_error(client), "bad: as asked"));
    assert_string_equal(info->error_kind, "bad");
    assert_int_equal(info->failures, 1);
    reeve_task_info_free(info);
    assert_string_equal(state_of("c"), "ready");
    assert_string_equal(state_of("second"), "completed");
    const reeve_test_task *chained = reeve_test_client_find(client, "echo", 1);
    assert_string_equal(chained->spec->meta[0].value, "v");
    assert_string_equal(chained->spec->id, reeve_test_client_find(client, "twice", 0)->report->result.data);
    assert_int_equal(reeve_test_client_run(client), 0);
}

static void a_retried_task_runs_again_at_the_next_call(void **state)
{
    (void)state;
    put("a", "do", "retry");
    put("s", "do", "snooze");
    assert_int_equal(reeve_test_client_run(client), 2);
    const reeve_test_task *task = reeve_test_client_task(client, 0);
    assert_int_equal(task->failures, 1);
    assert_int_equal(task->state, REEVE_STATE_SCHEDULED);
    assert_string_equal(task->report->kind, "busy");
    assert_string_equal(state_of("s"), "ready");
    assert_int_equal(reeve_test_client_run(client), 2);
    assert_int_equal(reeve_test_client_run(client), 2);
    assert_int_equal(task->attempts, 3);
    assert_string_equal(state_of("a"), "completed");
}

static void tasks_run_within_the_enqueue(void **state)
{
    (void)state;
    put("m", "more", "");
    assert_string_equal(state_of("m"), "completed");
    assert_string_equal(state_of("more"), "completed");
    put("f", "do", "retry");
    assert_string_equal(state_of("f"), "scheduled");
    put("x", "echo", "");
    assert_int_equal(reeve_test_client_find(client, "do", 0)->attempts, 1);
    put("u", "unknown", "");
    assert_string_equal(state_of("u"), "ready");
}

static void children_follow_their_parents(void **state)
{
    (void)state;
    put("p", "do", "");
    put("bad", "do", "fail");
    put_behind("go", "q/p", REEVE_PARENT_FAIL);
    put_behind("dies", "q/bad", REEVE_PARENT_FAIL);
    put_behind("goes", "q/bad", REEVE_PARENT_GO);
    put_behind("waits", "q/bad", REEVE_PARENT_WAIT);
    put_behind("called", "q/bad", REEVE_PARENT_DEATH);
    put_behind("unneeded", "q/p", REEVE_PARENT_DEATH);
    (void)reeve_test_client_run(client);
    assert_string_equal(state_of("go"), "completed");
    assert_string_equal(state_of("dies"), "dead");
    assert_string_equal(state_of("goes"), "completed");
    assert_string_equal(state_of("waits"), "blocked");
    assert_string_equal(state_of("called"), "completed");
    assert_string_equal(state_of("unneeded"), "none");
    assert_int_equal(reeve_wait(client, "q", "dies", 0, NULL), REEVE_EDEAD);
}

static void a_batch_calls_back(void **state)
{
    reeve_batch batch;
    reeve_enqueued results[2];
    const reeve_task_spec all = {.queue = "q", .type = "echo", .id = "all"};
    const reeve_task_spec members[] = {{.queue = "q", .type = "echo"}, {.queue = "q", .type = "echo"}};
    (void)state;
    assert_int_equal(reeve_batch_open(client, &batch, &(reeve_batch_callbacks){.complete = &all}), REEVE_OK);
    assert_int_equal(reeve_batch_add(client, &batch, members, 2, results), REEVE_OK);
    assert_int_equal(reeve_test_client_run(client), 2);
    assert_string_equal(state_of("all"), "blocked");
    assert_int_equal(reeve_batch_close(client, &batch), REEVE_OK);
    assert_int_equal(reeve_test_client_run(client), 1);
    assert_string_equal(state_of("all"), "completed");
}

/* ---- the other calls --------------------------------------------------------------------------------------------- */

static void tasks_are_changed(void **state)
{
    bool running = true;
    (void)state;
    put("a", "echo", "");
    assert_int_equal(reeve_cancel_with_running(client, "q", "a", &running), REEVE_OK);
    assert_false(running);
    assert_int_equal(reeve_wait(client, "q", "a", 0, NULL), REEVE_ECANCELLED);
    assert_int_equal(reeve_cancel(client, "q", "a"), REEVE_ESTATE);
    assert_int_equal(reeve_retry(client, "q", "a"), REEVE_OK);
    assert_string_equal(state_of("a"), "ready");
    assert_int_equal(reeve_reschedule_in(client, "q", "a", 5000), REEVE_OK);
    assert_string_equal(state_of("a"), "scheduled");
    assert_int_equal(reeve_set_priority(client, "q", "a", 7), REEVE_OK);
    reeve_task_info *info = NULL;
    assert_int_equal(reeve_show(client, "q", "a", &info), REEVE_OK);
    assert_int_equal(info->priority, 7);
    assert_int_equal(info->due_ms, REEVE_TEST_BEGIN_MS + 5000);
    reeve_task_info_free(info);
    assert_int_equal(reeve_delete(client, "q", "a"), REEVE_OK);
    assert_int_equal(reeve_delete(client, "q", "a"), REEVE_ENOTFOUND);
    assert_int_equal(reeve_show(client, "q", "a", &info), REEVE_ENOTFOUND);
    assert_int_equal(reeve_wait(client, "q", "a", 0, NULL), REEVE_ENOTFOUND);
}

static void calls_that_need_redis_say_so(void **state)
{
    reeve_queue_info queue, *queues;
    reeve_task_info **list;
    reeve_queue_settings *settings;
    reeve_maintained maintained;
    reeve_watch *watch;
    reeve_worker_info *workers;
    uint64_t total;
    size_t count;
    const reeve_watch_options watch_options = {.queue = "q"};
    const reeve_task_spec spec = {.queue = "q", .type = "t"};
    const reeve_cron_entry entry = {.name = "n", .spec = "every 1s", .task = &spec};
    (void)state;
    const reeve_status statuses[] = {
        reeve_queue(client, "q", &queue),
        reeve_queues(client, &queues, &count),
        reeve_workers(client, &workers, &count),
        reeve_list(client, "q", REEVE_STATE_READY, 0, 10, &list, &count, &total),
        reeve_pause(client, "q"),
        reeve_queue_settings_get(client, "q", &settings),
        reeve_maintain(client, "q", &maintained),
        reeve_watch_open(&watch, client, &watch_options),
        reeve_cron_set(client, &entry, NULL),
        reeve_cron_remove(client, "q", "n"),
        reeve_cancel_cascade(client, "q", "a"),
    };
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        if (statuses[i] != REEVE_EUNSUPPORTED && statuses[i] != REEVE_ENOTFOUND)
            fail_msg("%zu: %d", i, (int)statuses[i]);
    }
    assert_int_equal(reeve_pause(client, "q"), REEVE_EUNSUPPORTED);
    assert_non_null(strstr(reeve_client_error(client), "no Redis"));
    reeve_client_interrupt(client);
}

static void odd_options_are_refused(void **state)
{
    reeve_client *made = (reeve_client *)&made;
    const reeve_handler bad = {.type = "t"};
    const reeve_layer layer = {.name = "l"};
    (void)state;
    assert_int_equal(reeve_test_client_open(&made, &(reeve_test_client_options){.handlers = &bad, .handler_count = 1}),
                     REEVE_EINVAL);
    assert_null(made);
    assert_int_equal(reeve_test_client_open(&made, &(reeve_test_client_options){.layers = &layer, .layer_count = 1}),
                     REEVE_EINVAL);
    assert_int_equal(reeve_test_client_open(&made, &(reeve_test_client_options){.handler_count = 1}), REEVE_EINVAL);
    assert_int_equal(reeve_test_client_open(NULL, NULL), REEVE_EINVAL);
    assert_int_equal(reeve_test_client_count(NULL), 0);
    assert_null(reeve_test_client_task(NULL, 0));
    assert_int_equal(reeve_test_client_run(NULL), 0);
    reeve_test_client_clear(NULL);
}

static void each_allocation_may_fail(void **state)
{
    reeve_status status = REEVE_ENOMEM;
    unsigned long nth = 0;
    const reeve_test_client_options options = {.handlers = handlers, .handler_count = 4, .run_at_once = true};
    const reeve_task_spec spec = {.queue = "q", .type = "twice", .id = "a"};
    (void)state;
    /* Without memory for its attempt a task stays ready. */
    for (bool ran = false; !ran;) {
        (void)rv_mem_fail_at(++nth);
        status = reeve_test_client_open(&client, &options);
        if (status == REEVE_OK) status = reeve_enqueue(client, &spec, NULL);
        (void)rv_mem_fail_at(0);
        assert_true(status == REEVE_OK || status == REEVE_ENOMEM);
        ran = status == REEVE_OK && reeve_test_client_count(client) == 3;
        reeve_client_close(client);
        client = NULL;
        assert_true(nth < 1000);
    }
    assert_true(nth > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(specs_are_recorded_with_all_options, open_plain, close_it),
        cmocka_unit_test_setup_teardown(what_redis_refuses_is_refused, open_plain, close_it),
        cmocka_unit_test_setup_teardown(tasks_run_when_the_test_says, open_plain, close_it),
        cmocka_unit_test_setup_teardown(a_retried_task_runs_again_at_the_next_call, open_plain, close_it),
        cmocka_unit_test_setup_teardown(tasks_run_within_the_enqueue, open_at_once, close_it),
        cmocka_unit_test_setup_teardown(children_follow_their_parents, open_plain, close_it),
        cmocka_unit_test_setup_teardown(a_batch_calls_back, open_plain, close_it),
        cmocka_unit_test_setup_teardown(tasks_are_changed, open_plain, close_it),
        cmocka_unit_test_setup_teardown(calls_that_need_redis_say_so, open_plain, close_it),
        cmocka_unit_test(odd_options_are_refused),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("ut_test_client", tests, NULL, NULL);
}
