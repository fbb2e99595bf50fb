/*
 * Threads that are told: by a token, or, those that are idle, by what they find in lists of their own: a task, or that
 * they are to look. What stands in `idle` and in these lists is not predicted, but checked: nobody is there who should
 * not be, and nobody is forgotten.
 */
#include <stdlib.h>
#include <string.h>

#include "model/model_look.h"
#include "support/queue.h"

#define START (1LL << 40) /* of the order's scores */

/* ---- Redis as it is -------------------------------------------------------------------------------------------- */

/* "<session>:<thread>" as a number; -1, and a difference: none of ours. */
static int place_of(int queue, const char *key, const char *text)
{
    char name[17] = "";
    const char *colon = strchr(text, ':');
    if (colon && colon - text == 16) memcpy(name, text, 16);
    int session = model_session_of(name), thread = colon ? atoi(colon + 1) - 1 : -1;
    if (session >= 0 && model.sessions[session].queue == queue && thread >= 0 && thread < THREADS)
        return session * THREADS + thread;
    model_stray(queue, key, text);
    return -1;
}

#define THREAD_AT(place) (&model_now_seen.sessions[(place) / THREADS].threads[(place) % THREADS])

void model_read_idle(int queue, const char *rest, const rv_reply *found)
{
    model_seen_queue *q = &model_now_seen.queues[queue];
    for (size_t i = 0; i < found->count; i++) {
        int place = place_of(queue, rest, found->items[i]->text);
        if (place < 0) continue;
        if (THREAD_AT(place)->idle++ == 0) q->idle[q->idle_count++] = place;
    }
}

void model_read_woken_of(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i < found->count; i++) {
        int place = place_of(queue, "woken:", found->items[i]->text);
        if (place < 0) continue;
        THREAD_AT(place)->woken = true;
        if (strcmp(model_session_id(place / THREADS), rest) != 0) model_stray(queue, rest, found->items[i]->text);
    }
}

/* A task as it is handed over: "<ms> <id>", a newline and its envelope. */
static bool read_task(const char *text, int64_t *ret_since_ms, int *ret_id, const char **ret_envelope)
{
    char *end, id[64];
    const char *line = strchr(text, '\n');
    *ret_since_ms = strtoll(text, &end, 10);
    if (*end != ' ' || !line || line <= end || (size_t)(line - end) > sizeof(id)) return false;
    memcpy(id, end + 1, (size_t)(line - end - 1));
    id[line - end - 1] = '\0';
    *ret_id = model_id_of(id);
    *ret_envelope = line + 1;
    return *ret_id >= 0;
}

void model_read_hand_of(int queue, const char *rest, const rv_reply *found)
{
    int place = place_of(queue, "hand:", rest);
    for (size_t i = 0; place >= 0 && i < found->count; i++) {
        int id;
        const char *envelope;
        THREAD_AT(place)->elements++;
        if (found->items[i]->length == 0)
            THREAD_AT(place)->looks++;
        else if (read_task(found->items[i]->text, &THREAD_AT(place)->since_ms, &id, &envelope))
            THREAD_AT(place)->task = id + 1;
        else
            model_stray(queue, "hand:", found->items[i]->text);
    }
}

/* ---- who is idle ----------------------------------------------------------------------------------------------- */

static const model_hand *hand_of(int session)
{
    for (int hand = 0; hand < HANDS; hand++)
        if (model.hands[hand].session[model.sessions[session].queue] == session) return &model.hands[hand];
    return NULL; /* (its worker died) */
}

bool model_is_idle(int queue, int session, int thread)
{
    const model_seen *seen = model_look();
    return seen && model.sessions[session].queue == queue && seen->sessions[session].threads[thread].idle;
}

int model_taker(int queue)
{
    const model_seen *seen = model_look();
    for (int i = 0; seen && i < seen->queues[queue].idle_count; i++) {
        int place = seen->queues[queue].idle[i];
        if (model.sessions[place / THREADS].life != ALIVE) continue;
        if (!hand_of(place / THREADS)) COVER(HAND_ALIEN);
        return place;
    }
    return -1;
}

bool model_is_look_on_its_way(int queue, const model_seen *seen)
{
    for (int session = 0; session < model.session_count; session++)
        for (int thread = 0; thread < THREADS && model.sessions[session].queue == queue; thread++)
            if (seen->sessions[session].threads[thread].looks) return true;
    return false;
}

/* ---- what must hold -------------------------------------------------------------------------------------------- */

/* The list of a thread: it is to pop it, and has one thing to find there at most. */
static void check_list(int session, int thread, const model_seen_session *seen)
{
    const model_hand *hand = hand_of(session);
    int queue = model.sessions[session].queue, id = seen->threads[thread].task - 1;
    const char *name = model_session_id(session);
    if (seen->threads[thread].elements > 1)
        model_differ("%s:%d is told %d things", name, thread, seen->threads[thread].elements);
    if (seen->threads[thread].idle) model_differ("%s:%d is idle, and is told something", name, thread);
    if (hand && hand->idle[thread] != queue + 1) model_differ("%s:%d is told, and does not wait", name, thread);
    if (model.sessions[session].life == ABSENT) model_differ("%s:%d is told, and its session is over", name, thread);
    if (seen->threads[thread].looks && (!seen->threads[thread].woken || model.sessions[session].life != ALIVE))
        model_differ("%s:%d is to look, and nobody takes that away", name, thread);
    if (id < 0) return;
    const model_task *task = model_task_of(queue, id);
    if (task->state != RUNNING || task->session != session || task->thread != thread || !task->handed ||
        task->at_ms != seen->threads[thread].since_ms)
        model_differ("%s:%d is handed %s, which is not its own", name, thread, model_id(id));
}

static void check_thread(int session, int thread, const model_seen_session *seen)
{
    const model_session *s = &model.sessions[session];
    const model_hand *hand = hand_of(session);
    const char *name = model_session_id(session);
    if (seen->threads[thread].idle > 1) model_differ("%s:%d is idle twice", name, thread);
    if (seen->threads[thread].idle && s->life != ALIVE) model_differ("%s:%d is idle in no session", name, thread);
    if (seen->threads[thread].idle && hand && hand->idle[thread] != s->queue + 1)
        model_differ("%s:%d is idle, and does not wait", name, thread);
    if (seen->threads[thread].woken && s->life != ALIVE) model_differ("%s:%d was told, in no session", name, thread);
    if (seen->threads[thread].elements) check_list(session, thread, seen);
    if (!hand || hand->unsure[thread] || hand->idle[thread] != s->queue + 1 || s->life != ALIVE || s->ended) return;
    if (!seen->threads[thread].idle && !seen->threads[thread].elements)
        model_differ("%s:%d waits, and nobody will tell it anything", name, thread);
}

/* What was handed over and not found yet is where it will be found. */
static void check_handed(int queue, const model_seen *seen)
{
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(queue, id);
        if (task->state != RUNNING || !task->handed) continue;
        if (model.sessions[task->session].life != ALIVE || model.sessions[task->session].ended) continue;
        if (seen->sessions[task->session].threads[task->thread].task != id + 1)
            model_differ("%s was handed over, and is not found", model_id(id));
    }
}

void model_check_hands(int queue, const model_seen *seen)
{
    const model_seen_queue *q = &seen->queues[queue];
    if (q->idle_count && q->tokens) model_differ("threads are idle in queue %d, and a token stands", queue);
    if (q->idle_count && (q->paused || *q->limit_state))
        model_differ("threads are idle in queue %d, which is shut", queue);
    if (q->idle_count && q->next > START) model_differ("threads are idle, and are not asked for by the order");
    if (q->next > START && (q->grouped || q->events_ordered || q->payload_max))
        model_differ("the order has a next, and more");
    int told = 0;
    for (int session = 0; session < model.session_count; session++) {
        for (int thread = 0; thread < THREADS && model.sessions[session].queue == queue; thread++) {
            check_thread(session, thread, &seen->sessions[session]);
            told += seen->sessions[session].threads[thread].looks;
        }
    }
    if (told > 1) COVER(HAND_ROUSED);
    check_handed(queue, seen);
}

/* ---- waking up ------------------------------------------------------------------------------------------------- */

enum { HAND, THREAD, FROM, FLAGS };
enum { LOST = 1 /* with its connection */ };

/* Mostly one that finds something. */
void model_pop_make(int arg[ARGS])
{
    const model_seen *seen = model_look();
    for (int i = 0; i < 3 * HANDS; i++) {
        arg[HAND] = (int)model_chance(mood.hands);
        arg[THREAD] = (int)model_chance(THREADS);
        int queue = model.hands[arg[HAND]].idle[arg[THREAD]] - 1;
        if (queue < 0 || !seen) continue;
        if (seen->sessions[model.hands[arg[HAND]].session[queue]].threads[arg[THREAD]].elements) break;
    }
    arg[FROM] = mood.queues == 1 ? 0 : CHOOSE(0, 1, 2, 3);
    arg[FLAGS] = CHOOSE(0, 0, 0, 0, 0, LOST);
}

static void find_task(int hand, int thread, int queue, const char *text, bool lost)
{
    int id = -1;
    int64_t since_ms;
    const char *envelope = "";
    bool read = read_task(text, &since_ms, &id, &envelope);
    model_task *task = read ? model_task_of(queue, id) : NULL;
    if (!task || !task->handed) {
        model_differ("a thread is handed %s", text);
        return;
    }
    task->handed = false;
    COVER(HAND_FINDS);
    if (!lost) model_believe(hand, (model_belief){.queue = queue, .id = id, .thread = thread, .since_ms = since_ms});
}

/* What stands in the list of an idle thread. */
static void pop_own(int number, int thread, bool lost)
{
    model_hand *hand = &model.hands[number];
    int queue = hand->idle[thread] - 1;
    char text[512];
    model_look_again();
    rv_copy_text(text, sizeof(text),
                 test_cmd(test_conn, "LPOP %shand:%s:%d", model_prefix(queue), model_session_id(hand->session[queue]),
                          thread + 1));
    if (strcmp(text, "(nil)") == 0) return;
    hand->idle[thread] = 0;
    if (lost) hand->unsure[thread] = true;
    if (lost) COVER(HAND_LOST);
    if (*text) {
        find_task(number, thread, queue, text, lost);
        return;
    }
    hand->told[thread] = queue + 1;
    hand->wait[thread] = queue;
    hand->woken[thread] = false;
    COVER(HAND_LOOK);
}

/* A thread's wait ends: an idle one finds something of its own, any other a token in one of its queues. */
void model_pop(const int arg[ARGS])
{
    static const int orders[4][2] = {{0, -1}, {1, -1}, {0, 1}, {1, 0}};
    model_hand *hand = &model.hands[arg[HAND]];
    int thread = arg[THREAD];
    if (hand->told[thread] || hand->unsure[thread]) return;
    if (hand->idle[thread]) {
        pop_own(arg[HAND], thread, arg[FLAGS] & LOST);
        return;
    }
    for (int i = 0; i < 2 && !hand->told[thread]; i++) {
        int queue = orders[arg[FROM]][i];
        if (queue < 0) break;
        model_look_again();
        if (strcmp(test_cmd(test_conn, "LPOP %swake", model_prefix(queue)), "(nil)") == 0) continue;
        hand->told[thread] = queue + 1;
        hand->wait[thread] = arg[FROM];
        hand->woken[thread] = true;
        COVER(POP_TOKEN);
    }
}
