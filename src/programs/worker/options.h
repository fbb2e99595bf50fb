/*
 * options.h - the command line of reeve-worker.
 */
#ifndef HOST_OPTIONS_H
#define HOST_OPTIONS_H

#include <stdbool.h>

typedef enum host_action {
    HOST_RUN,
    HOST_CHECK,
    HOST_DUMP_PLUGIN,
    HOST_HEALTH,
    HOST_HELP_CONFIG,
    HOST_HELP_CONFIG_MARKDOWN,
    HOST_VERSION,
    HOST_HELP
} host_action;

typedef struct host_options {
    host_action action;
    const char *config; /* borrowed from argv, like all of these */
    const char *redis;  /* NULL: not given */
    const char *redis_file;
    const char *plugin;
    const char *health;
    bool json;
    bool diff;
    int supervise; /* 1: --supervise, -1: --no-supervise, 0: as configured */
} host_options;

/* Reads argv; false: it makes no sense, and standard error has the words. */
bool host_options_read(host_options *ret, int argc, char **argv);
void host_print_help(void);

#endif
