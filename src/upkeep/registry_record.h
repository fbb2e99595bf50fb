/*
 * registry_record.h - the worker's record in the registry, for `reeve workers`: its identity, its running tasks, its
 * counters.
 */
#ifndef RV_UPKEEP_REGISTRY_RECORD_H
#define RV_UPKEEP_REGISTRY_RECORD_H

#include "running/worker_state.h"

/* The maximum number of types and of running tasks in a record; those tasks that have run longest. */
#define RV_REGISTRY_RECORD_TYPES 200
#define RV_REGISTRY_RECORD_RUNNING 64
#define RV_REGISTRY_RECORD_PLUGINS 64

/* Replaces the buffer by the record, as JSON. The heartbeat thread. */
void rv_registry_record_write(rv_buf *json, reeve_worker *worker);

#endif
