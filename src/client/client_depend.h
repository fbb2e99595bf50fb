/*
 * client_depend.h - the inside of edges between tasks (lib/dependency_edges.lua): their letters.
 */
#ifndef RV_CLIENT_CLIENT_DEPEND_H
#define RV_CLIENT_CLIENT_DEPEND_H

#include "client/client.h"
#include "reeve/depend.h"

extern const reeve_parent rv_parent_open;

/* An edge's policy and what holds for an unknown parent, as scripts take them (lib/dependency_register.lua); of a checked
 * parent. */
const char *rv_policy_word(const reeve_parent *parent);

/* Checks a parent of a task (id NULL: not known yet). */
reeve_status rv_check_parent(const reeve_parent *parent, const char *queue, const char *id, rv_error *error);

/* Not more parents than size_limits.parents, REEVE_PARENT_OPEN not counted. */
reeve_status rv_check_parent_count(const reeve_parent *parents, size_t count, const reeve_size_limits *size_limits,
                                   rv_error *error);

/* A parent in the task's queue is not known. Returns REEVE_ENOTFOUND. */
reeve_status rv_refuse_parent(rv_error *error, const char *queue, const char *id, const char *parent);

/* Whether any of them is in another queue. */
bool rv_parents_elsewhere(const reeve_parent *parents, size_t count, const char *queue);

#endif
