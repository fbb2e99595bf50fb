/* Reads all that is in Redis, in one call, into what a queue's keys mean. A key that is not documented is a difference.
 */
#include <stdlib.h>
#include <string.h>

#include "model/model_look.h"
#include "model/model_segment.h"
#include "support/queue.h"

/* ARGV: where envelopes are cut, then words and the types of their keys. (A call costs more than all else here, so
 * types are not asked for: a key of another type is an error.) */
static const char script[] =
    "local out, types, call = {}, {}, redis.call\n"
    "for i = 2, #ARGV, 2 do types[ARGV[i]] = ARGV[i + 1] end\n"
    "for i, key in ipairs(call('KEYS', '*')) do\n"
    "  local word = string.match(key, '^reeve:{%a}:(.+)$')\n"
    "  if not types[word] then word = string.match(word, '^[%w_]+:') end\n"
    "  local kind, found = types[word], {}\n"
    "  if kind == 'hash' then found = call('HGETALL', key)\n"
    "  elseif kind == 'zset' then found = call('ZRANGE', key, 0, -1, 'WITHSCORES')\n"
    "  elseif kind == 'list' then found = call('LRANGE', key, 0, -1)\n"
    "  elseif kind == 'set' then found = call('SMEMBERS', key)\n"
    "  elseif kind == 'stream' then\n"
    "    for _, e in ipairs(call('XRANGE', key, '-', '+')) do\n"
    "      found[#found + 1], found[#found + 2] = e[1], e[2][2] .. ' ' .. e[2][4]\n"
    "    end\n"
    "  elseif kind == 'string' then found = {call('GET', key), tostring(call('PTTL', key))} end\n"
    "  if word == 'tasks' then\n"
    "    for j = 2, #found, 2 do found[j] = string.sub(found[j], 1, ARGV[1]) end\n"
    "  end\n"
    "  out[i] = {key, found}\n"
    "end\n"
    "return out\n";

model_seen model_now_seen;
static bool is_fresh;

void model_look_again(void)
{
    is_fresh = false;
}

/* ---- for those who read ----------------------------------------------------------------------------------------- */

void model_stray(int queue, const char *key, const char *member)
{
    /* A task for a death: the model may give it its name in a moment. */
    if (strstr(member, ":dead:")) model_now_seen.unnamed = true;
    if (strstr(member, ":dead:")) return;
    model_differ("%s%s has %s, which is none of ours", model_prefix(queue), key, member);
}

const char *model_field(const rv_reply *found, const char *name)
{
    for (size_t i = 0; i + 1 < found->count; i += 2)
        if (rv_reply_is_text(found->items[i], name)) return found->items[i + 1]->text;
    return "";
}

void model_allow(int queue, const char *key, const rv_reply *found, const char *const *names)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        size_t j = 0;
        while (names[j] && !rv_reply_is_text(found->items[i], names[j])) j++;
        if (!names[j]) model_differ("%s%s has a field %s", model_prefix(queue), key, found->items[i]->text);
    }
}

/* ---- all keys -------------------------------------------------------------------------------------------------- */

/* A name that ends with a colon is followed by something. */
#define MODEL_KEY(name, type, function) {name, type, model_read_##function},
static const struct known {
    const char *name;
    const char *type;
    void (*read)(int queue, const char *rest, const rv_reply *found);
} known[] = {MODEL_KEYS(MODEL_KEY)};
#undef MODEL_KEY

#define KNOWN (sizeof(known) / sizeof(known[0]))

static bool read_key(int queue, const char *name, const rv_reply *found)
{
    for (size_t i = 0; i < KNOWN; i++) {
        size_t length = strlen(known[i].name);
        bool open = known[i].name[length - 1] == ':';
        if (open ? strncmp(name, known[i].name, length) != 0 : strcmp(name, known[i].name) != 0) continue;
        known[i].read(queue, open ? name + length : name, found);
        return true;
    }
    return false;
}

static void read_all(const rv_reply *reply)
{
    for (size_t i = 0; i < reply->count; i++) {
        const rv_reply *found = reply->items[i];
        const char *key = rv_reply_at(found, 0)->text;
        bool ours = false;
        for (int queue = 0; queue < QUEUES && !ours; queue++) {
            size_t length = strlen(model_prefix(queue));
            if (strncmp(key, model_prefix(queue), length) != 0) continue;
            ours = read_key(queue, key + length, rv_reply_at(found, 1));
        }
        if (!ours) model_differ("there is a key %s", key);
    }
}

const model_seen *model_look(void)
{
    const rv_reply *reply;
    if (is_fresh) return &model_now_seen;
    memset(&model_now_seen, 0, sizeof(model_now_seen));
    rv_cmd(test_conn, 4 + 2 * KNOWN);
    rv_args(test_conn, "EVAL");
    rv_args(test_conn, script);
    rv_args(test_conn, "0");
    rv_argi(test_conn, CUT);
    for (size_t i = 0; i < KNOWN; i++) {
        rv_args(test_conn, known[i].name);
        rv_args(test_conn, known[i].type);
    }
    if (rv_conn_call(test_conn, test_patience(), &reply) != REEVE_OK) {
        model_differ("looking: %s", rv_conn_error(test_conn)->text);
        return NULL;
    }
    read_all(reply);
    model_open_segments(&model_now_seen);
    is_fresh = true;
    return &model_now_seen;
}
