/*
 * config.h - the configuration file of a worker, read and checked.
 *
 * The file is libconfig. setting_rows.c has a row for every setting: its type, its range, its default and a line of
 * help. Reading, checking, freeing, `reeve-worker --help-config` and docs/configuration.md all come from those rows.
 * Times are seconds in the file, whole or fractional, and milliseconds in the structs.
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

typedef enum rv_log_format { RV_LOG_LOGFMT, RV_LOG_JSON } rv_log_format;

/* Every element of a list begins with where it stands, as "reeve.conf:12", for messages that come later. */
typedef struct rv_config_name {
    char *where;
    char *text;
} rv_config_name;

typedef struct rv_config_number {
    char *where;
    int64_t number;
} rv_config_number;

typedef struct rv_config_pool {
    char *where;
    char *name; /* NULL: not given */
    rv_config_name *queues;
    size_t queue_count;
    int64_t threads;
    int64_t batch;
    reeve_order order;
    rv_config_number *weights; /* as many as queues, or none */
    size_t weight_count;
} rv_config_pool;

/* Zero: not given, what the handler says holds. */
typedef struct rv_config_handler {
    char *where;
    char *type;
    int64_t attempts;
    int64_t max_crashes;
    int64_t timeout_ms;
    int64_t heartbeat_ms;
    bool at_most_once;
    bool has_backoff;
    reeve_backoff backoff; /* as the worker wants it: zero where not given */
    int64_t batch_size;
    int64_t batch_wait_ms;
} rv_config_handler;

typedef struct rv_config_queue {
    char *where;
    char *name;
    rv_queue_values settings; /* those that the file sets; a number of -1: none. Its texts are owned by this */
    bool has_rate;
    reeve_rate rate; /* a count of -1: no limit */
    bool has_group_rate;
    reeve_rate group_rate;
} rv_config_queue;

/* A recurring entry; rv_config_entry_make has what the library wants. */
typedef struct rv_config_cron {
    char *where;
    char *name;
    char *spec;
    char *queue;
    char *type;
    char *payload;
    rv_zone zone;
    reeve_catch_up catch_up;
    int64_t catch_up_max; /* 0: not set */
    bool overlap;
    int64_t priority;
    char *group;    /* NULL: not given */
    int64_t weight; /* these: zero where not given */
    int64_t attempts;
    int64_t max_crashes;
    int64_t timeout_ms;
    bool has_backoff;
    reeve_backoff backoff;
    rv_config_name *tags;
    size_t tag_count;
} rv_config_cron;

typedef struct rv_config {
    char *file;
    char *redis; /* NULL: not given */
    char *redis_password_file;
    char *ns;
    reeve_tls tls; /* its texts are owned by this */
    struct {
        char *name; /* NULL: not given */
        int64_t session_ms;
        int64_t drain_ms;
        reeve_size_limits size_limits; /* zero: not given */
        reeve_log_level log_level;
        rv_log_format log_format;
    } worker;
    char *plugin_dir; /* NULL: not given */
    rv_config_name *plugins;
    size_t plugin_count;
    rv_config_pool *pools;
    size_t pool_count;
    rv_config_handler *handlers;
    size_t handler_count;
    rv_config_queue *queues;
    size_t queue_count;
    rv_config_cron *cron;
    size_t cron_count;
} rv_config;

/* An entry as reeve_cron_set takes it; points into the rv_config_cron that it was made of. */
typedef struct rv_config_entry {
    reeve_cron_entry entry;
    reeve_task_spec task;
    const char **tags;
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
