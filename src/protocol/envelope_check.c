#include "protocol/envelope_check.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/id.h"
#include "protocol/definition.h"
#include "reeve/task.h"

#define TIME_MAX 9223372036854775808.0

/* Absent, or a whole number in a range. */
static bool is_whole(const cJSON *json, const char *name, double min, double max)
{
    const cJSON *field = cJSON_GetObjectItemCaseSensitive(json, name);
    if (field == NULL) return true;
    return cJSON_IsNumber(field) && field->valuedouble >= min && field->valuedouble <= max &&
           floor(field->valuedouble) == field->valuedouble;
}

/* Whether a member is absent or a text within a length. */
static bool is_text(const cJSON *field, size_t min, size_t max)
{
    if (field == NULL) return true;
    if (!cJSON_IsString(field)) return false;
    size_t length = strlen(field->valuestring);
    return length >= min && length <= max;
}

/* Whether a member is absent, or an array of texts of 1 to `max` bytes. */
static bool are_texts(const cJSON *list, size_t max, int count_max)
{
    const cJSON *text;
    if (list == NULL) return true;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > count_max) return false;
    cJSON_ArrayForEach(text, list)
    {
        if (!is_text(text, 1, max)) return false;
    }
    return true;
}

static bool is_on_dead(const cJSON *field)
{
    if (field == NULL) return true;
    if (!is_text(field, 0, REEVE_TYPE_MAX)) return false;
    return field->valuestring[0] == '\0' || rv_valid_type(field->valuestring, strlen(field->valuestring));
}

static bool is_until(const cJSON *json)
{
    const cJSON *until = cJSON_GetObjectItemCaseSensitive(json, "until");
    if (until == NULL) return true;
    return cJSON_IsString(until) && strcmp(until->valuestring, "started") == 0 &&
           cJSON_GetObjectItemCaseSensitive(json, "unique") != NULL;
}

/* The scripts' parser takes the last of fields with one name, this one the first. */
static bool is_twice(const cJSON *json, const char *name)
{
    const cJSON *field;
    unsigned count = 0;
    cJSON_ArrayForEach(field, json) count += field->string != NULL && strcmp(field->string, name) == 0;
    return count > 1;
}

const char *rv_envelope_check_header(const cJSON *json)
{
    if (!cJSON_IsObject(json)) return "its header is not a JSON object";
    if (is_twice(json, "at") || is_twice(json, "type")) return "its header has two times or two types";
    if (!is_whole(json, "priority", REEVE_PRIORITY_MIN, REEVE_PRIORITY_MAX))
        return "its priority is not a whole number from -128 to 127";
    if (!is_text(cJSON_GetObjectItemCaseSensitive(json, "group"), 1, REEVE_GROUP_MAX))
        return "its group is not a text of 1 to 100 bytes";
    if (!is_whole(json, "weight", 1, RV_TASK_WEIGHT_MAX)) return "its weight is not a whole number from 1 to 256";
    if (!is_whole(json, "cost", 1, REEVE_COST_MAX)) return "its cost is not a whole number from 1 to 1000000";
    if (!is_text(cJSON_GetObjectItemCaseSensitive(json, "unique"), 1, REEVE_UNIQUE_MAX))
        return "its unique key is not a text of 1 to 200 bytes";
    if (!is_whole(json, "unique_for", 1, TIME_MAX)) return "its unique_for is not a number of milliseconds";
    if (!is_until(json)) return "its until is not \"started\", or it has no unique key";
    if (!is_on_dead(cJSON_GetObjectItemCaseSensitive(json, "on_dead"))) return "its on_dead is not a type";
    if (!is_text(cJSON_GetObjectItemCaseSensitive(json, "of"), 1, REEVE_ID_LENGTH_MAX))
        return "its of is not a text of 1 to 100 bytes";
    if (!are_texts(cJSON_GetObjectItemCaseSensitive(json, "tags"), REEVE_TAG_MAX, REEVE_TAGS_MAX))
        return "its tags are not an array of at most 64 texts";
    if (!are_texts(cJSON_GetObjectItemCaseSensitive(json, "limit_keys"), REEVE_LIMIT_KEY_MAX, REEVE_LIMIT_KEYS_MAX))
        return "its limit_keys are not an array of at most 8 texts";
    return NULL;
}
