/*
 * isolated_death.h - what the death of a runner means for the tasks of its call. For the thread of the runner.
 */
#ifndef RV_RUNNING_ISOLATED_DEATH_H
#define RV_RUNNING_ISOLATED_DEATH_H

#include "running/isolated_state.h"

/* Waits for the end of the process, and notes in the call how it died. call->crash is to be unmapped afterwards. */
void rv_isolated_death_reap(rv_isolated_call *call);

/* Gives the tasks of the call their outcomes: the one task has crashed; several run again, one by one; tasks that were asked
 * to stop go back. */
void rv_isolated_death_take(rv_isolated_call *call, const rv_handler *handler);

#endif
