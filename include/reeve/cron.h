/*
 * cron.h - recurring tasks.
 *
 * An entry describes a recurring task. It has a spec, which gives its slots, the points in time at which to enqueue
 * the task. When an entry enqueues its task for a slot, it fires. An entry has a name that is unique in the
 * namespace, and is stored with the queue of its tasks. A spec has one of these forms:
 *
 *     "0 3 * * *"               five fields: minute hour day month weekday
 *     "0,30 * * * * mon-fri"    six fields: second minute hour day month weekday
 *     "@hourly"                 also @minutely @daily @midnight @weekly @monthly @yearly @annually
 *     "every 90s"               an interval of at least 100 ms; its slots are its multiples since the epoch
 *
 * A field is a star, a number, a range ("1-5"), a step (a star, then "/5": every fifth), or a list of these,
 * separated by commas. In the day field, "L" is the last day of the month. Months and weekdays also have names
 * ("jan", "mon"). If both day and weekday are restricted, a day matches if one of the two does.
 *
 * Time zones: the slots of an entry are in UTC, in the local time zone of the worker that fires it, or in a time
 * zone by name, such as Europe/Berlin. Zones by name come from the tz database of the system (Debian: the package
 * tzdata), in the directory of the environment variable TZDIR, else in /usr/share/zoneinfo. The program that sets
 * the entry and the workers of its queue need it; a worker without it logs cron.broken and leaves the entry to
 * others. A process reads a zone once: restart it after an update of the tz database.
 *
 * In all zones but UTC: if a clock change skips the time of a slot, the entry fires right after the change. If a clock
 * change repeats the time of a slot, the entry fires only the first time. An entry whose hour field is a star is an
 * exception: it ignores clock changes, and fires in each hour of elapsed time.
 *
 * Normally a slot enqueues at most one task, however many workers serve the queue: in one atomic step, Redis enqueues
 * the task cron:<name>:<slot in ms since the epoch> and moves the entry to its next slot. Entries fire only while a
 * worker serves their queue. A slot enqueues no task if it is missed and catch_up skips it, if no_overlap skips it, and
 * while the entry is paused. There are three exceptions, in which a slot can fire again: Redis lost its last writes,
 * for instance in a failover; the clock of Redis was set back, and the spec is an interval; or the entry was moved to
 * another queue at that moment.
 *
 * Each call blocks for one or two round trips unless its comment says otherwise. As with all of client.h, one thread
 * at a time may use a client.
 */
#ifndef REEVE_CRON_H
#define REEVE_CRON_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REEVE_CRON_NAME_MAX 64 /* name of an entry: [A-Za-z0-9._-] */
#define REEVE_CRON_CATCH_UP_MAX 1000
#define REEVE_CRON_PAYLOAD_MAX (64u * 1024)
#define REEVE_CRON_JITTER_MAX_MS (3600 * 1000)
#define REEVE_CRON_BACKFILL_MAX 100000

/* Catch-up: what an entry does about missed slots. A slot is missed if the entry cannot fire within 2 s, usually
 * because no worker serves the queue. */
typedef enum reeve_catch_up {
    REEVE_CATCH_UP_ONCE = 0, /* one task, for the last missed slot */
    REEVE_CATCH_UP_SKIP = 1, /* no task */
    REEVE_CATCH_UP_ALL = 2   /* a task for each of the last catch_up_max missed slots */
} reeve_catch_up;

/* A recurring entry, as reeve_cron_set stores it and reeve_cron_get returns it. Zero selects the default of each
 * field. */
typedef struct reeve_cron_entry {
    size_t size;      /* sizeof(reeve_cron_entry), or 0 */
    const char *name; /* required */
    const char *spec; /* required */
    bool local;       /* true: slots are in the local time zone of the workers; false: in UTC */
    reeve_catch_up catch_up;
    unsigned catch_up_max; /* with REEVE_CATCH_UP_ALL: maximum number of tasks, 1 to REEVE_CRON_CATCH_UP_MAX; 0: 100 */
    bool no_overlap; /* skip a slot while the task of the previous slot has not ended; catch_up ALL then acts as ONCE */
    /* Required: queue, type, payload (at most REEVE_CRON_PAYLOAD_MAX bytes) and options. An id, a time, a unique key
     * and parents are not allowed. */
    const reeve_task_spec *task;
    /* Time zone of the slots: "utc", "local", or a name of the tz database, such as "Europe/Berlin". NULL: the field
     * `local` decides. If `local` is true, `zone` must be NULL or "local". */
    const char *zone;
    int64_t starts_ms; /* no slot is before this time; 0: no limit */
    int64_t ends_ms;   /* no slot is after this time; 0: no limit */
    /* For intervals: all slots are later by this time, in ms, which is less than the interval. To place the first slot
     * at starts_ms, set offset_ms to starts_ms modulo the interval. */
    int64_t offset_ms;
    /* Jitter: the entry fires after its slot by a random time of less than jitter_ms, so that entries with the same
     * spec do not fire at the same time. For one slot of one entry, the time is always the same. At most
     * REEVE_CRON_JITTER_MAX_MS, and at most the interval; 0: no jitter. */
    int64_t jitter_ms;
    /* The entry stops when it has enqueued this many tasks at its slots since it was added or changed; 0: no limit */
    int64_t runs;
    /* Set by reeve_cron_get if layers (layer.h) changed the task when the entry was set; else NULL. If an entry has it,
     * reeve_cron_set does not pass the task through layers again. To replace the type, the payload or the metadata of
     * such an entry, set all of them anew, as before the layers, and this field to NULL. */
    const char *layered;
} reeve_cron_entry;

/* Checks an entry without Redis. On failure the message is written to ret_error, a buffer of `size` bytes, or NULL. A
 * longer message is cut, so that it fits with its final zero byte. Any thread. Errors: REEVE_EINVAL, REEVE_ETOOBIG. */
REEVE_API reeve_status reeve_cron_check(const reeve_cron_entry *entry, char *ret_error, size_t size);

/*
 * Adds an entry, or replaces the entry of that name. To change a part of an entry, see reeve_cron_get. If the entry
 * does not change, it keeps its next slot. If the client has layers, what counts is the entry before the layers. A
 * changed entry fires at its next slot, also if it had ended; a paused entry stays paused. *ret_changed, when not NULL,
 * is true if anything changed. Blocks for 2 to 5 round trips. REEVE_EINVAL and REEVE_ETOOBIG are as from
 * reeve_cron_check, but with the size limits of the client.
 *
 * If another queue has an entry of that name, the entry is moved: it is set in the queue of `task`, and removed from
 * the other queue. The tasks that it has enqueued stay where they are. A slot at the moment of the move may fire in
 * both queues, and no_overlap ignores tasks in the other queue. reeve_cron_set_with_origin also writes the name of the
 * other queue to ret_from, or "" if the entry was not moved. ret_from may be NULL; else it has room for REEVE_QUEUE_MAX
 * + 1 bytes.
 */
REEVE_API reeve_status reeve_cron_set(reeve_client *client, const reeve_cron_entry *entry, bool *ret_changed);
REEVE_API reeve_status reeve_cron_set_with_origin(reeve_client *client, const reeve_cron_entry *entry,
                                                  bool *ret_changed, char *ret_from);

/*
 * Gets an entry as it was set. If `queue` is NULL, the call looks for the entry in all queues. The caller frees *ret,
 * and all that it points to, with reeve_cron_entry_free, which ignores NULL. To change a part of the entry: copy *ret
 * and its task, change the copies, set them, and then free *ret; `layered` says what that means for a task that has
 * passed layers. REEVE_ENOTFOUND: there is no such entry. REEVE_EPROTO: another program wrote the entry, in a form that
 * this version does not know.
 */
REEVE_API reeve_status reeve_cron_get(reeve_client *client, const char *queue, const char *name,
                                      reeve_cron_entry **ret);
REEVE_API void reeve_cron_entry_free(reeve_cron_entry *entry);

/*
 * remove   Removes an entry. The tasks that it has enqueued stay.
 * pause    Pauses an entry: it does not fire.
 * resume   Resumes a paused entry: it fires again from its next slot on. Slots during the pause are skipped.
 *
 * *ret_changed, when not NULL, is false if pause found the entry paused, or resume found it not paused. An entry that
 * has ended can be paused, so that a change does not start it.
 * REEVE_ENOTFOUND: there is no such entry.
 */
REEVE_API reeve_status reeve_cron_remove(reeve_client *client, const char *queue, const char *name);
REEVE_API reeve_status reeve_cron_pause(reeve_client *client, const char *queue, const char *name, bool *ret_changed);
REEVE_API reeve_status reeve_cron_resume(reeve_client *client, const char *queue, const char *name, bool *ret_changed);

/* Enqueues the task of an entry now, in addition to its slots. The entry may be paused. ret_id, when not NULL, has the
 * id of the task. REEVE_ESTATE: the entry has no_overlap, and its previous task has not ended. REEVE_ENOTFOUND: there
 * is no such entry. */
REEVE_API reeve_status reeve_cron_run(reeve_client *client, const char *queue, const char *name,
                                      char ret_id[REEVE_ID_MAX]);

/* What a backfill did. */
typedef struct reeve_backfill {
    uint64_t slots;    /* slots in the range, up to the limit */
    uint64_t enqueued; /* tasks that were enqueued; the others exist already */
} reeve_backfill;

/*
 * Enqueues the task of an entry for each of its slots from from_ms to to_ms, both included, the first one first, and
 * for at most `limit` slots (1 to REEVE_CRON_BACKFILL_MAX). The entry may be paused. Its range (starts_ms, ends_ms) and
 * zone apply; jitter, no_overlap and runs do not. A task has the id of its slot, cron:<name>:<slot>: a slot whose task,
 * or its record, exists enqueues nothing, so the call can be repeated. Blocks for one round trip, and for one more for
 * each 50 slots. With dry_run the call only counts the slots. *ret, when not NULL, has the counts, also after a
 * failure. REEVE_ENOTFOUND: there is no such entry. REEVE_EPROTO: as reeve_cron_get.
 */
REEVE_API reeve_status reeve_cron_backfill(reeve_client *client, const char *queue, const char *name, int64_t from_ms,
                                           int64_t to_ms, size_t limit, bool dry_run, reeve_backfill *ret);

/* A recurring entry with its present state. reeve_cron_list returns an array of them, which owns all texts;
 * reeve_cron_free frees it. */
typedef struct reeve_cron_info {
    char queue[REEVE_QUEUE_MAX + 1];
    char name[REEVE_CRON_NAME_MAX + 1];
    char *spec;
    bool local;
    reeve_catch_up catch_up;
    unsigned catch_up_max; /* 0 unless REEVE_CATCH_UP_ALL */
    bool no_overlap;
    bool paused;
    bool ended; /* it has no further slot, or has enqueued `runs` tasks: it does not fire until it is changed */
    /* The time at which it fires next: its next slot, and its jitter. For a local entry it is computed with the time
     * zone of this process. If this process does not know the zone of the entry, it is the time at which a worker next
     * checks the entry. -1: the entry is paused or has ended. */
    int64_t next_ms;
    char last_id[REEVE_ID_MAX]; /* id of the last task that it enqueued, or "" */
    char *type;
    reeve_bytes payload;
    char *zone; /* "utc", "local", or the name of a time zone */
    /* The whole entry, as from reeve_cron_get; the list owns it. NULL: its form, or its time zone, is unknown here. */
    reeve_cron_entry *entry;
    int64_t enqueued; /* an entry with `runs`: number of tasks that it has enqueued so far, up to `runs`; else 0 */
} reeve_cron_info;

/* Gets the entries of a queue as one array, ordered by queue and name. If `queue` is NULL, it gets those of all
 * queues of the namespace. Free it with reeve_cron_free. Blocks for one round trip for each 64 queues. */
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
REEVE_API reeve_status reeve_cron_set_with_origin_sized(reeve_client *client, const reeve_cron_entry *entry,
                                                        bool *ret_changed, char *ret_from, size_t entry_size,
                                                        size_t spec_size);
#define reeve_cron_set_with_origin(...) \
    reeve_cron_set_with_origin_sized(__VA_ARGS__, sizeof(reeve_cron_entry), sizeof(reeve_task_spec))

#ifdef __cplusplus
}
#endif
#endif
