#include "handlers/handler_check.h"

#include "protocol/task_policy.h"

reeve_status rv_handler_check(const reeve_handler *handler, const char *what, rv_error *error)
{
    if (handler->run == NULL && handler->run_many == NULL)
        return rv_fail(error, REEVE_EINVAL, "%s has no function to run", what);
    if (handler->run != NULL && handler->run_many != NULL)
        return rv_fail(error, REEVE_EINVAL, "%s has both run and run_many: it can have one of them", what);
    if (handler->run_many == NULL && (handler->many != 0 || handler->many_wait_ms != 0))
        return rv_fail(error, REEVE_EINVAL, "%s takes one task at a time: many is for those with run_many", what);
    if (handler->many > REEVE_MANY_MAX)
        return rv_fail(error, REEVE_EINVAL, "%s is to take %u tasks in a call: at most %d", what, handler->many,
                       REEVE_MANY_MAX);
    rv_error why;
    if (rv_attempts_check(handler->max_attempts, handler->max_crashes, &why) != REEVE_OK)
        return rv_fail(error, REEVE_EINVAL, "%s: %s", what, why.text);
    if (handler->many_wait_ms < 0) return rv_fail(error, REEVE_EINVAL, "%s: the wait for many tasks is negative", what);
    return REEVE_OK;
}
