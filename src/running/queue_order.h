/*
 * queue_order.h - which of its queues a thread asks first: strict, round-robin or weighted. Plain arithmetic, no I/O;
 * the state is a thread's own.
 *
 * A turn asks the queues one after the other until it has what it wants. A queue's *place* is where it stands in that
 * turn, its number is where it stands in the pool:
 *
 *     strict       the place is the number
 *     round-robin  the first is the queue after the one that was leased from last
 *     weighted     by a clock for each queue that runs as fast as its weight is small: tasks leased / weight. The queue
 *                  that is furthest behind comes first; among equals, the one that was not served just now
 *
 * A queue that had less than was wanted of it does not save up time: its clock is set forward so far that, when it
 * fills again, it goes first for at most as many tasks as the turn just took from the queue that came after it. When
 * nothing was found at all, all clocks begin anew.
 *
 * The partitions of one queue (protocol/partition.h) are a *family*, and count as one queue: in strict order they have one
 * place, and otherwise they share the weight of the queue. Round-robin is then weighted with equal weights. Among
 * themselves they take turns: after a turn, the member behind the one that was leased from last comes first. A thread may
 * also *stay* with a member for some turns, at most RV_ORDER_STAY_MS; it leaves when another queue was leased from.
 *
 * Where a pool has very many queues, a turn of a busy thread (strict or round-robin) asks some of them: the one that it
 * was served from last, and a few more, others each time, so that all come round. The turn of a thread that waits asks
 * all.
 */
#ifndef RV_RUNNING_QUEUE_ORDER_H
#define RV_RUNNING_QUEUE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reeve/worker.h"

#define RV_WEIGHT_MAX 1000
#define RV_ORDER_AT_ONCE 16 /* queues that a busy thread's turn asks, of more */
#define RV_ORDER_STAY_MS 10 /* then a thread that stays leaves: as long as a batch is to last */

typedef struct rv_queue_order {
    reeve_order kind;
    size_t count;
    size_t first;            /* round-robin: the queue in the first place */
    const unsigned *weights; /* borrowed; NULL: all 1. From here on: weighted only */
    unsigned heaviest;
    unsigned *own_weights;  /* shares of families; or NULL */
    const size_t *families; /* rv_queue_order_set_families, or NULL */
    size_t start;           /* which member of each comes first at the beginning */
    size_t stayed;          /* the member that the thread stays with, or SIZE_MAX; */
    int64_t stayed_ms;      /* since then */
    size_t *queues;         /* by place; strict: with families only */
    size_t *ranks;          /* with families: the place of each queue */
    size_t *moved;          /* scratch */
    uint64_t *clocks;       /* by queue */
    size_t *leased;         /* by queue: how many tasks in this turn */
    size_t last_place;      /* the last that was leased from in this turn, or SIZE_MAX */
    /* of very many queues: */
    size_t asked;                    /* how many this turn asks; 0: all */
    size_t chosen[RV_ORDER_AT_ONCE]; /* which, by place */
    size_t served;                   /* the queue that was leased from last */
    size_t next;                     /* the first of the others for the next turn */
} rv_queue_order;

/* weights must outlive the order. False: no memory; then there is nothing to finish. Strict and round-robin take none.
 */
bool rv_queue_order_init(rv_queue_order *order, reeve_order kind, size_t count, const unsigned *weights);
void rv_queue_order_fini(rv_queue_order *order);

/*
 * After init: by queue, the first queue of its family; the queues of a family follow one another. `families` must outlive
 * the order. start: the member of each family that comes first at the beginning. False: no memory.
 */
bool rv_queue_order_set_families(rv_queue_order *order, const size_t *families, size_t start);

/* Before a turn is built: which queues it asks. all: all of them. */
void rv_queue_order_choose(rv_queue_order *order, bool all);

static inline size_t rv_queue_order_places(const rv_queue_order *order)
{
    return order->asked > 0 ? order->asked : order->count;
}

/* The queue at a place of the next turn. */
static inline size_t rv_queue_order_queue(const rv_queue_order *order, size_t place)
{
    if (order->asked > 0) return order->chosen[place];
    if (order->queues != NULL) return order->queues[place];
    if (order->kind == REEVE_ORDER_STRICT) return place;
    return place < order->count - order->first ? order->first + place : place - (order->count - order->first);
}

/* Whether turns of both would ask the same queues, in the same order of places; of very many, those that the first one
 * chose do for the second as well. Orders of one pool. */
bool rv_queue_order_is_like(const rv_queue_order *order, const rv_queue_order *other);
/* Equal for two that are alike. */
size_t rv_queue_order_hash(const rv_queue_order *order);
/* The next turn asks the queues that a like one chose, families in the order of that one. */
void rv_queue_order_adopt(rv_queue_order *order, const rv_queue_order *other);

/* Reports the tasks that a turn leased, place by place, first to last; then settle ends the report and changes the
 * places. stay_ms: the present time, if the thread is to stay with the queue that was leased from last; 0: it is not. */
void rv_queue_order_charge(rv_queue_order *order, size_t place, size_t tasks);
void rv_queue_order_settle(rv_queue_order *order, int64_t stay_ms);

/* "strict", "round-robin", "weighted". */
const char *rv_queue_order_word(reeve_order kind);

#endif
