/*
 * web_clients.h - clients of Redis for requests: some for short calls, which requests take in turns, and others for
 * calls that wait.
 */
#ifndef WEB_CLIENTS_H
#define WEB_CLIENTS_H

#include "web.h"

struct web_clients *web_clients_open(const web_server *web);
/* No call may be running. */
void web_clients_close(struct web_clients *clients);

/* Takes a client; `waits`: for a call that may wait. NULL: all are in use, or Redis cannot be reached; *ret_status and
 * the words say which. */
reeve_client *web_clients_take(struct web_clients *clients, bool waits, reeve_status *ret_status, char *ret_words,
                               size_t size);
void web_clients_give(struct web_clients *clients, reeve_client *client, bool waits);

/* Interrupts all calls that wait, and refuses further ones: the server stops. */
void web_clients_interrupt(struct web_clients *clients);

/* The number of calls since the start. */
uint64_t web_clients_calls(struct web_clients *clients);

#endif
