/*
 * web_snapshot.h - the state of all queues and workers, read at most once a second for all viewers and scrapes together,
 * and not at all while there are none.
 */
#ifndef WEB_SNAPSHOT_H
#define WEB_SNAPSHOT_H

#include "client/checkup.h"
#include "client/minutes.h"
#include "web.h"
#include "web_track.h"

#define WEB_FIVES 12        /* parts of the last hour, five minutes each */
#define WEB_SILENT_MS 30000 /* without a heartbeat, a worker is in trouble */

/* The live workers that serve a queue, and the threads of their pools that do. */
typedef struct web_served {
    unsigned workers, threads;
} web_served;

typedef struct web_snapshot {
    unsigned refs;      /* guarded by the lock of the snapshots */
    uint64_t sequence;  /* 1, 2, ... */
    int64_t at_ms;      /* since the epoch */
    int64_t read_at;    /* monotonic */
    int64_t whole_at;   /* when all queues and workers were read; monotonic */
    int64_t workers_ms; /* the same, since the epoch */
    int64_t took_us;
    reeve_status status; /* of reading it; when it failed, the rest is empty */
    char words[256];
    reeve_queue_info *queues; /* by name */
    int64_t *queue_at;        /* when each was read; since the epoch */
    web_track *tracks;        /* of the same queues */
    web_served *serving;      /* of each */
    size_t queue_count;
    reeve_worker_info *workers;
    size_t worker_count;
    _Atomic unsigned *worker_refs; /* snapshots that share the list; NULL: it is this one's alone */
    rv_checkup redis;
    unsigned crashes;                 /* of workers in the last five minutes */
    reeve_minute minutes[60];         /* of the busiest queues together; at_ms 0: not known */
    rv_five_minutes times[WEB_FIVES]; /* the same */
    char *json;                       /* for events and the overview */
    size_t json_length;
} web_snapshot;

struct web_snapshots *web_snapshots_open(web_server *web);
void web_snapshots_close(struct web_snapshots *snapshots); /* NULL is ignored */

/* A snapshot that is at most about a second old; reads one unless another call does. Where there are many queues or workers, most of
 * it may be up to age_max ms old, or a minute. The caller releases it. NULL: no memory, or the server stops. */
#define WEB_ANY_AGE 60000
web_snapshot *web_snapshots_get(struct web_snapshots *snapshots, int64_t age_max);
/* The newest, with a list of workers, if a viewer looks; NULL: there is none. Does not read. The caller releases it. */
web_snapshot *web_snapshots_recent(struct web_snapshots *snapshots);
void web_snapshots_release(struct web_snapshots *snapshots, web_snapshot *snapshot);

/* For viewers: waits, at most `wait_ms`, for a snapshot after `sequence`. NULL: not in time, or the server stops. */
web_snapshot *web_snapshots_next(struct web_snapshots *snapshots, uint64_t sequence, int64_t wait_ms);

/* A viewer begins or ends to look; the thread that reads snapshots runs between the first and the last. */
void web_snapshots_look(struct web_snapshots *snapshots, int change);
unsigned web_snapshots_viewers(struct web_snapshots *snapshots);

/* Ends all waits: the server stops. */
void web_snapshots_stop(struct web_snapshots *snapshots);
bool web_snapshots_stopping(struct web_snapshots *snapshots);

/* web_overview.c: writes snapshot->json. */
bool web_snapshot_write(web_server *web, web_snapshot *snapshot);

/* Appends a queue to an array: what the command line shows, its rates, and a line of the last five minutes. */
void web_queue_write(cli_json *json, const web_snapshot *snapshot, size_t at);

/* The queues in the order of their trouble, the worst first: indexes, which the caller frees. NULL: no memory. */
size_t *web_queue_order(const web_snapshot *snapshot);

#endif
