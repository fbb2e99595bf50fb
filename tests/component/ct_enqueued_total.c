/* The number of tasks that ever came to a queue, whatever became of them. (ct_model compares it after each step.) */
#include "reeve/change.h"
#include "support/depend.h"
#include "support/queue.h"

static reeve_queue_info read_queue(const char *queue)
{
    reeve_queue_info info;
    test_ok(test_client, reeve_queue(test_client, queue, &info));
    return info;
}

static void each_task_counts_once(void **state)
{
    (void)state;
    test_put("q", "a b c d");
    assert_int_equal(read_queue("q").enqueued_total, 4);
    test_ok(test_client, reeve_cancel(test_client, "q", "a"));
    test_ok(test_client, reeve_fail(test_client, "q", "b", "k", "m"));
    assert_int_equal(read_queue("q").cancelled_total, 1);
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    test_ok(test_client, reeve_retry(test_client, "q", "b"));
    assert_int_equal(read_queue("q").enqueued_total, 4);
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    test_ok(test_client, reeve_fail(test_client, "q", "b", "k", "m"));
    test_ok(test_client, reeve_delete(test_client, "q", "b"));
    test_ok(test_client, reeve_move(test_client, "q", "c", "p"));
    assert_int_equal(read_queue("q").enqueued_total, 4);
    assert_int_equal(read_queue("p").enqueued_total, 1);
    assert_int_equal(read_queue("p").cancelled_total, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_task_counts_once, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_enqueued_total", tests, test_place_start, test_place_stop);
}
