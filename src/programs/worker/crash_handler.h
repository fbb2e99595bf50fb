/*
 * crash_handler.h - of a supervised worker: the signals of a fault (SEGV, BUS, FPE, ILL, ABRT) are recorded for the
 * supervisor, with the frames of the thread and the modules that they lie in. Then the action that was in force before
 * takes place, with a core dump where these are enabled. A handler that a plugin installs later has precedence.
 */
#ifndef HOST_CRASH_HANDLER_H
#define HOST_CRASH_HANDLER_H

#include "running/flight.h"

/* On the main thread, before others are started. The record is written into `crash`. */
void host_crash_handler_begin(rv_flight_crash *crash);

/* On each other thread that is to survive an overflow of its stack until the record is written: gives it a stack for
 * signals. Without memory for it, an overflow is not recorded. */
void host_crash_handler_on_thread(void);

/* The calling thread has called exit: records that with its frames, so that its task is the one to blame. Without effect
 * if nothing is recorded. */
void host_crash_handler_note_exit(void);

#endif
