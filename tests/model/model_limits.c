/* Limits are set and taken away, queues and groups are held. */
#include <stdio.h>
#include <stdlib.h>

#include "model/model_limit_state.h"
#include "support/queue.h"

enum { QUEUE, WHAT, VALUE, GROUP, FLAGS };
enum { TWICE = 1, STOPS = 2 /* does not count what runs */ };
enum {
    QUEUE_CONCURRENCY,
    QUEUE_RATE,
    GROUP_CONCURRENCY,
    GROUP_RATE,
    OWN_CONCURRENCY,
    OWN_RATE,
    GROUP_STRICT,
    OWN_STRICT,
    WHATS
};
enum { NONE_AT_ALL = 7, FORGET = 8 /* values: no such limit; (a group's own) not said */ };

void model_limit_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[WHAT] = CHOOSE(QUEUE_CONCURRENCY, QUEUE_RATE, GROUP_CONCURRENCY, GROUP_CONCURRENCY, GROUP_RATE, OWN_CONCURRENCY,
                       OWN_RATE, GROUP_STRICT, OWN_STRICT);
    arg[VALUE] = CHOOSE(1, 1, 1, 2, 3, 4, NONE_AT_ALL, FORGET);
    /* Its tasks are parked then, and wait for another limit. */
    bool parks = arg[WHAT] == GROUP_CONCURRENCY || arg[WHAT] == OWN_CONCURRENCY;
    if (model_chance(parks ? 5 : 12) == 0) arg[VALUE] = 0;
    bool closed = model.queues[arg[QUEUE]].limits.group_concurrency == 0;
    if (closed && model_chance(2)) arg[WHAT] = GROUP_CONCURRENCY, arg[VALUE] = CHOOSE(1, 2, NONE_AT_ALL);
    arg[GROUP] = 1 + (int)model_chance(GROUPS);
    if ((arg[WHAT] == OWN_CONCURRENCY || arg[WHAT] == OWN_RATE) && model_chance(3) == 0)
        arg[GROUP] = GROUPS + 1 + (int)model_chance(TYPES + LIMIT_KEYS);
    arg[FLAGS] = CHOOSE(0, 0, 0, TWICE, STOPS);
}

static bool is_rate(int what)
{
    return what == QUEUE_RATE || what == GROUP_RATE || what == OWN_RATE;
}

/* The limit's name and value as they are sent; ret_value: as the model keeps it. */
static void describe_strict(const int arg[ARGS], char name[32], char value[32], int *ret_value)
{
    bool own = arg[WHAT] == OWN_STRICT, strict = arg[VALUE] < NONE_AT_ALL, forget = own && arg[VALUE] == FORGET;
    *ret_value = forget ? NOT_SAID : strict;
    if (own)
        (void)snprintf(name, 32, "s%s:g%d", forget ? "-" : "", arg[GROUP]);
    else
        (void)snprintf(name, 32, "group_strict");
    (void)snprintf(value, 32, "%s", strict ? "1" : own ? "0" : "");
}

static void describe(const int arg[ARGS], char name[32], char value[32], int *ret_value)
{
    static const char *const names[] = {"concurrency", "rate", "group_concurrency", "group_rate"};
    bool own = arg[WHAT] >= OWN_CONCURRENCY, rate = is_rate(arg[WHAT]);
    bool none = arg[VALUE] >= NONE_AT_ALL, forget = own && arg[VALUE] == FORGET;
    char key[16];
    model_key_text(arg[GROUP], key);
    *ret_value = none ? (rate ? 0 : NO_LIMIT) : rate ? (arg[VALUE] ? arg[VALUE] : 1) : arg[VALUE];
    if (forget) *ret_value = NOT_SAID;
    if (own)
        (void)snprintf(name, 32, "%s%s:%s", rate ? "r" : "c", forget ? "-" : "", key);
    else
        (void)snprintf(name, 32, "%s", names[arg[WHAT]]);
    if (none && own)
        (void)snprintf(value, 32, "%s", rate ? "0" : "-1");
    else if (none)
        value[0] = '\0';
    else if (rate)
        model_rate_text(*ret_value, value);
    else
        (void)snprintf(value, 32, "%d", *ret_value);
}

static void set(const int arg[ARGS], int value)
{
    model_limits *l = &model.queues[arg[QUEUE]].limits;
    int *const where[WHATS] = {
        &l->concurrency,          &l->rate, &l->group_concurrency,     &l->group_rate, &l->own_concurrency[arg[GROUP]],
        &l->own_rate[arg[GROUP]], NULL,     &l->own_strict[arg[GROUP]]};
    if (arg[WHAT] == GROUP_STRICT) {
        l->group_strict = value;
        return;
    }
    *where[arg[WHAT]] = value;
}

static void cover(const int arg[ARGS])
{
    static const int set_one[WHATS] = {COVER_LIMIT_CONCURRENCY,
                                       COVER_LIMIT_RATE,
                                       COVER_LIMIT_GROUP_CONCURRENCY,
                                       COVER_LIMIT_GROUP_RATE,
                                       COVER_LIMIT_OWN_CONCURRENCY,
                                       COVER_LIMIT_OWN_RATE,
                                       COVER_LIMIT_STRICT,
                                       COVER_LIMIT_OWN_STRICT};
    if (arg[VALUE] < NONE_AT_ALL) model_cover(set_one[arg[WHAT]]);
    if (arg[VALUE] < NONE_AT_ALL && arg[GROUP] > GROUPS && arg[GROUP] <= GROUPS + TYPES) COVER(LIMIT_TYPE);
    if (arg[VALUE] < NONE_AT_ALL && model_is_limit_key(arg[GROUP])) COVER(LIMIT_KEY);
    if (arg[VALUE] >= NONE_AT_ALL) COVER(LIMIT_NONE);
    if (arg[VALUE] == FORGET && arg[WHAT] >= OWN_CONCURRENCY) COVER(LIMIT_FORGET);
}

static void limit(const int arg[ARGS])
{
    char name[32], value[32], cursor[64] = "";
    int number;
    if (arg[WHAT] >= GROUP_STRICT)
        describe_strict(arg, name, value, &number);
    else
        describe(arg, name, value, &number);
    for (int calls = 0; calls == 0 || *cursor; calls++) {
        const rv_reply *reply = CALL(limit, arg[QUEUE], cursor, name, value);
        if (!reply) return;
        rv_copy_text(cursor, sizeof(cursor), reply->text ? reply->text : "?");
        set(arg, number);
        if (*cursor) COVER(LIMIT_COUNTS);
        if (*cursor && arg[FLAGS] & STOPS) break;
        if (calls > SESSIONS) model_differ("limit does not end");
        if (model.words[0]) return;
    }
    cover(arg);
}

void model_limit(const int arg[ARGS])
{
    limit(arg);
    if (arg[FLAGS] & TWICE) limit(arg);
}

/* ---- holds --------------------------------------------------------------------------------------------------------
 */

enum { MS = 1, LONGER = 2 };

void model_hold_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[MS] = CHOOSE(0, 1, 500, 500, 3000);
    arg[LONGER] = CHOOSE(0, 1);
    arg[GROUP] = CHOOSE(0, 1, 2, 3);
    arg[FLAGS] = CHOOSE(0, 0, TWICE);
}

void model_hold(const int arg[ARGS])
{
    model_limits *l = &model.queues[arg[QUEUE]].limits;
    int64_t *hold = arg[GROUP] ? &l->holds_ms[arg[GROUP]] : &l->hold_ms;
    char group[8] = "";
    if (arg[GROUP]) (void)snprintf(group, sizeof(group), "g%d", arg[GROUP]);
    for (int i = 0; i <= (arg[FLAGS] & TWICE); i++) {
        int64_t ends = arg[MS] ? model.now_ms + arg[MS] : 0;
        bool kept = arg[LONGER] && *hold > ends;
        const rv_reply *reply = CALL(pause_for, arg[QUEUE], group, model_number(arg[MS]), arg[LONGER] ? "1" : "");
        if (!reply) return;
        if (kept)
            COVER(HOLD_KEPT);
        else
            *hold = ends;
        if (rv_reply_int(reply, -1) != *hold) model_differ("hold says %s", test_reply_text(reply));
        if (ends && arg[GROUP]) COVER(HOLD_GROUP);
        if (ends && !arg[GROUP]) COVER(HOLD_QUEUE);
        if (!ends) COVER(HOLD_ENDS);
    }
}

/* ---- what there is -------------------------------------------------------------------------------------------------
 */

void model_limits_read_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
}

/* One of a group: {group, its own concurrency, its own rate, hold, running, parked}. */
static void check_group(int queue, const rv_reply *actual)
{
    const model_limits *l = &model.queues[queue].limits;
    int group = model_key_of(rv_reply_at(actual, 0)->text), parked = 0;
    char rate[32];
    if (group == 0) {
        model_differ("limits says %s", test_reply_text(actual));
        return;
    }
    model_rate_text(l->own_rate[group] > 0 ? l->own_rate[group] : 0, rate);
    if (l->own_rate[group] == 0) rv_copy_text(rate, sizeof(rate), "0");
    for (int id = 0; id < SLOTS; id++)
        parked += model_task_of(queue, id)->state == PARKED && model_task_of(queue, id)->parked_in == group;
    bool held = l->holds_ms[group] > model.now_ms, own = l->own_concurrency[group] != NOT_SAID;
    if (!rv_reply_is_text(rv_reply_at(actual, 1), own ? model_number(l->own_concurrency[group]) : "") ||
        !rv_reply_is_text(rv_reply_at(actual, 2), rate) ||
        !rv_reply_is_text(rv_reply_at(actual, 3), held ? model_number(l->holds_ms[group]) : "") ||
        rv_reply_int(rv_reply_at(actual, 5), -1) != parked)
        model_differ("limits says %s", test_reply_text(actual));
    COVER(LIMITS_GROUP);
}

void model_limits_read(const int arg[ARGS])
{
    const model_limits *l = &model.queues[arg[QUEUE]].limits;
    char rate[32];
    const rv_reply *reply = CALL(limits, arg[QUEUE], "0", "100");
    if (!reply) return;
    const rv_reply *actual = rv_reply_at(reply, 1);
    model_rate_text(l->rate, rate);
    if (!rv_reply_is_text(rv_reply_at(actual, 0), l->concurrency == NO_LIMIT ? "" : model_number(l->concurrency)) ||
        !rv_reply_is_text(rv_reply_at(actual, 1), rate) ||
        rv_reply_int(rv_reply_at(reply, 2), -2) != (l->concurrency == NO_LIMIT ? -1 : model_running(arg[QUEUE], 0)) ||
        rv_reply_int(rv_reply_at(reply, 3), -1) != (int64_t)reply->count - 5 ||
        rv_reply_int(rv_reply_at(reply, 4), -1) != 0)
        model_differ("limits says %s", test_reply_text(reply));
    for (size_t i = 5; i < reply->count; i++) check_group(arg[QUEUE], reply->items[i]);
    COVER(LIMITS_TOLD);
}
