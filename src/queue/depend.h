/*
 * depend.h - the inside of edges between tasks (lib/links.lua): their letters.
 */
#ifndef RV_DEPEND_H
#define RV_DEPEND_H

#include "queue/client.h"
#include "reeve/depend.h"

extern const reeve_parent rv_parent_open;

/* The letter of a checked policy. */
char rv_policy_letter(reeve_on_parent_death policy);

/* Checks a parent of a task (id NULL: not known yet). */
reeve_status rv_check_parent(const reeve_parent *parent, const char *queue, const char *id, rv_error *error);

/* Not more parents than guards.parents, REEVE_PARENT_OPEN not counted. */
reeve_status rv_check_parent_count(const reeve_parent *parents, size_t count, const reeve_guards *guards,
                                   rv_error *error);

/* Whether any of them is in another queue. */
bool rv_parents_elsewhere(const reeve_parent *parents, size_t count, const char *queue);

#endif
