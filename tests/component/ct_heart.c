/* Heartbeats are sent in time, whatever else the worker has to ask Redis for. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/collect.h"
#include "support/proxy.h"

/* 300 leases, 8 ms to Redis and back: to ask for each of them whether it was cancelled takes longer than a session. */
static void a_slow_way_to_redis_costs_no_session(void **state)
{
    (void)state;
    enum { EACH = 150, SESSION_MS = 1500 };
    test_proxy *proxy = test_proxy_start(test_redis);
    const reeve_worker_options options = {.redis = test_proxy_url(proxy), .session_ms = SESSION_MS};
    reeve_worker *worker = test_collect_worker(&options, EACH, TEST_LONG_MS, 0);
    char session[RV_SESSION_LENGTH + 1], id[16];
    test_worker_pool(worker, "q", 2, 0);
    for (int i = 0; i < 2 * EACH; i++) {
        (void)snprintf(id, sizeof(id), "n%d", i);
        test_collect_put(id, "hold");
    }
    test_worker_start(worker);
    TEST_AWAIT(atomic_load(&test_collected.in_call) == 2);
    rv_copy_text(session, sizeof(session), test_first_session());
    test_proxy_delay(proxy, 8);
    for (int64_t end = rv_now_ms() + 2 * SESSION_MS; rv_now_ms() < end; usleep(300000))
        (void)test_cmd(test_conn, "CLIENT KILL TYPE pubsub");
    assert_string_equal(test_first_session(), session);
    test_tend_all("q");
    assert_string_equal(test_first_session(), session);
    test_proxy_delay(proxy, 0);
    /* Cancels that were told while nobody listened are heard all the same. */
    test_ok(test_client, reeve_cancel(test_client, "q", "n7"));
    (void)test_cmd(test_conn, "CLIENT KILL TYPE pubsub");
    atomic_store(&test_collected.go, true);
    TEST_AWAIT(test_count("q", "running") == 0);
    assert_int_equal(test_worker_stats(worker).refused, 0);
    test_worker_end(worker);
    test_proxy_stop(proxy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_slow_way_to_redis_costs_no_session, test_collect_begin),
    };
    return cmocka_run_group_tests_name("ct_heart", tests, test_place_start, test_place_stop);
}
