/*
 * reload.h - the configuration file read again while the worker runs.
 *
 * A file with errors, or with a plugin that cannot be loaded, is rejected as a whole. Else each setting that differs is logged (program.reload), and those that
 * can change while the worker runs are put in force; reload.c has the table of them. The others take effect at the next
 * start, and the log and the answer name them. Running tasks are not disturbed.
 */
#ifndef HOST_RELOAD_H
#define HOST_RELOAD_H

#include "plugins.h"
#include "servers.h"

typedef struct host_reload_result {
    bool done;       /* false: rejected, or not all of it could be put in force */
    bool accepted;   /* false: rejected, and nothing has changed */
    char text[1001]; /* for who asked: what has changed, or why it was rejected */
} host_reload_result;

/* What a reload changes. */
typedef struct host_reload_target {
    reeve_worker *worker;
    host_plugins *plugins; /* that the worker has */
    host_servers *servers; /* or NULL */
} host_reload_target;

/*
 * Reads config->file again, and loads the plugins whose files have changed (replacement.h). config is what is in force, before and after. Blocks for the file system and for locks of
 * the worker; does not wait for tasks. What the file says of queues and recurring entries is not written to Redis here.
 * The main thread's call.
 */
void host_reload(host_reload_result *ret, rv_config *config, const host_reload_target *target);

/* Adds something to the text. */
void host_reload_add(host_reload_result *result, const char *words);

/*
 * For a worker that is started anew after a crash: reads the file again and takes from it what a reload would put in
 * force. A file with errors is logged, and changes nothing.
 */
void host_reload_before_start(rv_config *config);

#endif
