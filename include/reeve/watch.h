/*
 * watch.h - the events of a queue: follow what happens to its tasks.
 *
 * A queue makes events, at some cost, only while it keeps them (reeve_events_keep) or while a program watches it.
 * There is then an event for every transition of a task:
 *
 *     enqueued, scheduled (due_ms), ready, parked, leased, completed
 *     retry          it failed and is retried after delay_ms (kind, message)
 *     dead           (kind, message)
 *     snoozed        (delay_ms)
 *     given_back     its handler or its worker returned it to the queue
 *     recovered      its worker died, and it returned to the queue
 *     blocked        it waits for parents
 *     unblocked      it waits for parents no longer (due_ms, if its time is later)
 *     cancelling     it is running, and was asked to stop
 *     cancelled, deleted
 *     retried        by hand
 *     rescheduled    (due_ms)
 *     priority       (priority)
 *
 * Later versions may add events: ignore unknown ones. There is no event when a record is deleted because of the
 * retention.
 */
#ifndef REEVE_WATCH_H
#define REEVE_WATCH_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REEVE_EVENTS_MAX 1000000

/* Sets how many events a queue keeps: about the last `count`, at most REEVE_EVENTS_MAX; 0: none. What happens to
 * several tasks in one step counts as one event. In force at once. */
REEVE_API reeve_status reeve_events_keep(reeve_client *client, const char *queue, int64_t count);

/* Gets how many events a queue keeps (0: none, but for watching programs), and how many there are. Either pointer may
 * be NULL. */
REEVE_API reeve_status reeve_events_get(reeve_client *client, const char *queue, int64_t *ret_kept,
                                        uint64_t *ret_count);

#define REEVE_EVENT_PLACE_MAX 48

/* An event. Where a field does not apply, a string is NULL and a number is -1. Valid until the next call on the
 * watch. */
typedef struct reeve_event {
    char place[REEVE_EVENT_PLACE_MAX]; /* position among the queue's events, the same for all tasks of one step */
    int64_t at_ms;
    const char *what; /* "enqueued", ... */
    const char *id;
    const char *session; /* the session that acted, and the id of its worker */
    const char *worker;
    const char *kind;
    const char *message;
    int64_t delay_ms;
    int64_t due_ms;
    int priority; /* event "priority": the new priority; else 0 */
} reeve_event;

typedef struct reeve_watch_options {
    size_t size;       /* sizeof(reeve_watch_options), or 0 */
    const char *queue; /* required */
    const char *id;    /* only events of this task; NULL: of all */
    int64_t since_ms;  /* start with kept events from this time on; 0: with events from now on */
    const char *after; /* start behind this place, in place of since_ms; NULL: not set */
} reeve_watch_options;

typedef struct reeve_watch reeve_watch;

/*
 * Starts to watch a queue: all events after this call will be returned. While a watch is open, its queue makes events
 * even if it keeps none; reeve_watch_next renews that every ten seconds. It ends a minute after the last renewal, so
 * a program that calls reeve_watch_next less often than once a minute can miss events. On success the caller owns
 * *ret and closes it with reeve_watch_close. The client must outlive it, and one thread at a time may use the two.
 * The watch has a connection of its own. On a replica it returns the events of a queue that keeps them; of any other
 * queue it fails with REEVE_EREDIS (READONLY). REEVE_EINVAL: a name or a place is not valid; and the errors of every call.
 */
REEVE_API reeve_status reeve_watch_open(reeve_watch **ret, reeve_client *client, const reeve_watch_options *options);

/*
 * Gets the next event; blocks until there is one, or timeout_ms has passed; negative: no limit.
 *
 *   REEVE_ETIMEOUT                no event within timeout_ms
 *   REEVE_EINTERRUPTED            reeve_client_interrupt was called
 *   REEVE_ECONNECT, REEVE_ELOST   no connection to Redis within timeout_ms. A later call reconnects, and returns the
 *                                 events that were missed as far as Redis still has them
 *
 * Any other failure is final.
 */
REEVE_API reeve_status reeve_watch_next(reeve_watch *watch, int64_t timeout_ms, const reeve_event **ret);

/* Ends the watch and frees it; NULL is ignored. */
REEVE_API void reeve_watch_close(reeve_watch *watch);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_watch_open_sized(reeve_watch **ret, reeve_client *client,
                                              const reeve_watch_options *options, size_t options_size);
#define reeve_watch_open(...) reeve_watch_open_sized(__VA_ARGS__, sizeof(reeve_watch_options))

#ifdef __cplusplus
}
#endif
#endif
