/* Sessions live, leave, die and are taken back; time goes on; threads are told that there is something to do. */
#include <stdlib.h>
#include <string.h>

#include "model/model_gate.h"
#include "support/clock.h"
#include "support/queue.h"

/* ---- time ------------------------------------------------------------------------------------------------------ */

enum { MS };

void model_clock_make(int arg[ARGS])
{
    arg[MS] = CHOOSE(1, 10, 100, 1000, 1000, 4000, 4000, TTL, TTL, TTL + 1, 60000, DAY, -20);
    if (model_chance(16) == 0) arg[MS] = 20 * DAY;
}

/* A key that has expired is seen to be gone, and does not come back with the time. */
static void forget_keys(void)
{
    for (int queue = 0; queue < QUEUES; queue++) {
        for (int key = 1; key <= UNIQUES; key++) {
            (void)test_cmd(test_conn, "EXISTS %sunique:u%d", model_prefix(queue), key);
            (void)model_holder(queue, key);
        }
    }
}

void model_clock(const int arg[ARGS])
{
    model_look_again();
    if (arg[MS] < 0) forget_keys();
    model.now_ms += arg[MS];
    test_clock_set(model.now_ms);
}

/* ---- heartbeats ------------------------------------------------------------------------------------------------ */

enum { HAND, QUEUE, MOST /* 0: ALL */, FLAGS };
enum { TWICE = 1, DEAF = 2 /* does not hear what is answered */ };
enum { ALL = 200 };

void model_beat_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[HAND] = model_choose_hand(arg[QUEUE]);
    arg[FLAGS] = CHOOSE(0, 0, TWICE, DEAF);
}

static bool add_sums(model_session *session, const int totals[3])
{
    bool any = false;
    for (int i = 0; i < 3; i++) {
        any = any || totals[i] > session->totals[i];
        model.queues[session->queue].counters[i] += totals[i] - session->totals[i];
        session->totals[i] = totals[i];
    }
    return any;
}

static bool beat(model_hand *hand, int queue)
{
    const int *totals = hand->totals[queue];
    model_session *session = &model.sessions[hand->session[queue]];
    const rv_reply *reply = CALL(beat, queue, model_session_id(hand->session[queue]), model_number(TTL),
                                 model_number(totals[0]), model_number(totals[1]), model_number(totals[2]));
    bool alive = session->life == ALIVE;
    int held = alive ? model_held(hand->session[queue]) : 0;
    if (!reply) return alive;
    if (rv_reply_int(rv_reply_at(reply, 0), -1) != alive || rv_reply_int(rv_reply_at(reply, 1), -1) != held)
        model_differ("beat says %s, not [%d %d]", test_reply_text(reply), alive, held);
    if (session->life == DYING) COVER(BEAT_DYING);
    if (session->life == ABSENT) COVER(BEAT_GONE);
    if (!alive) return false;
    session->expiry_ms = model.now_ms + TTL;
    COVER(BEAT_ALIVE);
    if (add_sums(session, totals)) COVER(BEAT_SUMS);
    return true;
}

void model_beat(const int arg[ARGS])
{
    model_hand *hand = &model.hands[arg[HAND]];
    bool alive = beat(hand, arg[QUEUE]);
    if (arg[FLAGS] & TWICE) (void)beat(hand, arg[QUEUE]);
    if (!alive && !(arg[FLAGS] & DEAF) && hand->begun[arg[QUEUE]]) model_renew(arg[HAND], arg[QUEUE]);
}

/* ---- the end of a session -------------------------------------------------------------------------------------- */

void model_die_make(int arg[ARGS])
{
    arg[HAND] = (int)model_chance(mood.hands);
}

/* Its sessions stay as they are until tend finds them. */
void model_die(const int arg[ARGS])
{
    model_hand *hand = &model.hands[arg[HAND]];
    for (int queue = 0; queue < QUEUES; queue++) model_renew(arg[HAND], queue);
    for (int thread = 0; thread < THREADS; thread++) {
        if (hand->told[thread]) model.queues[hand->told[thread] - 1].token_lost = true;
        hand->told[thread] = 0;
        hand->unsure[thread] = false;
    }
}

static void cancel_told(int queue, model_task *task, bool crashed)
{
    task->crashes += crashed;
    if (crashed)
        COVER(TEND_REAP_CANCELLED);
    else
        COVER(LEAVE_CANCELLED);
    model_end(queue, task, CANCELLED);
    if (task->state != NONE) (void)model_trim_count(queue, CANCELLED, 16);
}

static bool was_leased_before(const model_task *one, const model_task *other)
{
    if (one->at_ms != other->at_ms) return one->at_ms < other->at_ms;
    return one->thread < other->thread;
}

/* Keeps ids in the order of their leases, and then of their names. */
static void insert(int queue, int *ids, int count, int id)
{
    const model_task *task = model_task_of(queue, id);
    for (; count > 0; count--) {
        const model_task *before = model_task_of(queue, ids[count - 1]);
        bool same = before->at_ms == task->at_ms && before->thread == task->thread;
        if (!was_leased_before(task, before) && !(same && model_is_before(id, ids[count - 1]))) break;
        ids[count] = ids[count - 1];
    }
    ids[count] = id;
}

/* Which of a session's tasks went back, of which there must be `count`, is seen in Redis; those that were cancelled while they
 * ran end then. Returns how many these are, and counts them when they crashed. */
static int take_back(int session, int count, bool crashed)
{
    int queue = model.sessions[session].queue, found = 0, ended = 0, back[SLOTS];
    const model_seen *seen = model_look();
    for (int id = 0; seen && id < SLOTS; id++) {
        model_task *task = model_task_of(queue, id);
        if (task->state != RUNNING || task->session != session) continue;
        const model_seen_task *now = &seen->queues[queue].tasks[id];
        if (task->told && (!now->exists || now->state == CANCELLED)) {
            cancel_told(queue, task, crashed);
            ended++;
            continue;
        }
        if (now->state != READY || task->told) continue;
        insert(queue, back, found++, id);
    }
    for (int i = found - 1; i >= 0; i--) {
        model_task *task = model_task_of(queue, back[i]);
        model_to_front(task);
        task->crashes += crashed;
        task->marked = task->marked || crashed;
    }
    if (found + crashed * ended != count)
        model_differ("%d tasks of session %d are ready again, and %d are said to be", found, session, count);
    return ended;
}

void model_leave_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[HAND] = model_choose_hand(arg[QUEUE]);
    arg[MOST] = CHOOSE(1, 1, 2, 0);
    arg[FLAGS] = CHOOSE(0, 0, TWICE);
}

/* True when there is more to give back. */
static bool leave(int number, int most)
{
    model_session *session = &model.sessions[number];
    int held = session->life == ALIVE ? model_held(number) : 0;
    const rv_reply *reply = CALL(leave, session->queue, model_session_id(number), model_number(most));
    if (!reply) return false;
    int64_t back = rv_reply_int(rv_reply_at(reply, 0), -1), more = rv_reply_int(rv_reply_at(reply, 1), -1);
    if (session->life == DYING) COVER(LEAVE_DYING);
    if (session->life == ABSENT) COVER(LEAVE_GONE);
    if (session->life == ALIVE && held == 0) COVER(LEAVE_NOTHING);
    char text[64];
    rv_copy_text(text, sizeof(text), test_reply_text(reply));
    int64_t gone = back + take_back(number, (int)back, false);
    model_take_over_parked(session->queue, false);
    if (gone < (held > 0) || gone > held || more != (gone < held))
        model_differ("leave says %s; the session held %d", text, held);
    if (more == 1) COVER(LEAVE_STEP);
    if (more == 1 || session->life != ALIVE) return more == 1;
    session->life = ABSENT;
    if (held > 0) COVER(LEAVE_ALL);
    return false;
}

void model_leave(const int arg[ARGS])
{
    int session = model.hands[arg[HAND]].session[arg[QUEUE]], most = arg[MOST] ? arg[MOST] : ALL;
    bool more = leave(session, most);
    if (arg[FLAGS] & TWICE) more = leave(session, most);
    model_disbelieve_queue(arg[HAND], arg[QUEUE]);
    if (!more) model_renew(arg[HAND], arg[QUEUE]);
}

/* ---- tend ------------------------------------------------------------------------------------------------------ */

void model_tend_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[MOST] = CHOOSE(1, 1, 1, 2, 3, 0, 0);
}

static int promote(int queue, int limit)
{
    int count = 0;
    while (count < limit) {
        model_task *first = NULL;
        for (int id = 0; id < SLOTS; id++) {
            model_task *task = model_task_of(queue, id);
            if (task->state != SCHEDULED || task->at_ms > model.now_ms) continue;
            if (!first || task->at_ms < first->at_ms ||
                (task->at_ms == first->at_ms && model_is_before(id, model_slot(queue, first))))
                first = task;
        }
        if (!first) break;
        bool placed = first->placed;
        model_move(first, READY, 0);
        if (placed) first->order = 0; /* (among those that came meanwhile it may stand anywhere) */
        count++;
        COVER(TEND_PROMOTE);
    }
    if (count == limit) COVER(TEND_PROMOTE_STEP);
    return count;
}

/* The session that is reaped now: the first to have expired. -1: none. */
static int expired_session(int queue)
{
    int first = -1;
    for (int i = 0; i < model.session_count; i++) {
        const model_session *session = &model.sessions[i];
        if (session->queue != queue || session->life == ABSENT || session->expiry_ms > model.now_ms) continue;
        if (first < 0 || session->expiry_ms < model.sessions[first].expiry_ms) first = i;
    }
    return first;
}

static void reap(int number, int64_t said)
{
    model_session *session = &model.sessions[number];
    int held = model_held(number);
    if (said < (held > 0) || said > held) model_differ("tend reaps %lld tasks of %d", (long long)said, held);
    if (session->life == DYING) COVER(TEND_REAP_ON);
    if (held == 0) COVER(TEND_REAP_EMPTY);
    (void)take_back(number, (int)said, true);
    model.queues[session->queue].counters[3] += (int)said;
    session->life = said < held ? DYING : ABSENT;
    session->expiry_ms = 0;
    if (said < held)
        COVER(TEND_REAP_STEP);
    else
        COVER(TEND_REAP);
}

static int trim(int queue, model_state state, int limit, bool *more)
{
    int count = model_trim_count(queue, state, limit), old = model_trim_age(queue, state, limit);
    if (count > 0) COVER(TEND_TRIM_COUNT);
    if (old > 0 && state == COMPLETED) COVER(TEND_TRIM_COMPLETED);
    if (old > 0 && state == CANCELLED) COVER(TEND_TRIM_CANCELLED);
    if (old > 0 && state == DEAD) COVER(TEND_TRIM_DEAD);
    *more = *more || count + old >= limit;
    return count + old;
}

static void forget_waiters(model_queue *queue)
{
    bool any = false;
    for (int id = 0; id < SLOTS; id++) {
        model_task *task = &queue->tasks[id];
        if (task->waited_ms && task->waited_ms <= model.now_ms) {
            task->waited_ms = 0;
            COVER(TEND_WAITERS);
        }
        any = any || task->waited_ms;
    }
    queue->waiters = queue->waiters && any;
}

static void make_sooner(int64_t *next, int64_t at)
{
    if (*next < 0 || at < *next) *next = at;
}

/* (As it is seen in Redis.) */
static void make_gate_sooner(int64_t *next, const model_seen_queue *seen)
{
    if (seen->opens_ms > model.now_ms) make_sooner(next, seen->opens_ms);
    if (atoll(seen->hold) > model.now_ms) make_sooner(next, atoll(seen->hold));
    for (int group = 1; group <= GROUPS; group++) {
        if (seen->opening_ms[group] && seen->opening_ms[group] < LATEST) make_sooner(next, seen->opening_ms[group]);
        if (seen->holds_ms[group]) make_sooner(next, seen->holds_ms[group]);
    }
}

/* When tend must be called again: the earliest of all that has a time. */
static int64_t next_due(int queue)
{
    int64_t next = -1;
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(queue, id);
        int64_t age = task->state >= COMPLETED ? model_keep_age(queue, task->state) : -1;
        if (task->state == SCHEDULED) make_sooner(&next, task->at_ms);
        if (age >= 0) make_sooner(&next, task->at_ms + age);
    }
    for (int i = 0; i < model.session_count; i++)
        if (model.sessions[i].queue == queue && model.sessions[i].life != ABSENT)
            make_sooner(&next, model.sessions[i].expiry_ms);
    if (model_next_entry(queue) >= 0) make_sooner(&next, model_next_entry(queue));
    if (model_look()) make_gate_sooner(&next, &model_look()->queues[queue]);
    return next;
}

/* (Which groups are forgotten, and which are looked at, is not predicted.) */
static bool may_have_more(const model_seen_queue *seen, int limit)
{
    bool more = seen->groups >= limit || seen->again;
    for (int group = 1; group <= GROUPS; group++) more = more || seen->reopening[group];
    return more;
}

static void end_holds(model_limits *l)
{
    if (l->hold_ms && l->hold_ms <= model.now_ms) {
        l->hold_ms = 0;
        COVER(TEND_HOLD);
    }
    for (int group = 1; group <= GROUPS; group++)
        if (l->holds_ms[group] <= model.now_ms) l->holds_ms[group] = 0;
}

enum { NOW, MORE, NEXT, PROMOTED, REAPED, TRIMMED, NUMBERS };

/* What a tend says; the reply itself does not outlive the next look. */
typedef struct tended {
    int64_t numbers[NUMBERS];
    char session[32];
    const char *text;
} tended;

static bool tend(int queue, int most, tended *ret)
{
    const rv_reply *reply = CALL(tend, queue, model_number(most));
    if (!reply) return false;
    for (size_t i = 0; i < NUMBERS; i++) ret->numbers[i] = rv_reply_int(rv_reply_at(reply, i), -2);
    const rv_reply *session = rv_reply_at(reply, NUMBERS);
    rv_copy_text(ret->session, sizeof(ret->session), session ? session->text : "nothing");
    ret->text = test_reply_text(reply);
    model_check_due(queue, rv_reply_at(reply, NUMBERS + 2));
    if (!rv_reply_is_text(rv_reply_at(reply, NUMBERS + 1), model.queues[queue].policy ? MODEL_POLICY : ""))
        model_differ("tend says %s of the policy", ret->text);
    return true;
}

static void compare(const tended *said, const int64_t expected[NUMBERS], const char *session)
{
    static const char *const names[] = {"now", "more", "next", "promoted", "reaped", "trimmed"};
    for (size_t i = 0; i < NUMBERS; i++) {
        bool matters = i != NEXT || !expected[MORE]; /* (with more to do, nobody waits for the next) */
        if (matters && said->numbers[i] != expected[i])
            model_differ("tend says %s, but %s is %lld", said->text, names[i], (long long)expected[i]);
    }
    if (strcmp(said->session, session) != 0) model_differ("tend says %s, but reaps \"%s\"", said->text, session);
}

static void forget_size(int queue, bool was_large)
{
    if (!was_large || model_count(queue, NONE) < SLOTS) return;
    model.queues[queue].large = false;
    COVER(TEND_SMALL);
}

void model_tend(const int arg[ARGS])
{
    tended said;
    int queue = arg[QUEUE];
    model_queue *q = &model.queues[queue];
    bool was_large = q->large, more = false;
    int most = arg[MOST] ? arg[MOST] : ALL, limit = was_large && most > 8 ? 8 : most;
    int expired = expired_session(queue);
    const model_seen *before = model_look();
    bool unsure = before && may_have_more(&before->queues[queue], limit), limited = before && *before->queues[queue].gate;
    if (!tend(queue, most, &said)) return;
    int64_t expected[NUMBERS] = {[NOW] = model.now_ms, [REAPED] = said.numbers[REAPED]};
    expected[PROMOTED] = promote(queue, limit);
    more = expected[PROMOTED] == limit || expired >= 0;
    if (expired >= 0) reap(expired, said.numbers[REAPED]);
    if (expired < 0) expected[REAPED] = 0;
    expected[TRIMMED] =
        trim(queue, COMPLETED, limit, &more) + trim(queue, CANCELLED, limit, &more) + trim(queue, DEAD, limit, &more);
    if (q->waiters) forget_waiters(q);
    forget_size(queue, was_large);
    if (limited) end_holds(&q->limits);
    model_take_over_parked(queue, false);
    expected[MORE] = more || (unsure && said.numbers[MORE] == 1);
    expected[NEXT] = next_due(queue);
    q->more = expected[MORE];
    q->next_ms = expected[NEXT];
    compare(&said, expected, expired < 0 ? "" : model_session_id(expired));
}

/* ---- waking up ------------------------------------------------------------------------------------------------- */

enum { POP_HAND, POP_THREAD, POP_QUEUES };

void model_pop_make(int arg[ARGS])
{
    arg[POP_HAND] = (int)model_chance(mood.hands);
    arg[POP_THREAD] = (int)model_chance(THREADS);
    arg[POP_QUEUES] = mood.queues == 1 ? 0 : CHOOSE(0, 1, 2, 3);
}

/* An idle thread's wait ends if there is a token in one of its queues. */
void model_pop(const int arg[ARGS])
{
    static const int orders[4][2] = {{0, -1}, {1, -1}, {0, 1}, {1, 0}};
    model_hand *hand = &model.hands[arg[POP_HAND]];
    int thread = arg[POP_THREAD];
    if (hand->told[thread]) return;
    for (int i = 0; i < 2 && !hand->told[thread]; i++) {
        int queue = orders[arg[POP_QUEUES]][i];
        if (queue < 0) break;
        model_look_again();
        if (strcmp(test_cmd(test_conn, "LPOP %swake", model_prefix(queue)), "(nil)") == 0) continue;
        hand->told[thread] = queue + 1;
        hand->wait[thread] = arg[POP_QUEUES];
        COVER(POP_TOKEN);
    }
}
