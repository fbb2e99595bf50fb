#include "handlers/handler_check.h"

#include "protocol/task_policy.h"

reeve_status rv_handler_check(const reeve_handler *handler, const char *what, rv_error *error)
{
    if (handler->run == NULL && handler->run_batch == NULL)
        return rv_fail(error, REEVE_EINVAL, "%s has no function to run", what);
    if (handler->run != NULL && handler->run_batch != NULL)
        return rv_fail(error, REEVE_EINVAL, "%s has both run and run_batch: it can have one of them", what);
    if (handler->run_batch == NULL && (handler->batch_size != 0 || handler->batch_wait_ms != 0))
        return rv_fail(error, REEVE_EINVAL, "%s takes one task at a time: batch_size is for batch handlers (run_batch)",
                       what);
    if (handler->batch_size > REEVE_BATCH_SIZE_MAX)
        return rv_fail(error, REEVE_EINVAL, "%s: batch_size is %u: at most %d", what, handler->batch_size,
                       REEVE_BATCH_SIZE_MAX);
    rv_error why;
    if (rv_task_policy_check_attempts(handler->attempts, handler->max_crashes, &why) != REEVE_OK)
        return rv_fail(error, REEVE_EINVAL, "%s: %s", what, why.text);
    if (handler->batch_wait_ms < 0) return rv_fail(error, REEVE_EINVAL, "%s: batch_wait_ms is negative", what);
    return REEVE_OK;
}
