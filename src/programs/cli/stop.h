/*
 * stop.h - SIGINT and SIGTERM while a verb waits: note the signal and wake the wait, so that the verb ends in order and
 * can say how far it came. A second signal of the kind kills at once.
 */
#ifndef CLI_STOP_H
#define CLI_STOP_H

#include <stdbool.h>

#include "reeve/client.h"

/* From now on signals are noted; client, when not NULL, has its reeve_wait interrupted. */
void cli_stop_catch(reeve_client *client);

/* The same; the signal handler calls wake, which must be safe there. */
void cli_stop_catch_with(void (*wake)(void *what), void *what);

/* SIGHUP is noted, too, until cli_stop_release: it asks to read files again. Where it is ignored (nohup), it stays so. */
void cli_stop_catch_hangup(void);

/* Whether that has come since the last call. */
bool cli_stop_take_hangup(void);

/* The signal that came, or 0. */
int cli_stop_signal(void);

/* Readable once a signal came: for those who wait for something else as well. -1 when there is none. */
int cli_stop_fd(void);

/* Back to the default: call it before the client is closed. */
void cli_stop_release(void);

#endif
