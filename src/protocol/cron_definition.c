#include "protocol/cron_definition.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "base/layout.h"
#include "base/text.h"
#include "protocol/envelope.h"
#include "protocol/spec.h"

static const char *const catch_ups[] = {"once", "skip", "all"};
#define CATCH_UPS (sizeof(catch_ups) / sizeof(catch_ups[0]))

const char *rv_cron_definition_catch_up_name(reeve_catch_up catch_up)
{
    return (size_t)catch_up < CATCH_UPS ? catch_ups[catch_up] : "";
}

bool rv_cron_definition_parse_catch_up(const char *name, reeve_catch_up *ret)
{
    for (size_t i = 0; i < CATCH_UPS; i++) {
        if (strcmp(name, catch_ups[i]) != 0) continue;
        *ret = (reeve_catch_up)i;
        return true;
    }
    return false;
}

/* ---- checking -------------------------------------------------------------------------------------------------- */

reeve_status rv_cron_definition_check_name(const char *name, rv_error *error)
{
    _Static_assert(REEVE_CRON_NAME_MAX == REEVE_QUEUE_MAX, "entries have the names of queues");
    if (name == NULL || *name == '\0') return rv_fail(error, REEVE_EINVAL, "the entry has no name");
    if (rv_valid_queue(name, strlen(name))) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL,
                   "\"%.100s\" is no entry's name: expected 1 to %d characters of A-Z a-z 0-9 . _ -", name,
                   REEVE_CRON_NAME_MAX);
}

/* What only the entry gives to its tasks. */
static reeve_status check_task(const reeve_task_spec *task, rv_error *error)
{
    if (task == NULL) return rv_fail(error, REEVE_EINVAL, "the entry has no task");
    if (task->id != NULL)
        return rv_fail(error, REEVE_EINVAL, "the task of an entry has no id: each slot makes its own");
    if (task->in_ms != 0 || task->at_ms != 0)
        return rv_fail(error, REEVE_EINVAL, "the task of an entry has no time of its own: its spec says when");
    if (task->unique != NULL)
        return rv_fail(error, REEVE_EINVAL, "the task of an entry has no unique key: see no_overlap");
    if (task->after_count > 0)
        return rv_fail(error, REEVE_EINVAL, "the task of an entry has no parents: its spec says when");
    if (task->payload.length > REEVE_CRON_PAYLOAD_MAX) {
        return rv_fail(error, REEVE_ETOOBIG, "the payload has %zu bytes: an entry's has at most %u",
                       task->payload.length, REEVE_CRON_PAYLOAD_MAX);
    }
    return rv_spec_check(task, error);
}

static reeve_status check_catch_up(const reeve_cron_entry *entry, rv_error *error)
{
    if ((size_t)entry->catch_up >= CATCH_UPS)
        return rv_fail(error, REEVE_EINVAL, "catch-up %d: there is no such", (int)entry->catch_up);
    if (entry->catch_up_max != 0 && entry->catch_up != REEVE_CATCH_UP_ALL) {
        return rv_fail(error, REEVE_EINVAL, "catch_up_max %u goes with catch-up \"all\" only, not with \"%s\"",
                       entry->catch_up_max, rv_cron_definition_catch_up_name(entry->catch_up));
    }
    if (entry->catch_up_max > REEVE_CRON_CATCH_UP_MAX) {
        return rv_fail(error, REEVE_EINVAL, "catch_up_max %u: must be from 1 to %d", entry->catch_up_max,
                       REEVE_CRON_CATCH_UP_MAX);
    }
    return REEVE_OK;
}

reeve_status rv_cron_definition_check(const reeve_cron_entry *entry, rv_error *error)
{
    rv_cron cron;
    if (entry == NULL) return rv_fail(error, REEVE_EINVAL, "no entry was given");
    reeve_status status = rv_cron_definition_check_name(entry->name, error);
    if (status == REEVE_OK) status = rv_cron_parse(&cron, entry->spec, error);
    if (status == REEVE_OK) status = check_catch_up(entry, error);
    return status == REEVE_OK ? check_task(entry->task, error) : status;
}

reeve_status rv_cron_definition_read(reeve_cron_entry *ret, reeve_task_spec *task, const reeve_cron_entry *given,
                                     size_t entry_size, size_t spec_size, rv_error *error)
{
    if (given == NULL) return rv_fail(error, REEVE_EINVAL, "no entry was given");
    reeve_status status = RV_LAYOUT_READ(ret, given, entry_size, "the entry", error);
    if (status != REEVE_OK || ret->task == NULL) return status;
    status = rv_spec_read(task, ret->task, spec_size, error);
    ret->task = task;
    return status;
}

reeve_status reeve_cron_check_sized(const reeve_cron_entry *given, char *ret_error, size_t size, size_t entry_size,
                                    size_t spec_size)
{
    rv_error error = {0};
    reeve_cron_entry entry;
    reeve_task_spec task;
    reeve_status status = rv_cron_definition_read(&entry, &task, given, entry_size, spec_size, &error);
    if (status == REEVE_OK) status = rv_cron_definition_check(&entry, &error);
    if (status != REEVE_OK) rv_copy_text(ret_error, size, error.text);
    return status;
}

/* ---- the definition -------------------------------------------------------------------------------------------- */

void rv_cron_definition_write(rv_buf *out, const reeve_cron_entry *entry)
{
    rv_buf_adds(out, "{\"spec\":");
    rv_buf_add_json(out, entry->spec, strlen(entry->spec));
    rv_buf_addf(out, ",\"zone\":\"%s\",\"catch_up\":\"%s\"",
                rv_cron_zone_name(entry->local ? RV_ZONE_LOCAL : RV_ZONE_UTC),
                rv_cron_definition_catch_up_name(entry->catch_up));
    if (entry->catch_up == REEVE_CATCH_UP_ALL)
        rv_buf_addf(out, ",\"most\":%u", entry->catch_up_max > 0 ? entry->catch_up_max : RV_CRON_MAX_DEFAULT);
    if (entry->no_overlap) rv_buf_adds(out, ",\"overlap\":false");
    size_t before = out->length;
    rv_buf_adds(out, ",\"options\":");
    size_t options = out->length;
    rv_spec_write_options(out, entry->task);
    if (!out->failed && out->length == options) out->length = before;
    rv_buf_adds(out, "}\n");
    rv_spec_write_envelope(out, entry->task);
}

static const char *text_of(const cJSON *json, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
    return text != NULL ? text : "";
}

static reeve_status read_rule(rv_cron_rule *ret, const cJSON *json, rv_error *error)
{
    if (!cJSON_IsObject(json)) return rv_fail(error, REEVE_EINVAL, "its definition is no JSON object");
    reeve_status status = rv_cron_parse(&ret->cron, text_of(json, "spec"), error);
    if (status != REEVE_OK) return status;
    if (!rv_cron_zone_parse(text_of(json, "zone"), &ret->zone))
        return rv_fail(error, REEVE_EINVAL, "its zone is \"%.40s\"", text_of(json, "zone"));
    if (!rv_cron_definition_parse_catch_up(text_of(json, "catch_up"), &ret->catch_up))
        return rv_fail(error, REEVE_EINVAL, "its catch-up is \"%.40s\"", text_of(json, "catch_up"));
    const cJSON *max = cJSON_GetObjectItemCaseSensitive(json, "most");
    double number = cJSON_IsNumber(max) ? max->valuedouble : RV_CRON_MAX_DEFAULT;
    if (!(number >= 1 && number <= REEVE_CRON_CATCH_UP_MAX))
        return rv_fail(error, REEVE_EINVAL, "\"most\" is %.40g", number);
    ret->max = (unsigned)number;
    ret->no_overlap = cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(json, "overlap"));
    return REEVE_OK;
}

reeve_status rv_cron_definition_read_rule(rv_cron_rule *ret, const char *line, size_t length, rv_error *error)
{
    cJSON *json = cJSON_ParseWithLength(line, length);
    reeve_status status = read_rule(ret, json, error);
    cJSON_Delete(json);
    return status;
}

/* ---- slots ----------------------------------------------------------------------------------------------------- */

/* How many slots at most, and from when on, once some are missed. */
static size_t catch_up(const rv_cron_rule *rule, int64_t now_ms, int64_t *from_ms)
{
    if (rule->catch_up == REEVE_CATCH_UP_ALL) return rule->max;
    if (rule->catch_up == REEVE_CATCH_UP_ONCE) return 1;
    *from_ms = now_ms - RV_CRON_LATE_MS;
    return REEVE_CRON_CATCH_UP_MAX;
}

size_t rv_cron_definition_decide(const rv_cron_rule *rule, int64_t due_ms, int64_t now_ms, int64_t *ret_slots,
                                 int64_t *ret_next_ms)
{
    _Static_assert(RV_CRON_LATE_MS / RV_CRON_MIN_MS < REEVE_CRON_CATCH_UP_MAX, "all that are not missed fit");
    size_t max = REEVE_CRON_CATCH_UP_MAX;
    *ret_next_ms = rv_cron_next(&rule->cron, rule->zone, now_ms);
    if (now_ms - due_ms > RV_CRON_LATE_MS) max = catch_up(rule, now_ms, &due_ms);
    /* Several at once would overlap. */
    if (rule->no_overlap) max = 1;
    return rv_cron_missed(&rule->cron, rule->zone, due_ms, now_ms, max, ret_slots);
}

void rv_cron_definition_slot_id(char ret[REEVE_ID_MAX], const char *name, int64_t slot_ms)
{
    (void)snprintf(ret, REEVE_ID_MAX, "cron:%.*s:%lld", REEVE_CRON_NAME_MAX, name, (long long)slot_ms);
}
