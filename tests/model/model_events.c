/* Events: while there are any, each transition of a task is told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model_look.h"
#include "support/queue.h"

enum { QUEUE, WHAT, NUMBER, FLAGS };
enum { KEEPS, LISTENS, LOOKS };
enum { TWICE = 1 };

/* The states that tasks can be in after an event, as a set of bits. */
#define MODEL_EVENT(name, states) {name, states},
static const struct {
    const char *name;
    unsigned states;
} known[] = {MODEL_EVENTS(MODEL_EVENT)};
#undef MODEL_EVENT

enum { KNOWN_EVENTS = sizeof(known) / sizeof(known[0]) };
#define BIT(number) (1u << (number))

/* ---- who keeps them, who listens ------------------------------------------------------------------------------- */

void model_events_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[WHAT] = CHOOSE(KEEPS, KEEPS, LISTENS, LISTENS, LOOKS);
    arg[NUMBER] = arg[WHAT] == KEEPS ? CHOOSE(0, 1000, 1000) : CHOOSE(1000, 60000);
    arg[FLAGS] = CHOOSE(0, 0, TWICE);
}

static void events(const int arg[ARGS])
{
    static const char *const words[] = {"keep", "listen"};
    model_queue *q = &model.queues[arg[QUEUE]];
    const rv_reply *reply = arg[WHAT] == LOOKS ? CALL(events_look, arg[QUEUE], "")
                                               : CALL(events, arg[QUEUE], words[arg[WHAT]], model_number(arg[NUMBER]));
    if (!reply) return;
    if (arg[WHAT] == KEEPS) q->events_kept = arg[NUMBER];
    if (arg[WHAT] == KEEPS && arg[NUMBER]) COVER(EVENTS_KEPT);
    if (arg[WHAT] == KEEPS && !arg[NUMBER]) COVER(EVENTS_NONE);
    if (arg[WHAT] == LISTENS) COVER(EVENTS_LISTEN);
    if (arg[WHAT] == LOOKS) COVER(EVENTS_LOOK);
    if (arg[WHAT] == LISTENS && q->listening_ms < model.now_ms + arg[NUMBER])
        q->listening_ms = model.now_ms + arg[NUMBER];
    if (rv_reply_int(rv_reply_at(reply, 0), -1) != model.now_ms ||
        rv_reply_int(rv_reply_at(reply, 1), -1) != q->events_kept)
        model_differ("events says %s; %d are kept", test_reply_text(reply), q->events_kept);
    char last[48];
    int64_t count = rv_reply_int(rv_reply_at(reply, 3), -1);
    rv_copy_text(last, sizeof(last), rv_reply_at(reply, 2) ? rv_reply_at(reply, 2)->text : "");
    const model_seen *seen = model_look();
    if (!seen) return;
    const model_seen_queue *now = &seen->queues[arg[QUEUE]];
    if (count != now->event_count || strcmp(last, now->event_count ? now->last_event : "0-0") != 0)
        model_differ("events says %lld, the last %s; there are %d", (long long)count, last, now->event_count);
}

void model_events(const int arg[ARGS])
{
    for (int i = 0; i <= (arg[FLAGS] & TWICE); i++) events(arg);
}

/* ---- what they say --------------------------------------------------------------------------------------------- */

static bool is_later(const char *one, const char *other)
{
    char *end, *other_end;
    long long ms = strtoll(one, &end, 10), other_ms = strtoll(other, &other_end, 10);
    if (ms != other_ms) return ms > other_ms;
    return *end && (!*other_end || atoi(end + 1) > atoi(other_end + 1));
}

static void note(int queue, char *words)
{
    char *rest = NULL, *name = strtok_r(words, " ", &rest);
    unsigned event = 0;
    while (name && event < KNOWN_EVENTS && strcmp(known[event].name, name) != 0) event++;
    if (!name || event == KNOWN_EVENTS) {
        model_stray(queue, "events", words);
        return;
    }
    for (char *id = strtok_r(NULL, " ", &rest); id; id = strtok_r(NULL, " ", &rest)) {
        int number = model_id_of(id);
        if (number < 0) model_stray(queue, "events", id);
        if (number >= 0) model_now_seen.queues[queue].tasks[number].events |= BIT(event);
    }
}

void model_read_events(int queue, const char *rest, const rv_reply *found)
{
    (void)rest;
    model_seen_queue *q = &model_now_seen.queues[queue];
    q->event_count = (int)found->count / 2;
    for (size_t i = 0; i + 1 < found->count; i += 2) {
        char words[2048];
        const char *id = found->items[i]->text;
        if (!is_later(id, model.queues[queue].last_event)) continue;
        rv_copy_text(words, sizeof(words), found->items[i + 1]->text);
        note(queue, words);
        rv_copy_text(q->last_event, sizeof(q->last_event), id);
    }
    if (!*q->last_event) rv_copy_text(q->last_event, sizeof(q->last_event), model.queues[queue].last_event);
}

static bool is_told(unsigned events, model_state state)
{
    for (unsigned event = 0; event < KNOWN_EVENTS; event++)
        if (events & BIT(event) && known[event].states & BIT(state)) return true;
    return false;
}

static void check_told(int queue, int id, model_state before, const model_seen_task *seen)
{
    model_state state = model_task_of(queue, id)->state;
    if (state == before || (state == NONE && before >= COMPLETED)) return;
    if (state == RETAINED && before == COMPLETED) return;
    if (!is_told(seen->events, state))
        model_differ("%s was %s and is %s, and that is not told", model_id(id), model_state_names[before],
                     model_state_names[state]);
    COVER(EVENTS_TELL);
}

void model_check_events(int queue, const model_seen_queue *seen)
{
    model_queue *q = &model.queues[queue];
    bool on = q->events_kept || q->listening_ms;
    if (seen->events_kept != q->events_kept || seen->listening_ms != q->listening_ms)
        model_differ("events: %d, until %lld", seen->events_kept, (long long)seen->listening_ms);
    if (seen->events_ordered != on) model_differ("order says %s of events", seen->events_ordered ? "so" : "nothing");
    if (!on && seen->event_count > 0) model_differ("there are events, and nobody asked for any");
    for (int id = 0; id < SLOTS; id++) {
        if (on && q->telling) check_told(queue, id, q->before[id], &seen->tasks[id]);
        q->before[id] = model_task_of(queue, id)->state;
    }
    q->telling = on;
    rv_copy_text(q->last_event, sizeof(q->last_event), on ? seen->last_event : "");
}
