#include "protocol/rates.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"

reeve_rate rv_rates_read(const rv_reply *reply)
{
    reeve_rate rate = {0};
    char text[80], *rest = NULL;
    int64_t *const fields[] = {&rate.count, &rate.period_ms, &rate.burst};
    size_t count = 0;
    rv_copy_text(text, sizeof(text), rv_reply_is(reply, RV_TEXT) ? reply->text : "");
    if (strcmp(text, "0") == 0) return (reeve_rate){.count = -1};
    for (const char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest), count++) {
        if (count == 3 || !rv_parse_int(word, 1, INT64_MAX, fields[count])) return (reeve_rate){0};
    }
    return count == 3 ? rate : (reeve_rate){0};
}
