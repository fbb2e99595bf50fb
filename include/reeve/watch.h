/*
 * watch.h - the events of a queue: follow what happens to its tasks.
 *
 * An event records a change of a task's state. A queue records events, at some cost, only if it keeps events
 * (reeve_events_keep) or while a program watches it. These are the events, with the fields that they set:
 *
 *     enqueued, scheduled (due_ms), ready, parked, leased, completed
 *     retry          an attempt failed, and another one follows after delay_ms (kind, message)
 *     dead           (kind, message)
 *     snoozed        (delay_ms)
 *     given_back     its handler or its worker returned the task to the queue
 *     breaker_opened an attempt of the task failed, and opened the circuit breaker of its queue, or of the group
 *                    `message`, until due_ms (reeve_breaker)
 *     breaker_closed while the breaker was open, this task was started as a test, and completed: the breaker closed
 *                    (message: the group)
 *     lease_expired  its lease was ended by hand (change.h)
 *     recovered      its worker died or lost its session, and the task returned to the queue
 *     blocked        the task waits for parents
 *     unblocked      its last parent ended or was removed (due_ms, if its time is later)
 *     cancelling     the task is running, and its handler was asked to stop
 *     cancelled      (message: the reason)
 *     discarded      its handler ended it, and no record is kept
 *     deleted
 *     edited         its options, payload, tags or metadata were changed (change.h)
 *     moved          it was moved to another queue (change.h); `deleted` follows
 *     retried        a call of reeve_retry or the like made the task ready
 *     rescheduled    (due_ms)
 *     priority       (priority)
 *     progress       a running task reported progress (percent, message)
 *     logged         a running task wrote a line to its log (message)
 *     stuck          its attempt ended because of its run time limit, and its handler does not return (message: for how
 *                    long it has run)
 *     refused        a new task was refused, because this task holds its unique key (message: the key)
 *
 * And these are events of the queue itself, with no task (id NULL):
 *
 *     paused         the queue, or its group `message`, was paused by hand (due_ms: the end of the pause, if one was
 *                    given)
 *     resumed        a pause was ended by hand (message: the group)
 *     limits         limits were changed; message: their names and values
 *     settings       settings were changed; message: their names and values, as docs/protocol.md lists them
 *
 * Redis does not know who changed a queue, so these events name no worker.
 *
 * Later versions may add events, so ignore unknown ones. There is no event when a record is deleted because of the
 * retention.
 */
#ifndef REEVE_WATCH_H
#define REEVE_WATCH_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REEVE_EVENTS_MAX 1000000

/* Sets how many events a queue keeps: about the last `count`, at most REEVE_EVENTS_MAX; 0: none. If one step changes
 * several tasks, this counts as one event. The change is in force at once. In a queue with partitions, each partition
 * keeps this number. */
REEVE_API reeve_status reeve_events_keep(reeve_client *client, const char *queue, int64_t count);

/* Gets how many events a queue is set to keep (0: none, unless a program watches it), and how many it has now. Either
 * pointer may be NULL. */
REEVE_API reeve_status reeve_events_get(reeve_client *client, const char *queue, int64_t *ret_kept,
                                        uint64_t *ret_count);

#define REEVE_EVENT_PLACE_MAX 48

/* An event. If a field does not apply, a string is NULL and a number is -1. Valid until the next call on the watch. */
typedef struct reeve_event {
    char place[REEVE_EVENT_PLACE_MAX]; /* position among the queue's events; equal for tasks that one step changed */
    int64_t at_ms;
    const char *what;    /* "enqueued", ... */
    const char *id;      /* NULL: an event of the queue */
    const char *session; /* the session whose worker made the change */
    const char *worker;  /* the id of that worker */
    const char *kind;
    const char *message;
    int64_t delay_ms;
    int64_t due_ms;
    int priority; /* event "priority": the new priority; else 0 */
    int percent;  /* event "progress": 0 to 100 */
} reeve_event;

/* What to watch. Zero selects the default of each field. */
typedef struct reeve_watch_options {
    size_t size;       /* sizeof(reeve_watch_options), or 0 */
    const char *queue; /* required */
    const char *id;    /* only events of this task; NULL: of all tasks */
    int64_t since_ms;  /* start with the kept events from this time on; 0: only events from now on */
    /* Start after the event with this `place`; NULL: since_ms applies. In a queue with partitions, other events of the
     * same millisecond may be returned again. */
    const char *after;
} reeve_watch_options;

/* An open watch of a queue. reeve_watch_open returns it, reeve_watch_close closes it. */
typedef struct reeve_watch reeve_watch;

/*
 * Starts to watch a queue: reeve_watch_next returns all events after this call. While a watch is open, its queue
 * records events, even if it keeps none. reeve_watch_next renews the watch every ten seconds. The queue stops recording
 * a minute after the last renewal, so a program that calls reeve_watch_next less often than once a minute can miss
 * events. On success the caller owns *ret and closes it with reeve_watch_close. The client must outlive the watch. Only
 * one thread at a time may use the client and the watch. The watch has a connection of its own. On a replica, a watch
 * works only for queues that keep events; for other queues it fails with REEVE_EREDIS (READONLY). REEVE_EINVAL: a name
 * or a place is not valid; and the errors of every call (client.h).
 */
REEVE_API reeve_status reeve_watch_open(reeve_watch **ret, reeve_client *client, const reeve_watch_options *options);

/*
 * Gets the next event. Blocks until there is one, or timeout_ms has passed; a negative timeout_ms is no limit.
 *
 *   REEVE_ETIMEOUT                no event within timeout_ms
 *   REEVE_EINTERRUPTED            reeve_client_interrupt was called
 *   REEVE_ECONNECT, REEVE_ELOST   no connection to Redis within timeout_ms. A later call reconnects, and returns the
 *                                 events that were missed as far as Redis still has them
 *
 * After any other failure, the watch returns no more events: close it.
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
