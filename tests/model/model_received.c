/*
 * Messages that a queue has received from one (itself, too): each counts once. The model knows all of them; the queue
 * knows a floor, and those from there on.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model_kin.h"
#include "model/model_look.h"

#define FORGOTTEN (30LL * DAY)

/* (Where none came for long it is forgotten.) */
static void forget_old(model_received *from)
{
    if (!from->count || model.now_ms < from->last_ms + FORGOTTEN) return;
    from->count = 0;
    COVER(CARRY_FORGOTTEN);
}

bool model_was_received(int queue, int source, int64_t number)
{
    model_received *from = &model.queues[queue].received[source];
    forget_old(from);
    for (int i = 0; i < from->count; i++)
        if (from->numbers[i] == number) return true;
    return false;
}

bool model_receive(int queue, int source, int64_t number)
{
    model_received *from = &model.queues[queue].received[source];
    if (model_was_received(queue, source, number)) {
        COVER(CARRY_TWICE);
        return false;
    }
    if (from->count == RECEIVED) model.full = true;
    if (!model.full) from->numbers[from->count++] = number;
    from->last_ms = model.now_ms;
    return true;
}

void model_read_received(int queue, const char *rest, const rv_reply *found)
{
    int source = strcmp(rest, "a") == 0 ? 0 : strcmp(rest, "b") == 0 ? 1 : -1;
    if (source < 0) model_stray(queue, "received:", rest);
    model_received *from = &model_now_seen.queues[queue].received[source < 0 ? 0 : source];
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int64_t number = (int64_t)strtod(found->items[i + 1]->text, NULL);
        if (rv_reply_is_text(found->items[i], "floor"))
            from->floor = number;
        else if (from->count < RECEIVED)
            from->numbers[from->count++] = number;
    }
}

static bool is_known(const model_received *seen, int64_t number)
{
    if (number < seen->floor) return true;
    for (int i = 0; i < seen->count; i++)
        if (seen->numbers[i] == number) return true;
    return false;
}

static void check_source(int queue, int source, const model_received *seen)
{
    model_received *from = &model.queues[queue].received[source];
    const model_queue *other = &model.queues[source];
    forget_old(from);
    for (int i = 0; i < from->count; i++)
        if (!is_known(seen, from->numbers[i]))
            model_differ("queue %d received the message %lld, and does not know", queue, (long long)from->numbers[i]);
    for (int i = 0; i < seen->count; i++)
        if (!model_was_received(queue, source, seen->numbers[i]) || seen->numbers[i] < seen->floor)
            model_differ("queue %d knows the message %lld", queue, (long long)seen->numbers[i]);
    /* What is there still, and was not received, will be. */
    for (int i = 0; i < other->message_count; i++) {
        int64_t number = strtoll(other->messages[i].text + 2, NULL, 10);
        if (other->messages[i].text[0] && !model_was_received(queue, source, number) && is_known(seen, number))
            model_differ("queue %d does not take the message %s", queue, other->messages[i].text);
    }
}

void model_check_received(int queue, const model_seen_queue *seen)
{
    for (int source = 0; source < QUEUES; source++) check_source(queue, source, &seen->received[source]);
}
