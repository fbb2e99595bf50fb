/*
 * supervised.h - the worker's side of its supervisor (supervise.h): the flight record, messages for the service
 * manager, signs of life, and the end of the supervisor. Without a supervisor none of these calls has an effect.
 */
#ifndef HOST_SUPERVISED_H
#define HOST_SUPERVISED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "reeve/worker.h"
#include "running/flight.h"

/* In the process that is to become the worker. flight_fd: that of the record, whose header is mapped. notify_fd: to the
 * supervisor. frozen_ms: how long it waits for a sign of life; 0: it does not. */
void host_supervised_begin(pid_t supervisor, int flight_fd, rv_flight_header *header, int notify_fd, int64_t frozen_ms);

/* Where stacks are written for the supervisor; NULL: there is none. */
rv_flight_stacks *host_supervised_stacks(void);

/* Before the worker starts: it writes the record. */
void host_supervised_prepare(reeve_worker *worker);

/* From now on the end of the process is a crash; and again, it is not. */
void host_supervised_works(void);
void host_supervised_ends(void);

/* Whether, when the process ends in good order, the supervisor starts another one in its place. False: there is no
 * supervisor. */
bool host_supervised_renew(bool renews);

/* The main thread works. Returns when it is to say so again (monotonic ms), or RV_FOREVER. */
int64_t host_supervised_tick(void);

/* Whether the supervisor has died. */
bool host_supervised_is_orphan(void);

/* Whether a TERM or INT that has come is one that the supervisor has passed on; always, if there is none. */
bool host_supervised_was_told(void);

/* The process is about to end. If its supervisor has died, nobody else asks what handlers have started to end
 * (left_group.h). */
void host_supervised_end_group(void);

/* The supervisor's process id, or 0. */
pid_t host_supervised_by(void);

/* Hands a message for the service manager to the supervisor. False: there is none. */
bool host_supervised_notify(const char *state);

#endif
