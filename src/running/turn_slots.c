/*
 * turn_slots.c - a turn of a pool whose queues have several hash slots: one call for each slot.
 */
#include "running/turn_slots.h"

#include "base/lock.h"
#include "protocol/turn_build.h"
#include "protocol/turn_reply.h"
#include "running/round.h"
#include "running/turn_call.h"
#include "running/turn_outcomes.h"
#include "running/wakeup.h"

static bool is_unsettled(const rv_item *item)
{
    return item->state == RV_ITEM_FINISHED && !item->accepted && !item->refused;
}

static void note_accepted(rv_thread *t)
{
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < t->batch.count; i++) {
        rv_item *item = &t->batch.items[i];
        if (is_unsettled(item) && rv_round_settles(t, item->lease.queue)) item->accepted = true;
    }
    rv_unlock(&t->batch.lock);
}

/* Settles the outcomes of one slot, and leases nothing. */
static reeve_status settle_slot(rv_thread *t, unsigned slot)
{
    const rv_reply *reply;
    rv_turn_reply read;
    t->round.slot = slot;
    rv_turn turn = {.thread = t->number_text, .groups = t->groups, .group_count = rv_turn_call_group(t)};
    rv_turn_build(t->conn, &turn);
    reeve_status status = rv_conn_call(t->conn, 0, &reply);
    if (status != REEVE_OK) return status;
    if (!rv_turn_reply_read(&read, reply)) return REEVE_EPROTO;
    rv_turn_outcomes_note_refused(t, read.refused, turn.group_count);
    note_accepted(t);
    return REEVE_OK;
}

/* Settles the outcomes of all slots but that of the turn, which is to lease `want` tasks: of none, one of those slots. */
reeve_status rv_turn_slots_settle_others(rv_thread *t, unsigned want)
{
    reeve_status status = REEVE_OK;
    bool known = want > 0;
    if (known) rv_round_choose(t, true);
    unsigned own = known ? t->round.slot : 0;
    for (size_t i = 0; status == REEVE_OK && i < t->batch.count; i++) {
        const rv_item *item = &t->batch.items[i];
        if (!is_unsettled(item)) continue;
        unsigned slot = t->pool->slots[item->lease.queue];
        if (!known) own = slot;
        known = true;
        if (slot != own) status = settle_slot(t, slot);
    }
    t->round.slot = own;
    return status;
}

/* Other threads are woken for the queues that this one was woken for, and did not come to. */
void rv_turn_slots_pass_on(rv_thread *t)
{
    const rv_reply *reply;
    reeve_status status = REEVE_OK;
    while (status == REEVE_OK && rv_round_next_left(t)) {
        for (size_t nth = 0; nth < t->place_count; nth++) {
            size_t queue = rv_round_queue(t, nth);
            t->queues[nth] =
                (rv_turn_queue){.prefix = &t->pool->queue_sessions[queue]->prefix, .session = t->sessions[queue]};
        }
        rv_turn turn = {
            .thread = t->number_text, .hand = RV_HAND_WOKEN, .queues = t->queues, .queue_count = t->place_count};
        rv_turn_build(t->conn, &turn);
        status = rv_conn_call(t->conn, 0, &reply);
    }
    if (!rv_round_end(t) || status != REEVE_OK) rv_wakeup_all_queues(t->worker);
}
