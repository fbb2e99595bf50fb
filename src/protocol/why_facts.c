#include "protocol/why_facts.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "protocol/json_parse.h"
#include "protocol/rates.h"

#define AT(field) offsetof(rv_why_facts, field)

static const struct {
    const char *name;
    size_t at;
} numbers[] = {
    {"now", AT(now)},
    {"paused_until", AT(hold)},
    {"concurrency", AT(concurrency)},
    {"counted", AT(counted)},
    {"opens", AT(opens)},
    {"live", AT(live)},
    {"expired", AT(expired)},
    {"ready", AT(ready)},
    {"scheduled", AT(scheduled)},
    {"due", AT(due)},
    {"blocked", AT(blocked)},
    {"parked", AT(parked)},
    {"running", AT(running)},
    {"score", AT(score)},
    {"expires", AT(expires)},
    {"failures", AT(failures)},
    {"before", AT(before)},
    {"pending", AT(pending)},
    {"outbox", AT(outbox)},
    {"group_concurrency", AT(group_concurrency)},
    {"group_counted", AT(group_counted)},
    {"group_opens", AT(group_opens)},
    {"group_paused_until", AT(group_hold)},
};

static const struct {
    const char *name;
    size_t at, size;
} texts[] = {
    {"state", AT(state), sizeof(((rv_why_facts *)0)->state)},
    {"type", AT(type), sizeof(((rv_why_facts *)0)->type)},
    {"group", AT(group), sizeof(((rv_why_facts *)0)->group)},
    {"head", AT(head), sizeof(((rv_why_facts *)0)->head)},
    {"kind", AT(kind), sizeof(((rv_why_facts *)0)->kind)},
    {"breaker", AT(breaker), sizeof(((rv_why_facts *)0)->breaker)},
    {"group_breaker", AT(group_breaker), sizeof(((rv_why_facts *)0)->group_breaker)},
    {"session", AT(session), sizeof(((rv_why_facts *)0)->session)},
};

static void read_worker(rv_why_facts *facts, const rv_reply *about)
{
    cJSON *json;
    if (rv_json_parse(&json, about->text, about->length) == REEVE_ENOMEM) facts->no_memory = true;
    const char *worker = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "worker"));
    rv_copy_text(facts->worker, sizeof(facts->worker), worker != NULL ? worker : "");
    cJSON_Delete(json);
}

/* "<since ms> <thread>" */
static void read_lease(rv_why_facts *facts, const rv_reply *lease)
{
    char since[24];
    rv_copy_text(since, sizeof(since), lease->text);
    since[strcspn(since, " ")] = '\0';
    (void)rv_parse_int(since, 0, INT64_MAX, &facts->since);
}

static void read_parent(rv_why_facts *facts, const rv_reply *name, const rv_reply *value)
{
    bool is_handle = rv_reply_is_text(name, "parent");
    if (is_handle && facts->parent_count < RV_WHY_PARENTS) {
        rv_why_parent *parent = &facts->parents[facts->parent_count++];
        rv_copy_text(parent->handle, sizeof(parent->handle), value->text);
    } else if (!is_handle && facts->parent_count > 0) {
        rv_why_parent *parent = &facts->parents[facts->parent_count - 1];
        rv_copy_text(parent->state, sizeof(parent->state), value->text);
    }
}

static void read_field(rv_why_facts *facts, const rv_reply *name, const rv_reply *value)
{
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (rv_reply_is_text(name, numbers[i].name))
            *(int64_t *)((char *)facts + numbers[i].at) = rv_reply_int(value, -1);
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (rv_reply_is_text(name, texts[i].name))
            rv_copy_text((char *)facts + texts[i].at, texts[i].size, value->text);
    }
    if (rv_reply_is_text(name, "paused")) {
        facts->is_paused = true;
        facts->paused = rv_rates_paused_since(value);
    }
    if (rv_reply_is_text(name, "rate")) facts->rate = rv_rates_read(value);
    if (rv_reply_is_text(name, "group_rate")) facts->group_rate = rv_rates_read(value);
    if (rv_reply_is_text(name, "more")) facts->more = true;
    if (rv_reply_is_text(name, "lease")) read_lease(facts, value);
    if (rv_reply_is_text(name, "about")) read_worker(facts, value);
    if (rv_reply_is_text(name, "parent") || rv_reply_is_text(name, "parent_state")) read_parent(facts, name, value);
}

bool rv_why_facts_read(rv_why_facts *ret, const rv_reply *reply)
{
    memset(ret, 0, sizeof(*ret));
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) *(int64_t *)((char *)ret + numbers[i].at) = -1;
    ret->paused = ret->since = -1;
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count % 2 != 0) return false;
    for (size_t i = 0; i + 1 < reply->count; i += 2) {
        if (!rv_reply_is(reply->items[i], RV_TEXT) || !rv_reply_is(reply->items[i + 1], RV_TEXT)) return false;
        read_field(ret, reply->items[i], reply->items[i + 1]);
    }
    return true;
}
