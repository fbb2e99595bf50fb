/*
 * lease_token.h - the token of a lease: which session holds it, since when, and for which thread.
 *
 *     <session>.<since ms>.<thread>        0123456789abcdef-01234567.1700000000000.1
 */
#ifndef RV_CONSUMER_LEASE_TOKEN_H
#define RV_CONSUMER_LEASE_TOKEN_H

#include <stdbool.h>

#include "base/id.h"
#include "reeve/consumer.h"

typedef struct rv_lease_token {
    char session[RV_SESSION_LENGTH + 1];
    char lease[40]; /* as turn.lua has it: "<since ms> <thread>" */
    int64_t since_ms;
    char thread[12];
} rv_lease_token;

void rv_lease_token_write(char ret[REEVE_TOKEN_MAX], const char *session, int64_t since_ms, const char *thread);

/* False: it is none. */
bool rv_lease_token_read(rv_lease_token *ret, const char *text);

#endif
