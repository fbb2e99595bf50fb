/*
 * sentinel_ask.h - what is said to one Sentinel: user and password, and the question for the master.
 */
#ifndef RV_SENTINEL_ASK_H
#define RV_SENTINEL_ASK_H

#include "redis/command.h"
#include "redis/dialog.h"
#include "redis/url.h"

/* How an attempt ended, the least telling first. */
typedef enum rv_sentinel_outcome {
    RV_SENTINEL_UNREACHED, /* no connection, or no answer in time */
    RV_SENTINEL_UNKNOWN,   /* it does not know the name */
    RV_SENTINEL_REFUSED,   /* it answered with an error */
    RV_SENTINEL_ANSWERED
} rv_sentinel_outcome;

/* Called with the reply to SENTINEL SENTINELS: an array, or an error. */
typedef void (*rv_sentinel_on_others)(const rv_reply *others, void *context);

typedef struct rv_sentinel_question {
    const rv_url *url;
    rv_address at;         /* of the Sentinel */
    int64_t deadline;      /* monotonic ms */
    const rv_waker *waker; /* may be NULL */
    rv_sentinel_on_others on_others;
    void *context;
    /* the answer */
    char host[RV_HOST_SIZE];
    int port;
} rv_sentinel_question;

/* Adds AUTH, where the URL has a password for Sentinels; returns how many replies that has. */
size_t rv_sentinel_ask_add_auth(rv_commands *commands, const rv_url *url);
/* Whether the reply to AUTH, or to what followed it, is an error; *error has it then, without a password. */
bool rv_sentinel_ask_refused(const rv_reply *reply, rv_error *error);

/* Asks one Sentinel on a dialog that is not open, and leaves it open after an answer. *error: why there is no answer
 * (REEVE_ECONNECT), REEVE_EINTERRUPTED, REEVE_ENOMEM. */
rv_sentinel_outcome rv_sentinel_ask(rv_dialog *dialog, rv_sentinel_question *question, rv_error *error);

#endif
