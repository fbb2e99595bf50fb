#include "protocol/cron_definition.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/id.h"
#include "base/layout.h"
#include "base/text.h"
#include "protocol/envelope.h"
#include "protocol/json_parse.h"
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

/* Its name as the definition has it. */
static const char *zone_of(const reeve_cron_entry *entry)
{
    if (entry->zone == NULL) return entry->local ? "local" : "utc";
    if (strcasecmp(entry->zone, "utc") == 0) return "utc";
    return strcasecmp(entry->zone, "local") == 0 ? "local" : entry->zone;
}

static reeve_status check_zone(const reeve_cron_entry *entry, rv_error *error)
{
    rv_zone zone;
    if (entry->local && strcmp(zone_of(entry), "local") != 0)
        return rv_fail(error, REEVE_EINVAL, "the time zone is \"%.64s\", and `local` is set", entry->zone);
    return rv_zone_find(zone_of(entry), &zone, error);
}

#define LATEST_MS ((int64_t)253402300799999) /* the end of the year 9999 */

static reeve_status check_range(const reeve_cron_entry *entry, const rv_cron *cron, rv_error *error)
{
    if (entry->starts_ms < 0 || entry->ends_ms < 0 || entry->starts_ms > LATEST_MS || entry->ends_ms > LATEST_MS)
        return rv_fail(error, REEVE_EINVAL, "its start and its end: must be times from 1970 to 9999");
    if (entry->ends_ms > 0 && entry->ends_ms < entry->starts_ms)
        return rv_fail(error, REEVE_EINVAL, "it ends before it starts");
    if (entry->runs < 0 || entry->runs > 1000000000)
        return rv_fail(error, REEVE_EINVAL, "%lld runs: must be from 1 to 1000000000", (long long)entry->runs);
    if (entry->offset_ms != 0 && cron->interval_ms == 0)
        return rv_fail(error, REEVE_EINVAL, "an offset goes with an interval, as \"every 6h\"");
    if (entry->offset_ms < 0 || (entry->offset_ms > 0 && entry->offset_ms >= cron->interval_ms))
        return rv_fail(error, REEVE_EINVAL, "an offset of %lld ms: must be less than the interval",
                       (long long)entry->offset_ms);
    if (entry->jitter_ms < 0 || entry->jitter_ms > REEVE_CRON_JITTER_MAX_MS)
        return rv_fail(error, REEVE_EINVAL, "a jitter of %lld ms: must be from 0 to %d", (long long)entry->jitter_ms,
                       REEVE_CRON_JITTER_MAX_MS);
    if (cron->interval_ms == 0 || entry->jitter_ms <= cron->interval_ms) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "a jitter of %lld ms: must be at most the interval",
                   (long long)entry->jitter_ms);
}

reeve_status rv_cron_definition_check(const reeve_cron_entry *entry, rv_error *error)
{
    rv_cron cron;
    if (entry == NULL) return rv_fail(error, REEVE_EINVAL, "no entry was given");
    reeve_status status = rv_cron_definition_check_name(entry->name, error);
    if (status == REEVE_OK) status = rv_cron_parse(&cron, entry->spec, error);
    if (status == REEVE_OK) status = check_zone(entry, error);
    if (status == REEVE_OK) status = check_catch_up(entry, error);
    if (status == REEVE_OK) status = check_range(entry, &cron, error);
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

static void add_number(rv_buf *out, const char *name, int64_t number)
{
    if (number > 0) rv_buf_addf(out, ",\"%s\":%lld", name, (long long)number);
}

void rv_cron_definition_write_times(rv_buf *out, const reeve_cron_entry *entry)
{
    rv_buf_adds(out, "{\"spec\":");
    rv_buf_add_json(out, entry->spec, strlen(entry->spec));
    rv_buf_addf(out, ",\"zone\":\"%s\",\"catch_up\":\"%s\"", zone_of(entry),
                rv_cron_definition_catch_up_name(entry->catch_up));
    if (entry->catch_up == REEVE_CATCH_UP_ALL)
        rv_buf_addf(out, ",\"max\":%u", entry->catch_up_max > 0 ? entry->catch_up_max : RV_CRON_MAX_DEFAULT);
    if (entry->no_overlap) rv_buf_adds(out, ",\"overlap\":false");
    add_number(out, "starts", entry->starts_ms);
    add_number(out, "ends", entry->ends_ms);
    add_number(out, "offset", entry->offset_ms);
    add_number(out, "jitter", entry->jitter_ms);
    add_number(out, "runs", entry->runs);
}

void rv_cron_definition_write(rv_buf *out, const reeve_cron_entry *entry, const char *digest)
{
    rv_cron_definition_write_times(out, entry);
    if (digest[0] != '\0') rv_buf_addf(out, ",\"layered\":\"%s\"", digest);
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

static bool read_number(const cJSON *json, const char *name, int64_t max, int64_t *ret)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    double number = cJSON_IsNumber(item) ? item->valuedouble : 0;
    *ret = number >= 0 && number <= (double)max ? (int64_t)number : 0;
    return number >= 0 && number <= (double)max;
}

static reeve_status read_range(rv_cron_rule *ret, const cJSON *json, rv_error *error)
{
    int64_t interval = ret->cron.interval_ms;
    bool good = read_number(json, "starts", LATEST_MS, &ret->starts_ms) &&
                read_number(json, "ends", LATEST_MS, &ret->ends_ms) &&
                read_number(json, "offset", interval > 0 ? interval - 1 : 0, &ret->cron.offset_ms) &&
                read_number(json, "jitter", REEVE_CRON_JITTER_MAX_MS, &ret->jitter_ms) &&
                read_number(json, "runs", LATEST_MS, &ret->runs);
    return good ? REEVE_OK : rv_fail(error, REEVE_EINVAL, "its start, end, offset, jitter or runs is out of range");
}

static reeve_status read_rule(rv_cron_rule *ret, const cJSON *json, rv_error *error)
{
    if (!cJSON_IsObject(json)) return rv_fail(error, REEVE_EINVAL, "its definition is no JSON object");
    reeve_status status = rv_cron_parse(&ret->cron, text_of(json, "spec"), error);
    if (status != REEVE_OK) return status;
    status = rv_zone_find(text_of(json, "zone"), &ret->zone, error);
    if (status != REEVE_OK) return status;
    if (!rv_cron_definition_parse_catch_up(text_of(json, "catch_up"), &ret->catch_up))
        return rv_fail(error, REEVE_EINVAL, "its catch-up is \"%.40s\"", text_of(json, "catch_up"));
    const cJSON *max = cJSON_GetObjectItemCaseSensitive(json, "max");
    double number = cJSON_IsNumber(max) ? max->valuedouble : RV_CRON_MAX_DEFAULT;
    if (!(number >= 1 && number <= REEVE_CRON_CATCH_UP_MAX))
        return rv_fail(error, REEVE_EINVAL, "\"max\" is no number from 1 to %d", REEVE_CRON_CATCH_UP_MAX);
    ret->max = (unsigned)number;
    ret->no_overlap = cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(json, "overlap"));
    return read_range(ret, json, error);
}

reeve_status rv_cron_definition_read_rule(rv_cron_rule *ret, const char *name, const char *line, size_t length,
                                          rv_error *error)
{
    ret->seed = 14695981039346656037u; /* FNV-1a */
    for (; *name != '\0'; name++) ret->seed = (ret->seed ^ (unsigned char)*name) * 1099511628211u;
    cJSON *json;
    if (rv_json_parse(&json, line, length) == REEVE_ENOMEM)
        return rv_fail(error, REEVE_ENOMEM, "no memory for a recurring entry");
    reeve_status status = read_rule(ret, json, error);
    cJSON_Delete(json);
    return status;
}

reeve_status rv_cron_definition_make_rule(rv_cron_rule *ret, const reeve_cron_entry *entry)
{
    rv_buf line;
    rv_buf_init(&line, 8 * RV_CRON_SPEC_MAX + 1024);
    rv_cron_definition_write_times(&line, entry);
    rv_buf_addc(&line, '}');
    reeve_status status =
        line.failed ? REEVE_ENOMEM : rv_cron_definition_read_rule(ret, entry->name, line.data, line.length, NULL);
    rv_buf_fini(&line);
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

/* When a slot fires: splitmix64 of the slot and the entry's name tells how much later. */
static int64_t fires_at(const rv_cron_rule *rule, int64_t slot_ms)
{
    if (rule->jitter_ms == 0) return slot_ms;
    uint64_t z = rule->seed + (uint64_t)slot_ms * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return slot_ms + (int64_t)((z ^ z >> 31) % (uint64_t)rule->jitter_ms);
}

int64_t rv_cron_definition_next_slot(const rv_cron_rule *rule, int64_t after_ms)
{
    if (after_ms < rule->starts_ms) after_ms = rule->starts_ms - 1;
    int64_t slot = rv_cron_next(&rule->cron, rule->zone, after_ms);
    return rule->ends_ms > 0 && slot > rule->ends_ms ? -1 : slot;
}

int64_t rv_cron_definition_next(const rv_cron_rule *rule, int64_t after_ms)
{
    int64_t best = -1, slot = rv_cron_definition_next_slot(rule, after_ms - rule->jitter_ms);
    for (; slot >= 0 && (best < 0 || slot < best); slot = rv_cron_definition_next_slot(rule, slot)) {
        int64_t at = fires_at(rule, slot);
        if (at > after_ms && (best < 0 || at < best)) best = at;
    }
    return best;
}

size_t rv_cron_definition_coming(const rv_cron_rule *rule, int64_t from_ms, size_t max, int64_t *ret_slots)
{
    size_t count = 0;
    int64_t slot = rv_cron_definition_next_slot(rule, from_ms - rule->jitter_ms - 1);
    for (; slot >= 0 && count < max; slot = rv_cron_definition_next_slot(rule, slot)) {
        if (fires_at(rule, slot) >= from_ms) ret_slots[count++] = slot;
    }
    return count;
}

/* A jitter holds at most so many slots, one a second, back beside those that are made. */
#define JITTERED_MAX (REEVE_CRON_JITTER_MAX_MS / 1000 + REEVE_CRON_CATCH_UP_MAX + 1)

/* The newest slots that fire from due_ms to now_ms, at most `max`. */
static size_t missed(const rv_cron_rule *rule, int64_t due_ms, int64_t now_ms, size_t max, int64_t *ret_slots)
{
    int64_t from = due_ms - rule->jitter_ms, until = now_ms;
    if (from < rule->starts_ms) from = rule->starts_ms;
    if (rule->ends_ms > 0 && until > rule->ends_ms) until = rule->ends_ms;
    if (rule->jitter_ms == 0) return rv_cron_missed(&rule->cron, rule->zone, from, until, max, ret_slots);
    int64_t slots[JITTERED_MAX];
    size_t found = rv_cron_missed(&rule->cron, rule->zone, from, until, JITTERED_MAX, slots), count = 0;
    for (size_t i = found; i > 0 && count < max; i--) {
        int64_t at = fires_at(rule, slots[i - 1]);
        if (at >= due_ms && at <= now_ms) ret_slots[count++] = slots[i - 1];
    }
    for (size_t i = 0; i < count / 2; i++) { /* they came newest first */
        int64_t newer = ret_slots[i];
        ret_slots[i] = ret_slots[count - 1 - i];
        ret_slots[count - 1 - i] = newer;
    }
    return count;
}

size_t rv_cron_definition_decide(const rv_cron_rule *rule, int64_t due_ms, int64_t now_ms, int64_t *ret_slots,
                                 int64_t *ret_next_ms)
{
    _Static_assert(RV_CRON_LATE_MS / RV_CRON_MIN_MS < REEVE_CRON_CATCH_UP_MAX, "all that are not missed fit");
    size_t max = REEVE_CRON_CATCH_UP_MAX;
    *ret_next_ms = rv_cron_definition_next(rule, now_ms);
    if (now_ms - due_ms > RV_CRON_LATE_MS) max = catch_up(rule, now_ms, &due_ms);
    /* Several at once would overlap. */
    if (rule->no_overlap) max = 1;
    return missed(rule, due_ms, now_ms, max, ret_slots);
}

void rv_cron_definition_slot_id(char ret[REEVE_ID_MAX], const char *name, int64_t slot_ms)
{
    (void)snprintf(ret, REEVE_ID_MAX, "cron:%.*s:%lld", REEVE_CRON_NAME_MAX, name, (long long)slot_ms);
}
