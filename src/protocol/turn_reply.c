#include "protocol/turn_reply.h"

#include <string.h>

#include "base/text.h"

/* -1: it is none. */
static int64_t time_of(const rv_reply *reply)
{
    return rv_reply_within(reply, 0, RV_REPLY_NUMBER_MAX, -1);
}

bool rv_turn_reply_read(rv_turn_reply *ret, const rv_reply *reply)
{
    static const rv_reply nothing = {.type = RV_ARRAY};
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count == 0) return false;
    ret->flat = reply->count == 1 || rv_reply_is(reply->items[1], RV_TEXT);
    ret->whole = reply;
    if (ret->flat) {
        ret->refused = ret->gone = ret->extras = &nothing;
        ret->now_ms = time_of(reply->items[reply->count - 1]);
        return ret->now_ms >= 0;
    }
    if (reply->count < 4) return false;
    ret->now_ms = time_of(reply->items[0]);
    ret->refused = reply->items[1];
    ret->gone = reply->items[2];
    ret->extras = reply->items[3];
    return ret->now_ms >= 0 && rv_reply_is(ret->refused, RV_ARRAY) && rv_reply_is(ret->gone, RV_ARRAY) &&
           rv_reply_is(ret->extras, RV_ARRAY);
}

const char *rv_turn_reply_refused(const rv_reply *element, size_t groups, size_t *ret_group, size_t *ret_length)
{
    if (!rv_reply_is(element, RV_TEXT)) return NULL;
    const char *blank = memchr(element->text, ' ', element->length);
    int64_t group = blank == NULL ? 1 : rv_parse_before_blank(element->text, element->length, RV_REPLY_NUMBER_MAX);
    if (group < 1 || (uint64_t)group > groups) return NULL;
    *ret_group = (size_t)group - 1;
    const char *id = blank == NULL ? element->text : blank + 1;
    *ret_length = element->length - (size_t)(id - element->text);
    return id;
}

bool rv_turn_reply_is_idle(const rv_turn_reply *reply)
{
    for (size_t i = 0; i < reply->extras->count; i++) {
        const rv_reply *extra = reply->extras->items[i];
        if (rv_reply_is(extra, RV_ARRAY) && extra->count == 1 && rv_reply_is_text(extra->items[0], "idle")) return true;
    }
    return false;
}

/* The leases of the nth queue that has any; NULL: there are no more. */
static const rv_reply *queue_of(const rv_turn_reply *reply, size_t nth)
{
    if (reply->flat) return nth == 0 && reply->whole->count > 1 ? reply->whole : NULL;
    return nth + 4 < reply->whole->count ? reply->whole->items[nth + 4] : NULL;
}

size_t rv_turn_reply_leases(const rv_turn_reply *reply, size_t queues, rv_lease *leases, size_t max, size_t *ret_bad)
{
    size_t count = 0, extra = 0;
    *ret_bad = 0;
    const rv_reply *queue;
    for (size_t nth = 0; (queue = queue_of(reply, nth)) != NULL; nth++) {
        int64_t index = rv_reply_within(rv_reply_at(queue, 0), 1, (int64_t)queues, 0);
        *ret_bad += index == 0;
        if (index == 0) continue;
        for (size_t j = 1; j + 1 < queue->count && count < max; j += 2) {
            if (!rv_lease_read(&leases[count], (size_t)index - 1, queue->items[j], queue->items[j + 1])) {
                (*ret_bad)++;
                continue;
            }
            leases[count].since_ms = reply->now_ms;
            if (leases[count].envelope.flagged) rv_lease_read_extra(&leases[count], reply->extras, &extra);
            count++;
        }
    }
    return count;
}

static size_t count_of(const rv_reply *queue)
{
    return queue->count > 1 ? (queue->count - 1) / 2 : 0;
}

size_t rv_turn_reply_count(const rv_turn_reply *reply)
{
    size_t count = 0;
    const rv_reply *queue;
    for (size_t nth = 0; (queue = queue_of(reply, nth)) != NULL; nth++) count += count_of(queue);
    return count;
}

/* A zero byte follows the text. */
static bool copy_text(rv_reply *ret, const rv_reply *from, rv_arena *arena)
{
    char *text = rv_reply_is(from, RV_TEXT) ? rv_arena_alloc(arena, from->length + 1) : NULL;
    if (text == NULL) return false;
    memcpy(text, from->text, from->length);
    text[from->length] = '\0';
    *ret = (rv_reply){.type = RV_TEXT, .text = text, .length = from->length};
    return true;
}

bool rv_turn_reply_copy_next(const rv_turn_reply *reply, size_t queues, rv_turn_reply_place *place, rv_arena *arena,
                             rv_lease *ret)
{
    rv_reply id, envelope;
    const rv_reply *queue = queue_of(reply, place->list);
    for (; queue != NULL && place->at >= count_of(queue); queue = queue_of(reply, place->list)) {
        place->list++;
        place->at = 0;
    }
    if (queue == NULL) return false;
    size_t at = 1 + 2 * place->at++;
    int64_t index = rv_reply_within(rv_reply_at(queue, 0), 1, (int64_t)queues, 0);
    if (index == 0 || !copy_text(&id, rv_reply_at(queue, at), arena)) return false;
    if (!copy_text(&envelope, rv_reply_at(queue, at + 1), arena)) return false;
    (void)rv_lease_read(ret, (size_t)index - 1, &id, &envelope);
    ret->since_ms = reply->now_ms;
    if (ret->envelope.flagged) rv_lease_read_extra(ret, reply->extras, &place->extra);
    return true;
}
