/*
 * web_reader.h - reads snapshots; remembers what the next one takes from those before it. One call at a time.
 */
#ifndef WEB_READER_H
#define WEB_READER_H

#include "web_snapshot.h"

struct web_reader *web_reader_open(web_server *web); /* NULL: no memory */
void web_reader_close(struct web_reader *reader);    /* NULL is ignored */

/* A new snapshot, with one reference. Where there are many queues or workers, it has most of them from `old`, the one read before (NULL:
 * there is none), unless they are older than age_max ms. Blocks for Redis. NULL: no memory. */
web_snapshot *web_reader_read(struct web_reader *reader, const web_snapshot *old, int64_t age_max);

/* Once nobody has a reference. */
void web_snapshot_free(web_snapshot *snapshot);

#endif
