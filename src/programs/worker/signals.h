/*
 * signals.h - signals as something to wait for: they are blocked in every thread, and the main thread takes them. No
 * descriptor is needed for that, so that code of a plugin which closes all of them cannot make the program deaf.
 */
#ifndef HOST_SIGNALS_H
#define HOST_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* A reader of a pipe that goes away does not end the program: the write fails (EPIPE). With a handler that does
 * nothing, not SIG_IGN, which the programs that task handlers start would inherit. */
void host_signals_survive_pipes(void);

/* Blocks TERM, INT, TSTP, CONT, HUP, USR1 and USR2; call it on the main thread before any other is started. A thread that unblocks
 * them, as a handler may, passes them on instead of ending the process. False: errno says why. */
bool host_signals_open(void);

/* The main thread waits for the next of them, until host_signals_wake is called or the deadline (monotonic ms). Returns
 * its number, or 0. */
int host_signals_wait(int64_t deadline);

/* Ends the present wait, or else the next one. Any thread, after host_signals_open. */
void host_signals_wake(void);

#endif
