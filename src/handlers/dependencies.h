/*
 * dependencies.h - what a task in the hands of a thread knows of its parents, and the tasks that it hands on.
 */
#ifndef RV_HANDLERS_DEPENDENCIES_H
#define RV_HANDLERS_DEPENDENCIES_H

#include "redis/reply.h"
#include "reeve/depend.h"

typedef struct rv_dependencies rv_dependencies;

void rv_dependencies_free(rv_dependencies *dependencies); /* NULL is fine */

/* The tasks handed on, as rv_settlement_chain has them; kin may be NULL. */
reeve_bytes rv_dependencies_chained(const rv_dependencies *dependencies, size_t *ret_count);

/* Copies a text into memory of the task, where it stays until the next call. */
reeve_status rv_dependencies_keep_result(reeve_task *task, const rv_reply *text, reeve_bytes *ret);

#endif
