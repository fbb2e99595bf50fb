/*
 * stuck_event.h - a handler that does not return is also an event of its task, where the queue keeps events.
 */
#ifndef RV_UPKEEP_STUCK_EVENT_H
#define RV_UPKEEP_STUCK_EVENT_H

#include "running/stuck.h"

/* One call on the keeper's connection, if that is open; what fails is logged, and the event is missing. The keeper's
 * thread. */
void rv_stuck_event(rv_thread *t, const rv_stuck_task *task);

#endif
