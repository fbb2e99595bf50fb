#include "protocol/option_read.h"

#define SPAN_MAX 9e15

static double number_of(const cJSON *header, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(header, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

int rv_option_read_int(const cJSON *header, const char *name, int min, int max)
{
    double number = number_of(header, name);
    if (!(number >= min)) return 0;
    return number < max ? (int)number : max;
}

int64_t rv_option_read_span(const cJSON *header, const char *name)
{
    double number = number_of(header, name);
    if (!(number > 0)) return 0;
    return (int64_t)(number < SPAN_MAX ? number : SPAN_MAX);
}

bool rv_option_read_flag(const cJSON *header, const char *name)
{
    return number_of(header, name) > 0;
}
