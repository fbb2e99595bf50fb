/*
 * cpu_list.h - lists of processors, as "0-3,8". Needs _GNU_SOURCE, as <sched.h> does for cpu_set_t.
 */
#ifndef RV_BASE_CPU_LIST_H
#define RV_BASE_CPU_LIST_H

#include <sched.h>
#include <stdbool.h>

/* False: the text is no such list, or a number is above CPU_SETSIZE - 1. */
bool rv_cpu_list_parse(const char *text, cpu_set_t *ret);

#endif
