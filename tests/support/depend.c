#include "support/depend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/outbox.h"

#define PARENTS 32

static size_t read_parents(reeve_parent list[PARENTS], char *text)
{
    static const char letters[] = "fgwx";
    char *rest = NULL;
    size_t count = 0;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        const char *letter = strchr(letters, word[0]);
        bool gone = word[1] == 'g';
        assert_true(count < PARENTS && letter && word[1 + gone] == ':');
        list[count++] = (reeve_parent){.handle = word + 2 + gone,
                                       .on_death = (reeve_on_parent_death)(letter - letters),
                                       .unknown = gone ? REEVE_UNKNOWN_COMPLETED : REEVE_UNKNOWN_REFUSE};
    }
    return count;
}

void test_put_after(const char *queue, const char *id, const char *parents)
{
    reeve_parent list[PARENTS];
    char copy[4096];
    rv_copy_text(copy, sizeof(copy), parents);
    size_t count = read_parents(list, copy);
    test_put_spec((reeve_task_spec){.queue = queue, .id = id, .after = list, .after_count = count});
}

void test_add_edges(const char *queue, const char *id, const char *parents)
{
    reeve_parent list[PARENTS];
    char copy[4096];
    rv_copy_text(copy, sizeof(copy), parents);
    size_t count = read_parents(list, copy);
    test_ok(test_client, reeve_add_dependency(test_client, queue, id, list, count));
}

static void end(const char *queue, const char *id, reeve_outcome outcome)
{
    test_hand hand;
    test_hand_init(&hand, "9", queue);
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_string_equal(hand.leased[0].id, id);
    const test_outcome ended = {0,
                                {.id = id,
                                 .outcome = outcome,
                                 .has_info = hand.leased[0].has_info,
                                 .counts = true,
                                 .kind = "k",
                                 .message = "m"}};
    (void)test_turn(&hand, 0, &ended, 1);
    assert_string_equal(hand.refused, "");
}

void test_complete(const char *queue, const char *id)
{
    end(queue, id, REEVE_OUTCOME_DONE);
}

void test_kill(const char *queue, const char *id)
{
    end(queue, id, REEVE_OUTCOME_FAIL);
}

void test_settle_queues(const char *queues)
{
    bool quiet = false;
    for (int i = 0; i < 2000 && !quiet; i++) {
        char copy[256], *rest = NULL;
        rv_copy_text(copy, sizeof(copy), queues);
        quiet = true;
        for (char *queue = strtok_r(copy, " ", &rest); queue; queue = strtok_r(NULL, " ", &rest)) {
            test_maintained maintained = test_maintain(queue, 200);
            rv_error error = {0};
            size_t carried;
            quiet = quiet && !maintained.more && maintained.outbox == 0;
            if (rv_outbox_carry(test_conn, "reeve", queue, 100, &carried, &error) != REEVE_OK)
                fail_msg("%s", error.text);
        }
    }
    assert_true(quiet);
}

void test_no_edges_left(const char *queue)
{
    static const char *const kinds[] = {"children:*", "awaiting_retry:*", "fanout*", "linked", "outbox", "blocked"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const char *keys = test_cmd(test_conn, "KEYS reeve:{%s}:%s", queue, kinds[i]);
        if (strcmp(keys, "[]") != 0) fail_msg("left behind: %s", keys);
    }
}

void test_settle_all(void)
{
    test_settle_queues("p q");
    test_no_edges_left("p");
    test_no_edges_left("q");
}

void test_state_is(const char *queue, const char *id, const char *state)
{
    const char *found = test_state(queue, id);
    if (strcmp(found, state) != 0) fail_msg("%s/%s is \"%s\" instead of \"%s\"", queue, id, found, state);
}

void test_fill_outbox(void)
{
    const rv_reply *reply;
    assert_string_equal(test_cmd(test_conn, "SET reeve:{r}:tasks no-hash"), "OK");
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "EVAL");
    rv_args(test_conn, "for i = 1, 1001 do redis.call('RPUSH', KEYS[1], 'R ' .. i .. ' q/c r/p' .. i .. ' f') end");
    rv_args(test_conn, "1");
    rv_args(test_conn, "reeve:{q}:outbox");
    assert_int_equal(rv_conn_call(test_conn, test_patience(), &reply), REEVE_OK);
    (void)test_cmd(test_conn, "HSET reeve:{q}:settings serial 1001");
}

void test_died_of(const char *id, const char *words)
{
    reeve_task_info *info = test_show("q", id);
    assert_int_equal(info->state, REEVE_STATE_DEAD);
    assert_string_equal(info->error_kind, "parent");
    assert_non_null(strstr(info->error_message, words));
    reeve_task_info_free(info);
}
