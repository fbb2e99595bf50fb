/*
 * log_flood.h - a limit of the lines that each message id may write in a second (worker.log.flood).
 *
 * One thread at a time.
 */
#ifndef HOST_LOG_FLOOD_H
#define HOST_LOG_FLOOD_H

#include <stdbool.h>
#include <stdint.h>

/* Lines of one message id in a second; 0: no limit. Any thread. */
void host_log_flood_set(int64_t lines);

/* Whether a line of this message id may be written at this time (wall clock, ms). */
bool host_log_flood_admits(const char *event, int64_t time_ms);

/* The next message id of which lines were held back in a second that is over, and their number; NULL: there is none. With
 * `all`, the present second counts as over. */
const char *host_log_flood_next(int64_t time_ms, bool all, uint64_t *ret_held);

#endif
