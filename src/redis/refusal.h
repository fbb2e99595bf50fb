/*
 * refusal.h - what an error reply of Redis means for its caller: one place that knows the error codes.
 */
#ifndef RV_REFUSAL_H
#define RV_REFUSAL_H

#include "redis/reply.h"

typedef enum rv_refusal {
    RV_REFUSAL_NONE,   /* no error reply */
    RV_REFUSAL_NODE,   /* this node cannot carry it out, another one, or this one later, may: READONLY, MASTERDOWN,
                          LOADING, NOREPLICAS, CLUSTERDOWN, MISCONF, UNBLOCKED, NOAUTH. Nothing was done */
    RV_REFUSAL_BUSY,   /* the node is busy for a moment: BUSY, TRYAGAIN. Nothing was done */
    RV_REFUSAL_DENIED, /* the user may not do it (NOPERM, WRONGPASS): it does not pass by itself */
    RV_REFUSAL_OTHER
} rv_refusal;

rv_refusal rv_refusal_of(const rv_reply *reply);
/* The same for the text of an error reply. */
rv_refusal rv_refusal_of_text(const char *text);

/* Sending the same command again, after a pause, makes sense. */
bool rv_refusal_passes(rv_refusal refusal);

/* What a person can do about an error with this text: words that begin with a semicolon, or "". */
const char *rv_refusal_advice(const char *text);

#endif
