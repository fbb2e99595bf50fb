/*
 * Messages that a queue has received from one (itself, too): each counts once. The model knows all of them; the queue
 * knows a floor, and those from there on, with what was answered to them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model_dependencies.h"
#include "model/model_look.h"

#define FORGOTTEN (30LL * DAY)

/* Where none came for long it is forgotten. */
static void forget_old(model_received *from)
{
    if (!from->count || model.now_ms < from->last_ms + FORGOTTEN) return;
    from->count = 0;
    from->floor = 0;
    memset(from->undone, 0, sizeof(from->undone));
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

bool model_receive(int queue, int source, int64_t number, int64_t floor)
{
    model_received *from = &model.queues[queue].received[source];
    if (model_was_received(queue, source, number)) {
        COVER(CARRY_TWICE);
        return false;
    }
    if (from->count == RECEIVED) model.full = true;
    if (!model.full) from->answers[from->count] = NONE, from->numbers[from->count++] = number;
    if (floor > number) floor = number;
    if (floor > from->floor) from->floor = floor;
    from->last_ms = model.now_ms;
    return true;
}

void model_undone(int queue, int source, int child, int parent, int64_t number)
{
    int64_t *undone = &model.queues[queue].received[source].undone[child][ID_OF(parent)];
    if (number > *undone) *undone = number;
}

bool model_is_undone(int queue, int source, int child, int parent, int64_t number)
{
    return model.queues[queue].received[source].undone[child][ID_OF(parent)] > number;
}

void model_answered(int queue, int source, int answer)
{
    model_received *from = &model.queues[queue].received[source];
    if (!model.full) from->answers[from->count - 1] = answer;
}

int model_answer(int queue, int source, int64_t number)
{
    const model_received *from = &model.queues[queue].received[source];
    for (int i = 0; i < from->count; i++)
        if (from->numbers[i] == number && number >= from->floor) return from->answers[i];
    return NONE;
}

/* "U <child> <id>" */
static void see_undone(model_received *from, const char *text, int64_t number)
{
    char child[32] = "", id[32] = "";
    if (sscanf(text, "U %31s %31s", child, id) < 2 || model_handle_of(child) < 0 || model_id_of(id) < 0)
        model_differ("a message is known as %s", text);
    else
        from->undone[model_handle_of(child)][model_id_of(id)] = number;
}

/* answer: behind a blank, or NULL. */
static void add_seen(model_received *from, int64_t number, const char *answer)
{
    from->answers[from->count] = answer ? model_end_of(answer + 1) : NONE;
    from->numbers[from->count++] = number;
}

void model_read_received_of(int queue, const char *rest, const rv_reply *found)
{
    int source = strcmp(rest, "a") == 0 ? 0 : strcmp(rest, "b") == 0 ? 1 : -1;
    if (source < 0) model_stray(queue, "received:", rest);
    model_received *from = &model_now_seen.queues[queue].received[source < 0 ? 0 : source];
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int64_t number = (int64_t)strtod(found->items[i + 1]->text, NULL);
        if (rv_reply_is_text(found->items[i], "floor"))
            from->floor = number;
        else if (found->items[i]->text[0] == 'U')
            see_undone(from, found->items[i]->text, number);
        else if (from->count < RECEIVED)
            add_seen(from, number, strchr(found->items[i]->text, ' '));
    }
}

static bool has(const model_received *seen, int64_t number, int answer)
{
    for (int i = 0; i < seen->count; i++)
        if (seen->numbers[i] == number && seen->answers[i] == answer) return true;
    return false;
}

static bool is_known(const model_received *seen, int64_t number)
{
    return number < seen->floor || has(seen, number, NONE);
}

/* What is there still, and was not received, will be. */
static void check_waiting(int queue, int source, const model_received *seen, const model_message *messages, int count)
{
    for (int i = 0; i < count; i++) {
        int64_t number = strtoll(messages[i].text + 2, NULL, 10);
        if (messages[i].text[0] && !model_was_received(queue, source, number) && is_known(seen, number))
            model_differ("queue %d does not take the message %s", queue, messages[i].text);
    }
}

static void check_undone(model_received *from, const model_received *seen)
{
    for (int child = 0; child < HANDLES; child++)
        for (int id = 0; id < IDS; id++) {
            if (from->undone[child][id] < from->floor) from->undone[child][id] = 0;
            if (from->undone[child][id] != seen->undone[child][id])
                model_differ("the edge of %s was taken away by %lld, not %lld", model_handle(child),
                             (long long)seen->undone[child][id], (long long)from->undone[child][id]);
        }
}

static void check_source(int queue, int source, const model_received *seen)
{
    model_received *from = &model.queues[queue].received[source];
    const model_queue *other = &model.queues[source];
    forget_old(from);
    check_undone(from, seen);
    if (from->floor != seen->floor)
        model_differ("queue %d has the floor %lld, not %lld", queue, (long long)seen->floor, (long long)from->floor);
    for (int i = 0; i < from->count; i++)
        if (!is_known(seen, from->numbers[i]))
            model_differ("queue %d received the message %lld, and does not know", queue, (long long)from->numbers[i]);
        else if (from->numbers[i] >= seen->floor && !has(seen, from->numbers[i], from->answers[i]))
            model_differ("queue %d has lost its answer to the message %lld", queue, (long long)from->numbers[i]);
    for (int i = 0; i < seen->count; i++)
        if (!model_was_received(queue, source, seen->numbers[i]) || seen->numbers[i] < seen->floor)
            model_differ("queue %d knows the message %lld", queue, (long long)seen->numbers[i]);
    check_waiting(queue, source, seen, other->messages, other->message_count);
    check_waiting(queue, source, seen, other->unread, other->unread_count);
}

void model_check_received(int queue, const model_seen_queue *seen)
{
    for (int source = 0; source < QUEUES; source++) check_source(queue, source, &seen->received[source]);
}
