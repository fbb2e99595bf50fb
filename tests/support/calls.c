#include "support/calls.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/depend.h"

#define Q "reeve:{q}:"
#define SESSION "by_hand-00000001"
#define LEASE "1 1"
#define REST "\"type\":\"t\",\"unique\":\"k\"}\n"

#define CALL(name, ...)                                      \
    {                                                        \
        .script = &rv_script_##name, .args = { __VA_ARGS__ } \
    }
#define IN_SESSION(name, ...)                                                  \
    {                                                                          \
        .script = &rv_script_##name, .args = {__VA_ARGS__}, .in_session = true \
    }

const test_script_call test_calls[] = {
    CALL(enqueue, "plain", "n", REST),
    CALL(enqueue, "idle", "n", REST),
    CALL(enqueue, "plain", "n", "o", "p", "r", REST, REST, REST, REST),
    CALL(enqueue, "0", "n", "{\"unique\":\"k\",\"conflict\":\"replace\"}", REST),
    CALL(enqueue, "0", "n", "{\"tags\":[\"a\"],\"in\":9}", REST, "o", "{\"after\":[[\"q/x\",\"f\"]]}", REST),
    CALL(enqueue, "again 5", "n", "", REST),
    CALL(enqueue, "carried far 7 3", "n", "", REST),
    CALL(enqueue, "bulk", "1", "2", "4"),
    IN_SESSION(turn, "1", "2", "1", "idle", SESSION),
    CALL(begin_session, "other-00000001", "60000", "{\"worker\":\"other\"}"),
    IN_SESSION(turn, "1", "2", "1", "woken", "other-00000001"),
    IN_SESSION(turn, "1", "0", "0", "", "1", SESSION, LEASE, "1", "x", "0"),
    IN_SESSION(turn, "1", "0", "0", "", "1", SESSION, "", "1", "x", "1", "results", "1", "r"),
    IN_SESSION(turn, "1", "0", "0", "", "1", SESSION, "", "0", "1", "done", "x", "r", "1", "i1cd"),
    IN_SESSION(turn, "1", "0", "0", "", "1", SESSION, "", "0", "1", "retry", "x", "5", "k", "m"),
    IN_SESSION(turn, "1", "0", "0", "", "1", SESSION, "", "0", "1", "fail", "x", "1", "k", "m"),
    IN_SESSION(turn, "1", "0", "0", "", "1", SESSION, "", "0", "1", "snooze", "x", "5", "1", ""),
    IN_SESSION(turn, "1", "0", "0", "", "1", SESSION, "", "0", "1", "crash", "x", "3", "m", "b"),
    IN_SESSION(turn, "1", "0", "0", "", "1", SESSION, "", "0", "1", "crash", "x", "1", "m", ""),
    IN_SESSION(turn, "1", "0", "0", "", "1", SESSION, "", "0", "1", "chain", "x", "q/n", "", REST),
    IN_SESSION(recover, SESSION, "1", "0"),
    IN_SESSION(wake_idle, SESSION),
    IN_SESSION(regain, SESSION, "x", LEASE),
    IN_SESSION(heartbeat, SESSION, "60000", "9", "20000", "1", "1", "ended", "5", "kind", "1", "2", "type", "1", "0",
               "0", "1", "5", "5", "5", "1", "900", "900", "900"),
    CALL(heartbeat, "", "60000"),
    IN_SESSION(end_session, SESSION, "100"),
    CALL(maintain, "100", "60000"),
    CALL(reap, "100", "60000"),
    CALL(fan, "25"),
    IN_SESSION(progress, SESSION, "x", "5", "words"),
    IN_SESSION(checkpoint, SESSION, "x", "bytes"),
    IN_SESSION(log, SESSION, "x", LEASE, "1", "line", "100"),
    IN_SESSION(once, SESSION, "x"),
    IN_SESSION(suspect, SESSION, "x", "alone"),
    IN_SESSION(block, SESSION, LEASE, "x", "q/r f far/y w", "q/n", "", REST),
    IN_SESSION(block, SESSION, LEASE, "x", "far/n g", "far/n", "{\"after\":[[\"q/x\",\"f\"]]}", REST),
    CALL(show, "x"),
    CALL(result, "c"),
    CALL(cancelled, "x"),
    CALL(list, "ready", "0", "10", "", ""),
    CALL(list, "dead", "0", "10", "k"),
    CALL(stat, NULL),
    CALL(overview, "reeve", "workers", "cron", "ready", "10"),
    CALL(overdue, NULL),
    CALL(why, "b", ""),
    CALL(stats, "0", "3"),
    CALL(retry, "d"),
    CALL(retry, "c", "completed"),
    CALL(edit, "r", "payload", "p", "group", "\"g\"", "tag", "t", "meta", "\"k\":\"v\""),
    CALL(edit, "x", "untag", "a"),
    CALL(move, "r", "far"),
    CALL(move, "d", "far"),
    CALL(arrive, "look", "n", "k"),
    CALL(arrive, "far 7 3", "n", "{\"info\":[],\"parents\":[[\"q/x\",\"fe\",\"0\",\"\",\"\"]],\"children\":[]}",
         "{\"at\":1,\"type\":\"t\"}\n"),
    CALL(forget, "", "100", "0"),
    CALL(forget, "ts", "100", "0"),
    CALL(unlock, "k"),
    CALL(add_log, "d", "line", "100", "call"),
    CALL(cancel, "p", "", "a reason"),
    CALL(expire, "x"),
    IN_SESSION(lease_task, "r", SESSION, "1"),
    CALL(fail, "x", "k", "m"),
    CALL(fail, "b", "k", "m"),
    CALL(cancel, "p", "cascade"),
    CALL(delete, "c", ""),
    CALL(wait, "x", "60000"),
    CALL(wait_look, "x"),
    CALL(pause, "1"),
    CALL(reschedule, "r", "in", "60000"),
    CALL(reschedule, "r", "priority", "-5"),
    CALL(settings, "completed_age", "1000", "dead_count", "-1", "on_dead", "t", "result_max", "", "policy",
         "{\"attempts\":3}"),
    CALL(settings, "completed_bytes", "", "stats_days", "0", "configured", "0 1 h"),
    CALL(limit, "", "concurrency", "5", "rate", "1 60000 1", "c:g", "1", "r:g", "0", "s:g", "1", "c-:h", ""),
    CALL(limit, "", "group_concurrency", "2", "group_rate", "5 1000 5", "group_strict", "1"),
    CALL(limit, "- 0"),
    CALL(limits, "0", "10"),
    CALL(pause_for, "", "60000", "0"),
    CALL(pause_for, "g", "60000", "1"),
    CALL(failures, "0", "10"),
    CALL(failure_types, "0", "10"),
    CALL(minutes, "60"),
    CALL(bulk_update, "cancel", "ready", "", "100", "", "", "", "0"),
    CALL(bulk_update, "retry", "dead", "1 9000000000000 1 d", "100", "k", "t", "a", "1"),
    CALL(bulk_look, "ready", "1 9000000000000 1 +1 257", "100", "", "t", "a", "1"),
    CALL(find, "dead", "1 9000000000000 1 d", "100", "k", "t", "a", "1", "limit", "5", "meta", "k", "v"),
    CALL(find, "blocked", "", "100", "", "", "", "0", "parents", "1", "id", "b", "failed", "0", "due_to", "5"),
    CALL(find, "running", "", "100", "", "", "", "0", "worker", "w", "payload", "x"),
    CALL(cron, "set", "n", "{\"spec\":\"every 60s\"}\n" REST),
    CALL(cron, "pause", "e"),
    CALL(cron_look, "get", "e"),
    CALL(cron_look, "list", "0"),
    CALL(fire, "e", "", "-1", "made"),
    CALL(fire, "e", "1", "9000000000000", "made"),
    CALL(tags, "0", "10"),
    CALL(list_by_tag, "a", "", "0", "10"),
    CALL(events, "keep", "100"),
    CALL(events, "listen", "60000"),
    CALL(events_look, ""),
    CALL(depend, "add", "r", "q/x", "f"),
    CALL(depend, "add 3", "r", "far/x", "g"),
    CALL(depend, "remove", "b", "q/p"),
    CALL(signal, "b", "s", "data"),
    CALL(link, "register", "x", "far/child", "fg", "7", "3"),
    CALL(link, "release", "c", "far/child", "7", "8", "3"),
    CALL(link, "unregister", "x", "far/child", "", "7", ""),
    CALL(deliver, "f", "far/p", "completed", ""),
    CALL(outbox, "10 0 1 5", "message"),
    CALL(rights, "reeve"),
    CALL(check, ""),
    CALL(check, "again", "task_lost", "r"),
    CALL(repair, "task_lost", "r"),
};
const size_t test_calls_count = sizeof(test_calls) / sizeof(test_calls[0]);

size_t test_call_args(const test_script_call *call)
{
    size_t count = 0;
    while (call->args[count] != NULL) count++;
    return count;
}

const rv_reply *test_call_send(rv_conn *conn, const test_script_call *call, size_t keys, size_t args,
                               const test_odd *odd)
{
    const rv_reply *reply = NULL;
    rv_cmd_script(conn, call->script, keys, args);
    if (keys > 0) rv_args(conn, Q);
    for (size_t i = 0; i < args; i++) {
        if (odd != NULL && i == odd->at)
            rv_arg(conn, odd->bytes, odd->length);
        else
            rv_args(conn, call->args[i]);
    }
    (void)rv_conn_call(conn, test_patience(), &reply);
    assert_non_null(reply);
    return reply;
}

static void sent(const test_script_call *call)
{
    const rv_reply *reply = test_call_send(test_conn, call, 1, test_call_args(call), NULL);
    if (rv_reply_is(reply, RV_ERROR)) fail_msg("%s: %s", call->script->name, reply->text);
}
#define SENT(name, ...) sent(&(test_script_call)CALL(name, __VA_ARGS__))

void test_calls_prepare(void)
{
    const rv_reply *reply = NULL;
    (void)test_place_empty(NULL);
    test_put("q", "x d c");
    SENT(begin_session, SESSION, "60000", "{\"worker\":\"by_hand\"}");
    SENT(turn, "1", "3", "1", "", SESSION);
    SENT(turn, "1", "0", "0", "", "1", SESSION, "", "0", "2", "fail", "d", "1", "k", "m", "done", "c", "r", "1", "");
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "HSET");
    rv_args(test_conn, Q "running:" SESSION);
    rv_args(test_conn, "x");
    rv_args(test_conn, LEASE);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    test_put_spec((reeve_task_spec){.id = "r", .group = "g", .tags = (const char *const[]){"a"}, .tag_count = 1});
    test_put("q", "p");
    test_put_after("q", "b", "f:q/p");
    test_put_after("q", "f", "f:far/p");
    SENT(limit, "", "c:h", "1", "group_concurrency", "3");
    SENT(cron, "set", "e", "{\"spec\":\"every 60s\"}\n\"type\":\"t\"}\n");
    assert_int_equal(test_number("ZADD " Q "cron:due XX CH 1 e"), 1);
}

static int by_text(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

const char *test_calls_digest(void)
{
    enum { KEYS = 200, KEY = 128 };
    static char text[KEYS * (KEY + 48)], names[KEYS][KEY];
    const char *sorted[KEYS];
    const rv_reply *reply;
    rv_cmd(test_conn, 2);
    rv_args(test_conn, "KEYS");
    rv_args(test_conn, "*");
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    size_t count = 0, length = 0;
    for (const rv_reply *name; (name = rv_reply_at(reply, count)) != NULL; count++) {
        assert_true(count < KEYS);
        rv_copy_text(names[count], KEY, name->text);
        sorted[count] = names[count];
    }
    qsort(sorted, count, sizeof(sorted[0]), by_text);
    rv_cmd(test_conn, 2 + count); /* all keys at once: this is what tests of calls do most */
    rv_args(test_conn, "DEBUG");
    rv_args(test_conn, "DIGEST-VALUE");
    for (size_t i = 0; i < count; i++) rv_args(test_conn, sorted[i]);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sorted[i], Q "sequence") == 0) continue;
        length +=
            (size_t)snprintf(text + length, sizeof(text) - length, "%s %s\n", sorted[i], rv_reply_at(reply, i)->text);
    }
    text[length] = '\0';
    return text;
}

const char *test_calls_difference(const char *before, const char *after)
{
    static char line[256];
    while (*before != '\0' && *before == *after) before++, after++;
    (void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(after, "\n"), after);
    return line;
}

/* It asks for a right, and calls nothing. */
static bool is_question(const char *text, const char *at)
{
    static const char name[] = "acl_check_cmd";
    const size_t length = sizeof(name) - 1;
    return (size_t)(at - text) >= length && memcmp(at - length, name, length) == 0;
}

const char *test_calls_next_command(const char *text, char ret_name[TEST_COMMAND_NAME])
{
    for (const char *at = text; (at = strstr(at, "('")) != NULL;) {
        bool called = !is_question(text, at);
        size_t length = 0;
        for (at += strlen("('"); isupper((unsigned char)*at) && length < TEST_COMMAND_NAME - 1; at++)
            ret_name[length++] = *at;
        ret_name[length] = '\0';
        if (called && length > 1 && *at == '\'') return at;
    }
    return NULL;
}
