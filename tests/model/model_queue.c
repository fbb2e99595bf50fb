/* What users do to queues: pause, and change settings. */
#include <stdio.h>

#include "model/model_seen.h"
#include "support/queue.h"

enum { QUEUE, FLAGS = 2, AGE };
enum { TWICE = 1 };

/* ---- queues ---------------------------------------------------------------------------------------------------- */

enum { PAUSED = 1 };

void model_pause_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[PAUSED] = !model.queues[arg[QUEUE]].paused && model_chance(3) == 0;
    arg[FLAGS] = CHOOSE(0, TWICE);
}

void model_pause(const int arg[ARGS])
{
    model_queue *queue = &model.queues[arg[QUEUE]];
    bool on = arg[PAUSED] == 1;
    for (int i = 0; i <= (arg[FLAGS] & TWICE); i++) {
        const rv_reply *reply = CALL(pause, arg[QUEUE], on ? "1" : "0");
        if (!reply) return;
        if (rv_reply_int(reply, -1) != (queue->paused != on)) model_differ("pause says %s", test_reply_text(reply));
        if (queue->paused == on) COVER(PAUSE_SAME);
        if (queue->paused != on && on) COVER(PAUSE_ON);
        if (queue->paused != on && !on) COVER(PAUSE_OFF);
        queue->paused = on;
    }
}

enum { WHICH = 1, COUNT = 2, BYTES = 2 /* of WHICH: of results */, PAYLOADS = 3, BREAKERS = 4 };

void model_keep_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[WHICH] = CHOOSE(0, 0, 0, 1, 1, 1, BYTES, BYTES, PAYLOADS);
    arg[COUNT] = CHOOSE(0, 0, 0, 1, 1, 1, 2, -1, 10000);
    arg[AGE] = CHOOSE(0, -1, 1000, 5000, DAY, DAY, DAY, DAY);
    if (model_chance(mood.limited ? 3 : 8) == 0) arg[WHICH] = BREAKERS;
    if (mood.results && arg[WHICH] == 0) arg[COUNT] = CHOOSE(1, 2, 3, 4, 6, -1, -1);
    if (mood.results && arg[WHICH] == 0) arg[AGE] = CHOOSE(-1, 1, 10, 100, 1000, 5000, DAY);
    if (arg[WHICH] == BYTES) arg[COUNT] = CHOOSE(0, 1, 4, 8, 8, 12);
    if (arg[WHICH] == BYTES && mood.results && model.queues[arg[QUEUE]].keep_bytes) arg[COUNT] = 0;
    if (arg[WHICH] == BREAKERS) arg[COUNT] = mood.idles || mood.segments ? 0 : CHOOSE(0, 1, 2, 3, 3);
    if (arg[WHICH] == PAYLOADS)
        arg[COUNT] = !model.queues[arg[QUEUE]].payloads_limited && !mood.segments && !mood.idles;
}

/* As reeve_queue_set does it. */
static void keep_bytes(int number, int max)
{
    model_queue *queue = &model.queues[number];
    char text[24] = "";
    if (max) (void)snprintf(text, sizeof(text), "%d", max);
    if (!CALL(settings, number, "completed_bytes", text)) return;
    if (!max) {
        for (int id = 0; id < SLOTS; id++) queue->tasks[id].counted = 0;
        queue->bytes_counted = false;
    }
    if (queue->keep_bytes && !max) COVER(BYTES_NONE);
    queue->keep_bytes = max;
}

/* Payloads are numbers, or as long as LARGE. */
static void limit_payloads(int number, bool on)
{
    if (!CALL(settings, number, "payload_max", on ? "100" : "")) return;
    if (on) COVER(PAYLOADS_LIMITED);
    model.queues[number].payloads_limited = on;
}

/* which: 1: of the queue, 2: of groups, 3: both, 0: none. Two attempts, of which half fail, open them for a while. */
static void set_breakers(int number, int which)
{
    model_limits *l = &model.queues[number].limits;
    if (!CALL(settings, number, "breaker", which & 1 ? "50" : "", "breaker_attempts", "2", "breaker_window", "5000",
              "breaker_pause", "1500"))
        return;
    if (!CALL(settings, number, "group_breaker", which & 2 ? "50" : "", "group_breaker_attempts", "2",
              "group_breaker_window", "5000", "group_breaker_pause", "1500"))
        return;
    for (int scope = 0; scope <= GROUPS; scope++)
        if (!(which & (scope ? 2 : 1))) l->breakers[scope][0] = '\0';
    l->breaks[0] = which & 1;
    l->breaks[1] = which & 2;
    if (which) COVER(BREAKER_SET);
}

void model_keep(const int arg[ARGS])
{
    static const char *const names[][2] = {{"completed_age", "completed_count"}, {"dead_age", "dead_count"}};
    model_queue *queue = &model.queues[arg[QUEUE]];
    model_look_again();
    if (arg[WHICH] == BYTES) {
        keep_bytes(arg[QUEUE], arg[COUNT]);
        return;
    }
    if (arg[WHICH] == BREAKERS) {
        set_breakers(arg[QUEUE], arg[COUNT]);
        return;
    }
    if (arg[WHICH] == PAYLOADS) {
        limit_payloads(arg[QUEUE], arg[COUNT]);
        return;
    }
    char age[24], count[24];
    (void)snprintf(age, sizeof(age), "%d", arg[AGE]);
    (void)snprintf(count, sizeof(count), "%d", arg[COUNT]);
    if (!CALL(settings, arg[QUEUE], names[arg[WHICH]][0], age, names[arg[WHICH]][1], count)) return;
    queue->kept[arg[WHICH]] = true;
    queue->keep_age[arg[WHICH]] = arg[AGE];
    queue->keep_count[arg[WHICH]] = arg[COUNT];
}

/* ---- deaths call for tasks -------------------------------------------------------------------------------------- */

enum { ON = 1 };

void model_on_dead_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[ON] = CHOOSE(0, 1, 1);
}

void model_on_dead(const int arg[ARGS])
{
    model_queue *queue = &model.queues[arg[QUEUE]];
    model_look_again();
    if (!CALL(settings, arg[QUEUE], "on_dead", arg[ON] ? "d" : "")) return;
    queue->on_dead = arg[ON];
    if (arg[ON]) COVER(ON_DEAD_SET);
}
