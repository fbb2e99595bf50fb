/*
 * config.h - the configuration file of a worker, read and checked.
 *
 * The file is libconfig. protocol/definition/configuration.lua has a row for every setting: its type, its range, its
 * default and its help; settings.lua, beside it, has those of queues. The structs below, reading, checking, freeing,
 * `reeve-worker --help-config` and docs/configuration.md all come from those rows. Times are seconds in the file,
 * whole or fractional, and milliseconds in the structs.
 */
#ifndef RV_CONFIG_H
#define RV_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cron.h"
#include "base/error.h"
#include "protocol/queue_settings.h"
#include "reeve/client.h"
#include "reeve/cron.h"
#include "reeve/limits.h"
#include "reeve/status.h"
#include "reeve/tls.h"
#include "reeve/worker.h"

typedef enum rv_log_format { RV_LOG_LOGFMT, RV_LOG_JSON, RV_LOG_JOURNALD } rv_log_format;

/* Who wins when Redis has another value of a queue's setting. */
typedef enum rv_settings_from { RV_SETTINGS_FROM_FILE, RV_SETTINGS_FROM_REDIS } rv_settings_from;

/* Each element of a list begins with its place in the file, as "reeve.conf:12", for later messages. */
typedef struct rv_config_name {
    char *where;
    char *text;
} rv_config_name;

typedef struct rv_config_number {
    char *where;
    int64_t number;
} rv_config_number;

/* A value for an option of a plugin: "retry.max" for the setting `max` in the group `retry`. */
typedef struct rv_config_option {
    char *where;
    char *name;
    char *text;
} rv_config_option;

/* rv_config and the structs of its lists, rv_config_pool and so on: a member for each row, zero where the file does
 * not set it and the row has no default. A backoff is as the worker wants it: zero where not given. */
#include "config/members.h"

/* An entry as reeve_cron_set takes it; points into the rv_config_cron that it was made of. */
typedef struct rv_config_entry {
    reeve_cron_entry entry;
    reeve_task_spec task;
    const char **tags, **limit_keys;
    reeve_meta *meta;
    char *meta_text; /* what it points to */
} rv_config_entry;

/* ret must stay where it is. REEVE_ENOMEM: nothing is left to free. */
reeve_status rv_config_entry_make(rv_config_entry *ret, const rv_config_cron *cron);
void rv_config_entry_fini(rv_config_entry *entry);

#define RV_CONFIG_ERRORS_MAX 20

/* What is wrong with a file: a line for each of the first RV_CONFIG_ERRORS_MAX errors, and how many there are. */
typedef struct rv_config_errors {
    rv_buf text;
    size_t count;
} rv_config_errors;

void rv_config_errors_init(rv_config_errors *errors);
void rv_config_errors_fini(rv_config_errors *errors);
/* Adds an error; where is a "reeve.conf:12" from the structs above, or a file's name. */
void rv_complain(rv_config_errors *errors, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Reads and checks a file. On success *ret is owned by the caller until rv_config_free; on failure every error that was
 * found is in errors. Blocks for the file system only.
 * REEVE_ESYSTEM: a file cannot be read. REEVE_EINVAL: errors in it. REEVE_ENOMEM.
 */
reeve_status rv_config_load(const char *path, rv_config **ret, rv_config_errors *errors);
void rv_config_free(rv_config *config); /* NULL is fine */

/* Whether a Redis URL can be used by this version; when not, why has the words (never a password). Does not connect. */
bool rv_config_check_redis(const char *url, rv_error *why);

/* The settings for people: a list for a terminal, and the same as Markdown for docs/configuration.md. */
void rv_config_describe(rv_buf *out);
void rv_config_describe_markdown(rv_buf *out);

#endif
