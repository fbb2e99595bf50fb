#include "reload.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/text.h"
#include "config/config_compare.h"
#include "log/log_flood.h"
#include "log/log_writer.h"
#include "log_file.h"
#include "replacement.h"
#include "setup.h"

/* ---- what can change while the worker runs --------------------------------------------------------------------- */

typedef struct change {
    rv_config *config; /* in force */
    rv_config *fresh;  /* the file as it is now */
    host_replacement *replacement;
    reeve_worker *worker;
    host_servers *servers;
    rv_error *error;
} change;

/* Puts a part of the fresh configuration in force. On failure the error has the words. */
typedef reeve_status (*apply_fn)(const change *in);

/* Once, for plugins and handlers. */
static reeve_status apply_replacement(const change *in)
{
    return host_replacement_apply(in->replacement, in->worker, in->error);
}

static bool is_same_text(const char *one, const char *other)
{
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

static reeve_status apply_log(const change *in)
{
    const rv_config *fresh = in->fresh;

    if (!is_same_text(in->config->worker.log_file, fresh->worker.log_file)) {
        host_log_flush(HOST_LOG_END_MS); /* what was logged before goes to where it was to go */
        reeve_status status = host_log_file_set(fresh->worker.log_file, in->error);
        if (status != REEVE_OK) return status;
    }
    host_log_flood_set(fresh->worker.log_flood);
    host_log_change(fresh->worker.log_format, fresh->worker.log_level);
    return REEVE_OK;
}

/* The index of the pool of this name, or the number of pools. */
static size_t find_pool(const rv_config *config, const char *name)
{
    char other[HOST_POOL_NAME_SIZE];
    size_t i = 0;

    while (i < config->pool_count && strcmp(host_pool_name(other, config, i), name) != 0) i++;
    return i;
}

/* A pool that does not differ keeps what somebody has set by `reeve threads` and the like. */
static bool is_same_pool(const change *in, size_t index)
{
    char name[HOST_POOL_NAME_SIZE];
    size_t old = find_pool(in->config, host_pool_name(name, in->fresh, index));

    return old < in->config->pool_count &&
           rv_config_compare_is_same("pools", &in->config->pools[old], &in->fresh->pools[index]);
}

/* New ones first: a worker always has a pool. */
static reeve_status apply_pools(const change *in)
{
    reeve_status status = REEVE_OK;

    for (size_t i = 0; i < in->fresh->pool_count && status == REEVE_OK; i++) {
        if (!is_same_pool(in, i)) status = host_put_pool(in->worker, in->fresh, i, true);
    }
    for (size_t i = 0; i < in->config->pool_count && status == REEVE_OK; i++) {
        char name[HOST_POOL_NAME_SIZE];

        if (find_pool(in->fresh, host_pool_name(name, in->config, i)) < in->fresh->pool_count) continue;
        status = reeve_worker_remove_pool(in->worker, name);
        if (status == REEVE_ENOTFOUND) status = REEVE_OK; /* somebody else has removed it */
    }
    return status == REEVE_OK ? status : rv_fail(in->error, status, "%s", reeve_worker_error(in->worker));
}

static reeve_status no_servers(const change *in)
{
    return rv_fail(in->error, REEVE_EUNSUPPORTED, "the worker has no HTTP server: the log of its start has the reason");
}

static reeve_status apply_web(const change *in)
{
    return in->servers != NULL ? host_servers_change_web(in->servers, in->fresh, in->error) : no_servers(in);
}

static reeve_status apply_metrics(const change *in)
{
    return in->servers != NULL ? host_servers_change_metrics(in->servers, in->fresh, in->error) : no_servers(in);
}

/* All settings that a reload puts in force; a feature that comes adds its row. Without a function, the program reads
 * the value when it needs it. */
static const struct reloadable {
    const char *path; /* the setting, and all below it */
    apply_fn apply;
} reloadables[] = {
    {"plugins", apply_replacement},
    {"plugin_dir", apply_replacement},
    {"handlers", apply_replacement},
    {"worker.drain", NULL},
    {"worker.settings_from", NULL},
    {"worker.log", apply_log},
    {"pools", apply_pools},
    {"queues", NULL}, /* worker_run.c writes them to Redis, and recurring entries */
    {"limits", NULL},
    {"cron", NULL},
    {"web", apply_web},
    {"metrics", apply_metrics},
};

#define RELOADABLES (sizeof(reloadables) / sizeof(reloadables[0]))

static size_t find_reloadable(const char *row)
{
    size_t i = 0;

    while (i < RELOADABLES && !rv_config_compare_is_below(row, reloadables[i].path)) i++;
    return i;
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

#define VALUE_SHOWN 60 /* of a value, in an answer */

void host_reload_add(host_reload_result *result, const char *words)
{
    size_t length = strlen(result->text);

    if (length > 0 && length + 2 < sizeof(result->text)) {
        rv_copy_text(result->text + length, sizeof(result->text) - length, "; ");
        length += 2;
    }
    rv_copy_text(result->text + length, sizeof(result->text) - length, words);
}

static void add_difference(host_reload_result *result, const rv_config_difference *of, const char *note)
{
    char words[sizeof(result->text)];

    (void)snprintf(words, sizeof(words), "%.200s: %.*s%s -> %.*s%s%s", of->path, VALUE_SHOWN, of->from,
                   strlen(of->from) > VALUE_SHOWN ? "..." : "", VALUE_SHOWN, of->to,
                   strlen(of->to) > VALUE_SHOWN ? "..." : "", note);
    host_reload_add(result, words);
}

/* ---- reload ---------------------------------------------------------------------------------------------------- */

typedef struct reloading {
    change change;
    host_reload_result *result;
    bool changed[RELOADABLES];
    size_t changes;
    size_t later;
} reloading;

/* What a queue's settings or entries lose in the file stays in Redis. */
static bool stays_in_redis(const rv_config_difference *of)
{
    bool is_gone = strcmp(of->to, "not set") == 0 || strcmp(of->to, "absent") == 0;

    return is_gone && (rv_config_compare_is_below(of->row, "queues") || rv_config_compare_is_below(of->row, "cron") ||
                       rv_config_compare_is_below(of->row, "limits"));
}

static void note_difference(const rv_config_difference *of, void *context)
{
    reloading *in = context;
    size_t which = find_reloadable(of->row);

    if (which == RELOADABLES) {
        in->later++;
        rv_log(REEVE_LOG_WARN, "program.reload", "a setting has changed: it takes effect at the next start", "setting",
               of->path, "from", of->from, "to", of->to, NULL);
        add_difference(in->result, of, " (takes effect at the next start)");
        return;
    }
    in->changes++;
    in->changed[which] = true;
    const char *note = stays_in_redis(of) ? " (what Redis has stays in force)" : "";
    rv_log(REEVE_LOG_INFO, "program.reload",
           *note != '\0' ? "a setting has left the file: what Redis has stays in force" : "a setting has changed",
           "setting", of->path, "from", of->from, "to", of->to, NULL);
    add_difference(in->result, of, note);
}

/* The setting is the same, but the file is another one; or the options of the plugin have changed. */
static void note_version(const char *name, const char *from, const char *to, void *context)
{
    char path[160];
    reloading *in = context;

    (void)snprintf(path, sizeof(path), "plugins.%.120s.version", name);
    note_difference(&(rv_config_difference){.row = "plugins", .path = path, .from = from, .to = to}, in);
}

static void apply_changes(reloading *in)
{
    for (size_t i = 0; i < RELOADABLES; i++) {
        const struct reloadable *row = &reloadables[i];
        char words[600];
        rv_error error = {0};

        if (!in->changed[i]) continue;
        in->change.error = &error;
        if (row->apply == NULL || row->apply(&in->change) == REEVE_OK) {
            rv_config_compare_exchange(in->change.config, in->change.fresh, row->path);
            continue;
        }
        in->result->done = false;
        (void)snprintf(words, sizeof(words), "%.60s could not be changed: %s", row->path, error.text);
        rv_log(REEVE_LOG_ERROR, "program.reload", "a part of the configuration could not be put in force", "setting",
               row->path, "error", error.text, NULL);
        host_reload_add(in->result, words);
    }
}

/* Its files may have changed, and not their names. */
static void renew_web(reloading *in)
{
    rv_error error = {0};
    char words[600];

    if (host_servers_renew(in->change.servers, &error) == REEVE_OK) return;
    in->result->done = false;
    (void)snprintf(words, sizeof(words), "web: %s", error.text);
    rv_log(REEVE_LOG_ERROR, "program.reload", "a file of the section web could not be read again", "error", error.text,
           NULL);
    host_reload_add(in->result, words);
}

static void log_end(const reloading *in)
{
    char changes[RV_NUMBER_TEXT], later[RV_NUMBER_TEXT];

    rv_log(REEVE_LOG_INFO, "program.reloaded", "the configuration was read again", "file", in->change.config->file,
           "changes", rv_number_text(changes, in->changes), "at_next_start", rv_number_text(later, in->later), NULL);
}

/* One line of the log for each error. */
static void reject(host_reload_result *result, const rv_config *config, rv_config_errors *errors)
{
    char *rest = NULL, number[RV_NUMBER_TEXT];

    rv_log(REEVE_LOG_ERROR, "program.reload_rejected", "the configuration has errors: the present one stays in force",
           "file", config->file, "errors", rv_number_text(number, errors->count), NULL);
    if (errors->count == 0) rv_buf_addf(&errors->text, "%s: out of memory\n", config->file);
    host_reload_add(result, "the present configuration stays in force");
    for (char *line = strtok_r(errors->text.data, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        rv_log(REEVE_LOG_ERROR, "program.reload_rejected", "an error in the configuration", "error", line, NULL);
        host_reload_add(result, line);
    }
}

static void put_in_force(const change *of, host_reload_result *ret)
{
    reloading in = {.change = *of, .result = ret};

    ret->done = ret->accepted = true;
    host_replacement_each(of->replacement, note_version, &in);
    if (rv_config_compare(of->config, of->fresh, note_difference, &in) != REEVE_OK)
        rv_log(REEVE_LOG_WARN, "program.reload", "no memory to compare all settings", NULL);
    apply_changes(&in);
    renew_web(&in);
    log_end(&in);
    if (in.changes + in.later == 0) host_reload_add(ret, "nothing has changed in the file");
}

/* A pipe has no more to read than it had, and a FIFO would be waited for. */
static reeve_status read_again(rv_config **ret, const char *file, rv_config_errors *errors)
{
    struct stat about;

    *ret = NULL;
    if (stat(file, &about) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))
        return rv_config_load(file, ret, errors);
    rv_complain(errors, file, "is no regular file: it cannot be read again");
    return REEVE_EINVAL;
}

static void reload(host_reload_result *ret, rv_config *config, rv_config *fresh, const host_reload_target *target,
                   rv_config_errors *errors)
{
    host_replacement replacement;
    const change of = {.config = config,
                       .fresh = fresh,
                       .replacement = &replacement,
                       .worker = target->worker,
                       .servers = target->servers};

    if (host_replacement_make(&replacement, target->plugins, config, fresh, errors))
        put_in_force(&of, ret);
    else
        reject(ret, config, errors);
    host_replacement_fini(&replacement);
}

void host_reload(host_reload_result *ret, rv_config *config, const host_reload_target *target)
{
    rv_config_errors errors;
    rv_config *fresh;

    *ret = (host_reload_result){0};
    rv_config_errors_init(&errors);
    if (read_again(&fresh, config->file, &errors) == REEVE_OK)
        reload(ret, config, fresh, target, &errors);
    else
        reject(ret, config, &errors);
    rv_config_free(fresh);
    rv_config_errors_fini(&errors);
}

void host_reload_before_start(rv_config *config)
{
    host_reload_result ignored = {0};
    rv_config_errors errors;
    rv_config *fresh;

    rv_config_errors_init(&errors);
    if (read_again(&fresh, config->file, &errors) == REEVE_OK) {
        for (size_t i = 0; i < RELOADABLES; i++) rv_config_compare_exchange(config, fresh, reloadables[i].path);
    } else {
        reject(&ignored, config, &errors);
    }
    rv_config_free(fresh);
    rv_config_errors_fini(&errors);
}
