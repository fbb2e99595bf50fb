/*
 * enqueue_plan.h - what the calls of a pipeline carry.
 */
#ifndef RV_CLIENT_ENQUEUE_PLAN_H
#define RV_CLIENT_ENQUEUE_PLAN_H

#include "client/client_enqueue.h"

/* Fills the calls of the pipeline from the spec `next` on, as far as one pipeline carries; returns the first spec that
 * is left. Specs that are refused here have their status, and are part of no call. */
size_t rv_enqueue_plan_next(rv_enqueue_pipeline *p, size_t next, size_t count);

/* Notes that a spec failed. True when it is the first of the specs that did, and p->error is to have its words. */
bool rv_enqueue_plan_note_failure(rv_enqueue_pipeline *p, size_t index, reeve_status status);

#endif
