/* After a lost reply: what stands under a thread's name; and the other things said of leases: progress. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/handler_call.h"
#include "protocol/recover_call.h"
#include "support/queue.h"

static test_hand a, b;

static int set_up(void **state)
{
    test_hand_init(&a, "1", "q");
    test_hand_init(&b, "11", "q");
    return test_place_empty(state);
}

#define Q "reeve:{q}:"

typedef struct recalled {
    bool alive;
    size_t count;
    test_leased leases[600];
} recalled;

static recalled found;

/* All pages of what stands under a thread's name in a hand's session. */
static size_t recover_all(const test_hand *hand, const char *thread)
{
    char cursor[24] = "0";
    found.count = 0;
    do {
        const rv_reply *reply;
        rv_recover_reply page;
        static rv_lease leases[600];
        rv_recover_call_build(test_conn, &hand->prefixes[0], hand->sessions[0], thread, cursor);
        if (rv_conn_call(test_conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(test_conn)->text);
        assert_true(rv_recover_call_read(&page, reply));
        found.alive = page.alive;
        size_t count = rv_recover_call_leases(&page, 2, leases, 600);
        assert_true(found.count + count <= 600);
        for (size_t i = 0; i < count; i++) {
            test_leased *lease = &found.leases[found.count++];
            *lease = (test_leased){.queue = leases[i].queue,
                                   .failures = leases[i].failures,
                                   .crashes = leases[i].crashes,
                                   .has_info = leases[i].has_info};
            rv_copy_text(lease->id, sizeof(lease->id), leases[i].id);
        }
        rv_copy_text(cursor, sizeof(cursor), page.cursor);
    } while (strcmp(cursor, "0") != 0);
    return found.count;
}

static const test_leased *find(const char *id)
{
    for (size_t i = 0; i < found.count; i++)
        if (strcmp(found.leases[i].id, id) == 0) return &found.leases[i];
    fail_msg("%s was not recalled", id);
    return NULL;
}

static void a_lost_reply_is_found_again(void **state)
{
    (void)state;
    test_put("q", "w x y z");
    rv_conn *conn = test_conn_open(test_redis);
    test_turn_build(conn, &a, 3, NULL, 0);
    assert_int_equal(rv_conn_exec(conn, 0, NULL, NULL), REEVE_OK); /* and nobody has heard the reply */
    rv_conn_destroy(conn);
    assert_int_equal(recover_all(&a, "1"), 3);
    assert_true(found.alive);
    assert_int_equal(find("w")->queue, 2); /* as we said */
    (void)find("x");
    (void)find("y");
}

static void lost_settlements_are_not_there(void **state)
{
    (void)state;
    test_put("q", "w x y z");
    (void)test_lease(&a, 4);
    test_settle(&a, TEST_DONE("w"), TEST_RETRY("x", 60000));
    assert_int_equal(recover_all(&a, "1"), 2);
    (void)find("y");
    (void)find("z");
}

static void each_thread_has_its_own(void **state)
{
    (void)state;
    test_put("q", "v w x y z");
    memcpy(b.sessions, a.sessions, sizeof(a.sessions)); /* two threads of one worker: 1 and 11 */
    (void)test_lease(&a, 2);
    (void)test_lease(&b, 3);
    assert_int_equal(recover_all(&a, "1"), 2);
    (void)find("v");
    assert_int_equal(recover_all(&a, "11"), 3);
    (void)find("z");
    assert_int_equal(recover_all(&a, "111"), 0);
    assert_true(found.alive);
    assert_int_equal(recover_all(&a, ""), 5);
}

static void a_session_that_is_not_there(void **state)
{
    (void)state;
    assert_int_equal(recover_all(&a, "1"), 0);
    assert_false(found.alive);
    test_put("q", "x");
    (void)test_lease(&a, 1);
    test_expire(&a);
    (void)test_maintain("q", 200);
    assert_int_equal(recover_all(&a, "1"), 0);
    assert_false(found.alive);
}

static void marked_tasks_tell_their_history(void **state)
{
    (void)state;
    test_put("q", "x y z");
    (void)test_lease(&a, 3);
    test_settle(&a, TEST_RETRY("x", 0), TEST_SNOOZE("y", 0));
    test_maintain_all("q");
    (void)test_lease(&a, 3);
    assert_int_equal(recover_all(&a, "1"), 3);
    assert_int_equal(find("x")->failures, 1);
    assert_true(find("x")->has_info);
    assert_false(find("y")->has_info);
}

static int by_id(const void *one, const void *other)
{
    return strcmp(((const test_leased *)one)->id, ((const test_leased *)other)->id);
}

static void many_come_in_pages(void **state)
{
    (void)state;
    test_put_many("q", 512, "m%03zu");
    (void)test_lease(&a, 256);
    (void)test_lease(&a, 256);
    /* A page may repeat what another had, as HSCAN may. */
    assert_true(recover_all(&a, "1") >= 512);
    qsort(found.leases, found.count, sizeof(found.leases[0]), by_id);
    size_t different = 1;
    for (size_t i = 1; i < found.count; i++) different += strcmp(found.leases[i].id, found.leases[i - 1].id) != 0;
    assert_int_equal(different, 512);
}

/* ---- progress -------------------------------------------------------------------------------------------------- */

static long long progress(const test_hand *hand, const char *id, int percent, const char *words)
{
    const rv_reply *reply;
    rv_handler_call_progress(test_conn, &hand->prefixes[0], hand->sessions[0], id, percent, words);
    if (rv_conn_call(test_conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(test_conn)->text);
    return rv_reply_int(reply, -1);
}

static void the_holder_tells_progress(void **state)
{
    (void)state;
    test_put("q", "x y");
    assert_int_equal(progress(&a, "x", 1, ""), 0);
    (void)test_lease(&a, 1);
    assert_int_equal(progress(&a, "x", 40, "\"forty\" \xc3\xa9"), 1);
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->progress, 40);
    assert_string_equal(info->progress_words, "\"forty\" \xc3\xa9");
    reeve_task_info_free(info);
    assert_int_equal(progress(&a, "x", 41, NULL), 1);
    info = test_show("q", "x");
    assert_int_equal(info->progress, 41);
    reeve_task_info_free(info);
    assert_int_equal(progress(&a, "y", 1, ""), 0);
    assert_int_equal(progress(&b, "x", 1, ""), 0);
    assert_int_equal(test_number("EXISTS " Q "info:y"), 0);
    test_expire(&a);
    (void)test_maintain("q", 200);
    assert_int_equal(progress(&a, "x", 99, ""), 0);
    info = test_show("q", "x");
    assert_int_equal(info->progress, 41);
    reeve_task_info_free(info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_lost_reply_is_found_again, set_up),
        cmocka_unit_test_setup(lost_settlements_are_not_there, set_up),
        cmocka_unit_test_setup(each_thread_has_its_own, set_up),
        cmocka_unit_test_setup(a_session_that_is_not_there, set_up),
        cmocka_unit_test_setup(marked_tasks_tell_their_history, set_up),
        cmocka_unit_test_setup(many_come_in_pages, set_up),
        cmocka_unit_test_setup(the_holder_tells_progress, set_up),
    };
    return cmocka_run_group_tests_name("ct_recall", tests, test_place_start, test_place_stop);
}
