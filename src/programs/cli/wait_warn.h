/*
 * wait_warn.h - a task that is waited for and cannot run as things are: that is said after a second, while the wait
 * goes on.
 */
#ifndef CLI_WAIT_WARN_H
#define CLI_WAIT_WARN_H

#include "handle.h"

typedef struct cli_wait_warn cli_wait_warn;

/* Starts a thread, which looks with a client of its own, once. timeout_ms: how long the wait lasts at most; negative:
 * no limit. NULL where it cannot be done, or nobody is to be told (--json). */
cli_wait_warn *cli_wait_warn_start(const cli_context *cli, const cli_handle *handle, int64_t timeout_ms);

/* The wait is over; returns when the thread has ended, and what it said is said. NULL is fine. */
void cli_wait_warn_stop(cli_wait_warn *warn);

#endif
