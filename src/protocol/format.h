/*
 * format.h - the version of the data of a namespace, in the key <ns>:format. Each connection reads it when it is
 * opened (rv_conn_options.ns), and fails if it is higher than RV_FORMAT: connections of clients each time, those of
 * workers the first time only, because a running worker is to finish its tasks. The heartbeats of such a worker
 * report a higher version (upkeep/outdated.h). Heartbeats of workers write the version where it is absent, and so do
 * clients that add a queue to <ns>:queues. An absent or lower version means data of this or an older release, which
 * this release reads.
 */
#ifndef RV_PROTOCOL_FORMAT_H
#define RV_PROTOCOL_FORMAT_H

#include "protocol/definition.h"
#include "redis/conn.h"

/* Adds the command that writes the version where it is absent. Its reply is the version that was there before, or
 * nil. */
void rv_format_note(rv_conn *conn, const char *ns);

#endif
