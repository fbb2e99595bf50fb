/*
 * abandon.h - for a program that exits without destroying its worker: while handlers still run, when its embedded
 * server is not to stay behind, or when a handler has closed what the worker needs.
 */
#ifndef RV_ABANDON_H
#define RV_ABANDON_H

#include "base/buf.h"
#include "reeve/worker.h"
#include "running/flight.h"

/* Leaves the embedded server, which ends when no other process uses it. After reeve_worker_stop; without effect when
 * there is none. */
void rv_worker_leave_embedded(reeve_worker *worker);

/* Before start: the flight record to write (running/flight.h). Borrowed, until the worker is destroyed. */
struct rv_flight;
void rv_worker_set_flight(reeve_worker *worker, struct rv_flight *flight);

/* Before start: what describes the record of a crash that a runner has written (running/isolated.h): adds a message of
 * one line, and a frame a line; false: nothing was recorded. Called on any thread. */
void rv_worker_on_runner_crash(reeve_worker *worker,
                               bool (*call)(const rv_flight_crash *crash, rv_buf *message, rv_buf *backtrace));

/* The worker is quiet from now on, and refuses to resume: its program is about to stop it. */
void rv_worker_begin_drain(reeve_worker *worker);

/* Before start: what to call, on a thread of the worker, when a handler does not return (running/stuck.h). `thread` is
 * the name of its thread, valid until the worker is destroyed. spared: a spare thread has its place. It must not block. */
void rv_worker_on_stuck(reeve_worker *worker, void (*call)(const char *thread, bool spared));
/* How many threads are stuck now; *ret_unspared of these have no spare thread in their place. Any thread. */
unsigned rv_worker_stuck(const reeve_worker *worker, unsigned *ret_unspared);

/* Before start: what to call, on any thread, when a handler has closed descriptors that the worker needs. */
void rv_worker_on_descriptors_lost(reeve_worker *worker, void (*call)(void));
/* Calls that now if it is so. */
void rv_worker_check_descriptors(reeve_worker *worker);

#endif
