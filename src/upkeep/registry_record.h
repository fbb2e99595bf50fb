/*
 * registry_record.h - the worker's entry in the registry, for people: who it is, what its threads run, how it fares.
 */
#ifndef RV_UPKEEP_REGISTRY_RECORD_H
#define RV_UPKEEP_REGISTRY_RECORD_H

#include "running/worker_state.h"

/* How many running tasks an entry tells of: those that have run longest. */
#define RV_ENTRY_TYPES 200
#define RV_ENTRY_RUNNING 64

/* Writes it anew, as JSON. The keeper. */
void rv_registry_record_write(rv_buf *json, reeve_worker *worker);

#endif
