/*
 * away.h - queues that no pool serves any more: their sessions end, with a last maintenance, and get no more heartbeats.
 */
#ifndef RV_UPKEEP_AWAY_H
#define RV_UPKEEP_AWAY_H

#include "running/worker_state.h"

/* Ends the session of one queue, and gives back what is leased there. False: not now, try again. */
typedef bool (*rv_away_leave)(reeve_worker *worker, rv_queue_session *queue_session);

/* For the keeper, when a pool changed or a thread ended: looks at all queues. False: it is to look again soon, because
 * outcomes or statistics of a queue have not been sent yet. */
bool rv_away_look(reeve_worker *worker, rv_away_leave leave);

#endif
