#include "base/backoff_text.h"

#include <string.h>

#include "base/backoff.h"
#include "base/text.h"

#define WORD_MAX 64
#define FORMS "exponential[:BASE[:CAP]], fixed:DELAY or list:DELAY,DELAY,... and maybe ~JITTER"

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* Copies the text before the next of some marks, and moves *at to that mark or the end. False: the text is too long. */
static bool take_word(const char **at, const char *marks, char ret[WORD_MAX])
{
    size_t length = strcspn(*at, marks);
    if (length >= WORD_MAX) return false;
    memcpy(ret, *at, length);
    ret[length] = '\0';
    *at += length;
    return true;
}

static reeve_status read_delay(const char **at, const char *marks, int64_t *ret_ms, rv_error *why)
{
    char word[WORD_MAX] = "";
    if (take_word(at, marks, word) && rv_parse_duration(word, ret_ms) && *ret_ms > 0) return REEVE_OK;
    return rv_fail(why, REEVE_EINVAL,
                   "backoff: \"%.64s\": expected a duration above zero such as 500ms, 1.5, 30s, 5m or 1h, "
                   "up to 2000000000 seconds",
                   word[0] != '\0' ? word : *at);
}

/* "0.25": thousandths, which is how a share is kept; finer digits are dropped. None at all is -1. */
static reeve_status read_jitter(const char *text, double *ret, rv_error *why)
{
    int64_t thousandths;
    bool number = text[strspn(text, "0123456789.")] == '\0';
    if (!number || !rv_parse_duration(text, &thousandths) || thousandths > 1000)
        return rv_fail(why, REEVE_EINVAL, "backoff: jitter \"%.64s\": expected a share from 0 to 1", text);
    *ret = thousandths == 0 ? -1 : (double)thousandths / 1000;
    return REEVE_OK;
}

static reeve_status read_exponential(const char **at, reeve_backoff *ret, rv_error *why)
{
    reeve_status status = REEVE_OK;
    if (**at == ':') {
        (*at)++;
        status = read_delay(at, ":~", &ret->base_ms, why);
    }
    if (status == REEVE_OK && **at == ':') {
        (*at)++;
        status = read_delay(at, "~", &ret->cap_ms, why);
    }
    if (status == REEVE_OK && ret->cap_ms > 0 && ret->base_ms > ret->cap_ms)
        return rv_fail(why, REEVE_EINVAL, "backoff: the cap is below the first delay");
    return status;
}

static reeve_status read_fixed(const char **at, reeve_backoff *ret, rv_error *why)
{
    ret->shape = REEVE_BACKOFF_FIXED;
    if (**at != ':') return rv_fail(why, REEVE_EINVAL, "backoff: expected fixed:DELAY");
    (*at)++;
    return read_delay(at, "~", &ret->base_ms, why);
}

static reeve_status read_list(const char **at, reeve_backoff *ret, rv_error *why)
{
    ret->shape = REEVE_BACKOFF_LIST;
    if (**at != ':') return rv_fail(why, REEVE_EINVAL, "backoff: expected list:DELAY,DELAY,...");
    for (size_t i = 0; i == 0 || **at == ','; i++) {
        (*at)++;
        if (i == REEVE_BACKOFF_LIST_MAX)
            return rv_fail(why, REEVE_EINVAL, "backoff: a list has at most %d delays", REEVE_BACKOFF_LIST_MAX);
        if (read_delay(at, ",~", &ret->list_ms[i], why) != REEVE_OK) return REEVE_EINVAL;
    }
    return REEVE_OK;
}

reeve_status rv_backoff_text_parse(const char *text, reeve_backoff *ret, rv_error *why)
{
    static const struct {
        const char *name;
        reeve_status (*read)(const char **at, reeve_backoff *ret, rv_error *why);
    } shapes[] = {{"exponential", read_exponential}, {"fixed", read_fixed}, {"list", read_list}};
    reeve_backoff backoff = {0};
    char word[WORD_MAX] = "";
    const char *at = text;

    if (!take_word(&at, ":~", word)) word[0] = '\0';
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        if (strcmp(word, shapes[i].name) != 0) continue;
        if (shapes[i].read(&at, &backoff, why) != REEVE_OK) return REEVE_EINVAL;
        if (*at == '~' && read_jitter(at + 1, &backoff.jitter, why) != REEVE_OK) return REEVE_EINVAL;
        if (*at != '~' && *at != '\0') break;
        *ret = backoff;
        return REEVE_OK;
    }
    return rv_fail(why, REEVE_EINVAL, "backoff \"%.64s\": expected " FORMS, text);
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* In the largest unit that divides it. ms > 0. */
static void add_delay(rv_buf *out, char mark, int64_t ms)
{
    static const struct {
        int64_t ms;
        const char *name;
    } units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}};
    size_t i = 0;
    while (ms % units[i].ms != 0) i++;
    rv_buf_addc(out, mark);
    rv_buf_addi(out, ms / units[i].ms);
    rv_buf_adds(out, units[i].name);
}

static int64_t min(int64_t base, int64_t cap)
{
    return cap > 0 && cap < base ? cap : base;
}

static void add_delays(rv_buf *out, const reeve_backoff *backoff)
{
    int64_t base = backoff->base_ms > 0 ? backoff->base_ms : RV_BACKOFF_BASE_MS;
    switch (backoff->shape) {
    case REEVE_BACKOFF_LIST:
        rv_buf_adds(out, "list");
        for (size_t i = 0; i < rv_backoff_list_count(backoff); i++)
            add_delay(out, i == 0 ? ':' : ',', backoff->list_ms[i]);
        break;
    case REEVE_BACKOFF_FIXED:
        rv_buf_adds(out, "fixed");
        add_delay(out, ':', min(base, backoff->cap_ms));
        break;
    case REEVE_BACKOFF_EXPONENTIAL:
        rv_buf_adds(out, "exponential");
        if (backoff->base_ms > 0 || backoff->cap_ms > 0) add_delay(out, ':', min(base, backoff->cap_ms));
        if (backoff->cap_ms > 0) add_delay(out, ':', backoff->cap_ms);
        break;
    }
}

/* In whole thousandths: no decimal point that a locale could change. */
static void add_jitter(rv_buf *out, double jitter)
{
    int share = jitter > 0 ? (int)((jitter < 1 ? jitter : 1) * 1000 + 0.5) : 0, digits = 3;
    if (!(jitter < 0) && !(jitter > 0)) return;
    if (share % 1000 == 0) {
        rv_buf_adds(out, share == 0 ? "~0" : "~1");
        return;
    }
    for (; share % 10 == 0; digits--) share /= 10;
    rv_buf_addf(out, "~0.%0*d", digits, share);
}

void rv_backoff_text_format(rv_buf *out, const reeve_backoff *backoff)
{
    add_delays(out, backoff);
    add_jitter(out, backoff->jitter);
}
