#include "running/round.h"

#include <string.h>

static size_t queue_at(const rv_thread *t, size_t place)
{
    return rv_queue_order_queue(&t->order, place);
}

static bool is_to_ask(const rv_thread *t, size_t place)
{
    return !t->round.is_woken || t->round.woken[queue_at(t, place)];
}

/* The first place from this one on that the round is to ask; the count of places: there is none. */
static size_t seek(const rv_thread *t, size_t place)
{
    size_t places = rv_queue_order_places(&t->order);
    while (place < places && !is_to_ask(t, place)) place++;
    return place;
}

/* How many queues of one slot follow one another from this place on. */
static size_t measure(const rv_thread *t, size_t first)
{
    size_t places = rv_queue_order_places(&t->order), place = first + 1;
    const unsigned *slots = t->pool->slots;
    while (place < places && slots[queue_at(t, place)] == slots[queue_at(t, first)] && is_to_ask(t, place)) place++;
    return place - first;
}

bool rv_round_is_woken(const rv_thread *t)
{
    return t->round.is_woken && t->round.woken[queue_at(t, t->first_place)];
}

void rv_round_choose(rv_thread *t, bool begin)
{
    rv_round *round = &t->round;
    rv_queue_order_choose(&t->order, !begin || round->is_woken);
    size_t places = rv_queue_order_places(&t->order);
    t->first_place = 0;
    t->place_count = places;
    if (t->pool->slots == NULL) return;
    t->first_place = seek(t, round->next);
    if (t->first_place >= places) {
        (void)rv_round_end(t);
        t->first_place = 0;
    }
    t->place_count = measure(t, t->first_place);
    round->slot = t->pool->slots[queue_at(t, t->first_place)];
    /* A thread that took a wake-up and finds nothing in its only queue would be registered there, to be handed a task. It
     * waits elsewhere, too: so the call names that queue twice. */
    round->twice = t->place_count == 1 && rv_round_is_woken(t);
    if (round->twice) t->place_count = 2;
}

/* Behind the queues of the turn. */
static size_t end_of_turn(const rv_thread *t)
{
    return t->first_place + (t->round.twice ? 1 : t->place_count);
}

static void note_asked(rv_thread *t)
{
    for (size_t place = t->first_place; place < end_of_turn(t); place++) t->round.woken[queue_at(t, place)] = false;
}

bool rv_round_goes_on(rv_thread *t, bool again)
{
    if (t->pool->slots == NULL || t->named != NULL) return false;
    if (again && t->fresh == 0) return true;
    note_asked(t);
    t->round.next = end_of_turn(t);
    return t->fresh == 0 && seek(t, t->round.next) < rv_queue_order_places(&t->order);
}

void rv_round_note_woken(rv_thread *t, const bool *slots)
{
    t->round.next = 0;
    for (size_t queue = 0; queue < t->pool->queue_session_count; queue++) {
        bool woken = slots[t->pool->slots[queue]];
        t->round.woken[queue] = woken;
        t->round.is_woken = t->round.is_woken || woken;
    }
}

bool rv_round_next_left(rv_thread *t)
{
    if (!t->round.is_woken) return false;
    t->round.next = 0;
    rv_queue_order_choose(&t->order, true);
    if (seek(t, 0) == rv_queue_order_places(&t->order)) return false;
    rv_round_choose(t, false);
    if (t->round.twice) t->place_count = 1;
    t->round.twice = false;
    note_asked(t);
    return true;
}

bool rv_round_end(rv_thread *t)
{
    bool all = true;
    if (t->pool->slots == NULL) return true;
    for (size_t i = 0; t->round.is_woken && i < t->pool->queue_session_count; i++) all = all && !t->round.woken[i];
    memset(t->round.woken, 0, t->pool->queue_session_count * sizeof(*t->round.woken));
    t->round.next = 0;
    t->round.is_woken = false;
    t->round.twice = false;
    return all;
}
