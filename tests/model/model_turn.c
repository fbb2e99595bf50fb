/*
 * A thread's turn: it settles tasks that it believes to hold, and leases others. What it sends is decided by what it
 * knows; what comes of it, by the model. Replies are lost, and then it asks what stands under its name, or names its
 * leases.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "model/model_enqueue.h"
#include "model/model_turn.h"
#include "support/queue.h"

/* HAND, THREAD; FROM: which queues to lease from; WANT; SETTLE: how many; HOW: an octal digit for each, see the
 * outcomes. */
enum { HAND, THREAD, FROM, WANT, SETTLE, HOW, FLAGS, STRAY, HAND_ON, IDLES };
/* Of HAND_ON, 0: none; else 1 + one of these + 4 * its handle. */
enum { NOW, LATER, BEHIND /* waits for others */, UNIQUELY };
/* BEGINS: it begins sessions before, which it believes to have begun, too; UNBEGUN: it begins none. */
enum { NAMED = 1, LOST = 2, TWICE = 4, BEGINS = 8, WITH_STRAY = 16, SEVERAL = 32, UNBEGUN = 64 };

/* A thread that was told turns soon, and one that waits to be told seldom; else one that has something to settle comes
 * before others. */
static unsigned reason(const model_hand *hand, int thread)
{
    unsigned reasons = hand->told[thread] ? 24 : hand->idle[thread] ? 1 : 3;
    for (int i = 0; i < hand->belief_count; i++)
        if (hand->beliefs[i].thread == thread) return reasons + 12;
    return reasons;
}

static void choose_thread(int *ret_hand, int *ret_thread)
{
    unsigned total = 0;
    for (unsigned i = 0; i < mood.hands * THREADS; i++) total += reason(&model.hands[i / THREADS], (int)(i % THREADS));
    unsigned point = model_chance(total), i = 0;
    for (;; i++) {
        unsigned each = reason(&model.hands[i / THREADS], (int)(i % THREADS));
        if (point < each) break;
        point -= each;
    }
    *ret_hand = (int)(i / THREADS);
    *ret_thread = (int)(i % THREADS);
}

/* The thread has a task that was cancelled while it runs: that ends as cancelled only if it does not complete. */
static bool holds_cancelled(const int arg[ARGS])
{
    const model_hand *hand = &model.hands[arg[HAND]];
    for (int i = 0; i < hand->belief_count; i++) {
        const model_belief *belief = &hand->beliefs[i];
        if (belief->thread == arg[THREAD] && model_task_of(belief->queue, belief->id)->told) return true;
    }
    return false;
}

void model_turn_make(int arg[ARGS])
{
    choose_thread(&arg[HAND], &arg[THREAD]);
    arg[FROM] = mood.queues == 1 ? 0 : CHOOSE(0, 1, 2, 3);
    arg[WANT] = CHOOSE(0, 1, 1, 2, 3, 6, 20);
    arg[SETTLE] = CHOOSE(0, 1, 1, 2, 3, 6);
    arg[HOW] = (int)model_chance(1 << 18);
    if (mood.segments && model_chance(3) == 0) arg[WANT] = CHOOSE(1, 2, 3, 4, 5);
    if (mood.results && model_chance(3) > 0) {
        arg[WANT] = CHOOSE(6, 20, 20);
        arg[SETTLE] = CHOOSE(2, 3, 6, 6);
        arg[FLAGS] = 0;
        arg[HOW] = CHOOSE(0222222, 0222222, 0222222, 0202222, 0222272, 0222322);
    }
    if (model_chance(3) == 0) arg[HOW] = 0;
    if (mood.contested && model_chance(2)) arg[HOW] = CHOOSE(0333333, 0444444, 0555555, 0666666);
    if (holds_cancelled(arg) && model_chance(2)) arg[HOW] = CHOOSE(0333333, 0444444, 0666666, 0777777);
    arg[FLAGS] = CHOOSE(0, 0, 0, 0, 0, UNBEGUN, NAMED, LOST, LOST, TWICE, BEGINS, WITH_STRAY, WITH_STRAY | NAMED);
    if (mood.results && arg[FLAGS] == LOST) arg[FLAGS] = 0;
    if (model_chance(4) == 0) arg[FLAGS] |= SEVERAL;
    arg[STRAY] = model_choose_id();
    if (mood.dependencies && model_chance(4) == 0)
        arg[HAND_ON] = 1 + (int)model_chance(4) + 4 * HANDLE(model_choose_queue(), model_choose_id());
    if (!mood.idles) return;
    arg[IDLES] = model_chance(6) > 0;
    if (arg[IDLES] && model_chance(2)) arg[WANT] = CHOOSE(6, 20);
    if (arg[IDLES]) arg[FROM] %= 2;
}

/* ---- what is sent ---------------------------------------------------------------------------------------------- */

void model_name_lease(char text[64], int64_t since_ms, int thread)
{
    (void)snprintf(text, 64, "%lld %d", (long long)since_ms, thread + 1);
}

/* The thread's first beliefs, as settlements. */
static void choose_items(turn *ret, const int arg[ARGS])
{
    const model_hand *hand = &model.hands[ret->hand];
    int how = arg[HOW];
    for (int i = 0; i < hand->belief_count && ret->count < arg[SETTLE]; i++) {
        const model_belief *belief = &hand->beliefs[i];
        if (belief->thread != ret->thread && belief->thread != ret->other) continue;
        /* The clock stood: a later lease of the same id may be named as this one, and have more to tell. */
        const model_task *task = model_task_of(belief->queue, belief->id);
        if (task->handed) continue;
        bool alike = belief->since_ms == model.now_ms || belief->since_ms == task->at_ms;
        if (alike && !belief->knows_info && model_has_info(task)) continue;
        item *one = &ret->items[ret->count++];
        *one = (item){.queue = belief->queue, .id = belief->id, .how = how % 8, .number = ++model.serial};
        one->info = belief->knows_info;
        one->unique = belief->unique;
        one->deadline = belief->deadline;
        one->checkpoint = belief->checkpoint;
        one->begun = one->number % 2;
        one->keeps = one->unique && one->number % 3 == 0;
        if (one->how == FAIL && one->number % 5 == 0) one->how = ENDS_CANCELLED;
        if (one->how == SNOOZE && one->number % 5 == 0) one->how = DISCARDS;
        one->own = task->keep_ms > 0;
        if (one->how == DONE && (one->info || one->unique || one->deadline || one->own)) one->how = DONE_RECORD;
        one->runs = (one->how == DONE_RECORD || one->how == RESULT) && one->number % 7 == 0;
        if (ret->named) model_name_lease(one->lease, belief->since_ms, belief->thread);
        how /= 8;
    }
}

/* The first that is done hands on another. */
static void choose_hand_on(turn *ret, int what)
{
    int i = 0, handle = (what - 1) / 4, how = (what - 1) % 4;
    while (i < ret->count && ret->items[i].how > RESULT) i++;
    if (what == 0 || i == ret->count) return;
    item *one = &ret->items[i];
    if (one->how == DONE) one->how = DONE_RECORD;
    one->hands_on = true;
    one->hand_queue = QUEUE_OF(handle);
    one->hand = (model_incoming){.id = ID_OF(handle)};
    one->hand.task = (model_task){.session = -1, .enqueued_ms = model.now_ms, .serial = ++model.serial};
    if (how == LATER) one->hand.delay_ms = 1000;
    if (how == LATER) one->hand.due_ms = model.now_ms + 1000;
    if (how == LATER) one->hand.expires_ms = 2000;
    if (how == BEHIND)
        one->hand.edges = EDGE(GOES_ON, HANDLE(0, 0)) + EDGE_BASE * EDGE(FAILS, HANDLE(one->queue, one->id % IDS));
    if (how == UNIQUELY) one->hand.task.unique = 1;
}

/* A task that the thread knows nothing of. (Nobody says plainly "done" of one with something to tell.) */
static void choose_stray(turn *ret, const int arg[ARGS])
{
    item stray = {.queue = ret->keys[0], .id = arg[STRAY], .how = arg[HOW] % 8, .number = ++model.serial};
    for (int i = 0; i < ret->count; i++)
        if (ret->items[i].queue == stray.queue && ret->items[i].id == stray.id) return;
    if (model_task_of(stray.queue, stray.id)->handed) return; /* (its thread is on the way to it) */
    stray.info = model_task_of(stray.queue, stray.id)->flagged;
    stray.unique = model_task_of(stray.queue, stray.id)->unique > 0;
    stray.keeps = stray.unique && stray.number % 3 == 0;
    stray.deadline = model_task_of(stray.queue, stray.id)->deadline_ms > 0;
    stray.checkpoint = model_task_of(stray.queue, stray.id)->checkpoint > 0;
    stray.own = model_task_of(stray.queue, stray.id)->keep_ms > 0;
    if (stray.how == DONE && (stray.info || stray.unique || stray.deadline || stray.own)) stray.how = DONE_RECORD;
    if (ret->named) model_name_lease(stray.lease, model.now_ms, ret->thread);
    ret->items[ret->count++] = stray;
}

/* Another thread may leave its turn to this one: it does not wait for a task, and knows what it has. */
static void choose_other(turn *ret, int told)
{
    const model_hand *hand = &model.hands[ret->hand];
    int other = (ret->thread + 1) % THREADS;
    if (told || ret->again || ret->from == 0 || ret->want < 2) return;
    if (hand->idle[other] || hand->told[other] || hand->unsure[other]) return;
    ret->other = other;
    ret->idles = ret->from == 1;
}

static void prepare(turn *ret, const int arg[ARGS])
{
    const model_hand *hand = &model.hands[arg[HAND]];
    *ret = (turn){.hand = arg[HAND], .thread = arg[THREAD], .want = arg[WANT], .other = -1};
    int told = hand->told[ret->thread], order = told ? hand->wait[ret->thread] : arg[FROM];
    if (told && ret->want == 0) ret->want = 1;
    ret->again = hand->idle[ret->thread];
    if (ret->again) order = hand->idle[ret->thread] - 1;
    ret->woken = told && hand->woken[ret->thread];
    ret->idles = ret->want > 0 && order < 2 && (arg[IDLES] || ret->again || ret->woken);
    ret->keys[0] = order % 2;
    ret->keys[1] = 1 - order % 2;
    ret->from = ret->want == 0 ? 0 : order < 2 ? 1 : 2;
    if (arg[FLAGS] & SEVERAL && !(arg[FLAGS] & TWICE)) choose_other(ret, told);
    ret->named = arg[FLAGS] & (NAMED | TWICE) || hand->unsure[ret->thread];
    choose_items(ret, arg);
    if (arg[FLAGS] & WITH_STRAY) choose_stray(ret, arg);
    choose_hand_on(ret, arg[HAND_ON]);
}

static int key_index(const turn *t, int queue)
{
    return t->keys[0] == queue ? 1 : 2;
}

static void send_hand(const item *one)
{
    char options[512];
    model_write_options(one->hand_queue, &one->hand, options);
    model_arg_text("chain");
    model_arg_text(model_id(one->id));
    model_arg_text(model_handle(HANDLE(one->hand_queue, one->hand.id)));
    model_arg_text(options);
    model_arg_text(model_rest(&one->hand.task));
}

static void send_record(const item *one)
{
    static const char *const verbs[] = {"",     "done",   "done",   "retry",  "fail",
                                        "fail", "snooze", "snooze", "cancel", "cancel"};
    const char *words[3] = {"", "", ""};
    char text[64], kind[32], letters[7] = "";
    int64_t delay = model_delay(one);
    (void)snprintf(text, sizeof(text), "m%d", one->number);
    (void)snprintf(kind, sizeof(kind), "k%d", KIND_OF(one->number));
    if (one->how == RESULT) words[0] = text, words[1] = "1";
    if (one->info || one->runs) strcat(letters, "i");
    if (one->unique) strcat(letters, one->keeps ? "k" : "1");
    if (one->checkpoint) strcat(letters, "c");
    if (one->deadline) strcat(letters, "d");
    if (one->runs) strcat(letters, "r");
    if (one->own) strcat(letters, "t");
    if (one->how <= RESULT) words[2] = letters;
    if (one->how == RETRY_LATER) words[0] = model_number(delay);
    if (one->how == FAIL) words[0] = "1";
    if (one->how == SNOOZE) words[0] = model_number(delay + 1);
    if (one->how == BACK) words[0] = "0";
    if ((one->how == SNOOZE || one->how == BACK) && one->begun) words[1] = "1";
    if (one->how == DISCARDS) words[0] = "1";
    if (one->how >= RETRY_LATER && one->how <= FAIL_UNCOUNTED) words[1] = kind, words[2] = text;
    if (one->hands_on) send_hand(one);
    model_arg_text(verbs[one->how]);
    model_arg_text(model_id(one->id));
    for (int i = 0; i < 3; i++) model_arg_text(words[i]);
}

bool model_is_plain_result(const item *one)
{
    bool more = one->info || one->unique || one->deadline || one->checkpoint || one->hands_on || one->runs || one->own;
    return one->how == RESULT && !more && one->number % 4 > 0;
}

static bool has_record(const item *one)
{
    return one->how != DONE && !model_is_plain_result(one);
}

int model_group_end(const turn *t, int first)
{
    int end = first + 1;
    while (end < t->count && !t->named && t->items[end].queue == t->items[first].queue) end++;
    return end;
}

/* Those with a result come last. */
static void send_plain(const item *items, int first, int end)
{
    for (int i = first; i < end; i++)
        if (items[i].how == DONE) model_arg_text(model_id(items[i].id));
    for (int i = first; i < end; i++)
        if (model_is_plain_result(&items[i])) model_arg_text(model_id(items[i].id));
}

bool model_is_result_block(const turn *t, int first)
{
    return t->items[first].number % 4 > 0;
}

static void send_result_block(const item *items, int first, int end)
{
    rv_buf text;
    rv_buf_init(&text, 128 * ITEMS);
    for (int i = first; i < end; i++) {
        char result[32];
        if (!model_is_plain_result(&items[i])) continue;
        (void)snprintf(result, sizeof(result), "m%d", items[i].number);
        rv_buf_addf(&text, "%s %zu\n%s", model_id(items[i].id), strlen(result), result);
    }
    model_arg_text(rv_buf_text(&text));
    rv_buf_fini(&text);
}

static void send_results(const turn *t, int first, int end, int results)
{
    const item *items = t->items;
    bool result_block = model_is_result_block(t, first);
    model_arg_text(result_block ? "result_block" : "results");
    model_arg("%d", results);
    if (result_block) {
        send_result_block(items, first, end);
        return;
    }
    for (int i = first; i < end; i++)
        if (model_is_plain_result(&items[i])) model_arg("m%d", items[i].number);
}

/* A group: the items from `first` to before `end`, all of one queue and one lease. */
static void send_group(const turn *t, int first, int end)
{
    const item *items = t->items;
    int records = 0, results = 0;
    for (int i = first; i < end; i++) {
        records += has_record(&items[i]) + items[i].hands_on;
        results += model_is_plain_result(&items[i]);
    }
    int plain = results;
    for (int i = first; i < end; i++) plain += items[i].how == DONE;
    model_arg("%d", key_index(t, items[first].queue));
    model_arg_text(model_session_id(model.hands[t->hand].session[items[first].queue]));
    model_arg_text(items[first].lease);
    model_arg("%d", plain);
    send_plain(items, first, end);
    model_arg("%d", records + (results > 0));
    if (results > 0) send_results(t, first, end, results);
    for (int i = first; i < end; i++)
        if (has_record(&items[i])) send_record(&items[i]);
}

/* The thread, or for each task the one that it is for. */
static void send_threads(const turn *t)
{
    char names[8 * SLOTS] = "";
    size_t length = (size_t)snprintf(names, sizeof(names), "%d", t->thread + 1);
    for (int i = 1; t->other >= 0 && i < t->want; i++)
        length += (size_t)snprintf(names + length, sizeof(names) - length, " %d", model_taker_of(t, i) + 1);
    model_arg_text(names);
}

static void send(const turn *t)
{
    model_begin(&rv_script_turn);
    for (int i = 0; i < QUEUES; i++) model_key(t->keys[i]);
    send_threads(t);
    model_arg("%d", t->want);
    model_arg("%d", t->from);
    model_arg_text(t->other >= 0          ? "several"
                   : t->again && t->idles ? "again"
                   : t->woken             ? "woken"
                   : t->idles             ? "idle"
                                          : "");
    for (int i = 0; i < t->from; i++) model_arg_text(model_session_id(model.hands[t->hand].session[t->keys[i]]));
    for (int first = 0, end; first < t->count; first = end) {
        end = model_group_end(t, first);
        send_group(t, first, end);
    }
}

/* ---- what is heard --------------------------------------------------------------------------------------------- */

static bool is_believed(const model_belief *belief, const turn *t)
{
    for (int i = 0; i < t->count; i++)
        if (t->items[i].queue == belief->queue && t->items[i].id == belief->id) return false;
    return true;
}

/* The hand knows now what was settled, and what it has. */
void model_hear(const turn *t)
{
    model_hand *hand = &model.hands[t->hand];
    for (int i = hand->belief_count - 1; i >= 0; i--)
        if (!is_believed(&hand->beliefs[i], t)) model_disbelieve(t->hand, i);
    for (int i = 0; i < t->leased; i++) {
        int queue = t->given[i].queue, id = t->given[i].id;
        bool flagged = model_task_of(queue, id)->flagged;
        bool unique = model_task_of(queue, id)->unique > 0;
        const model_task *task = model_task_of(queue, id);
        model_belief belief = {
            queue, id, task->thread, model.now_ms, flagged, unique, task->deadline_ms > 0, task->checkpoint > 0, 0};
        model_believe(t->hand, belief);
        hand->begun[queue] = true;
    }
    if (t->from > 0) hand->idle[t->thread] = t->idle ? t->keys[0] + 1 : 0;
    if (t->other_idle) hand->idle[t->other] = t->keys[0] + 1;
    if (t->idle || t->other_idle) hand->begun[t->keys[0]] = true;
    for (int queue = 0; queue < QUEUES; queue++) {
        if (t->gone[queue] && hand->begun[queue]) model_renew(t->hand, queue);
    }
}

/* Where there is little to say, the reply is flat: as it would be otherwise. NULL: it is nothing. */
static const rv_reply *unfold(const rv_reply *reply)
{
    static rv_reply nothing = {.type = RV_ARRAY}, now, leased, whole;
    static rv_reply *parts[] = {&now, &nothing, &nothing, &nothing, &leased};
    if (reply->count == 0) return NULL;
    if (reply->count > 1 && rv_reply_is(reply->items[1], RV_ARRAY)) return reply;
    now = *reply->items[reply->count - 1];
    leased = *reply;
    leased.count--;
    whole = (rv_reply){.type = RV_ARRAY, .items = parts, .count = leased.count > 0 ? 5 : 4};
    return &whole;
}

static bool exchange(turn *t)
{
    const model_seen *seen = model_look();
    for (int queue = 0; seen && queue < QUEUES; queue++) {
        const model_seen_queue *q = &seen->queues[queue];
        rv_copy_text(t->limit_state[queue], sizeof(t->limit_state[queue]), q->limit_state);
        for (int id = 0; id < SLOTS; id++) t->scores[queue][id] = q->tasks[id].state == READY ? q->tasks[id].score : -1;
    }
    send(t);
    const rv_reply *reply = model_call();
    if (!reply) return false;
    reply = unfold(reply);
    const rv_reply *refused = rv_reply_at(reply, 1);
    if (!refused || reply->count < 4 || refused->type != RV_ARRAY ||
        rv_reply_int(rv_reply_at(reply, 0), -1) != model.now_ms) {
        model_differ("turn says %s", test_reply_text(reply));
        return false;
    }
    model_keep_reply();
    model_settle_all(t, refused);
    model_lease_all(t, reply);
    return true;
}

/* A thread that was told of one queue may find all that it wants in one before it. (When it says that it was told, the
 * turn passes that on.) */
static void follow(const turn *t)
{
    model_hand *hand = &model.hands[t->hand];
    int told = hand->told[t->thread] - 1;
    hand->told[t->thread] = 0;
    if (told < 0 || t->from == 0 || t->looked[told]) return;
    if (!t->woken) model.queues[told].token_lost = true;
    COVER(TURN_ELSEWHERE);
}

/* As a worker does when an earlier turn has found a task, and not the session. */
static void begin_sessions(const turn *t, bool again)
{
    for (int i = 0; i < t->from; i++) {
        int queue = t->keys[i];
        bool found = !model.queues[queue].paused && model_count(queue, READY) + model_count(queue, PARKED) > 0;
        if (found && (again || !model.hands[t->hand].begun[queue])) model_begin_session(t->hand, queue);
    }
}

void model_turn(const int arg[ARGS])
{
    turn t;
    model_hand *hand = &model.hands[arg[HAND]];
    prepare(&t, arg);
    if (!(arg[FLAGS] & UNBEGUN)) begin_sessions(&t, arg[FLAGS] & BEGINS);
    if (!exchange(&t)) return;
    follow(&t);
    if (arg[FLAGS] & TWICE) {
        COVER(TURN_TWICE);
        hand->unsure[t.thread] = true; /* (of what the first call leased) */
        if (t.other >= 0) hand->unsure[t.other] = true;
        t.again = true;
        if (!exchange(&t)) return;
    }
    if (arg[FLAGS] & LOST) {
        COVER(TURN_LOST);
        hand->unsure[t.thread] = true;
        if (t.other >= 0) hand->unsure[t.other] = true;
        if (t.idles) hand->idle[t.thread] = t.keys[0] + 1;
        if (t.idles && t.other >= 0) hand->idle[t.other] = t.keys[0] + 1;
        return;
    }
    model_hear(&t);
}
