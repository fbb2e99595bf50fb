/*
 * waiting.h - the parents for which a handler lets its task wait (reeve_task_wait_for).
 */
#ifndef RV_HANDLERS_WAITING_H
#define RV_HANDLERS_WAITING_H

#include "handlers/task.h"

/* The outcome is a snooze, and the parents stand in place of a result: "<handle> <rule> <handle> <rule> ...", as block.lua has it.
 * data NULL, length 0: the task waits for none. */
reeve_bytes rv_waiting_parents(const reeve_task *task);

/* Lets the task wait for parents in that form, which another process has made. False: they are not in that form. */
bool rv_waiting_take(reeve_task *task, reeve_bytes parents);

#endif
