/*
 * exit_guard.h - exit() of a plugin or handler: it would end the process in the middle of other tasks, without a word,
 * with a status that tells a service manager that all is well.
 */
#ifndef HOST_EXIT_GUARD_H
#define HOST_EXIT_GUARD_H

#define HOST_EXIT_STATUS 70 /* EX_SOFTWARE */

/* From now on exit() logs an error and ends the process with HOST_EXIT_STATUS. It changes nothing in a forked child. */
void host_exit_guard_begin(void);

/* The program itself is about to end. */
void host_exit_guard_end(void);

#endif
