/*
 * Tasks that wait for others: Redis is as the model says, and what needs no model: a blocked task counts those that it
 * waits for, and of each of these it will be told.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model_dependencies.h"

/* ---- as the model says ----------------------------------------------------------------------------------------- */

static void check_edges(int queue, int id, model_task *task, const model_seen_task *seen)
{
    const char *name = model_handle(HANDLE(queue, id));
    for (int parent = 0; parent <= OPEN; parent++) {
        model_edge *one = &task->edges[parent];
        const model_edge *other = &seen->edges[parent];
        if (one->number < 0) one->number = other->number > 0 ? other->number : -1;
        model_know_number(&one->number, other->number);
        if (one->number != other->number)
            model_differ("the edge of %s to %s has the number %lld, not %lld", name, model_handle(parent),
                         (long long)other->number, (long long)one->number);
        if ((one->mode == 'e') != (other->mode == 'e'))
            model_differ("the edge of %s to %s has the mode %d, not %d", name, model_handle(parent), other->mode,
                         one->mode);
        if (one->policy != other->policy || one->how != other->how || one->place != other->place)
            model_differ("%s has the edge %c%c%d to %s, not %c%c%d", name, other->policy ? other->policy : '?',
                         other->how ? other->how : '?', other->place, model_handle(parent),
                         one->policy ? one->policy : '?', one->how ? one->how : '?', one->place);
    }
    if (seen->waits != task->waits || seen->pending != task->pending)
        model_differ("%s waits for %d, not %d", name, seen->pending, task->pending);
    if (seen->due_ms != task->due_ms) model_differ("%s is due at %lld then", name, (long long)seen->due_ms);
    if (seen->for_death != task->for_death) model_differ("%s waits for a death, or not", name);
}

static void check_parent(int queue, int id, model_parent *parent, const model_parent *seen)
{
    const char *name = model_handle(HANDLE(queue, id));
    bool any = false;
    for (int child = 0; child < HANDLES; child++) {
        model_know_place(&parent->children[child], seen->children[child]);
        model_know_place(&parent->awaiting_retry[child], seen->awaiting_retry[child]);
        if (seen->children[child] != parent->children[child] ||
            seen->awaiting_retry[child] != parent->awaiting_retry[child])
            model_differ("%s has the child %s since %lld, %lld, not %lld, %lld", name, model_handle(child),
                         (long long)seen->children[child], (long long)seen->awaiting_retry[child],
                         (long long)parent->children[child], (long long)parent->awaiting_retry[child]);
        any = any || seen->children[child] || seen->awaiting_retry[child];
    }
    if (seen->linked != parent->linked) model_differ("%s is linked, or is not", name);
    if (any && !seen->linked) model_differ("%s has children and is not linked", name);
}

/* ---- the numbers of edges -------------------------------------------------------------------------------------- */

int64_t model_new_number(void)
{
    if (model.number_count == NEW_NUMBERS) model.full = true;
    if (!model.full) model.numbers[model.number_count++] = 0;
    return MODEL_NUMBER + model.number_count - 1;
}

void model_know_number(int64_t *number, int64_t seen)
{
    if (*number < MODEL_NUMBER) return;
    int64_t *known = &model.numbers[*number - MODEL_NUMBER];
    if (!*known) *known = seen;
    *number = *known;
}

void model_know_place(int64_t *place, int64_t seen)
{
    int64_t number = *place / PLACES;
    if (number < MODEL_NUMBER) return;
    model_know_number(&number, seen / PLACES);
    *place = number * PLACES;
}

/* ---- fans, in any order ---------------------------------------------------------------------------------------- */

static const int64_t *children_of_fan(const model_seen_queue *seen, int64_t number)
{
    for (int i = 0; i < seen->fan_set_count; i++)
        if (seen->fan_sets[i].number == number) return seen->fan_sets[i].children;
    return NULL;
}

/* The model's numbers that a step made are known by now, but of those who ended in that very step. */
static bool are_same_children(int64_t known[HANDLES], const int64_t seen[HANDLES])
{
    int64_t now[HANDLES];
    for (int child = 0; child < HANDLES; child++) {
        now[child] = known[child];
        if (now[child] && seen[child]) model_know_place(&now[child], seen[child]);
        if (now[child] != seen[child]) return false;
    }
    memcpy(known, now, sizeof(now));
    return true;
}

static void check_fans(int queue, const model_seen_queue *seen)
{
    model_queue *q = &model.queues[queue];
    if (seen->fan_count != q->fan_count || seen->fan_set_count != q->fan_count)
        model_differ("queue %d has %d fans, %d sets, not %d", queue, seen->fan_count, seen->fan_set_count,
                     q->fan_count);
    for (int i = 0; i < seen->fan_count && !model.words[0]; i++) {
        const int64_t *children = children_of_fan(seen, seen->fan_numbers[i]);
        int j = i;
        while (children && j < q->fan_count &&
               (q->fans[j].id != seen->fans[i].id || q->fans[j].state != seen->fans[i].state ||
                !are_same_children(q->fans[j].children, children)))
            j++;
        if (!children || j == q->fan_count) {
            model_differ("queue %d is to tell of %s, %s, to others", queue, model_id(seen->fans[i].id),
                         model_end_word(seen->fans[i].state));
            return;
        }
        model_fan found = q->fans[j];
        q->fans[j] = q->fans[i];
        q->fans[i] = found;
    }
}

/* ---- messages, in any order ------------------------------------------------------------------------------------ */

/* Behind the letter and the number. */
static const char *words_of(const char *text)
{
    const char *blank = strchr(text, ' ');
    blank = blank ? strchr(blank + 1, ' ') : NULL;
    return blank ? blank + 1 : "";
}

/* Afterwards the model has them in the order of Redis, which is that of their numbers. */
static void check_messages(int queue, model_message *known, int known_count, const char (*seen)[672], int count)
{
    if (count != known_count)
        model_differ("queue %d has %d messages, not %d; the last is %s", queue, count, known_count,
                     count ? seen[count - 1] : "none");
    for (int i = 0; i < count && !model.words[0]; i++) {
        int j = i;
        while (j < known_count && (known[j].letter != seen[i][0] || strcmp(known[j].words, words_of(seen[i])) != 0 ||
                                   (known[j].text[0] && strcmp(known[j].text, seen[i]) != 0)))
            j++;
        if (j == known_count) {
            model_differ("queue %d has the message %s", queue, seen[i]);
            return;
        }
        model_message found = known[j];
        known[j] = known[i];
        known[i] = found;
        rv_copy_text(known[i].text, sizeof(known[i].text), seen[i]);
        if (i > 0 && strtoll(seen[i - 1] + 2, NULL, 10) >= strtoll(seen[i] + 2, NULL, 10))
            model_differ("the message %s stands behind %s", seen[i], seen[i - 1]);
    }
}

/* ---- without the model ----------------------------------------------------------------------------------------- */

static bool is_among(const model_message *messages, int count, char letter, const char *words)
{
    for (int i = 0; i < count; i++)
        if (messages[i].letter == letter && strncmp(messages[i].words, words, strlen(words)) == 0) return true;
    return false;
}

static bool is_in_message(const model_queue *q, char letter, const char *words)
{
    return is_among(q->messages, q->message_count, letter, words) ||
           is_among(q->unread, q->unread_count, letter, words);
}

/* The parent's queue has the child, or is about to tell it, by the edge's number; or a message about it is on its
 * way. */
static bool will_be_told(int child, int parent, int64_t number)
{
    char words[64];
    const model_queue *theirs = &model.queues[QUEUE_OF(parent)];
    const model_parent *p = &theirs->parents[ID_OF(parent)];
    int64_t place = number * PLACES;
    if (p->children[child] == place || p->awaiting_retry[child] == place) return true;
    for (int i = 0; i < theirs->fan_count; i++)
        if (theirs->fans[i].id == ID_OF(parent) && theirs->fans[i].children[child] == place) return true;
    (void)snprintf(words, sizeof(words), "%s %s ", model_handle(child), model_handle(parent));
    return is_in_message(theirs, 'E', words) || is_in_message(theirs, 'M', words) ||
           is_in_message(&model.queues[QUEUE_OF(child)], 'R', words);
}

static void check_waits(int queue, int id, const model_task *task)
{
    int child = HANDLE(queue, id), count = 0;
    if (task->state != BLOCKED) {
        if (task->waits) model_differ("%s waits, and is not blocked", model_handle(child));
        return;
    }
    for (int parent = 0; parent <= OPEN; parent++) {
        if (!task->edges[parent].policy || task->edges[parent].how != '-') continue;
        count++;
        if (parent != OPEN && !will_be_told(child, parent, task->edges[parent].number))
            model_differ("%s waits for %s, and nobody will tell", model_handle(child), model_handle(parent));
    }
    if (count != task->pending || count == 0)
        model_differ("%s waits for %d, and says %d", model_handle(child), count, task->pending);
}

void model_check_dependencies(int queue, const model_seen_queue *seen)
{
    for (int id = 0; id < IDS; id++) {
        model_task *task = model_task_of(queue, id);
        check_edges(queue, id, task, &seen->tasks[id]);
        check_parent(queue, id, &model.queues[queue].parents[id], &seen->parents[id]);
    }
    check_fans(queue, seen);
    for (int id = 0; id < IDS; id++) check_waits(queue, id, model_task_of(queue, id));
    model_queue *q = &model.queues[queue];
    check_messages(queue, q->messages, q->message_count, seen->messages, seen->message_count);
    check_messages(queue, q->unread, q->unread_count, seen->unread, seen->unread_count);
    model_check_received(queue, seen);
    model_check_readers(queue, seen);
}
