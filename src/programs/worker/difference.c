#include "difference.h"

#include <cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "changes.h"
#include "config/config_compare.h"
#include "configured_limits.h"
#include "cron_stored.h"
#include "handlers/plugin.h"
#include "in_force.h"
#include "running/processors.h"
#include "setup.h"

#define CALL_MS 5000

enum { EXIT_REFUSED = 1, EXIT_NO_REDIS = 3 };

typedef struct report {
    const rv_config *config;
    const host_plugins *plugins; /* those of the configuration, as they are now */
    reeve_client *client;
    const char *prefix; /* of each line */
    const char *note;   /* behind each line */
    size_t lines;
} report;

static void print_line(const rv_config_difference *of, void *context)
{
    report *to = context;

    to->lines++;
    (void)printf("%s%s: %s -> %s%s\n", to->prefix, of->path, of->from, of->to, to->note);
}

static bool redis_wins(const report *to)
{
    return to->config->worker.settings_from == RV_SETTINGS_FROM_REDIS;
}

static const char note_kept[] = " (stays as it is in Redis: worker.settings_from)";

/* ---- settings of queues ---------------------------------------------------------------------------------------- */

static reeve_status compare_queue(report *to, const rv_config_queue *file)
{
    host_changes stored;
    rv_config_queue now, wanted, after;

    reeve_status status = host_changes_read(&stored, to->client, file->name);
    if (status == REEVE_OK) status = host_in_force_read(&now, file->name, &stored);
    if (status == REEVE_OK) {
        host_in_force_after(&wanted, &now, file, false);
        host_in_force_after(&after, &now, file, redis_wins(to));
        to->note = "";
        status = host_in_force_compare(&now, &after, print_line, to);
        to->note = note_kept;
        if (status == REEVE_OK && redis_wins(to)) status = host_in_force_compare(&after, &wanted, print_line, to);
    }
    host_changes_fini(&stored);
    return status;
}

/* ---- limits of types and limit keys --------------------------------------------------------------------------- */

static void print_limit(const rv_config_difference *of, void *context)
{
    report *to = context;

    to->note = redis_wins(to) && strcmp(of->from, "not set") != 0 ? note_kept : "";
    print_line(of, to);
}

static reeve_status compare_limits(report *to)
{
    reeve_status status = REEVE_OK;

    for (size_t i = 0; i < to->config->limit_count && status == REEVE_OK; i++)
        status = host_configured_limits_compare(to->client, &to->config->limits[i], print_limit, to);
    to->note = "";
    return status;
}

/* ---- recurring entries ----------------------------------------------------------------------------------------- */

static reeve_status compare_entries(report *to)
{
    host_cron_stored stored;

    reeve_status status = host_cron_stored_read(&stored, to->client);
    for (size_t i = 0; i < to->config->cron_count && status == REEVE_OK; i++) {
        const rv_config_cron *cron = &to->config->cron[i];
        char path[256];

        to->note = redis_wins(to) ? note_kept : "";
        if (host_cron_stored_compare(&stored, cron, print_line, to)) continue;
        (void)snprintf(path, sizeof(path), "cron.%s", cron->name);
        to->note = "";
        print_line(&(rv_config_difference){.row = "cron", .path = path, .from = "absent", .to = cron->spec}, to);
    }
    host_cron_stored_fini(&stored);
    return status;
}

/* ---- pools of running workers ---------------------------------------------------------------------------------- */

static const rv_config_pool *find_pool(const rv_config *config, const char *name)
{
    char other[HOST_POOL_NAME_SIZE];

    for (size_t i = 0; i < config->pool_count; i++) {
        if (strcmp(host_pool_name(other, config, i), name) == 0) return &config->pools[i];
    }
    return NULL;
}

static reeve_order order_of(const cJSON *pool)
{
    const char *order = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(pool, "order"));

    if (order == NULL) return REEVE_ORDER_STRICT;
    return strcmp(order, "weighted") == 0 ? REEVE_ORDER_WEIGHTED : REEVE_ORDER_ROUND_ROBIN;
}

/* The number of threads in the form of the file, if it means the same there. */
static void read_threads(rv_config_pool *ret, const rv_config_pool *file, const cJSON *pool)
{
    int64_t threads = (int64_t)cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(pool, "threads"));
    const cJSON *min = cJSON_GetObjectItemCaseSensitive(pool, "min"),
                *max = cJSON_GetObjectItemCaseSensitive(pool, "max");
    unsigned processors = 0;
    rv_error error = {0};

    if (cJSON_IsNumber(min) && cJSON_IsNumber(max)) {
        ret->threads.min = (int64_t)cJSON_GetNumberValue(min);
        ret->threads.max = (int64_t)cJSON_GetNumberValue(max);
        return;
    }
    if (file != NULL && file->threads.max == 0 && rv_processors_of(file->cpus, &processors, &error) == REEVE_OK &&
        threads == processors)
        return;
    ret->threads.min = file != NULL && file->threads.min == threads ? threads : 0;
    ret->threads.max = threads;
}

/* A pool as the worker reports it; what it does not report is as in the file. It points into the JSON. */
static bool read_pool(rv_config_pool *ret, const rv_config *config, const cJSON *pool)
{
    const cJSON *queues = cJSON_GetObjectItemCaseSensitive(pool, "queues"), *queue;
    const cJSON *threads = cJSON_GetObjectItemCaseSensitive(pool, "threads");
    char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(pool, "name"));
    size_t count = (size_t)cJSON_GetArraySize(queues);

    if (name == NULL || !cJSON_IsNumber(threads)) return false;
    const rv_config_pool *file = find_pool(config, name);
    if (file != NULL) *ret = *file;
    ret->name = name;
    read_threads(ret, file, pool);
    ret->order = order_of(pool);
    ret->queues = rv_zalloc_array(count + 1, sizeof(*ret->queues));
    ret->queue_count = 0;
    if (ret->queues == NULL) return false;
    cJSON_ArrayForEach(queue, queues)
    {
        char *text = cJSON_GetStringValue(queue);
        if (text != NULL) ret->queues[ret->queue_count++].text = text;
    }
    return true;
}

/* A pool that a reload would remove. A worker does not report its other settings. */
static void print_removed(report *to, const rv_config_pool *pool)
{
    char path[HOST_POOL_NAME_SIZE + 8];
    rv_buf text;

    rv_buf_init(&text, 65536);
    rv_buf_adds(&text, "{ queues = [");
    for (size_t i = 0; i < pool->queue_count; i++)
        rv_buf_addf(&text, "%s \"%s\"", i > 0 ? "," : "", pool->queues[i].text);
    rv_buf_adds(&text, " ]; threads = ");
    if (pool->threads.min > 0 && pool->threads.min != pool->threads.max)
        rv_buf_addf(&text, "{ min = %" PRId64 "; max = %" PRId64 "; }; }", pool->threads.min, pool->threads.max);
    else
        rv_buf_addf(&text, "%" PRId64 "; }", pool->threads.max);
    (void)snprintf(path, sizeof(path), "pools.%s", pool->name);
    print_line(
        &(rv_config_difference){
            .row = "pools", .path = path, .from = text.failed ? "present" : rv_buf_text(&text), .to = "absent"},
        to);
    rv_buf_fini(&text);
}

/* ---- plugins of running workers -------------------------------------------------------------------------------- */

static const char *text_of(const cJSON *item, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, name));

    return text != NULL ? text : "";
}

/* The present version of a plugin in the worker's record, or NULL. */
static const cJSON *find_version(const cJSON *plugins, const char *name)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, plugins)
    {
        bool ends = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "ends"));
        if (!ends && strcmp(text_of(item, "name"), name) == 0) return item;
    }
    return NULL;
}

/* Whether the worker has the file as it is now. Its path may be relative to another directory there. */
static bool is_loaded(const cJSON *item, const reeve_plugin_handle *plugin)
{
    const char *version = reeve_plugin_get(plugin)->version;
    const struct timespec *modified = &plugin->stamp.modified;
    double loaded = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(item, "loaded"));

    return strcmp(text_of(item, "version"), version != NULL ? version : "") == 0 &&
           loaded >= (double)modified->tv_sec * 1e3 + (double)modified->tv_nsec / 1e6;
}

typedef struct plugin_text {
    char text[300];
} plugin_text;

static const char *describe(plugin_text *ret, const char *version, const char *path)
{
    bool has_version = version != NULL && *version != '\0';

    (void)snprintf(ret->text, sizeof(ret->text), "%.60s (%.200s)", has_version ? version : "no version", path);
    return ret->text;
}

static void print_version(report *to, const char *name, const char *from, const char *to_version)
{
    char path[160];

    (void)snprintf(path, sizeof(path), "plugins.%.120s.version", name);
    print_line(&(rv_config_difference){.row = "plugins", .path = path, .from = from, .to = to_version}, to);
}

static void compare_plugin(report *to, const cJSON *loaded, const reeve_plugin_handle *handle)
{
    const reeve_plugin *plugin = reeve_plugin_get(handle);
    const cJSON *item = find_version(loaded, plugin->name);
    plugin_text from, wanted;

    if (item != NULL && is_loaded(item, handle)) return;
    print_version(to, plugin->name,
                  item != NULL ? describe(&from, text_of(item, "version"), text_of(item, "path")) : "absent",
                  describe(&wanted, plugin->version, reeve_plugin_path(handle)));
}

static bool is_wanted(const host_plugins *plugins, const char *name)
{
    for (size_t i = 0; i < plugins->count; i++) {
        if (strcmp(reeve_plugin_get(plugins->handles[i])->name, name) == 0) return true;
    }
    return false;
}

static void compare_plugins(report *to, const reeve_worker_info *worker)
{
    cJSON *loaded = cJSON_Parse(worker->plugins != NULL ? worker->plugins : "[]");
    const cJSON *item;

    for (size_t i = 0; i < to->plugins->count; i++) compare_plugin(to, loaded, to->plugins->handles[i]);
    cJSON_ArrayForEach(item, loaded)
    {
        const char *name = text_of(item, "name");
        plugin_text from;

        if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "ends")) || is_wanted(to->plugins, name)) continue;
        print_version(to, name, describe(&from, text_of(item, "version"), text_of(item, "path")), "absent");
    }
    cJSON_Delete(loaded);
}

/* ---- the records of running workers ---------------------------------------------------------------------------- */

static void compare_pools(report *to, const reeve_worker_info *worker)
{
    cJSON *all = cJSON_Parse(worker->pools != NULL ? worker->pools : "[]");
    const cJSON *pool;
    rv_config now = {.pools = rv_zalloc_array((size_t)cJSON_GetArraySize(all) + 1, sizeof(rv_config_pool))};
    rv_config file = {.pools = to->config->pools, .pool_count = to->config->pool_count};
    char prefix[300];

    (void)snprintf(prefix, sizeof(prefix), "worker %s: ", worker->id);
    to->prefix = prefix;
    to->note = "";
    bool good = now.pools != NULL;
    cJSON_ArrayForEach(pool, all)
    {
        rv_config_pool *next = &now.pools[now.pool_count];
        if (good) good = read_pool(next, to->config, pool);
        if (!good) break;
        now.pool_count++;
        if (find_pool(to->config, next->name) != NULL) continue;
        print_removed(to, next);
        rv_free(next->queues);
        *next = (rv_config_pool){0};
        now.pool_count--;
    }
    if (good) (void)rv_config_compare(&now, &file, print_line, to);
    compare_plugins(to, worker);
    for (size_t i = 0; i < now.pool_count; i++) rv_free(now.pools[i].queues);
    rv_free(now.pools);
    cJSON_Delete(all);
    to->prefix = "";
}

/* What is not compared is reported: otherwise "no differences" would seem to include it. */
static void warn_absent(const char *name)
{
    (void)fprintf(stderr,
                  "reeve-worker: --diff: no live worker has the name \"%s\": pools and plugins were not compared\n",
                  name);
}

static reeve_status compare_workers(report *to)
{
    reeve_worker_info *list;
    size_t count, compared = 0;
    char host[256] = "";

    if (to->config->worker.name == NULL) (void)gethostname(host, sizeof(host) - 1);
    const char *name = to->config->worker.name != NULL ? to->config->worker.name : host;
    reeve_status status = reeve_workers(to->client, &list, &count);
    if (status != REEVE_OK) return status;
    for (size_t i = 0; i < count; i++) {
        if (list[i].name == NULL || strcmp(list[i].name, name) != 0) continue;
        compare_pools(to, &list[i]);
        compared++;
    }
    reeve_workers_free(list, count);
    if (compared == 0) warn_absent(name);
    return REEVE_OK;
}

/* ---- all of it ------------------------------------------------------------------------------------------------- */

static reeve_status compare_all(report *to)
{
    reeve_status status = REEVE_OK;

    for (size_t i = 0; i < to->config->queue_count && status == REEVE_OK; i++)
        status = compare_queue(to, &to->config->queues[i]);
    if (status == REEVE_OK) status = compare_limits(to);
    if (status == REEVE_OK) status = compare_entries(to);
    return status == REEVE_OK ? compare_workers(to) : status;
}

int host_difference_print(const rv_config *config, const host_plugins *plugins, const char *redis)
{
    reeve_client_options options = {.size = sizeof(options),
                                    .redis = redis,
                                    .tls = &config->tls,
                                    .ns = config->ns,
                                    .timeout_ms = CALL_MS,
                                    .name = "reeve-worker-diff"};
    report to = {.config = config, .plugins = plugins, .prefix = "", .note = ""};
    char words[512];

    if (reeve_client_open_with_error(&to.client, &options, words, sizeof(words)) != REEVE_OK) {
        (void)fprintf(stderr, "reeve-worker: --diff: %s\n", words);
        return EXIT_NO_REDIS;
    }
    reeve_status status = compare_all(&to);
    if (status != REEVE_OK) (void)fprintf(stderr, "reeve-worker: --diff: %s\n", reeve_client_error(to.client));
    if (status == REEVE_OK && to.lines == 0) (void)printf("no differences\n");
    reeve_client_close(to.client);
    if (fflush(stdout) != 0) return EXIT_REFUSED;
    if (status == REEVE_OK) return 0;
    return status == REEVE_ECONNECT || status == REEVE_ELOST || status == REEVE_ETIMEOUT ? EXIT_NO_REDIS : EXIT_REFUSED;
}
