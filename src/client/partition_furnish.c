#include "client/partition_furnish.h"

#include "reeve/change.h"
#include "reeve/limits.h"
#include "reeve/watch.h"

#define GROUPS_PAGE 1000

static reeve_status copy_groups(reeve_client *client, const char *from, const char *to)
{
    uint64_t next = 0;
    reeve_status status = REEVE_OK;
    do {
        reeve_limits *limits;
        status = reeve_limits_get(client, from, next, GROUPS_PAGE, &limits);
        if (status != REEVE_OK) return status;
        reeve_limit_change all = {.of = REEVE_LIMIT_GROUPS, .rate = &limits->group_rate};
        all.concurrency = limits->group_concurrency > 0 ? limits->group_concurrency : -1;
        all.strict = limits->group_strict ? 1 : -1;
        if (next == 0) status = reeve_limit(client, to, &all);
        for (size_t i = 0; status == REEVE_OK && i < limits->group_count; i++) {
            const reeve_group_limits *group = &limits->groups[i];
            reeve_limit_change own = {.of = REEVE_LIMIT_GROUP, .group = group->group, .strict = group->strict};
            if (group->group[0] == '\0') own = (reeve_limit_change){.of = REEVE_LIMIT_TYPE, .type = group->type};
            if (group->key[0] != '\0') own = (reeve_limit_change){.of = REEVE_LIMIT_KEY, .key = group->key};
            own.concurrency = group->concurrency;
            if (group->rate.count > 0) own.rate = &group->rate;
            status = reeve_limit(client, to, &own);
        }
        next = limits->next;
        reeve_limits_free(limits);
    } while (status == REEVE_OK && next != 0);
    return status;
}

reeve_status rv_partition_furnish(reeve_client *client, const char *queue, unsigned number)
{
    char from[REEVE_QUEUE_MAX + 1], to[REEVE_QUEUE_MAX + 1];
    reeve_queue_settings *settings;
    reeve_queue_info info;
    rv_partition_exact_name(from, queue, 0);
    rv_partition_exact_name(to, queue, number);
    reeve_status status = reeve_queue_settings_get(client, from, &settings);
    if (status != REEVE_OK) return status;
    status = reeve_queue_set(client, to, settings);
    reeve_queue_settings_free(settings);
    int64_t events;
    if (status == REEVE_OK) status = copy_groups(client, from, to);
    if (status == REEVE_OK) status = reeve_events_get(client, from, &events, NULL);
    if (status == REEVE_OK) status = reeve_events_keep(client, to, events);
    if (status == REEVE_OK) status = reeve_queue(client, from, &info);
    if (status == REEVE_OK) status = info.paused ? reeve_pause(client, to) : reeve_resume(client, to);
    return status;
}
