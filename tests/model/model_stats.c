/* The statistics of days, as far as workers flush them: what is sent again counts once, and old days go. */
#include <stdlib.h>

#include "model/model_limit_state.h"
#include "support/queue.h"

enum { QUEUE, BACK };
enum { KEPT_DAYS = 30, KEPT_HOURS = 25 };

static void add_to_day(model_queue *q)
{
    int64_t day = model.now_ms / DAY;
    int free = -1;
    for (int i = 0; i < STAT_DAYS; i++) {
        if (q->stats[i].sum && q->stats[i].day == day) free = i;
        if (!q->stats[i].sum && free < 0) free = i;
    }
    if (free < 0) model.full = true;
    if (free < 0) return;
    q->stats[free].day = day;
    q->stats[free].sum += 2;
}

static void add_to_hour(model_queue *q)
{
    int64_t hour = model.now_ms / HOUR;
    int free = -1;
    for (int i = 0; i < STAT_HOURS; i++) {
        if (q->hours[i].sum && q->hours[i].hour == hour) free = i;
        if (!q->hours[i].sum && free < 0) free = i;
    }
    if (free < 0) model.full = true;
    if (free < 0) return;
    q->hours[free].hour = hour;
    q->hours[free].sum += 2;
}

void model_add_stats(int queue)
{
    add_to_day(&model.queues[queue]);
    add_to_hour(&model.queues[queue]);
}

static void forget_days(int queue)
{
    model_queue *q = &model.queues[queue];
    for (int i = 0; i < STAT_DAYS; i++) {
        if (!q->stats[i].sum || model.now_ms < (q->stats[i].day + 1 + KEPT_DAYS) * DAY) continue;
        q->stats[i].sum = 0;
        COVER(STATS_GONE);
    }
}

static void forget_hours(int queue)
{
    model_queue *q = &model.queues[queue];
    for (int i = 0; i < STAT_HOURS; i++) {
        if (!q->hours[i].sum || model.now_ms < (q->hours[i].hour + 1 + KEPT_HOURS) * HOUR) continue;
        q->hours[i].sum = 0;
        COVER(STATS_HOUR_GONE);
    }
}

static void check_hours(int queue, const model_seen_queue *seen)
{
    const model_queue *q = &model.queues[queue];
    int count = 0;
    forget_hours(queue);
    for (int i = 0; i < STAT_HOURS; i++) count += q->hours[i].sum > 0;
    if (seen->stat_hours != count) model_differ("there are minutes of %d hours, not %d", seen->stat_hours, count);
    for (int i = 0; i < seen->stat_hours; i++) {
        int sum = 0;
        for (int j = 0; j < STAT_HOURS; j++)
            if (q->hours[j].hour == seen->hours[i].hour) sum = sum + q->hours[j].sum;
        if (seen->hours[i].sum != sum)
            model_differ("in hour %lld %d waited, not %d", (long long)seen->hours[i].hour, seen->hours[i].sum, sum);
    }
}

static int sum_of(int queue, int64_t day)
{
    const model_queue *q = &model.queues[queue];
    for (int i = 0; i < STAT_DAYS; i++)
        if (q->stats[i].sum && q->stats[i].day == day) return q->stats[i].sum;
    return 0;
}

/* For two that waited three were tried again, of one kind. */
void model_check_stats(int queue, const model_seen_queue *seen)
{
    int count = 0;
    forget_days(queue);
    check_hours(queue, seen);
    for (int i = 0; i < STAT_DAYS; i++) count += model.queues[queue].stats[i].sum > 0;
    if (seen->stat_days != count) model_differ("there are statistics of %d days, not %d", seen->stat_days, count);
    for (int i = 0; i < seen->stat_days; i++) {
        int sum = sum_of(queue, seen->stats[i].day);
        if (seen->stats[i].sum != sum || seen->stats[i].retried != sum / 2 * 3)
            model_differ("of day %lld %d waited, not %d", (long long)seen->stats[i].day, seen->stats[i].sum, sum);
    }
}

/* ---- asked for ------------------------------------------------------------------------------------------------- */

void model_stats_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[BACK] = CHOOSE(0, 0, 1, 20);
}

void model_stats(const int arg[ARGS])
{
    int64_t day = model.now_ms / DAY - arg[BACK];
    const rv_reply *reply = CALL(stats, arg[QUEUE], model_number(-arg[BACK]), "2");
    if (!reply) return;
    if (rv_reply_int(rv_reply_at(reply, 0), -1) != day || reply->count != 3)
        model_differ("stats says %s, of day %lld", test_reply_text(reply), (long long)day);
    for (int i = 0; i < 2; i++) {
        const rv_reply *actual = rv_reply_at(reply, (size_t)i + 1);
        int expected = sum_of(arg[QUEUE], day + i), found = 0;
        for (size_t j = 0; actual && j + 1 < actual->count; j += 2)
            if (rv_reply_is_text(actual->items[j], "wait:count"))
                found = (int)strtol(actual->items[j + 1]->text, NULL, 10);
        if (found != expected) model_differ("stats says %s, not %d", test_reply_text(reply), expected);
        if (found) COVER(STATS_TOLD);
    }
}
