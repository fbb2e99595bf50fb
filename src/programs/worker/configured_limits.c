#include "configured_limits.h"

#include <stdio.h>
#include <string.h>

#define PAGE 1000
#define WORDS 96

static bool is_of(const reeve_group_limits *group, const rv_config_limit *limit)
{
    return limit->key != NULL ? strcmp(group->key, limit->key) == 0 : strcmp(group->type, limit->type) == 0;
}

/* What is in force for the type or key; all zero: nothing. */
static reeve_status read_stored(reeve_client *client, const rv_config_limit *limit, reeve_group_limits *ret)
{
    uint64_t offset = 0;

    *ret = (reeve_group_limits){0};
    do {
        reeve_limits *limits;
        reeve_status status = reeve_limits_get(client, limit->queue, offset, PAGE, &limits);

        if (status != REEVE_OK) return status;
        for (size_t i = 0; i < limits->group_count; i++) {
            if (is_of(&limits->groups[i], limit)) *ret = limits->groups[i];
        }
        offset = limits->next;
        reeve_limits_free(limits);
    } while (offset != 0);
    return REEVE_OK;
}

reeve_status host_configured_limits_write(reeve_client *client, const rv_config_limit *limit, bool redis_wins)
{
    reeve_rate rate = limit->rate;
    reeve_limit_change change = {.size = sizeof(change),
                                 .of = limit->key != NULL ? REEVE_LIMIT_KEY : REEVE_LIMIT_TYPE,
                                 .type = limit->type,
                                 .key = limit->key,
                                 .concurrency = limit->concurrency,
                                 .rate = limit->has_rate ? &rate : NULL};
    reeve_group_limits stored;

    if (rate.count < 0) rate = (reeve_rate){0};
    if (redis_wins) {
        reeve_status status = read_stored(client, limit, &stored);

        if (status != REEVE_OK) return status;
        if (stored.concurrency != 0) change.concurrency = 0;
        if (stored.rate.count != 0) change.rate = NULL;
    }
    return reeve_limit(client, limit->queue, &change);
}

#define PATH_MAX_LENGTH (REEVE_QUEUE_MAX + REEVE_TYPE_MAX + REEVE_LIMIT_KEY_MAX + 40)

static void write_path(char ret[PATH_MAX_LENGTH], const rv_config_limit *limit, const char *member)
{
    const bool by_key = limit->key != NULL;

    (void)snprintf(ret, PATH_MAX_LENGTH, "limits[\"%s/%s%s\"].%s", limit->queue, by_key ? "key:" : "",
                   by_key ? limit->key : limit->type, member);
}

static void concurrency_words(char ret[WORDS], int64_t concurrency)
{
    if (concurrency == 0)
        (void)snprintf(ret, WORDS, "not set");
    else
        (void)snprintf(ret, WORDS, "%lld", (long long)concurrency);
}

static void rate_words(char ret[WORDS], const reeve_rate *rate)
{
    long long period_ms = rate->period_ms != 0 ? rate->period_ms : 1000;
    long long burst = rate->burst != 0 ? rate->burst : rate->count;

    if (rate->count == 0)
        (void)snprintf(ret, WORDS, "not set");
    else if (rate->count < 0)
        (void)snprintf(ret, WORDS, "-1");
    else
        (void)snprintf(ret, WORDS, "%lld in %lld ms, burst %lld", (long long)rate->count, period_ms, burst);
}

reeve_status host_configured_limits_compare(reeve_client *client, const rv_config_limit *limit,
                                            void (*take)(const rv_config_difference *difference, void *context),
                                            void *context)
{
    char path[PATH_MAX_LENGTH], before[WORDS], after[WORDS];
    rv_config_difference difference = {.row = "limits", .path = path, .from = before, .to = after};
    reeve_group_limits stored;
    reeve_status status = read_stored(client, limit, &stored);

    if (status != REEVE_OK) return status;
    concurrency_words(before, stored.concurrency);
    concurrency_words(after, limit->concurrency);
    write_path(path, limit, "concurrency");
    if (limit->concurrency != 0 && strcmp(before, after) != 0) take(&difference, context);
    rate_words(before, &stored.rate);
    rate_words(after, &limit->rate);
    write_path(path, limit, "rate");
    if (limit->has_rate && strcmp(before, after) != 0) take(&difference, context);
    return REEVE_OK;
}
