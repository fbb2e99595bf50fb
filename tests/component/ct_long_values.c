/* Long values on a connection: in pieces, with pauses, cut off at any place, and replies of several. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/conn_private.h"
#include "support/peer.h"
#include "support/redis.h"

#define MIB ((size_t)1024 * 1024)
#define ANSWER(length) (length) + 64 /* room for a value and what stands around it */

static char value_at(size_t at)
{
    return (char)(at * 7 + at / 251);
}

/* "*2\r\n$length\r\n...\r\n:5\r\n"; returns how long it is. */
static size_t make_answer(char *answer, size_t length)
{
    size_t head = (size_t)sprintf(answer, "*2\r\n$%zu\r\n", length);
    for (size_t i = 0; i < length; i++) answer[head + i] = value_at(i);
    memcpy(answer + head + length, "\r\n:5\r\n", 6);
    return head + length + 6;
}

static void check_answer(const rv_reply *reply, size_t length)
{
    const rv_reply *value = rv_reply_at(reply, 0);
    assert_true(rv_reply_is(value, RV_TEXT));
    assert_int_equal(value->length, length);
    for (size_t i = 0; i < length; i++)
        if (value->text[i] != value_at(i)) fail_msg("byte %zu of %zu", i, length);
    assert_int_equal(value->text[length], 0);
    assert_int_equal(rv_reply_int(rv_reply_at(reply, 1), 0), 5);
}

static reeve_status ask(rv_conn *conn, int64_t deadline, const rv_reply **ret)
{
    rv_cmd(conn, 1);
    rv_args(conn, "ASK");
    return rv_conn_call(conn, deadline, ret);
}

/* ---- pieces ---------------------------------------------------------------------------------------------------- */

static void in_pieces(void **state)
{
    (void)state;
    static const size_t lengths[] = {RV_PLACED_MIN - 1, RV_PLACED_MIN, 40000, 300000};
    static const size_t pieces[] = {997, 8192, 32 * 1024, 100000};
    static char answer[ANSWER(300000)];
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        size_t total = make_answer(answer, lengths[i]);
        for (size_t j = 0; j < sizeof(pieces) / sizeof(pieces[0]); j++) {
            const peer_step script[] = {PEER_HANDSHAKE,
                                        {PEER_COMMANDS, 1, NULL, 0},
                                        {PEER_SEND, total, answer, pieces[j]},
                                        {PEER_COMMANDS, 1, NULL, 0},
                                        {PEER_SEND, total, answer, pieces[j]},
                                        {PEER_STALL, 0, NULL, 0}};
            test_peer *peer = test_peer_start(script);
            rv_conn *conn = test_peer_conn(peer, NULL, PEER_PATIENCE);
            const rv_reply *reply;
            assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
            for (int round = 0; round < 2; round++) {
                if (ask(conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(conn)->text);
                check_answer(reply, lengths[i]);
            }
            rv_conn_destroy(conn);
            test_peer_stop(peer);
        }
    }
}

/* A call that is interrupted in the middle of a value finds the rest when it goes on. */
static void interrupted_and_resumed(void **state)
{
    (void)state;
    static char answer[ANSWER(MIB)];
    size_t total = make_answer(answer, MIB);
    const peer_step script[] = {PEER_HANDSHAKE,
                                {PEER_COMMANDS, 1, NULL, 0},
                                {PEER_SEND, total / 2, answer, 0},
                                {PEER_COMMANDS, 1, NULL, 0},
                                {PEER_SEND, total - total / 2, answer + total / 2, 0},
                                {PEER_STALL, 0, NULL, 0}};
    test_peer *peer = test_peer_start(script);
    rv_waker waker;
    const rv_reply *reply;
    rv_error error;
    assert_int_equal(rv_waker_init(&waker, &error), REEVE_OK);
    rv_conn *conn = test_peer_conn(peer, &waker, PEER_PATIENCE);
    assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
    rv_cmd(conn, 1);
    rv_args(conn, "ASK");
    rv_waker_ring(&waker); /* (what is there is read before it is heard) */
    assert_int_equal(rv_conn_call_blocking(conn, 0, &reply), REEVE_EINTERRUPTED);
    assert_null(reply);
    rv_waker_silence(&waker);
    assert_int_equal(rv_transport_write(&conn->transport, "*1\r\n$2\r\nGO\r\n", 12), 12);
    assert_int_equal(rv_conn_resume(conn, 0, &reply), REEVE_OK);
    check_answer(reply, MIB);
    rv_conn_destroy(conn);
    rv_waker_fini(&waker);
    test_peer_stop(peer);
}

/* Two arenas that change hands, as a worker's thread has them. */
static void taken_over(void **state)
{
    (void)state;
    enum { ROUNDS = 6 };
    static char answer[ANSWER(MIB)];
    peer_step script[3 + 2 * ROUNDS] = {PEER_HANDSHAKE};
    for (size_t i = 0; i < ROUNDS; i++) {
        script[2 + 2 * i] = (peer_step){PEER_COMMANDS, 1, NULL, 0};
        script[3 + 2 * i] = (peer_step){PEER_SEND, make_answer(answer, MIB), answer, 0};
    }
    script[2 + 2 * ROUNDS] = (peer_step){PEER_STALL, 0, NULL, 0};
    test_peer *peer = test_peer_start(script);
    rv_conn *conn = test_peer_conn(peer, NULL, PEER_PATIENCE);
    rv_arena mine;
    const rv_reply *reply, *before = NULL;
    rv_arena_init(&mine);
    assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
    for (int i = 0; i < ROUNDS; i++) {
        if (ask(conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(conn)->text);
        if (before) check_answer(before, MIB);
        rv_conn_take_reply(conn, &mine);
        check_answer(reply, MIB);
        before = reply;
    }
    rv_conn_destroy(conn);
    check_answer(before, MIB);
    rv_arena_fini(&mine);
    test_peer_stop(peer);
}

/* ---- cut off --------------------------------------------------------------------------------------------------- */

static void the_end_half_way(void **state)
{
    (void)state;
    static char answer[ANSWER(MIB)];
    size_t total = make_answer(answer, MIB);
    const size_t cuts[] = {5, 13, 14, 15, 2000, 40000, MIB / 2, MIB + 13, MIB + 14, MIB + 15, total - 1};
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        const peer_step script[] = {
            PEER_HANDSHAKE, {PEER_COMMANDS, 1, NULL, 0}, {PEER_SEND, cuts[i], answer, 0}, {PEER_CLOSE, 0, NULL, 0},
            PEER_HANDSHAKE, {PEER_COMMANDS, 1, NULL, 0}, {PEER_SEND, total, answer, 0},   {PEER_STALL, 0, NULL, 0}};
        test_peer *peer = test_peer_start(script);
        rv_conn *conn = test_peer_conn(peer, NULL, PEER_PATIENCE);
        const rv_reply *reply;
        assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
        assert_int_equal(ask(conn, 0, &reply), REEVE_ELOST);
        assert_null(reply);
        assert_true(conn->reader.arena.held < MIB);
        assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
        if (ask(conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(conn)->text);
        check_answer(reply, MIB);
        rv_conn_destroy(conn);
        test_peer_stop(peer);
    }
}

static void the_rest_never_comes(void **state)
{
    (void)state;
    static char answer[ANSWER(MIB)];
    (void)make_answer(answer, MIB);
    const peer_step script[] = {
        PEER_HANDSHAKE, {PEER_COMMANDS, 1, NULL, 0}, {PEER_SEND, MIB / 2, answer, 0}, {PEER_STALL, 0, NULL, 0}};
    test_peer *peer = test_peer_start(script);
    rv_conn *conn = test_peer_conn(peer, NULL, PEER_PATIENCE);
    const rv_reply *reply;
    assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
    assert_int_equal(ask(conn, rv_deadline(200), &reply), REEVE_ETIMEOUT);
    assert_false(rv_conn_is_open(conn));
    assert_true(conn->reader.arena.held < MIB);
    rv_conn_destroy(conn);
    test_peer_stop(peer);
}

static void a_wrong_end(void **state)
{
    (void)state;
    static char answer[ANSWER(MIB)];
    size_t total = make_answer(answer, MIB);
    answer[total - 6] = 'x';
    const peer_step script[] = {
        PEER_HANDSHAKE, {PEER_COMMANDS, 1, NULL, 0}, {PEER_SEND, total, answer, 0}, {PEER_STALL, 0, NULL, 0}};
    test_peer *peer = test_peer_start(script);
    rv_conn *conn = test_peer_conn(peer, NULL, PEER_PATIENCE);
    const rv_reply *reply;
    assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
    assert_int_equal(ask(conn, 0, &reply), REEVE_EPROTO);
    assert_false(rv_conn_is_open(conn));
    rv_conn_destroy(conn);
    test_peer_stop(peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_pieces),        cmocka_unit_test(interrupted_and_resumed), cmocka_unit_test(taken_over),
        cmocka_unit_test(the_end_half_way), cmocka_unit_test(the_rest_never_comes),    cmocka_unit_test(a_wrong_end),
    };
    return cmocka_run_group_tests_name("ct_long_values", tests, NULL, NULL);
}
