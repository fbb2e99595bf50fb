/*
 * signals.h - signals as something to wait for: they are blocked in every thread and read from a descriptor.
 */
#ifndef HOST_SIGNALS_H
#define HOST_SIGNALS_H

/* Blocks TERM, INT, TSTP, HUP and USR1; call it before any thread is started. Returns the descriptor, or -1 (errno). */
int host_signals_open(void);

/* The number of the next signal that is waiting, or 0. Does not block. */
int host_signals_next(int fd);

#endif
