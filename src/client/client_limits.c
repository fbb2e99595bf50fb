/*
 * client_limits.c - limits of queues, groups, types and limit keys: set and read; pauses for a time.
 */
#include "reeve/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/layout.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/client.h"
#include "client/client_partition.h"
#include "client/spread.h"
#include "protocol/rates.h"
#include "protocol/scripts.h"

#define COUNT_MAX 1000000000
#define PERIOD_MAX_MS ((int64_t)366 * 24 * 3600 * 1000)
#define PERIOD_MS 1000

/* ---- setting --------------------------------------------------------------------------------------------------- */

static reeve_status check_rate(const reeve_rate *rate, rv_error *error)
{
    if (rate == NULL || rate->count == 0) return REEVE_OK;
    if (rate->count < 0 || rate->count > COUNT_MAX) {
        return rv_fail(error, REEVE_EINVAL, "rate: a count of %lld: must be from 1 to %d, or 0 for any rate",
                       (long long)rate->count, COUNT_MAX);
    }
    if (rate->period_ms < 0 || rate->period_ms > PERIOD_MAX_MS) {
        return rv_fail(error, REEVE_EINVAL, "rate: a period of %lld ms: must be from 1 ms to 366 days",
                       (long long)rate->period_ms);
    }
    if (rate->burst >= 0 && rate->burst <= COUNT_MAX) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "rate: a burst of %lld: must be from 1 to %d", (long long)rate->burst,
                   COUNT_MAX);
}

/* Limits of one group, type or key, not of all. */
static bool is_one(const reeve_limit_change *change)
{
    return change->of == REEVE_LIMIT_GROUP || change->of == REEVE_LIMIT_TYPE || change->of == REEVE_LIMIT_KEY;
}

static bool can_be_strict(const reeve_limit_change *change)
{
    return change->of == REEVE_LIMIT_GROUP || change->of == REEVE_LIMIT_GROUPS;
}

static reeve_status check_group(const reeve_limit_change *change, rv_error *error)
{
    if (change->strict < -1 || change->strict > 1)
        return rv_fail(error, REEVE_EINVAL, "strict: %d is not 1, 0 or -1", change->strict);
    if (change->strict != 0 && !can_be_strict(change))
        return rv_fail(error, REEVE_EINVAL, "strict: only groups can have a strict order");
    if (!is_one(change)) {
        if (change->group != NULL)
            return rv_fail(error, REEVE_EINVAL, "a group is named, but the limit is not that of one group");
        if (change->forget)
            return rv_fail(error, REEVE_EINVAL,
                           "only a group's own limits can be forgotten: take others away with -1 and a "
                           "rate of 0");
        return REEVE_OK;
    }
    if (change->forget && (change->concurrency != 0 || change->rate != NULL || change->strict != 0))
        return rv_fail(error, REEVE_EINVAL, "a group's limits are either forgotten or set, not both");
    if (change->of == REEVE_LIMIT_GROUP) return rv_keys_check_group(change->group, error);
    if (change->group != NULL)
        return rv_fail(error, REEVE_EINVAL, "a group is named, but the limit is not that of one group");
    return change->of == REEVE_LIMIT_KEY ? rv_keys_check_limit_key(change->key, error)
                                         : rv_keys_check_type(change->type, error);
}

static reeve_status check_change(const reeve_limit_change *change, rv_error *error)
{
    if ((unsigned)change->of > REEVE_LIMIT_KEY)
        return rv_fail(error, REEVE_EINVAL,
                       "limits are of a queue, its groups, one group, one type or one limit key, not of %d",
                       (int)change->of);
    if (change->concurrency < -1 || change->concurrency > COUNT_MAX) {
        return rv_fail(error, REEVE_EINVAL, "a concurrency of %lld: must be from 1 to %d, or -1 for any",
                       (long long)change->concurrency, COUNT_MAX);
    }
    reeve_status status = check_group(change, error);
    return status == REEVE_OK ? check_rate(change->rate, error) : status;
}

#define NAME_MAX_BYTES (REEVE_GROUP_MAX + sizeof(RV_TYPE_GROUP) + 8)

/* The arguments of limit.lua: names and values. */
typedef struct limit_words {
    char names[3][NAME_MAX_BYTES];
    char values[3][80];
    size_t count;
} limit_words;

static void add_words(limit_words *words, const reeve_limit_change *change, const char *const names[3],
                      const char *value)
{
    char *name = words->names[words->count];
    const char *letter = names[2], *minus = change->forget ? "-" : "";
    if (change->of == REEVE_LIMIT_TYPE)
        (void)snprintf(name, NAME_MAX_BYTES, "%s%s:" RV_TYPE_GROUP "%s", letter, minus, change->type);
    else if (change->of == REEVE_LIMIT_KEY)
        (void)snprintf(name, NAME_MAX_BYTES, "%s%s:" RV_KEY_GROUP "%s", letter, minus, change->key);
    else if (change->of == REEVE_LIMIT_GROUP)
        (void)snprintf(name, NAME_MAX_BYTES, "%s%s:%s", letter, minus, change->group);
    else
        (void)snprintf(name, NAME_MAX_BYTES, "%s", names[change->of]);
    rv_copy_text(words->values[words->count++], sizeof(words->values[0]), value);
}

static void add_concurrency(limit_words *words, const reeve_limit_change *change)
{
    static const char *const names[] = {"concurrency", "group_concurrency", "c"};
    char value[24] = "";
    if (change->concurrency == 0 && !change->forget) return;
    if (change->concurrency > 0 || is_one(change))
        (void)snprintf(value, sizeof(value), "%lld", (long long)change->concurrency);
    add_words(words, change, names, value);
}

static void add_rate(limit_words *words, const reeve_limit_change *change)
{
    static const char *const names[] = {"rate", "group_rate", "r"};
    const reeve_rate *rate = change->rate;
    char value[80] = "";
    if (rate == NULL && !change->forget) return;
    if (rate != NULL && rate->count > 0) {
        (void)snprintf(value, sizeof(value), "%lld %lld %lld", (long long)rate->count,
                       (long long)(rate->period_ms != 0 ? rate->period_ms : PERIOD_MS),
                       (long long)(rate->burst != 0 ? rate->burst : rate->count));
    } else if (is_one(change)) {
        rv_copy_text(value, sizeof(value), "0");
    }
    add_words(words, change, names, value);
}

static void add_strict(limit_words *words, const reeve_limit_change *change)
{
    static const char *const names[] = {"", "group_strict", "s"};
    if (change->strict == 0 && (!change->forget || !can_be_strict(change))) return;
    add_words(words, change, names, change->strict == 1 ? "1" : change->of == REEVE_LIMIT_GROUP ? "0" : "");
}

/* The first call changes the limits, further ones count the tasks that run. */
static reeve_status set_limits(reeve_client *client, const char *queue, const limit_words *words)
{
    char cursor[64] = "";
    do {
        const rv_reply *reply;
        rv_simple_call call = {.script = &rv_script_limit, .queue = queue, .args = {cursor}, .count = 1};
        for (size_t i = 0; i < words->count; i++) {
            call.args[call.count++] = words->names[i];
            call.args[call.count++] = words->values[i];
        }
        reeve_status status = rv_client_script(client, &call, &reply, NULL);
        if (status != REEVE_OK) return status;
        if (!rv_reply_is(reply, RV_TEXT) || reply->length >= sizeof(cursor))
            return rv_client_odd_reply(client, "limit");
        rv_copy_text(cursor, sizeof(cursor), reply->text);
    } while (cursor[0] != '\0');
    return REEVE_OK;
}

/* The queue's own limits are shared by its partitions, those of groups hold in each. */
static reeve_status limit_spread(reeve_client *client, const char *queue, const reeve_limit_change *change)
{
    rv_spread spread;
    reeve_status status = REEVE_OK;
    if (change->of == REEVE_LIMIT_QUEUE) return rv_client_partition_limit(client, queue, change);
    if (!rv_spread_begin(&spread, client, queue)) return REEVE_OK;
    while (status == REEVE_OK && rv_spread_next(&spread)) status = reeve_limit(client, spread.name, change);
    return status;
}

reeve_status reeve_limit_sized(reeve_client *client, const char *queue, const reeve_limit_change *given,
                               size_t change_size)
{
    reeve_limit_change change;
    if (client == NULL || given == NULL) return REEVE_EINVAL;
    reeve_status status = RV_LAYOUT_READ(&change, given, change_size, "the limits", &client->error);
    if (status == REEVE_OK) status = rv_keys_check_queue(queue, &client->error);
    if (status == REEVE_OK) status = check_change(&change, &client->error);
    if (status != REEVE_OK) return status;
    if (rv_partitions_find(client, queue) != NULL) return limit_spread(client, queue, &change);
    limit_words words = {.count = 0};
    add_concurrency(&words, &change);
    add_rate(&words, &change);
    add_strict(&words, &change);
    if (words.count == 0) return REEVE_OK;
    return set_limits(client, queue, &words);
}

reeve_status reeve_pause_for(reeve_client *client, const char *queue, const char *group, int64_t delay_ms,
                             int64_t *ret_until_ms)
{
    if (client == NULL) return REEVE_EINVAL;
    reeve_status status = rv_keys_check_queue(queue, &client->error);
    if (status == REEVE_OK && group != NULL) status = rv_keys_check_group(group, &client->error);
    if (status != REEVE_OK) return status;
    if (delay_ms < 0)
        return rv_fail(&client->error, REEVE_EINVAL, "a pause of %lld ms: must not be negative", (long long)delay_ms);
    char delay[24];
    (void)snprintf(delay, sizeof(delay), "%lld", (long long)delay_ms);
    const rv_reply *reply;
    rv_simple_call call = {
        .script = &rv_script_pause_for, .queue = queue, .args = {group != NULL ? group : "", delay, "0"}, .count = 3};
    status = rv_client_script(client, &call, &reply, NULL);
    if (status == REEVE_OK && ret_until_ms != NULL) *ret_until_ms = rv_reply_int(reply, 0);
    return status;
}

/* ---- looking --------------------------------------------------------------------------------------------------- */

/* The indexes of the members in limits.lua's reply, in its second element, and in that of a group. */
enum { NOW, QUEUE, RUNNING, GROUP_TOTAL, NEXT, GROUPS };
enum { CONCURRENCY, RATE, HOLD, GROUP_CONCURRENCY, GROUP_RATE, ON_DEAD, POLICY, GROUP_STRICT, QUEUE_FIELDS };
enum { NAME, OWN_CONCURRENCY, OWN_RATE, OWN_HOLD, OWN_RUNNING, OWN_PARKED, OWN_STRICT, GROUP_FIELDS };

static uint64_t count_at(const rv_reply *reply, size_t index)
{
    int64_t number = rv_reply_int(rv_reply_at(reply, index), 0);
    return number > 0 ? (uint64_t)number : 0;
}

/* The name of a group, type or limit key tells which of these it is. */
static bool read_group(reeve_group_limits *ret, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < GROUP_FIELDS) return false;
    const char *name = reply->items[NAME]->text;
    if (strncmp(name, RV_TYPE_GROUP, strlen(RV_TYPE_GROUP)) == 0)
        rv_copy_text(ret->type, sizeof(ret->type), name + strlen(RV_TYPE_GROUP));
    else if (strncmp(name, RV_KEY_GROUP, strlen(RV_KEY_GROUP)) == 0)
        rv_copy_text(ret->key, sizeof(ret->key), name + strlen(RV_KEY_GROUP));
    else
        rv_copy_text(ret->group, sizeof(ret->group), name);
    ret->concurrency = rv_reply_int(reply->items[OWN_CONCURRENCY], 0);
    ret->rate = rv_rates_read(reply->items[OWN_RATE]);
    ret->pause_until_ms = rv_reply_int(reply->items[OWN_HOLD], 0);
    ret->running = count_at(reply, OWN_RUNNING);
    ret->parked = count_at(reply, OWN_PARKED);
    if (*reply->items[OWN_STRICT]->text != '\0') ret->strict = rv_reply_is_text(reply->items[OWN_STRICT], "1") ? 1 : -1;
    return true;
}

static bool read_limits(reeve_limits *ret, const rv_reply *reply)
{
    const rv_reply *queue = reply->items[QUEUE];
    if (!rv_reply_is(queue, RV_ARRAY) || queue->count < QUEUE_FIELDS) return false;
    ret->concurrency = rv_reply_int(queue->items[CONCURRENCY], 0);
    ret->rate = rv_rates_read(queue->items[RATE]);
    ret->pause_until_ms = rv_reply_int(queue->items[HOLD], 0);
    if (ret->pause_until_ms <= rv_reply_int(reply->items[NOW], 0)) ret->pause_until_ms = 0;
    ret->running = rv_reply_int(reply->items[RUNNING], -1);
    ret->group_concurrency = rv_reply_int(queue->items[GROUP_CONCURRENCY], 0);
    ret->group_rate = rv_rates_read(queue->items[GROUP_RATE]);
    ret->group_strict = rv_reply_is_text(queue->items[GROUP_STRICT], "1");
    ret->group_total = count_at(reply, GROUP_TOTAL);
    ret->next = count_at(reply, NEXT);
    for (size_t i = 0; i < ret->group_count; i++) {
        if (!read_group(&ret->groups[i], reply->items[GROUPS + i])) return false;
    }
    return true;
}

static reeve_rate rate_sum(reeve_rate sum, reeve_rate part)
{
    bool limited = sum.count > 0 && part.count > 0;
    return limited ? (reeve_rate){sum.count + part.count, sum.period_ms, sum.burst + part.burst} : (reeve_rate){0};
}

/* Groups first, then limit keys, then types. */
static int group_order(const void *a, const void *b)
{
    const reeve_group_limits *one = a, *other = b;
    int order = strcmp(one->group, other->group);
    if (order == 0) order = strcmp(one->type, other->type);
    return order != 0 ? order : strcmp(one->key, other->key);
}

/* A group has its limits in all partitions, and its tasks in one: what is there of it is added up. */
static void add_group(reeve_group_limits *list, size_t *count, const reeve_group_limits *group)
{
    size_t i = 0;
    while (i < *count && group_order(&list[i], group) != 0) i++;
    if (i == *count) {
        list[(*count)++] = *group;
        return;
    }
    list[i].running += group->running;
    list[i].parked += group->parked;
    if (group->pause_until_ms > list[i].pause_until_ms) list[i].pause_until_ms = group->pause_until_ms;
}

static bool add_limits(reeve_limits *sum, const reeve_limits *part)
{
    size_t room = sum->group_count + part->group_count + 1;
    reeve_group_limits *groups = rv_realloc(sum->groups, room * sizeof(*groups));
    if (groups == NULL) return false;
    sum->groups = groups;
    for (size_t i = 0; i < part->group_count; i++) add_group(groups, &sum->group_count, &part->groups[i]);
    sum->concurrency = sum->concurrency > 0 && part->concurrency > 0 ? sum->concurrency + part->concurrency : 0;
    sum->rate = rate_sum(sum->rate, part->rate);
    if (part->pause_until_ms < sum->pause_until_ms) sum->pause_until_ms = part->pause_until_ms;
    sum->running = sum->running < 0 || part->running < 0 ? -1 : sum->running + part->running;
    return true;
}

#define GROUPS_PAGE 1000

/* All groups of one partition: the list becomes one page. */
static reeve_status add_partition(reeve_client *client, const char *name, reeve_limits **sum)
{
    uint64_t next = 0;
    do {
        reeve_limits *part = NULL;
        reeve_status status = reeve_limits_get(client, name, next, GROUPS_PAGE, &part);
        if (status != REEVE_OK) return status;
        next = part->next;
        if (*sum == NULL) {
            *sum = part;
            continue;
        }
        bool good = add_limits(*sum, part);
        reeve_limits_free(part);
        if (!good) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for the limits of a queue");
    } while (next != 0);
    return REEVE_OK;
}

/* The partitions have the limits of the whole queue in parts: the layout has the whole. */
static reeve_status get_spread(reeve_client *client, rv_spread *spread, uint64_t offset, size_t limit,
                               reeve_limits **ret)
{
    const rv_partition_layout *known = rv_partitions_find(client, spread->queue);
    const rv_partition_layout layout = known != NULL ? *known : (rv_partition_layout){0};
    reeve_limits *sum = NULL;
    reeve_status status = REEVE_OK;
    while (status == REEVE_OK && rv_spread_next(spread)) status = add_partition(client, spread->name, &sum);
    if (status != REEVE_OK) {
        reeve_limits_free(sum);
        return status;
    }
    sum->concurrency = layout.concurrency;
    sum->rate = layout.rate;
    if (sum->group_count > 0) qsort(sum->groups, sum->group_count, sizeof(*sum->groups), group_order);
    sum->group_total = sum->group_count;
    size_t skip = offset < sum->group_count ? (size_t)offset : sum->group_count;
    sum->group_count -= skip;
    memmove(sum->groups, sum->groups + skip, sum->group_count * sizeof(*sum->groups));
    sum->next = sum->group_count > limit ? skip + limit : 0;
    if (sum->group_count > limit) sum->group_count = limit;
    *ret = sum;
    return REEVE_OK;
}

reeve_status reeve_limits_get(reeve_client *client, const char *queue, uint64_t offset, size_t limit,
                              reeve_limits **ret)
{
    if (client == NULL || ret == NULL) return REEVE_EINVAL;
    rv_page page = {.offset = offset, .limit = limit};
    reeve_status status = rv_inspect_page_args(client, &page, "groups");
    if (status != REEVE_OK) return status;
    rv_spread spread;
    if (rv_spread_begin(&spread, client, queue)) return get_spread(client, &spread, offset, limit, ret);
    const rv_reply *reply;
    rv_simple_call call = {.script = &rv_script_limits, .queue = queue, .args = {page.skip, page.max}, .count = 2};
    status = rv_client_script(client, &call, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < GROUPS) return rv_client_odd_reply(client, "limits");
    size_t count = reply->count - GROUPS;
    reeve_limits *limits = rv_zalloc(sizeof(*limits));
    if (limits != NULL) limits->groups = rv_zalloc_array(count + 1, sizeof(*limits->groups));
    if (limits == NULL || limits->groups == NULL) {
        reeve_limits_free(limits);
        return rv_fail(&client->error, REEVE_ENOMEM, "no memory for the limits of %zu groups", count);
    }
    limits->group_count = count;
    if (!read_limits(limits, reply)) {
        reeve_limits_free(limits);
        return rv_client_odd_reply(client, "limits");
    }
    *ret = limits;
    return REEVE_OK;
}

void reeve_limits_free(reeve_limits *limits)
{
    if (limits == NULL) return;
    rv_free(limits->groups);
    rv_free(limits);
}
