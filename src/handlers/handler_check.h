/*
 * handler_check.h - what a handler can be.
 */
#ifndef RV_HANDLERS_HANDLER_CHECK_H
#define RV_HANDLERS_HANDLER_CHECK_H

#include "base/error.h"
#include "reeve/plugin.h"

/* The most tasks of one call of a handler that takes many. */
static inline unsigned rv_batch_handler_max(const reeve_handler *handler)
{
    return handler->batch_size == 0 ? REEVE_BATCH_SIZE_DEFAULT : handler->batch_size;
}

/* Checks that a handler has exactly one function to run, and valid limits. what: the beginning of the error message
 * ("type x"). REEVE_EINVAL. */
reeve_status rv_handler_check(const reeve_handler *handler, const char *what, rv_error *error);

#endif
