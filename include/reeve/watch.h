/*
 * watch.h - what happens to tasks, as it happens: the events of a queue.
 *
 * A queue tells of nothing, and pays nothing, until events are kept (reeve_events_keep) or somebody watches it. From
 * then on every transition of its tasks is told: enqueued, scheduled (due_ms), blocked (it waits for others), unblocked
 * (it does not any more; due_ms, if its time is later), ready (its time has come, or its group may start it), parked,
 * leased, completed, retry (it failed and is tried again: delay_ms, kind, message), dead (kind, message), snoozed
 * (delay_ms), given_back, recovered (its worker died), cancelling (it runs, and is told to stop), cancelled, deleted,
 * retried (by hand), rescheduled (due_ms), priority. There may be more: pass over what you do not know. The record of
 * an ended task that is not kept any longer goes without a word.
 */
#ifndef REEVE_WATCH_H
#define REEVE_WATCH_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REEVE_EVENTS_MAX 1000000

/* Keeps about the last `count` events of a queue (at most REEVE_EVENTS_MAX; what happens to some tasks at once is one);
 * 0: none any more. In force at once. */
REEVE_API reeve_status reeve_events_keep(reeve_client *client, const char *queue, int64_t count);

/* *ret_kept: how many are to be kept, 0: only while somebody watches; *ret_count: how many there are. Either may be
 * NULL. */
REEVE_API reeve_status reeve_events_get(reeve_client *client, const char *queue, int64_t *ret_kept,
                                        uint64_t *ret_count);

#define REEVE_EVENT_PLACE_MAX 48

/* Strings are NULL, numbers -1, where there is nothing to tell. Valid until the next call on the watch. */
typedef struct reeve_event {
    char place[REEVE_EVENT_PLACE_MAX]; /* among the events of the queue, shared by what happened at once */
    int64_t at_ms;
    const char *what; /* "enqueued", ... */
    const char *id;
    const char *session; /* who did it: the session, and its worker's id */
    const char *worker;
    const char *kind;
    const char *message;
    int64_t delay_ms;
    int64_t due_ms;
    int priority; /* "priority": the new one; else 0 */
} reeve_event;

typedef struct reeve_watch_options {
    size_t size;       /* sizeof(reeve_watch_options), or 0 */
    const char *queue; /* required */
    const char *id;    /* only what happens to this task; NULL: to all */
    int64_t since_ms;  /* from this time on, as far as events were kept; 0: from now on */
    const char *after; /* instead: what comes behind this place; NULL: not said */
} reeve_watch_options;

typedef struct reeve_watch reeve_watch;

/*
 * Begins to watch: what happens after this call is told. While a watch is open, and for a minute after it was left
 * without being closed, its queue has events whether they are kept or not: what comes next is told every ten seconds,
 * when reeve_watch_next is called or waits. One that is called less often than once a minute may miss events, where
 * none are kept. On success *ret is owned by the caller until reeve_watch_close; the client must outlive it, and one
 * thread at a time may use the two. Uses a connection of its own. REEVE_EINVAL: a name or place is malformed; and what
 * any call may return.
 */
REEVE_API reeve_status reeve_watch_open(reeve_watch **ret, reeve_client *client, const reeve_watch_options *options);

/*
 * The next event; blocks until there is one or timeout_ms has passed (negative: no limit). REEVE_ETIMEOUT: none in
 * time. REEVE_EINTERRUPTED: reeve_client_interrupt. REEVE_ECONNECT, REEVE_ELOST: no Redis until timeout_ms had passed:
 * a lost connection is made again, and what happened meanwhile is told then. Any other failure is final.
 */
REEVE_API reeve_status reeve_watch_next(reeve_watch *watch, int64_t timeout_ms, const reeve_event **ret);

/* Frees; NULL is fine. */
REEVE_API void reeve_watch_close(reeve_watch *watch);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_watch_open_sized(reeve_watch **ret, reeve_client *client,
                                              const reeve_watch_options *options, size_t options_size);
#define reeve_watch_open(...) reeve_watch_open_sized(__VA_ARGS__, sizeof(reeve_watch_options))

#ifdef __cplusplus
}
#endif
#endif
