/*
 * client_tags.c - the tags of a queue, and the tasks of a tag.
 */
#include "reeve/tags.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/client.h"
#include "client/gather.h"
#include "protocol/scripts.h"

/* The indexes of the members of a tag in the reply of tags.lua. */
enum { NAME, COUNT, LAST_MS, TAG_FIELDS };

static bool read_tag(reeve_tag *ret, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < TAG_FIELDS) return false;
    int64_t count = rv_reply_int(reply->items[COUNT], 0);
    rv_copy_text(ret->name, sizeof(ret->name), reply->items[NAME]->text);
    ret->count = count > 0 ? (uint64_t)count : 0;
    ret->last_ms = rv_reply_int(reply->items[LAST_MS], 0);
    return true;
}

static reeve_status read_tags(reeve_client *client, const rv_reply *reply, reeve_tag **ret, size_t *ret_count)
{
    size_t count = reply->count - 1;
    reeve_tag *list = rv_zalloc_array(count + 1, sizeof(*list));
    if (list == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for %zu tags", count);
    for (size_t i = 0; i < count; i++) {
        if (read_tag(&list[i], reply->items[i + 1])) continue;
        rv_free(list);
        return rv_client_odd_reply(client, "tags");
    }
    *ret = list;
    *ret_count = count;
    return REEVE_OK;
}

static reeve_status tags_page(reeve_client *client, const char *queue, uint64_t offset, size_t limit, void **ret,
                              size_t *ret_count, uint64_t *ret_total)
{
    reeve_tag *list = NULL;
    reeve_status status = reeve_tags(client, queue, offset, limit, &list, ret_count, ret_total);
    *ret = list;
    return status;
}

static const char *tag_name(const void *item)
{
    const reeve_tag *tag = item;
    return tag->name;
}

static void add_tag(void *item, const void *more)
{
    reeve_tag *tag = item;
    const reeve_tag *other = more;
    tag->count += other->count;
    if (other->last_ms > tag->last_ms) tag->last_ms = other->last_ms;
}

static int last_first(const void *a, const void *b)
{
    const reeve_tag *one = a, *other = b;
    if (one->last_ms != other->last_ms) return one->last_ms < other->last_ms ? 1 : -1;
    return strcmp(one->name, other->name);
}

static const rv_gathering gathered_tags = {.size = sizeof(reeve_tag),
                                           .what = "tags",
                                           .page = tags_page,
                                           .name = tag_name,
                                           .add = add_tag,
                                           .order = last_first};

static reeve_status tags_spread(reeve_client *client, rv_spread *spread, const rv_page *page, reeve_tag **ret,
                                size_t *ret_count, uint64_t *ret_total)
{
    void *list;
    reeve_status status = rv_gather(client, spread, &gathered_tags, page, &list, ret_count, ret_total);
    if (status == REEVE_OK) *ret = list;
    return status;
}

reeve_status reeve_tags(reeve_client *client, const char *queue, uint64_t offset, size_t limit, reeve_tag **ret,
                        size_t *ret_count, uint64_t *ret_total)
{
    if (client == NULL || ret == NULL || ret_count == NULL) return REEVE_EINVAL;
    rv_page page = {.offset = offset, .limit = limit};
    reeve_status status = rv_inspect_page_args(client, &page, "tags");
    if (status != REEVE_OK) return status;
    rv_spread spread;
    if (rv_spread_begin(&spread, client, queue)) return tags_spread(client, &spread, &page, ret, ret_count, ret_total);
    const rv_reply *reply;
    rv_simple_call call = {.script = &rv_script_tags, .queue = queue, .args = {page.skip, page.max}, .count = 2};
    status = rv_client_script(client, &call, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 1) return rv_client_odd_reply(client, "tags");
    int64_t total = rv_reply_int(reply->items[0], 0);
    status = read_tags(client, reply, ret, ret_count);
    if (status == REEVE_OK && ret_total != NULL) *ret_total = total > 0 ? (uint64_t)total : 0;
    return status;
}

void reeve_tags_free(reeve_tag *list)
{
    rv_free(list);
}

/* One partition after the other: the offset has the number of the partition above these bits. */
#define PART_BITS 40

static reeve_status list_tag_spread(reeve_client *client, rv_spread *spread, const char *tag, const reeve_state *state,
                                    uint64_t offset, size_t limit, reeve_task_info ***ret, size_t *ret_count,
                                    int64_t *ret_next)
{
    int64_t next = -1;
    uint64_t skip = offset & ((UINT64_C(1) << PART_BITS) - 1);
    spread->next = (unsigned)(offset >> PART_BITS);
    if (!rv_spread_next(spread)) return rv_fail(&client->error, REEVE_EINVAL, "the offset is too large");
    reeve_status status = reeve_list_tag(client, spread->name, tag, state, skip, limit, ret, ret_count, &next);
    if (status != REEVE_OK || ret_next == NULL) return status;
    if (next >= 0)
        *ret_next = ((int64_t)(spread->next - 1) << PART_BITS) + next;
    else
        *ret_next = spread->next < spread->count ? (int64_t)spread->next << PART_BITS : -1;
    return REEVE_OK;
}

reeve_status reeve_list_tag(reeve_client *client, const char *queue, const char *tag, const reeve_state *state,
                            uint64_t offset, size_t limit, reeve_task_info ***ret, size_t *ret_count, int64_t *ret_next)
{
    if (client == NULL || tag == NULL || ret == NULL || ret_count == NULL) return REEVE_EINVAL;
    if (tag[0] == '\0') return rv_fail(&client->error, REEVE_EINVAL, "the tag is empty");
    if (state != NULL && (unsigned)*state >= REEVE_STATE_COUNT)
        return rv_fail(&client->error, REEVE_EINVAL, "there is no such state");
    rv_page page = {.offset = offset, .limit = limit};
    reeve_status status = rv_inspect_page_args(client, &page, "tasks");
    if (status != REEVE_OK) return status;
    rv_spread spread;
    if (rv_spread_begin(&spread, client, queue))
        return list_tag_spread(client, &spread, tag, state, offset, limit, ret, ret_count, ret_next);
    const rv_reply *reply;
    rv_simple_call call = {.script = &rv_script_list_by_tag,
                           .queue = queue,
                           .count = 4,
                           .args = {tag, state != NULL ? reeve_state_name(*state) : "", page.skip, page.max}};
    status = rv_client_script(client, &call, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 1) return rv_client_odd_reply(client, "list");
    int64_t next = rv_reply_int(reply->items[0], -1);
    status = rv_inspect_read(client, queue, reply, 1, ret, ret_count);
    if (status == REEVE_OK && ret_next != NULL) *ret_next = next;
    return status;
}
