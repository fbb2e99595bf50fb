/*
 * attempt_policy.h - what holds for a task's attempts: its own options, else its handler's, else its queue's, else the
 * defaults.
 */
#ifndef RV_RUNNING_ATTEMPT_POLICY_H
#define RV_RUNNING_ATTEMPT_POLICY_H

#include "handlers/handler_table.h"
#include "protocol/envelope.h"
#include "protocol/settlement.h"
#include "running/batch.h"
#include "running/queue_session.h"

typedef struct rv_attempt_policy {
    unsigned attempts;
    unsigned max_crashes;
    unsigned max_snoozes; /* 0: no limit */
    bool records_runs;    /* the queue's */
    bool keeps_record;    /* its record has a retention of its own (keep_ms) */
    int64_t timeout_ms;   /* 0: none */
    int64_t heartbeat_ms; /* the same */
    int64_t retry_for_ms; /* the same; from the enqueue */
    int64_t grace_ms;     /* the queue's: how long it may go on after these limits; 0: not at all */
    bool unique;
    bool once;
    const char *bound_to;         /* another worker, which alone may run the task; or NULL */
    const char *malformed;        /* why the task is not to run; or NULL */
    const reeve_backoff *backoff; /* whose it is stays in place: the handler's or this struct's; NULL: the default */
    /* filled only when there is something to say */
    rv_task_policy own;
    rv_task_policy queue;
} rv_attempt_policy;

/*
 * Parses the options of a leased task, once: the item keeps them. False: for want of memory they, or those of its
 * queue, are not known, and the task may not run (rv_run_task_no_memory). The owner of the batch, before the item runs.
 */
bool rv_attempt_policy_read(rv_item *item, rv_queue_session *queue_session);

/*
 * What holds now for an item whose options were read; handler may be NULL. Does not allocate. ret must not be moved
 * while its backoff is used. The owner, or with the lock of the batch.
 */
void rv_attempt_policy_choose(rv_attempt_policy *ret, const rv_item *item, const rv_handler *handler,
                              rv_queue_session *queue_session);

/*
 * The one decision about another attempt: of an outcome that asks for it (REEVE_OUTCOME_RETRY) makes a death when that
 * was the last attempt, or when the task has been retried for as long as it may be; else sets the delay, unless the
 * handler chose one (delay_ms >= 0). now_ms: on Redis's clock; read only with retry_for_ms. A death by crashes is
 * decided in run_task.c before a task runs, and in lib/death.lua.
 */
void rv_attempt_policy_decide_retry(const rv_attempt_policy *policy, const rv_lease *lease, rv_settlement *outcome,
                                    int64_t now_ms);

/* The time on Redis's clock for that decision; 0 where it does not need it. A worker that does not know the clock yet
 * takes the time of the lease. */
int64_t rv_attempt_policy_now(const rv_attempt_policy *policy, const rv_lease *lease, const reeve_worker *worker);

/* A snooze of a task whose snoozes have reached their limit becomes a failure with kind "snoozes", and *counts false: it is
 * none of an attempt. Returns the outcome. */
reeve_outcome rv_attempt_policy_limit_snoozes(const rv_attempt_policy *policy, const rv_lease *lease, reeve_task *task,
                                              reeve_outcome outcome, bool *counts);

#endif
