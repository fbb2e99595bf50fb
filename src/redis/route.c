#include "redis/route.h"

#include <string.h>

#include "redis/slots.h"

/* An argument of a command. */
typedef struct argument {
    const char *text;
    size_t length;
} argument;

/* Reads the number behind '*' or '$' and moves behind its line. What is read was built by command.c. */
static size_t read_number(const char **at, const char *end)
{
    size_t number = 0;
    for ((*at)++; *at < end && **at != '\r'; (*at)++) number = number * 10 + (size_t)(**at - '0');
    *at = end - *at > 2 ? *at + 2 : end;
    return number;
}

/* Moves to the next argument. False: there is none, or its bytes are lent, and so no key. */
static bool next_argument(const char **at, const char *end, argument *ret)
{
    if (*at >= end || **at != '$') return false;
    size_t length = read_number(at, end);
    if (length > (size_t)(end - *at)) return false;
    *ret = (argument){.text = *at, .length = length};
    *at += (size_t)(end - *at) - length > 2 ? length + 2 : (size_t)(end - *at);
    return true;
}

static bool is(const argument *word, const char *name)
{
    return word->length == strlen(name) && memcmp(word->text, name, word->length) == 0;
}

static bool is_one_of(const argument *word, const char *const *names)
{
    while (*names != NULL && !is(word, *names)) names++;
    return *names != NULL;
}

/* Moves over so many arguments and reads the one behind them. */
static bool skip_to(const char **at, const char *end, size_t skip, argument *ret)
{
    for (size_t i = 0; i <= skip; i++)
        if (!next_argument(at, end, ret)) return false;
    return true;
}

static const char *const keyless[] = {"PING",    "TIME",     "INFO", "CONFIG",  "ACL",     "CLIENT",
                                      "SCRIPT",  "MULTI",    "EXEC", "DISCARD", "UNWATCH", "COMMAND",
                                      "PUBSUB",  "CLUSTER",  "AUTH", "PUBLISH", "DBSIZE",  "LATENCY",
                                      "SLOWLOG", "SHUTDOWN", "WAIT", "WAITAOF", NULL};

/* Where the key of a command with this name stands, behind *at. */
static bool find_key(const argument *name, const char **at, const char *end, argument *ret)
{
    if (is(name, "EVALSHA") || is(name, "EVAL")) return skip_to(at, end, 2, ret);
    if (is(name, "MEMORY") || is(name, "OBJECT")) return skip_to(at, end, 1, ret);
    if (!is(name, "XREAD")) return skip_to(at, end, 0, ret);
    while (next_argument(at, end, ret))
        if (is(ret, "STREAMS")) return next_argument(at, end, ret);
    return false;
}

/* The name of a command; *ret_at is behind it. */
static argument name_of(const rv_commands *commands, size_t index, const char **ret_at, const char **ret_end)
{
    argument name = {.text = ""};
    *ret_at = commands->out.data + commands->marks[index].offset;
    *ret_end = commands->out.data + rv_command_end(commands, index);
    (void)read_number(ret_at, *ret_end);
    (void)next_argument(ret_at, *ret_end, &name);
    return name;
}

static int slot_of(const rv_commands *commands, size_t index)
{
    const char *at, *end;
    argument key, name = name_of(commands, index, &at, &end);
    if (is_one_of(&name, keyless) || !find_key(&name, &at, end, &key)) return RV_ROUTE_ANY;
    bool subscribes = is(&name, "SUBSCRIBE") || is(&name, "PSUBSCRIBE");
    if (subscribes && !rv_slots_has_tag(key.text, key.length)) return RV_ROUTE_ALL;
    return (int)rv_slots_of(key.text, key.length);
}

static bool is_named(const rv_commands *commands, size_t index, const char *name)
{
    const char *at, *end;
    argument found = name_of(commands, index, &at, &end);
    return is(&found, name);
}

bool rv_route_is_wait(const rv_commands *commands, size_t index)
{
    return is_named(commands, index, "WAIT") || is_named(commands, index, "WAITAOF");
}

/* It goes with the command before it. */
static bool follows(const rv_commands *commands, size_t index)
{
    return is_named(commands, index, "EXEC") || rv_route_is_wait(commands, index);
}

void rv_route_all(const rv_commands *commands, int *ret_slots)
{
    size_t count = commands->count;
    for (size_t i = 0; i < count; i++) ret_slots[i] = slot_of(commands, i);
    if (count < 2) return;
    for (size_t i = count - 1; i-- > 0;) {
        if (ret_slots[i] == RV_ROUTE_ANY && !follows(commands, i)) ret_slots[i] = ret_slots[i + 1];
    }
    for (size_t i = 1; i < count; i++) {
        if (ret_slots[i] == RV_ROUTE_ANY) ret_slots[i] = ret_slots[i - 1];
    }
}

void rv_route_mark_transactions(const rv_commands *commands, bool *ret)
{
    bool in = false;
    for (size_t i = 0; i < commands->count; i++) {
        in = in || is_named(commands, i, "MULTI");
        ret[i] = in;
        if (is_named(commands, i, "EXEC")) in = false;
    }
}
