/* The design of the article "Using Redis as a task queue", operation by operation, with the calls of reeve; then its
 * weaknesses, which reeve does not have. Its clients are groups here, and its worker is a consumer. docs/designs.md has
 * the table. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "reeve/dead.h"
#include "support/design.h"
#include "support/worker.h"

enum { MANY = 12 };

/* ---- producers -------------------------------------------------------------------------------------------------- */

/* send(list): the messages of a client, in one call. */
static void send_list(const char *client, size_t count)
{
    static char ids[MANY][32];
    reeve_task_spec specs[MANY];
    reeve_enqueued results[MANY];
    assert_true(count <= MANY);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "%s%zu", client, i);
        specs[i] = (reeve_task_spec){
            .queue = "q", .type = "t", .id = ids[i], .group = client, .payload = {"message", 7}, .max_crashes = 2};
    }
    test_ok(test_client, reeve_enqueue_many(test_client, specs, count, results));
}

/* length(client), exists(client): how many messages of a client wait. */
static size_t length_of(const char *client)
{
    char cursor[REEVE_CURSOR_MAX] = "";
    reeve_task_info **page = NULL;
    size_t count = 0;
    const reeve_filter filter = {.state = REEVE_STATE_READY, .group = client};
    test_ok(test_client, reeve_find(test_client, "q", &filter, cursor, 100, &page, &count, NULL));
    reeve_task_list_free(page, count);
    return count;
}

static void send_exists_length(void **state)
{
    (void)state;
    assert_int_equal(length_of("a"), 0);
    send_list("a", 3);
    send_list("b", 2);
    assert_int_equal(length_of("a"), 3);
    assert_int_equal(length_of("b"), 2);
    assert_int_equal(test_count("q", "ready"), 5);
}

/* delete(client): the messages of one client that wait. */
static void delete_client(void **state)
{
    (void)state;
    reeve_bulk_result result;
    send_list("a", 3);
    send_list("b", 2);
    const reeve_filter of_a = {.state = REEVE_STATE_READY, .group = "a"};
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_DELETE, &of_a, NULL, NULL, &result));
    assert_int_equal(result.done, 3);
    assert_int_equal(length_of("a"), 0);
    assert_int_equal(length_of("b"), 2);
}

/* ---- workers ---------------------------------------------------------------------------------------------------- */

/* receive(n): up to so many; each client has its turn, however many messages another one has sent before. */
static void receive_is_fair(void **state)
{
    (void)state;
    send_list("a", 3);
    send_list("b", 1);
    assert_string_equal(test_pull(test_one, 3, true), "a0 b0 a1");
    reeve_task *tasks[3];
    reeve_outcome outcomes[3];
    for (unsigned i = 0; i < 3; i++) {
        tasks[i] = test_pulled[i];
        outcomes[i] = reeve_task_done(tasks[i], NULL, 0);
    }
    test_good(test_one, reeve_consumer_settle_many(test_one, tasks, outcomes, 3, NULL)); /* processed, of a list */
}

/* processed(message): it is gone, and never comes again. */
static void processed(void **state)
{
    (void)state;
    send_list("a", 1);
    test_complete_task(test_one, test_take(test_one, "a0"), NULL);
    test_maintain_all("q");
    test_take_nothing(test_two);
    assert_string_equal(test_state("q", "a0"), "completed");
}

/* recover(): messages of a worker that died come again, to the client's turn. */
static void recover(void **state)
{
    (void)state;
    send_list("a", 1);
    test_take_and_die("a0");
    assert_int_equal(length_of("a"), 1);
    test_complete_task(test_one, test_take(test_one, "a0"), NULL);
}

/* After too many attempts a message is dead: crashes and failures each have their limit. */
static void dead_letters(void **state)
{
    (void)state;
    send_list("a", 1);
    test_take_and_die("a0");
    test_take_and_die("a0");
    test_take_nothing(test_one); /* a task that has crashed too often dies when it would be leased */
    assert_string_equal(test_state("q", "a0"), "dead");
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "fails", .attempts = 1});
    test_retry_task(test_one, test_take(test_one, "fails"), 0);
    assert_string_equal(test_state("q", "fails"), "dead");
}

static void *send_when_blocked(void *client)
{
    while (!test_is_blocked()) test_pause();
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "new", .group = "nobody knew it"};
    TEST_MUST(reeve_enqueue(client, &spec, NULL) == REEVE_OK);
    return NULL;
}

/* refresh(), and the sleep of an idle worker: there, a new client is seen when its lists are looked for again, up to two
 * seconds later. Here an idle worker blocks, and the first message of a new client wakes it. */
static void refresh_is_not_needed(void **state)
{
    (void)state;
    pthread_t thread;
    reeve_client *client = test_client_open(60000);
    test_take_nothing(test_one);
    assert_int_equal(pthread_create(&thread, NULL, send_when_blocked, client), 0);
    reeve_task *task = test_take(test_one, "new");
    assert_int_equal(pthread_join(thread, NULL), 0);
    reeve_client_close(client);
    test_complete_task(test_one, task, NULL);
}

/* ---- what goes wrong there -------------------------------------------------------------------------------------- */

/* There, recover() puts back what runs right now, because it cannot tell. Here a lease lasts as long as its holder. */
static void recover_while_it_runs(void **state)
{
    (void)state;
    send_list("a", 1);
    reeve_task *task = test_take(test_one, "a0");
    for (int i = 0; i < 3; i++) test_maintain_all("q");
    test_take_nothing(test_two);
    assert_string_equal(test_state("q", "a0"), "running");
    test_complete_task(test_one, task, NULL);
}

/* There, messages are told apart by their text: one acknowledgement removes all twins, and dead twins are one. */
static void twins(void **state)
{
    (void)state;
    char first[REEVE_ID_MAX], second[REEVE_ID_MAX];
    const reeve_task_spec spec = {.queue = "q", .type = "t", .group = "a", .payload = {"twin", 4}};
    test_ok(test_client, reeve_enqueue(test_client, &spec, first));
    test_ok(test_client, reeve_enqueue(test_client, &spec, second));
    reeve_task *one = test_take(test_one, first), *two = test_take(test_two, second);
    test_complete_task(test_one, one, NULL);
    assert_string_equal(test_state("q", second), "running");
    test_fail_task(test_two, two, "error", "");
    test_ok(test_client, reeve_retry_completed(test_client, "q", first));
    test_fail_task(test_one, test_take(test_one, first), "error", "");
    assert_int_equal(test_count("q", "dead"), 2);
}

/* There, five messages are looked at in a pass; here all those of a dead worker come back, in their order. */
static void all_are_recovered(void **state)
{
    (void)state;
    send_list("a", MANY);
    reeve_consumer *dies = test_consumer_open("q", &(reeve_consumer_options){.session_ms = 60000});
    (void)test_pull(dies, MANY, true);
    assert_int_equal(test_pulled_count, MANY);
    test_good(dies, reeve_consumer_detach(dies));
    test_end_lease("a0");
    assert_int_equal(test_count("q", "ready"), MANY);
    /* Each comes alone now: one of them may have killed its worker. */
    for (int i = 0; i < MANY; i++) {
        (void)test_pull(test_one, MANY, true);
        assert_int_equal(test_pulled_count, 1);
        test_good(test_one, test_settle_done(test_one, 0, NULL));
    }
}

/* There, attempts grow in recover() only: a message whose handler fails at once is never dead. */
static void failures_count(void **state)
{
    (void)state;
    send_list("a", 1);
    test_retry_task(test_one, test_take(test_one, "a0"), 0);
    assert_int_equal(test_failures("a0"), 1);
    test_complete_task(test_one, test_take(test_one, "a0"), NULL);
}

/* There, a worker of queue "q" takes the messages of queue "q2", too. */
static void names_with_a_common_prefix(void **state)
{
    (void)state;
    test_put("q2", "other");
    test_take_nothing(test_one);
    assert_int_equal(test_count("q2", "ready"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OPERATION(send_exists_length),
        TEST_OPERATION(delete_client),
        TEST_OPERATION(receive_is_fair),
        TEST_OPERATION(processed),
        TEST_OPERATION(recover),
        TEST_OPERATION(dead_letters),
        TEST_OPERATION(refresh_is_not_needed),
        TEST_OPERATION(recover_while_it_runs),
        TEST_OPERATION(twins),
        TEST_OPERATION(all_are_recovered),
        TEST_OPERATION(failures_count),
        TEST_OPERATION(names_with_a_common_prefix),
    };
    return cmocka_run_group_tests_name("ct_design_article", tests, test_place_start, test_place_stop);
}
