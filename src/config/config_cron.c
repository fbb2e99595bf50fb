/*
 * From the settings of a recurring entry to what the library takes.
 */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/config.h"

static reeve_task_spec task_of(const rv_config_cron *cron)
{
    size_t length = cron->payload == NULL ? 0 : strlen(cron->payload);
    reeve_task_spec task = {.size = sizeof(task),
                            .queue = cron->queue,
                            .type = cron->type,
                            .payload = {cron->payload, length},
                            .priority = (int)cron->priority,
                            .group = cron->group,
                            .weight = (unsigned)cron->weight,
                            .cost = (int)cron->cost,
                            .attempts = (int)cron->attempts,
                            .max_crashes = (int)cron->max_crashes,
                            .timeout_ms = cron->timeout_ms,
                            .backoff = cron->has_backoff ? &cron->backoff : NULL,
                            .on_dead = cron->on_dead,
                            .expires_in_ms = cron->expires_in_ms,
                            .heartbeat_ms = cron->heartbeat_ms,
                            .retry_for_ms = cron->retry_for_ms,
                            .max_snoozes = (int)cron->max_snoozes,
                            .keep_ms = cron->keep_ms,
                            .at_most_once = cron->at_most_once};

    return task;
}

/* 0: it is not set. It was checked. */
static int64_t time_of(const char *text)
{
    int64_t ms = 0;

    return text != NULL && rv_parse_time(text, &ms) ? ms : 0;
}

/* Each is "KEY=VALUE"; one without a value has an empty key, which the check of the entry refuses. */
static bool make_meta(rv_config_entry *ret, const rv_config_cron *cron)
{
    size_t length = 1;

    for (size_t i = 0; i < cron->meta_count; i++) length += strlen(cron->meta[i].text) + 1;
    ret->meta = rv_zalloc_array(cron->meta_count + 1, sizeof(*ret->meta));
    ret->meta_text = rv_alloc(length);
    if (ret->meta == NULL || ret->meta_text == NULL) return false;
    char *at = ret->meta_text;
    for (size_t i = 0; i < cron->meta_count; i++) {
        size_t size = strlen(cron->meta[i].text) + 1;
        memcpy(at, cron->meta[i].text, size);
        char *equals = strchr(at, '=');
        ret->meta[i] = (reeve_meta){equals != NULL ? at : "", equals != NULL ? equals + 1 : at};
        if (equals != NULL) *equals = '\0';
        at += size;
    }
    ret->task.meta = ret->meta;
    ret->task.meta_count = cron->meta_count;
    return true;
}

static bool make_texts(rv_config_entry *ret, const rv_config_cron *cron)
{
    ret->tags = rv_zalloc_array(cron->tag_count + 1, sizeof(*ret->tags));
    ret->limit_keys = rv_zalloc_array(cron->limit_key_count + 1, sizeof(*ret->limit_keys));
    if (ret->tags == NULL || ret->limit_keys == NULL) return false;
    for (size_t i = 0; i < cron->tag_count; i++) ret->tags[i] = cron->tags[i].text;
    for (size_t i = 0; i < cron->limit_key_count; i++) ret->limit_keys[i] = cron->limit_keys[i].text;
    ret->task.tags = ret->tags;
    ret->task.tag_count = cron->tag_count;
    ret->task.limit_keys = ret->limit_keys;
    ret->task.limit_key_count = cron->limit_key_count;
    return true;
}

reeve_status rv_config_entry_make(rv_config_entry *ret, const rv_config_cron *cron)
{
    const reeve_cron_entry entry = {.size = sizeof(entry),
                                    .name = cron->name,
                                    .spec = cron->spec,
                                    .zone = cron->zone,
                                    .catch_up = cron->catch_up,
                                    .catch_up_max = (unsigned)cron->catch_up_max,
                                    .no_overlap = !cron->overlap,
                                    .starts_ms = time_of(cron->starts),
                                    .ends_ms = time_of(cron->ends),
                                    .offset_ms = cron->offset_ms,
                                    .jitter_ms = cron->jitter_ms,
                                    .runs = cron->runs,
                                    .task = &ret->task};

    *ret = (rv_config_entry){.entry = entry, .task = task_of(cron)};
    if (!make_texts(ret, cron) || !make_meta(ret, cron)) {
        rv_config_entry_fini(ret);
        return REEVE_ENOMEM;
    }
    return REEVE_OK;
}

void rv_config_entry_fini(rv_config_entry *entry)
{
    rv_free(entry->tags);
    rv_free(entry->limit_keys);
    rv_free(entry->meta);
    rv_free(entry->meta_text);
    entry->tags = entry->limit_keys = NULL;
    entry->meta = NULL;
    entry->meta_text = NULL;
}
