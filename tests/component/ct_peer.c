/* Replies that no real Redis gives, and hanging up at every byte of one that it does. */
#include "support/peer.h"

#include <stdio.h>
#include <string.h>

#include "support/redis.h"

static const peer_step no_script[] = {{PEER_END, 0, NULL, 0}};

typedef struct heard {
    size_t count;
    size_t last;
    char text[64];
} heard;

static void hear(size_t index, const rv_reply *reply, void *context)
{
    heard *ear = context;
    ear->count++;
    ear->last = index;
    rv_copy_text(ear->text, sizeof(ear->text), reply->text);
}

static void build(rv_conn *conn, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rv_cmd(conn, 2);
        rv_args(conn, "GET");
        rv_args(conn, "key");
    }
}

/* Plays the script against an exchange of count commands. */
static reeve_status exchange(const peer_step *script, size_t count, heard *ear, rv_error *error)
{
    test_peer *peer = test_peer_start(script);
    rv_conn *conn = test_peer_conn(peer, NULL, PEER_PATIENCE);
    *ear = (heard){0};
    assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
    build(conn, count);
    reeve_status status = rv_conn_exec(conn, 0, hear, ear);
    *error = *rv_conn_error(conn);
    assert_int_equal(rv_conn_is_open(conn), status == REEVE_OK);
    assert_int_equal(rv_conn_pending(conn), 0);
    rv_conn_destroy(conn);
    test_peer_stop(peer);
    return status;
}

static void whole_replies_in_single_bytes(void **state)
{
    (void)state;
    static const peer_step script[] = {PEER_HANDSHAKE,
                                       {PEER_COMMANDS, 2, NULL, 0},
                                       PEER_DRIBBLE("$5\r\nhe\r\no\r\n*2\r\n:1\r\n+x\r\n"),
                                       {PEER_STALL, 0, NULL, 0}};
    heard ear;
    rv_error error;
    assert_int_equal(exchange(script, 2, &ear, &error), REEVE_OK);
    assert_int_equal(ear.count, 2);
}

static void half_a_reply_and_the_end(void **state)
{
    (void)state;
    static const char reply[] = "*2\r\n$5\r\nhello\r\n:12\r\n";
    for (size_t cut = 0; cut < sizeof(reply) - 1; cut++) {
        const peer_step script[] = {PEER_HANDSHAKE,
                                    {PEER_COMMANDS, 1, NULL, 0},
                                    {PEER_SEND, cut, reply, 0},
                                    {PEER_CLOSE, 0, NULL, 0},
                                    no_script[0]};
        heard ear;
        rv_error error;
        assert_int_equal(exchange(script, 1, &ear, &error), REEVE_ELOST);
        assert_int_equal(ear.count, 0);
        assert_non_null(strstr(error.text, "Redis closed the connection"));
        assert_non_null(strstr(error.text, "peer.sock"));
    }
}

/* The first byte has a deadline of its own, and the whole reply the usual one. */
static void a_reply_that_has_begun_is_waited_for(void **state)
{
    (void)state;
    enum { BEGINS_MS = 200, COMMAND_MS = 1200 };
    static const peer_step begun[] = {PEER_HANDSHAKE,
                                      {PEER_COMMANDS, 1, NULL, 0},
                                      PEER_SAY("$5\r\nhal"),
                                      {PEER_STALL, 0, NULL, 0},
                                      {PEER_END, 0, NULL, 0}};
    static const peer_step silent[] = {
        PEER_HANDSHAKE, {PEER_COMMANDS, 1, NULL, 0}, {PEER_STALL, 0, NULL, 0}, {PEER_END, 0, NULL, 0}};
    for (int i = 0; i < 2; i++) {
        const rv_reply *reply;
        test_peer *peer = test_peer_start(i == 0 ? begun : silent);
        rv_conn *conn = test_peer_conn(peer, NULL, COMMAND_MS);
        assert_int_equal(rv_conn_open(conn, rv_deadline(PEER_PATIENCE)), REEVE_OK);
        build(conn, 1);
        int64_t began = rv_now_ms();
        assert_int_equal(rv_conn_call_begun_by(conn, began + BEGINS_MS, &reply), REEVE_ETIMEOUT);
        int64_t took = rv_now_ms() - began;
        if (i == 0 ? took < COMMAND_MS : took < BEGINS_MS || took >= COMMAND_MS)
            fail_msg("%d: %lld ms", i, (long long)took);
        rv_conn_destroy(conn);
        test_peer_stop(peer);
    }
}

static void the_end_after_some_replies(void **state)
{
    (void)state;
    static const peer_step script[] = {PEER_HANDSHAKE,
                                       {PEER_COMMANDS, 3, NULL, 0},
                                       PEER_SAY("$1\r\na\r\n$1\r\nb\r\n"),
                                       {PEER_CLOSE, 0, NULL, 0},
                                       {PEER_END, 0, NULL, 0}};
    heard ear;
    rv_error error;
    assert_int_equal(exchange(script, 3, &ear, &error), REEVE_ELOST);
    assert_int_equal(ear.count, 2);
    assert_int_equal(ear.last, 1);
    assert_string_equal(ear.text, "b");
}

static void garbage(void **state)
{
    (void)state;
    static const char *const lines[] = {"HTTP/1.1 400 Bad Request\r\n",
                                        "$x\r\n",
                                        "$-2\r\n",
                                        ":1x\r\n",
                                        "*-2\r\n",
                                        "*99999999999\r\n",
                                        "$9223372036854775807\r\n",
                                        "$600000000\r\n",
                                        "$3\r\nabcdef\r\n",
                                        "\r\n",
                                        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
                                        "%1\r\n"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const peer_step script[] = {PEER_HANDSHAKE,
                                    {PEER_COMMANDS, 1, NULL, 0},
                                    {PEER_SEND, strlen(lines[i]), lines[i], 0},
                                    {PEER_STALL, 0, NULL, 0}};
        heard ear;
        rv_error error;
        if (exchange(script, 1, &ear, &error) != REEVE_EPROTO) fail_msg("%s: %s", lines[i], error.text);
        assert_int_equal(ear.count, 0);
        assert_non_null(strstr(error.text, "not a reply of Redis"));
    }
}

/* Declared in a few bytes, and never sent: it must cost neither memory nor a wait for ever. */
static void a_huge_array_that_never_comes(void **state)
{
    (void)state;
    static const peer_step script[] = {PEER_HANDSHAKE,
                                       {PEER_COMMANDS, 1, NULL, 0},
                                       PEER_SAY("*2147483647\r\n:1\r\n"),
                                       {PEER_CLOSE, 0, NULL, 0},
                                       {PEER_END, 0, NULL, 0}};
    heard ear;
    rv_error error;
    assert_int_equal(exchange(script, 1, &ear, &error), REEVE_ELOST);
}

static void a_line_without_end(void **state)
{
    (void)state;
#define A20 "aaaaaaaaaaaaaaaaaaaa"
    static const peer_step script[] = {PEER_HANDSHAKE,
                                       {PEER_COMMANDS, 1, NULL, 0},
                                       PEER_SAY("+"),
                                       {PEER_REPEAT, 30000, A20 A20 A20 A20, 0},
                                       {PEER_STALL, 0, NULL, 0}};
    heard ear;
    rv_error error;
    assert_int_equal(exchange(script, 1, &ear, &error), REEVE_EPROTO);
    assert_non_null(strstr(error.text, "line"));
#undef A20
}

static void more_replies_than_commands(void **state)
{
    (void)state;
    static const peer_step script[] = {
        PEER_HANDSHAKE, {PEER_COMMANDS, 1, NULL, 0}, PEER_SAY(":1\r\n:2\r\n"), {PEER_STALL, 0, NULL, 0}};
    heard ear;
    rv_error error;
    assert_int_equal(exchange(script, 1, &ear, &error), REEVE_EPROTO);
    assert_int_equal(ear.count, 1);
    assert_non_null(strstr(error.text, "more replies than commands"));
}

static void fewer_replies_than_commands(void **state)
{
    (void)state;
    static const peer_step script[] = {
        PEER_HANDSHAKE, {PEER_COMMANDS, 2, NULL, 0}, PEER_SAY(":1\r\n"), {PEER_STALL, 0, NULL, 0}};
    test_peer *peer = test_peer_start(script);
    rv_conn *conn = test_peer_conn(peer, NULL, PEER_PATIENCE);
    heard ear = {0};
    assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
    build(conn, 2);
    int64_t begun = rv_now_ms();
    assert_int_equal(rv_conn_exec(conn, rv_deadline(100), hear, &ear), REEVE_ETIMEOUT);
    assert_true(rv_now_ms() - begun >= 100);
    assert_int_equal(ear.count, 1);
    assert_false(rv_conn_is_open(conn));
    rv_conn_destroy(conn);
    test_peer_stop(peer);
}

/* ---- at the handshake ------------------------------------------------------------------------------------------ */

static void open_fails(const char *answer, size_t length, bool stay, const char *words)
{
    const peer_step script[] = {{PEER_COMMANDS, 2, NULL, 0},
                                {PEER_SEND, length, answer, 0},
                                {stay ? PEER_STALL : PEER_CLOSE, 0, NULL, 0},
                                no_script[0]};
    test_peer *peer = test_peer_start(script);
    rv_conn *conn = test_peer_conn(peer, NULL, 200);
    assert_int_equal(rv_conn_open(conn, 0), REEVE_ECONNECT);
    assert_false(rv_conn_is_open(conn));
    assert_int_equal(rv_conn_epoch(conn), 0);
    if (!strstr(rv_conn_error(conn)->text, words)) fail_msg("%s", rv_conn_error(conn)->text);
    assert_non_null(strstr(rv_conn_error(conn)->text, test_peer_url(peer)));
    rv_conn_destroy(conn);
    test_peer_stop(peer);
}

static void handshakes_that_fail(void **state)
{
    (void)state;
#define ANSWER(text) text, sizeof(text) - 1
    open_fails(ANSWER(""), false, "Redis closed the connection");
    open_fails(ANSWER(""), true, "did not answer in time");
    open_fails(ANSWER("220 mail.example ESMTP\r\n"), true, "not a reply of Redis");
    open_fails(ANSWER("-ERR max number of clients reached\r\n"), false, "max number of clients");
    open_fails(ANSWER("-NOAUTH Authentication required.\r\n-NOAUTH Authentication required.\r\n"), true, "password");
    open_fails(ANSWER(":1\r\n-LOADING Redis is loading the dataset in memory\r\n"), true, "Redis is loading its data");
    open_fails(ANSWER(":1\r\n-MASTERDOWN Link with MASTER is down\r\n"), true, "master");
    open_fails(ANSWER(":1\r\n:2\r\n"), true, "does not answer as Redis does");
#undef ANSWER
}

static void handshakes_that_do(void **state)
{
    (void)state;
    static const char *const answers[] = {
        "-NOPERM this user has no permissions\r\n-NOPERM this user has no permissions\r\n",
        "-ERR unknown command 'CLIENT'\r\n-BUSY Redis is busy running a script\r\n",
        "-ERR Unknown subcommand or wrong number of arguments for 'ID'\r\n-MISCONF Redis is configured to save\r\n"};
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        const peer_step script[] = {
            {PEER_COMMANDS, 2, NULL, 0}, {PEER_SEND, strlen(answers[i]), answers[i], 0}, {PEER_STALL, 0, NULL, 0}};
        test_peer *peer = test_peer_start(script);
        rv_conn *conn = test_peer_conn(peer, NULL, PEER_PATIENCE);
        if (rv_conn_open(conn, 0) != REEVE_OK) fail_msg("%s", rv_conn_error(conn)->text);
        assert_int_equal(rv_conn_id(conn), 0);
        rv_conn_destroy(conn);
        test_peer_stop(peer);
    }
}

/* ---- scripts --------------------------------------------------------------------------------------------------- */

static const rv_script script_a = {"a", "return 1", 8, "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"};

/* Loaded, forgotten before it is called again, and only then given up. */
static void a_script_that_is_never_known(void **state)
{
    (void)state;
    static const peer_step script[] = {
        PEER_HANDSHAKE,
        {PEER_COMMANDS, 2, NULL, 0},
        PEER_SAY("-NOSCRIPT No matching script.\r\n+PONG\r\n"),
        {PEER_COMMANDS, 2, NULL, 0},
        PEER_SAY("$40\r\ne0e1f9fabfc9d4800c877a703b823ac0578ff8db\r\n-NOSCRIPT again\r\n"),
        {PEER_STALL, 0, NULL, 0}};
    test_peer *peer = test_peer_start(script);
    rv_conn *conn = test_peer_conn(peer, NULL, PEER_PATIENCE);
    heard ear = {0};
    assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
    rv_cmd_script(conn, &script_a, 0, 0);
    rv_cmd(conn, 1);
    rv_args(conn, "PING");
    assert_int_equal(rv_conn_exec(conn, 0, hear, &ear), REEVE_OK);
    assert_int_equal(ear.count, 2);
    assert_int_equal(ear.last, 0);
    assert_string_equal(ear.text, "NOSCRIPT again");
    rv_conn_destroy(conn);
    test_peer_stop(peer);
}

static void a_script_that_will_not_load(void **state)
{
    (void)state;
    static const peer_step script[] = {PEER_HANDSHAKE,
                                       {PEER_COMMANDS, 1, NULL, 0},
                                       PEER_SAY("-NOSCRIPT No matching script.\r\n"),
                                       {PEER_COMMANDS, 2, NULL, 0},
                                       PEER_SAY("-NOPERM no SCRIPT LOAD for you\r\n-NOSCRIPT No matching script.\r\n"),
                                       {PEER_STALL, 0, NULL, 0}};
    test_peer *peer = test_peer_start(script);
    rv_conn *conn = test_peer_conn(peer, NULL, PEER_PATIENCE);
    const rv_reply *reply;
    assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
    rv_cmd_script(conn, &script_a, 0, 0);
    assert_int_equal(rv_conn_call(conn, 0, &reply), REEVE_EREDIS);
    assert_string_equal(reply->text, "NOPERM no SCRIPT LOAD for you");
    assert_int_equal(reply->length, strlen(reply->text));
    assert_true(rv_conn_is_open(conn));
    rv_conn_destroy(conn);
    test_peer_stop(peer);
}

/* ---- the connection after ------------------------------------------------------------------------------------- */

static void a_new_connection_begins_afresh(void **state)
{
    (void)state;
    static const peer_step script[] = {
        PEER_HANDSHAKE, {PEER_COMMANDS, 1, NULL, 0}, PEER_SAY("*2\r\n$10\r\nabc"), {PEER_CLOSE, 0, NULL, 0},
        PEER_HANDSHAKE, {PEER_COMMANDS, 1, NULL, 0}, PEER_SAY("+fresh\r\n"),       {PEER_STALL, 0, NULL, 0}};
    test_peer *peer = test_peer_start(script);
    rv_conn *conn = test_peer_conn(peer, NULL, PEER_PATIENCE);
    assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
    assert_int_equal(rv_conn_id(conn), 7);
    assert_int_equal(strncmp(test_cmd(conn, "GET a"), "(5)", 3), 0);
    assert_int_equal(rv_conn_id(conn), 0);
    assert_int_equal(strncmp(test_cmd(conn, "GET a"), "(4)", 3), 0);
    assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
    assert_int_equal(rv_conn_epoch(conn), 2);
    assert_string_equal(test_cmd(conn, "GET a"), "fresh");
    rv_conn_destroy(conn);
    test_peer_stop(peer);
}

static void replies_pile_up_while_we_send(void **state)
{
    (void)state;
    /* It answers everything before it has read anything more: who only writes would wait for ever. */
    enum { COMMANDS = 200, SIZE = 60000, REPLIES = COMMANDS };
    static char value[SIZE], text[SIZE + 32];
    memset(value, 'v', SIZE);
    (void)snprintf(text, sizeof(text), "$%d\r\n%.*s\r\n", SIZE, SIZE, value);
    const peer_step script[] = {PEER_HANDSHAKE,
                                {PEER_BYTES, 1, NULL, 0},
                                {PEER_REPEAT, REPLIES, text, 0},
                                {PEER_BYTES, (size_t)COMMANDS * SIZE, NULL, 0},
                                {PEER_STALL, 0, NULL, 0}};
    test_peer *peer = test_peer_start(script);
    rv_conn *conn = test_peer_conn(peer, NULL, PEER_PATIENCE);
    heard ear = {0};
    assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
    for (size_t i = 0; i < COMMANDS; i++) {
        rv_cmd(conn, 2);
        rv_args(conn, "ECHO");
        rv_arg(conn, value, SIZE);
    }
    assert_int_equal(rv_conn_exec(conn, 0, hear, &ear), REEVE_OK);
    assert_int_equal(ear.count, COMMANDS);
    rv_conn_destroy(conn);
    test_peer_stop(peer);
}

/* All replies are in before all is sent: there is nothing left to wait for. */
static void an_answer_before_the_question(void **state)
{
    (void)state;
    enum { SIZE = 8000000 };
    static char value[SIZE];
    static const peer_step script[] = {PEER_HANDSHAKE,
                                       {PEER_BYTES, 1, NULL, 0},
                                       PEER_SAY(":1\r\n"),
                                       {PEER_BYTES, SIZE, NULL, 0},
                                       {PEER_STALL, 0, NULL, 0}};
    test_peer *peer = test_peer_start(script);
    rv_conn *conn = test_peer_conn(peer, NULL, PEER_PATIENCE);
    heard ear = {0};
    assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
    rv_cmd(conn, 2);
    rv_args(conn, "ECHO");
    rv_arg(conn, value, SIZE);
    assert_int_equal(rv_conn_exec(conn, 0, hear, &ear), REEVE_OK);
    assert_int_equal(ear.count, 1);
    rv_conn_destroy(conn);
    test_peer_stop(peer);
}

/* Messages may come in the same bytes as the answer to SUBSCRIBE. */
static void messages_right_behind_the_subscription(void **state)
{
    (void)state;
    static const peer_step script[] = {PEER_HANDSHAKE,
                                       {PEER_COMMANDS, 1, NULL, 0},
                                       PEER_SAY("*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"
                                                "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n"),
                                       {PEER_STALL, 0, NULL, 0}};
    test_peer *peer = test_peer_start(script);
    rv_conn *conn = test_peer_conn(peer, NULL, PEER_PATIENCE);
    const rv_reply *reply;
    assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
    assert_string_equal(test_cmd(conn, "SUBSCRIBE c"), "[subscribe c 1]");
    assert_int_equal(rv_conn_receive(conn, 0, &reply), REEVE_OK);
    assert_string_equal(test_reply_text(reply), "[message c hi]");
    rv_conn_destroy(conn);
    test_peer_stop(peer);
}

/* It has hung up before we write, with its reason still to be read. */
static void the_reason_is_read_before_the_end(void **state)
{
    (void)state;
    static const peer_step script[] = {PEER_HANDSHAKE,
                                       PEER_SAY("-ERR closing down\r\n"),
                                       {PEER_CLOSE, 0, NULL, 0},
                                       PEER_HANDSHAKE,
                                       {PEER_STALL, 0, NULL, 0}};
    test_peer *peer = test_peer_start(script);
    rv_conn *conn = test_peer_conn(peer, NULL, PEER_PATIENCE), *next = test_peer_conn(peer, NULL, PEER_PATIENCE);
    heard ear = {0};
    assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
    assert_int_equal(rv_conn_open(next, 0), REEVE_OK); /* it takes one after the other: the first is closed */
    build(conn, 2);
    assert_int_equal(rv_conn_exec(conn, 0, hear, &ear), REEVE_ELOST);
    assert_int_equal(ear.count, 1);
    assert_string_equal(ear.text, "ERR closing down");
    rv_conn_destroy(next);
    rv_conn_destroy(conn);
    test_peer_stop(peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_replies_in_single_bytes),
        cmocka_unit_test(half_a_reply_and_the_end),
        cmocka_unit_test(a_reply_that_has_begun_is_waited_for),
        cmocka_unit_test(the_end_after_some_replies),
        cmocka_unit_test(garbage),
        cmocka_unit_test(a_huge_array_that_never_comes),
        cmocka_unit_test(a_line_without_end),
        cmocka_unit_test(more_replies_than_commands),
        cmocka_unit_test(fewer_replies_than_commands),
        cmocka_unit_test(handshakes_that_fail),
        cmocka_unit_test(handshakes_that_do),
        cmocka_unit_test(a_script_that_is_never_known),
        cmocka_unit_test(a_script_that_will_not_load),
        cmocka_unit_test(a_new_connection_begins_afresh),
        cmocka_unit_test(replies_pile_up_while_we_send),
        cmocka_unit_test(an_answer_before_the_question),
        cmocka_unit_test(messages_right_behind_the_subscription),
        cmocka_unit_test(the_reason_is_read_before_the_end),
    };
    return cmocka_run_group_tests_name("ct_peer", tests, NULL, NULL);
}
