#include "running/attempt_policy.h"

#include "base/backoff.h"
#include "base/id.h"
#include "protocol/json_parse.h"
#include "running/worker_state.h"

/* Sets a limit that no earlier source has set. */
static void add_limit(unsigned *limit, int more)
{
    if (*limit == 0 && more > 0) *limit = (unsigned)more;
}

static void add_time(int64_t *limit, int64_t more)
{
    if (*limit == 0 && more > 0) *limit = more;
}

static void add_policy(rv_attempt_policy *ret, const rv_task_policy *more)
{
    add_limit(&ret->attempts, more->attempts);
    add_limit(&ret->max_crashes, more->max_crashes);
    add_time(&ret->timeout_ms, more->timeout_ms);
    add_time(&ret->heartbeat_ms, more->heartbeat_ms);
    add_time(&ret->retry_for_ms, more->retry_for_ms);
    add_limit(&ret->max_snoozes, more->max_snoozes);
    if (ret->backoff == NULL && more->has_backoff) ret->backoff = &more->backoff;
}

static void add_handler(rv_attempt_policy *ret, const reeve_handler *more)
{
    add_limit(&ret->attempts, more->attempts);
    add_limit(&ret->max_crashes, more->max_crashes);
    add_time(&ret->timeout_ms, more->timeout_ms);
    add_time(&ret->heartbeat_ms, more->heartbeat_ms);
    add_time(&ret->retry_for_ms, more->retry_for_ms);
    add_limit(&ret->max_snoozes, more->max_snoozes);
    ret->once = ret->once || more->at_most_once;
    if (ret->backoff == NULL && rv_backoff_is_given(&more->backoff)) ret->backoff = &more->backoff;
}

bool rv_attempt_policy_read(rv_item *item, rv_queue_session *queue_session)
{
    const rv_envelope *envelope = &item->lease.envelope;
    if (!rv_queue_session_knows_policy(queue_session)) return false;
    if (envelope->plain || item->options != NULL) return true;
    return rv_json_parse_object(&item->options, envelope->header, envelope->header_length) != REEVE_ENOMEM;
}

/* Runs for every task: nothing is copied or locked for one that has no options in a queue without a policy. */
void rv_attempt_policy_choose(rv_attempt_policy *ret, const rv_item *item, const rv_handler *handler,
                              rv_queue_session *queue_session)
{
    const rv_envelope *envelope = &item->lease.envelope;
    ret->attempts = ret->max_crashes = ret->max_snoozes = 0;
    ret->timeout_ms = ret->heartbeat_ms = ret->retry_for_ms = ret->grace_ms = 0;
    ret->unique = ret->once = ret->records_runs = ret->keeps_record = false;
    ret->backoff = NULL;
    ret->bound_to = NULL;
    ret->malformed = envelope->malformed;
    if (!envelope->plain) {
        rv_task_policy_take(&ret->own, item->options);
        ret->unique = ret->own.unique;
        ret->once = ret->own.once;
        ret->keeps_record = ret->own.keep_ms > 0;
        if (ret->own.worker != NULL && strcmp(ret->own.worker, queue_session->worker) != 0)
            ret->bound_to = ret->own.worker;
        add_policy(ret, &ret->own);
        if (ret->malformed == NULL) ret->malformed = ret->own.malformed;
    }
    if (handler != NULL) add_handler(ret, &handler->handler);
    if (rv_queue_session_get_policy(queue_session, &ret->queue)) {
        add_policy(ret, &ret->queue);
        ret->records_runs = ret->queue.records_runs;
        ret->grace_ms = ret->queue.grace_ms;
    }
    add_limit(&ret->attempts, RV_MAX_ATTEMPTS);
    add_limit(&ret->max_crashes, RV_MAX_CRASHES);
}

int64_t rv_attempt_policy_now(const rv_attempt_policy *policy, const rv_lease *lease, const reeve_worker *worker)
{
    if (policy->retry_for_ms == 0) return 0;
    int64_t ahead_ms = atomic_load(&worker->scheduler.clock_ahead_ms), now_ms = rv_now_ms() + ahead_ms;
    return ahead_ms != 0 && now_ms > lease->since_ms ? now_ms : lease->since_ms;
}

static bool is_last(const rv_attempt_policy *policy, const rv_lease *lease, int64_t now_ms)
{
    if (lease->failures + 1 >= policy->attempts) return true;
    return policy->retry_for_ms > 0 && now_ms - lease->envelope.at_ms >= policy->retry_for_ms;
}

void rv_attempt_policy_decide_retry(const rv_attempt_policy *policy, const rv_lease *lease, rv_settlement *outcome,
                                    int64_t now_ms)
{
    if (is_last(policy, lease, now_ms)) {
        outcome->outcome = REEVE_OUTCOME_FAIL;
    } else {
        outcome->delay_ms =
            rv_backoff_choose(outcome->delay_ms, policy->backoff, lease->failures + 1, rv_random_unit());
    }
}

reeve_outcome rv_attempt_policy_limit_snoozes(const rv_attempt_policy *policy, const rv_lease *lease, reeve_task *task,
                                              reeve_outcome outcome, bool *counts)
{
    if (outcome != REEVE_OUTCOME_SNOOZE || task->delay_ms == 0 || policy->max_snoozes == 0) return outcome;
    if (lease->snoozes < policy->max_snoozes) return outcome;
    *counts = false;
    return rv_task_failed(task, REEVE_OUTCOME_FAIL, "snoozes", "snoozed %u times: at most %u (max_snoozes)",
                          lease->snoozes + 1, policy->max_snoozes);
}
