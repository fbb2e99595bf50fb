/*
 * cron_fetch.c - an entry as it was set, read back from its definition.
 */
#include <string.h>

#include "base/mem.h"
#include "client/client.h"
#include "client/cron_index.h"
#include "protocol/cron_definition.h"
#include "protocol/cron_layered.h"
#include "protocol/json_parse.h"
#include "protocol/option_read.h"
#include "protocol/scripts.h"
#include "protocol/task_options.h"
#include "protocol/task_policy.h"

/* What a caller gets, with all that it points to. The entry is first: reeve_cron_entry_free is given that. */
typedef struct owned_entry {
    reeve_cron_entry entry;
    reeve_task_spec task;
    rv_task_policy policy;
    const char *tags[REEVE_TAGS_MAX];
    const char *limit_keys[REEVE_LIMIT_KEYS_MAX];
    reeve_meta *meta;
    cJSON *line, *header; /* the texts stand in these */
    char *payload;
    char queue[REEVE_QUEUE_MAX + 1];
    char name[REEVE_CRON_NAME_MAX + 1];
    char layered[RV_CRON_LAYERED_MAX];
} owned_entry;

void reeve_cron_entry_free(reeve_cron_entry *entry)
{
    owned_entry *owned = (owned_entry *)entry;
    if (owned == NULL) return;
    cJSON_Delete(owned->line);
    cJSON_Delete(owned->header);
    rv_free(owned->payload);
    rv_free(owned->meta);
    rv_free(owned);
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static const char *text_of(const cJSON *json, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
}

/* Returns how many texts were read, at most `max`. */
static size_t read_texts(const owned_entry *owned, const char *name, const char **ret, size_t max)
{
    const cJSON *item;
    size_t count = 0;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(owned->header, name))
    {
        if (cJSON_IsString(item) && count < max) ret[count++] = item->valuestring;
    }
    return count;
}

static bool read_meta(owned_entry *owned)
{
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(owned->header, "meta"), *item;
    int count = cJSON_IsObject(object) ? cJSON_GetArraySize(object) : 0;
    if (count == 0) return true;
    owned->meta = rv_zalloc_array((size_t)count, sizeof(*owned->meta));
    if (owned->meta == NULL) return false;
    cJSON_ArrayForEach(item, object)
    {
        if (cJSON_IsString(item)) owned->meta[owned->task.meta_count++] = (reeve_meta){item->string, item->valuestring};
    }
    owned->task.meta = owned->meta;
    return true;
}

static void read_rule(owned_entry *owned, const rv_cron_rule *rule)
{
    reeve_cron_entry *entry = &owned->entry;
    entry->size = sizeof(*entry);
    entry->name = owned->name;
    entry->spec = text_of(owned->line, "spec");
    entry->local = rule->zone == RV_ZONE_LOCAL;
    entry->zone = rule->zone == RV_ZONE_UTC || entry->local ? NULL : rv_zone_name(rule->zone);
    entry->catch_up = rule->catch_up;
    entry->catch_up_max = rule->catch_up == REEVE_CATCH_UP_ALL ? rule->max : 0;
    entry->no_overlap = rule->no_overlap;
    entry->starts_ms = rule->starts_ms;
    entry->ends_ms = rule->ends_ms;
    entry->offset_ms = rule->cron.offset_ms;
    entry->jitter_ms = rule->jitter_ms;
    entry->runs = rule->runs;
    entry->task = &owned->task;
}

#define WHOLE(field, name, min, max, type) task->field = (type)rv_option_read_int(header, name, min, max);
#define SPAN(field, name) task->field = rv_option_read_span(header, name);
#define FLAG(field, name) task->field = rv_option_read_flag(header, name);
#define TEXT(field, name) task->field = text_of(header, name);

/* False: no memory. */
static bool read_layered(owned_entry *owned)
{
    const char *digest = text_of(owned->line, "layered");
    if (digest == NULL || !rv_cron_layered_is_digest(digest)) return true;
    owned->entry.layered = owned->layered;
    return rv_cron_layered_write(owned->layered, digest, &owned->task);
}

/* What an entry may say of its tasks; what only a foreign producer can have written is left out. */
static bool read_task(owned_entry *owned)
{
    const cJSON *header = owned->header, *options = cJSON_GetObjectItemCaseSensitive(owned->line, "options");
    reeve_task_spec *task = &owned->task;
    task->size = sizeof(*task);
    task->queue = owned->queue;
    task->type = text_of(header, "type");
    RV_CRON_OPTIONS_READ(WHOLE, SPAN, FLAG, TEXT)
    task->backoff = owned->policy.has_backoff ? &owned->policy.backoff : NULL;
    task->deadline_ms = rv_option_read_span(options, "deadline");
    task->expires_in_ms = rv_option_read_span(options, "expires");
    task->tags = owned->tags;
    task->tag_count = read_texts(owned, "tags", owned->tags, REEVE_TAGS_MAX);
    task->limit_keys = owned->limit_keys;
    task->limit_key_count = read_texts(owned, "limit_keys", owned->limit_keys, REEVE_LIMIT_KEYS_MAX);
    return read_meta(owned);
}

/* The rest of the envelopes, without its first byte: '"type":"t"}\n<payload>'. REEVE_EINVAL: it is none. */
static reeve_status read_rest(owned_entry *owned, const char *rest, size_t length)
{
    const char *end = memchr(rest, '\n', length);
    if (end == NULL) return REEVE_EINVAL;
    rv_buf header;
    rv_buf_init(&header, length + 2);
    rv_buf_addc(&header, '{');
    rv_buf_add(&header, rest, (size_t)(end - rest));
    owned->task.payload.length = length - (size_t)(end + 1 - rest);
    owned->payload = rv_strndup(end + 1, owned->task.payload.length);
    owned->task.payload.data = owned->payload;
    reeve_status status = header.failed || owned->payload == NULL ? REEVE_ENOMEM : REEVE_OK;
    if (status == REEVE_OK) {
        status = rv_json_parse_object(&owned->header, header.data, header.length);
        rv_task_policy_take(&owned->policy, owned->header);
    }
    rv_buf_fini(&header);
    return status;
}

static reeve_status read_definition(owned_entry *owned, const rv_reply *definition, rv_error *error)
{
    const char *end = memchr(definition->text, '\n', definition->length);
    size_t length = end != NULL ? (size_t)(end - definition->text) : 0;
    rv_cron_rule rule;
    reeve_status status = rv_cron_definition_read_rule(&rule, owned->name, definition->text, length, error);
    if (status != REEVE_OK) return status;
    status = rv_json_parse(&owned->line, definition->text, length);
    if (status == REEVE_OK) status = read_rest(owned, end + 1, definition->length - length - 1);
    if (status == REEVE_OK && !read_task(owned)) status = REEVE_ENOMEM;
    if (status == REEVE_ENOMEM) return rv_fail(error, status, "no memory for a recurring entry");
    if (status != REEVE_OK) return rv_fail(error, status, "its tasks' envelope is none");
    read_rule(owned, &rule);
    status = rv_cron_definition_check(&owned->entry, error);
    if (status != REEVE_OK || read_layered(owned)) return status;
    return rv_fail(error, REEVE_ENOMEM, "no memory for a recurring entry");
}

/* ---- asking ---------------------------------------------------------------------------------------------------- */

static reeve_status no_entry(reeve_client *client, const char *queue, const char *name)
{
    if (queue == NULL) return rv_fail(&client->error, REEVE_ENOTFOUND, "there is no recurring entry %s", name);
    return rv_fail(&client->error, REEVE_ENOTFOUND, "there is no recurring entry %s/%s", queue, name);
}

static reeve_status read_owned(const char *queue, const char *name, const rv_reply *definition, reeve_cron_entry **ret,
                               rv_error *error)
{
    owned_entry *owned = rv_zalloc(sizeof(*owned));
    if (owned == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a recurring entry");
    rv_copy_text(owned->queue, sizeof(owned->queue), queue);
    rv_copy_text(owned->name, sizeof(owned->name), name);
    reeve_status status = read_definition(owned, definition, error);
    if (status == REEVE_OK)
        *ret = &owned->entry;
    else
        reeve_cron_entry_free(&owned->entry);
    return status;
}

reeve_status rv_cron_fetch_read(const char *queue, const char *name, const rv_reply *definition, reeve_cron_entry **ret)
{
    rv_error error = {0};
    *ret = NULL;
    return read_owned(queue, name, definition, ret, &error);
}

static reeve_status read_entry(reeve_client *client, const char *queue, const char *name, const rv_reply *definition,
                               reeve_cron_entry **ret)
{
    rv_error why = {0};
    reeve_status status = read_owned(queue, name, definition, ret, &why);
    if (status == REEVE_OK) return status;
    if (status == REEVE_EINVAL) status = REEVE_EPROTO;
    return rv_fail(&client->error, status, "the recurring entry %s/%s: %s", queue, name, why.text);
}

reeve_status rv_cron_fetch(reeve_client *client, const char *queue, const char *name, const rv_reply **ret)
{
    const rv_reply *reply;
    rv_simple_call call = {.script = &rv_script_cron_look, .queue = queue, .args = {"get", name}, .count = 2};
    reeve_status status = rv_client_script(client, &call, &reply, NULL);
    *ret = NULL;
    if (status != REEVE_OK || rv_reply_is(reply, RV_NIL)) return status;
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 3 || !rv_reply_is(reply->items[0], RV_TEXT))
        return rv_client_odd_reply(client, "cron");
    *ret = reply;
    return REEVE_OK;
}

reeve_status reeve_cron_get(reeve_client *client, const char *queue, const char *name, reeve_cron_entry **ret)
{
    char known[REEVE_QUEUE_MAX + 1];
    const rv_reply *reply;
    if (client == NULL || ret == NULL) return REEVE_EINVAL;
    *ret = NULL;
    reeve_status status = rv_cron_definition_check_name(name, &client->error);
    if (status == REEVE_OK && queue == NULL) {
        status = rv_cron_index_read(client, name, known);
        if (status == REEVE_OK && known[0] == '\0') return no_entry(client, NULL, name);
        queue = known;
    }
    if (status == REEVE_OK) status = rv_cron_fetch(client, queue, name, &reply);
    if (status != REEVE_OK) return status;
    return reply != NULL ? read_entry(client, queue, name, reply->items[0], ret) : no_entry(client, queue, name);
}
