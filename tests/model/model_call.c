#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_seen.h"
#include "support/queue.h"

model_world model;

void model_differ(const char *format, ...)
{
    va_list args;
    if (model.words[0] != '\0') return;
    model.difference = format;
    va_start(args, format);
    (void)vsnprintf(model.words, sizeof(model.words), format, args);
    va_end(args);
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

const char *model_prefix(int queue)
{
    return queue == 0 ? "reeve:{a}:" : "reeve:{b}:";
}

static char *next_text(void)
{
    static char texts[8][32];
    static unsigned turn;
    return texts[turn++ % 8];
}

const char *model_number(int64_t number)
{
    char *text = next_text();
    (void)snprintf(text, 32, "%lld", (long long)number);
    return text;
}

const char *model_id(int id)
{
    if (id >= IDS) return model.names[id - IDS];
    char *text = next_text();
    (void)snprintf(text, 32, "t%02d", id);
    return text;
}

int model_id_of(const char *text)
{
    char *end;
    for (int i = IDS; i < SLOTS; i++)
        if (strcmp(text, model.names[i - IDS]) == 0) return *text ? i : -1;
    if (text[0] != 't' || strlen(text) != 3) return -1;
    long id = strtol(text + 1, &end, 10);
    return *end == '\0' && id >= 0 && id < IDS ? (int)id : -1;
}

bool model_is_before(int one, int other)
{
    return strcmp(model_id(one), model_id(other)) < 0;
}

const char *model_session_id(int session)
{
    char *text = next_text();
    (void)snprintf(text, 32, "by_hand-%08x", (unsigned)session);
    return text;
}

int model_session_of(const char *text)
{
    char *end;
    long session = strlen(text) == 16 ? strtol(text + 8, &end, 16) : -1;
    return session >= 0 && *end == '\0' && session < model.session_count ? (int)session : -1;
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

enum { CALL_ARGS = 256, CALL_BYTES = 8 * LARGE };

static struct {
    const rv_script *script;
    size_t keys, count, used;
    const char *args[CALL_ARGS];
    char bytes[CALL_BYTES];
} call;

const char *model_script_name(void)
{
    return call.script ? call.script->name : "-";
}

void model_begin(const rv_script *script)
{
    call.script = script;
    call.keys = call.count = call.used = 0;
}

void model_arg_text(const char *text)
{
    size_t size = strlen(text) + 1;
    assert_true(call.count < CALL_ARGS && call.used + size <= CALL_BYTES);
    memcpy(call.bytes + call.used, text, size);
    call.args[call.count++] = call.bytes + call.used;
    call.used += size;
}

void model_key(int queue)
{
    assert_int_equal(call.keys, call.count);
    model_arg_text(model_prefix(queue));
    call.keys++;
}

void model_arg(const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    assert_true(length >= 0 && (size_t)length < sizeof(text));
    model_arg_text(text);
}

/* A connection of a user without rights to any channel, as Redis 7 makes them: whoever would be told is not, and all
 * else is the same. */
static rv_conn *model_user(void)
{
    static rv_conn *user;
    static rv_url url;
    char text[512];
    rv_error error;
    if (user != NULL) return user;
    (void)snprintf(text, sizeof(text), "unix://w:p@%s", test_redis_url(test_redis) + strlen("unix://"));
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER w on >p ~* +@all -@dangerous resetchannels"), "OK");
    assert_int_equal(rv_url_parse(&url, text, &error), REEVE_OK);
    assert_int_equal(rv_conn_create(&user, &(rv_conn_options){.url = &url, .name = "w"}, &error), REEVE_OK);
    assert_int_equal(rv_conn_open(user, test_patience()), REEVE_OK);
    return user;
}

/* A script with a budget (src/lua/lib/budget.lua), and the same with one that is used up before it begins. */
typedef struct without_budget {
    const rv_script *script;
    rv_script copy;
    char *text;
    char sha[48];
} without_budget;

static void load_without_budget(without_budget *one)
{
    const rv_reply *reply;
    one->text = malloc(one->script->length + 1);
    assert_non_null(one->text);
    memcpy(one->text, one->script->text, one->script->length + 1);
    char *budget = strstr(one->text, "{left=800}");
    assert_non_null(budget);
    memcpy(budget, "{left=000}", 10);
    rv_cmd(test_conn, 3);
    rv_args(test_conn, "SCRIPT");
    rv_args(test_conn, "LOAD");
    rv_args(test_conn, one->text);
    assert_int_equal(rv_conn_call(test_conn, test_patience(), &reply), REEVE_OK);
    rv_copy_text(one->sha, sizeof(one->sha), reply->text);
    one->copy =
        (rv_script){.name = one->script->name, .text = one->text, .length = one->script->length, .sha = one->sha};
}

/* Where the mood has it, scripts have none. */
static const rv_script *script_called(void)
{
    static without_budget scripts[] = {{.script = &rv_script_maintain}, {.script = &rv_script_reap}};
    for (size_t i = 0; mood.budget && i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        if (call.script != scripts[i].script) continue;
        if (!scripts[i].text) load_without_budget(&scripts[i]);
        return &scripts[i].copy;
    }
    return call.script;
}

static rv_conn *called;

const rv_reply *model_call(void)
{
    const rv_reply *reply = NULL;
    model_look_again();
    model.told = 0;
    called = mood.restricted ? model_user() : test_conn;
    rv_cmd_script(called, script_called(), call.keys, call.count - call.keys);
    for (size_t i = 0; i < call.count; i++) rv_args(called, call.args[i]);
    if (rv_conn_call(called, test_patience(), &reply) == REEVE_OK) return reply;
    model_differ("%s fails: %s", call.script->name, rv_conn_error(called)->text);
    return NULL;
}

void model_keep_reply(void)
{
    static rv_arena kept;
    static bool begun;
    if (!begun) rv_arena_init(&kept);
    begun = true;
    rv_conn_take_reply(called, &kept);
}

const rv_reply *model_call_words(const rv_script *script, int queue, const char *const *words, size_t count)
{
    model_begin(script);
    model_key(queue);
    for (size_t i = 0; i < count; i++) model_arg_text(words[i]);
    return model_call();
}
