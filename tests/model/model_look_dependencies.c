/* Tasks that wait for others: edges on both sides, who is to be told in steps, messages to other queues. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model_dependencies.h"
#include "model/model_look.h"

/* Of the ids that may have kin; -1 and a difference: it is none of these. */
static int id_of(int queue, const char *key, const char *text)
{
    int id = model_id_of(text);
    if (id < 0 || id >= IDS) model_stray(queue, key, text);
    return id >= IDS ? -1 : id;
}

static int handle_of(int queue, const char *key, const char *text)
{
    int handle = model_handle_of(text);
    if (handle < 0) model_stray(queue, key, text);
    return handle;
}

void model_read_parents_of(int queue, const char *rest, const rv_reply *found)
{
    int id = id_of(queue, "parents:", rest);
    if (id >= 0) model_now_seen.queues[queue].tasks[id].has_parents = true;
    for (size_t i = 0; id >= 0 && i + 1 < found->count; i += 2) {
        const char *value = found->items[i + 1]->text;
        int parent = handle_of(queue, "parents:", found->items[i]->text);
        if (parent < 0 || strlen(value) < 3) continue;
        const char *number = strrchr(value, ' ');
        model_now_seen.queues[queue].tasks[id].edges[parent] = (model_edge){
            value[0], value[1], atoi(value + 2), number ? atoll(number) : 0, strstr(value, " e ") ? 'e' : '\0'};
    }
}

static void read_set(int queue, const char *key, const rv_reply *found, int64_t set[HANDLES])
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int child = handle_of(queue, key, found->items[i]->text);
        if (child >= 0 && child < HANDLES) set[child] = (int64_t)(PLACES * strtod(found->items[i + 1]->text, NULL));
    }
}

void model_read_children_of(int queue, const char *rest, const rv_reply *found)
{
    int id = id_of(queue, "children:", rest);
    if (id >= 0) read_set(queue, rest, found, model_now_seen.queues[queue].parents[id].children);
}

void model_read_awaiting_retry_of(int queue, const char *rest, const rv_reply *found)
{
    int id = id_of(queue, "awaiting_retry:", rest);
    if (id >= 0) read_set(queue, rest, found, model_now_seen.queues[queue].parents[id].awaiting_retry);
}

void model_read_linked(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i < found->count; i++) {
        int id = id_of(queue, rest, found->items[i]->text);
        if (id >= 0) model_now_seen.queues[queue].parents[id].linked = true;
    }
}

void model_read_fanout(int queue, const char *rest, const rv_reply *found)
{
    model_seen_queue *q = &model_now_seen.queues[queue];
    for (size_t i = 0; i < found->count && q->fan_count < FANS; i++) {
        char word[16], id[32];
        long long number;
        if (sscanf(found->items[i]->text, "%lld %15s %31s", &number, word, id) != 3 || model_end_of(word) < 0) {
            model_stray(queue, rest, found->items[i]->text);
            continue;
        }
        q->fan_numbers[q->fan_count] = number;
        q->fans[q->fan_count++] = (model_fan){.id = id_of(queue, rest, id), .state = model_end_of(word)};
    }
}

void model_read_fanout_of(int queue, const char *rest, const rv_reply *found)
{
    model_seen_queue *q = &model_now_seen.queues[queue];
    if (q->fan_set_count == FANS) return;
    q->fan_sets[q->fan_set_count].number = atoll(rest);
    read_set(queue, rest, found, q->fan_sets[q->fan_set_count++].children);
}

void model_read_outbox(int queue, const char *rest, const rv_reply *found)
{
    model_seen_queue *q = &model_now_seen.queues[queue];
    (void)rest;
    for (size_t i = 0; i < found->count && q->message_count < MESSAGES; i++)
        rv_copy_text(q->messages[q->message_count++], sizeof(q->messages[0]), found->items[i]->text);
}

void model_read_unread(int queue, const char *rest, const rv_reply *found)
{
    model_seen_queue *q = &model_now_seen.queues[queue];
    (void)rest;
    for (size_t i = 0; i < found->count && q->unread_count < MESSAGES; i++)
        rv_copy_text(q->unread[q->unread_count++], sizeof(q->unread[0]), found->items[i]->text);
}
