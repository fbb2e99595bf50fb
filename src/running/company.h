/*
 * company.h - those that one shared call of turn.lua serves (share.h): the thread that calls, and others that wait.
 */
#ifndef RV_RUNNING_COMPANY_H
#define RV_RUNNING_COMPANY_H

#include "protocol/turn_build.h"
#include "protocol/turn_reply.h"
#include "running/worker_state.h"

#define RV_COMPANY_QUEUES 16 /* in which one call settles */

typedef struct rv_company {
    rv_thread
        *first; /* the one that calls; the others are linked behind it by rv_shared_turn.next. NULL: it is alone */
    rv_turn_group groups[RV_COMPANY_QUEUES]; /* the outcomes of all */
    size_t group_count;
    rv_thread *takers[RV_SHARED_TASKS]; /* by place among the tasks that they want: for whom it is */
    unsigned want;
} rv_company;

/*
 * Takes those who wait into the turn of the thread that calls, which wants `want` tasks and has chosen its queues. The
 * company must not move until it was served or lost; what the turn points to stays valid until rv_share_end.
 */
void rv_company_take(rv_thread *thread, unsigned want, rv_company *ret);

/* If the thread is not alone, the turn becomes that of all of them. */
void rv_company_join(const rv_company *company, rv_turn *turn);

/* Sends the turn that was built, and reads the reply. */
reeve_status rv_company_call(rv_thread *thread, const rv_company *company, const rv_reply **ret);

/* The call succeeded: ends the share, and hands to each thread its part of the reply, before its memory is taken. The
 * caller's own part is in thread->shared as well; its role is RV_SHARE_SERVED or RV_SHARE_LOST. */
void rv_company_serve(rv_thread *thread, rv_company *company, const rv_turn_reply *reply);

/* It is not known what Redis did: ends the share, and each thread recovers by itself. */
void rv_company_lose(rv_thread *thread, rv_company *company);

#endif
