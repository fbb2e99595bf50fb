/*
 * failure_log.h - the log messages about failed tasks.
 */
#ifndef RV_RUNNING_FAILURE_LOG_H
#define RV_RUNNING_FAILURE_LOG_H

#include "protocol/lease.h"
#include "protocol/settlement.h"

/* Logs a failure as task.retry or task.dead; nothing for other outcomes. */
void rv_failure_log(const char *queue, const rv_lease *lease, const rv_settlement *outcome);

#endif
