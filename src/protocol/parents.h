/*
 * parents.h - the parents of a task, as scripts take them (lib/dependency_register.lua): checks and letters.
 */
#ifndef RV_PROTOCOL_PARENTS_H
#define RV_PROTOCOL_PARENTS_H

#include "protocol/keys.h"
#include "protocol/size_limits.h"
#include "reeve/depend.h"

extern const reeve_parent rv_parents_open;

/* The signal for which a task of one worker alone waits, with the id of the worker behind it (reeve_broadcast). */
#define RV_PARENTS_WORKER "!worker."

/* An edge's policy and what holds for an unknown parent, as scripts take them (lib/dependency_register.lua); of a
 * checked parent. */
const char *rv_parents_policy(const reeve_parent *parent);

/* Checks a parent of a task (id NULL: not known yet). */
reeve_status rv_parents_check(const reeve_parent *parent, const char *queue, const char *id, rv_error *error);

/* The same of a handle alone. */
reeve_status rv_parents_check_handle(const char *handle, const char *queue, const char *id, rv_error *error);

/* The name of the signal for which the parent "!name" stands, or NULL. */
const char *rv_parents_signal(const char *handle);
reeve_status rv_parents_check_signal(const char *name, rv_error *error);

/* Not more parents than size_limits.parents, REEVE_PARENT_OPEN and signals not counted. */
reeve_status rv_parents_check_count(const reeve_parent *parents, size_t count, const reeve_size_limits *size_limits,
                                    rv_error *error);

/* The error of too many parents (rv_size_limits_refuse). */
reeve_status rv_parents_refuse_count(const reeve_size_limits *size_limits, size_t count, rv_error *error);

/* A parent in the task's queue is not known. Returns REEVE_ENOTFOUND. */
reeve_status rv_parents_refuse(rv_error *error, const char *queue, const char *id, const char *parent);

/* Whether any of them is in another queue. */
bool rv_parents_are_elsewhere(const reeve_parent *parents, size_t count, const char *queue);

#endif
