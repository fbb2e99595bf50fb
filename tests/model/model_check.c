/* What must hold after every step: Redis is as the model says, and the promises hold that need no model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_dependencies.h"
#include "model/model_limit_state.h"
#include "model/model_segment.h"
#include "model/model_turn.h"
#include "support/queue.h"

#define BAND RV_SCORE_BAND

/* ---- a task ---------------------------------------------------------------------------------------------------- */

static void check_place(const char *name, const model_task *task, const model_seen_task *seen)
{
    char lease[64];
    bool timed = task->state == SCHEDULED || task->state == BLOCKED || task->state >= COMPLETED;
    if (seen->exists != (task->state != NONE)) model_differ("%s %s", name, seen->exists ? "still exists" : "is lost");
    if (seen->places != (task->state != NONE)) model_differ("%s stands in %d places", name, seen->places);
    if (seen->state != task->state)
        model_differ("%s is %s, not %s", name, model_state_names[seen->state], model_state_names[task->state]);
    if (timed && seen->score != task->at_ms)
        model_differ("%s is %s at %lld, not %lld", name, model_state_names[task->state], (long long)seen->score,
                     (long long)task->at_ms);
    if ((task->state == READY || task->state == PARKED) &&
        (seen->score < task->priority * BAND || seen->score >= (task->priority + 1) * BAND))
        model_differ("%s of priority %d has score %lld", name, task->priority, (long long)seen->score);
    if (task->state != RUNNING) return;
    model_name_lease(lease, task->at_ms, task->thread);
    if (seen->session != task->session || strcmp(seen->lease, lease) != 0)
        model_differ("%s is held by session %d (%s), not %d (%s)", name, seen->session, seen->lease, task->session,
                     lease);
    if (seen->lost != (model.sessions[task->session].life == DYING))
        model_differ("%s is %s lost", name, seen->lost ? "" : "not");
}

static void check_words(const char *name, const char *what, const char *seen, const char *expected)
{
    if (strcmp(seen, expected) != 0) model_differ("%s has %s \"%s\", not \"%s\"", name, what, seen, expected);
}

/* A dead task stands in the index of its kind, and no other does. */
static void check_index(const char *name, const model_task *task, const model_seen_task *seen)
{
    bool dead = task->state == DEAD;
    if (seen->indexed != dead) model_differ("%s stands in %d indexes of failures", name, seen->indexed);
    if (dead && (seen->indexed_kind != KIND_OF(task->error) || seen->indexed_ms != task->at_ms))
        model_differ("%s is indexed under %d at %lld", name, seen->indexed_kind, (long long)seen->indexed_ms);
}

static void check_log(const char *name, const model_task *task, const model_seen_task *seen)
{
    if (seen->logged != task->logged) model_differ("%s has logged %d lines, not %d", name, seen->logged, task->logged);
    check_words(name, "a last line", seen->logging, task->logging);
    for (int i = 0; i < LOG_LINES; i++) {
        char words[64] = "";
        int number = task->log[i].number;
        if (number)
            (void)snprintf(words, sizeof(words), "%d %lld line %d", number, (long long)task->log[i].at_ms, number);
        check_words(name, "a line", seen->log[i], words);
    }
}

static void check_info(const char *name, const model_task *task, const model_seen_task *seen)
{
    if (seen->has_info && !seen->exists) model_differ("there is info of %s, which does not exist", name);
    if (seen->completed_extra && task->state != COMPLETED && task->state != RETAINED)
        model_differ("%s is completed_extra, and not completed", name);
    if ((seen->has_info || seen->has_parents) && task->state == COMPLETED && !seen->completed_extra)
        model_differ("%s is completed, has something to tell, and is not completed_extra", name);
    if (seen->has_info != model_has_info(task)) model_differ("%s has %s info", name, seen->has_info ? "" : "no");
    if (seen->failures != task->failures)
        model_differ("%s failed %d times, not %d", name, seen->failures, task->failures);
    if (seen->crashes != task->crashes) model_differ("%s crashed %d times, not %d", name, seen->crashes, task->crashes);
    if (seen->alone != task->alone) model_differ("%s has %s crashed alone", name, seen->alone ? "" : "not");
    if (seen->failed_ms != task->failed_ms) model_differ("%s failed at %lld", name, (long long)seen->failed_ms);
    if (seen->has_place != task->placed) model_differ("%s has %s place to go to", name, seen->has_place ? "a" : "no");
    if (seen->progress != task->progress) model_differ("%s has progress %d", name, seen->progress - 1);
    char words[160];
    model_error_words(task->error, words);
    check_words(name, "kind", seen->error, model_kind_name(KIND_OF(task->error)));
    check_words(name, "message", seen->message, words);
    if (task->field) (void)snprintf(words, sizeof(words), "m%d", task->field);
    check_words(name, "result", seen->result, task->field ? words : "");
    if (task->checkpoint) (void)snprintf(words, sizeof(words), "c%d", task->checkpoint);
    check_words(name, "checkpoint", seen->checkpoint, task->checkpoint ? words : "");
    check_words(name, "has", seen->has, task->checkpoint ? "c" : "");
    check_words(name, "a run", seen->run, task->run);
    check_log(name, task, seen);
    if (seen->expires_ms != task->expires_ms)
        model_differ("%s must begin by %lld, not %lld", name, (long long)seen->expires_ms, (long long)task->expires_ms);
    if (seen->history != task->history)
        model_differ("%s has a history of %d entries, not %d", name, seen->history, task->history);
    if (seen->waited_ms != task->waited_ms)
        model_differ("%s is waited for until %lld", name, (long long)seen->waited_ms);
}

/* Once it is marked it stays so; and it must be when there is something to count. */
static void check_mark(const char *name, model_task *task, const model_seen_task *seen)
{
    bool flagged = strncmp(seen->envelope, "{\"info\":1,", 10) == 0;
    if (!task->flagged && flagged && seen->has_info) task->flagged = true;
    if (task->flagged != flagged) model_differ("%s is %s marked", name, flagged ? "" : "not");
    if ((seen->failures || seen->crashes) && !flagged)
        model_differ("%s is not marked, but has failed or crashed", name);
    model_check_envelope(task, name, seen->envelope);
}

static void check_task(int queue, int id, const model_seen_task *seen)
{
    model_task *task = model_task_of(queue, id);
    char name[32];
    (void)snprintf(name, sizeof(name), "%s/%s", queue == 0 ? "a" : "b", model_id(id));
    check_place(name, task, seen);
    check_info(name, task, seen);
    check_index(name, task, seen);
    if (task->state != NONE && seen->exists) check_mark(name, task, seen);
}

/* ---- a queue --------------------------------------------------------------------------------------------------- */

static void check_keep(const model_queue *queue, const model_seen_queue *seen)
{
    for (int i = 0; i < 4; i++) {
        int64_t expected = i % 2 == 0 ? queue->keep_age[i / 2] : queue->keep_count[i / 2];
        if (queue->kept[i / 2] != (*seen->keep[i] != '\0') || (queue->kept[i / 2] && atoll(seen->keep[i]) != expected))
            model_differ("retention setting %d is \"%s\"", i, seen->keep[i]);
    }
}

/* Results are counted where they are kept by their bytes, and only there. */
static void check_results(int queue, const model_seen_queue *seen)
{
    const model_queue *q = &model.queues[queue];
    int bytes = 0;
    if (seen->keep_bytes != q->keep_bytes) model_differ("%d bytes of results are kept", seen->keep_bytes);
    for (int id = 0; id < SLOTS; id++) {
        int expected = model_task_of(queue, id)->counted;
        bytes += expected;
        if (seen->tasks[id].counted != expected)
            model_differ("of %s %d bytes are counted, not %d", model_id(id), seen->tasks[id].counted, expected);
    }
    if (seen->result_bytes != bytes) model_differ("results have %d bytes, not %d", seen->result_bytes, bytes);
    if (seen->bytes_counted != q->bytes_counted) model_differ("results are %s counted", q->bytes_counted ? "not" : "");
    if (seen->sizes && !q->keep_bytes) model_differ("results are counted, and do not count");
}

/* That there is one for every kind is seen with the tasks. */
static void check_kinds(int queue, const model_seen_queue *seen)
{
    for (int kind = 1; kind <= KINDS_OF_ERRORS; kind++) {
        bool any = false;
        for (int id = 0; id < SLOTS; id++) {
            const model_task *task = model_task_of(queue, id);
            any = any || (task->state == DEAD && KIND_OF(task->error) == kind);
        }
        if ((any ? model.queues[queue].kinds_ms[kind] : 0) != seen->kinds_ms[kind])
            model_differ("failures has %s at %lld", model_kind_name(kind), (long long)seen->kinds_ms[kind]);
    }
}

/* A key without an end of its own has its task, which has not ended. */
static void check_locks(int queue, const model_seen_queue *seen)
{
    for (int key = 1; key <= UNIQUES; key++) {
        int holder = seen->holders[key] - 1;
        int64_t ends = seen->left_ms[key] >= 0 ? model.now_ms + seen->left_ms[key] : 0;
        if (holder != model_holder(queue, key))
            model_differ("u%d is held by %s, not by %s", key, holder < 0 ? "none" : model_id(holder),
                         model_holder(queue, key) < 0 ? "none" : model_id(model_holder(queue, key)));
        if (holder < 0) continue;
        if (ends != model.queues[queue].locks[key].ends_ms)
            model_differ("u%d is held until %lld", key, (long long)ends);
        bool ended = seen->tasks[holder].state == NONE || seen->tasks[holder].state >= COMPLETED;
        if (ends == 0 && ended && !model_is_kept(queue, holder, key))
            model_differ("u%d is held by %s, which is %s", key, model_id(holder),
                         model_state_names[seen->tasks[holder].state]);
    }
}

static void check_replacements(int queue, const model_seen_queue *seen)
{
    for (int id = 0; id < SLOTS; id++) {
        if (seen->replacements[id] - 1 != model_replacement(queue, id))
            model_differ("the replacement of %s is %d, not %d", model_id(id), seen->replacements[id] - 1,
                         model_replacement(queue, id));
        else if (seen->replacements[id] &&
                 model.now_ms + seen->replacements_left_ms[id] != model.queues[queue].replacements[id].ends_ms)
            model_differ("the replacement of %s is known for %lld", model_id(id),
                         (long long)seen->replacements_left_ms[id]);
    }
}

static bool is_anybody_told(int queue)
{
    for (int hand = 0; hand < HANDS; hand++)
        for (int thread = 0; thread < THREADS; thread++)
            if (model.hands[hand].told[thread] == queue + 1) return true;
    return false;
}

/* Where tasks are ready, and may be leased, there is a token, or a thread that took it, or was told to look, and has
 * yet to turn. One that died in between took it with it; tend puts it back. */
static void check_wake(int queue, const model_seen *all)
{
    model_queue *q = &model.queues[queue];
    const model_seen_queue *seen = &all->queues[queue];
    if (seen->tokens > 1) model_differ("there are %d tokens in wake", seen->tokens);
    if (seen->tokens > 0) q->token_lost = false;
    if (model_is_shut(queue, seen)) return;
    if (seen->tokens > 0 || q->paused || model_count(queue, READY) == 0) return;
    if (!is_anybody_told(queue) && !model_is_look_on_its_way(queue, all) && !q->token_lost)
        model_differ("tasks are ready in queue %d, and nobody is told", queue);
}

/* The number of tasks that ever came, which scripts derive from the others. */
static void check_enqueued(int queue, const model_seen_queue *seen)
{
    int sum = seen->counters[0] + seen->counters[2] + seen->ends[0] + seen->ends[1];
    for (model_state state = NONE + 1; state < RETAINED; state++)
        if (state != COMPLETED && state != DEAD && state != CANCELLED) sum += model_count(queue, state);
    if (sum != model.queues[queue].enqueued)
        model_differ("%d tasks came to queue %d, and its counters say %d", model.queues[queue].enqueued, queue, sum);
}

static void check_queue(int queue, const model_seen_queue *seen)
{
    model_queue *q = &model.queues[queue];
    static const char *const names[] = {"completed", "failed", "dead", "crashed"};
    for (int id = 0; id < SLOTS; id++) check_task(queue, id, &seen->tasks[id]);
    for (int i = 0; i < 4; i++)
        if (seen->counters[i] != q->counters[i])
            model_differ("counter %s is %d, not %d", names[i], seen->counters[i], q->counters[i]);
    if (seen->unrecorded_ms != q->unrecorded_ms)
        model_differ("a task of queue %d went without a record at %lld, not %lld", queue,
                     (long long)seen->unrecorded_ms, (long long)q->unrecorded_ms);
    check_enqueued(queue, seen);
    if (seen->paused != q->paused) model_differ("queue %d is %s paused", queue, seen->paused ? "" : "not");
    if (seen->large != q->large) model_differ("queue %d is %s large", queue, seen->large ? "" : "not");
    if (seen->waiters != q->waiters) model_differ("queue %d has %s waiters", queue, seen->waiters ? "" : "no");
    if (seen->groups > 0 && !seen->grouped) model_differ("queue %d has groups, and its order does not say so", queue);
    if (seen->payload_max != q->payloads_limited || seen->payload_limited != q->payloads_limited ||
        seen->payload_setting != q->payloads_limited)
        model_differ("queue %d has %s limit of payloads", queue, seen->payload_setting ? "a" : "no");
    if (seen->crashed > q->counters[3]) model_differ("%d crashed by the days of queue %d", seen->crashed, queue);
    check_keep(q, seen);
    check_results(queue, seen);
    model_check_result_blocks(queue, seen);
    check_kinds(queue, seen);
    check_locks(queue, seen);
    check_replacements(queue, seen);
    model_check_limit_state(queue, seen);
    model_check_segments(queue, seen);
    model_check_entries(queue, seen);
    model_check_dependencies(queue, seen);
    model_check_events(queue, seen);
    model_check_tags(queue, seen);
    model_check_stats(queue, seen);
    if (strcmp(seen->upkeep, model_upkeep_words(queue)) != 0)
        model_differ("queue %d was looked after: %s, not %s", queue, seen->upkeep, model_upkeep_words(queue));
    if (seen->policy != q->policy) model_differ("queue %d has %s policy", queue, seen->policy ? "a" : "no");
    if (seen->on_dead != q->on_dead) model_differ("queue %d calls %s for deaths", queue, seen->on_dead ? "" : "not");
}

static void check_session(int number, const model_seen_session *seen)
{
    const model_session *session = &model.sessions[number];
    char flushed[24] = "";
    /* The last lease of one that is being reaped may be ended by hand: the key goes with it, and the session at the next call. */
    bool empty = session->life == DYING && model_held(number) == 0;
    if (seen->listed != (session->life != ABSENT) || seen->running != (session->life == ALIVE) ||
        (seen->lost != (session->life == DYING) && !empty))
        model_differ("session %d is %s, %s, %s; in the model %d", number, seen->listed ? "listed" : "not listed",
                     seen->running ? "running" : "not running", seen->lost ? "lost" : "not lost", session->life);
    for (int id = 0; id < SLOTS; id++)
        if (seen->kept[id] != session->kept[id])
            model_differ("session %d keeps key u%d of %s, not u%d", number, seen->kept[id], model_id(id),
                         session->kept[id]);
    if (session->life == ABSENT) return;
    if (seen->expiry_ms != session->expiry_ms)
        model_differ("session %d expires at %lld, not %lld", number, (long long)seen->expiry_ms,
                     (long long)session->expiry_ms);
    if (session->flushed) (void)snprintf(flushed, sizeof(flushed), "%d", session->flushed);
    if (session->life == ALIVE && strcmp(seen->flushed, flushed) != 0)
        model_differ("session %d has flushed %s, not %s", number, seen->flushed, flushed);
}

void model_check(void)
{
    if (model.words[0]) return;
    const model_seen *seen = model_look();
    if (seen && seen->unnamed) {
        model_look_again();
        seen = model_look();
    }
    if (!seen) return;
    if (seen->unnamed) model_differ("there is a task for a death that nobody died");
    for (int queue = 0; queue < QUEUES; queue++) {
        check_queue(queue, &seen->queues[queue]);
        model_check_hands(queue, seen);
        check_wake(queue, seen);
    }
    for (int i = 0; i < model.session_count; i++) check_session(i, &seen->sessions[i]);
    model.number_count = 0;
}
