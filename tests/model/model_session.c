/* Sessions live, leave, die and are taken back; time goes on; threads are told that there is something to do. */
#include <string.h>

#include "model/model_dependencies.h"
#include "model/model_limit_state.h"
#include "support/clock.h"
#include "support/queue.h"

/* ---- time ------------------------------------------------------------------------------------------------------ */

enum { MS };

void model_clock_make(int arg[ARGS])
{
    arg[MS] = CHOOSE(1, 10, 100, 1000, 1000, 4000, 4000, TTL, TTL, TTL + 1, 60000, DAY, -20);
    if (model_chance(16) == 0) arg[MS] = 20 * DAY;
    if (model_chance(12) == 0) arg[MS] = CHOOSE(-3600000, 3600000);
}

/* A key that has expired is seen to be gone, and does not come back with the time: Redis drops it at a moment of its
 * own choice, or when it is asked for. */
static void forget_keys(void)
{
    for (int queue = 0; queue < QUEUES; queue++) {
        for (int id = 0; id < SLOTS; id++) {
            if (model_replacement(queue, id) >= 0) continue;
            (void)test_cmd(test_conn, "EXISTS %sreplaced_by:%s", model_prefix(queue), model_id(id));
        }
        for (int key = 1; key <= UNIQUES; key++) {
            (void)test_cmd(test_conn, "EXISTS %sunique:u%d", model_prefix(queue), key);
            (void)model_holder(queue, key);
        }
    }
}

void model_clock(const int arg[ARGS])
{
    model_look_again();
    if (arg[MS] < 0 && mood.budget) return; /* what tend moves back then, it moves in steps */
    if (arg[MS] < 0) forget_keys();
    if (arg[MS] < 0) model.went_back = true;
    model.now_ms += arg[MS];
    test_clock_set(model.now_ms);
}

/* ---- the begin of a session ------------------------------------------------------------------------------------ */

static const char *about =
    "{\"worker\":\"by_hand\",\"pid\":1                                                           }";

static bool begin(int queue, int number)
{
    model_session *session = &model.sessions[number];
    const rv_reply *reply = CALL(begin_session, queue, model_session_id(number), model_number(TTL), about);
    if (!reply) return false;
    bool alive = session->life != DYING;
    const char *policy = model.queues[queue].policy ? MODEL_POLICY : "";
    if (!alive) COVER(BEGIN_SESSION_DYING);
    if ((reply->count > 0) != alive || (alive && !rv_reply_is_text(rv_reply_at(reply, 0), policy)))
        model_differ("begin_session says %s", test_reply_text(reply));
    if (session->life == ALIVE) COVER(BEGIN_SESSION_AGAIN);
    if (alive && *policy) COVER(BEGIN_SESSION_POLICY);
    if (session->life != ABSENT) return alive;
    session->life = ALIVE;
    (void)model_look_after(queue, TTL);
    session->expiry_ms = model.now_ms + TTL;
    session->suspect = session->flushed = 0;
    session->alone = session->beside = false;
    COVER(BEGIN_SESSION);
    return true;
}

void model_begin_session(int hand, int queue)
{
    model_hand *h = &model.hands[hand];
    if (begin(queue, h->session[queue]))
        h->begun[queue] = true;
    else if (!h->begun[queue])
        model_renew(hand, queue);
}

/* ---- heartbeats ------------------------------------------------------------------------------------------------ */

enum { HAND, QUEUE, MAX /* 0: ALL */, FLAGS };
enum { TWICE = 1, DEAF = 2 /* does not hear what is answered */, FLUSHES = 4, LOOKS = 8 /* without a session */ };
enum { ALL = 200 };

void model_heartbeat_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[HAND] = model_choose_hand(arg[QUEUE]);
    arg[FLAGS] = CHOOSE(0, 0, TWICE, DEAF) | CHOOSE(0, FLUSHES);
    if (model_chance(8) == 0) arg[FLAGS] = LOOKS;
}

/* The same number is sent until it is answered, and counts once. */
static void flush(int queue, model_session *session, int number)
{
    if (number <= session->flushed) {
        COVER(HEARTBEAT_FLUSH_AGAIN);
        return;
    }
    session->flushed = number;
    model_add_stats(queue);
    COVER(HEARTBEAT_FLUSH);
}

static const rv_reply *send_heartbeat(const model_hand *hand, int queue, int number)
{
    model_begin(&rv_script_heartbeat);
    model_key(queue);
    model_arg_text(model_session_id(hand->session[queue]));
    model_arg("%d", TTL);
    if (number == 0) return model_call();
    model_arg("%d", number);
    model_arg("%lld", (long long)(model.now_ms / DAY));
    for (const char *const *word = (const char *const[]){"1", "1", "wait:count", "2", "k1", "3", "0", NULL}; *word;
         word++)
        model_arg_text(*word);
    return model_call();
}

/* number: of a flush; 0: none. */
static bool heartbeat(model_hand *hand, int queue, int number)
{
    model_session *session = &model.sessions[hand->session[queue]];
    const rv_reply *reply = send_heartbeat(hand, queue, number);
    bool alive = session->life == ALIVE;
    int held = alive ? model_held(hand->session[queue]) : 0;
    if (!reply) return alive;
    if (rv_reply_int(rv_reply_at(reply, 0), -1) != alive || rv_reply_int(rv_reply_at(reply, 1), -1) != held)
        model_differ("beat says %s, not [%d %d]", test_reply_text(reply), alive, held);
    if (session->life == DYING) COVER(HEARTBEAT_DYING);
    if (session->life == ABSENT) COVER(HEARTBEAT_GONE);
    if (!alive) return false;
    (void)model_look_after(queue, TTL);
    session->expiry_ms = model.now_ms + TTL;
    COVER(HEARTBEAT_ALIVE);
    if (number) flush(queue, session, number);
    return true;
}

static void look_after(int queue)
{
    const rv_reply *reply = CALL(heartbeat, queue, "", model_number(TTL));
    if (!reply) return;
    if (strncmp(test_reply_text(reply), "[1 0 ", 5) != 0) model_differ("beat says %s", test_reply_text(reply));
    if (model.queues[queue].upkeep.last_ms) (void)model_look_after(queue, TTL);
}

void model_heartbeat(const int arg[ARGS])
{
    if (arg[FLAGS] & LOOKS) {
        look_after(arg[QUEUE]);
        return;
    }
    model_hand *hand = &model.hands[arg[HAND]];
    int number = arg[FLAGS] & FLUSHES ? hand->flush[arg[QUEUE]] + 1 : 0;
    bool alive = heartbeat(hand, arg[QUEUE], number);
    if (arg[FLAGS] & TWICE) (void)heartbeat(hand, arg[QUEUE], number);
    if (number && !(arg[FLAGS] & DEAF)) hand->flush[arg[QUEUE]] = number;
    if (!alive && !(arg[FLAGS] & DEAF) && hand->begun[arg[QUEUE]]) model_renew(arg[HAND], arg[QUEUE]);
}

/* ---- the end of a session -------------------------------------------------------------------------------------- */

enum { FIELDS = 1 };

void model_die_make(int arg[ARGS])
{
    arg[HAND] = (int)model_chance(mood.hands);
    arg[FIELDS] = model_chance(4) == 0;
}

/* Another version kept something of its own about a session, which must not keep the session. */
static void add_field(int queue, int number)
{
    if (model.sessions[number].life != ALIVE) return;
    (void)test_cmd(test_conn, "HSET %srunning:%s #other 7", model_prefix(queue), model_session_id(number));
}

/* Its sessions stay as they are until tend finds them. */
void model_die(const int arg[ARGS])
{
    model_hand *hand = &model.hands[arg[HAND]];
    for (int queue = 0; queue < QUEUES; queue++) {
        if (arg[FIELDS]) add_field(queue, hand->session[queue]);
        model_renew(arg[HAND], queue);
    }
    for (int thread = 0; thread < THREADS; thread++) {
        if (hand->told[thread]) model.queues[hand->told[thread] - 1].token_lost = true;
        hand->told[thread] = hand->idle[thread] = 0;
        hand->unsure[thread] = false;
    }
}

/* Whether a session's end is a crash of this task: not when another one ran alone, nor of a suspect that had not
 * begun. */
static bool is_blamed(int number, int id)
{
    const model_session *session = &model.sessions[number];
    if (!session->suspect || session->beside) return true;
    return (session->suspect - 1 == id) == session->alone;
}

/* In later steps the suspect may be back already. */
static void look_for_suspect(int number)
{
    model_session *session = &model.sessions[number];
    if (session->life != ALIVE || !session->suspect) return;
    const model_task *task = model_task_of(session->queue, session->suspect - 1);
    if (task->state == RUNNING && task->session == number) return;
    session->suspect = 0;
    session->alone = false;
}

static void cancel_told(int queue, model_task *task, bool crashed)
{
    task->crashes += crashed;
    task->alone = task->alone || (crashed && model.sessions[task->session].alone);
    if (crashed) model_note(task);
    if (crashed)
        COVER(REAP_CANCELLED);
    else
        COVER(END_SESSION_CANCELLED);
    model_end(queue, task, CANCELLED);
    if (task->state != NONE) (void)model_trim_count(queue, CANCELLED, 16);
    model_tell_ended(queue, model_slot(queue, task), CANCELLED);
}

static bool was_leased_before(const model_task *one, const model_task *other)
{
    if (one->at_ms != other->at_ms) return one->at_ms < other->at_ms;
    return one->thread < other->thread;
}

/* "9" comes before "10". */
static bool is_shorter_or_before(int one, int other)
{
    size_t length = strlen(model_id(one)), than = strlen(model_id(other));
    return length != than ? length < than : model_is_before(one, other);
}

/* Keeps ids in the order of their leases, and then of their names. */
static void insert(int queue, int *ids, int count, int id)
{
    const model_task *task = model_task_of(queue, id);
    for (; count > 0; count--) {
        const model_task *before = model_task_of(queue, ids[count - 1]);
        bool same = before->at_ms == task->at_ms && before->thread == task->thread;
        if (!was_leased_before(task, before) && !(same && is_shorter_or_before(id, ids[count - 1]))) break;
        ids[count] = ids[count - 1];
    }
    ids[count] = id;
}

/* Which of a session's tasks went back, of which there must be `count`, is seen in Redis; those that were cancelled
 * while they ran end then. Returns how many these are, and counts them when they crashed. */
int model_take_back(int session, int count, bool crashed)
{
    int queue = model.sessions[session].queue, found = 0, ended = 0, back[SLOTS];
    const model_seen *seen = model_look();
    int blamed = 0; /* (what was handed over and not found has not crashed) */
    if (crashed) look_for_suspect(session);
    for (int id = 0; seen && id < SLOTS; id++) {
        model_task *task = model_task_of(queue, id);
        if (task->state != RUNNING || task->session != session) continue;
        const model_seen_task *now = &seen->queues[queue].tasks[id];
        if (task->told && (!now->exists || now->state == CANCELLED)) {
            bool blame = crashed && !task->handed && is_blamed(session, id);
            blamed += blame;
            cancel_told(queue, task, blame);
            ended++;
            continue;
        }
        if (now->state != READY || task->told) continue;
        insert(queue, back, found++, id);
    }
    for (int i = found - 1; i >= 0; i--) {
        model_task *task = model_task_of(queue, back[i]);
        bool handed = task->handed;
        if (handed && crashed) COVER(HAND_REAPED);
        if (handed && !crashed) COVER(HAND_LEFT);
        bool alone = model.sessions[session].alone;
        model_to_front(task);
        bool blame = is_blamed(session, back[i]), keeps = crashed && !blame && task->deadline_ms;
        if (keeps) COVER(REAP_DEADLINE);
        if (keeps)
            task->expires_ms = task->deadline_ms;
        else
            model_has_begun(task);
        if (crashed && !blame && alone) COVER(REAP_INNOCENT);
        if (crashed && !blame && !alone) COVER(REAP_UNBEGUN);
        if (!crashed || handed || !blame) continue;
        blamed++;
        task->crashes++;
        if (alone) task->alone = true;
        if (alone) COVER(REAP_GUILTY);
        task->flagged = true;
        model_note(task);
    }
    model.queues[queue].counters[3] += blamed;
    if (found + crashed * ended != count)
        model_differ("%d tasks of session %d are ready again, and %d are said to be", found, session, count);
    return ended;
}

void model_end_session_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[HAND] = model_choose_hand(arg[QUEUE]);
    arg[MAX] = CHOOSE(1, 1, 2, 0);
    arg[FLAGS] = CHOOSE(0, 0, TWICE);
}

/* True when there is more to give back. */
static bool leave(int number, int max)
{
    model_session *session = &model.sessions[number];
    int held = session->life == ALIVE ? model_held(number) : 0;
    const rv_reply *reply = CALL(end_session, session->queue, model_session_id(number), model_number(max));
    if (!reply) return false;
    int64_t back = rv_reply_int(rv_reply_at(reply, 0), -1), more = rv_reply_int(rv_reply_at(reply, 1), -1);
    if (session->life == DYING) COVER(END_SESSION_DYING);
    if (session->life == ABSENT) COVER(END_SESSION_GONE);
    if (session->life == ALIVE && held == 0) COVER(END_SESSION_NOTHING);
    char text[64];
    rv_copy_text(text, sizeof(text), test_reply_text(reply));
    int64_t gone = back + model_take_back(number, (int)back, false);
    model_free_kept(number);
    model_take_over_parked(session->queue, false);
    if (gone < (held > 0) || gone > held || more != (gone < held))
        model_differ("leave says %s; the session held %d", text, held);
    if (more == 1) COVER(END_SESSION_STEP);
    session->ended = true;
    if (more == 1 || session->life != ALIVE) return more == 1;
    session->life = ABSENT;
    if (held > 0) COVER(END_SESSION_ALL);
    return false;
}

void model_end_session(const int arg[ARGS])
{
    int session = model.hands[arg[HAND]].session[arg[QUEUE]], max = arg[MAX] ? arg[MAX] : ALL;
    bool more = leave(session, max);
    if (arg[FLAGS] & TWICE) more = leave(session, max);
    model_disbelieve_queue(arg[HAND], arg[QUEUE]);
    if (!more) model_renew(arg[HAND], arg[QUEUE]);
}

/* ---- a task that crashes left behind ---------------------------------------------------------------------------- */

enum { HOW = 2, CHOSEN };

void model_suspect_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[HAND] = model_choose_hand(arg[QUEUE]);
    arg[HOW] = CHOOSE(0, 0, 0, 1, 2, 3);
    arg[CHOSEN] = model_choose_id();
    int suspect = model.sessions[model.hands[arg[HAND]].session[arg[QUEUE]]].suspect;
    if (suspect && model_chance(8) > 0) arg[CHOSEN] = suspect - 1;
}

/* Its worker says how it runs. */
void model_suspect(const int arg[ARGS])
{
    static const char *const words[] = {"alone", "beside", "clear", "over"};
    int number = model.hands[arg[HAND]].session[arg[QUEUE]], id = arg[CHOSEN];
    model_session *session = &model.sessions[number];
    model_task *task = model_task_of(arg[QUEUE], id);
    bool held = task->state == RUNNING && task->session == number && session->life == ALIVE;
    const rv_reply *reply = CALL(suspect, arg[QUEUE], model_session_id(number), model_id(id), words[arg[HOW]]);
    if (!reply) return;
    if (rv_reply_int(reply, -1) != held) model_differ("suspect says %s, not %d", test_reply_text(reply), held);
    if (!held) return;
    if (arg[HOW] < 2) {
        session->suspect = id + 1;
        session->alone = arg[HOW] == 0;
        session->beside = arg[HOW] == 1;
    } else if (session->alone && session->suspect == id + 1) {
        session->alone = false;
        session->suspect = 0;
        if (arg[HOW] == 2 && task->crashes > 0) COVER(SUSPECT_CLEARED);
        if (arg[HOW] == 2) task->crashes = task->alone = 0;
    }
}
