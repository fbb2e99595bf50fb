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

/* Takes a client for a short call. NULL: all are in use, or Redis cannot be reached; *ret_status and the words say which. */
reeve_client *web_clients_take(struct web_clients *clients, reeve_status *ret_status, char *ret_words, size_t size);

/* The same for a call that may wait. A user has half of these clients at most, so that others can wait, too; NULL: it is for
 * nobody in particular. */
reeve_client *web_clients_take_waiting(struct web_clients *clients, const char *user, reeve_status *ret_status,
                                       char *ret_words, size_t size);

/* Gives back either. */
void web_clients_give(struct web_clients *clients, reeve_client *client);

/* Interrupts all calls that wait, and refuses further ones: the server stops. */
void web_clients_interrupt(struct web_clients *clients);

/* The number of calls since the start. */
uint64_t web_clients_calls(struct web_clients *clients);

#endif
