/*
 * pulled.h - the tasks that a consumer has leased: from an item of the batch to a reeve_task of the program, and back.
 * For the call that the gate has let through.
 */
#ifndef RV_CONSUMER_PULLED_H
#define RV_CONSUMER_PULLED_H

#include "consumer/consumer_state.h"

/*
 * Admits the tasks that the last turn leased: those that may run become tasks of the program, ret[0 .. max). Returns
 * how many. The others have an outcome, which the next turn settles.
 */
unsigned rv_pulled_admit(reeve_consumer *consumer, reeve_task **ret, unsigned max);

/* As rv_pulled_admit, for the task of that id in that queue of the pool alone. */
bool rv_pulled_admit_id(reeve_consumer *consumer, reeve_task **ret, size_t queue, const char *id);

/*
 * Notes the outcome that the program chose. REEVE_OK: it is to be sent, or was sent before without an answer.
 * REEVE_EREFUSED: the lease was lost; there is nothing to send. REEVE_EINVAL: the outcome is not that of the task.
 */
reeve_status rv_pulled_finish(rv_pulled *pulled, reeve_outcome outcome);

/* The program does not hold the task any more. It is freed, at once or when its item leaves the batch. */
void rv_pulled_release(rv_pulled *pulled);

/* Called for an item that leaves the batch (rv_batch.left). */
void rv_pulled_note_left(rv_item *item);

/* Whether outcomes wait to be sent. */
bool rv_pulled_any_finished(const reeve_consumer *consumer);

/* Before more tasks are leased: a task that is noted as running alone does so no more. */
void rv_pulled_note_company(reeve_consumer *consumer);

/* Frees all. */
void rv_pulled_free_all(reeve_consumer *consumer);

#endif
