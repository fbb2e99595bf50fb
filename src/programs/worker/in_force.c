#include "in_force.h"

#include <string.h>

#include "base/text.h"

/* ---- what Redis has -------------------------------------------------------------------------------------------- */

/* "COUNT PERIOD BURST", as Redis has it. */
static void read_rate(rv_config_queue *ret, size_t field, const char *text)
{
    long long parts[3];
    bool of_groups = rv_queue_fields[field].first == RV_QUEUE_GROUP_RATE;

    if (!rv_parse_numbers(text, parts, 3, NULL)) return;
    reeve_rate rate = {.count = parts[0], .period_ms = parts[1], .burst = parts[2] == parts[0] ? 0 : parts[2]};
    *(of_groups ? &ret->group_rate : &ret->rate) = rate;
    *(of_groups ? &ret->has_group_rate : &ret->has_rate) = true;
}

/* Of a field that Redis has; a member that its JSON does not have is zero. */
static void note_given(rv_queue_values *values, size_t field)
{
    for (size_t i = 0; i < RV_QUEUE_SETTINGS; i++) {
        const rv_queue_setting *row = &rv_queue_settings[i];

        if (row->field != field) continue;
        if (row->type == RV_QUEUE_IS_TYPE)
            values->given[i] = values->text[i] != NULL && *values->text[i] != '\0';
        else
            values->given[i] = values->number[i] != 0 || (!row->can_unset && row->type != RV_QUEUE_IS_FLAG);
    }
}

reeve_status host_in_force_read(rv_config_queue *ret, const char *queue, const host_changes *read)
{
    reeve_status status = REEVE_OK;

    *ret = (rv_config_queue){.name = (char *)(uintptr_t)queue};
    for (size_t i = 0; i < RV_QUEUE_FIELDS && status == REEVE_OK; i++) {
        const char *text = read->value[i];

        if (text == NULL) continue;
        if (rv_queue_fields[i].type == RV_QUEUE_IS_RATE) {
            read_rate(ret, i, text);
            continue;
        }
        status = rv_queue_settings_read(&ret->settings, i, text, strlen(text));
        note_given(&ret->settings, i);
    }
    return status;
}

/* ---- what becomes of it ---------------------------------------------------------------------------------------- */

static void take_setting(rv_config_queue *to, const rv_config_queue *from, size_t id)
{
    to->settings.given[id] = from->settings.given[id];
    to->settings.number[id] = from->settings.number[id];
    to->settings.text[id] = from->settings.text[id];
    if (id == RV_QUEUE_BACKOFF) to->settings.backoff = from->settings.backoff;
}

/* No limit, off, no type: Redis has nothing then. */
static bool removes(const rv_config_queue *file, size_t id)
{
    const rv_queue_setting *row = &rv_queue_settings[id];

    if (row->type == RV_QUEUE_IS_BACKOFF) return false;
    if (row->type == RV_QUEUE_IS_TYPE) return file->settings.text[id] == NULL || *file->settings.text[id] == '\0';
    return file->settings.number[id] < 0 && (row->can_unset || row->type == RV_QUEUE_IS_FLAG);
}

/* The members of one JSON object are written together. */
static bool is_field_given(const rv_config_queue *file, size_t field)
{
    return rv_queue_settings_is_given(&file->settings, field);
}

static void set_after(rv_config_queue *ret, const rv_config_queue *now, const rv_config_queue *file, size_t id,
                      bool redis_wins)
{
    const rv_queue_setting *row = &rv_queue_settings[id];

    if (redis_wins && now->settings.given[id]) return;
    if (!file->settings.given[id]) {
        if (row->member != NULL && is_field_given(file, row->field) && !redis_wins) ret->settings.given[id] = false;
        return;
    }
    take_setting(ret, file, id);
    if (removes(file, id)) ret->settings.given[id] = false;
}

static void set_rate(bool *has, reeve_rate *rate, bool file_has, const reeve_rate *in_file, bool redis_wins)
{
    if (!file_has || (redis_wins && *has)) return;
    *has = in_file->count > 0;
    *rate = *has ? *in_file : (reeve_rate){0};
}

void host_in_force_after(rv_config_queue *ret, const rv_config_queue *now, const rv_config_queue *file, bool redis_wins)
{
    *ret = *now;
    for (size_t i = 0; i < RV_QUEUE_SETTINGS; i++) set_after(ret, now, file, i, redis_wins);
    set_rate(&ret->has_rate, &ret->rate, file->has_rate, &file->rate, redis_wins);
    set_rate(&ret->has_group_rate, &ret->group_rate, file->has_group_rate, &file->group_rate, redis_wins);
}

/* Whether the file has a setting of the field that Redis does not have. */
static bool is_field_missing(const rv_config_queue *now, const rv_config_queue *file, size_t field)
{
    for (size_t i = 0; i < RV_QUEUE_SETTINGS; i++) {
        if (rv_queue_settings[i].field == field && file->settings.given[i] && !now->settings.given[i]) return true;
    }
    return false;
}

void host_in_force_missing(rv_config_queue *ret, const rv_config_queue *now, const rv_config_queue *file)
{
    *ret = *file;
    for (size_t i = 0; i < RV_QUEUE_SETTINGS; i++) {
        if (!now->settings.given[i]) continue;
        ret->settings.given[i] = false;
        ret->settings.number[i] = 0;
        if (rv_queue_settings[i].member != NULL && is_field_missing(now, file, rv_queue_settings[i].field))
            take_setting(ret, now, i);
    }
    if (now->has_rate) ret->has_rate = false;
    if (now->has_group_rate) ret->has_group_rate = false;
}

reeve_status host_in_force_compare(const rv_config_queue *before, const rv_config_queue *after,
                                   void (*take)(const rv_config_difference *difference, void *context), void *context)
{
    rv_config_queue one = *before, other = *after;
    rv_config old = {.queues = &one, .queue_count = 1}, new = {.queues = &other, .queue_count = 1};

    return rv_config_compare(&old, &new, take, context);
}
