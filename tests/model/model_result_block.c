/* Result blocks: what the results of a turn stand in together, as it is and as it should be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model_look.h"

static model_result_block *find(int queue, int64_t at_ms)
{
    model_queue *q = &model.queues[queue];
    for (int i = 0; i < q->result_block_count; i++)
        if (q->result_blocks[i].at_ms == at_ms) return &q->result_blocks[i];
    return NULL;
}

void model_result_block_results(int queue, const int *ids, const int *results, int count)
{
    model_queue *q = &model.queues[queue];
    model_result_block *result_block = find(queue, model.now_ms);
    if (result_block) COVER(RESULT_BLOCK_BEHIND);
    if (!result_block && q->result_block_count == SLOTS) model.full = true;
    if (model.full) return;
    if (!result_block) {
        result_block = &q->result_blocks[q->result_block_count++];
        *result_block = (model_result_block){.at_ms = model.now_ms};
        COVER(RESULT_BLOCK_MADE);
    }
    for (int i = 0; i < count; i++) result_block->results[ids[i]] = results[i];
    result_block->count += count;
}

static void drop(int queue, model_result_block *result_block)
{
    model_queue *q = &model.queues[queue];
    *result_block = q->result_blocks[--q->result_block_count];
}

int model_split_result_block(int queue, int64_t at_ms)
{
    model_result_block *result_block = find(queue, at_ms);
    if (!result_block) return 0;
    int count = result_block->count;
    for (int id = 0; id < SLOTS; id++) {
        model_task *task = model_task_of(queue, id);
        bool there = task->state == COMPLETED && task->at_ms == at_ms;
        if (there && result_block->results[id]) task->field = result_block->results[id];
        if (!there && result_block->results[id]) COVER(RESULT_BLOCK_FORGOT);
    }
    drop(queue, result_block);
    return count;
}

static model_result_block *oldest(int queue)
{
    model_queue *q = &model.queues[queue];
    model_result_block *found = NULL;
    for (int i = 0; i < q->result_block_count; i++)
        if (!found || q->result_blocks[i].at_ms < found->at_ms) found = &q->result_blocks[i];
    return found;
}

bool model_split_result_block_some(int queue, int max)
{
    model_result_block *first = oldest(queue);
    if (first) model.queues[queue].bytes_counted = false;
    if (first) COVER(RESULT_BLOCK_APART);
    while (first && max > 0) {
        max -= model_split_result_block(queue, first->at_ms);
        first = oldest(queue);
    }
    if (first) COVER(RESULT_BLOCK_APART_STEP);
    return first != NULL;
}

void model_bulk_update_result_blocks(int queue)
{
    model_queue *q = &model.queues[queue];
    bool any = q->trimmed;
    int64_t left = LATEST;
    q->trimmed = false;
    if (!any || q->result_block_count == 0) return;
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(queue, id);
        if (task->state == COMPLETED && task->at_ms < left) left = task->at_ms;
    }
    for (model_result_block *first; (first = oldest(queue)) && first->at_ms < left;) {
        drop(queue, first);
        COVER(RESULT_BLOCK_SWEPT);
    }
    if (left < LATEST && find(queue, left) && left < model.now_ms) COVER(RESULT_BLOCK_CUT);
    if (left >= model.now_ms && model_split_result_block(queue, left)) COVER(RESULT_BLOCK_CUT_NOW);
}

int model_result_read(int queue, const model_task *task)
{
    const model_result_block *result_block = find(queue, task->at_ms);
    if (task->field || !result_block) return task->field;
    return result_block->results[model_slot(queue, task)];
}

/* ---- as it is -------------------------------------------------------------------------------------------------- */

static model_result_block *see(int queue, int64_t at_ms)
{
    model_seen_queue *q = &model_now_seen.queues[queue];
    int i = 0;
    while (i < q->result_block_count && q->result_blocks[i].at_ms != at_ms) i++;
    if (i == SLOTS) model_differ("there are more result_blocks than tasks");
    if (i == SLOTS) return &q->result_blocks[0];
    if (i == q->result_block_count) q->result_blocks[q->result_block_count++] = (model_result_block){.at_ms = at_ms};
    return &q->result_blocks[i];
}

/* "<id> <bytes>\n", and so many bytes: "m<number>". */
static void read_result_block(int queue, const rv_reply *name, const rv_reply *text)
{
    model_result_block *result_block = see(queue, atoll(name->text + 1));
    const char *at = text->text, *end = at + text->length;
    result_block->holds = true;
    while (at < end) {
        char id[128];
        size_t length = strcspn(at, " ");
        (void)snprintf(id, sizeof(id), "%.*s", (int)length, at);
        char *from;
        long bytes = strtol(at + length, &from, 10);
        if (*from != '\n' || from + 1 + bytes > end || model_id_of(id) < 0) {
            model_differ("a result_block of %s is \"%s\"", model_prefix(queue), text->text);
            return;
        }
        result_block->results[model_id_of(id)] = from[1] == 'm' ? atoi(from + 2) : -1;
        result_block->count++;
        at = from + 1 + bytes;
    }
}

void model_read_results(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        if (found->items[i]->text[0] == '+') {
            read_result_block(queue, found->items[i], found->items[i + 1]);
            continue;
        }
        int id = model_id_of(found->items[i]->text);
        if (id < 0) model_stray(queue, rest, found->items[i]->text);
        if (id < 0) continue;
        model_seen_task *task = &model_now_seen.queues[queue].tasks[id];
        rv_copy_text(task->result, sizeof(task->result), found->items[i + 1]->text);
    }
}

void model_read_result_blocks(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        model_result_block *result_block = see(queue, atoll(found->items[i]->text));
        result_block->listed = true;
        if ((int64_t)strtod(found->items[i + 1]->text, NULL) != result_block->at_ms)
            model_differ("%s%s has %s at %s", model_prefix(queue), rest, found->items[i]->text,
                         found->items[i + 1]->text);
    }
}

static void check_result_block(int queue, const model_result_block *seen)
{
    const model_result_block *result_block = find(queue, seen->at_ms);
    if (!seen->holds || !seen->listed)
        model_differ("a result_block of %lld is %s", (long long)seen->at_ms, seen->listed ? "empty" : "not listed");
    if (!result_block) model_differ("there is a result_block of %lld", (long long)seen->at_ms);
    for (int id = 0; result_block && id < SLOTS; id++) {
        if (result_block->results[id] != seen->results[id])
            model_differ("of %s a result_block has m%d, not m%d", model_id(id), seen->results[id],
                         result_block->results[id]);
    }
}

/* When the time has gone back, a task may end in the ms in which another of its id did, and be taken for that. */
void model_check_result_blocks(int queue, const model_seen_queue *seen)
{
    const model_queue *q = &model.queues[queue];
    if (seen->result_block_count != q->result_block_count)
        model_differ("there are %d result_blocks, not %d", seen->result_block_count, q->result_block_count);
    for (int i = 0; i < seen->result_block_count; i++) check_result_block(queue, &seen->result_blocks[i]);
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(queue, id);
        if (task->state != COMPLETED || model.went_back) continue;
        int read = model_result_read(queue, task);
        if (read != task->result) model_differ("%s has left m%d, and m%d is read", model_id(id), task->result, read);
    }
}
