/*
 * embedded.h - a private redis-server for a directory. All processes that name the directory share it, and the last
 * one stops it. Each process holds a shared lock on DIR/users.lock (flock: the kernel releases it when the process
 * is killed). A process that finds no server behind DIR/redis.sock starts one under an exclusive lock on
 * DIR/start.lock: with an append-only file, without a TCP port, in a session of its own, so that Ctrl-C in a
 * terminal does not reach it. A process that leaves and can make its lock exclusive was the last one, and stops the
 * server (SHUTDOWN); the tasks stay in DIR's append-only file.
 */
#ifndef RV_EMBEDDED_H
#define RV_EMBEDDED_H

#include "redis/url.h"

typedef struct rv_embedded rv_embedded;

/*
 * Joins (and starts, if need be) the server of url->path (NULL: $XDG_STATE_HOME/reeve, else $HOME/.local/state/reeve;
 * an error when neither is set); creates the directory (0700). On success *ret_socket is a unix URL with the same db,
 * owned by the caller. Blocks until the server answers or the deadline. REEVE_ESYSTEM (redis-server missing: the
 * message says what to install), REEVE_ETIMEOUT, REEVE_ENOMEM.
 */
reeve_status rv_embedded_join(rv_embedded **ret, const rv_url *url, rv_url *ret_socket, int64_t deadline,
                              rv_error *error);
/* Starts the server again if it is gone (killed); called before a reconnect. Blocks as join. */
reeve_status rv_embedded_revive(rv_embedded *embedded, int64_t deadline, rv_error *error);
void rv_embedded_forsake(rv_embedded *embedded); /* in a forked child: frees; its parent is the user */
void rv_embedded_leave(rv_embedded *embedded); /* NULL is fine; blocks until the server stopped, if this was the last */

#endif
