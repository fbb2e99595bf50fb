/*
 * web_body.c - the JSON object that a request has as its body. It is read as strictly as a line of `reeve enqueue --bulk`: a member that
 * another reader would understand differently, or that would be left out, is refused.
 */
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "cli/json_scan.h"
#include "web.h"

#define NAME_SIZE 32
#define NAME_SHOWN 100 /* bytes of an unknown name in the message */
/* The members of the table of routes whose values are texts, numbers, or true or false. */
#define TEXTS "outcome lease kind message reason at pool action user password group"
#define NUMBERS "expected priority count"
#define TRUTHS "cascade each_group strict forget"

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* The place of a word in a list that blanks divide; -1: it is not there. */
static int place_of(const char *words, const char *word)
{
    size_t length = strlen(word);
    int place = 0;

    for (const char *at = words; at != NULL; at = strchr(at, ' '), place++) {
        at += *at == ' ';
        if (strncmp(at, word, length) == 0 && (at[length] == ' ' || at[length] == '\0')) return place;
    }
    return -1;
}

/* Whether a value has the escape of a zero byte, at which texts of C end. */
static bool has_zero(const cli_value *value)
{
    for (size_t i = 0; i + 1 < value->length; i++) {
        if (value->text[i] != '\\') continue;
        if (value->length - i >= 6 && memcmp(value->text + i, "\\u0000", 6) == 0) return true;
        i++;
    }
    return false;
}

static bool refuse_value(web_call *call, const char *name, const char *expected)
{
    web_refuse(call, 400, "invalid", "\"%s\": expected %s", name, expected);
    return false;
}

static bool check_value(web_call *call, const char *name, const cli_value *value)
{
    bool is_truth = value->kind == CLI_VALUE_TRUE || value->kind == CLI_VALUE_FALSE;

    if (strcmp(name, "result") != 0 && has_zero(value))
        return refuse_value(call, name, "a text without a zero byte (\\u0000)");
    if (value->kind == CLI_VALUE_NULL) return true;
    if (place_of(TEXTS, name) >= 0 && value->kind != CLI_VALUE_STRING) return refuse_value(call, name, "a text");
    if (place_of(NUMBERS, name) >= 0 && value->kind != CLI_VALUE_NUMBER) return refuse_value(call, name, "a number");
    return place_of(TRUTHS, name) < 0 || is_truth || refuse_value(call, name, "true or false");
}

/* A misspelt member would be left out without a word: {"until":60} would pause a queue for ever. seen: the members so far. */
static bool check_member(web_call *call, const cli_value *key, const cli_value *value, uint64_t *seen)
{
    char name[NAME_SIZE] = "";
    size_t length = 0;
    bool fits = key->length < NAME_SIZE && cli_scan_string(key, name, &length) && strlen(name) == length;
    int place = fits && length > 0 && strchr(name, ' ') == NULL ? place_of(call->route->members, name) : -1;

    if (place < 0) {
        web_refuse(call, 400, "invalid", "the body has no member %.*s: expected %s",
                   (int)(key->length < NAME_SHOWN ? key->length : NAME_SHOWN), key->text,
                   call->route->members[0] != '\0' ? call->route->members : "no members");
        return false;
    }
    if ((*seen >> place & 1) != 0) {
        web_refuse(call, 400, "invalid", "\"%s\" stands twice", name);
        return false;
    }
    *seen |= UINT64_C(1) << place;
    return check_value(call, name, value);
}

static bool check_members(web_call *call, const cli_value *object)
{
    cli_walk walk;
    cli_value key, value;
    uint64_t seen = 0;

    cli_walk_init(&walk, object);
    while (cli_walk_next(&walk, &key, &value))
        if (!check_member(call, &key, &value, &seen)) return false;
    return true;
}

bool web_body_read(web_call *call)
{
    cli_scan scan;
    cli_value value;

    if (call->route->members == NULL || call->http->length == 0) return true;
    cli_scan_init(&scan, call->http->body, call->http->length);
    if (!cli_scan_value(&scan, &value) || !cli_scan_end(&scan)) {
        web_refuse(call, 400, "invalid", "the body is no JSON object: byte %zu: expected %s",
                   (size_t)(scan.at - scan.start) + 1, scan.expected);
        return false;
    }
    if (value.kind != CLI_VALUE_OBJECT) {
        web_refuse(call, 400, "invalid", "the body is no JSON object");
        return false;
    }
    if (!check_members(call, &value)) return false;
    call->body = cJSON_ParseWithLength(call->http->body, call->http->length);
    if (call->body != NULL) return true;
    web_refuse(call, 400, "invalid", "the body has half a surrogate pair, or there is no memory");
    return false;
}

/* ---- members --------------------------------------------------------------------------------------------------- */

bool web_body_source(const web_call *call, const char *name, cli_value *ret)
{
    cli_scan scan;
    cli_walk walk;
    cli_value object, key;
    char text[NAME_SIZE];
    size_t length;

    if (call->body == NULL) return false;
    cli_scan_init(&scan, call->http->body, call->http->length);
    if (!cli_scan_value(&scan, &object)) return false;
    cli_walk_init(&walk, &object);
    while (cli_walk_next(&walk, &key, ret)) {
        if (key.length >= NAME_SIZE || !cli_scan_string(&key, text, &length)) continue;
        if (length == strlen(name) && memcmp(text, name, length) == 0) return true;
    }
    return false;
}

const char *web_body_text(const web_call *call, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(call->body, name));
}

bool web_body_duration(web_call *call, const char *name, int64_t fallback, int64_t *ret_ms)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(call->body, name);

    *ret_ms = fallback;
    if (value == NULL || cJSON_IsNull(value)) return true;
    if (cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble <= RV_DURATION_MAX_MS / 1000.0) {
        *ret_ms = (int64_t)(value->valuedouble * 1000 + 0.5);
        return true;
    }
    if (cJSON_IsString(value) && rv_parse_duration(value->valuestring, ret_ms)) return true;
    web_refuse(call, 400, "invalid", "\"%s\": expected seconds, or a text %s", name, RV_DURATION_EXAMPLES);
    return false;
}
