/*
 * client_partition.c - the number of partitions of a queue: get, set, and carry a change through.
 */
#include "client/client_partition.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/mem.h"
#include "client/outbox.h"
#include "client/partition_furnish.h"
#include "client/partition_left.h"
#include "client/partition_put.h"
#include "client/partitions.h"
#include "client/spread.h"
#include "reeve/change.h"

/* A change ends only when all clients know of it. */
#define SETTLED_MS (REEVE_PARTITIONS_AGE_MS + 2000)
#define PAGE 250
#define LANES_PAGE 1000

/* ---- the layout ------------------------------------------------------------------------------------------------- */

static reeve_status check(reeve_client *client, const char *queue)
{
    reeve_status status = rv_keys_check_queue(queue, &client->error);
    if (status != REEVE_OK) return status;
    if (client->stand_in != NULL)
        return rv_fail(&client->error, REEVE_EUNSUPPORTED, "a client for tests has no partitions");
    if (!rv_valid_whole_queue(queue, strlen(queue)))
        return rv_fail(&client->error, REEVE_EINVAL, "%s is the name of a partition, not of a queue", queue);
    if (strlen(queue) <= RV_PARTITION_QUEUE_MAX) return REEVE_OK;
    return rv_fail(&client->error, REEVE_EINVAL,
                   "queue \"%.64s\": the name of a queue with partitions has at most %d characters", queue,
                   RV_PARTITION_QUEUE_MAX);
}

static reeve_status get(reeve_client *client, const char *queue, rv_partition_layout *ret)
{
    reeve_status status = rv_partitions_renew(client);
    if (status != REEVE_OK) return status;
    const rv_partition_layout *layout = rv_partition_map_find(&client->partitions, queue);
    *ret = (rv_partition_layout){.count = 1, .before = 1, .served = 1};
    if (layout != NULL) *ret = *layout;
    rv_copy_text(ret->queue, sizeof(ret->queue), queue);
    return REEVE_OK;
}

/* Two operators at once: the one whose layout is no longer in force reads it again. */
#define TRIES 10

static reeve_status give_up(reeve_client *client, const char *queue)
{
    return rv_fail(&client->error, REEVE_ESTATE, "queue %s: others change its partitions all the time; try again",
                   queue);
}

static void fill(reeve_partitions *ret, const rv_partition_layout *layout)
{
    *ret = (reeve_partitions){.count = layout->count, .before = layout->before, .served = layout->served};
}

reeve_status reeve_partition_get(reeve_client *client, const char *queue, reeve_partitions *ret)
{
    rv_partition_layout layout;
    if (client == NULL || ret == NULL) return REEVE_EINVAL;
    reeve_status status = check(client, queue);
    if (status == REEVE_OK) status = get(client, queue, &layout);
    if (status == REEVE_OK) fill(ret, &layout);
    return status;
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

static reeve_status check_shares(reeve_client *client, const rv_partition_layout *layout)
{
    long long count = (long long)layout->count;
    if (layout->concurrency > 0 && layout->concurrency < count)
        return rv_fail(&client->error, REEVE_EINVAL,
                       "queue %s: a concurrency of %lld cannot be shared by %lld partitions: each needs one",
                       layout->queue, (long long)layout->concurrency, count);
    if (layout->rate.count > 0 && (layout->rate.count < count || layout->rate.burst < count))
        return rv_fail(
            &client->error, REEVE_EINVAL,
            "queue %s: a rate of %lld with a burst of %lld cannot be shared by %lld partitions: each needs one",
            layout->queue, (long long)layout->rate.count, (long long)layout->rate.burst, count);
    return REEVE_OK;
}

/* Partitions that are no longer used keep the least part, so that they can be drained. */
static reeve_status share_one(reeve_client *client, const rv_partition_layout *layout, unsigned number)
{
    char name[REEVE_QUEUE_MAX + 1];
    unsigned at = number < layout->count ? number : layout->count - 1;
    reeve_rate rate = layout->rate;
    if (rate.count > 0) {
        rate.count = rv_spread_part(rate.count, at, layout->count);
        rate.burst = rv_spread_part(rate.burst, at, layout->count);
    }
    reeve_limit_change change = {.of = REEVE_LIMIT_QUEUE, .rate = &rate};
    change.concurrency = layout->concurrency > 0 ? rv_spread_part(layout->concurrency, at, layout->count) : -1;
    rv_partition_exact_name(name, layout->queue, number);
    return reeve_limit(client, name, &change);
}

static reeve_status share(reeve_client *client, const rv_partition_layout *layout)
{
    reeve_status status = REEVE_OK;
    for (unsigned i = 0; status == REEVE_OK && i < layout->served; i++) status = share_one(client, layout, i);
    return status;
}

static bool has_same_limits(const rv_partition_layout *layout, const rv_partition_layout *other)
{
    return layout->count == other->count && layout->served == other->served &&
           layout->concurrency == other->concurrency && layout->rate.count == other->rate.count &&
           layout->rate.period_ms == other->rate.period_ms && layout->rate.burst == other->rate.burst;
}

/* The limits of the layout in force. Another operator may change it meanwhile, and share out its limits before or after
 * this one: whoever is the last shares out those in force. */
static reeve_status share_present(reeve_client *client, const char *queue)
{
    rv_partition_layout layout, now;
    reeve_status status = get(client, queue, &now);
    for (unsigned tries = 0; status == REEVE_OK && tries < TRIES; tries++) {
        layout = now;
        if (layout.count > 1 || layout.served > 1) status = share(client, &layout);
        if (status == REEVE_OK) status = get(client, queue, &now);
        if (status == REEVE_OK && has_same_limits(&layout, &now)) return REEVE_OK;
    }
    return status == REEVE_OK ? give_up(client, queue) : status;
}

static void change_limits(rv_partition_layout *layout, const reeve_limit_change *change)
{
    if (change->concurrency != 0) layout->concurrency = change->concurrency > 0 ? change->concurrency : 0;
    if (change->rate == NULL) return;
    layout->rate = *change->rate;
    if (layout->rate.period_ms == 0) layout->rate.period_ms = 1000;
    if (layout->rate.burst == 0) layout->rate.burst = layout->rate.count;
}

reeve_status rv_client_partition_limit(reeve_client *client, const char *queue, const reeve_limit_change *change)
{
    for (unsigned tries = 0; tries < TRIES; tries++) {
        rv_partition_layout read;
        bool done = false;
        reeve_status status = get(client, queue, &read);
        rv_partition_layout layout = read;
        if (status != REEVE_OK) return status;
        change_limits(&layout, change);
        status = check_shares(client, &layout);
        if (status == REEVE_OK) status = rv_partition_put(client, &read, &layout, false, &done);
        if (status != REEVE_OK) return status;
        if (done) return share_present(client, queue);
    }
    return give_up(client, queue);
}

/* ---- another number --------------------------------------------------------------------------------------------- */

static reeve_status check_change(reeve_client *client, const rv_partition_layout *layout, unsigned count)
{
    if (count < 1 || count > REEVE_PARTITIONS_MAX)
        return rv_fail(&client->error, REEVE_EINVAL, "%u partitions: a queue has from 1 to %d", count,
                       REEVE_PARTITIONS_MAX);
    if (layout->before == layout->count || layout->before == count) return REEVE_OK;
    return rv_fail(&client->error, REEVE_ESTATE,
                   "queue %s is being changed from %u to %u partitions: continue that first, or go back to %u",
                   layout->queue, layout->before, layout->count, layout->before);
}

/* Nothing of such a queue can be in another partition than the new number says. */
static bool has_had_none(const reeve_queue_info *info)
{
    uint64_t sum = info->enqueued_total + info->failed_total + info->crashed_total;
    for (size_t i = 0; i < REEVE_STATE_COUNT; i++) sum += info->count[i];
    return sum == 0;
}

/* A queue that is not divided has its limits itself. */
static reeve_status take_limits(reeve_client *client, rv_partition_layout *layout, reeve_queue_info *ret)
{
    reeve_status status = reeve_queue(client, layout->queue, ret);
    if (status != REEVE_OK) return status;
    layout->concurrency = ret->concurrency;
    layout->rate = ret->rate;
    return REEVE_OK;
}

/* What the number is to be, from the layout in force. */
static reeve_status plan_change(reeve_client *client, unsigned count, rv_partition_layout *layout)
{
    reeve_queue_info info;
    bool is_new = false;
    reeve_status status = check_change(client, layout, count);
    if (status == REEVE_OK && layout->served == 1) {
        status = take_limits(client, layout, &info);
        is_new = status == REEVE_OK && has_had_none(&info);
    }
    if (status != REEVE_OK) return status;
    layout->before = is_new ? count : layout->count;
    layout->count = count;
    if (count > layout->served) layout->served = count;
    return check_shares(client, layout);
}

/* The layout comes into force when its new partitions have what they need. */
static reeve_status put_furnished(reeve_client *client, const rv_partition_layout *read, rv_partition_layout *layout,
                                  bool *ret_done)
{
    reeve_status status = REEVE_OK;
    for (unsigned i = read->served; status == REEVE_OK && i < layout->served; i++) {
        status = rv_partition_furnish(client, layout->queue, i);
        if (status == REEVE_OK) status = share_one(client, layout, i);
    }
    return status == REEVE_OK ? rv_partition_put(client, read, layout, true, ret_done) : status;
}

reeve_status reeve_partition_set(reeve_client *client, const char *queue, unsigned count)
{
    if (client == NULL) return REEVE_EINVAL;
    reeve_status status = check(client, queue);
    for (unsigned tries = 0; status == REEVE_OK && tries < TRIES; tries++) {
        rv_partition_layout read, layout;
        bool done = false;
        status = get(client, queue, &read);
        if (status != REEVE_OK) return status;
        /* A call before may have ended between the number and the limits. */
        if (read.count == count)
            return read.concurrency > 0 || read.rate.count > 0 ? share_present(client, queue) : REEVE_OK;
        layout = read;
        status = plan_change(client, count, &layout);
        if (status == REEVE_OK) status = put_furnished(client, &read, &layout, &done);
        if (status == REEVE_OK && done) return share_present(client, queue);
    }
    return status == REEVE_OK ? give_up(client, queue) : status;
}

reeve_status rv_client_partition_serve(reeve_client *client, const char *queue, unsigned served, bool *ret_changed)
{
    reeve_status status = check(client, queue);
    *ret_changed = false;
    for (unsigned tries = 0; status == REEVE_OK && tries < TRIES; tries++) {
        rv_partition_layout read, layout;
        reeve_queue_info info;
        status = get(client, queue, &read);
        if (status != REEVE_OK || read.served >= served) return status;
        layout = read;
        layout.served = served;
        if (read.served == 1) status = take_limits(client, &layout, &info);
        if (status == REEVE_OK) status = put_furnished(client, &read, &layout, ret_changed);
        if (status == REEVE_OK && *ret_changed) return REEVE_OK;
    }
    return status == REEVE_OK ? give_up(client, queue) : status;
}

/* ---- carrying a change through ---------------------------------------------------------------------------------- */

typedef struct pass {
    reeve_client *client;
    const rv_partition_layout *layout;
    reeve_partitions *ret;
    size_t left; /* tasks that may be moved */
    bool full;   /* everything was looked at */
} pass;

/* The partition of the task by the present number. *ret_stays: it has a key. */
static unsigned home_of(const pass *p, const reeve_task_info *info, bool *ret_stays)
{
    const char *key = info->unique != NULL ? info->unique : info->group;
    *ret_stays = key != NULL;
    return rv_partition_of(key != NULL ? key : info->id, p->layout->count);
}

/* A task must not be moved by a number that another operator has changed: its partition may have been let go since. */
static bool is_in_force(const pass *p)
{
    const rv_partition_layout *now = rv_partitions_find(p->client, p->layout->queue);
    return now != NULL && now->count == p->layout->count && now->changed_ms == p->layout->changed_ms;
}

/* *ret_moved: it is not in this list any more. */
static reeve_status look_at(pass *p, unsigned partition, const reeve_task_info *info, bool *ret_moved)
{
    char from[REEVE_QUEUE_MAX + 1], to[REEVE_QUEUE_MAX + 1];
    bool stays;
    unsigned home = home_of(p, info, &stays);
    *ret_moved = false;
    if (stays) {
        if (home != partition) p->ret->waiting++;
        return REEVE_OK;
    }
    if (partition < p->layout->count || info->state == REEVE_STATE_RUNNING) return REEVE_OK;
    if (p->left == 0 || !is_in_force(p)) {
        p->full = false;
        return REEVE_OK;
    }
    rv_partition_exact_name(from, p->layout->queue, partition);
    rv_partition_name(to, p->layout->queue, home);
    reeve_status status = reeve_move(p->client, from, info->id, to);
    /* It has begun to run, has ended, or cannot be moved: it is looked at again. */
    if (status == REEVE_ESTATE || status == REEVE_ENOTFOUND) return REEVE_OK;
    if (status != REEVE_OK) return status;
    *ret_moved = true;
    p->left--;
    p->ret->moved++;
    return REEVE_OK;
}

static reeve_status look_at_state(pass *p, unsigned partition, reeve_state state)
{
    char name[REEVE_QUEUE_MAX + 1];
    uint64_t offset = 0, total = 1;
    reeve_status status = REEVE_OK;
    rv_partition_exact_name(name, p->layout->queue, partition);
    while (status == REEVE_OK && p->full && offset < total) {
        reeve_task_info **list;
        size_t count, kept = 0;
        status = reeve_list(p->client, name, state, offset, PAGE, &list, &count, &total);
        if (status != REEVE_OK) break;
        for (size_t i = 0; status == REEVE_OK && i < count; i++) {
            bool moved;
            status = look_at(p, partition, list[i], &moved);
            if (!moved) kept++;
        }
        reeve_task_list_free(list, count);
        if (count == 0) break;
        offset += kept;
        total -= total < count - kept ? total : count - kept;
    }
    return status;
}

typedef struct lanes_call {
    rv_prefix prefix;
    size_t from;
} lanes_call;

static void build_lanes(rv_conn *conn, bool again, const void *context)
{
    const lanes_call *call = context;
    (void)again;
    rv_cmd(conn, 4);
    rv_args(conn, "ZRANGE");
    rv_arg2(conn, call->prefix.text, call->prefix.length, "groups", 6);
    rv_argi(conn, (int64_t)call->from);
    rv_argi(conn, (int64_t)call->from + LANES_PAGE - 1);
}

/* "<priority>:<group>", or with a semicolon. */
static const char *group_in(const char *lane)
{
    size_t length = strcspn(lane, ":;");
    return lane[length] != '\0' ? lane + length + 1 : lane;
}

/* A type or limit key with a limit (`type:TYPE`, `key:KEY`) has tasks in each partition. */
static bool is_at_home(const pass *p, const char *group, unsigned partition)
{
    return strncmp(group, RV_TYPE_GROUP, strlen(RV_TYPE_GROUP)) == 0 ||
           strncmp(group, RV_KEY_GROUP, strlen(RV_KEY_GROUP)) == 0 ||
           rv_partition_of(group, p->layout->count) == partition;
}

/* Groups of which a producer may still put tasks here, because their place in the order is kept. */
static reeve_status count_lanes(pass *p, unsigned partition)
{
    char name[REEVE_QUEUE_MAX + 1];
    lanes_call call = {.from = 0};
    const rv_reply *reply;
    rv_partition_name(name, p->layout->queue, partition);
    rv_keys_set_prefix(&call.prefix, p->client->ns, name);
    do {
        reeve_status status = rv_client_call(p->client, build_lanes, &call, &reply, NULL);
        if (status != REEVE_OK) return status;
        if (!rv_reply_is(reply, RV_ARRAY)) return rv_client_odd_reply(p->client, "partition");
        for (size_t i = 0; i < reply->count; i++) {
            const rv_reply *lane = rv_reply_at(reply, i);
            if (rv_reply_is(lane, RV_TEXT) && !is_at_home(p, group_in(lane->text), partition)) p->ret->waiting++;
        }
        call.from += LANES_PAGE;
    } while (reply->count == LANES_PAGE);
    return REEVE_OK;
}

static reeve_status look_at_partition(pass *p, unsigned partition)
{
    static const reeve_state states[] = {REEVE_STATE_BLOCKED, REEVE_STATE_SCHEDULED, REEVE_STATE_READY,
                                         REEVE_STATE_PARKED, REEVE_STATE_RUNNING};
    reeve_status status = REEVE_OK;
    for (size_t i = 0; status == REEVE_OK && i < sizeof(states) / sizeof(states[0]); i++)
        status = look_at_state(p, partition, states[i]);
    if (status == REEVE_OK && p->layout->before != p->layout->count && p->full) status = count_lanes(p, partition);
    if (status != REEVE_OK || partition < p->layout->count) return status;
    char name[REEVE_QUEUE_MAX + 1];
    reeve_queue_info info;
    rv_partition_exact_name(name, p->layout->queue, partition);
    rv_outbox_client_carry(p->client, name);
    status = reeve_queue(p->client, name, &info);
    for (size_t i = 0; status == REEVE_OK && i < REEVE_STATE_COUNT; i++) {
        bool ended = i >= REEVE_STATE_COMPLETED;
        p->ret->remaining += ended ? 0 : info.count[i];
        p->ret->ended += ended ? info.count[i] : 0;
    }
    return status;
}

/* Also a message to another queue is still to be carried from there, which nobody else would do. */
static reeve_status find_if_empty(const pass *p, bool *ret)
{
    rv_partition_left left = {0};
    reeve_status status = REEVE_OK;
    *ret = p->ret->remaining == 0 && p->ret->ended == 0;
    if (*ret) status = rv_partition_left_find(p->client, p->layout->queue, p->layout->count, &left);
    *ret = *ret && left.holding == 0;
    return status;
}

/* What has become true is written, unless another operator has changed the layout since: all tasks with keys are where
 * producers now look for them; the last partitions are empty. Time is that of Redis, of which all machines have one. */
static reeve_status finish(pass *p, rv_partition_layout *layout)
{
    int64_t now;
    bool changed = false, done = false, empty = false;
    if (!p->full || p->ret->moved > 0) return REEVE_OK;
    reeve_status status = rv_partition_put_time(p->client, &now);
    if (status != REEVE_OK || now - layout->changed_ms < SETTLED_MS) return status;
    if (p->ret->waiting == 0 && layout->before != layout->count) {
        layout->before = layout->count;
        changed = true;
    }
    if (layout->before == layout->count && layout->served != layout->count) status = find_if_empty(p, &empty);
    if (status != REEVE_OK) return status;
    if (empty) {
        layout->served = layout->count;
        changed = true;
    }
    if (!changed) return REEVE_OK;
    status = rv_partition_put(p->client, p->layout, layout, false, &done);
    if (status == REEVE_OK && !done) p->full = false;
    return status;
}

reeve_status reeve_partition_step(reeve_client *client, const char *queue, size_t limit, reeve_partitions *ret,
                                  bool *ret_done)
{
    rv_partition_layout layout;
    if (client == NULL || ret == NULL || ret_done == NULL) return REEVE_EINVAL;
    reeve_status status = check(client, queue);
    if (status == REEVE_OK) status = get(client, queue, &layout);
    if (status != REEVE_OK) return status;
    fill(ret, &layout);
    *ret_done = layout.before == layout.count && layout.served == layout.count;
    if (*ret_done) return REEVE_OK;
    const rv_partition_layout present = layout;
    pass p = {.client = client, .layout = &present, .ret = ret, .left = limit, .full = true};
    if (layout.before != layout.count) status = share_present(client, queue);
    unsigned first = layout.before != layout.count ? 0 : layout.count;
    for (unsigned i = layout.served; status == REEVE_OK && i > first; i--) status = look_at_partition(&p, i - 1);
    if (status == REEVE_OK) status = finish(&p, &layout);
    if (status != REEVE_OK) return status;
    ret->before = layout.before;
    ret->served = layout.served;
    *ret_done = p.full && ret->moved == 0 && layout.before == layout.count && ret->remaining == 0;
    return REEVE_OK;
}
