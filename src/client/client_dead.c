/*
 * client_dead.c - the dead letters by kind, and what is done to many tasks at once.
 */
#include "reeve/dead.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/fan.h"
#include "client/gather.h"
#include "client/task_filter.h"
#include "protocol/definition.h"
#include "protocol/scripts.h"

/* ---- by kind --------------------------------------------------------------------------------------------------- */

/* The indexes of the members of a kind in the reply of failures.lua. */
enum { KIND, COUNT, LAST_MS, LAST_ID, LAST_TYPE, LAST_MESSAGE, FAILURE_FIELDS };

static void copy_at(char *target, size_t size, const rv_reply *reply, size_t index)
{
    rv_copy_text(target, size, reply->items[index]->text);
}

static bool read_failure(reeve_failure *ret, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < FAILURE_FIELDS) return false;
    int64_t count = rv_reply_int(reply->items[COUNT], 0);
    copy_at(ret->kind, sizeof(ret->kind), reply, KIND);
    ret->count = count > 0 ? (uint64_t)count : 0;
    ret->last_ms = rv_reply_int(reply->items[LAST_MS], 0);
    copy_at(ret->last_id, sizeof(ret->last_id), reply, LAST_ID);
    copy_at(ret->last_type, sizeof(ret->last_type), reply, LAST_TYPE);
    copy_at(ret->last_message, sizeof(ret->last_message), reply, LAST_MESSAGE);
    return true;
}

/* Kinds of failures, as they are gathered. */
typedef struct failures {
    reeve_failure *list;
    size_t count;
} failures;

/* Adds those of a reply of failures.lua. A kind whose tasks have died since the call before may come twice: it stays as it
 * was. */
static reeve_status read_failures(reeve_client *client, const rv_reply *reply, failures *sum)
{
    size_t more = reply->count - 1;
    reeve_failure *grown = rv_realloc_array(sum->list, sum->count + more + 1, sizeof(*grown));
    if (grown == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for %zu kinds of failures", more);
    sum->list = grown;
    for (size_t i = 0; i < more; i++) {
        reeve_failure one = {0};
        if (!read_failure(&one, reply->items[i + 1])) return rv_client_odd_reply(client, "failures");
        size_t at = 0;
        while (at < sum->count && strcmp(sum->list[at].kind, one.kind) != 0) at++;
        if (at == sum->count) sum->list[sum->count++] = one;
    }
    return REEVE_OK;
}

static reeve_status failures_page(reeve_client *client, const char *queue, uint64_t offset, size_t limit, void **ret,
                                  size_t *ret_count, uint64_t *ret_total)
{
    reeve_failure *list = NULL;
    reeve_status status = reeve_failures(client, queue, offset, limit, &list, ret_count, ret_total);
    *ret = list;
    return status;
}

static const char *failure_kind(const void *item)
{
    const reeve_failure *failure = item;
    return failure->kind;
}

static void add_failure(void *item, const void *more)
{
    reeve_failure *failure = item;
    const reeve_failure *other = more;
    uint64_t sum = failure->count + other->count;
    if (other->last_ms > failure->last_ms) *failure = *other;
    failure->count = sum;
}

static int most_first(const void *a, const void *b)
{
    const reeve_failure *one = a, *other = b;
    if (one->count != other->count) return one->count < other->count ? 1 : -1;
    return strcmp(one->kind, other->kind);
}

static const rv_gathering gathered_failures = {.size = sizeof(reeve_failure),
                                               .what = "kinds of failures",
                                               .page = failures_page,
                                               .name = failure_kind,
                                               .add = add_failure,
                                               .order = most_first};

static reeve_status failures_spread(reeve_client *client, rv_spread *spread, const rv_page *page, reeve_failure **ret,
                                    size_t *ret_count, uint64_t *ret_total)
{
    void *list;
    reeve_status status = rv_gather(client, spread, &gathered_failures, page, &list, ret_count, ret_total);
    if (status == REEVE_OK) *ret = list;
    return status;
}

/* A page of one queue, in as many calls as it takes: each tells of a part. */
static reeve_status gather_failures(reeve_client *client, const char *queue, const rv_page *page, failures *sum,
                                    uint64_t *ret_total)
{
    uint64_t told = 0, total = 0;
    do {
        char skip[24], max[24];
        (void)snprintf(skip, sizeof(skip), "%" PRIu64, page->offset + told);
        (void)snprintf(max, sizeof(max), "%" PRIu64, (uint64_t)page->limit - told);
        const rv_reply *reply;
        rv_simple_call call = {.script = &rv_script_failures, .queue = queue, .args = {skip, max}, .count = 2};
        reeve_status status = rv_client_script(client, &call, &reply, NULL);
        if (status != REEVE_OK) return status;
        if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 1) return rv_client_odd_reply(client, "failures");
        int64_t kinds = rv_reply_int(reply->items[0], 0);
        total = kinds > 0 ? (uint64_t)kinds : 0;
        size_t more = reply->count - 1;
        status = read_failures(client, reply, sum);
        if (status != REEVE_OK) return status;
        if (more == 0) break;
        told += more;
    } while (told < page->limit && page->offset + told < total);
    if (ret_total != NULL) *ret_total = total;
    return REEVE_OK;
}

reeve_status reeve_failures(reeve_client *client, const char *queue, uint64_t offset, size_t limit, reeve_failure **ret,
                            size_t *ret_count, uint64_t *ret_total)
{
    if (client == NULL || ret == NULL || ret_count == NULL) return REEVE_EINVAL;
    rv_page page = {.offset = offset, .limit = limit};
    reeve_status status = rv_inspect_page_args(client, &page, "kinds");
    if (status != REEVE_OK) return status;
    rv_spread spread;
    if (rv_spread_begin(&spread, client, queue))
        return failures_spread(client, &spread, &page, ret, ret_count, ret_total);
    failures sum = {0};
    status = gather_failures(client, queue, &page, &sum, ret_total);
    if (status != REEVE_OK) {
        rv_free(sum.list);
        return status;
    }
    *ret = sum.list;
    *ret_count = sum.count;
    return REEVE_OK;
}

void reeve_failures_free(reeve_failure *list)
{
    rv_free(list);
}

reeve_status reeve_list_kind(reeve_client *client, const char *queue, const char *kind, uint64_t offset, size_t limit,
                             reeve_task_info ***ret, size_t *ret_count, uint64_t *ret_total)
{
    if (client == NULL || kind == NULL) return REEVE_EINVAL;
    reeve_status status = rv_task_filter_check_kind(client, kind);
    if (status != REEVE_OK) return status;
    rv_page page = {.offset = offset, .limit = limit};
    return rv_inspect_list(client, queue, REEVE_STATE_DEAD, kind, &page, ret, ret_count, ret_total);
}

/* ---- many at once ---------------------------------------------------------------------------------------------- */

/* How many tasks a call looks at, at most; it ends sooner when it has done enough. */
#define LOOK_STEP "1000"
#define STEP "200"

/* What can be done to tasks in a state. */
#define CANCELLED(name) [REEVE_STATE_##name] = true,
static const bool can_be_cancelled[REEVE_STATE_COUNT] = {RV_WAITING_STATES(CANCELLED)};
#undef CANCELLED
#define RETRIED(name) [REEVE_STATE_##name] = true,
static const bool can_be_retried[REEVE_STATE_COUNT] = {RV_RETRIED_STATES(RETRIED)};
#undef RETRIED

static bool is_allowed(reeve_action action, reeve_state state)
{
    if (action == REEVE_ACTION_RETRY) return can_be_retried[state];
    return action == REEVE_ACTION_CANCEL ? can_be_cancelled[state] : state != REEVE_STATE_RUNNING;
}

static const char *const action_names[] = {"retry", "cancel", "delete"};

static reeve_status check_action(reeve_client *client, reeve_action action, reeve_state state)
{
    if ((unsigned)action > REEVE_ACTION_DELETE) return rv_fail(&client->error, REEVE_EINVAL, "there is no such action");
    if ((unsigned)state >= REEVE_STATE_COUNT) return rv_fail(&client->error, REEVE_EINVAL, "there is no such state");
    if (is_allowed(action, state)) return REEVE_OK;
    return rv_fail(&client->error, REEVE_EINVAL, "cannot %s tasks that are %s", action_names[action],
                   reeve_state_name(state));
}

/* The places of bulk_update.lua's reply; bulk_look.lua has ids in the last one. */
enum { CURSOR, SEEN, DONE, REFUSED, SWEEP_FIELDS };

static void add(uint64_t *sum, const rv_reply *number)
{
    int64_t more = rv_reply_int(number, 0);
    if (more > 0) *sum += (uint64_t)more;
}

/* The ids of the first tasks that a preview found. */
typedef struct preview {
    char (*ids)[REEVE_ID_MAX];
    size_t count;
} preview;

static void take_ids(preview *some, const rv_reply *ids)
{
    if (some->ids == NULL) return;
    for (size_t i = 0; rv_reply_is(rv_reply_at(ids, i), RV_TEXT) && some->count < REEVE_PREVIEW_MAX; i++)
        rv_copy_text(some->ids[some->count++], REEVE_ID_MAX, ids->items[i]->text);
}

/* Before a step, so that a last one counts. */
static reeve_status check_interrupt(reeve_client *client)
{
    if (!rv_waker_wait(&client->waker, 0)) return REEVE_OK;
    rv_waker_silence(&client->waker);
    return rv_fail(&client->error, REEVE_EINTERRUPTED, "the bulk update was interrupted");
}

/* One step. cursor: "" at first, and again at the end. some: NULL unless it is a preview. */
static reeve_status update_some(reeve_client *client, rv_simple_call *call, char cursor[REEVE_CURSOR_MAX],
                                reeve_bulk_result *updated, preview *some)
{
    const rv_reply *reply;
    reeve_status status = check_interrupt(client);
    if (status == REEVE_OK) status = rv_client_script(client, call, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < SWEEP_FIELDS ||
        reply->items[CURSOR]->length >= REEVE_CURSOR_MAX)
        return rv_client_odd_reply(client, some != NULL ? "bulk_look" : "bulk_update");
    rv_copy_text(cursor, REEVE_CURSOR_MAX, reply->items[CURSOR]->text);
    add(&updated->seen, reply->items[SEEN]);
    add(&updated->done, reply->items[DONE]);
    if (some != NULL)
        take_ids(some, reply->items[REFUSED]);
    else
        add(&updated->refused, reply->items[REFUSED]);
    return REEVE_OK;
}

/* How many tasks of the filter's limit are left; 0: it has none. */
static uint64_t left(const reeve_filter *filter, const reeve_bulk_result *updated)
{
    return filter->limit == 0 ? 0 : filter->limit - updated->done;
}

static bool goes_on(const reeve_filter *filter, const reeve_bulk_result *updated, const char *cursor)
{
    return cursor[0] != '\0' && (filter->limit == 0 || updated->done < filter->limit);
}

/* Checks the arguments of a bulk update. */
static reeve_status check_bulk_update(reeve_client *client, reeve_action action, reeve_filter *filter,
                                      const reeve_filter *given, size_t filter_size)
{
    reeve_status status = rv_task_filter_read(client, filter, given, filter_size);
    return status == REEVE_OK ? check_action(client, action, filter->state) : status;
}

/* ---- of all partitions ------------------------------------------------------------------------------------------ */

typedef struct bulk_spread {
    reeve_bulk_result before; /* of the partitions before this one */
    bool (*progress)(const reeve_bulk_result *updated, void *user);
    void *user;
} bulk_spread;

static void add_result(reeve_bulk_result *sum, const reeve_bulk_result *part)
{
    sum->seen += part->seen;
    sum->done += part->done;
    sum->refused += part->refused;
}

static bool spread_progress(const reeve_bulk_result *updated, void *user)
{
    bulk_spread *b = user;
    reeve_bulk_result sum = b->before;
    add_result(&sum, updated);
    return b->progress == NULL || b->progress(&sum, b->user);
}

/* The filter for the next partition. False: the limit is reached. */
static bool next_filter(reeve_filter *ret, const reeve_filter *filter, const reeve_bulk_result *sum)
{
    *ret = *filter;
    if (filter->limit == 0) return true;
    ret->limit = sum->done < filter->limit ? filter->limit - sum->done : 0;
    return ret->limit > 0;
}

static reeve_status preview_spread(reeve_client *client, rv_spread *spread, reeve_action action,
                                   const reeve_filter *filter, reeve_bulk_result *ret, preview *some)
{
    reeve_bulk_result sum = {0}, part;
    reeve_filter own;
    reeve_status status = REEVE_OK;
    while (status == REEVE_OK && next_filter(&own, filter, &sum) && rv_spread_next(spread)) {
        char ids[REEVE_PREVIEW_MAX][REEVE_ID_MAX];
        size_t count = 0;
        status = reeve_bulk_update_preview(client, spread->name, action, &own, &part, ids, &count);
        if (status != REEVE_OK) return status;
        add_result(&sum, &part);
        for (size_t i = 0; some->ids != NULL && i < count && some->count < REEVE_PREVIEW_MAX; i++)
            rv_copy_text(some->ids[some->count++], REEVE_ID_MAX, ids[i]);
    }
    *ret = sum;
    return status;
}

static reeve_status update_spread(reeve_client *client, rv_spread *spread, reeve_action action,
                                  const reeve_filter *filter,
                                  bool (*progress)(const reeve_bulk_result *updated, void *user), void *user,
                                  reeve_bulk_result *ret)
{
    bulk_spread b = {.progress = progress, .user = user};
    reeve_filter own;
    reeve_status status = REEVE_OK;
    while (status == REEVE_OK && next_filter(&own, filter, &b.before) && rv_spread_next(spread)) {
        reeve_bulk_result part = {0};
        status = reeve_bulk_update(client, spread->name, action, &own, spread_progress, &b, &part);
        add_result(&b.before, &part);
    }
    if (ret != NULL) *ret = b.before;
    return status;
}

reeve_status reeve_bulk_update_preview_sized(reeve_client *client, const char *queue, reeve_action action,
                                             const reeve_filter *given, reeve_bulk_result *ret,
                                             char (*ret_ids)[REEVE_ID_MAX], size_t *ret_count, size_t filter_size)
{
    reeve_filter filter;
    rv_task_filter_text text;
    char cursor[REEVE_CURSOR_MAX] = "";
    reeve_bulk_result updated = {0};
    preview some = {.ids = ret_ids};
    if (client == NULL || given == NULL || ret == NULL) return REEVE_EINVAL;
    reeve_status status = check_bulk_update(client, action, &filter, given, filter_size);
    if (status != REEVE_OK) return status;
    rv_spread spread;
    if (rv_spread_begin(&spread, client, queue)) {
        status = preview_spread(client, &spread, action, &filter, ret, &some);
        if (status == REEVE_OK && ret_count != NULL) *ret_count = some.count;
        return status;
    }
    do {
        rv_simple_call call = {.script = &rv_script_bulk_look,
                               .queue = queue,
                               .args = {reeve_state_name(filter.state), cursor, LOOK_STEP},
                               .count = 3};
        rv_task_filter_add(&call, &text, &filter, left(&filter, &updated));
        status = update_some(client, &call, cursor, &updated, &some);
    } while (status == REEVE_OK && goes_on(&filter, &updated, cursor));
    if (status != REEVE_OK) return status;
    *ret = updated;
    if (ret_count != NULL) *ret_count = some.count;
    return REEVE_OK;
}

reeve_status reeve_bulk_update_sized(reeve_client *client, const char *queue, reeve_action action,
                                     const reeve_filter *given,
                                     bool (*progress)(const reeve_bulk_result *updated, void *user), void *user,
                                     reeve_bulk_result *ret, size_t filter_size)
{
    reeve_filter filter;
    rv_task_filter_text text;
    char cursor[REEVE_CURSOR_MAX] = "";
    reeve_bulk_result updated = {0};
    if (ret != NULL) *ret = updated;
    if (client == NULL || given == NULL) return REEVE_EINVAL;
    reeve_status status = check_bulk_update(client, action, &filter, given, filter_size);
    if (status != REEVE_OK) return status;
    rv_spread spread;
    if (rv_spread_begin(&spread, client, queue))
        return update_spread(client, &spread, action, &filter, progress, user, ret);
    do {
        rv_simple_call call = {.script = &rv_script_bulk_update,
                               .queue = queue,
                               .args = {action_names[action], reeve_state_name(filter.state), cursor, STEP},
                               .count = 4};
        rv_task_filter_add(&call, &text, &filter, left(&filter, &updated));
        status = update_some(client, &call, cursor, &updated, NULL);
        if (status == REEVE_OK && progress != NULL && !progress(&updated, user))
            status = rv_fail(&client->error, REEVE_EINTERRUPTED, "the bulk update was interrupted");
    } while (status == REEVE_OK && goes_on(&filter, &updated, cursor));
    if (updated.done > 0) rv_fan_follow(client, queue);
    if (ret != NULL) *ret = updated;
    return status;
}
