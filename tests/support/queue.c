#include "support/queue.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "protocol/scripts.h"
#include "protocol/turn_build.h"
#include "protocol/turn_reply.h"

/* ---- waiting --------------------------------------------------------------------------------------------------- */

int64_t test_patience(void)
{
    const char *slow = getenv("REEVE_TEST_PATIENCE"); /* seconds */
    return rv_deadline(slow ? 1000 * atoll(slow) : 60000);
}

void test_pause(void)
{
    (void)poll(NULL, 0, 2);
}

/* ---- a place --------------------------------------------------------------------------------------------------- */

rv_test_redis *test_redis;
rv_conn *test_conn;
reeve_client *test_client;
test_redis_options test_options;

reeve_client *test_client_open(int64_t timeout_ms)
{
    reeve_client *client;
    char words[512] = "";
    const reeve_client_options options = {.redis = test_redis_url(test_redis), .timeout_ms = timeout_ms};
    if (reeve_client_open_with_error(&client, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    return client;
}

static const char *const debuggable[] = {"--enable-debug-command", "yes", NULL};

/* The worker that hands are of is there: see lib/worker_alive.lua. */
static rv_conn *heeding;

void test_heed(void)
{
    const rv_reply *reply;
    test_heed_no_more();
    heeding = test_conn_open(test_redis);
    rv_cmd(heeding, 2);
    rv_args(heeding, "SUBSCRIBE");
    rv_args(heeding, "reeve:alive:by_hand");
    assert_int_equal(rv_conn_call(heeding, 0, &reply), REEVE_OK);
}

void test_heed_no_more(void)
{
    if (heeding == NULL) return;
    rv_conn_destroy(heeding);
    heeding = NULL;
    TEST_AWAIT(strcmp(test_cmd(test_conn, "PUBSUB NUMSUB reeve:alive:by_hand"), "[reeve:alive:by_hand 0]") == 0);
}

int test_place_start(void **state)
{
    (void)state;
    if (!test_options.extra) test_options.extra = debuggable;
    test_redis = test_redis_start(&test_options);
    test_conn = test_conn_open(test_redis);
    test_client =
        test_client_open(600000); /* (valgrind takes its time over large payloads, all the more on a busy machine) */
    test_heed();
    return 0;
}

int test_place_stop(void **state)
{
    (void)state;
    reeve_client_close(test_client);
    rv_conn_destroy(heeding);
    heeding = NULL;
    rv_conn_destroy(test_conn);
    test_redis_stop(test_redis);
    test_client = NULL;
    test_conn = NULL;
    test_redis = NULL;
    return 0;
}

int test_place_empty(void **state)
{
    (void)state;
    assert_string_equal(test_cmd(test_conn, "FLUSHALL"), "OK");
    return 0;
}

void test_conn_again(void)
{
    rv_conn_close(test_conn);
    if (rv_conn_open(test_conn, test_patience()) != REEVE_OK) fail_msg("%s", rv_conn_error(test_conn)->text);
}

const char *test_digest(void)
{
    const char *digest = test_cmd(test_conn, "DEBUG DIGEST");
    assert_int_equal(strlen(digest), 40);
    return digest;
}

static const char *command(const char *format, va_list args)
{
    char line[1024];
    int length = vsnprintf(line, sizeof(line), format, args);
    assert_true(length > 0 && (size_t)length < sizeof(line));
    return test_cmd(test_conn, "%s", line);
}

void test_age(const char *id)
{
    assert_string_equal(test_cmd(test_conn,
                                 "EVAL return(redis.call('HSET',KEYS[1],ARGV[1],(redis.call('HGET',KEYS[1],ARGV[1])"
                                 ":gsub('\"at\":%%d+','\"at\":1000')))) 1 reeve:{q}:tasks %s",
                                 id),
                        "0");
}

long long test_number(const char *format, ...)
{
    char *end;
    va_list args;
    va_start(args, format);
    const char *text = command(format, args);
    va_end(args);
    long long number = strtoll(text, &end, 10);
    if (*text == '\0' || *end != '\0') fail_msg("%s: no number: %s", format, text);
    return number;
}

uint64_t test_count(const char *queue, const char *state)
{
    reeve_state which;
    reeve_queue_info info;
    assert_int_equal(reeve_state_parse(state, &which), REEVE_OK);
    test_ok(test_client, reeve_queue(test_client, queue, &info));
    return info.count[which];
}

const char *test_state(const char *queue, const char *id)
{
    reeve_task_info *info;
    reeve_status status = reeve_show(test_client, queue, id, &info);
    if (status == REEVE_ENOTFOUND) return "";
    if (status != REEVE_OK) fail_msg("%s", reeve_client_error(test_client));
    reeve_state found = info->state;
    reeve_task_info_free(info);
    return reeve_state_name(found);
}

void test_put_spec(reeve_task_spec spec)
{
    if (!spec.queue) spec.queue = "q";
    if (!spec.type) spec.type = "t";
    test_ok(test_client, reeve_enqueue(test_client, &spec, NULL));
}

void test_put(const char *queue, const char *ids)
{
    char copy[4096], *rest = NULL;
    rv_copy_text(copy, sizeof(copy), ids);
    for (char *id = strtok_r(copy, " ", &rest); id; id = strtok_r(NULL, " ", &rest))
        test_put_spec((reeve_task_spec){.queue = queue, .id = id});
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
void test_put_many(const char *queue, size_t count, const char *format)
{
    reeve_task_spec *specs = calloc(count, sizeof(*specs));
    reeve_enqueued *results = calloc(count, sizeof(*results));
    char(*ids)[REEVE_ID_MAX] = calloc(count, sizeof(*ids));
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), format, i);
        specs[i] = (reeve_task_spec){.queue = queue, .type = "t", .id = ids[i]};
    }
    test_ok(test_client, reeve_enqueue_many(test_client, specs, count, results));
    free(specs);
    free(results);
    free(ids);
}
#pragma GCC diagnostic pop

reeve_task_info *test_show(const char *queue, const char *id)
{
    reeve_task_info *info = NULL;
    test_ok(test_client, reeve_show(test_client, queue, id, &info));
    return info;
}

/* ---- a worker's thread, played by hand ------------------------------------------------------------------------- */

/* As long as a worker's: Redis keeps the session's hash as a table. */
#define ABOUT "{\"worker\":\"by_hand\",\"pid\":1                                                                   }"

void test_hand_init(test_hand *hand, const char *thread, const char *queues)
{
    char copy[256], *rest = NULL;
    *hand = (test_hand){.thread = thread, .session_ms = 60000};
    rv_copy_text(copy, sizeof(copy), queues);
    for (char *queue = strtok_r(copy, " ", &rest); queue; queue = strtok_r(NULL, " ", &rest)) {
        assert_true(hand->queue_count < TEST_QUEUES);
        rv_session_id(hand->sessions[hand->queue_count], "by_hand");
        rv_keys_set_prefix(&hand->prefixes[hand->queue_count++], "reeve", queue);
    }
}

void test_hand_begin(test_hand *hand, const char *thread, const char *queue)
{
    test_hand_init(hand, thread, queue);
    test_put(queue, "begin");
    assert_int_equal(test_lease(hand, 1), 1);
    test_settle(hand, TEST_DONE("begin"));
    test_ok(test_client, reeve_delete(test_client, queue, "begin"));
}

static size_t group(const test_hand *hand, const test_outcome *outcomes, size_t count, const rv_settlement **items,
                    rv_turn_group *groups)
{
    size_t used = 0, group_count = 0;
    for (size_t queue = 0; queue < hand->queue_count; queue++) {
        size_t first = used;
        for (size_t i = 0; i < count; i++)
            if (outcomes[i].queue == queue) items[used++] = &outcomes[i].is;
        if (used == first) continue;
        groups[group_count++] = (rv_turn_group){.prefix = &hand->prefixes[queue],
                                                .session = hand->sessions[queue],
                                                .items = &items[first],
                                                .count = used - first};
    }
    return group_count;
}

bool test_begin(test_hand *hand, size_t queue)
{
    const rv_reply *reply;
    rv_begin_session_reply begun;
    rv_begin_session_call_build(test_conn, &hand->prefixes[queue], hand->sessions[queue], hand->session_ms, ABOUT);
    if (rv_conn_call(test_conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(test_conn)->text);
    assert_true(rv_begin_session_call_read(&begun, reply));
    return begun.alive;
}

/* As a worker does when a turn has said that a task is ready, and the session not there. */
static void begin_where_due(test_hand *hand)
{
    for (size_t i = 0; i < hand->queue_count; i++) {
        const char *prefix = hand->prefixes[i].text;
        if (hand->begun[i] || test_number("EXISTS %sready", prefix) == 0) continue;
        if (test_number("HEXISTS %ssettings paused", prefix) == 0) (void)test_begin(hand, i);
    }
}

void test_turn_build(rv_conn *conn, test_hand *hand, unsigned want, const test_outcome *outcomes, size_t count)
{
    const rv_settlement *items[2 * RV_BATCH_MAX];
    rv_turn_group groups[TEST_QUEUES];
    rv_turn_queue queues[TEST_QUEUES];
    assert_true(count <= 2 * RV_BATCH_MAX);
    if (want > 0) begin_where_due(hand);
    for (size_t i = 0; i < hand->queue_count; i++)
        queues[i] = (rv_turn_queue){.prefix = &hand->prefixes[i], .session = hand->sessions[i]};
    rv_turn turn = {.thread = hand->thread, .want = want, .groups = groups};
    turn.group_count = group(hand, outcomes, count, items, groups);
    if (want > 0) {
        turn.queues = queues;
        turn.queue_count = hand->queue_count;
        turn.hand = hand->hand;
    }
    rv_turn_build(conn, &turn);
}

static void keep_leases(test_hand *hand, const rv_turn_reply *reply)
{
    static rv_lease leases[2 * RV_BATCH_MAX];
    hand->count = rv_turn_reply_leases(reply, TEST_QUEUES, leases, 2 * RV_BATCH_MAX, &hand->bad);
    for (size_t i = 0; i < hand->count; i++) {
        const rv_lease *lease = &leases[i];
        hand->leased[i] = (test_leased){.queue = lease->queue,
                                        .failures = lease->failures,
                                        .crashes = lease->crashes,
                                        .crashed_alone = lease->crashed_alone,
                                        .has_info = lease->has_info,
                                        .wait_ms = rv_lease_wait(lease)};
        rv_copy_text(hand->leased[i].id, REEVE_ID_MAX, lease->id);
        hand->begun[lease->queue] = true;
    }
}

/* Without the brackets. */
static void keep_list(char *target, size_t size, const rv_reply *list)
{
    rv_copy_text(target, size, test_reply_text(list) + 1);
    target[strlen(target) - 1] = '\0';
}

size_t test_turn(test_hand *hand, unsigned want, const test_outcome *outcomes, size_t count)
{
    const rv_reply *reply;
    rv_turn_reply turn;
    test_turn_build(test_conn, hand, want, outcomes, count);
    if (rv_conn_call(test_conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(test_conn)->text);
    assert_true(rv_turn_reply_read(&turn, reply));
    hand->now_ms = turn.now_ms;
    hand->idle = rv_turn_reply_is_idle(&turn);
    keep_list(hand->refused, sizeof(hand->refused), turn.refused);
    keep_list(hand->gone, sizeof(hand->gone), turn.gone);
    keep_leases(hand, &turn);
    return hand->count;
}

size_t test_lease(test_hand *hand, unsigned want)
{
    return test_turn(hand, want, NULL, 0);
}

const char *test_leased_ids(const test_hand *hand)
{
    static _Thread_local char text[65536];
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < hand->count; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i > 0 ? " " : "", hand->leased[i].id);
    return text;
}

void test_expire(const test_hand *hand)
{
    assert_int_equal(test_number("ZADD %ssessions XX CH 1 %s", hand->prefixes[0].text, hand->sessions[0]), 1);
}

bool test_says_it_runs(const test_hand *hand, const char *how)
{
    const rv_reply *reply;
    rv_cmd_script(test_conn, &rv_script_suspect, 1, 3);
    rv_arg(test_conn, hand->prefixes[0].text, hand->prefixes[0].length);
    rv_args(test_conn, hand->sessions[0]);
    rv_args(test_conn, hand->leased[0].id);
    rv_args(test_conn, how);
    assert_int_equal(rv_conn_call(test_conn, rv_deadline(10000), &reply), REEVE_OK);
    return rv_reply_int(reply, -1) == 1;
}

void test_take_session_away(const char *session)
{
    do { /* (a heartbeat may come in between) */
        (void)test_cmd(test_conn, "ZADD reeve:{q}:sessions XX 1 %s", session);
        test_maintain_all("q");
    } while (test_number("EXISTS reeve:{q}:running:%s", session) == 1);
}

const char *test_first_session(void)
{
    static char session[RV_SESSION_LENGTH + 1];
    const char *all = test_cmd(test_conn, "ZRANGE reeve:{q}:sessions 0 0"); /* (in brackets) */
    assert_true(strlen(all) > RV_SESSION_LENGTH);
    rv_copy_text(session, sizeof(session), all + 1);
    return session;
}

const char *const test_states[TEST_STATES] = {"scheduled", "ready", "running", "completed", "dead", "cancelled"};

void test_one_of_each(test_hand *hand)
{
    test_put("q", "completed dead running");
    (void)test_lease(hand, 3);
    test_settle(hand, TEST_RESULT("completed", "r"), TEST_FAIL("dead"));
    test_put("q", "cancelled");
    test_ok(test_client, reeve_cancel(test_client, "q", "cancelled"));
    test_put("q", "ready");
    test_put_spec((reeve_task_spec){.id = "scheduled", .in_ms = 500000});
}
