#include "cron_stored.h"

#include <stdio.h>
#include <string.h>

#include "protocol/cron_layered.h"

reeve_status host_cron_stored_read(host_cron_stored *ret, reeve_client *client)
{
    *ret = (host_cron_stored){0};
    return reeve_cron_list(client, NULL, &ret->list, &ret->count);
}

void host_cron_stored_fini(host_cron_stored *stored)
{
    reeve_cron_free(stored->list, stored->count);
    *stored = (host_cron_stored){0};
}

static const reeve_cron_info *find(const host_cron_stored *stored, const char *name)
{
    for (size_t i = 0; i < stored->count; i++) {
        if (strcmp(stored->list[i].name, name) == 0) return &stored->list[i];
    }
    return NULL;
}

typedef struct comparison {
    const char *name;
    void (*take)(const rv_config_difference *difference, void *context);
    void *context;
    size_t count;
} comparison;

static void tell(comparison *in, const char *row, const char *member, const char *from, const char *to)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "cron.%s%s", in->name, member);
    in->take(&(rv_config_difference){.row = row, .path = path, .from = from, .to = to}, in->context);
    in->count++;
}

static void compare_text(comparison *in, const char *row, const char *member, const char *from, const char *to)
{
    if (strcmp(from, to) != 0) tell(in, row, member, from, to);
}

static void compare(comparison *in, const reeve_cron_info *stored, const reeve_cron_entry *wanted)
{
    compare_text(in, "cron[].queue", ".queue", stored->queue, wanted->task->queue);
    compare_text(in, "cron[].spec", ".spec", stored->spec, wanted->spec);
    if (stored->entry != NULL) compare_text(in, "cron[].type", ".type", stored->entry->task->type, wanted->task->type);
    if (in->count == 0 && (stored->entry == NULL || !rv_cron_layered_is_made_of(stored->entry, wanted)))
        tell(in, "cron", "", "other options", "those of the file");
}

bool host_cron_stored_compare(const host_cron_stored *stored, const rv_config_cron *cron,
                              void (*take)(const rv_config_difference *difference, void *context), void *context)
{
    const reeve_cron_info *there = find(stored, cron->name);
    comparison in = {.name = cron->name, .take = take, .context = context};
    rv_config_entry made;

    if (there == NULL || rv_config_entry_make(&made, cron) != REEVE_OK) return there != NULL;
    compare(&in, there, &made.entry);
    rv_config_entry_fini(&made);
    return true;
}
