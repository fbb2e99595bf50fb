/*
 * plugin_count.h - the counters of plugins and handlers (reeve_plugin_count), as metrics and runners read them. They
 * are those of the process, and stay when a plugin is closed: a plugin that is loaded again counts on.
 */
#ifndef RV_HANDLERS_PLUGIN_COUNT_H
#define RV_HANDLERS_PLUGIN_COUNT_H

#include "reeve/plugin.h"

/* Its name and its help stay valid for the life of the process. */
typedef struct rv_plugin_counter {
    const char *name;
    const char *help;
    uint64_t value;
} rv_plugin_counter;

/* The number of counters, which only rises, and one of them. Any thread. */
size_t rv_plugin_count_number(void);
rv_plugin_counter rv_plugin_count_get(size_t index);

#endif
