/*
 * os_thread.h - starting the library's threads.
 */
#ifndef RV_RUNNING_OS_THREAD_H
#define RV_RUNNING_OS_THREAD_H

#include <pthread.h>

#include "base/error.h"
#include "redis/waker.h"

/* A signal that threads do not block, for a program that asks them for their stacks: for those that start later. */
void rv_os_thread_leave_open(int signal_number);

/* Starts a named thread that blocks all signals but those of its own faults: signals belong to the program.
 * REEVE_ESYSTEM or REEVE_ENOMEM, with a message. */
reeve_status rv_os_thread_start(pthread_t *ret, void *(*run)(void *), void *argument, const char *name,
                                rv_error *error);

/* Waits until a thread has ended. After a second, if it has not, rings quit: it may wait for a Redis that does not
 * answer.
 */
void rv_os_thread_join(pthread_t id, const rv_waker *quit);

#endif
