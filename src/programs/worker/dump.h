/*
 * dump.h - a plugin described for people, or as JSON.
 */
#ifndef HOST_DUMP_H
#define HOST_DUMP_H

#include <stdbool.h>

/* Prints to standard output. The exit status: 0, 1 (cannot be printed), 2 (no plugin: standard error says why). */
int host_dump_plugin(const char *name, bool json);

#endif
