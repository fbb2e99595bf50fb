/*
 * abandon.h - for a program that exits while handlers still run: the worker cannot be destroyed, and its embedded server
 * is not to stay behind.
 */
#ifndef RV_ABANDON_H
#define RV_ABANDON_H

#include "reeve/worker.h"

/* Leaves the embedded server, which ends when nobody else uses it. After reeve_worker_stop; nothing when there is none. */
void rv_worker_leave_embedded(reeve_worker *worker);

#endif
