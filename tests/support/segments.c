#include "support/segments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "support/limits.h"

const char test_ready_lua[] =
    "local function ready_of(P, say)\n"
    "  local call, found, known, seen = redis.call, {}, {}, {}\n"
    "  local function add(id, score)\n"
    "    if seen[id] then say(id, 'is ready twice') end\n"
    "    seen[id] = true\n"
    "    found[#found + 1] = {id, score}\n"
    "  end\n"
    "  local members = call('ZRANGE', P .. 'ready', 0, -1, 'WITHSCORES')\n"
    "  for i = 1, #members, 2 do\n"
    "    local p = string.match(members[i], '^%+(.*)$')\n"
    "    local list = p and call('LRANGE', P .. 'segment:' .. p, 0, -1)\n"
    "    if p then\n"
    "      known[p] = true\n"
    "      if #list == 0 then say('segment', p, 'is empty') end\n"
    "      if call('SISMEMBER', P .. 'segments', p) == 0 then say('segment', p, 'is not in segments') end\n"
    "    else\n"
    "      add(members[i], tonumber(members[i + 1]))\n"
    "    end\n"
    "    for n, id in ipairs(list or {}) do\n"
    "      local line = string.match(call('HGET', P .. 'tasks', id) or '', '^[^\\n]*')\n"
    "      if string.match(line, '\"at\":%d+,\"p\":(%d+),') ~= p then say(id, 'does not say that it is in', p) end\n"
    "      add(id, tonumber(members[i + 1]) + 256 * (n - 1))\n"
    "    end\n"
    "  end\n"
    "  for _, p in ipairs(call('SMEMBERS', P .. 'segments')) do\n"
    "    if not known[p] then say('segment', p, 'is not in ready') end\n"
    "  end\n"
    "  for _, key in ipairs(call('KEYS', P .. 'segment:*')) do\n"
    "    if not known[string.sub(key, #P + 9)] then say(key, 'is left') end\n"
    "  end\n"
    "  table.sort(found, function(a, b) return a[2] < b[2] or a[2] == b[2] and a[1] < b[1] end)\n"
    "  local ids, scores = {}, {}\n"
    "  for i, one in ipairs(found) do ids[i], scores[i] = one[1], one[2] end\n"
    "  return ids, scores\n"
    "end\n";

static const char say_it[] = "local wrong = {}\n"
                             "local ids, scores = ready_of('reeve:{' .. ARGV[1] .. '}:', function(...) wrong[#wrong + "
                             "1] = table.concat({...}, ' ') end)\n"
                             "local texts = {}\n"
                             "for i, score in ipairs(scores) do texts[i] = string.format('%.0f', score) end\n"
                             "return {table.concat(wrong, '; '), ids, texts}\n";

const rv_reply *test_eval(const char *const *parts, size_t count, const char *argument)
{
    const rv_reply *reply;
    rv_buf script;
    rv_buf_init(&script, 100000);
    for (size_t i = 0; i < count; i++) rv_buf_adds(&script, parts[i]);
    assert_false(script.failed);
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "EVAL");
    rv_args(test_conn, rv_buf_text(&script));
    rv_args(test_conn, "0");
    rv_args(test_conn, argument);
    rv_buf_fini(&script);
    if (rv_conn_call(test_conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(test_conn)->text);
    if (reply->type == RV_ERROR) fail_msg("%s", test_reply_text(reply));
    return reply;
}

static const rv_reply *look(const char *queue)
{
    const rv_reply *reply = test_eval((const char *const[]){test_ready_lua, say_it}, 2, queue);
    const char *wrong = test_reply_text(reply->items[0]);
    if (wrong[0] != '\0') fail_msg("%.900s", wrong);
    return reply;
}

const char *test_ready(const char *queue)
{
    return test_reply_text(look(queue)->items[1]);
}

size_t test_ready_count(const char *queue)
{
    return look(queue)->items[1]->count;
}

int64_t test_ready_score(const char *queue, const char *id)
{
    const rv_reply *reply = look(queue);
    for (size_t i = 0; i < reply->items[1]->count; i++) {
        if (strcmp(test_reply_text(reply->items[1]->items[i]), id) == 0)
            return strtoll(test_reply_text(reply->items[2]->items[i]), NULL, 10);
    }
    fail_msg("%s is not ready", id);
    return 0;
}

long long test_segments(const char *queue)
{
    return test_number("SCARD reeve:{%s}:segments", queue);
}

reeve_status test_put_call(const char *ids, reeve_task_spec like)
{
    char copy[4096], *rest = NULL;
    reeve_task_spec specs[100];
    reeve_enqueued results[100];
    size_t count = 0;
    rv_copy_text(copy, sizeof(copy), ids);
    for (char *id = strtok_r(copy, " ", &rest); id; id = strtok_r(NULL, " ", &rest)) {
        assert_true(count < 100);
        specs[count] = like;
        specs[count].queue = "q";
        if (!like.type) specs[count].type = "t";
        specs[count++].id = id;
    }
    return reeve_enqueue_many(test_client, specs, count, results);
}

void test_put_together(const char *ids)
{
    test_ok(test_client, test_put_call(ids, (reeve_task_spec){0}));
}

void test_expect_ready(const char *ids, long long segments)
{
    char all[4096];
    (void)snprintf(all, sizeof(all), "[%s]", ids);
    assert_string_equal(test_ready("q"), all);
    assert_int_equal(test_segments("q"), segments);
    test_limits_agree();
}

void test_no_segments(void)
{
    assert_string_equal(test_cmd(test_conn, "KEYS reeve:{q}:pack*"), "[]");
}
