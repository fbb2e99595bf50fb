#include "protocol/enqueue_refusal.h"

#include <stdbool.h>
#include <string.h>

#define UNKNOWN "unknown "
#define LARGE "large "

reeve_status rv_enqueue_refusal_read(const char *text, const char **ret)
{
    bool orphan = strncmp(text, UNKNOWN, strlen(UNKNOWN)) == 0;
    bool large = strncmp(text, LARGE, strlen(LARGE)) == 0;
    *ret = text + (orphan ? strlen(UNKNOWN) : large ? strlen(LARGE) : 0);
    return orphan ? REEVE_ENOTFOUND : large ? REEVE_ETOOBIG : REEVE_EUNIQUE;
}

reeve_status rv_enqueue_refusal_explain_size(rv_error *error, const char *queue, const char *limit)
{
    return rv_fail(error, REEVE_ETOOBIG,
                   "queue %s: the payload is longer than the queue allows: at most %.20s bytes (payload_max of the "
                   "queue %s raises it)",
                   queue, limit, queue);
}
