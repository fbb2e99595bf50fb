/*
 * embedded_launch.h - starts a redis-server in a directory, and reports why it ended.
 */
#ifndef RV_EMBEDDED_LAUNCH_H
#define RV_EMBEDDED_LAUNCH_H

#include "redis/embedded_dir.h"

/*
 * Starts a server that goes its own way (a session of its own, not our child). It keeps lock_fd open for as long as it
 * lives. Does not wait until it answers. The host's signal dispositions are not touched. REEVE_ESYSTEM, with words.
 */
reeve_status rv_embedded_launch(const rv_embedded_dir *dir, int lock_fd, rv_error *error);

/* The failure of a server that was launched and has ended: with the end of its log. */
reeve_status rv_embedded_launch_failed(const rv_embedded_dir *dir, rv_error *error);

#endif
