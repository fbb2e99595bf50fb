/* Which calls make segments, what must hold of these, and what becomes of them. */
#include <stdlib.h>
#include <string.h>

#include "model/model_segment.h"

enum { SEGMENT_MIN = 4 };
#define START RV_SCORE_START /* of the order's numbers */

/* As segments stood after the last step. */
static struct {
    int segment[SLOTS], place[SLOTS]; /* p + 1, 0: in none; counted from 0 */
    int64_t score[SLOTS];
    int count;
} before[QUEUES];

void model_segments_begin(void)
{
    memset(before, 0, sizeof(before));
}

int model_packed(int queue)
{
    return before[queue].count;
}

/* ---- a call ---------------------------------------------------------------------------------------------------- */

/* The place of the task that came last without a group, and of priority 0. */
static int64_t last_score(const model_seen_queue *seen)
{
    int64_t last = seen->next > START ? seen->next : seen->last;
    return last > START ? last : START;
}

static const model_seen_segment *find(const model_seen_queue *seen, int p)
{
    for (int i = 0; i < seen->segment_count; i++)
        if (seen->segments[i].p == p) return &seen->segments[i];
    return NULL;
}

bool model_are_new(int queue, const model_incoming *tasks, int count)
{
    for (int i = 0; i < count; i++) {
        if (tasks[i].task.large || model_task_of(queue, tasks[i].id)->state != NONE) return false;
        for (int j = 0; j < i; j++)
            if (tasks[j].id == tasks[i].id) return false;
    }
    return true;
}

bool model_is_common(int queue)
{
    const model_seen *all = model_look();
    return all && !all->queues[queue].grouped && !all->queues[queue].events_ordered && !all->queues[queue].payload_max;
}

int model_segment_for(int queue, const model_incoming *tasks, int count)
{
    const model_seen *all = model_look();
    if (!all || count < SEGMENT_MIN) return 0;
    const model_seen_queue *seen = &all->queues[queue];
    if (!model_are_new(queue, tasks, count)) {
        COVER(SEGMENT_NOT_NEW);
        return 0;
    }
    if (seen->grouped) COVER(SEGMENT_GROUPS);
    if (seen->events_ordered) COVER(SEGMENT_EVENTS);
    if (seen->grouped || seen->events_ordered || seen->payload_max) return 0;
    const model_seen_segment *newest = *seen->newest ? find(seen, atoi(seen->newest)) : NULL;
    const char *tail = strchr(seen->newest, ' ');
    if (newest && tail && newest->count > 0 && atoll(tail) == last_score(seen)) {
        COVER(SEGMENT_JOINED);
        return newest->p + 1;
    }
    if (newest) COVER(SEGMENT_BEHIND);
    COVER(SEGMENT_MADE);
    return (int)((last_score(seen) - START) / SPACING) + 1;
}

/* ---- what must hold -------------------------------------------------------------------------------------------- */

static void check_segment(int queue, const model_seen_segment *segment)
{
    if (!segment->ready) model_differ("segment %d of queue %d does not stand in ready", segment->p, queue);
    if (!segment->listed) model_differ("segment %d of queue %d is none of its segments", segment->p, queue);
    if (segment->count == 0) model_differ("segment %d of queue %d is empty", segment->p, queue);
    for (int i = 0; i < segment->count; i++) {
        const model_task *task = model_task_of(queue, segment->ids[i]);
        if (task->segment != segment->p + 1)
            model_differ("%s stands in segment %d, and came in %d", model_id(segment->ids[i]), segment->p,
                         task->segment - 1);
        if (i > 0 && task->order < model_task_of(queue, segment->ids[i - 1])->order)
            model_differ("%s stands behind one that came later, in segment %d", model_id(segment->ids[i - 1]),
                         segment->p);
    }
}

/* Between a segment's tasks and all others the order is what it would be with a place for each. */
static void check_places(int queue, const model_seen_queue *seen, int id)
{
    const model_task *one = model_task_of(queue, id);
    for (int other = 0; other < SLOTS; other++) {
        const model_task *task = model_task_of(queue, other);
        if (task->state != READY || task->group || task->priority != one->priority || task->order == 0) continue;
        if ((task->order < one->order && seen->tasks[other].score > seen->tasks[id].score) ||
            (task->order > one->order && seen->tasks[other].score < seen->tasks[id].score))
            model_differ("%s came %s %s of segment %d, and its score is %lld, not %lld", model_id(other),
                         task->order < one->order ? "before" : "after", model_id(id), seen->tasks[id].segment - 1,
                         (long long)seen->tasks[other].score, (long long)seen->tasks[id].score);
    }
}

/* The newest one's last place is said, so that what follows can be joined to it. */
static void check_newest(int queue, const model_seen_queue *seen)
{
    for (int i = 0; i < seen->segment_count; i++) {
        const model_seen_segment *segment = &seen->segments[i];
        const char *tail = strchr(seen->newest, ' ');
        int64_t end = segment->score + (int64_t)SPACING * (segment->count - 1);
        if (!tail || atoll(tail) < end || (atoll(tail) == end && atoi(seen->newest) != segment->p))
            model_differ("queue %d's newest segment is said to be %s, and there is %d up to %lld", queue, seen->newest,
                         segment->p, (long long)end);
        else if (last_score(seen) < atoll(tail))
            model_differ("queue %d's segment %d ends behind all that came", queue, segment->p);
    }
}

/* ---- what became of those of the step before --------------------------------------------------------------------- */

/* What left one is in ready by itself, or runs, or is elsewhere. */
static void cover_segment(int queue, const model_seen_queue *seen, int p)
{
    int was = 0, stays = 0, runs = 0, alone = 0, else_where = 0, behind = 0;
    for (int id = 0; id < SLOTS; id++) {
        if (before[queue].segment[id] != p) continue;
        model_state state = model_task_of(queue, id)->state;
        was++;
        if (seen->tasks[id].segment == p)
            stays++;
        else if (state == RUNNING)
            runs++;
        else if (state == READY)
            alone++;
        else
            else_where++, behind += before[queue].place[id] > 0;
    }
    if (runs == was) COVER(SEGMENT_LEASED);
    if (runs > 0 && stays > 0 && alone == 0) COVER(SEGMENT_LEASED_PART);
    if (alone > 0 && stays > 0) COVER(SEGMENT_OPENED_PART);
    if (alone > 0 && stays == 0) COVER(SEGMENT_OPENED);
    if (else_where == 1 && stays == was - 1) COVER(SEGMENT_LEFT);
    if (behind == 1 && else_where == 1 && alone > 0 && stays > 0) COVER(SEGMENT_LEFT_WITHIN);
    if (else_where == 1 && was == 1) COVER(SEGMENT_LEFT_BY_LAST);
}

/* Who stays keeps its score. */
static void check_moves(int queue, const model_seen_queue *seen, int id)
{
    if (seen->tasks[id].segment == before[queue].segment[id] && seen->tasks[id].score != before[queue].score[id])
        model_differ("%s in segment %d had score %lld, and has %lld", model_id(id), seen->tasks[id].segment - 1,
                     (long long)before[queue].score[id], (long long)seen->tasks[id].score);
}

/* Groups take turns with them. */
static void cover_between(const model_seen_queue *seen)
{
    for (int i = 0; i < seen->segment_count; i++) {
        int64_t first = seen->segments[i].score, last = first + (int64_t)SPACING * (seen->segments[i].count - 1);
        for (int id = 0; id < SLOTS; id++) {
            const model_seen_task *task = &seen->tasks[id];
            bool other = task->state == READY && task->segment != seen->segments[i].p + 1;
            if (other && task->score > first && task->score < last && (task->score - first) % SPACING != 0)
                COVER(SEGMENT_BETWEEN);
        }
    }
}

static void remember(int queue, const model_seen_queue *seen)
{
    memset(&before[queue], 0, sizeof(before[queue]));
    for (int i = 0; i < seen->segment_count; i++) {
        before[queue].count += seen->segments[i].count;
        for (int j = 0; j < seen->segments[i].count; j++) {
            before[queue].segment[seen->segments[i].ids[j]] = seen->segments[i].p + 1;
            before[queue].place[seen->segments[i].ids[j]] = j;
            before[queue].score[seen->segments[i].ids[j]] = seen->tasks[seen->segments[i].ids[j]].score;
        }
    }
}

void model_check_segments(int queue, const model_seen_queue *seen)
{
    for (int i = 0; i < seen->segment_count; i++) check_segment(queue, &seen->segments[i]);
    check_newest(queue, seen);
    for (int id = 0; id < SLOTS; id++) {
        int p = before[queue].segment[id], first = 0;
        while (before[queue].segment[first] != p) first++;
        if (p > 0 && first == id) cover_segment(queue, seen, p);
        if (seen->tasks[id].segment) check_places(queue, seen, id);
        if (p > 0) check_moves(queue, seen, id);
    }
    cover_between(seen);
    remember(queue, seen);
}
