/*
 * lookup.h - the addresses of a host, with a deadline. getaddrinfo(3) knows none and may take as long as the system's
 * resolver is patient, so a name is looked up by a thread that lives for that long; who waits for it may give up
 * earlier. An address in figures needs no thread.
 */
#ifndef RV_LOOKUP_H
#define RV_LOOKUP_H

#include <netdb.h>

#include "base/clock.h"
#include "base/error.h"
#include "redis/waker.h"

typedef struct rv_lookup rv_lookup;

/*
 * Waits until the host's addresses are known, and hands them out until they are released. Who asks for a name that is
 * being looked up waits for that answer: a resolver that hangs costs one thread for each name. waker and quit may be
 * NULL: the first, rung, is REEVE_EINTERRUPTED, the second is as if the deadline had passed. REEVE_ECONNECT with the
 * reason alone as words, REEVE_ENOMEM.
 */
reeve_status rv_lookup_host(rv_lookup **ret, const char *host, int port, int64_t deadline, const rv_waker *waker,
                            const rv_waker *quit, rv_error *error);
/* At least one. */
const struct addrinfo *rv_lookup_addresses(const rv_lookup *lookup);
void rv_lookup_release(rv_lookup *lookup); /* NULL is fine */

#endif
