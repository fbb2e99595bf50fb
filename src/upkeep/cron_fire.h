/*
 * cron_fire.h - recurring entries that are due: their tasks are made. The scheduler's thread only.
 *
 * What maintain.lua says is due is noted while its replies are read, and fired afterwards, each entry with one call of
 * fire.lua. Whichever worker comes first makes the tasks; the others hear that, and all know when the entry is due
 * next.
 */
#ifndef RV_UPKEEP_CRON_FIRE_H
#define RV_UPKEEP_CRON_FIRE_H

#include "protocol/cron_definition.h"
#include "protocol/maintain_call.h"
#include "redis/conn.h"
#include "reeve/worker.h"

#define RV_CRON_BROKEN_MAX 256

/* An entry that is to be fired. */
typedef struct rv_cron_due {
    size_t queue_session; /* index in the worker's */
    char name[REEVE_CRON_NAME_MAX + 1];
    rv_cron_rule rule;
    int64_t due_ms;   /* as Redis has it */
    int64_t now_ms;   /* on Redis's clock, when it said so */
    int64_t heard_ms; /* the same on ours */
    int64_t next_ms;  /* when it is due next; set when it is fired */
    bool more;        /* there may be others behind it that are due, too */
} rv_cron_due;

typedef struct rv_cron_table {
    rv_cron_due *due;
    size_t count;
    size_t capacity;
    int64_t *slots; /* scratch */
    /* what could not be understood and was logged, as hashes; once it is full others are not logged */
    uint64_t broken[RV_CRON_BROKEN_MAX];
    size_t broken_count;
} rv_cron_table;

void rv_cron_fire_table_fini(rv_cron_table *table);

/* Notes what is due in a queue session's queue. */
void rv_cron_fire_note(reeve_worker *worker, size_t queue_session, const rv_maintain_reply *maintained);

/*
 * Fires what was noted, and tells the scheduler's table when each is due next. False: the connection was lost; their
 * queues are then to be tended at once.
 */
bool rv_cron_fire_run(reeve_worker *worker, rv_conn *conn);

/* Forgets what was noted. */
void rv_cron_fire_drop(reeve_worker *worker);

#endif
