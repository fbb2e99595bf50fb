/* A worker's session in a queue: begun, counted, lost, and never confused with the one after it. */
#include "running/queue_session.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka.h"

static rv_queue_session queue_session;
static char session[RV_SESSION_LENGTH + 1];

static int set_up(void **state)
{
    (void)state;
    rv_queue_session_init(&queue_session, "ns", "q", "0123456789abcdef");
    (void)rv_queue_session_get(&queue_session, session);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rv_queue_session_fini(&queue_session);
    return 0;
}

static void a_new_queue_session(void **state)
{
    (void)state;
    char again[RV_SESSION_LENGTH + 1];
    assert_string_equal(queue_session.queue, "q");
    assert_string_equal(queue_session.prefix.text, "ns:{q}:");
    assert_int_equal(strlen(session), RV_SESSION_LENGTH);
    assert_memory_equal(session, "0123456789abcdef-", 17); /* (its worker's) */
    assert_int_equal(strspn(session + 17, "0123456789abcdef"), 8);
    assert_false(rv_queue_session_get(&queue_session, again));
    assert_string_equal(again, session);
}

static void it_begins(void **state)
{
    (void)state;
    char again[RV_SESSION_LENGTH + 1];
    rv_queue_session_begin(&queue_session, "0123456789abcdef"); /* another's */
    assert_false(rv_queue_session_get(&queue_session, again));
    rv_queue_session_begin(&queue_session, session);
    rv_queue_session_begin(&queue_session, session);
    assert_true(rv_queue_session_get(&queue_session, again));
    assert_string_equal(again, session);
}

static void it_is_lost_once(void **state)
{
    (void)state;
    char next[RV_SESSION_LENGTH + 1], again[RV_SESSION_LENGTH + 1];
    rv_queue_session_begin(&queue_session, session);
    assert_true(rv_queue_session_lose(&queue_session, session));
    assert_false(rv_queue_session_get(&queue_session, next)); /* the new one has not begun */
    assert_string_not_equal(next, session);
    /* Those who hear of it late change nothing. */
    assert_false(rv_queue_session_lose(&queue_session, session));
    rv_queue_session_begin(&queue_session, session);
    assert_false(rv_queue_session_get(&queue_session, again));
    assert_string_equal(again, next);
}

static void it_knows_the_queues_policy(void **state)
{
    (void)state;
    rv_task_policy policy = {.attempts = 77};
    static const char some[] = "{\"attempts\":3,\"backoff\":{\"shape\":2,\"list\":[5]}}", others[] = "{\"crashes\":2}";
    static const char *const none[] = {"", "x", "[]", "{"};
    assert_false(rv_queue_session_get_policy(&queue_session, &policy));
    rv_queue_session_set_policy(&queue_session, "", 0);
    assert_false(rv_queue_session_get_policy(&queue_session, &policy));
    assert_int_equal(policy.attempts, 77);
    rv_queue_session_set_policy(&queue_session, some, sizeof(some) - 1);
    assert_true(rv_queue_session_get_policy(&queue_session, &policy));
    assert_int_equal(policy.attempts, 3);
    assert_int_equal(policy.backoff.list_ms[0], 5);
    for (size_t i = 0; i < 4; i++) {
        rv_queue_session_set_policy(&queue_session, others, sizeof(others) - 1);
        assert_true(rv_queue_session_get_policy(&queue_session, &policy));
        assert_int_equal(policy.attempts, 0);
        assert_int_equal(policy.max_crashes, 2);
        rv_queue_session_set_policy(&queue_session, none[i], strlen(none[i]));
        assert_false(rv_queue_session_get_policy(&queue_session, &policy));
    }
    assert_true(rv_queue_session_lose(&queue_session, session)); /* it is the queue's, not the session's */
}

enum { THREADS = 8, ROUNDS = 2000 };
static unsigned losses[THREADS];

static void *lose_some(void *argument)
{
    unsigned *lost = argument;
    for (int i = 0; i < ROUNDS; i++) {
        char present[RV_SESSION_LENGTH + 1];
        (void)rv_queue_session_get(&queue_session, present);
        rv_queue_session_set_policy(&queue_session, "{\"attempts\":5}", i % 2 == 0 ? 0 : 14);
        rv_task_policy policy;
        if (rv_queue_session_get_policy(&queue_session, &policy) && policy.attempts != 5) abort();
        rv_queue_session_begin(&queue_session, present);
        if (i % 10 == 0) *lost += rv_queue_session_lose(&queue_session, present);
    }
    return NULL;
}

/* For the thread sanitizer above all. */
static void many_threads_at_once(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    unsigned lost = 0;
    for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, lose_some, &losses[i]), 0);
    for (size_t i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        lost += losses[i];
    }
    assert_in_range(lost, ROUNDS / 10, THREADS * ROUNDS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_queue_session, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_begins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_is_lost_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_knows_the_queues_policy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_threads_at_once, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("ut_queue_session", tests, NULL, NULL);
}
