#include "client/task_filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/layout.h"

reeve_status rv_task_filter_check_kind(reeve_client *client, const char *kind)
{
    if (kind[0] != '\0' && strlen(kind) <= REEVE_KIND_MAX) return REEVE_OK;
    return rv_fail(&client->error, REEVE_EINVAL, "kind \"%.120s\": a kind of error has 1 to %d bytes", kind,
                   REEVE_KIND_MAX);
}

/* ---- checks ---------------------------------------------------------------------------------------------------- */

static reeve_status check_texts(reeve_client *client, const reeve_filter *filter)
{
    const struct {
        const char *name, *text;
    } texts[] = {{"tag", filter->tag},
                 {"group", filter->group},
                 {"beginning of the id", filter->id_prefix},
                 {"text of the payload", filter->payload_has},
                 {"worker", filter->worker}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i].text != NULL && texts[i].text[0] == '\0')
            return rv_fail(&client->error, REEVE_EINVAL, "the %s is empty", texts[i].name);
    return REEVE_OK;
}

static reeve_status check_meta(reeve_client *client, const reeve_filter *filter)
{
    if (filter->meta_count > REEVE_FILTER_META_MAX)
        return rv_fail(&client->error, REEVE_EINVAL, "a filter has at most %d metadata", REEVE_FILTER_META_MAX);
    for (size_t i = 0; i < filter->meta_count; i++)
        if (filter->meta == NULL || filter->meta[i].key == NULL || filter->meta[i].value == NULL)
            return rv_fail(&client->error, REEVE_EINVAL, "metadata %zu of the filter has no key or no value", i + 1);
    return REEVE_OK;
}

static reeve_status check_times(reeve_client *client, const reeve_filter *filter)
{
    const int64_t times[] = {filter->enqueued_from_ms, filter->enqueued_to_ms, filter->due_from_ms,
                             filter->due_to_ms,        filter->ended_from_ms,  filter->ended_to_ms};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        if (times[i] < 0)
            return rv_fail(&client->error, REEVE_EINVAL, "a time of %" PRId64 " ms: must not be negative", times[i]);
    if (filter->older_ms >= 0) return REEVE_OK;
    return rv_fail(&client->error, REEVE_EINVAL, "an age of %" PRId64 " ms: must not be negative", filter->older_ms);
}

reeve_status rv_task_filter_read(reeve_client *client, reeve_filter *ret, const reeve_filter *given, size_t size)
{
    reeve_status status = RV_LAYOUT_READ(ret, given, size, "the filter", &client->error);
    if (status == REEVE_OK && (unsigned)ret->state >= REEVE_STATE_COUNT)
        return rv_fail(&client->error, REEVE_EINVAL, "there is no such state");
    if (status == REEVE_OK && (unsigned)ret->failed > REEVE_FAILED_NO)
        return rv_fail(&client->error, REEVE_EINVAL, "there is no such value of `failed`");
    if (status == REEVE_OK && ret->kind != NULL) status = rv_task_filter_check_kind(client, ret->kind);
    if (status == REEVE_OK && ret->type != NULL) status = rv_keys_check_type(ret->type, &client->error);
    if (status == REEVE_OK) status = check_texts(client, ret);
    if (status == REEVE_OK) status = check_meta(client, ret);
    return status == REEVE_OK ? check_times(client, ret) : status;
}

/* ---- arguments ------------------------------------------------------------------------------------------------- */

static void add(rv_simple_call *call, const char *text)
{
    call->args[call->count++] = text != NULL ? text : "";
}

static void add_text(rv_simple_call *call, const char *name, const char *text)
{
    if (text == NULL) return;
    add(call, name);
    add(call, text);
}

static void add_number(rv_simple_call *call, rv_task_filter_text *text, const char *name, uint64_t number)
{
    if (number == 0) return;
    char *at = text->numbers[text->count++];
    (void)snprintf(at, sizeof(text->numbers[0]), "%" PRIu64, number);
    add_text(call, name, at);
}

void rv_task_filter_add(rv_simple_call *call, rv_task_filter_text *text, const reeve_filter *filter, uint64_t limit)
{
    static const char *const failed[] = {NULL, "1", "0"}; /* by reeve_filter_failed */
    _Static_assert(RV_SIMPLE_ARGS >= 40 + 3 * REEVE_FILTER_META_MAX, "all that a filter can have fits");
    text->count = 0;
    (void)snprintf(text->age, sizeof(text->age), "%" PRId64, filter->older_ms);
    add(call, filter->kind);
    add(call, filter->type);
    add(call, filter->tag);
    add(call, text->age);
    add_text(call, "id", filter->id_prefix);
    add_text(call, "group", filter->group);
    add_text(call, "payload", filter->payload_has);
    add_text(call, "worker", filter->worker);
    add_text(call, "failed", failed[filter->failed]);
    for (size_t i = 0; i < filter->meta_count; i++) {
        add_text(call, "meta", filter->meta[i].key);
        add(call, filter->meta[i].value);
    }
    add_number(call, text, "enqueued_from", (uint64_t)filter->enqueued_from_ms);
    add_number(call, text, "enqueued_to", (uint64_t)filter->enqueued_to_ms);
    add_number(call, text, "due_from", (uint64_t)filter->due_from_ms);
    add_number(call, text, "due_to", (uint64_t)filter->due_to_ms);
    add_number(call, text, "ended_from", (uint64_t)filter->ended_from_ms);
    add_number(call, text, "ended_to", (uint64_t)filter->ended_to_ms);
    add_number(call, text, "limit", limit > INT64_MAX ? INT64_MAX : limit);
    if (filter->parents) add_text(call, "parents", "1");
}
