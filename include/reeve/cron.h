/*
 * cron.h - tasks that recur.
 *
 * An entry lives with the queue of its tasks, under a name, which is that of one entry in the namespace. Its times, the
 * slots, are given by a spec:
 *
 *     "0 3 * * *"               five fields: minute hour day month weekday
 *     "0,30 * * * * mon-fri"    six fields: second minute hour day month weekday
 *     "@hourly"                 also @minutely @daily @midnight @weekly @monthly @yearly @annually
 *     "every 90s"               an interval of at least 100 ms; its slots are its multiples since the epoch
 *
 * A field is a star, a number, a range ("1-5"), a step (every fifth: a star, then "/5"), or a list of these, separated
 * by commas. Months and weekdays also have names ("jan", "mon").
 *
 * When both day and weekday are restricted, a day that fits either is meant. In the local zone, a time that a clock
 * change skips is made up for right after it, and one that it repeats counts once; an entry for every hour runs each
 * real hour.
 *
 * Any number of workers that serve the queue fire a slot exactly once: the id of its task is cron:<name>:<slot in ms
 * since the epoch>, and the entry moves on to its next slot in the same step. Entries fire only while a worker serves
 * their queue.
 *
 * Calls block for one or two round trips, or as many as they say, and are for one thread at a time, as all of client.h.
 */
#ifndef REEVE_CRON_H
#define REEVE_CRON_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REEVE_CRON_NAME_MAX 64 /* an entry's name: the characters of a queue's */
#define REEVE_CRON_CATCH_UP_MAX 1000
#define REEVE_CRON_PAYLOAD_MAX (64u * 1024)

/* What is done about slots that passed while no worker was there: that is, once one is more than 2 s late. */
typedef enum reeve_catch_up {
    REEVE_CATCH_UP_ONCE = 0, /* one task, for the last of all that are due */
    REEVE_CATCH_UP_SKIP = 1, /* nothing; only those that are less late are made up for */
    REEVE_CATCH_UP_ALL = 2   /* a task for each, for the last catch_up_most of them */
} reeve_catch_up;

typedef struct reeve_cron_entry {
    size_t size;      /* sizeof(reeve_cron_entry), or 0 */
    const char *name; /* required */
    const char *spec; /* required */
    bool local;       /* the workers' local zone; else UTC */
    reeve_catch_up catch_up;
    unsigned catch_up_most;      /* with REEVE_CATCH_UP_ALL: 1 to REEVE_CRON_CATCH_UP_MAX; 0: 100 */
    bool no_overlap;             /* no new task while the last one waits or runs; with it, ALL means ONCE */
    const reeve_task_spec *task; /* required: queue, type, payload (at most REEVE_CRON_PAYLOAD_MAX) and options; no id,
                                  * time, unique key or parents */
} reeve_cron_entry;

/* Checks an entry without Redis; ret_error, when not NULL, receives the words. Any thread. REEVE_EINVAL, REEVE_ETOOBIG.
 */
REEVE_API reeve_status reeve_cron_check(const reeve_cron_entry *entry, char *ret_error, size_t size);

/*
 * Adds an entry, or puts it in place of the one of that name, with everything that it says: to change a part of one, see
 * reeve_cron_get. One that is the same stays as it is, with its time; a changed one is due at its next slot from now, or
 * stays paused. *ret_changed, when not NULL: whether anything changed.
 *
 * An entry of that name in another queue is moved: it is set in the task's queue and removed in the other one. Tasks that it
 * made stay where they are. A slot in that very moment may be made in both queues, and no_overlap does not look at the last
 * task in the other one. reeve_cron_set_tell tells the queue that it was moved from: ret_from, when not NULL, has room for
 * REEVE_QUEUE_MAX + 1 bytes, and has "" when it was in no other queue. Blocks for 2 to 5 round trips.
 */
REEVE_API reeve_status reeve_cron_set(reeve_client *client, const reeve_cron_entry *entry, bool *ret_changed);
REEVE_API reeve_status reeve_cron_set_tell(reeve_client *client, const reeve_cron_entry *entry, bool *ret_changed,
                                           char *ret_from);

/*
 * An entry as it was set. To change a part of it: copy *ret and its task, change the copies, set them, and free *ret.
 * queue NULL: the queue that the entry of this name is in. *ret, with all that it points to, is owned by the caller:
 * reeve_cron_entry_free (NULL is fine). REEVE_ENOTFOUND: no such entry. REEVE_EPROTO: another program has written it, and
 * this one does not understand it.
 */
REEVE_API reeve_status reeve_cron_get(reeve_client *client, const char *queue, const char *name,
                                      reeve_cron_entry **ret);
REEVE_API void reeve_cron_entry_free(reeve_cron_entry *entry);

/* remove: tasks that it made stay. pause: it fires no more, until resume; slots in between are not caught up with.
 * REEVE_ENOTFOUND: no such entry. *ret_changed, when not NULL: false when it was so already. */
REEVE_API reeve_status reeve_cron_remove(reeve_client *client, const char *queue, const char *name);
REEVE_API reeve_status reeve_cron_pause(reeve_client *client, const char *queue, const char *name, bool *ret_changed);
REEVE_API reeve_status reeve_cron_resume(reeve_client *client, const char *queue, const char *name, bool *ret_changed);

/* Makes a task of an entry now, besides its times, also of a paused one. ret_id, when not NULL, has its id.
 * REEVE_ESTATE: the entry wants no overlap and its last task has not ended. REEVE_ENOTFOUND. */
REEVE_API reeve_status reeve_cron_run(reeve_client *client, const char *queue, const char *name,
                                      char ret_id[REEVE_ID_MAX]);

typedef struct reeve_cron_info {
    char queue[REEVE_QUEUE_MAX + 1];
    char name[REEVE_CRON_NAME_MAX + 1];
    char *spec;
    bool local;
    reeve_catch_up catch_up;
    unsigned catch_up_most; /* 0 unless REEVE_CATCH_UP_ALL */
    bool no_overlap;
    bool paused;
    int64_t next_ms;            /* the next slot (of a local one, by the zone here); -1: paused, or there is none */
    char last_id[REEVE_ID_MAX]; /* of the last task it made, or "" */
    char *type;
    reeve_bytes payload;
} reeve_cron_info;

/* The entries of a queue, or of all queues of the namespace (NULL), by queue and name. Free with reeve_cron_free.
 * Blocks for a round trip for each 64 queues. */
REEVE_API reeve_status reeve_cron_list(reeve_client *client, const char *queue, reeve_cron_info **ret,
                                       size_t *ret_count);
REEVE_API void reeve_cron_free(reeve_cron_info *list, size_t count);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_cron_check_sized(const reeve_cron_entry *entry, char *ret_error, size_t size,
                                              size_t entry_size, size_t spec_size);
#define reeve_cron_check(...) reeve_cron_check_sized(__VA_ARGS__, sizeof(reeve_cron_entry), sizeof(reeve_task_spec))
REEVE_API reeve_status reeve_cron_set_sized(reeve_client *client, const reeve_cron_entry *entry, bool *ret_changed,
                                            size_t entry_size, size_t spec_size);
#define reeve_cron_set(...) reeve_cron_set_sized(__VA_ARGS__, sizeof(reeve_cron_entry), sizeof(reeve_task_spec))
REEVE_API reeve_status reeve_cron_set_tell_sized(reeve_client *client, const reeve_cron_entry *entry, bool *ret_changed,
                                                 char *ret_from, size_t entry_size, size_t spec_size);
#define reeve_cron_set_tell(...) \
    reeve_cron_set_tell_sized(__VA_ARGS__, sizeof(reeve_cron_entry), sizeof(reeve_task_spec))

#ifdef __cplusplus
}
#endif
#endif
