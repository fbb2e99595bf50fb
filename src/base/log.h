/*
 * log.h - the library's side of the log: records go to the callback of reeve_log_set, and cost one load when nobody
 * listens. Message ids are "room.what". Never pass a URL here that has not been through rv_url_redacted.
 */
#ifndef RV_LOG_H
#define RV_LOG_H

#include <stdbool.h>

#include "base/buf.h"
#include "reeve/status.h"

/* Changes only the level of the log that reeve_log_set has set; false: it has set none. */
bool rv_log_set_level(reeve_log_level min);

bool rv_log_on(reeve_log_level level);

/*
 * fields: pairs of const char *key, const char *value, ended by NULL; a NULL value is written as "".
 *     rv_log(REEVE_LOG_WARN, "redis.lost", "connection lost, trying again", "url", url, "error", text, NULL);
 */
void rv_log(reeve_log_level level, const char *event, const char *message, ...) __attribute__((sentinel));

/*
 * A record as a line with its end, logfmt or JSON, built in an empty buffer of the caller, who frees it. Always UTF-8
 * of one line; a record for which there is no memory or that does not fit becomes a line that says so.
 */
const char *rv_log_line(rv_buf *line, const reeve_log_record *record, bool json);

/* "debug", "info", "warn", "error", "off"; false when it is none. */
bool rv_log_level_parse(const char *name, reeve_log_level *ret);

#endif
