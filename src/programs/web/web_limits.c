/*
 * web_limits.c - the limits of a queue, and of its groups, types and limit keys: shown, and changed. The members of a change are the options of
 * `reeve limit`; null is no limit, and what is absent stays.
 */
#include <stdio.h>
#include <string.h>

#include "cli/limits_view.h"
#include "cli/rate.h"
#include "web.h"

#define QUEUE(call) ((call)->params.value[0])
#define CONCURRENCY_MAX 1000000000

static void write_limits(web_call *call, const reeve_limits *limits)
{
    cli_json json;

    cli_limits_json_begin(&json, call->out, QUEUE(call), limits);
    for (size_t i = 0; i < limits->group_count; i++) cli_group_limits_json(&json, &limits->groups[i]);
    cli_json_close_array(&json);
    cli_json_uint(&json, "next", limits->next);
    cli_json_end(&json);
}

void web_run_limits(web_call *call)
{
    reeve_limits *limits = NULL;
    int64_t limit, offset;

    if (!web_query_number(call, "limit", 1, 1000, 100, &limit)) return;
    if (!web_query_number(call, "offset", 0, INT64_MAX, 0, &offset)) return;
    reeve_status status = reeve_limits_get(call->client, QUEUE(call), (uint64_t)offset, (size_t)limit, &limits);
    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return;
    }
    write_limits(call, limits);
    reeve_limits_free(limits);
}

/* ---- changing -------------------------------------------------------------------------------------------------- */

/* What a request changes; `rate` is where change.rate points to. */
typedef struct limit_asked {
    reeve_limit_change change;
    reeve_rate rate;
} limit_asked;

static bool read_text_rate(const cJSON *value, reeve_rate *ret)
{
    const char *text = cJSON_GetStringValue(value);

    return text != NULL && cli_rate_parse(text, ret);
}

static bool read_concurrency(limit_asked *ret, const cJSON *value)
{
    bool whole = cJSON_IsNumber(value) && value->valuedouble >= 1 && value->valuedouble <= CONCURRENCY_MAX &&
                 value->valuedouble == value->valueint;

    ret->change.concurrency = whole ? value->valueint : -1;
    return whole || cJSON_IsNull(value);
}

static bool read_rate(limit_asked *ret, const cJSON *value)
{
    ret->rate = (reeve_rate){0};
    ret->change.rate = &ret->rate;
    return cJSON_IsNull(value) || read_text_rate(value, &ret->rate);
}

static bool read_group(limit_asked *ret, const cJSON *value)
{
    ret->change.of = REEVE_LIMIT_GROUP;
    ret->change.group = cJSON_GetStringValue(value);
    return ret->change.group != NULL && ret->change.group[0] != '\0';
}

static bool read_type(limit_asked *ret, const cJSON *value)
{
    ret->change.of = REEVE_LIMIT_TYPE;
    ret->change.type = cJSON_GetStringValue(value);
    return ret->change.type != NULL && ret->change.type[0] != '\0';
}

static bool read_key(limit_asked *ret, const cJSON *value)
{
    ret->change.of = REEVE_LIMIT_KEY;
    ret->change.key = cJSON_GetStringValue(value);
    return ret->change.key != NULL && ret->change.key[0] != '\0';
}

static bool read_each_group(limit_asked *ret, const cJSON *value)
{
    if (cJSON_IsTrue(value)) ret->change.of = REEVE_LIMIT_GROUPS;
    return cJSON_IsBool(value);
}

static bool read_strict(limit_asked *ret, const cJSON *value)
{
    ret->change.strict = cJSON_IsTrue(value) ? 1 : -1;
    return cJSON_IsBool(value);
}

static bool read_forget(limit_asked *ret, const cJSON *value)
{
    ret->change.forget = cJSON_IsTrue(value);
    return cJSON_IsBool(value);
}

static const struct {
    const char *name, *expected;
    bool (*read)(limit_asked *ret, const cJSON *value);
} members[] = {
    {"concurrency", "a whole number from 1 to 1000000000, or null", read_concurrency},
    {"rate", "a text " CLI_RATE_EXPECTED ", or null", read_rate},
    {"group", "the name of a group", read_group},
    {"type", "a type of tasks", read_type},
    {"key", "a limit key", read_key},
    {"each_group", "true or false", read_each_group},
    {"strict", "true or false", read_strict},
    {"forget", "true or false", read_forget},
};
#define MEMBERS (sizeof(members) / sizeof(members[0]))

static bool read_member(web_call *call, limit_asked *ret, const cJSON *value)
{
    size_t i = 0;

    while (i < MEMBERS && strcmp(members[i].name, value->string) != 0) i++;
    if (i < MEMBERS && members[i].read(ret, value)) return true;
    web_refuse(call, 400, "invalid", "\"%.40s\": expected %s", value->string,
               i < MEMBERS ? members[i].expected : "concurrency, rate, group, type, key, each_group, strict or forget");
    return false;
}

static bool check(web_call *call, const limit_asked *asked)
{
    const reeve_limit_change *change = &asked->change;
    const char *fault = NULL;

    if (change->concurrency == 0 && change->rate == NULL && change->strict == 0 && !change->forget)
        fault = "nothing is to be changed: expected \"concurrency\", \"rate\", \"strict\" or \"forget\"";
    else if ((change->group != NULL) + (change->type != NULL) + (change->key != NULL) +
                 cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(call->body, "each_group")) >
             1)
        fault = "\"group\", \"type\", \"key\" and \"each_group\": give one of them";
    else if (change->forget && (change->of == REEVE_LIMIT_QUEUE || change->of == REEVE_LIMIT_GROUPS))
        fault = "\"forget\" goes with \"group\", \"type\" or \"key\"";
    else if (change->strict != 0 && change->of != REEVE_LIMIT_GROUP && change->of != REEVE_LIMIT_GROUPS)
        fault = "\"strict\" goes with \"group\" or \"each_group\"";
    if (fault != NULL) web_refuse(call, 400, "invalid", "%s", fault);
    return fault == NULL;
}

void web_run_limit(web_call *call)
{
    limit_asked asked = {.change = {.size = sizeof(asked.change)}};
    const cJSON *value;

    cJSON_ArrayForEach(value, call->body)
    {
        if (!read_member(call, &asked, value)) return;
    }
    if (!check(call, &asked)) return;
    reeve_status status = reeve_limit(call->client, QUEUE(call), &asked.change);
    if (status == REEVE_OK)
        web_done(call);
    else
        web_refuse_status(call, status);
}
