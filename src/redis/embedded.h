/*
 * embedded.h - a private redis-server for a directory, shared by all who name it, gone with the last of them.
 *
 * Every user holds a shared lock on DIR/users.lock while it lives (flock: the kernel drops it when a process is
 * killed). Whoever finds no server behind DIR/redis.sock starts one under an exclusive lock on DIR/start.lock:
 * append-only file on, no TCP port, in a session of its own so that Ctrl-C in a terminal does not reach it. Whoever
 * leaves and can turn its lock into an exclusive one was the last, and stops the server (SHUTDOWN); tasks stay in DIR's
 * append-only file.
 */
#ifndef RV_EMBEDDED_H
#define RV_EMBEDDED_H

#include "redis/url.h"

typedef struct rv_embedded rv_embedded;

/*
 * Joins (and starts, if need be) the server of url->path (NULL: $XDG_STATE_HOME/reeve, else
 * $HOME/.local/state/reeve; an error when neither is set); creates the directory (0700). On success *ret_socket is a unix URL with the same db, owned by the
 * caller. Blocks until the server answers or the deadline. REEVE_ESYSTEM (redis-server missing: the message says what
 * to install), REEVE_ETIMEOUT, REEVE_ENOMEM.
 */
reeve_status rv_embedded_join(rv_embedded **ret, const rv_url *url, rv_url *ret_socket, int64_t deadline,
                              rv_error *error);
/* Starts the server again if it is gone (killed); called before a reconnect. Blocks as join. */
reeve_status rv_embedded_revive(rv_embedded *embedded, int64_t deadline, rv_error *error);
void rv_embedded_forsake(rv_embedded *embedded); /* in a forked child: frees; its parent is the user */
void rv_embedded_leave(rv_embedded *embedded); /* NULL is fine; blocks until the server stopped, if this was the last */

#endif
