/*
 * after.h - a task to wait for, on the command line and in bulk lines: "queue/id", or "queue/id:rule"; or a signal,
 * "!name". Any thread.
 */
#ifndef CLI_AFTER_H
#define CLI_AFTER_H

#include <stdbool.h>

#include "reeve/client.h"

#define CLI_AFTER_NAMES "fail, go, wait or death, and known-or-gone"

/* Cuts rules off in place: one for the death of that task, and `known-or-gone`, in any order. What is no rule
 * belongs to the id, unless it looks like a rule that was mistyped (an id that ends so takes a rule behind it).
 * False: no handle, or such a rule. The handle points into text. */
bool cli_after_parse(char *text, reeve_parent *ret);

#endif
