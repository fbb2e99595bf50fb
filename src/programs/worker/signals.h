/*
 * signals.h - signals as something to wait for: they are blocked in every thread and read from a descriptor.
 */
#ifndef HOST_SIGNALS_H
#define HOST_SIGNALS_H

/* A reader of a pipe that goes away does not end the program: the write fails (EPIPE). With a handler that does
 * nothing, not SIG_IGN, which the programs that task handlers start would inherit. */
void host_signals_survive_pipes(void);

/* Blocks TERM, INT, TSTP, HUP and USR1; call it on the main thread before any other is started. A thread that unblocks
 * them, as a handler may, passes them on instead of ending the process. Returns the descriptor, or -1 (errno). */
int host_signals_open(void);

/* The number of the next signal that is waiting, or 0. Does not block. */
int host_signals_next(int fd);

#endif
