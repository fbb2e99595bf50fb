/*
 * sentinel_watch.h - hears from Sentinel that another server has become the master (+switch-master), before a
 * connection to the old one notices.
 */
#ifndef RV_SENTINEL_WATCH_H
#define RV_SENTINEL_WATCH_H

#include "redis/dialog.h"
#include "redis/topology.h"

/* Whether there is anything to hear for this URL. */
bool rv_sentinel_watch_is_possible(const rv_url *url);

/*
 * Waits until a Sentinel announces another master or the deadline. Opens the dialog where it is closed: it asks for the
 * master then, and subscribes. After a long silence it closes the dialog, so that the next call asks again. *ret_moved:
 * the connections of the URL are to be opened anew (rv_topology_is_current). REEVE_OK, REEVE_ETIMEOUT,
 * REEVE_EINTERRUPTED, REEVE_ECONNECT, REEVE_ENOMEM; the dialog is one thread's.
 */
reeve_status rv_sentinel_watch(const rv_url *url, rv_dialog *dialog, const rv_topology_ask *ask, bool *ret_moved,
                               rv_error *error);

#endif
