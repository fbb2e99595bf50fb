/*
 * changes.h - what writing a configuration's settings of a queue changes in Redis: told in the log, with the old and
 * the new value, for somebody may have set the old one by hand, or another worker by its own configuration.
 */
#ifndef HOST_CHANGES_H
#define HOST_CHANGES_H

#include "config/config.h"

/* The settings of a queue as they are in Redis. */
typedef struct host_changes {
    char *value[RV_QUEUE_FIELDS]; /* NULL: not set */
    char *configured;             /* whose configuration was written last, see docs/protocol.md; NULL: none was */
} host_changes;

/* Reads them in one round trip; host_changes_fini frees them, also after a failure. */
reeve_status host_changes_read(host_changes *ret, reeve_client *client, const char *queue);
void host_changes_fini(host_changes *changes);

/* Logs each one that differs: program.setting. Returns how many do. */
size_t host_changes_log(const char *queue, const host_changes *before, const host_changes *after);

/*
 * Notes that this process has written this configuration. When another one was written before, by a worker that is
 * still alive, the log warns (program.conflict): the last one to start wins. Failures are left alone.
 */
void host_changes_queue_session(reeve_client *client, const rv_config_queue *queue, const host_changes *before);

#endif
