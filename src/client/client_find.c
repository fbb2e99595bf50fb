/*
 * client_find.c - a search of the tasks in one state.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "client/spread.h"
#include "client/task_filter.h"
#include "protocol/definition.h"
#include "protocol/scripts.h"

/* The places of find.lua's reply. */
enum { CURSOR, SEEN, FOUND_FIELDS };

/* One partition after the other. The cursor begins with the number of the partition: "3|" and its cursor. */
static reeve_status find_spread(reeve_client *client, rv_spread *spread, const reeve_filter *given,
                                char cursor[REEVE_CURSOR_MAX], size_t limit, reeve_task_info ***ret, size_t *ret_count,
                                uint64_t *ret_seen, size_t filter_size)
{
    char own[REEVE_CURSOR_MAX] = "", digits[8] = "";
    int64_t number = 0;
    size_t length = strcspn(cursor, "|");
    if (cursor[0] != '\0') {
        if (cursor[length] == '\0' || length >= sizeof(digits))
            return rv_fail(&client->error, REEVE_EINVAL, "the cursor is none");
        memcpy(digits, cursor, length);
        if (!rv_parse_int(digits, 0, REEVE_PARTITIONS_MAX, &number))
            return rv_fail(&client->error, REEVE_EINVAL, "the cursor is none");
        rv_copy_text(own, sizeof(own), cursor + length + 1);
    }
    spread->next = (unsigned)number;
    if (!rv_spread_next(spread)) return rv_fail(&client->error, REEVE_EINVAL, "the cursor is none");
    reeve_status status =
        reeve_find_sized(client, spread->name, given, own, limit, ret, ret_count, ret_seen, filter_size);
    if (status != REEVE_OK) return status;
    if (own[0] != '\0')
        (void)snprintf(cursor, REEVE_CURSOR_MAX, "%u|%.240s", spread->next - 1, own);
    else if (spread->next < spread->count)
        (void)snprintf(cursor, REEVE_CURSOR_MAX, "%u|", spread->next);
    else
        cursor[0] = '\0';
    return REEVE_OK;
}

reeve_status reeve_find_sized(reeve_client *client, const char *queue, const reeve_filter *given,
                              char cursor[REEVE_CURSOR_MAX], size_t limit, reeve_task_info ***ret, size_t *ret_count,
                              uint64_t *ret_seen, size_t filter_size)
{
    reeve_filter filter;
    rv_task_filter_text text;
    const rv_reply *reply;
    if (client == NULL || given == NULL || cursor == NULL || ret == NULL || ret_count == NULL) return REEVE_EINVAL;
    reeve_status status = rv_task_filter_read(client, &filter, given, filter_size);
    if (status != REEVE_OK) return status;
    if (limit == 0 || limit > RV_CALL_MAX)
        return rv_fail(&client->error, REEVE_EINVAL, "a page has 1 to %d tasks", RV_CALL_MAX);
    if (memchr(cursor, '\0', REEVE_CURSOR_MAX) == NULL)
        return rv_fail(&client->error, REEVE_EINVAL, "the cursor is none");
    rv_spread spread;
    if (rv_spread_begin(&spread, client, queue))
        return find_spread(client, &spread, given, cursor, limit, ret, ret_count, ret_seen, filter_size);
    rv_simple_call call = {.script = &rv_script_find,
                           .queue = queue,
                           .args = {reeve_state_name(filter.state), cursor, "1000"},
                           .count = 3};
    rv_task_filter_add(&call, &text, &filter, limit);
    status = rv_client_script(client, &call, &reply, NULL);
    if (status != REEVE_OK) return status;
    const rv_reply *next = rv_reply_at(reply, CURSOR);
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < FOUND_FIELDS || !rv_reply_is(next, RV_TEXT) ||
        next->length >= REEVE_CURSOR_MAX)
        return rv_client_odd_reply(client, "find");
    status = rv_inspect_read(client, queue, reply, FOUND_FIELDS, ret, ret_count);
    if (status != REEVE_OK) return status;
    rv_copy_text(cursor, REEVE_CURSOR_MAX, next->text);
    if (ret_seen != NULL) *ret_seen = rv_reply_sum(reply->items[SEEN]);
    return REEVE_OK;
}
