/*
 * unheard.h - finds idle threads whose connection is dead at Redis's end only: a proxy keeps this end open, or a
 * firewall has dropped its state. Such a thread would wait for ever, and heartbeats would keep the lease of a task
 * that it was handed. The reply of a heartbeat contains the number of tasks of the session, and whether a wake-up
 * remains, which happens only while no thread waits for it. If at two heartbeats in a row the session has more tasks
 * than the worker knows, or a wake-up remains, threads that have waited all that time connect again and recall their
 * leases.
 */
#ifndef RV_UPKEEP_UNHEARD_H
#define RV_UPKEEP_UNHEARD_H

#include "protocol/heartbeat_call.h"
#include "running/worker_state.h"

/* The heartbeat thread; called once for each heartbeat. session: the one that the heartbeat renewed; "": none.
 * heartbeat: its reply. */
void rv_unheard_check(reeve_worker *worker, rv_queue_session *queue_session, const char *session,
                      const rv_heartbeat_reply *heartbeat);

#endif
