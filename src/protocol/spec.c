/*
 * spec.c - from a producer's spec to an envelope.
 */
#include "protocol/spec.h"

#include <string.h>

#include "base/backoff.h"
#include "base/layout.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/envelope.h"
#include "protocol/keys.h"
#include "protocol/parents.h"
#include "protocol/task_options.h"

/* ---- checks: check_NAME is what the row of an option in protocol/definition/task_options.lua names --------------- */

static reeve_status check_time(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error)
{
    (void)size_limits;
    if (spec->in_ms == 0 || spec->at_ms == 0) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "a task runs either after a delay or at a time, not both");
}

static reeve_status check_deadline(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error)
{
    (void)size_limits;
    if (spec->deadline_ms < 0)
        return rv_fail(error, REEVE_EINVAL, "deadline %lld ms: must not be negative", (long long)spec->deadline_ms);
    if (spec->deadline_ms > 0 && spec->expires_in_ms > 0)
        return rv_fail(error, REEVE_EINVAL, "a task expires either at a time or after one, not both");
    bool late = (spec->deadline_ms > 0 && spec->at_ms >= spec->deadline_ms) ||
                (spec->expires_in_ms > 0 && spec->in_ms >= spec->expires_in_ms);
    return late ? rv_fail(error, REEVE_EINVAL, "the task would never run: its deadline is not after its time")
                : REEVE_OK;
}

static reeve_status check_weight(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error)
{
    (void)size_limits;
    if (spec->weight > 256) return rv_fail(error, REEVE_EINVAL, "weight %u: must be from 1 to 256", spec->weight);
    if (spec->weight == 0 || spec->group != NULL) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "weight %u: needs a group, whose share it is", spec->weight);
}

static reeve_status check_if_exists(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error)
{
    (void)size_limits;
    if ((unsigned)spec->if_exists > REEVE_EXISTS_AGAIN)
        return rv_fail(error, REEVE_EINVAL, "there is no rule %d for an id that exists", (int)spec->if_exists);
    if (spec->if_exists == REEVE_EXISTS_REFUSE || spec->id != NULL) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "what holds for an id that exists needs an id");
}

static reeve_status check_backoff(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error)
{
    (void)size_limits;
    return rv_backoff_check(spec->backoff, error);
}

static reeve_status check_retry_for(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error)
{
    (void)size_limits;
    if (spec->retry_for_ms < 0)
        return rv_fail(error, REEVE_EINVAL, "retry for %lld ms: must not be negative", (long long)spec->retry_for_ms);
    if (spec->retry_for_ms == 0 || spec->in_ms < spec->retry_for_ms) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "a task that is retried for less time than its delay would never be retried");
}

static reeve_status check_on_dead(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error)
{
    (void)size_limits;
    return rv_keys_check_on_dead(spec->on_dead, error);
}

/* Texts in the header must be valid UTF-8, so that programs in any language can read it. */
static reeve_status check_text(const char *what, const char *text, rv_error *error)
{
    if (rv_utf8_is_valid(text, strlen(text))) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "%s: must be UTF-8", what);
}

/* Checks a text of 1 to `max` bytes. */
static inline reeve_status check_line(const char *what, const char *text, size_t max, rv_error *error)
{
    size_t length = strlen(text);
    if (length > 0 && length <= max) return check_text(what, text, error);
    return rv_fail(error, REEVE_EINVAL, "%s \"%.200s\": has 1 to %zu bytes", what, text, max);
}

static reeve_status check_meta(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error)
{
    size_t total = 0;
    if ((spec->tags == NULL && spec->tag_count > 0) || (spec->meta == NULL && spec->meta_count > 0))
        return rv_fail(error, REEVE_EINVAL, "%s is NULL, and is said to have entries",
                       spec->tags == NULL && spec->tag_count > 0 ? "the list of tags" : "the list of metadata");
    if (spec->tag_count > (size_t)size_limits->tags)
        return rv_size_limits_refuse(error, size_limits, RV_SIZE_LIMIT(tags), "%zu tags", spec->tag_count);
    for (size_t i = 0; i < spec->tag_count; i++) {
        if (spec->tags[i] == NULL || spec->tags[i][0] == '\0')
            return rv_fail(error, REEVE_EINVAL, "tag %zu is empty", i + 1);
        if (check_text("a tag", spec->tags[i], error) != REEVE_OK) return REEVE_EINVAL;
        if (strlen(spec->tags[i]) > (size_t)size_limits->tag)
            return rv_size_limits_refuse(error, size_limits, RV_SIZE_LIMIT(tag), "tag \"%.100s...\" has %zu bytes",
                                         spec->tags[i], strlen(spec->tags[i]));
        total += strlen(spec->tags[i]) + 3;
    }
    for (size_t i = 0; i < spec->meta_count; i++) {
        const reeve_meta *meta = &spec->meta[i];
        if (meta->key == NULL || meta->key[0] == '\0')
            return rv_fail(error, REEVE_EINVAL, "metadata key %zu is empty", i + 1);
        if (meta->value == NULL) return rv_fail(error, REEVE_EINVAL, "metadata \"%.100s\" has no value", meta->key);
        if (check_text("a metadata key", meta->key, error) != REEVE_OK) return REEVE_EINVAL;
        if (check_text("a metadata value", meta->value, error) != REEVE_OK) return REEVE_EINVAL;
        total += strlen(meta->key) + strlen(meta->value) + 6;
    }
    if (total <= (size_t)size_limits->meta) return REEVE_OK;
    return rv_size_limits_refuse(error, size_limits, RV_SIZE_LIMIT(meta), "tags and metadata have %zu bytes", total);
}

static reeve_status check_limit_keys(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error)
{
    (void)size_limits;
    if (spec->limit_keys == NULL && spec->limit_key_count > 0)
        return rv_fail(error, REEVE_EINVAL, "the list of limit keys is NULL, and has a length");
    if (spec->limit_key_count > REEVE_LIMIT_KEYS_MAX)
        return rv_fail(error, REEVE_EINVAL, "%zu limit keys: a task has at most %d", spec->limit_key_count,
                       REEVE_LIMIT_KEYS_MAX);
    for (size_t i = 0; i < spec->limit_key_count; i++) {
        reeve_status status = rv_keys_check_limit_key(spec->limit_keys[i], error);
        if (status != REEVE_OK) return status;
    }
    return REEVE_OK;
}

static reeve_status check_unique(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error)
{
    (void)size_limits;
    if ((unsigned)spec->on_conflict > REEVE_CONFLICT_DEBOUNCE)
        return rv_fail(error, REEVE_EINVAL, "there is no conflict rule %d", (int)spec->on_conflict);
    if (spec->unique_for_ms < 0) {
        return rv_fail(error, REEVE_EINVAL, "a unique key held for %lld ms: must not be negative",
                       (long long)spec->unique_for_ms);
    }
    if (spec->unique == NULL) {
        if (!spec->unique_until_started && spec->unique_for_ms == 0 && spec->on_conflict == REEVE_CONFLICT_REJECT)
            return REEVE_OK;
        return rv_fail(error, REEVE_EINVAL, "what holds for a unique key needs a unique key");
    }
    if (spec->unique[0] == '\0' || strlen(spec->unique) > REEVE_UNIQUE_MAX) {
        return rv_fail(error, REEVE_EINVAL, "unique key \"%.220s\": it has 1 to %d bytes", spec->unique,
                       REEVE_UNIQUE_MAX);
    }
    if (spec->unique_until_started && spec->unique_for_ms > 0)
        return rv_fail(error, REEVE_EINVAL, "a unique key is held either until the start or for a time, not both");
    return check_text("a unique key", spec->unique, error);
}

static reeve_status check_after(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error)
{
    if (spec->after_count > 0 && spec->after == NULL)
        return rv_fail(error, REEVE_EINVAL, "%zu parents are counted and none is given", spec->after_count);
    reeve_status limited = rv_parents_check_count(spec->after, spec->after_count, size_limits, error);
    if (limited != REEVE_OK) return limited;
    for (size_t i = 0; i < spec->after_count; i++) {
        reeve_status status = rv_parents_check(&spec->after[i], spec->queue, spec->id, error);
        if (status != REEVE_OK) return status;
    }
    return REEVE_OK;
}

/* Names were checked for the standard lengths. */
static reeve_status check_names(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error)
{
    const reeve_size_limits *standard = &rv_size_limits_default;
    if (size_limits->type == standard->type && size_limits->id == standard->id &&
        size_limits->group == standard->group && size_limits->unique == standard->unique)
        return REEVE_OK;
    reeve_status status = rv_size_limits_check_name(error, size_limits, RV_SIZE_LIMIT(type), "type", spec->type);
    if (status == REEVE_OK) status = rv_size_limits_check_name(error, size_limits, RV_SIZE_LIMIT(id), "id", spec->id);
    if (status == REEVE_OK)
        status = rv_size_limits_check_name(error, size_limits, RV_SIZE_LIMIT(group), "group", spec->group);
    if (status == REEVE_OK)
        status = rv_size_limits_check_name(error, size_limits, RV_SIZE_LIMIT(unique), "unique key", spec->unique);
    return status == REEVE_OK
               ? rv_size_limits_check_name(error, size_limits, RV_SIZE_LIMIT(type), "on_dead", spec->on_dead)
               : status;
}

reeve_status rv_spec_read(reeve_task_spec *ret, const reeve_task_spec *given, size_t spec_size, rv_error *error)
{
    if (given == NULL) return rv_fail(error, REEVE_EINVAL, "no task was given");
    return RV_LAYOUT_READ(ret, given, spec_size, "the task's spec", error);
}

/* True when specs in our layout stand one behind the other: they can be used as they are. */
static bool are_ours(const reeve_task_spec *given, size_t count, size_t spec_size)
{
    if (spec_size != sizeof(*given)) return false;
    for (size_t i = 0; i < count; i++) {
        if (given[i].size != 0 && given[i].size != sizeof(*given)) return false;
    }
    return true;
}

reeve_status rv_spec_read_all(const reeve_task_spec **ret, reeve_task_spec **ret_owned, const reeve_task_spec *given,
                              size_t count, size_t spec_size, rv_error *error)
{
    *ret = given;
    *ret_owned = NULL;
    if (count == 0 || are_ours(given, count, spec_size)) return REEVE_OK;
    reeve_task_spec *ours = rv_zalloc_array(count, sizeof(*ours));
    if (ours == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for %zu tasks", count);
    for (size_t i = 0; i < count; i++) {
        const char *theirs = (const char *)given + i * spec_size;
        size_t size = rv_layout_size(theirs, spec_size);
        reeve_status status = size > spec_size ? REEVE_EINVAL : RV_LAYOUT_READ(&ours[i], theirs, spec_size, "", NULL);
        if (status != REEVE_OK) ours[i] = (reeve_task_spec){.size = size}; /* refused by its check, alone */
    }
    *ret = *ret_owned = ours;
    return REEVE_OK;
}

static reeve_status refuse_number(const char *name, long long number, long long min, long long max, rv_error *error)
{
    return rv_fail(error, REEVE_EINVAL, "%s %lld: must be from %lld to %lld", name, number, min, max);
}

static reeve_status refuse_span(const char *name, long long ms, rv_error *error)
{
    return rv_fail(error, REEVE_EINVAL, "%s %lld ms: must not be negative", name, ms);
}

/* 0 and NULL: not set. */
#define WHOLE(field, name, min, max)                                                        \
    if (spec->field != 0 && ((int64_t)spec->field < (min) || (int64_t)spec->field > (max))) \
        return refuse_number(name, (long long)spec->field, min, max, error);
#define SPAN(field, name) \
    if (spec->field < 0) return refuse_span(name, (long long)spec->field, error);
#define TEXT(field, name, max) \
    if (spec->field != NULL && (status = check_line(name, spec->field, max, error)) != REEVE_OK) return status;
#define OWN(name) \
    if ((status = check_##name(spec, size_limits, error)) != REEVE_OK) return status;

static reeve_status check_options(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error)
{
    reeve_status status;
    RV_TASK_OPTION_CHECKS(WHOLE, SPAN, TEXT, OWN)
    return REEVE_OK;
}

#undef TEXT
#undef OWN

reeve_status rv_spec_check_under(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error)
{
    reeve_status status;
    if (spec == NULL) return rv_fail(error, REEVE_EINVAL, "no task was given");
    if (spec->size != 0 && spec->size != sizeof(*spec)) {
        return rv_fail(error, REEVE_EINVAL,
                       "the task's spec has size %zu and is not understood: libreeve " REEVE_VERSION " knows %zu bytes",
                       spec->size, sizeof(*spec));
    }
    if ((status = rv_keys_check_queue(spec->queue, error)) != REEVE_OK) return status;
    if ((status = rv_keys_check_type(spec->type, error)) != REEVE_OK) return status;
    if (spec->id != NULL && (status = rv_keys_check_id(spec->id, error)) != REEVE_OK) return status;
    if (spec->payload.length > 0 && spec->payload.data == NULL)
        return rv_fail(error, REEVE_EINVAL, "the payload has a length and no data");
    if (spec->payload.length > (size_t)size_limits->payload)
        return rv_size_limits_refuse(error, size_limits, RV_SIZE_LIMIT(payload), "the payload has %zu bytes",
                                     spec->payload.length);
    if (spec->group != NULL && (status = rv_keys_check_group(spec->group, error)) != REEVE_OK) return status;
    if ((status = check_options(spec, size_limits, error)) != REEVE_OK) return status;
    return check_names(spec, size_limits, error);
}

reeve_status rv_spec_check(const reeve_task_spec *spec, rv_error *error)
{
    return rv_spec_check_under(spec, &rv_size_limits_default, error);
}

reeve_status reeve_task_spec_check_sized(const reeve_task_spec *given, char *ret_error, size_t size, size_t spec_size)
{
    rv_error error = {0};
    reeve_task_spec spec;
    reeve_status status = rv_spec_read(&spec, given, spec_size, &error);
    if (status == REEVE_OK) status = rv_spec_check(&spec, &error);
    if (status != REEVE_OK) rv_copy_text(ret_error, size, error.text);
    return status;
}

static void add_number(rv_buf *out, const char *name, int64_t number)
{
    if (number == 0) return;
    rv_buf_adds(out, name);
    rv_buf_addi(out, number);
}

static void add_text(rv_buf *out, const char *text)
{
    rv_buf_add_json(out, text, strlen(text));
}

static bool is_given_before(const char *const *texts, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(texts[i], texts[at]) == 0) return true;
    return false;
}

void rv_spec_write_texts(rv_buf *out, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_given_before(texts, i)) continue;
        rv_buf_addc(out, i == 0 ? '[' : ',');
        add_text(out, texts[i]);
    }
    if (count > 0) rv_buf_addc(out, ']');
}

static void add_tags(rv_buf *out, const reeve_task_spec *spec)
{
    if (spec->tag_count > 0) rv_buf_adds(out, ",\"tags\":");
    rv_spec_write_texts(out, spec->tags, spec->tag_count);
}

static void add_limit_keys(rv_buf *out, const reeve_task_spec *spec)
{
    if (spec->limit_key_count > 0) rv_buf_adds(out, ",\"limit_keys\":");
    rv_spec_write_texts(out, spec->limit_keys, spec->limit_key_count);
}

static void add_meta(rv_buf *out, const reeve_task_spec *spec)
{
    if (spec->meta_count > 0) {
        rv_buf_adds(out, ",\"meta\":{");
        for (size_t i = 0; i < spec->meta_count; i++) {
            if (i > 0) rv_buf_addc(out, ',');
            add_text(out, spec->meta[i].key);
            rv_buf_addc(out, ':');
            add_text(out, spec->meta[i].value);
        }
        rv_buf_addc(out, '}');
    }
}

static void add_due(rv_buf *out, const reeve_task_spec *spec)
{
    if (spec->at_ms > 0) add_number(out, ",\"due\":", spec->at_ms);
}

static void add_weight(rv_buf *out, const reeve_task_spec *spec)
{
    if (spec->weight > 1) add_number(out, ",\"weight\":", spec->weight);
}

static void add_order(rv_buf *out, const reeve_task_spec *spec)
{
    add_number(out, ",\"priority\":", spec->priority);
    if (spec->group == NULL) return;
    rv_buf_adds(out, ",\"group\":");
    add_text(out, spec->group);
    add_weight(out, spec);
}

static void add_backoff(rv_buf *out, const reeve_task_spec *spec)
{
    if (spec->backoff == NULL) return;
    rv_buf_adds(out, ",\"backoff\":");
    rv_task_policy_write_backoff(out, spec->backoff);
}

static void add_unique(rv_buf *out, const reeve_task_spec *spec)
{
    if (spec->unique == NULL) return;
    rv_buf_adds(out, ",\"unique\":");
    add_text(out, spec->unique);
    if (spec->unique_until_started) rv_buf_adds(out, ",\"until\":\"started\"");
    add_number(out, ",\"unique_for\":", spec->unique_for_ms);
}

/* A task that waits for the signal of a worker is for this worker alone. */
static void add_worker(rv_buf *out, const char *parent)
{
    const size_t length = sizeof(RV_PARENTS_WORKER) - 1;
    if (parent[0] != RV_PARENTS_WORKER[0] || strncmp(parent, RV_PARENTS_WORKER, length) != 0) return;
    rv_buf_adds(out, ",\"worker\":");
    add_text(out, parent + length);
}

/* What adds an option with a function of its own is add_NAME. */
#define NUMBER(field, name) add_number(out, name, spec->field);
#define TEXT(field, name)           \
    if (spec->field != NULL) {      \
        rv_buf_adds(out, name);     \
        add_text(out, spec->field); \
    }
#define OWN(name) add_##name(out, spec);

void rv_spec_write_head(rv_buf *out, const reeve_task_spec *spec)
{
    rv_buf_adds(out, "\"type\":\"");
    rv_buf_adds(out, spec->type);
    rv_buf_addc(out, '"');
    RV_TASK_OPTIONS_WRITTEN(NUMBER, TEXT, OWN)
    if (spec->after_count == 1) add_worker(out, spec->after[0].handle);
    rv_buf_adds(out, "}\n");
}

void rv_spec_write_envelope(rv_buf *out, const reeve_task_spec *spec)
{
    rv_spec_write_head(out, spec);
    rv_buf_add(out, spec->payload.data, spec->payload.length);
}

static void add_after(rv_buf *out, const reeve_task_spec *spec)
{
    for (size_t i = 0; i < spec->after_count; i++) {
        rv_buf_adds(out, i == 0 ? ",\"after\":[[\"" : ",[\"");
        rv_buf_adds(out, spec->after[i].handle); /* a checked handle needs no escape */
        rv_buf_adds(out, "\",\"");
        rv_buf_adds(out, rv_parents_policy(&spec->after[i]));
        rv_buf_adds(out, "\"]");
    }
    if (spec->after_count > 0) rv_buf_addc(out, ']');
}

bool rv_spec_has_options(const reeve_task_spec *spec)
{
    return spec->priority != 0 || spec->group != NULL || spec->in_ms != 0 || spec->at_ms != 0 ||
           spec->deadline_ms != 0 || spec->expires_in_ms != 0 || spec->unique != NULL || spec->tag_count > 0 ||
           spec->on_conflict != 0 || spec->after_count > 0;
}

void rv_spec_write_options(rv_buf *out, const reeve_task_spec *spec)
{
    size_t start = out->length;
    add_order(out, spec);
    add_number(out, ",\"in\":", spec->in_ms);
    add_number(out, ",\"at\":", spec->at_ms);
    add_number(out, ",\"deadline\":", spec->deadline_ms);
    add_number(out, ",\"expires\":", spec->expires_in_ms);
    add_unique(out, spec);
    add_tags(out, spec);
    if (spec->on_conflict == REEVE_CONFLICT_REPLACE) rv_buf_adds(out, ",\"conflict\":\"replace\"");
    if (spec->on_conflict == REEVE_CONFLICT_DEBOUNCE) rv_buf_adds(out, ",\"conflict\":\"debounce\"");
    add_after(out, spec);
    if (out->failed || out->length == start) return;
    out->data[start] = '{'; /* in place of the first comma */
    rv_buf_addc(out, '}');
}
