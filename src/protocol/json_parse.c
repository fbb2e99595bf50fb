#include "protocol/json_parse.h"

#include <errno.h>

static reeve_status parse(cJSON **ret, const char *text, size_t length, const char **end)
{
    errno = 0;
    *ret = cJSON_ParseWithLengthOpts(text, length, end, 0);
    if (*ret != NULL) return REEVE_OK;
    return errno == ENOMEM ? REEVE_ENOMEM : REEVE_EINVAL;
}

reeve_status rv_json_parse(cJSON **ret, const char *text, size_t length)
{
    return parse(ret, text, length, NULL);
}

reeve_status rv_json_parse_object(cJSON **ret, const char *text, size_t length)
{
    const char *end = NULL;
    reeve_status status = parse(ret, text, length, &end);
    if (status != REEVE_OK || (cJSON_IsObject(*ret) && end == text + length)) return status;
    cJSON_Delete(*ret);
    *ret = NULL;
    return REEVE_EINVAL;
}
