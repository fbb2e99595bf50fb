/*
 * interrupt.h - a way out while the main thread runs code of plugins: constructors, load hooks and unload hooks.
 * Signals are blocked then, and such code may hang.
 */
#ifndef HOST_INTERRUPT_H
#define HOST_INTERRUPT_H

/* From now on TERM and INT end the process at once, after a line in the log: no task is leased. Signals are blocked
 * (signals.h). `doing`, a literal, says for what. Without a thread for it, signals wait as before. */
void host_interrupt_begin(const char *doing);

/* The signals wait again for who reads them. */
void host_interrupt_end(void);

#endif
