/*
 * enqueue_refusal.h - the texts by which enqueue.lua refuses a task.
 */
#ifndef RV_PROTOCOL_ENQUEUE_REFUSAL_H
#define RV_PROTOCOL_ENQUEUE_REFUSAL_H

#include "base/error.h"

/*
 * Reads such a text. *ret is the part of it that tells more, and lives as long as the text:
 *   REEVE_EUNIQUE    the id of the task that holds the unique key
 *   REEVE_ENOTFOUND  the id of the parent that does not exist
 *   REEVE_ETOOBIG    the limit of the queue that the payload exceeds (payload_max), in bytes
 */
reeve_status rv_enqueue_refusal_read(const char *text, const char **ret);

/* The message for REEVE_ETOOBIG, which it returns. */
reeve_status rv_enqueue_refusal_explain_size(rv_error *error, const char *queue, const char *limit);

#endif
