/* Looking at queues and workers, and steering them, through the public client. */
#include <stdio.h>
#include <string.h>

#include "protocol/registry.h"
#include "support/queue.h"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

#define Q "reeve:{q}:"

/* ---- queues and workers ---------------------------------------------------------------------------------------- */

static void a_queue_in_numbers(void **state)
{
    (void)state;
    reeve_queue_info info;
    memset(&info, 0xff, sizeof(info));
    test_ok(test_client, reeve_queue(test_client, "never", &info));
    assert_string_equal(info.name, "never");
    assert_false(info.paused);
    for (int i = 0; i < REEVE_STATE_COUNT; i++) assert_int_equal(info.count[i], 0);
    assert_int_equal(info.completed_total + info.failed_total + info.dead_total + info.crashed_total, 0);
    assert_int_equal(info.oldest_ready_ms, -1);
    assert_int_equal(info.next_due_ms, -1);
    test_one_of_each(&hand);
    test_put("q", "second");
    test_ok(test_client, reeve_queue(test_client, "q", &info));
    for (int i = 0; i < TEST_STATES; i++) {
        reeve_state which;
        assert_int_equal(reeve_state_parse(test_states[i], &which), REEVE_OK);
        assert_int_equal(info.count[which], which == REEVE_STATE_READY ? 2 : 1);
    }
    reeve_task_info *ready = test_show("q", "ready"), *scheduled = test_show("q", "scheduled");
    assert_int_equal(info.oldest_ready_ms, ready->enqueued_ms);
    assert_int_equal(info.next_due_ms, scheduled->due_ms);
    reeve_task_info_free(ready);
    reeve_task_info_free(scheduled);
    test_refused(test_client, reeve_queue(test_client, "no good", &info), REEVE_EINVAL, "no good");
}

/* Its header may be long. */
static void the_head_of_a_queue_with_much_metadata(void **state)
{
    (void)state;
    static char value[8000];
    const reeve_meta meta = {"k", value};
    reeve_queue_info info;
    memset(value, 'v', sizeof(value) - 1);
    test_put_spec((reeve_task_spec){.id = "x", .meta = &meta, .meta_count = 1});
    test_ok(test_client, reeve_queue(test_client, "q", &info));
    assert_in_range(info.oldest_ready_ms, rv_wall_ms() - 60000, rv_wall_ms() + 60000);
}

static void all_queues_by_name(void **state)
{
    (void)state;
    reeve_queue_info *list;
    size_t count;
    test_ok(test_client, reeve_queues(test_client, &list, &count));
    assert_int_equal(count, 0);
    reeve_queues_free(list);
    test_place_empty(state);
    reeve_client *client = test_client_open(5000); /* one that has not made any known */
    static const char *const names[] = {"m", "a", "Z", "z.9", "a-b"};
    for (int i = 0; i < 5; i++) {
        reeve_task_spec spec = {.queue = names[i], .type = "t"};
        for (int j = 0; j <= i; j++) test_ok(client, reeve_enqueue(client, &spec, NULL));
    }
    test_ok(client, reeve_pause(client, "m"));
    test_ok(client, reeve_queues(client, &list, &count));
    assert_int_equal(count, 5);
    static const char *const sorted[] = {"Z", "a", "a-b", "m", "z.9"};
    static const unsigned ready[] = {3, 2, 5, 1, 4};
    for (int i = 0; i < 5; i++) {
        assert_string_equal(list[i].name, sorted[i]);
        assert_int_equal(list[i].count[REEVE_STATE_READY], ready[i]);
        assert_int_equal(list[i].paused, i == 3);
    }
    reeve_queues_free(list);
    reeve_client_close(client);
}

static void workers_that_live(void **state)
{
    (void)state;
    static const char json[] =
        "{\"name\":\"n\\u00e9\",\"host\":\"h\",\"pid\":77,\"version\":\"1.2\",\"started\":1000,\"seen\":2000,\"state\":"
        "\"quiet\","
        "\"threads\":8,\"busy\":3,\"processed\":12345678901,\"failed\":5,\"pools\":[{\"name\":\"p\"}]}";
    reeve_worker_info *list;
    size_t count;
    rv_registry_renew(test_conn, "reeve", "living", json, strlen(json), 60000);
    rv_registry_renew(test_conn, "reeve", "odd", "[]", 2, 60000);
    rv_registry_renew(test_conn, "reeve", "bare", "{}", 2, 60000);
    rv_registry_renew(test_conn, "reeve", "dead", json, strlen(json), 1);
    assert_int_equal(rv_conn_exec(test_conn, 0, NULL, NULL), REEVE_OK);
    TEST_AWAIT(test_number("EXISTS reeve:worker:dead") == 0);
    test_ok(test_client, reeve_workers(test_client, &list, &count));
    assert_int_equal(count, 2);
    const reeve_worker_info *living = strcmp(list[0].id, "living") == 0 ? &list[0] : &list[1];
    const reeve_worker_info *bare = living == &list[0] ? &list[1] : &list[0];
    assert_string_equal(living->id, "living");
    assert_string_equal(living->name, "n\xc3\xa9");
    assert_string_equal(living->host, "h");
    assert_string_equal(living->version, "1.2");
    assert_string_equal(living->state, "quiet");
    assert_string_equal(living->pools, "[{\"name\":\"p\"}]");
    assert_int_equal(living->pid, 77);
    assert_int_equal(living->started_ms, 1000);
    assert_int_equal(living->seen_ms, 2000);
    assert_int_equal(living->threads, 8);
    assert_int_equal(living->busy, 3);
    assert_int_equal(living->processed, 12345678901);
    assert_int_equal(living->failed, 5);
    assert_string_equal(bare->id, "bare");
    assert_string_equal(bare->pools, "[]");
    reeve_workers_free(list, count);
    assert_int_equal(test_number("SISMEMBER reeve:workers dead"), 0); /* who looks tidies up */
    rv_registry_remove(test_conn, "reeve", "living");
    assert_int_equal(rv_conn_exec(test_conn, 0, NULL, NULL), REEVE_OK);
    test_ok(test_client, reeve_workers(test_client, &list, &count));
    assert_int_equal(count, 1);
    reeve_workers_free(list, count);
    reeve_workers_free(NULL, 0);
}

/* ---- steering -------------------------------------------------------------------------------------------------- */

typedef reeve_status (*steer_fn)(reeve_client *client, const char *queue, const char *id);

static void steer_each(steer_fn steer, const char *verb, const char *allowed)
{
    for (int i = 0; i < TEST_STATES; i++) {
        char words[100];
        test_place_empty(NULL);
        test_hand_init(&hand, "1", "q");
        test_one_of_each(&hand);
        (void)snprintf(words, sizeof(words), "cannot %s q/%s: it is %s", verb, test_states[i], test_states[i]);
        if (strstr(allowed, test_states[i])) {
            test_ok(test_client, steer(test_client, "q", test_states[i]));
        } else {
            test_refused(test_client, steer(test_client, "q", test_states[i]), REEVE_ESTATE, words);
            assert_string_equal(test_state("q", test_states[i]), test_states[i]);
        }
    }
    test_refused(test_client, steer(test_client, "q", "none"), REEVE_ENOTFOUND, "no task q/none");
    test_refused(test_client, steer(test_client, "q", "a/b"), REEVE_EINVAL, "a/b");
    test_refused(test_client, steer(test_client, NULL, "x"), REEVE_EINVAL, "queue");
    assert_int_equal(steer(NULL, "q", "x"), REEVE_EINVAL);
}

static void retry(void **state)
{
    (void)state;
    steer_each(reeve_retry, "retry", "dead cancelled scheduled");
    (void)test_place_empty(NULL);
    test_put("q", "x");
    for (int i = 0; i < 2; i++) { /* once recovered from a crash, once failed for good */
        test_hand_init(&hand, "1", "q");
        (void)test_lease(&hand, 1);
        if (i == 0) test_expire(&hand);
        if (i == 1) test_settle(&hand, TEST_FAIL("x"));
        test_maintain_all("q");
    }
    test_ok(test_client, reeve_retry(test_client, "q", "x"));
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->state, REEVE_STATE_READY);
    assert_int_equal(info->failures, 0);
    assert_int_equal(info->crashes, 0);
    assert_string_equal(info->error_kind, "k"); /* stays to be read */
    assert_int_equal(info->ended_ms, -1);
    reeve_task_info_free(info);
    (void)test_lease(&hand, 1);
    test_settle(&hand, TEST_RETRY("x", 90000));
    test_ok(test_client, reeve_retry(test_client, "q", "x")); /* sooner than it would: its failures stay */
    info = test_show("q", "x");
    assert_int_equal(info->failures, 1);
    reeve_task_info_free(info);
}

static void cancel(void **state)
{
    (void)state;
    steer_each(reeve_cancel, "cancel", "ready scheduled running"); /* (what runs is told: ct_cancel_running) */
    test_put("q", "x");
    test_ok(test_client, reeve_cancel(test_client, "q", "x"));
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->state, REEVE_STATE_CANCELLED);
    assert_in_range(info->ended_ms, info->enqueued_ms, info->enqueued_ms + 60000);
    reeve_task_info_free(info);
    const reeve_keep none = {.age_ms = 0, .count = -1};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none}));
    test_put("q", "y");
    test_ok(test_client, reeve_cancel(test_client, "q", "y"));
    assert_string_equal(test_state("q", "y"), "");
}

static void delete (void **state)
{
    (void)state;
    steer_each(reeve_delete, "delete", "dead cancelled scheduled completed ready");
    test_place_empty(NULL);
    test_hand_init(&hand, "1", "q");
    test_one_of_each(&hand);
    for (int i = 0; i < TEST_STATES; i++)
        if (strcmp(test_states[i], "running") != 0)
            test_ok(test_client, reeve_delete(test_client, "q", test_states[i]));
    test_settle(&hand, TEST_DONE("running"));
    test_ok(test_client, reeve_delete(test_client, "q", "running"));
    assert_int_equal(test_number("EXISTS " Q "tasks " Q "info:dead " Q "results " Q "ready " Q "dead " Q "completed"),
                     0);
    test_put("q", "dead"); /* the id is free */
}

static void pause_and_resume(void **state)
{
    (void)state;
    reeve_queue_info info;
    for (int i = 0; i < 2; i++) test_ok(test_client, reeve_pause(test_client, "q"));
    test_put("q", "x");
    test_ok(test_client, reeve_queue(test_client, "q", &info));
    assert_true(info.paused);
    assert_int_equal(info.count[REEVE_STATE_READY], 1);
    for (int i = 0; i < 2; i++) test_ok(test_client, reeve_resume(test_client, "q"));
    test_ok(test_client, reeve_queue(test_client, "q", &info));
    assert_false(info.paused);
    test_refused(test_client, reeve_pause(test_client, "a b"), REEVE_EINVAL, "a b");
    assert_int_equal(reeve_resume(NULL, "q"), REEVE_EINVAL);
}

static void settings(void **state)
{
    (void)state;
    const reeve_keep some = {.age_ms = 1000, .count = 5}, forever = {.age_ms = -1, .count = -1}, bad = {.age_ms = -2},
                     worse = {.count = -2};
    const char *get = "HMGET " Q "settings completed_age completed_count dead_age dead_count";
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){0}));
    assert_string_equal(test_cmd(test_conn, "%s", get), "[(nil) (nil) (nil) (nil)]");
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &some}));
    assert_string_equal(test_cmd(test_conn, "%s", get), "[1000 5 (nil) (nil)]");
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.dead = &forever}));
    assert_string_equal(test_cmd(test_conn, "%s", get), "[1000 5 -1 -1]");
    test_ok(test_client,
            reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &forever, .dead = &some}));
    assert_string_equal(test_cmd(test_conn, "%s", get), "[-1 -1 1000 5]");
    test_refused(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &bad}),
                 REEVE_EINVAL, "keep.completed.");
    test_refused(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.dead = &worse}), REEVE_EINVAL,
                 "keep.dead.");
    test_refused(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.size = 1}), REEVE_EINVAL,
                 "size 1");
    test_refused(test_client, reeve_queue_set(test_client, "", &(reeve_queue_settings){.dead = &some}), REEVE_EINVAL,
                 "queue");
    assert_string_equal(test_cmd(test_conn, "%s", get), "[-1 -1 1000 5]");
    assert_int_equal(reeve_queue_set(test_client, "q", NULL), REEVE_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_queue_in_numbers, set_up),
        cmocka_unit_test_setup(the_head_of_a_queue_with_much_metadata, set_up),
        cmocka_unit_test_setup(all_queues_by_name, set_up),
        cmocka_unit_test_setup(workers_that_live, set_up),
        cmocka_unit_test_setup(retry, set_up),
        cmocka_unit_test_setup(cancel, set_up),
        cmocka_unit_test_setup(delete, set_up),
        cmocka_unit_test_setup(pause_and_resume, set_up),
        cmocka_unit_test_setup(settings, set_up),
    };
    return cmocka_run_group_tests_name("ct_client_queues", tests, test_place_start, test_place_stop);
}
