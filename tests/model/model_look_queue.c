/* What is known of a queue: settings, counters, unique keys, its order, recurring entries. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "model/model_look.h"

void model_read_settings(int queue, const char *rest, const rv_reply *found)
{
    static const char *const names[] = {"completed_age",
                                        "completed_count",
                                        "dead_age",
                                        "dead_count",
                                        "completed_bytes",
                                        "paused",
                                        "waiters",
                                        "large",
                                        "on_dead",
                                        "in_force",
                                        "policy",
                                        "paused_until",
                                        "rate",
                                        "concurrency",
                                        "group_rate",
                                        "group_strict",
                                        "group_concurrency",
                                        "serial",
                                        "events",
                                        "events_until",
                                        "unsent",
                                        "upkeep",
                                        "reads",
                                        "payload_max",
                                        "breaker",
                                        "breaker_attempts",
                                        "breaker_window",
                                        "breaker_pause",
                                        "group_breaker",
                                        "group_breaker_attempts",
                                        "group_breaker_window",
                                        "group_breaker_pause",
                                        "types",
                                        "keys",
                                        NULL};
    model_seen_queue *q = &model_now_seen.queues[queue];
    model_allow(queue, rest, found, names);
    for (int i = 0; i < 4; i++) rv_copy_text(q->keep[i], sizeof(q->keep[i]), model_field(found, names[i]));
    q->keep_bytes = atoi(model_field(found, "completed_bytes"));
    q->paused = *model_field(found, "paused");
    q->waiters = *model_field(found, "waiters");
    q->large = *model_field(found, "large");
    q->on_dead = *model_field(found, "on_dead");
    q->policy = *model_field(found, "policy");
    q->payload_setting = *model_field(found, "payload_max");
    q->events_kept = atoi(model_field(found, "events"));
    q->listening_ms = atoll(model_field(found, "events_until"));
    q->reads = atoi(model_field(found, "reads"));
    q->serial = atoll(model_field(found, "serial"));
    COPY(q->limit_state, found, "in_force");
    COPY(q->upkeep, found, "upkeep");
    COPY(q->hold, found, "paused_until");
    COPY(q->rate, found, "rate");
    COPY(q->concurrency, found, "concurrency");
    COPY(q->group_rate, found, "group_rate");
    COPY(q->group_strict, found, "group_strict");
    COPY(q->group_concurrency, found, "group_concurrency");
}

void model_read_counters(int queue, const char *rest, const rv_reply *found)
{
    static const char *const names[] = {"completed",  "failed",    "dead",           "crashed",
                                        "unrecorded", "cancelled", "enqueued_extra", NULL};
    model_allow(queue, rest, found, names);
    for (int i = 0; i < 4; i++) model_now_seen.queues[queue].counters[i] = atoi(model_field(found, names[i]));
    for (int i = 0; i < 2; i++) model_now_seen.queues[queue].ends[i] = atoi(model_field(found, names[5 + i]));
    model_now_seen.queues[queue].unrecorded_ms = atoll(model_field(found, names[4]));
}

void model_read_unique_of(int queue, const char *rest, const rv_reply *found)
{
    int key = rest[0] == 'u' ? atoi(rest + 1) : 0, holder = model_id_of(rv_reply_at(found, 0)->text);
    if (key < 1 || key > UNIQUES || holder < 0) {
        model_stray(queue, "unique", rest);
        return;
    }
    model_now_seen.queues[queue].holders[key] = holder + 1;
    model_now_seen.queues[queue].left_ms[key] = atoll(rv_reply_at(found, 1)->text);
}

void model_read_replaced_by_of(int queue, const char *rest, const rv_reply *found)
{
    int id = model_id_of(rest), replacement = model_id_of(rv_reply_at(found, 0)->text);
    if (id < 0 || replacement < 0) {
        model_stray(queue, "replacement", rest);
        return;
    }
    model_now_seen.queues[queue].replacements[id] = replacement + 1;
    model_now_seen.queues[queue].replacements_left_ms[id] = atoll(rv_reply_at(found, 1)->text);
}

/* Of what workers flush, two sums; of what scripts add, what crashed. */
void model_read_stats_of(int queue, const char *rest, const rv_reply *found)
{
    model_seen_queue *q = &model_now_seen.queues[queue];
    if (*model_field(found, "wait:count") && q->stat_days < STAT_DAYS) {
        q->stats[q->stat_days].day = atoll(rest);
        q->stats[q->stat_days].retried = atoi(model_field(found, "retried:k1"));
        q->stats[q->stat_days++].sum = atoi(model_field(found, "wait:count"));
    }
    model_now_seen.queues[queue].crashed += atoi(model_field(found, "crashed"));
}

/* The waits in all minutes of an hour. */
void model_read_minutes_of(int queue, const char *rest, const rv_reply *found)
{
    model_seen_queue *q = &model_now_seen.queues[queue];
    int sum = 0;
    for (size_t i = 1; i < found->count; i += 2) {
        long long numbers[7];
        if (strchr(found->items[i - 1]->text, ':') != NULL) continue; /* the times of five minutes */
        if (!rv_parse_numbers(found->items[i]->text, numbers, 7, NULL))
            model_differ("a minute of %s has %s", rest, found->items[i]->text);
        else
            sum += (int)numbers[3];
    }
    if (q->stat_hours == STAT_HOURS) return;
    q->hours[q->stat_hours].hour = atoll(rest);
    q->hours[q->stat_hours++].sum = sum;
}

void model_read_sequence(int queue, const char *rest, const rv_reply *found)
{
    (void)rest;
    model_now_seen.queues[queue].grouped = *model_field(found, "groups");
    model_now_seen.queues[queue].events_ordered = *model_field(found, "events");
    model_now_seen.queues[queue].payload_max = strcmp(model_field(found, "payload_max"), "100") == 0;
    model_now_seen.queues[queue].next = atoll(model_field(found, "next"));
    model_now_seen.queues[queue].last = atoll(model_field(found, "0"));
    COPY(model_now_seen.queues[queue].newest, found, "segment");
}

void model_read_payload_limited(int queue, const char *rest, const rv_reply *found)
{
    (void)rest;
    (void)found;
    model_now_seen.queues[queue].payload_limited = true;
}

void model_read_groups(int queue, const char *rest, const rv_reply *found)
{
    (void)rest;
    model_now_seen.queues[queue].groups = (int)found->count / 2;
}

void model_read_wake(int queue, const char *rest, const rv_reply *found)
{
    (void)rest;
    model_now_seen.queues[queue].tokens = (int)found->count;
}

/* ---- recurring entries --------------------------------------------------------------------------------------------
 */

#define BY_ENTRY(name, statement)                                                         \
    void model_read_##name(int queue, const char *rest, const rv_reply *found)            \
    {                                                                                     \
        (void)rest;                                                                       \
        for (size_t i = 0; i + 1 < found->count; i += 2) {                                \
            const char *text = found->items[i]->text, *value = found->items[i + 1]->text; \
            int entry = text[0] == 'e' ? atoi(text + 1) : ENTRIES;                        \
            if (entry >= ENTRIES)                                                         \
                model_stray(queue, #name, text);                                          \
            else                                                                          \
                statement;                                                                \
        }                                                                                 \
    }
BY_ENTRY(cron, rv_copy_text(model_now_seen.queues[queue].entries[entry].definition, 512, value))
BY_ENTRY(cron_due, model_now_seen.queues[queue].entries[entry].due_ms = (int64_t)strtod(value, NULL))
BY_ENTRY(cron_runs, model_now_seen.queues[queue].entries[entry].runs = atoi(value))
BY_ENTRY(cron_stopped, rv_copy_text(model_now_seen.queues[queue].entries[entry].stopped, 8, value))
BY_ENTRY(cron_last, model_now_seen.queues[queue].entries[entry].last = model_id_of(value) + 1)
