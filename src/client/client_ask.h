/*
 * client_ask.h - requests to running workers (reeve_ask_workers) that do not give up at a worker which does not listen.
 */
#ifndef RV_CLIENT_CLIENT_ASK_H
#define RV_CLIENT_CLIENT_ASK_H

#include "reeve/workers.h"

/*
 * reeve_ask_workers, but a worker that does not listen is asked again until the time is over: one that has just started
 * is in the list of workers before it has subscribed to its channel. A worker may get the request twice. There is at
 * least one worker.
 */
reeve_status rv_client_ask_insist(reeve_client *client, const char *const *workers, size_t count, const char *request,
                                  int64_t timeout_ms, reeve_answer *ret_answers);

#endif
