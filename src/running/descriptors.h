/*
 * descriptors.h - a handler may close all descriptors of its process (closefrom, a daemonising library). The worker's
 * own are gone then, and their numbers stand for something else before long.
 */
#ifndef RV_RUNNING_DESCRIPTORS_H
#define RV_RUNNING_DESCRIPTORS_H

#include "running/worker_state.h"

/* After code of a handler: logs, once, that it closed descriptors of the worker, such as this one, and tells the
 * program. */
void rv_descriptors_check(reeve_worker *worker, const rv_waker *waker);

#endif
