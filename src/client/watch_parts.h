/*
 * watch_parts.h - the streams of events that a watch reads: that of its queue, or those of its partitions
 * (protocol/partition.h), each with the place up to which it was read.
 */
#ifndef RV_CLIENT_WATCH_PARTS_H
#define RV_CLIENT_WATCH_PARTS_H

#include "client/client.h"
#include "reeve/watch.h"

typedef struct rv_watch_part {
    char queue[REEVE_QUEUE_MAX + 1]; /* exact name of the partition, or the queue */
    char key[RV_PREFIX_MAX + 8];
    char last[REEVE_EVENT_PLACE_MAX]; /* "": not known yet */
    bool ready;                       /* its stream may have more than was read */
} rv_watch_part;

typedef struct rv_watch_parts {
    rv_watch_part *list;
    size_t count;
    size_t at; /* the one whose entries are at hand */
} rv_watch_parts;

void rv_watch_parts_fini(rv_watch_parts *parts);

/* Adds the partitions that the queue has now and the watch has not, with this place. */
reeve_status rv_watch_parts_renew(rv_watch_parts *parts, reeve_client *client, const char *queue, const char *place);

/* Takes the next ready one as the one at hand. False: none is. */
bool rv_watch_parts_next(rv_watch_parts *parts);

/* Adds XREAD of a part; block_ms 0: it does not block, and reads `page` entries; else one, to know that there is one. */
void rv_watch_parts_build(rv_conn *conn, const rv_watch_part *part, int64_t block_ms, const char *page);

/* Waits until a stream has an entry, or until then (monotonic ms): then it is ready. Over the open connection; *ret is the
 * error reply, or NULL. */
reeve_status rv_watch_parts_wait(rv_watch_parts *parts, reeve_client *client, rv_conn *conn, int64_t until,
                                 const rv_reply **ret);

#endif
