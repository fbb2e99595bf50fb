#include "payload.h"

#include <string.h>

/* True for an escaped zero byte in a string: a backslash stands nowhere else in JSON. */
static bool has_escaped_zero(const char *text)
{
    while ((text = strchr(text, '\\')) != NULL) {
        if (strncmp(text + 1, "u0000", 5) == 0) return true;
        text += text[1] != '\0' ? 2 : 1;
    }
    return false;
}

cJSON *payload_parse(reeve_bytes payload, const char **ret_why)
{
    cJSON *object;

    if (payload.length == 0 || memchr(payload.data, 0, payload.length) != NULL || has_escaped_zero(payload.data)) {
        *ret_why =
            payload.length == 0 ? "the payload is empty; a JSON object is expected" : "the payload holds a zero byte";
        return NULL;
    }
    /* a zero byte follows every payload: with it, what stands behind the object is an error */
    object = cJSON_ParseWithLengthOpts(payload.data, payload.length + 1, NULL, true);
    if (cJSON_IsObject(object)) return object;
    *ret_why = object == NULL ? "the payload is not JSON" : "the payload is not a JSON object";
    cJSON_Delete(object);
    return NULL;
}

const char *payload_text(const cJSON *object, const char *name, const char *fallback)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);

    return member != NULL ? cJSON_GetStringValue(member) : fallback;
}

int64_t payload_number(const cJSON *object, const char *name, int64_t max, int64_t fallback)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    double number;

    if (member == NULL) return fallback;
    if (!cJSON_IsNumber(member)) return -1;
    number = member->valuedouble;
    if (!(number >= 0 && number <= (double)max) || number != (double)(int64_t)number) return -1;
    return (int64_t)number;
}
