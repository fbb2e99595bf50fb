/* redis-work-queue, operation by operation, with the calls of reeve; then its weaknesses, which reeve does not have. Its
 * worker is a consumer here. docs/designs.md has the table. */
#include <pthread.h>
#include <string.h>

#include "reeve/change.h"
#include "support/check.h"
#include "support/design.h"
#include "support/worker.h"

#define Q "reeve:{q}:"

/* ---- items ------------------------------------------------------------------------------------------------------ */

static reeve_status add(const char *id)
{
    const reeve_task_spec item = {.queue = "q", .type = "t", .id = id, .payload = {"by\0tes", 6}};
    return reeve_enqueue(test_client, &item, NULL);
}

/* add_item(item): only if there is none with its id. The data are any bytes. */
static void add_item(void **state)
{
    (void)state;
    test_ok(test_client, add("item"));
    test_refused(test_client, add("item"), REEVE_EEXISTS, "item");
    reeve_task *item = test_take(test_one, "item");
    assert_int_equal(reeve_task_payload(item).length, 6);
    assert_memory_equal(reeve_task_payload(item).data, "by\0tes", 6);
    test_complete_task(test_one, item, NULL);
}

/* add_unique_item(item): the library makes an id that nobody else has. */
static void add_unique_item(void **state)
{
    (void)state;
    char first[REEVE_ID_MAX], second[REEVE_ID_MAX];
    const reeve_task_spec item = {.queue = "q", .type = "t"};
    test_ok(test_client, reeve_enqueue(test_client, &item, first));
    test_ok(test_client, reeve_enqueue(test_client, &item, second));
    assert_string_not_equal(first, second);
    assert_int_equal(test_count("q", "ready"), 2);
}

/* ---- leases ----------------------------------------------------------------------------------------------------- */

/* lease(secs, block=False): an item, or none. */
static void lease_at_once(void **state)
{
    (void)state;
    test_take_nothing(test_one);
    test_ok(test_client, add("item"));
    test_complete_task(test_one, test_take(test_one, "item"), NULL);
}

/* lease(secs, block, timeout): none when the time is over. */
static void lease_with_timeout(void **state)
{
    (void)state;
    reeve_task *item;
    unsigned count = 1;
    test_good(test_one, reeve_consumer_lease(test_one, &item, 1, 1, &count));
    assert_int_equal(count, 0);
}

/* complete(item): true for the one whose call ended it. */
static void complete(void **state)
{
    (void)state;
    test_ok(test_client, add("item"));
    reeve_task *late = test_take(test_one, "item");
    test_end_lease("item");
    reeve_task *item = test_take(test_two, "item");
    test_complete_task(test_two, item, NULL);
    assert_int_equal(reeve_consumer_settle(test_one, late, reeve_task_done(late, NULL, 0)), REEVE_EREFUSED);
    assert_string_equal(test_state("q", "item"), "completed");
}

/* queue_len(), processing() */
static void lengths(void **state)
{
    (void)state;
    test_put("q", "a b c");
    reeve_task *a = test_take(test_one, "a");
    assert_int_equal(test_count("q", "ready"), 2);
    assert_int_equal(test_count("q", "running"), 1);
    test_complete_task(test_one, a, NULL);
}

/* At most once: complete before working. */
static void at_most_once(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "item", .at_most_once = true});
    reeve_task *item = test_take(test_one, "item");
    assert_string_equal(test_state("q", "item"), "completed");
    test_complete_task(test_one, item, NULL);
}

/* ---- cleaning --------------------------------------------------------------------------------------------------- */

/* light_clean(): items whose lease is over are to be done again. The maintenance does it. */
static void light_clean(void **state)
{
    (void)state;
    test_ok(test_client, add("item"));
    test_take_and_die("item");
    assert_string_equal(test_state("q", "item"), "ready");
    test_complete_task(test_one, test_take(test_one, "item"), NULL);
}

/* deep_clean(): items that are in no list, as after a loss of data, are found and put back, in bounded steps. */
static void deep_clean(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "stranded", .priority = 1});
    assert_string_equal(test_cmd(test_conn, "ZREM " Q "ready stranded"), "1");
    test_take_nothing(test_one);
    test_check_repairs("q", "task_lost stranded");
    test_complete_task(test_one, test_take(test_one, "stranded"), NULL);
}

/* The script that clears all leases: each running task is taken away from its holder. */
static void clear_leases(void **state)
{
    (void)state;
    test_put("q", "a b");
    reeve_task *a = test_take(test_one, "a"), *b = test_take(test_one, "b");
    test_ok(test_client, reeve_expire(test_client, "q", "a"));
    test_ok(test_client, reeve_expire(test_client, "q", "b"));
    assert_int_equal(test_count("q", "ready"), 2);
    assert_int_equal(reeve_consumer_settle(test_one, a, reeve_task_done(a, NULL, 0)), REEVE_EREFUSED);
    assert_int_equal(reeve_consumer_settle(test_one, b, reeve_task_done(b, NULL, 0)), REEVE_EREFUSED);
}

/* ---- what goes wrong there -------------------------------------------------------------------------------------- */

/* There, an item is taken first and leased then: a cleaner in between puts it back, and two work on it. Here the lease is
 * one step, and no cleaning takes a live one away. */
static void clean_while_it_runs(void **state)
{
    (void)state;
    test_ok(test_client, add("item"));
    reeve_task *item = test_take(test_one, "item");
    for (int i = 0; i < 3; i++) test_maintain_all("q");
    test_take_nothing(test_two);
    test_complete_task(test_one, item, NULL);
}

static int64_t lease_expires(const char *id)
{
    reeve_task_info *task = test_show("q", id);
    const int64_t expires_ms = task->lease_expires_ms;
    reeve_task_info_free(task);
    return expires_ms;
}

static int64_t renew(reeve_consumer *consumer, const char *id)
{
    test_good(consumer, reeve_consumer_heartbeat(consumer));
    return lease_expires(id);
}

/* There, a lease cannot be renewed, and it lasts for whole seconds. */
static void leases_are_renewed(void **state)
{
    (void)state;
    const reeve_consumer_options options = {.session_ms = 60500, .manual_heartbeat = true};
    reeve_consumer *consumer = test_consumer_open("q", &options);
    test_ok(test_client, add("item"));
    reeve_task *item = test_take(consumer, "item");
    const int64_t before = lease_expires("item");
    TEST_AWAIT(renew(consumer, "item") > before); /* the clock of Redis goes on */
    test_complete_task(consumer, item, NULL);
    test_good(consumer, reeve_consumer_close(consumer));
}

/* There, a failure is noticed when the lease is over; nothing counts attempts, and nothing is ever dead. */
static void a_failure_is_reported(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "item", .attempts = 2});
    test_retry_task(test_one, test_take(test_one, "item"), 0);
    reeve_task *again = test_take(test_two, "item");
    assert_int_equal(reeve_task_attempt(again), 2);
    test_retry_task(test_two, again, 0);
    assert_string_equal(test_state("q", "item"), "dead");
}

/* There, the session in a lease is stored and never compared. */
static void the_session_is_compared(void **state)
{
    (void)state;
    char token[REEVE_TOKEN_MAX], other[REEVE_TOKEN_MAX];
    const reeve_lease_outcome done = {.outcome = REEVE_OUTCOME_DONE};
    test_put("q", "a b");
    reeve_task *a = test_take(test_one, "a"), *b = test_take(test_two, "b");
    assert_int_equal(reeve_consumer_token(test_one, a, token), REEVE_OK);
    assert_int_equal(reeve_consumer_token(test_two, b, other), REEVE_OK);
    assert_string_not_equal(token, other);
    assert_int_equal(reeve_lease_settle(test_client, "q", "a", other, &done), REEVE_EREFUSED);
    test_complete_task(test_one, a, NULL);
    test_complete_task(test_two, b, NULL);
}

static void *add_when_blocked(void *client)
{
    while (!test_is_blocked()) test_pause();
    const reeve_task_spec gone = {.queue = "q", .type = "t", .id = "gone"};
    const reeve_task_spec item = {.queue = "q", .type = "t", .id = "item"};
    TEST_MUST(reeve_pause(client, "q") == REEVE_OK); /* so that nobody takes the first one before it is deleted */
    TEST_MUST(reeve_enqueue(client, &gone, NULL) == REEVE_OK);
    TEST_MUST(reeve_delete(client, "q", "gone") == REEVE_OK);
    TEST_MUST(reeve_resume(client, "q") == REEVE_OK);
    TEST_MUST(reeve_enqueue(client, &item, NULL) == REEVE_OK);
    return NULL;
}

/* There, a lease that blocks returns empty-handed when it meets an item that was deleted. */
static void deleted_items_end_no_wait(void **state)
{
    (void)state;
    pthread_t thread;
    reeve_client *client = test_client_open(60000);
    test_take_nothing(test_one);
    assert_int_equal(pthread_create(&thread, NULL, add_when_blocked, client), 0);
    reeve_task *item = test_take(test_one, "item");
    assert_int_equal(pthread_join(thread, NULL), 0);
    reeve_client_close(client);
    test_complete_task(test_one, item, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OPERATION(add_item),
        TEST_OPERATION(add_unique_item),
        TEST_OPERATION(lease_at_once),
        TEST_OPERATION(lease_with_timeout),
        TEST_OPERATION(complete),
        TEST_OPERATION(lengths),
        TEST_OPERATION(at_most_once),
        TEST_OPERATION(light_clean),
        TEST_OPERATION(deep_clean),
        TEST_OPERATION(clear_leases),
        TEST_OPERATION(clean_while_it_runs),
        TEST_OPERATION(leases_are_renewed),
        TEST_OPERATION(a_failure_is_reported),
        TEST_OPERATION(the_session_is_compared),
        TEST_OPERATION(deleted_items_end_no_wait),
    };
    return cmocka_run_group_tests_name("ct_design_work_queue", tests, test_place_start, test_place_stop);
}
