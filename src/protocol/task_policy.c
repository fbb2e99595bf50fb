#include "protocol/task_policy.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "base/backoff.h"
#include "protocol/envelope_check.h"
#include "protocol/json_parse.h"

/* ---- reading --------------------------------------------------------------------------------------------------- */

static double number_of(const cJSON *item)
{
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static const char *text_of(const cJSON *item)
{
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

static double member(const cJSON *object, const char *name)
{
    return number_of(cJSON_GetObjectItemCaseSensitive(object, name));
}

static int64_t whole(double number)
{
    if (!(number > 0)) return 0;
    return number < 9e15 ? (int64_t)number : (int64_t)9e15;
}

static int small(double number)
{
    return number > 0 ? (int)(number < 1e9 ? number : 1e9) : 0;
}

static void read_list(const cJSON *json, reeve_backoff *ret)
{
    size_t count = 0;
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "list"), *item;
    if (!cJSON_IsArray(list)) return;
    cJSON_ArrayForEach(item, list)
    {
        if (count == REEVE_BACKOFF_LIST_MAX || whole(number_of(item)) == 0) break;
        ret->list_ms[count++] = whole(number_of(item));
    }
}

static bool read_backoff(const cJSON *json, reeve_backoff *ret)
{
    if (!cJSON_IsObject(json)) return false;
    double shape = member(json, "shape");
    ret->shape = shape >= REEVE_BACKOFF_LIST ? REEVE_BACKOFF_LIST
                 : shape > 0                 ? REEVE_BACKOFF_FIXED
                                             : REEVE_BACKOFF_EXPONENTIAL;
    ret->base_ms = whole(member(json, "base"));
    ret->cap_ms = whole(member(json, "cap"));
    ret->jitter = member(json, "jitter") / 1000;
    if (ret->shape == REEVE_BACKOFF_LIST) read_list(json, ret);
    return ret->shape != REEVE_BACKOFF_LIST || ret->list_ms[0] > 0;
}

void rv_task_policy_take(rv_task_policy *ret, const cJSON *json)
{
    memset(ret, 0, sizeof(*ret));
    ret->malformed = rv_envelope_check_header(json);
    ret->attempts = small(member(json, "attempts"));
    ret->max_crashes = small(member(json, "crashes"));
    ret->timeout_ms = whole(member(json, "timeout"));
    ret->heartbeat_ms = whole(member(json, "heartbeat"));
    ret->retry_for_ms = whole(member(json, "retry_for"));
    ret->max_snoozes = small(member(json, "snoozes"));
    ret->grace_ms = whole(member(json, "grace"));
    ret->keep_ms = whole(member(json, "keep"));
    ret->once = member(json, "at_most_once") > 0;
    ret->records_runs = member(json, "runs") > 0;
    ret->worker = text_of(cJSON_GetObjectItemCaseSensitive(json, "worker"));
    ret->unique = cJSON_GetObjectItemCaseSensitive(json, "unique") != NULL;
    ret->has_backoff = read_backoff(cJSON_GetObjectItemCaseSensitive(json, "backoff"), &ret->backoff);
}

reeve_status rv_task_policy_read(rv_task_policy *ret, const char *text, size_t length)
{
    cJSON *json;
    memset(ret, 0, sizeof(*ret));
    reeve_status status = rv_json_parse_object(&json, text, length);
    if (status != REEVE_ENOMEM) rv_task_policy_take(ret, json);
    ret->worker = NULL;
    cJSON_Delete(json);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* In thousandths, because a locale could change a decimal point. A positive jitter stays positive: at least a
 * thousandth. */
static int64_t thousandths(double jitter)
{
    if (jitter < 0) return -1000;
    if (!(jitter > 0)) return 0;
    return jitter < 0.001 ? 1 : (int64_t)((jitter < 1 ? jitter : 1) * 1000 + 0.5);
}

void rv_task_policy_write_backoff(rv_buf *out, const reeve_backoff *backoff)
{
    rv_buf_adds(out, "{\"shape\":");
    rv_buf_addi(out, backoff->shape);
    if (backoff->shape != REEVE_BACKOFF_LIST) {
        rv_buf_adds(out, ",\"base\":");
        rv_buf_addi(out, backoff->base_ms);
        rv_buf_adds(out, ",\"cap\":");
        rv_buf_addi(out, backoff->cap_ms);
    }
    rv_buf_adds(out, ",\"jitter\":");
    rv_buf_addi(out, thousandths(backoff->jitter));
    if (backoff->shape == REEVE_BACKOFF_LIST) {
        rv_buf_adds(out, ",\"list\":[");
        for (size_t i = 0; i < rv_backoff_list_count(backoff); i++) {
            if (i > 0) rv_buf_addc(out, ',');
            rv_buf_addi(out, backoff->list_ms[i]);
        }
        rv_buf_addc(out, ']');
    }
    rv_buf_addc(out, '}');
}

reeve_status rv_task_policy_check_attempts(int attempts, int crashes, rv_error *error)
{
    if (attempts < 0 || attempts > REEVE_ATTEMPTS_MAX)
        return rv_fail(error, REEVE_EINVAL, "attempts %d: must be from 1 to %d", attempts, REEVE_ATTEMPTS_MAX);
    if (crashes < 0 || crashes > REEVE_ATTEMPTS_MAX)
        return rv_fail(error, REEVE_EINVAL, "max crashes %d: must be from 1 to %d", crashes, REEVE_ATTEMPTS_MAX);
    return REEVE_OK;
}
