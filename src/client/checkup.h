/*
 * checkup.h - the state of a Redis server and of a queue, for a diagnosis: the server's own information, and that of
 * a queue's keys about its workers. Only reads.
 */
#ifndef RV_CLIENT_CHECKUP_H
#define RV_CLIENT_CHECKUP_H

#include "client/client.h"

/* Information of the server. Texts are "" and numbers -1 if it does not have them, or this user may not read them. */
typedef struct rv_checkup {
    char version[32];
    int major, minor;
    char role[16]; /* "master", "slave" */
    char mode[16]; /* "standalone", "cluster" */
    char link[8];  /* of a replica, to its master: "up", "down" */
    unsigned replicas;
    unsigned replicas_behind; /* of these: the first copy of the data is under way, or nothing was heard for a while */
    bool loading;
    int64_t used_bytes;
    int64_t max_bytes; /* 0: no limit */
    char policy[32];   /* maxmemory-policy */
    int64_t evicted;   /* keys, since it started */
    int aof;           /* 1: it has an append-only file, 0: none, -1: not known */
    char save[256];    /* its save points; "" also for none */
    bool save_known;
    char fsync[16];   /* appendfsync */
    bool aof_failed;  /* its last write */
    bool save_failed; /* the last one in the background */
    /* Of several round trips, each a command of its own. */
    int64_t best_us;
    int64_t median_us;
    int64_t ahead_ms; /* Redis's clock against this machine's, */
    int64_t about_ms; /* as exactly as the round trip allows */
    char user[64];    /* ACL WHOAMI */
} rv_checkup;

/* 6 round trips: five for the clock, one for the rest. REEVE_OK also where the user may not ask for the rest. */
reeve_status rv_checkup_take(reeve_client *client, rv_checkup *ret);

/*
 * What the user is not allowed to do and reeve needs, a line each, in *ret (rv_buf_init first); "" when nothing is
 * missing. queue: any name. REEVE_EREDIS: not even scripts may be called.
 */
reeve_status rv_checkup_rights(reeve_client *client, const char *queue, rv_buf *ret);

/* A queue, in one round trip. */
typedef struct rv_queue_checkup {
    int64_t now_ms;
    int64_t overdue_ms; /* since when maintenance is overdue; 0: a session is being reaped; -1: nothing is overdue */
    int64_t expired;    /* sessions */
    int64_t untold_ms;  /* since when a message to another queue, or a task that is to hear of an end, waits; 0: not
                           known; -1: none does */
    int64_t unread;     /* messages that were not understood and set aside */
    int64_t outbox;     /* messages to other queues */
    int64_t unsent_ms;  /* when a notice could not be sent; -1: never */
} rv_queue_checkup;

reeve_status rv_checkup_queue(reeve_client *client, const char *queue, rv_queue_checkup *ret);

/* From INFO's text, for rv_checkup_take and tests. */
void rv_checkup_read_info(rv_checkup *ret, const char *text);

#endif
