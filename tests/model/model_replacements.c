/* A task that takes the place of another one takes over those that wait for it (lib/replacements.lua). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_dependencies.h"

/* Whether it waits by this edge from now on, and not by one that it had. */
static bool hand_edge(int child, int parent, int replacement)
{
    model_task *task = model_task_of(QUEUE_OF(child), ID_OF(child));
    model_edge *from = &task->edges[parent], *to = &task->edges[replacement];
    if (!from->policy) return false;
    bool moves = !to->policy || to->how != '-';
    if (moves) {
        *to = *from;
    } else {
        if (task->state == BLOCKED) task->pending--;
        COVER(REPLACEMENT_BOTH);
    }
    *from = (model_edge){0};
    return moves;
}

static bool hand_set(int queue, int from, int to, int64_t old[HANDLES], int64_t new[HANDLES])
{
    bool any = false;
    for (int child = 0; child < HANDLES; child++) {
        if (!old[child]) continue;
        bool moves = QUEUE_OF(child) != queue ? !new[child] : hand_edge(child, from, to);
        if (QUEUE_OF(child) != queue)
            model_send(queue, 'M', "%s %s %lld %s", model_handle(child), model_handle(from),
                       (long long)(old[child] / PLACES), model_id(ID_OF(to)));
        if (QUEUE_OF(child) != queue) COVER(REPLACEMENT_ACROSS);
        if (moves) new[child] = old[child];
        any = any || moves || QUEUE_OF(child) != queue;
        old[child] = 0;
    }
    return any;
}

static bool has_far(const model_parent *parent, int queue)
{
    for (int child = 0; child < HANDLES; child++)
        if (QUEUE_OF(child) != queue && (parent->children[child] || parent->awaiting_retry[child])) return true;
    return false;
}

enum { KNOWN_BRIEFLY_MS = 300000 };

int model_replacement(int queue, int id)
{
    model_queue *q = &model.queues[queue];
    if (model.now_ms > q->replacements[id].ends_ms) q->replacements[id].id = 0;
    return q->replacements[id].id - 1;
}

int model_last_replacement(int queue, int id)
{
    int replacement = model_replacement(queue, id), later = replacement;
    while (later >= 0) {
        if (later != replacement) COVER(REPLACEMENT_LAST);
        replacement = later;
        later = model_task_of(queue, replacement)->state == NONE ? model_replacement(queue, replacement) : -1;
    }
    return replacement;
}

static void note_replacement(int queue, int id, int replacement, int64_t ms)
{
    model_queue *q = &model.queues[queue];
    q->replacements[id].id = replacement + 1;
    q->replacements[id].ends_ms = model.now_ms + ms;
    q->replacements[replacement].id = 0;
}

void model_hand_over(int queue, int id, int replacement)
{
    bool linked = id < IDS && model.queues[queue].parents[id].linked;
    note_replacement(queue, id, replacement,
                     linked && has_far(&model.queues[queue].parents[id], queue) ? DAY : KNOWN_BRIEFLY_MS);
    if (!linked) return;
    model_parent *old = &model.queues[queue].parents[id], *new = &model.queues[queue].parents[replacement];
    int from = HANDLE(queue, id), to = HANDLE(queue, replacement);
    bool any = hand_set(queue, from, to, old->children, new->children);
    any = hand_set(queue, from, to, old->awaiting_retry, new->awaiting_retry) || any;
    old->linked = false;
    if (!any) return;
    new->linked = true;
    COVER(REPLACEMENT);
}

/* In the order in which they were given. */
static void sort_in(model_edge_sent *ret, int count, const model_task *task, model_edge_sent one)
{
    int at = count;
    for (; at > 0 && task->edges[ret[at - 1].parent].place > task->edges[one.parent].place; at--) ret[at] = ret[at - 1];
    ret[at] = one;
}

/* The message that registers the edge is on its way. */
static bool is_sent(const model_message *messages, int count, const char *words, int64_t number)
{
    for (int i = 0; i < count; i++) {
        int64_t own = messages[i].text[0] ? strtoll(messages[i].text + 2, NULL, 10) : -1;
        if (messages[i].letter == 'R' && own == number && strncmp(messages[i].words, words, strlen(words)) == 0)
            return true;
    }
    return false;
}

/* What holds for a parent that is not known, of an edge that has not ended: as lib/far_edge.lua has it. */
static char mode_of(int queue, int id, int parent, const model_edge *edge)
{
    char words[64];
    const model_queue *q = &model.queues[queue];
    if (QUEUE_OF(parent) == queue || edge->mode == 'e') return 'e';
    (void)snprintf(words, sizeof(words), "%s %s ", model_handle(HANDLE(queue, id)), model_handle(parent));
    bool sent = is_sent(q->messages, q->message_count, words, edge->number) ||
                is_sent(q->unread, q->unread_count, words, edge->number);
    return sent && edge->mode == '\0' ? '\0' : 'g';
}

int model_heritage(int queue, int id, int replacement, model_edge_sent ret[OPEN + 1])
{
    const model_task *task = model_task_of(queue, id);
    int count = 0;
    for (int parent = 0; parent < OPEN; parent++) {
        const model_edge *edge = &task->edges[parent];
        if (!edge->policy || edge->policy == 'x' || parent == HANDLE(queue, replacement)) continue;
        if (edge->how != '-' && edge->how != 'c') continue;
        char mode = edge->how == '-' ? mode_of(queue, id, parent, edge) : 'g';
        sort_in(ret, count++, task, (model_edge_sent){parent, edge->policy, mode});
        bool reads = model.queues[queue].parents[ID_OF(parent)].readers[HANDLE(queue, id)] != 0;
        if (edge->how == 'c' && QUEUE_OF(parent) == queue && reads)
            model_add_reader(parent, HANDLE(queue, replacement), 0);
        COVER(REPLACEMENT_PARENTS);
    }
    if (task->edges[OPEN].policy) {
        sort_in(ret, count++, task, (model_edge_sent){OPEN, task->edges[OPEN].policy, '\0'});
        COVER(REPLACEMENT_SIGNAL);
    }
    return count;
}

void model_inherit(int child, int parent, int64_t number, int replacement)
{
    const model_task *task = model_task_of(QUEUE_OF(child), ID_OF(child));
    const model_edge *from = &task->edges[parent];
    int to = HANDLE(QUEUE_OF(parent), replacement);
    bool waits = task->edges[to].policy && task->edges[to].how == '-';
    bool meant = !from->number || from->number == number;
    if (from->policy && from->how == '-' && !meant && task->state == BLOCKED) {
        COVER(REPLACEMENT_LATER);
        return;
    }
    if (from->policy && from->how == '-' && meant) {
        char policy = from->policy;
        bool renews = task->state == BLOCKED && !waits;
        (void)hand_edge(child, parent, to);
        if (renews) {
            model_send(QUEUE_OF(child), 'R', "%s %s %c", model_handle(child), model_handle(to), policy);
            model_task_of(QUEUE_OF(child), ID_OF(child))->edges[to].number = -1;
            model_task_of(QUEUE_OF(child), ID_OF(child))->edges[to].mode = '\0';
        }
        waits = task->state == BLOCKED;
    }
    if (waits) return;
    model_send(QUEUE_OF(child), 'U', "%s %s", model_handle(child), model_handle(to));
    COVER(REPLACEMENT_LEFT);
}
