/* Tasks, where they stand, what they have to tell, and who holds them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model_look.h"
#include "support/cmocka.h"

/* ---- tasks and where they stand -------------------------------------------------------------------------------- */

void model_read_tasks(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0) {
            model_stray(queue, rest, found->items[i]->text);
            continue;
        }
        model_seen_task *task = &model_now_seen.queues[queue].tasks[id];
        task->exists = true;
        rv_copy_text(task->envelope, sizeof(task->envelope), found->items[i + 1]->text);
    }
}

static void stand(int queue, const char *name, model_state state, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0) {
            model_stray(queue, name, found->items[i]->text);
            continue;
        }
        model_seen_task *task = &model_now_seen.queues[queue].tasks[id];
        task->places++;
        task->state = state;
        task->score = (int64_t)strtod(found->items[i + 1]->text, NULL);
    }
}

/* In place of tasks that came together, "+<p>". */
void model_read_ready(int queue, const char *rest, const rv_reply *found)
{
    rv_reply singles = *found;
    singles.items = calloc(found->count + 1, sizeof(*singles.items));
    assert_non_null(singles.items);
    singles.count = 0;
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        const char *name = found->items[i]->text;
        if (*name == '+') {
            model_see_segment(queue, name + 1, (int64_t)strtod(found->items[i + 1]->text, NULL));
            continue;
        }
        singles.items[singles.count++] = found->items[i];
        singles.items[singles.count++] = found->items[i + 1];
    }
    stand(queue, rest, READY, &singles);
    free(singles.items);
}

#define STANDING(name, state)                                                  \
    void model_read_##name(int queue, const char *rest, const rv_reply *found) \
    {                                                                          \
        (void)rest;                                                            \
        stand(queue, #name, state, found);                                     \
    }
MODEL_STATE_SETS(STANDING)
#undef STANDING

void model_read_waiters(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0) model_stray(queue, rest, found->items[i]->text);
        if (id >= 0)
            model_now_seen.queues[queue].tasks[id].waited_ms = (int64_t)strtod(found->items[i + 1]->text, NULL);
    }
}

void model_read_deadlines(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0) model_stray(queue, rest, found->items[i]->text);
        if (id >= 0)
            model_now_seen.queues[queue].tasks[id].expires_ms = (int64_t)strtod(found->items[i + 1]->text, NULL);
    }
}

static int kind_of(const char *text)
{
    for (int kind = 1; kind <= KINDS_OF_ERRORS; kind++)
        if (strcmp(model_kind_name(kind), text) == 0) return kind;
    return -1;
}

void model_read_failures(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int kind = kind_of(found->items[i]->text);
        if (kind < 0) model_stray(queue, rest, found->items[i]->text);
        if (kind >= 0) model_now_seen.queues[queue].kinds_ms[kind] = (int64_t)strtod(found->items[i + 1]->text, NULL);
    }
}

void model_read_failures_of(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0) {
            model_stray(queue, "failures", found->items[i]->text);
            continue;
        }
        model_seen_task *task = &model_now_seen.queues[queue].tasks[id];
        task->indexed++;
        task->indexed_kind = kind_of(rest);
        task->indexed_ms = (int64_t)strtod(found->items[i + 1]->text, NULL);
    }
}

void model_read_completed_extra(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i < found->count; i++) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0) model_stray(queue, rest, found->items[i]->text);
        if (id >= 0) model_now_seen.queues[queue].tasks[id].completed_extra = true;
    }
}

void model_read_result_sizes(int queue, const char *rest, const rv_reply *found)
{
    model_seen_queue *q = &model_now_seen.queues[queue];
    q->sizes = true;
    q->result_bytes = atoi(model_field(found, "#"));
    q->bytes_counted = strcmp(model_field(found, "@"), "end") == 0;
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        const char *name = found->items[i]->text;
        int id = model_id_of(name);
        if (id < 0 && *name != '#' && *name != '@') model_stray(queue, rest, name);
        if (id >= 0) q->tasks[id].counted = atoi(found->items[i + 1]->text);
    }
}

/* ---- hashes ---------------------------------------------------------------------------------------------------- */

void model_read_info_of(int queue, const char *rest, const rv_reply *found)
{
    static const char *const names[] = {
        "failures", "crashes", "kind",       "message", "failed", "progress",   "progress_message",
        "place",    "history", "pending",    "due",     "death",  "checkpoint", "has",
        "logged",   "logging", "log:0",      "log:1",   "log:2",  "signal:s",   "alone",
        "run",      "revoked", "revoked_at", NULL};
    int id = model_id_of(rest);
    if (id < 0) {
        model_stray(queue, "info", rest);
        return;
    }
    model_allow(queue, "info", found, names);
    model_seen_task *task = &model_now_seen.queues[queue].tasks[id];
    task->has_info = true;
    task->has_place = *model_field(found, "place");
    task->failures = atoi(model_field(found, "failures"));
    task->alone = *model_field(found, "alone");
    task->crashes = atoi(model_field(found, "crashes"));
    task->failed_ms = atoll(model_field(found, "failed"));
    task->progress = *model_field(found, "progress") ? 1 + atoi(model_field(found, "progress")) : 0;
    rv_copy_text(task->error, sizeof(task->error), model_field(found, "kind"));
    rv_copy_text(task->message, sizeof(task->message), model_field(found, "message"));
    rv_copy_text(task->words, sizeof(task->words), model_field(found, "progress_message"));
    task->waits = *model_field(found, "pending");
    task->pending = atoi(model_field(found, "pending"));
    task->due_ms = atoll(model_field(found, "due"));
    task->for_death = *model_field(found, "death");
    COPY(task->checkpoint, found, "checkpoint");
    COPY(task->has, found, "has");
    COPY(task->run, found, "run");
    COPY(task->logging, found, "logging");
    COPY(task->log[0], found, "log:0");
    COPY(task->log[1], found, "log:1");
    COPY(task->log[2], found, "log:2");
    task->logged = atoi(model_field(found, "logged"));
    const char *history = model_field(found, "history");
    task->history = *history != '\0';
    for (; *history; history++) task->history += *history == '\n';
}

static void read_leases(int queue, const char *rest, const rv_reply *found, bool lost)
{
    int session = model_session_of(rest);
    if (session < 0) {
        model_stray(queue, "running", rest);
        return;
    }
    model_seen_session *s = &model_now_seen.sessions[session];
    if (lost)
        s->lost = true;
    else
        s->running = true;
    rv_copy_text(s->flushed, sizeof(s->flushed), model_field(found, "#flushed"));
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        const char *name = found->items[i]->text;
        int id = model_id_of(name);
        bool kept = strcmp(name, "#suspect") == 0 || strcmp(name, "#other") == 0;
        if (id < 0 && (name[0] != '#' || (lost && !kept))) model_stray(queue, "running", name);
        if (id < 0) continue;
        model_seen_task *task = &model_now_seen.queues[queue].tasks[id];
        task->places++;
        task->state = RUNNING;
        task->session = session;
        task->lost = lost;
        rv_copy_text(task->lease, sizeof(task->lease), found->items[i + 1]->text);
    }
}

void model_read_running_of(int queue, const char *rest, const rv_reply *found)
{
    read_leases(queue, rest, found, false);
}

void model_read_once_of(int queue, const char *rest, const rv_reply *found)
{
    int session = model_session_of(rest);
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int id = model_id_of(found->items[i]->text), key = atoi(found->items[i + 1]->text + 1);
        if (session < 0 || id < 0 || key < 1)
            model_stray(queue, "once", rest);
        else
            model_now_seen.sessions[session].kept[id] = key;
    }
}

void model_read_lost_of(int queue, const char *rest, const rv_reply *found)
{
    read_leases(queue, rest, found, true);
}

void model_read_sessions(int queue, const char *rest, const rv_reply *found)
{
    (void)rest;
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        int session = model_session_of(found->items[i]->text);
        if (session < 0 || model.sessions[session].queue != queue) {
            model_stray(queue, "sessions", found->items[i]->text);
            continue;
        }
        model_now_seen.sessions[session].listed = true;
        model_now_seen.sessions[session].expiry_ms = (int64_t)strtod(found->items[i + 1]->text, NULL);
    }
}
