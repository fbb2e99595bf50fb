/*
 * reeve check, at random: keys of a queue with tasks of all kinds lose elements, get foreign ones, are deleted or get
 * another type. Whatever was done, all that is found is repaired, nothing is found then, and all tasks that are left
 * end.
 *
 *     REEVE_TEST_SEED    the first round's number; 1 when not set
 *     REEVE_TEST_ROUNDS  how many rounds
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/depend.h"
#include "support/limits.h"
#include "support/script.h"

#define Q "reeve:{q}:"

enum { ROUNDS = 60, DRAINS = 400 };

/* ARGV: a seed, how many changes. Returns what it did. */
static const char change[] =
    "math.randomseed(tonumber(ARGV[1])) for i = 1, 20 do math.random() end local done = {}\n"
    "local function any(list, step) return list[1 + step * math.random(0, #list / step - 1)] end\n"
    "for i = 1, tonumber(ARGV[2]) do\n"
    "  local keys = redis.call('KEYS', 'reeve:{q}:*') table.sort(keys)\n"
    "  local key, how = any(keys, 1), math.random(5)\n"
    "  if not key then break end\n"
    "  local kind = redis.call('TYPE', key).ok\n"
    "  done[i] = how .. ' ' .. key\n"
    "  if how == 1 then redis.call('DEL', key)\n"
    "  elseif how == 2 and math.random(4) == 1 then redis.call('DEL', key) redis.call('SET', key, 'x')\n"
    "  elseif how <= 3 then\n"
    "    if kind == 'zset' then redis.call('ZREM', key, any(redis.call('ZRANGE', key, 0, -1), 1))\n"
    "    elseif kind == 'set' then redis.call('SREM', key, any(redis.call('SMEMBERS', key), 1))\n"
    "    elseif kind == 'hash' then redis.call('HDEL', key, any(redis.call('HKEYS', key), 1))\n"
    "    elseif kind == 'list' then redis.call('LPOP', key)\n"
    "    else redis.call('DEL', key) end\n"
    "  else\n"
    "    local name = how == 4 and 'ghost' or any(redis.call('HKEYS', 'reeve:{q}:tasks'), 1) or 'ghost'\n"
    "    if kind == 'zset' then redis.call('ZADD', key, 5, name)\n"
    "    elseif kind == 'set' then redis.call('SADD', key, name)\n"
    "    elseif kind == 'hash' then redis.call('HSET', key, name, 'x')\n"
    "    elseif kind == 'list' then redis.call('RPUSH', key, name)\n"
    "    else redis.call('SET', key, name) end\n"
    "  end\n"
    "end\n"
    "return table.concat(done, ', ')\n";

/* Scheduled tasks are due, and sessions have expired. Returns how many tasks wait or run. */
static const char hurry[] = "local P = 'reeve:{q}:'\n"
                            "for _, id in ipairs(redis.call('ZRANGE', P .. 'scheduled', 0, -1)) do redis.call('ZADD', "
                            "P .. 'scheduled', 1, id) end\n"
                            "for _, id in ipairs(redis.call('ZRANGE', P .. 'sessions', 0, -1)) do redis.call('ZADD', P "
                            ".. 'sessions', 'LT', 1, id) end\n"
                            "redis.call('HDEL', P .. 'settings', 'upkeep')\n"
                            "local ended = 0\n"
                            "for _, set in ipairs({'completed', 'dead', 'cancelled', 'retained'}) do ended = ended + "
                            "redis.call('ZCARD', P .. set) end\n"
                            "return redis.call('HLEN', P .. 'tasks') - ended\n";

static void fill(void)
{
    static const char *const tags[] = {"red", "blue"};
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    test_put_many("q", 12, "s%03zu");
    test_put("q", "a b c d");
    test_put("p", "x y");
    test_limit_groups(1, NULL);
    test_limit_queue(20, NULL);
    test_put_in("g1 g2 g3", "g", 0);
    test_put_in("h1 h2", "h", -1);
    test_put_spec(
        (reeve_task_spec){.id = "u", .unique = "key", .tags = tags, .tag_count = 2, .expires_in_ms = 3600000});
    test_put_spec((reeve_task_spec){.id = "later", .in_ms = 3600000});
    test_put_after("q", "child", "f:q/a w:q/b g:p/x");
    test_put_after("q", "grandchild", "f:q/child f:q/s003");
    (void)test_lease(&hand, 6);
    for (size_t i = 0; i < hand.count && i < 4; i++) {
        char id[REEVE_ID_MAX];
        rv_copy_text(id, sizeof(id), hand.leased[i].id);
        test_hand settling = hand;
        const test_outcome outcomes[] = {
            {0, {.id = id, .outcome = REEVE_OUTCOME_DONE, .has_result = true, .result = {"r", 1}}},
            {0, {.id = id, .outcome = REEVE_OUTCOME_FAIL, .counts = true, .kind = "k", .message = "m"}},
            {0, {.id = id, .outcome = REEVE_OUTCOME_RETRY, .delay_ms = 5, .kind = "k", .message = "m"}}};
        (void)test_turn(&settling, 0, &outcomes[i % 3], 1);
    }
    (void)reeve_cancel(test_client, "q", "d");
    test_settle_queues("p");
}

/* A handler that leaves what it must. */
static void drain(void)
{
    test_hand hand;
    long long left = 1;
    for (int i = 0; i < DRAINS && left > 0; i++) {
        left = atoll(TEST_WORDS("EVAL", hurry, "0"));
        test_settle_queues("p q");
        test_hand_init(&hand, "9", "q");
        while (test_lease(&hand, 1) > 0) {
            char id[REEVE_ID_MAX];
            bool has_info = hand.leased[0].has_info;
            rv_copy_text(id, sizeof(id), hand.leased[0].id);
            test_settle(
                &hand,
                {0, {.id = id, .outcome = REEVE_OUTCOME_DONE, .has_info = has_info, .unique = true, .deadline = true}});
        }
        test_hand_init(&hand, "8", "p");
        while (test_lease(&hand, 1) > 0) {
            char id[REEVE_ID_MAX];
            rv_copy_text(id, sizeof(id), hand.leased[0].id);
            test_settle(&hand, {0, {.id = id, .outcome = REEVE_OUTCOME_DONE}});
        }
    }
    assert_int_equal(left, 0);
}

/* What a malformed task asked for is not known: that its key is free is found only when the task has ended. */
static void check_at_the_end(void)
{
    bool is_malformed = strstr(TEST_WORDS("HGET", "reeve:{q}:tasks", "u"), "\"unique\":\"key\"") == NULL;
    bool is_held = strcmp(TEST_WORDS("EXISTS", "reeve:{q}:unique:key"), "1") == 0;
    test_check_repairs("q", is_malformed && is_held ? "unique_stale key" : "");
}

static void whatever_is_broken_is_repaired(void **state)
{
    const char *seed = getenv("REEVE_TEST_SEED"), *rounds = getenv("REEVE_TEST_ROUNDS");
    int first = seed != NULL ? atoi(seed) : 1, count = rounds != NULL ? atoi(rounds) : ROUNDS;
    for (int round = first; round < first + count; round++) {
        char number[16], changes[16];
        (void)test_place_empty(state);
        fill();
        test_check_finds("q", "");
        (void)snprintf(number, sizeof(number), "%d", round);
        (void)snprintf(changes, sizeof(changes), "%d", 1 + round % 5);
        print_message("REEVE_TEST_SEED=%d: %s\n", round, TEST_WORDS("EVAL", change, "0", number, changes));
        test_check_repairs_any("q");
        test_check_repairs_any("p");
        drain();
        check_at_the_end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(whatever_is_broken_is_repaired, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_check_random", tests, test_place_start, test_place_stop);
}
