/* A try of enqueueing was lost, and the next is refused: what is said of the task must not be more than is known. */
#include <stdio.h>
#include <string.h>

#include "support/peer.h"
#include "support/queue.h"

/* What a client says first. */
#define GREET \
    {PEER_COMMANDS, 6, NULL, 0}, PEER_SAY("+OK\r\n:7\r\n*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n$-1\r\n*0\r\n+PONG\r\n")
/* The queue is made known, the version of the data is noted, and a task is enqueued. */
#define ASKED                     \
    {                             \
        PEER_COMMANDS, 3, NULL, 0 \
    }
#define HANG_UP                \
    {                          \
        PEER_CLOSE, 0, NULL, 0 \
    }
#define THE_END                \
    {                          \
        PEER_STALL, 0, NULL, 0 \
    }

typedef struct meeting {
    test_peer *peer;
    reeve_client *client;
    char id[REEVE_ID_MAX];
} meeting;

static void meet(meeting *ret, const peer_step *script, int64_t timeout_ms)
{
    char words[512];
    *ret = (meeting){.peer = test_peer_start(script)};
    const reeve_client_options options = {.redis = test_peer_url(ret->peer), .timeout_ms = timeout_ms};
    if (reeve_client_open_with_error(&ret->client, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
}

static void part(meeting *met)
{
    reeve_client_close(met->client);
    test_peer_stop(met->peer);
}

static reeve_status enqueue(meeting *met)
{
    const reeve_task_spec spec = {.queue = "q", .type = "t"};
    return reeve_enqueue(met->client, &spec, met->id);
}

static void expect_unknown(meeting *met, const char *words)
{
    assert_int_equal(enqueue(met), REEVE_ELOST);
    if (strstr(reeve_client_error(met->client), words) == NULL) fail_msg("%s", reeve_client_error(met->client));
    assert_non_null(strstr(reeve_client_error(met->client), "unknown"));
    assert_true(met->id[0] != '\0');
    part(met);
}

static void a_refusal_of_the_second_try_is_not_certain(void **state)
{
    (void)state;
    static const peer_step full[] = {GREET,  ASKED, HANG_UP, GREET, ASKED, PEER_SAY(":0\r\n$-1\r\n-OOM full\r\n"),
                                     THE_END};
    static const peer_step denied[] = {GREET,  ASKED, HANG_UP, GREET, ASKED, PEER_SAY(":0\r\n$-1\r\n-NOPERM no\r\n"),
                                       THE_END};
    meeting met;
    meet(&met, full, 5000);
    expect_unknown(&met, "OOM full");
    meet(&met, denied, 5000);
    expect_unknown(&met, "NOPERM no");
}

static void a_refusal_of_the_only_try_is_certain(void **state)
{
    (void)state;
    static const peer_step full[] = {GREET, ASKED, PEER_SAY(":0\r\n$-1\r\n-OOM full\r\n"), THE_END};
    meeting met;
    meet(&met, full, 5000);
    assert_int_equal(enqueue(&met), REEVE_EREDIS);
    assert_string_equal(met.id, "");
    assert_null(strstr(reeve_client_error(met.client), "unknown"));
    part(&met);
}

static void a_refusal_until_the_deadline_is_not_certain(void **state)
{
    (void)state;
#define REFUSED GREET, ASKED, PEER_SAY(":0\r\n$-1\r\n-NOREPLICAS few\r\n"), HANG_UP
    static const peer_step script[] = {GREET,   ASKED,   HANG_UP, REFUSED, REFUSED, REFUSED,
                                       REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, THE_END};
    meeting met;
    meet(&met, script, 1000);
    expect_unknown(&met, "unknown");
}

/* The tasks that were answered are what they were; the others of the same call may be there. */
static void many_of_which_some_were_answered(void **state)
{
    (void)state;
    static const peer_step script[] = {
        GREET, {PEER_COMMANDS, 5, NULL, 0}, PEER_SAY(":0\r\n:0\r\n$-1\r\n:1\r\n"),        HANG_UP,
        GREET, {PEER_COMMANDS, 4, NULL, 0}, PEER_SAY(":0\r\n:0\r\n$-1\r\n-OOM full\r\n"), THE_END};
    const reeve_task_spec specs[] = {{.queue = "p", .type = "t"}, {.queue = "q", .type = "t"}};
    reeve_enqueued results[2];
    meeting met;
    meet(&met, script, 5000);
    assert_int_equal(reeve_enqueue_many(met.client, specs, 2, results), REEVE_ELOST);
    assert_int_equal(results[0].status, REEVE_OK);
    assert_int_equal(results[1].status, REEVE_ELOST);
    char words[512];
    reeve_enqueued_error(met.client, &specs[1], &results[1], words, sizeof(words));
    assert_non_null(strstr(words, "unknown whether the task was enqueued"));
    part(&met);
}

/* Other calls, too. */
static void a_setting_refused_the_second_time(void **state)
{
    (void)state;
    static const peer_step single[] = {GREET,  {PEER_COMMANDS, 1, NULL, 0}, HANG_UP,
                                       GREET,  {PEER_COMMANDS, 1, NULL, 0}, PEER_SAY("-OOM full\r\n"),
                                       THE_END};
    const reeve_keep keep = {0};
    meeting met;
    meet(&met, single, 1000);
    assert_int_equal(reeve_queue_set(met.client, "q", &(reeve_queue_settings){.completed = &keep}), REEVE_ELOST);
    part(&met);
    meet(&met, single, 5000);
    assert_int_equal(reeve_retry(met.client, "q", "x"), REEVE_ELOST);
    part(&met);
}

/* What was sent over any of them may come to Redis later: behind a proxy, or when Redis was frozen. */
static void all_connections_that_were_lost_are_ended(void **state)
{
    (void)state;
#define GREET_AS(id)             \
    {PEER_COMMANDS, 6, NULL, 0}, \
        PEER_SAY("+OK\r\n:" id "\r\n*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n$-1\r\n*0\r\n+PONG\r\n")
#define LINES                                                   \
    "id=7 addr=unix:0 fd=9 name=reeve-client age=9999 idle=1\n" \
    "id=8 addr=unix:0 fd=9 name=reeve-client age=9999 idle=1\n"
#define BYTES(text)                           \
    {                                         \
        PEER_BYTES, sizeof(text) - 1, NULL, 0 \
    }
    static const peer_step script[] = {GREET_AS("7"),
                                       ASKED,
                                       HANG_UP,
                                       GREET_AS("8"),
                                       BYTES("*4\r\n$6\r\nCLIENT\r\n$4\r\nLIST\r\n$2\r\nID\r\n$1\r\n7\r\n"),
                                       HANG_UP,
                                       GREET_AS("9"),
                                       BYTES("*5\r\n$6\r\nCLIENT\r\n$4\r\nLIST\r\n$2\r\nID\r\n$1\r\n7\r\n$1\r\n8\r\n"),
                                       PEER_SAY("$112\r\n" LINES "\r\n"),
                                       BYTES("*4\r\n$6\r\nCLIENT\r\n$4\r\nKILL\r\n$2\r\nID\r\n$1\r\n7\r\n"),
                                       PEER_SAY(":1\r\n"),
                                       BYTES("*4\r\n$6\r\nCLIENT\r\n$4\r\nKILL\r\n$2\r\nID\r\n$1\r\n8\r\n"),
                                       PEER_SAY(":1\r\n"),
                                       ASKED,
                                       PEER_SAY(":0\r\n$-1\r\n:1\r\n"),
                                       THE_END};
    meeting met;
    assert_int_equal(strlen(LINES), 112);
    meet(&met, script, 5000);
    reeve_status status = enqueue(&met);
    if (status != REEVE_OK) fail_msg("%s", reeve_client_error(met.client));
    part(&met);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refusal_of_the_second_try_is_not_certain),
        cmocka_unit_test(all_connections_that_were_lost_are_ended),
        cmocka_unit_test(a_refusal_of_the_only_try_is_certain),
        cmocka_unit_test(a_refusal_until_the_deadline_is_not_certain),
        cmocka_unit_test(many_of_which_some_were_answered),
        cmocka_unit_test(a_setting_refused_the_second_time),
    };
    return cmocka_run_group_tests_name("ct_enqueue_unsure", tests, NULL, NULL);
}
