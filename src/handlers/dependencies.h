/*
 * dependencies.h - what a task in the hands of a thread knows of its parents, and the tasks that it hands on.
 */
#ifndef RV_HANDLERS_DEPENDENCIES_H
#define RV_HANDLERS_DEPENDENCIES_H

#include "base/buf.h"
#include "redis/reply.h"
#include "reeve/depend.h"

typedef struct rv_dependencies rv_dependencies;

void rv_dependencies_free(rv_dependencies *dependencies); /* NULL is fine */

/* The tasks handed on, as rv_settlement_chain has them; kin may be NULL. */
reeve_bytes rv_dependencies_chained(const rv_dependencies *dependencies, size_t *ret_count);

/* Whether one of them has a unique key. */
bool rv_dependencies_chains_unique(const rv_dependencies *dependencies);

/* Takes over tasks that the handler has chained in another process. False: they are not as rv_settlement_chain has them, or
 * there is no memory. */
bool rv_dependencies_take_chained(reeve_task *task, reeve_bytes chained, size_t count);

/* Copies a text into memory of the task, where it stays until the next call. */
reeve_status rv_dependencies_keep_result(reeve_task *task, const rv_reply *text, reeve_bytes *ret);

/* Gets a text from the host of a task (rv_task_host.text), which stays until the next call. ret->data stays as it is when
 * there is none. */
reeve_status rv_dependencies_get_text(reeve_task *task, bool is_signal, const char *name, reeve_bytes *ret);

/* Adds a parent to a list that the host of a task fetches: its handle, and how it ended, as reeve_task_parents has it. The
 * list is a text for each, and a zero byte. */
void rv_dependencies_list_parent(rv_buf *list, const char *handle, const char *ended);

#endif
