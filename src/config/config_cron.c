/*
 * From the settings of a recurring entry to what the library takes.
 */
#include <string.h>

#include "base/mem.h"
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
                            .attempts = (int)cron->attempts,
                            .max_crashes = (int)cron->max_crashes,
                            .timeout_ms = cron->timeout_ms,
                            .backoff = cron->has_backoff ? &cron->backoff : NULL};

    return task;
}

reeve_status rv_config_entry_make(rv_config_entry *ret, const rv_config_cron *cron)
{
    reeve_cron_entry entry = {.size = sizeof(entry),
                              .name = cron->name,
                              .spec = cron->spec,
                              .local = cron->zone == RV_ZONE_LOCAL,
                              .catch_up = cron->catch_up,
                              .catch_up_max = (unsigned)cron->catch_up_max,
                              .no_overlap = !cron->overlap,
                              .task = &ret->task};

    ret->entry = entry;
    ret->task = task_of(cron);
    ret->tags = rv_zalloc_array(cron->tag_count + 1, sizeof(*ret->tags));
    if (ret->tags == NULL) return REEVE_ENOMEM;
    for (size_t i = 0; i < cron->tag_count; i++) ret->tags[i] = cron->tags[i].text;
    ret->task.tags = ret->tags;
    ret->task.tag_count = cron->tag_count;
    return REEVE_OK;
}

void rv_config_entry_fini(rv_config_entry *entry)
{
    rv_free(entry->tags);
    entry->tags = NULL;
}
