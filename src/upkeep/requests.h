/*
 * requests.h - what people and programs ask of a running worker (reeve_ask_workers), and the worker's answers.
 *
 * A request is a message on the worker's own channel, `ask <id> <request>`. The answer is an element of the list
 * `answer:<id>` of the namespace, `<worker> ok <text>` or `<worker> refused <text>`; the list expires after a minute.
 * Who may publish to the channel may ask: the access lists of Redis decide. A message that is no request is logged, once
 * a minute, and ignored.
 */
#ifndef RV_UPKEEP_REQUESTS_H
#define RV_UPKEEP_REQUESTS_H

#include "running/worker_state.h"

/* Carries a request out, or passes it to the program. For the keeper. */
void rv_requests_hear(reeve_worker *worker, const char *message);

/* Any thread: the keeper sends the answer. */
reeve_status rv_requests_answer(reeve_worker *worker, const char *id, bool done, const char *text);

/* Whether answers wait to be sent. */
bool rv_requests_has_answers(reeve_worker *worker);

/* Sends them over the keeper's connection, which is open. */
void rv_requests_send(reeve_worker *worker, int64_t deadline);
void rv_requests_fini(reeve_worker *worker);

#endif
