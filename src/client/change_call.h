/*
 * change_call.h - a call of a script that changes one task, whose id is its first argument, and its answer: "ok", or
 * why not.
 */
#ifndef RV_CLIENT_CHANGE_CALL_H
#define RV_CLIENT_CHANGE_CALL_H

#include "client/client.h"

typedef struct rv_change_call {
    rv_simple_call call;
    const char *verb;  /* for the words */
    const char *done;  /* the answer of a second call after a first whose reply was lost; or NULL */
    bool *ret_running; /* cancel: "running" is an answer, too */
    bool cascades;
} rv_change_call;

/* Calls the script. Tasks that are to hear of the change are informed before it returns, as far as that takes no long
 * time. */
reeve_status rv_change_call_run(reeve_client *client, const rv_change_call *what);

/* Whether a text may be the reason of a cancel. */
reeve_status rv_change_call_check_reason(reeve_client *client, const char *reason);

/* The status for the script's answer, for a caller that makes the call itself. again: an earlier try may have been
 * executed. */
reeve_status rv_change_call_answer(reeve_client *client, const rv_change_call *what, const rv_reply *reply, bool again);

#endif
