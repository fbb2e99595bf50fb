/* The tasks of dead sessions go back: by whoever called tend (model_maintain.c), or by itself. */
#include <string.h>

#include "model/model_limit_state.h"
#include "support/queue.h"

enum { QUEUE = 1, MAX /* 0: ALL */, LIFE /* 0: not said */ };
enum { ALL = 200 };

void model_reap_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[MAX] = CHOOSE(1, 1, 2, 3, 0);
    arg[LIFE] = CHOOSE(0, TTL, TTL, TTL);
}

int model_dead_session(int queue, const model_upkeep *upkeep, bool *ret_spared)
{
    int first = -1;
    *ret_spared = false;
    for (int i = 0; i < model.session_count; i++) {
        const model_session *session = &model.sessions[i];
        if (session->queue != queue || session->life == ABSENT || session->expiry_ms > model.now_ms) continue;
        if (upkeep->ends_ms > model.now_ms && session->expiry_ms > upkeep->since_ms) {
            *ret_spared = true;
            continue;
        }
        if (first < 0 || session->expiry_ms < model.sessions[first].expiry_ms) first = i;
    }
    return first;
}

static void reap(int number, int64_t actual)
{
    model_session *session = &model.sessions[number];
    int held = model_held(number);
    if (actual < (held > 0) || actual > held) model_differ("reap takes %lld tasks of %d", (long long)actual, held);
    if (session->life == DYING) COVER(REAP_ON);
    if (held == 0) COVER(REAP_EMPTY);
    (void)model_take_back(number, (int)actual, true);
    model_free_kept(number);
    model_take_over_parked(session->queue, false);
    session->life = actual < held ? DYING : ABSENT;
    session->expiry_ms = 0;
    session->ended = true;
    if (actual < held)
        COVER(REAP_STEP);
    else
        COVER(REAP_ALL);
}

void model_reap(const int arg[ARGS])
{
    int queue = arg[QUEUE];
    bool spared;
    const model_upkeep upkeep = model_upkeep_now(queue, arg[LIFE]);
    int dead = model_dead_session(queue, &upkeep, &spared);
    model_begin(&rv_script_reap);
    model_key(queue);
    model_arg("%d", arg[MAX] ? arg[MAX] : ALL);
    if (arg[LIFE]) model_arg("%d", arg[LIFE]);
    const rv_reply *reply = model_call();
    if (!reply) return;
    char text[96], session[32] = "nothing";
    rv_copy_text(text, sizeof(text), test_reply_text(reply));
    if (rv_reply_at(reply, 0)) rv_copy_text(session, sizeof(session), rv_reply_at(reply, 0)->text);
    int64_t count = rv_reply_int(rv_reply_at(reply, 1), -1), more = rv_reply_int(rv_reply_at(reply, 2), -1);
    if (dead >= 0) reap(dead, count);
    if (dead < 0) COVER(REAP_NONE);
    if (spared) COVER(REAP_SPARED);
    bool left = dead >= 0 && model.sessions[dead].life == DYING;
    bool another = dead >= 0 && !left && model_dead_session(queue, &upkeep, &spared) >= 0;
    if (another) COVER(REAP_ANOTHER);
    if (strcmp(session, dead < 0 ? "" : model_session_id(dead)) != 0 || more != (left || another) ||
        (dead < 0 && count != 0))
        model_differ("reap says %s, but takes \"%s\"", text, dead < 0 ? "" : model_session_id(dead));
}
