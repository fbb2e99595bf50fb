#include "running/queue_order.h"

#include <string.h>

#include "base/mem.h"

/* What a task costs a queue of weight 1. Divides evenly by every weight up to 10, and finely enough by any other. */
#define TASK_COST ((uint64_t)2520 << 20)

#define NOWHERE SIZE_MAX

static unsigned weight_of(const rv_queue_order *order, size_t queue)
{
    return order->weights != NULL ? order->weights[queue] : 1;
}

/* ---- members of families -------------------------------------------------------------------------------------- */

static size_t end_of_family(const rv_queue_order *order, size_t first)
{
    size_t end = first + 1;
    while (end < order->count && order->families[end] == first) end++;
    return end;
}

/* The member whose turn comes after that of `queue`. */
static size_t next_member(const rv_queue_order *order, size_t queue)
{
    size_t first = order->families[queue];
    return queue + 1 < end_of_family(order, first) ? queue + 1 : first;
}

/* Members have equal weights, so they can exchange their clocks with their places. */
static void exchange(rv_queue_order *order, size_t one, size_t other)
{
    size_t place = order->ranks[one];
    order->ranks[one] = order->ranks[other];
    order->ranks[other] = place;
    order->queues[order->ranks[one]] = one;
    order->queues[order->ranks[other]] = other;
    if (order->clocks == NULL) return;
    uint64_t clock = order->clocks[one];
    order->clocks[one] = order->clocks[other];
    order->clocks[other] = clock;
}

/* The family of `queue` takes its places in turn, beginning with this queue. */
static void put_first(rv_queue_order *order, size_t queue)
{
    size_t first = order->families[queue], member = queue;
    size_t place = order->kind == REEVE_ORDER_STRICT ? first : 0;
    for (size_t left = end_of_family(order, first) - first; left > 0; place++) {
        if (order->families[order->queues[place]] != first) continue;
        exchange(order, order->queues[place], member);
        member = next_member(order, member);
        left--;
    }
}

/* The places are the numbers, but for which member of each family comes first. */
static void begin_places(rv_queue_order *order)
{
    for (size_t i = 0; i < order->count; i++) order->queues[i] = i;
    if (order->families == NULL) return;
    for (size_t i = 0; i < order->count; i++) order->ranks[i] = i;
    for (size_t first = 0, end; first < order->count; first = end) {
        end = end_of_family(order, first);
        put_first(order, first + order->start % (end - first));
    }
}

/* `served` was leased from last. */
static void let_take_turns(rv_queue_order *order, size_t served, int64_t stay_ms)
{
    size_t stayed = order->stayed;
    if (served != stayed) order->stayed_ms = stay_ms;
    bool stays = stay_ms > 0 && stay_ms - order->stayed_ms < RV_ORDER_STAY_MS;
    order->stayed = stays ? served : NOWHERE;
    if (stayed != NOWHERE && stayed != served) put_first(order, next_member(order, stayed));
    put_first(order, stays ? served : next_member(order, served));
}

/* ---- life ------------------------------------------------------------------------------------------------------- */

static void begin_anew(rv_queue_order *order)
{
    memset(order->clocks, 0, order->count * sizeof(*order->clocks));
    begin_places(order);
}

static bool init_weighted(rv_queue_order *order)
{
    order->heaviest = 0;
    order->queues = rv_zalloc_array(order->count, sizeof(*order->queues));
    order->moved = rv_zalloc_array(order->count, sizeof(*order->moved));
    order->clocks = rv_zalloc_array(order->count, sizeof(*order->clocks));
    order->leased = rv_zalloc_array(order->count, sizeof(*order->leased));
    if (order->queues == NULL || order->moved == NULL || order->clocks == NULL || order->leased == NULL) return false;
    for (size_t i = 0; i < order->count; i++) {
        if (weight_of(order, i) > order->heaviest) order->heaviest = weight_of(order, i);
    }
    begin_anew(order);
    return true;
}

bool rv_queue_order_init(rv_queue_order *order, reeve_order kind, size_t count, const unsigned *weights)
{
    *order = (rv_queue_order){.kind = kind, .count = count, .weights = weights, .last_place = NOWHERE};
    order->stayed = NOWHERE;
    if (kind != REEVE_ORDER_WEIGHTED || init_weighted(order)) return true;
    rv_queue_order_fini(order);
    return false;
}

void rv_queue_order_fini(rv_queue_order *order)
{
    rv_free(order->own_weights);
    rv_free(order->ranks);
    rv_free(order->queues);
    rv_free(order->moved);
    rv_free(order->clocks);
    rv_free(order->leased);
    memset(order, 0, sizeof(*order));
}

/* ---- families --------------------------------------------------------------------------------------------------- */

/* Its weight, divided among its members: so that all weights are whole, those of smaller families are multiplied. */
static bool share_weights(rv_queue_order *order)
{
    size_t largest = 1;
    unsigned *weights = rv_zalloc_array(order->count, sizeof(*weights));
    if (weights == NULL) return false;
    for (size_t first = 0; first < order->count; first = end_of_family(order, first)) {
        size_t size = end_of_family(order, first) - first;
        if (size > largest) largest = size;
    }
    for (size_t first = 0; first < order->count; first = end_of_family(order, first)) {
        size_t end = end_of_family(order, first);
        for (size_t i = first; i < end; i++) weights[i] = (unsigned)(4 * weight_of(order, i) * largest / (end - first));
    }
    order->own_weights = weights;
    order->weights = weights;
    return true;
}

bool rv_queue_order_set_families(rv_queue_order *order, const size_t *families, size_t start)
{
    if (families == NULL) return true;
    rv_queue_order plain = {.kind = order->kind, .count = order->count, .weights = order->weights};
    plain.families = families;
    plain.start = start;
    plain.stayed = plain.last_place = NOWHERE;
    rv_queue_order_fini(order);
    *order = plain;
    order->ranks = rv_zalloc_array(order->count, sizeof(*order->ranks));
    bool good = order->ranks != NULL;
    if (order->kind == REEVE_ORDER_STRICT) {
        order->queues = rv_zalloc_array(order->count, sizeof(*order->queues));
        good = good && order->queues != NULL;
        if (good) begin_places(order);
    } else {
        order->kind = REEVE_ORDER_WEIGHTED;
        good = good && share_weights(order) && init_weighted(order);
    }
    if (!good) rv_queue_order_fini(order);
    return good;
}

void rv_queue_order_charge(rv_queue_order *order, size_t place, size_t tasks)
{
    if (tasks == 0) return;
    order->last_place = place;
    if (order->kind == REEVE_ORDER_WEIGHTED) order->leased[rv_queue_order_queue(order, place)] = tasks;
}

/* ---- weighted -------------------------------------------------------------------------------------------------- */

static void advance_clocks(rv_queue_order *order)
{
    for (size_t place = 0; place <= order->last_place; place++) {
        size_t queue = order->queues[place];
        order->clocks[queue] += order->leased[queue] * TASK_COST / weight_of(order, queue);
    }
}

/* Those that were asked before the last and did not have enough. */
static void set_forward(rv_queue_order *order)
{
    size_t last = order->queues[order->last_place];
    uint64_t min = order->clocks[last] - order->leased[last] * TASK_COST / order->heaviest;
    for (size_t place = 0; place < order->last_place; place++) {
        uint64_t *clock = &order->clocks[order->queues[place]];
        if (*clock < min) *clock = min;
    }
}

/* Those that were served stand behind their equals. */
static void move_served_back(rv_queue_order *order)
{
    size_t kept = 0, moved = 0;
    for (size_t place = 0; place < order->count; place++) {
        size_t queue = order->queues[place];
        if (order->leased[queue] == 0) {
            order->queues[kept++] = queue;
        } else {
            order->moved[moved++] = queue;
            order->leased[queue] = 0;
        }
    }
    memcpy(&order->queues[kept], order->moved, moved * sizeof(*order->moved));
}

/* By insertion: all but the few that were served stand in order already. */
static void sort(rv_queue_order *order)
{
    for (size_t i = 1; i < order->count; i++) {
        size_t queue = order->queues[i], at = i;
        for (; at > 0 && order->clocks[order->queues[at - 1]] > order->clocks[queue]; at--)
            order->queues[at] = order->queues[at - 1];
        order->queues[at] = queue;
    }
}

static void settle_weighted(rv_queue_order *order)
{
    advance_clocks(order);
    set_forward(order);
    move_served_back(order);
    sort(order);
    /* Only differences count: so the numbers stay small. */
    uint64_t min = order->clocks[order->queues[0]];
    for (size_t i = 0; i < order->count; i++) order->clocks[i] -= min;
    for (size_t place = 0; order->ranks != NULL && place < order->count; place++)
        order->ranks[order->queues[place]] = place;
}

/* ---- some of very many ----------------------------------------------------------------------------------------- */

static size_t rank_of(const rv_queue_order *order, size_t queue)
{
    return order->ranks != NULL ? order->ranks[queue] : queue;
}

/* In the order of the pool; by insertion. */
static void choose(rv_queue_order *order, size_t queue)
{
    size_t at = order->asked++;
    for (; at > 0 && rank_of(order, order->chosen[at - 1]) > rank_of(order, queue); at--)
        order->chosen[at] = order->chosen[at - 1];
    order->chosen[at] = queue;
}

/* Round-robin: the queue that was served last comes last. */
static void rotate(rv_queue_order *order)
{
    size_t turned[RV_ORDER_AT_ONCE], first = 0;
    while (first < order->asked && order->chosen[first] <= order->served) first++;
    for (size_t i = 0; i < order->asked; i++) turned[i] = order->chosen[(first + i) % order->asked];
    memcpy(order->chosen, turned, order->asked * sizeof(*turned));
}

void rv_queue_order_choose(rv_queue_order *order, bool all)
{
    order->asked = 0;
    if (all || order->count <= RV_ORDER_AT_ONCE || order->kind == REEVE_ORDER_WEIGHTED) return;
    choose(order, order->served);
    for (size_t i = 0; order->asked < RV_ORDER_AT_ONCE; i++) {
        size_t queue = (order->next + i) % order->count;
        if (queue != order->served) choose(order, queue);
    }
    if (order->kind == REEVE_ORDER_ROUND_ROBIN) rotate(order);
}

/* ---- two threads ----------------------------------------------------------------------------------------------- */

/* Round-robin: behind which queue the turn begins. */
static size_t turns_at(const rv_queue_order *order)
{
    return order->count > RV_ORDER_AT_ONCE ? order->served : order->first;
}

bool rv_queue_order_is_like(const rv_queue_order *order, const rv_queue_order *other)
{
    switch (order->kind) {
    case REEVE_ORDER_STRICT:
        return true;
    case REEVE_ORDER_ROUND_ROBIN:
        return turns_at(order) == turns_at(other);
    case REEVE_ORDER_WEIGHTED:
        return memcmp(order->queues, other->queues, order->count * sizeof(*order->queues)) == 0;
    }
    return false;
}

size_t rv_queue_order_hash(const rv_queue_order *order)
{
    size_t hash = 0;
    if (order->kind == REEVE_ORDER_ROUND_ROBIN) return turns_at(order);
    if (order->kind == REEVE_ORDER_STRICT) return 0;
    for (size_t place = 0; place < order->count && place < 4; place++) hash = 31 * hash + order->queues[place];
    return hash;
}

void rv_queue_order_adopt(rv_queue_order *order, const rv_queue_order *other)
{
    order->asked = other->asked;
    order->next = other->next;
    memcpy(order->chosen, other->chosen, other->asked * sizeof(*other->chosen));
    if (order->ranks == NULL) return;
    memcpy(order->queues, other->queues, order->count * sizeof(*order->queues));
    memcpy(order->ranks, other->ranks, order->count * sizeof(*order->ranks));
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

/* The turns found nothing. */
static void settle_empty(rv_queue_order *order)
{
    if (order->kind == REEVE_ORDER_WEIGHTED) begin_anew(order);
    order->stayed = NOWHERE;
}

static void settle_served(rv_queue_order *order, int64_t stay_ms)
{
    size_t served = rv_queue_order_queue(order, order->last_place);
    if (order->kind == REEVE_ORDER_WEIGHTED) settle_weighted(order);
    order->served = served;
    order->first = (served + 1) % order->count;
    if (order->families != NULL) let_take_turns(order, served, stay_ms);
}

void rv_queue_order_settle(rv_queue_order *order, int64_t stay_ms)
{
    if (order->last_place == NOWHERE)
        settle_empty(order);
    else
        settle_served(order, stay_ms);
    if (order->asked > 0) order->next = (order->next + order->asked - 1) % order->count;
    order->last_place = NOWHERE;
}

const char *rv_queue_order_word(reeve_order kind)
{
    switch (kind) {
    case REEVE_ORDER_STRICT:
        return "strict";
    case REEVE_ORDER_WEIGHTED:
        return "weighted";
    case REEVE_ORDER_ROUND_ROBIN:
        return "round-robin";
    }
    return "?";
}
