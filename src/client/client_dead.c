/*
 * client_dead.c - the dead letters by kind, and what is done to many tasks at once.
 */
#include "reeve/dead.h"

#include <stdio.h>
#include <string.h>

#include "base/layout.h"
#include "base/mem.h"
#include "client/client.h"
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

static reeve_status read_failures(reeve_client *client, const rv_reply *reply, reeve_failure **ret, size_t *ret_count)
{
    size_t count = reply->count - 1;
    reeve_failure *list = rv_zalloc_array(count + 1, sizeof(*list));
    if (list == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for %zu kinds of failures", count);
    for (size_t i = 0; i < count; i++) {
        if (read_failure(&list[i], reply->items[i + 1])) continue;
        rv_free(list);
        return rv_client_odd_reply(client, "failures");
    }
    *ret = list;
    *ret_count = count;
    return REEVE_OK;
}

reeve_status reeve_failures(reeve_client *client, const char *queue, uint64_t offset, size_t limit, reeve_failure **ret,
                            size_t *ret_count, uint64_t *ret_total)
{
    if (client == NULL || ret == NULL || ret_count == NULL) return REEVE_EINVAL;
    rv_page page = {.offset = offset, .limit = limit};
    reeve_status status = rv_inspect_page_args(client, &page, "kinds");
    if (status != REEVE_OK) return status;
    const rv_reply *reply;
    rv_simple_call call = {.script = &rv_script_failures, .queue = queue, .args = {page.skip, page.max}, .count = 2};
    status = rv_client_script(client, &call, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 1) return rv_client_odd_reply(client, "failures");
    int64_t total = rv_reply_int(reply->items[0], 0);
    status = read_failures(client, reply, ret, ret_count);
    if (status == REEVE_OK && ret_total != NULL) *ret_total = total > 0 ? (uint64_t)total : 0;
    return status;
}

void reeve_failures_free(reeve_failure *list)
{
    rv_free(list);
}

static reeve_status check_kind(reeve_client *client, const char *kind)
{
    if (kind[0] != '\0' && strlen(kind) <= REEVE_KIND_MAX) return REEVE_OK;
    return rv_fail(&client->error, REEVE_EINVAL, "kind \"%.120s\": a kind of error has 1 to %d bytes", kind,
                   REEVE_KIND_MAX);
}

reeve_status reeve_list_kind(reeve_client *client, const char *queue, const char *kind, uint64_t offset, size_t limit,
                             reeve_task_info ***ret, size_t *ret_count, uint64_t *ret_total)
{
    if (client == NULL || kind == NULL) return REEVE_EINVAL;
    reeve_status status = check_kind(client, kind);
    if (status != REEVE_OK) return status;
    rv_page page = {.offset = offset, .limit = limit};
    return rv_inspect_list(client, queue, REEVE_STATE_DEAD, kind, &page, ret, ret_count, ret_total);
}

/* ---- many at once ---------------------------------------------------------------------------------------------- */

#define STEP "200"

/* What can be done in a state: bits of reeve_action. */
#define MAY(action) (1u << (action))
#define MAY_RETRY MAY(REEVE_ACTION_RETRY)
#define MAY_CANCEL MAY(REEVE_ACTION_CANCEL)
#define MAY_DELETE MAY(REEVE_ACTION_DELETE)

static const unsigned allowed[REEVE_STATE_COUNT] = {
    [REEVE_STATE_BLOCKED] = MAY_CANCEL | MAY_DELETE,
    [REEVE_STATE_SCHEDULED] = MAY_RETRY | MAY_CANCEL | MAY_DELETE,
    [REEVE_STATE_READY] = MAY_CANCEL | MAY_DELETE,
    [REEVE_STATE_PARKED] = MAY_CANCEL | MAY_DELETE,
    [REEVE_STATE_COMPLETED] = MAY_DELETE,
    [REEVE_STATE_DEAD] = MAY_RETRY | MAY_DELETE,
    [REEVE_STATE_CANCELLED] = MAY_RETRY | MAY_DELETE,
};

static const char *const action_names[] = {"retry", "cancel", "delete"};

static reeve_status check_action(reeve_client *client, reeve_action action, reeve_state state)
{
    if ((unsigned)action > REEVE_ACTION_DELETE) return rv_fail(&client->error, REEVE_EINVAL, "there is no such action");
    if ((unsigned)state >= REEVE_STATE_COUNT) return rv_fail(&client->error, REEVE_EINVAL, "there is no such state");
    if ((allowed[state] & MAY(action)) != 0) return REEVE_OK;
    return rv_fail(&client->error, REEVE_EINVAL, "cannot %s tasks that are %s", action_names[action],
                   reeve_state_name(state));
}

static reeve_status check_filter(reeve_client *client, const reeve_filter *filter)
{
    reeve_status status = REEVE_OK;
    if (filter->kind != NULL && filter->state != REEVE_STATE_DEAD)
        return rv_fail(&client->error, REEVE_EINVAL, "only dead tasks have a kind of error that they died of");
    if (filter->kind != NULL) status = check_kind(client, filter->kind);
    if (status == REEVE_OK && filter->type != NULL) status = rv_keys_check_type(filter->type, &client->error);
    if (status != REEVE_OK) return status;
    if (filter->tag != NULL && filter->tag[0] == '\0') return rv_fail(&client->error, REEVE_EINVAL, "the tag is empty");
    if (filter->older_ms >= 0) return REEVE_OK;
    return rv_fail(&client->error, REEVE_EINVAL, "an age of %lld ms: must not be negative",
                   (long long)filter->older_ms);
}

/* The places of bulk_update.lua's reply; bulk_look.lua has ids in the last one. */
enum { CURSOR, SEEN, DONE, REFUSED, SWEEP_FIELDS };

#define CURSOR_MAX 256

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

/* One step. cursor: "" at first, and again at the end. some: NULL unless it is a preview. */
static reeve_status update_some(reeve_client *client, rv_simple_call *call, char cursor[CURSOR_MAX],
                                reeve_bulk_result *updated, preview *some)
{
    const rv_reply *reply;
    reeve_status status = rv_client_script(client, call, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < SWEEP_FIELDS || reply->items[CURSOR]->length >= CURSOR_MAX)
        return rv_client_odd_reply(client, some != NULL ? "bulk_look" : "bulk_update");
    rv_copy_text(cursor, CURSOR_MAX, reply->items[CURSOR]->text);
    add(&updated->seen, reply->items[SEEN]);
    add(&updated->done, reply->items[DONE]);
    if (some != NULL)
        take_ids(some, reply->items[REFUSED]);
    else
        add(&updated->refused, reply->items[REFUSED]);
    return REEVE_OK;
}

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

/* Checks the arguments of a bulk update. */
static reeve_status check_bulk_update(reeve_client *client, reeve_action action, reeve_filter *filter,
                                      const reeve_filter *given, size_t filter_size)
{
    reeve_status status = RV_LAYOUT_READ(filter, given, filter_size, "the filter", &client->error);
    if (status == REEVE_OK) status = check_action(client, action, filter->state);
    return status == REEVE_OK ? check_filter(client, filter) : status;
}

reeve_status reeve_bulk_update_preview_sized(reeve_client *client, const char *queue, reeve_action action,
                                             const reeve_filter *given, reeve_bulk_result *ret,
                                             char (*ret_ids)[REEVE_ID_MAX], size_t *ret_count, size_t filter_size)
{
    reeve_filter filter;
    char cursor[CURSOR_MAX] = "", age[24];
    reeve_bulk_result updated = {0};
    preview some = {.ids = ret_ids};
    if (client == NULL || given == NULL || ret == NULL) return REEVE_EINVAL;
    reeve_status status = check_bulk_update(client, action, &filter, given, filter_size);
    if (status != REEVE_OK) return status;
    (void)snprintf(age, sizeof(age), "%lld", (long long)filter.older_ms);
    rv_simple_call call = {.script = &rv_script_bulk_look,
                           .queue = queue,
                           .count = 7,
                           .args = {reeve_state_name(filter.state), cursor, STEP, or_empty(filter.kind),
                                    or_empty(filter.type), or_empty(filter.tag), age}};
    do {
        status = update_some(client, &call, cursor, &updated, &some);
    } while (status == REEVE_OK && cursor[0] != '\0');
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
    char cursor[CURSOR_MAX] = "", age[24];
    reeve_bulk_result updated = {0};
    if (ret != NULL) *ret = updated;
    if (client == NULL || given == NULL) return REEVE_EINVAL;
    reeve_status status = check_bulk_update(client, action, &filter, given, filter_size);
    if (status != REEVE_OK) return status;
    (void)snprintf(age, sizeof(age), "%lld", (long long)filter.older_ms);
    rv_simple_call call = {.script = &rv_script_bulk_update,
                           .queue = queue,
                           .count = 8,
                           .args = {action_names[action], reeve_state_name(filter.state), cursor, STEP,
                                    or_empty(filter.kind), or_empty(filter.type), or_empty(filter.tag), age}};
    do {
        status = update_some(client, &call, cursor, &updated, NULL);
        if (status == REEVE_OK && progress != NULL && !progress(&updated, user))
            status = rv_fail(&client->error, REEVE_EINTERRUPTED, "the bulk update was interrupted");
    } while (status == REEVE_OK && cursor[0] != '\0');
    if (ret != NULL) *ret = updated;
    return status;
}
