#include "support/limits.h"

#include "support/clock.h"
#include "support/segments.h"

#include <stdio.h>
#include <string.h>

static void change(const reeve_limit_change *what)
{
    test_ok(test_client, reeve_limit(test_client, "q", what));
}

void test_limit_queue(int64_t concurrency, const reeve_rate *rate)
{
    change(&(const reeve_limit_change){.of = REEVE_LIMIT_QUEUE, .concurrency = concurrency, .rate = rate});
}

void test_limit_groups(int64_t concurrency, const reeve_rate *rate)
{
    change(&(const reeve_limit_change){.of = REEVE_LIMIT_GROUPS, .concurrency = concurrency, .rate = rate});
}

void test_limit_group(const char *group, int64_t concurrency, const reeve_rate *rate)
{
    change(
        &(const reeve_limit_change){.of = REEVE_LIMIT_GROUP, .group = group, .concurrency = concurrency, .rate = rate});
}

void test_limit_type(const char *type, int64_t concurrency, const reeve_rate *rate)
{
    change(&(const reeve_limit_change){.of = REEVE_LIMIT_TYPE, .type = type, .concurrency = concurrency, .rate = rate});
}

void test_limit_key(const char *key, int64_t concurrency, const reeve_rate *rate)
{
    change(&(const reeve_limit_change){.of = REEVE_LIMIT_KEY, .key = key, .concurrency = concurrency, .rate = rate});
}

void test_limit_strict(const char *group, int strict)
{
    change(&(const reeve_limit_change){
        .of = group ? REEVE_LIMIT_GROUP : REEVE_LIMIT_GROUPS, .group = group, .strict = strict});
}

void test_limit_forget(const char *group)
{
    change(&(const reeve_limit_change){.of = REEVE_LIMIT_GROUP, .group = group, .forget = true});
}

reeve_limits *test_limits(void)
{
    reeve_limits *limits = NULL;
    test_ok(test_client, reeve_limits_get(test_client, "q", 0, 1000, &limits));
    return limits;
}

int64_t test_limits_running(void)
{
    reeve_limits *limits = test_limits();
    int64_t running = limits->running;
    reeve_limits_free(limits);
    return running;
}

void test_put_group(const char *name, size_t count, const char *group)
{
    static char ids[1000][REEVE_ID_MAX];
    static reeve_task_spec specs[1000];
    static reeve_enqueued results[1000];
    for (size_t done = 0; done < count;) {
        size_t n = count - done < 1000 ? count - done : 1000;
        for (size_t i = 0; i < n; i++) {
            (void)snprintf(ids[i], REEVE_ID_MAX, "%s%03zu", name, done + i);
            specs[i] = (reeve_task_spec){.queue = "q", .type = "t", .id = ids[i], .group = group};
        }
        test_ok(test_client, reeve_enqueue_many(test_client, specs, n, results));
        done += n;
    }
}

/* Returns what is wrong, or "". */
static const char audit[] =
    "local P, call, wrong = 'reeve:{q}:', redis.call, {}\n"
    "local function say(...) wrong[#wrong + 1] = table.concat({...}, ' ') end\n"
    "local places, running, of_group = {}, 0, {}\n"
    "local function stands(id, where)\n"
    "  if places[id] then say(id, 'stands in', places[id], 'and', where) end\n"
    "  places[id] = where\n"
    "end\n"
    "for _, id in ipairs((ready_of(P, say))) do stands(id, 'ready') end\n"
    "for _, set in ipairs({'scheduled', 'parked', 'blocked', 'completed', 'dead', 'cancelled'}) do\n"
    "  for _, id in ipairs(call('ZRANGE', P .. set, 0, -1)) do stands(id, set) end\n"
    "end\n"
    "local flags = call('HGET', P .. 'settings', 'in_force') or ''\n"
    "local function groups_of(id)\n"
    "  local envelope = call('HGET', P .. 'tasks', id)\n"
    "  local o = envelope and cjson.decode(string.match(envelope, '^[^\\n]*')) or {}\n"
    "  local groups = {o.group}\n"
    "  if string.find(flags, 't') and o.type then groups[#groups + 1] = 'type:' .. o.type end\n"
    "  local taken = {}\n"
    "  for _, key in ipairs(string.find(flags, 'k') and o.limit_keys or {}) do\n"
    "    if not taken[key] then groups[#groups + 1] = 'key:' .. key end\n"
    "    taken[key] = true\n"
    "  end\n"
    "  return groups\n"
    "end\n"
    "for _, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do\n"
    "  for _, kind in ipairs({'running:', 'lost:'}) do\n"
    "    for _, id in ipairs(call('HKEYS', P .. kind .. session)) do\n"
    "      if string.sub(id, 1, 1) ~= '#' then\n"
    "        stands(id, kind .. session)\n"
    "        running = running + 1\n"
    "        for _, group in ipairs(groups_of(id)) do of_group[group] = (of_group[group] or 0) + 1 end\n"
    "      end\n"
    "    end\n"
    "  end\n"
    "end\n"
    "for _, id in ipairs(call('HKEYS', P .. 'tasks')) do\n"
    "  if not places[id] then say(id, 'stands nowhere') end\n"
    "  places[id] = places[id] or 'nowhere'\n"
    "end\n"
    "if string.find(flags, 'c') then\n"
    "  local counted = tonumber(call('HGET', P .. 'limit_state', 'running') or 0)\n"
    "  if counted ~= running then say('running', running, 'counted', counted) end\n"
    "end\n"
    "if string.find(flags, 's') then\n"
    "  local taken, slots = call('HGETALL', P .. 'group_running'), call('HGETALL', P .. 'running_group')\n"
    "  local known, sums = {}, {}\n"
    "  for i = 1, #taken, 2 do known[taken[i]] = tonumber(taken[i + 1]) end\n"
    "  for i = 1, #slots, 2 do for group in string.gmatch(slots[i + 1], '%Z+') do\n"
    "    local id = slots[i]\n"
    "    sums[group] = (sums[group] or 0) + 1\n"
    "    local own = call('HGET', P .. 'limits', 's:' .. group) or call('HGET', P .. 'settings', 'group_strict')\n"
    "    local waits = places[id] and not string.find(places[id], ':')\n"
    "    if waits and own ~= '1' then say(id, 'is', places[id], 'and has a slot') end\n"
    "    if waits then of_group[group] = (of_group[group] or 0) + 1 end\n"
    "  end end\n"
    "  for group, n in pairs(of_group) do\n"
    "    if known[group] ~= n then say('of', group, n, 'run, counted', known[group] or 0) end\n"
    "  end\n"
    "  for group, n in pairs(known) do\n"
    "    if of_group[group] ~= n then say('of', group, of_group[group] or 0, 'run, counted', n) end\n"
    "    if sums[group] ~= n then say('of', group, sums[group] or 0, 'slots, counted', n) end\n"
    "  end\n"
    "end\n"
    "local waits, parked = {}, 0\n"
    "for _, key in ipairs(call('KEYS', 'reeve:{q}:*')) do\n"
    "  local kind, group = string.match(key, '^reeve:{q}:([%a_]+):(.*)$')\n"
    "  if kind == 'parked' or kind == 'unparked' then\n"
    "    waits[group] = true\n"
    "    for _, id in ipairs(call('ZRANGE', key, 0, -1)) do\n"
    "      local should = kind == 'parked' and 'parked' or 'ready'\n"
    "      if places[id] ~= should then say(id, 'is', kind, 'and stands in', places[id] or 'nothing') end\n"
    "      local has = false\n"
    "      for _, one in ipairs(groups_of(id)) do has = has or one == group end\n"
    "      if not has then say(id, 'is', kind, 'in group', group) end\n"
    "      if kind == 'parked' then parked = parked + 1 end\n"
    "    end\n"
    "  end\n"
    "end\n"
    "if call('ZCARD', P .. 'parked') ~= parked then say(call('ZCARD', P .. 'parked'), 'parked,', parked, 'in groups') "
    "end\n"
    "local looked = {}\n"
    "for _, key in ipairs({'limit_due', 'limit_dirty'}) do\n"
    "  for _, group in ipairs(call('ZRANGE', P .. key, 0, -1)) do\n"
    "    looked[group] = true\n"
    "    if not waits[group] then say(group, 'is in', key, 'and has nothing that waits') end\n"
    "  end\n"
    "end\n"
    "for group in pairs(waits) do if not looked[group] then say(group, 'waits and is not to be looked at') end end\n"
    "return table.concat(wrong, '; ')\n";

void test_limits_agree(void)
{
    const char *wrong = test_reply_text(test_eval((const char *const[]){test_ready_lua, audit}, 2, "q"));
    if (wrong[0] != '\0') fail_msg("%.900s", wrong);
}

void test_groups_forgotten(void)
{
    test_maintain_all("q");
    test_limits_agree();
    static const char *const keys[] = {"running_group", "group_running", "rates",  "paused_groups",
                                       "limit_due",     "limit_dirty",   "parked", "groups"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (test_number("EXISTS reeve:{q}:%s", keys[i]) != 0) fail_msg("%s is left", keys[i]);
    }
    assert_string_equal(test_cmd(test_conn, "KEYS reeve:{q}:parked:*"), "[]");
    assert_string_equal(test_cmd(test_conn, "KEYS reeve:{q}:unparked:*"), "[]");
}

void test_hold(const char *group, int64_t delay_ms)
{
    test_ok(test_client, reeve_pause_for(test_client, "q", group, delay_ms, NULL));
}

void test_put_in(const char *ids, const char *group, int priority)
{
    char copy[400], *rest = NULL;
    rv_copy_text(copy, sizeof(copy), ids);
    for (char *id = strtok_r(copy, " ", &rest); id; id = strtok_r(NULL, " ", &rest))
        test_put_spec((reeve_task_spec){.id = id, .group = group, .priority = priority});
}

void test_done(const test_hand *hand)
{
    test_outcome outcomes[2 * RV_BATCH_MAX];
    test_hand copy = *hand;
    for (size_t i = 0; i < hand->count; i++)
        outcomes[i] = (test_outcome){
            0, {.id = hand->leased[i].id, .outcome = REEVE_OUTCOME_DONE, .has_info = hand->leased[i].has_info}};
    (void)test_turn(&copy, 0, outcomes, hand->count);
    assert_string_equal(copy.refused, "");
}

size_t test_run_all(test_hand *hand)
{
    size_t all = 0;
    while (test_lease(hand, 100) > 0) {
        all += hand->count;
        test_done(hand);
    }
    return all;
}

void test_expect_order(test_hand *hand, const char *const *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)test_lease(hand, 100);
        if (strcmp(test_leased_ids(hand), ids[i]) != 0)
            fail_msg("%zu: \"%s\" and not %s", i, test_leased_ids(hand), ids[i]);
        test_done(hand);
        test_limits_agree();
    }
    TEST_EXPECT_LEASE(hand, 100, "");
}

void test_expect_numbered(test_hand *hand, const char *name, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        char id[REEVE_ID_MAX];
        (void)snprintf(id, sizeof(id), "%s%03zu", name, i);
        (void)test_lease(hand, 100);
        assert_string_equal(test_leased_ids(hand), id);
        test_done(hand);
    }
    test_limits_agree();
}

int test_limits_begin(void **state, int64_t now_ms, test_hand *a, test_hand *b)
{
    test_clock_set(now_ms);
    test_hand_init(a, "1", "q");
    test_hand_init(b, "2", "q");
    return test_place_empty(state);
}

size_t test_lease_all(test_hand *hand)
{
    size_t all = 0;
    while (test_lease(hand, 100) > 0) all += hand->count;
    return all;
}

void test_expect_running(int64_t count)
{
    test_limits_agree();
    assert_int_equal(test_limits_running(), count);
    assert_int_equal(test_count("q", "running"), count);
}

bool test_is_awake(void)
{
    return test_number("LLEN reeve:{q}:wake") == 1;
}

void test_sleep_again(void)
{
    (void)test_cmd(test_conn, "DEL reeve:{q}:wake");
}
