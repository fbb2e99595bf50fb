/* Segments: the members of `ready`, the lists and the set that belong together. */
#include <stdlib.h>
#include <string.h>

#include "model/model_look.h"
#include "model/model_segment.h"

/* Of `ready`, the lists and the set, in any order. */
static model_seen_segment *segment_of(int queue, const char *key, const char *text)
{
    static model_seen_segment none;
    model_seen_queue *q = &model_now_seen.queues[queue];
    char *end;
    long p = strtol(text, &end, 10);
    for (int i = 0; i < q->segment_count; i++)
        if (q->segments[i].p == p) return &q->segments[i];
    if (end == text || *end || p < 0 || q->segment_count == SEGMENTS) {
        model_stray(queue, key, text);
        return &none;
    }
    q->segments[q->segment_count].p = (int)p;
    return &q->segments[q->segment_count++];
}

void model_see_segment(int queue, const char *p, int64_t score)
{
    model_seen_segment *segment = segment_of(queue, "ready", p);
    segment->ready = true;
    segment->score = score;
}

void model_read_segments(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i < found->count; i++) segment_of(queue, rest, found->items[i]->text)->listed = true;
}

void model_read_segment_of(int queue, const char *rest, const rv_reply *found)
{
    model_seen_segment *segment = segment_of(queue, "segment:", rest);
    segment->count = 0;
    for (size_t i = 0; i < found->count; i++) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0 || segment->count == SLOTS) {
            model_stray(queue, "segment:", found->items[i]->text);
        } else {
            segment->ids[segment->count++] = id;
        }
    }
}

void model_open_segments(model_seen *seen)
{
    for (int queue = 0; queue < QUEUES; queue++) {
        model_seen_queue *q = &seen->queues[queue];
        for (int i = 0; i < q->segment_count; i++) {
            for (int j = 0; j < q->segments[i].count; j++) {
                model_seen_task *task = &q->tasks[q->segments[i].ids[j]];
                task->places++;
                task->state = READY;
                task->score = q->segments[i].score + (int64_t)SPACING * j;
                task->segment = q->segments[i].p + 1;
            }
        }
    }
}
