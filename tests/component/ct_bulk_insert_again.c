/* Segments without a place whose tasks are enqueued again: all of a segment gets its place, or nothing changes. */
#include <stdio.h>
#include <string.h>

#include "protocol/scripts.h"
#include "support/queue.h"

#define Q "reeve:{q}:"
enum { MAX = 2000 };

/* As a transaction leaves them whose script was refused. */
static void lay_without_place(int p, int count)
{
    const rv_reply *reply;
    char segment[16], many[16];
    (void)snprintf(segment, sizeof(segment), "%d", p);
    (void)snprintf(many, sizeof(many), "%d", count);
    rv_cmd(test_conn, 6);
    rv_args(test_conn, "EVAL");
    rv_args(test_conn,
            "for i = 1, tonumber(ARGV[2]) do\n"
            "  local id = 'p' .. ARGV[1] .. '.' .. i\n"
            "  redis.call('RPUSH', KEYS[1] .. 'segment:' .. ARGV[1], id)\n"
            "  redis.call('HSET', KEYS[1] .. 'tasks', id, '{\"at\":1,\"p\":' .. ARGV[1] .. ',\"type\":\"t\"}\\n')\n"
            "end");
    rv_args(test_conn, "1");
    rv_args(test_conn, Q);
    rv_args(test_conn, segment);
    rv_args(test_conn, many);
    assert_int_equal(rv_conn_call(test_conn, test_patience(), &reply), REEVE_OK);
}

/* The first task of each of some segments, and some new ones. */
static const rv_reply *send_again(int segments, int others)
{
    static char ids[MAX][16];
    const rv_reply *reply;
    rv_cmd_script(test_conn, &rv_script_enqueue, 1, 1 + 3 * (size_t)(segments + others));
    rv_args(test_conn, Q);
    rv_args(test_conn, "1");
    for (int i = 0; i < segments + others; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), i < segments ? "p%d.1" : "n%d", i);
        rv_args(test_conn, ids[i]);
        rv_args(test_conn, "");
        rv_args(test_conn, "\"type\":\"t\"}\n");
    }
    (void)rv_conn_call(test_conn, test_patience(), &reply);
    return reply;
}

static void tasks_of_many_segments_are_sent_again(void **state)
{
    (void)state;
    for (int p = 0; p < 5; p++) lay_without_place(p, 1024);
    char before[64];
    rv_copy_text(before, sizeof(before), test_digest());
    const rv_reply *reply = send_again(5, 0);
    assert_true(rv_reply_is(reply, RV_ERROR));
    assert_non_null(strstr(reply->text, "send fewer in one call"));
    assert_string_equal(test_digest(), before);
    /* As many as a call takes, and new ones with them. */
    (void)test_cmd(test_conn, "DEL " Q "segment:2 " Q "segment:3 " Q "segment:4");
    reply = send_again(2, MAX - 2);
    if (!rv_reply_is(reply, RV_ARRAY)) fail_msg("%s", test_reply_text(reply));
    assert_int_equal(test_number("ZCARD " Q "ready"), 2 * 1024 + MAX - 2);
    assert_int_equal(test_number("EXISTS " Q "segment:0 " Q "segment:1"), 0);
}

/* What a repeated call may not do as a whole it does not begin: a task of the segment would be ready, and have no place
 * once more in its list, from which the next call would take it when it has run. */
static void a_segment_that_cannot_get_its_place_waits_for_the_next_call(void **state)
{
    static const char *const rights[] = {"del", "zadd", "lpop", "lpush", "zrem"};
    test_hand hand;
    (void)state;
    lay_without_place(0, 4);
    char before[64];
    rv_copy_text(before, sizeof(before), test_digest());
    for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER default -%s", rights[i]), "OK");
        const bool is_refused = rv_reply_is(send_again(1, 0), RV_ERROR);
        assert_string_equal(test_cmd(test_conn, "ACL SETUSER default +%s", rights[i]), "OK");
        if (!is_refused) fail_msg("without %s", rights[i]);
        assert_string_equal(test_digest(), before);
    }
    assert_true(rv_reply_is(send_again(1, 0), RV_ARRAY));
    test_hand_init(&hand, "1", "q");
    assert_int_equal(test_lease(&hand, 9), 4);
    assert_true(rv_reply_is(send_again(1, 0), RV_ARRAY));
    assert_int_equal(test_number("EXISTS " Q "ready"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(tasks_of_many_segments_are_sent_again, test_place_empty),
        cmocka_unit_test_setup(a_segment_that_cannot_get_its_place_waits_for_the_next_call, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_bulk_insert_again", tests, test_place_start, test_place_stop);
}
