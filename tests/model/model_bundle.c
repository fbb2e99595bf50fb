/* Bundles: what the results of a turn stand in together, as it is and as it should be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model_look.h"

static model_bundle *find(int queue, int64_t at_ms)
{
    model_queue *q = &model.queues[queue];
    for (int i = 0; i < q->bundle_count; i++)
        if (q->bundles[i].at_ms == at_ms) return &q->bundles[i];
    return NULL;
}

void model_bundle_results(int queue, const int *ids, const int *results, int count)
{
    model_queue *q = &model.queues[queue];
    model_bundle *bundle = find(queue, model.now_ms);
    if (bundle) COVER(BUNDLE_BEHIND);
    if (!bundle && q->bundle_count == SLOTS) model.full = true;
    if (model.full) return;
    if (!bundle) {
        bundle = &q->bundles[q->bundle_count++];
        *bundle = (model_bundle){.at_ms = model.now_ms};
        COVER(BUNDLE_MADE);
    }
    for (int i = 0; i < count; i++) bundle->results[ids[i]] = results[i];
    bundle->count += count;
}

static void drop(int queue, model_bundle *bundle)
{
    model_queue *q = &model.queues[queue];
    *bundle = q->bundles[--q->bundle_count];
}

int model_unbundle(int queue, int64_t at_ms)
{
    model_bundle *bundle = find(queue, at_ms);
    if (!bundle) return 0;
    int count = bundle->count;
    for (int id = 0; id < SLOTS; id++) {
        model_task *task = model_task_of(queue, id);
        bool there = task->state == COMPLETED && task->at_ms == at_ms;
        if (there && bundle->results[id]) task->field = bundle->results[id];
        if (!there && bundle->results[id]) COVER(BUNDLE_FORGOT);
    }
    drop(queue, bundle);
    return count;
}

static model_bundle *oldest(int queue)
{
    model_queue *q = &model.queues[queue];
    model_bundle *found = NULL;
    for (int i = 0; i < q->bundle_count; i++)
        if (!found || q->bundles[i].at_ms < found->at_ms) found = &q->bundles[i];
    return found;
}

bool model_unbundle_some(int queue, int max)
{
    model_bundle *first = oldest(queue);
    if (first) model.queues[queue].bytes_counted = false;
    if (first) COVER(BUNDLE_APART);
    while (first && max > 0) {
        max -= model_unbundle(queue, first->at_ms);
        first = oldest(queue);
    }
    if (first) COVER(BUNDLE_APART_STEP);
    return first != NULL;
}

void model_sweep_bundles(int queue)
{
    model_queue *q = &model.queues[queue];
    bool any = q->trimmed;
    int64_t left = LATEST;
    q->trimmed = false;
    if (!any || q->bundle_count == 0) return;
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(queue, id);
        if (task->state == COMPLETED && task->at_ms < left) left = task->at_ms;
    }
    for (model_bundle *first; (first = oldest(queue)) && first->at_ms < left;) {
        drop(queue, first);
        COVER(BUNDLE_SWEPT);
    }
    if (left < LATEST && find(queue, left) && left < model.now_ms) COVER(BUNDLE_CUT);
    if (left >= model.now_ms && model_unbundle(queue, left)) COVER(BUNDLE_CUT_NOW);
}

int model_result_read(int queue, const model_task *task)
{
    const model_bundle *bundle = find(queue, task->at_ms);
    if (task->field || !bundle) return task->field;
    return bundle->results[model_slot(queue, task)];
}

/* ---- as it is -------------------------------------------------------------------------------------------------- */

static model_bundle *see(int queue, int64_t at_ms)
{
    model_seen_queue *q = &model_now_seen.queues[queue];
    int i = 0;
    while (i < q->bundle_count && q->bundles[i].at_ms != at_ms) i++;
    if (i == SLOTS) model_differ("there are more bundles than tasks");
    if (i == SLOTS) return &q->bundles[0];
    if (i == q->bundle_count) q->bundles[q->bundle_count++] = (model_bundle){.at_ms = at_ms};
    return &q->bundles[i];
}

/* "<id> <bytes>\n", and so many bytes: "m<number>". */
static void read_bundle(int queue, const rv_reply *name, const rv_reply *text)
{
    model_bundle *bundle = see(queue, atoll(name->text + 1));
    const char *at = text->text, *end = at + text->length;
    bundle->holds = true;
    while (at < end) {
        char id[128];
        size_t length = strcspn(at, " ");
        (void)snprintf(id, sizeof(id), "%.*s", (int)length, at);
        char *from;
        long bytes = strtol(at + length, &from, 10);
        if (*from != '\n' || from + 1 + bytes > end || model_id_of(id) < 0) {
            model_differ("a bundle of %s is \"%s\"", model_prefix(queue), text->text);
            return;
        }
        bundle->results[model_id_of(id)] = from[1] == 'm' ? atoi(from + 2) : -1;
        bundle->count++;
        at = from + 1 + bytes;
    }
}

void model_read_results(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        if (found->items[i]->text[0] == '+') {
            read_bundle(queue, found->items[i], found->items[i + 1]);
            continue;
        }
        int id = model_id_of(found->items[i]->text);
        if (id < 0) model_stray(queue, rest, found->items[i]->text);
        if (id < 0) continue;
        model_seen_task *task = &model_now_seen.queues[queue].tasks[id];
        rv_copy_text(task->result, sizeof(task->result), found->items[i + 1]->text);
    }
}

void model_read_bundles(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        model_bundle *bundle = see(queue, atoll(found->items[i]->text));
        bundle->listed = true;
        if ((int64_t)strtod(found->items[i + 1]->text, NULL) != bundle->at_ms)
            model_differ("%s%s has %s at %s", model_prefix(queue), rest, found->items[i]->text,
                         found->items[i + 1]->text);
    }
}

static void check_bundle(int queue, const model_bundle *seen)
{
    const model_bundle *bundle = find(queue, seen->at_ms);
    if (!seen->holds || !seen->listed)
        model_differ("a bundle of %lld is %s", (long long)seen->at_ms, seen->listed ? "empty" : "not listed");
    if (!bundle) model_differ("there is a bundle of %lld", (long long)seen->at_ms);
    for (int id = 0; bundle && id < SLOTS; id++) {
        if (bundle->results[id] != seen->results[id])
            model_differ("of %s a bundle has m%d, not m%d", model_id(id), seen->results[id], bundle->results[id]);
    }
}

/* When the time has gone back, a task may end in the ms in which another of its id did, and be taken for that. */
void model_check_bundles(int queue, const model_seen_queue *seen)
{
    const model_queue *q = &model.queues[queue];
    if (seen->bundle_count != q->bundle_count)
        model_differ("there are %d bundles, not %d", seen->bundle_count, q->bundle_count);
    for (int i = 0; i < seen->bundle_count; i++) check_bundle(queue, &seen->bundles[i]);
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(queue, id);
        if (task->state != COMPLETED || model.went_back) continue;
        int read = model_result_read(queue, task);
        if (read != task->result) model_differ("%s has left m%d, and m%d is read", model_id(id), task->result, read);
    }
}
