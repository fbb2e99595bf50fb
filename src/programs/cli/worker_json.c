#include "worker_json.h"

#include <cjson/cJSON.h>
#include <math.h>

#include "handle.h"
#include "json.h"

/* What workers of other versions leave out is null. */

static const char *text_of(const cJSON *item, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, name));
}

static int64_t number_of(const cJSON *item, const char *name)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(item, name);

    return cJSON_IsNumber(number) && fabs(number->valuedouble) < 9e15 ? (int64_t)number->valuedouble : -1;
}

static void write_running(cli_json *json, const char *text)
{
    cJSON *list = cJSON_Parse(text);
    const cJSON *item;

    cli_json_open_array(json, "running");
    cJSON_ArrayForEach(item, list)
    {
        const char *queue = text_of(item, "queue"), *id = text_of(item, "id");

        cli_json_open(json, NULL);
        cli_json_text(json, "thread", text_of(item, "thread"));
        cli_handle_json(json, queue == NULL ? "" : queue, id == NULL ? "" : id);
        cli_json_text(json, "type", text_of(item, "type"));
        cli_json_maybe(json, "for_ms", number_of(item, "for_ms"));
        cli_json_bool(json, "stuck", cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "stuck")));
        cli_json_close(json);
    }
    cli_json_close_array(json);
    cJSON_Delete(list);
}

static void write_share(cli_json *json, const char *name, const cJSON *share)
{
    if (cJSON_IsNumber(share) && share->valuedouble >= 0 && share->valuedouble <= 1)
        cli_json_real(json, name, share->valuedouble);
    else
        cli_json_null(json, name);
}

static void write_pools(cli_json *json, const char *text)
{
    cJSON *list = cJSON_Parse(text);
    const cJSON *item;

    cli_json_open_array(json, "pools");
    cJSON_ArrayForEach(item, list)
    {
        char *queues = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(item, "queues"));
        const char *order = text_of(item, "order"), *isolation = text_of(item, "isolation");

        cli_json_open(json, NULL);
        cli_json_text(json, "name", text_of(item, "name"));
        cli_json_maybe(json, "threads", number_of(item, "threads"));
        cli_json_maybe(json, "busy", number_of(item, "busy"));
        cli_json_maybe(json, "min_threads", number_of(item, "min"));
        cli_json_maybe(json, "max_threads", number_of(item, "max"));
        cli_json_maybe(json, "wait_ms", number_of(item, "wait_ms"));
        write_share(json, "processor_share", cJSON_GetObjectItemCaseSensitive(item, "processor"));
        cli_json_text(json, "decision", text_of(item, "why"));
        cli_json_text(json, "isolation", isolation == NULL ? "thread" : isolation);
        cli_json_text(json, "sandbox", text_of(item, "sandbox"));
        cli_json_text(json, "order", order == NULL ? "strict" : order);
        write_share(json, "utilisation", cJSON_GetObjectItemCaseSensitive(item, "utilisation"));
        write_share(json, "utilisation_5m", cJSON_GetObjectItemCaseSensitive(item, "utilisation_5m"));
        write_share(json, "utilisation_15m", cJSON_GetObjectItemCaseSensitive(item, "utilisation_15m"));
        cli_json_raw(json, "queues", queues);
        cli_json_close(json);
        cJSON_free(queues);
    }
    cli_json_close_array(json);
    cJSON_Delete(list);
}

static void write_plugins(cli_json *json, const char *text)
{
    cJSON *list = text != NULL ? cJSON_Parse(text) : NULL;
    const cJSON *item;

    cli_json_open_array(json, "plugins");
    cJSON_ArrayForEach(item, list)
    {
        cli_json_open(json, NULL);
        cli_json_text(json, "name", text_of(item, "name"));
        cli_json_text(json, "version", text_of(item, "version"));
        cli_json_text(json, "path", text_of(item, "path"));
        cli_json_maybe(json, "loaded_ms", number_of(item, "loaded"));
        cli_json_bool(json, "ends", cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "ends")));
        cli_json_close(json);
    }
    cli_json_close_array(json);
    cJSON_Delete(list);
}

void cli_worker_json(const reeve_worker_info *info, FILE *out)
{
    cli_json json;

    cli_json_begin(&json, out);
    cli_json_text(&json, "worker", info->id);
    cli_json_text(&json, "name", info->name);
    cli_json_text(&json, "host", info->host);
    cli_json_int(&json, "pid", info->pid);
    cli_json_text(&json, "version", info->version);
    cli_json_text(&json, "state", info->state);
    cli_json_maybe(&json, "started_ms", info->started_ms);
    cli_json_maybe(&json, "seen_ms", info->seen_ms);
    cli_json_uint(&json, "threads", info->threads);
    cli_json_uint(&json, "busy", info->busy);
    cli_json_uint(&json, "processed", info->processed);
    cli_json_uint(&json, "failed", info->failed);
    cli_json_maybe(&json, "memory_bytes", info->memory_bytes > 0 ? info->memory_bytes : -1);
    cli_json_maybe(&json, "round_trip_us", info->round_trip_us > 0 ? info->round_trip_us : -1);
    if (info->utilisation >= 0)
        cli_json_real(&json, "utilisation", info->utilisation);
    else
        cli_json_null(&json, "utilisation");
    write_running(&json, info->running);
    write_pools(&json, info->pools);
    write_plugins(&json, info->plugins);
    cli_json_raw(&json, "types", info->types);
    cli_json_bool(&json, "types_more", info->types_more);
    cli_json_end(&json);
}
