/*
 * cron_fire.h - fires recurring entries that are due: makes their tasks. The scheduler's thread only. The due
 * entries are noted while the replies of maintain.lua are read, and fired afterwards, each with one call of
 * fire.lua. The first worker makes the tasks; the replies tell the others so, and all when the entry is due next.
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
    int64_t now_ms;   /* the time on Redis's clock when it was due */
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

/* Notes the entries that are due in the queue of a queue session. */
void rv_cron_fire_note(reeve_worker *worker, size_t queue_session, const rv_maintain_reply *maintained);

/*
 * Fires the noted entries, and sets in the scheduler's table when each is due next. False: the connection was lost;
 * the queues are to be maintained at once.
 */
bool rv_cron_fire_run(reeve_worker *worker, rv_conn *conn);

/* Forgets the noted entries. */
void rv_cron_fire_drop(reeve_worker *worker);

#endif
