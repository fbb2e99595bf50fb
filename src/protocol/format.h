/*
 * format.h - the version of the data of a namespace, in the key <ns>:format.
 *
 * Each connection reads it when it is opened (rv_conn_options.ns) and is refused where it is higher than RV_FORMAT: those of
 * clients each time, those of workers the first time, for a worker that runs is to end its tasks. It hears of a higher one
 * from its heartbeats (upkeep/outdated.h). Workers with their heartbeats, and clients when they add a queue to <ns>:queues,
 * write it where it is absent. An absent or lower one is the data of this or an older release, which this release reads.
 */
#ifndef RV_PROTOCOL_FORMAT_H
#define RV_PROTOCOL_FORMAT_H

#include "protocol/definition.h"
#include "redis/conn.h"

/* Adds the command that writes the version where it is absent. Its reply is the version that was there before, or nil. */
void rv_format_note(rv_conn *conn, const char *ns);

#endif
