#include "web_redact.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <string.h>

#define HIDDEN "(hidden)"
#define DEPTH_MAX CJSON_NESTING_LIMIT

/* ---- rules ----------------------------------------------------------------------------------------------------- */

/* A part of a text. */
typedef struct part {
    const char *text;
    size_t length;
} part;

/* The next rule of a list, without the spaces around it; *at goes behind it. False: there is none. */
static bool next_rule(const char **at, part *ret)
{
    if (*at == NULL) return false;
    const char *begin = *at, *comma = strchr(begin, ','), *end = comma == NULL ? begin + strlen(begin) : comma;

    *at = comma == NULL ? NULL : comma + 1;
    while (begin < end && *begin == ' ') begin++;
    while (end > begin && end[-1] == ' ') end--;
    *ret = (part){begin, (size_t)(end - begin)};
    return true;
}

bool web_redact_is_list(const char *rules)
{
    part rule;

    if (strlen(rules) > WEB_REDACT_MAX) return false;
    for (const char *at = rules; next_rule(&at, &rule);) {
        if (rule.length == 0 || rule.text[0] == '.' || rule.text[rule.length - 1] == '.') return false;
        for (size_t i = 0; i < rule.length; i++)
            if ((unsigned char)rule.text[i] < ' ' || (rule.text[i] == '.' && rule.text[i + 1] == '.')) return false;
    }
    return true;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Goes back to the last star where a name differs behind it. */
static bool fits(part pattern, const char *name)
{
    size_t at = 0, star = SIZE_MAX;
    const char *back = name;

    while (*name != '\0') {
        if (at < pattern.length && pattern.text[at] == '*') {
            star = at++;
            back = name;
        } else if (at < pattern.length && same(pattern.text[at], *name)) {
            at++;
            name++;
        } else if (star != SIZE_MAX) {
            at = star + 1;
            name = ++back;
        } else {
            return false;
        }
    }
    while (at < pattern.length && pattern.text[at] == '*') at++;
    return at == pattern.length;
}

/* ---- the walk -------------------------------------------------------------------------------------------------- */

typedef struct walking {
    rv_buf *out;
    const char *rules;
    const char *at, *end;
    const char *copied; /* what is before it is in `out`, or hidden */
    cJSON *names[DEPTH_MAX + 1];
    size_t depth; /* members on the way */
    bool hides;   /* inside of a value that is hidden */
} walking;

/* A rule's parts against the last names on the way; a name that has dots itself is compared with the whole rule. */
static bool rule_fits(const walking *walk, part rule)
{
    size_t depth = walk->depth;

    if (fits(rule, walk->names[depth - 1]->valuestring)) return true;
    while (rule.length > 0) {
        size_t begin = rule.length;
        while (begin > 0 && rule.text[begin - 1] != '.') begin--;
        if (depth == 0) return false;
        if (!fits((part){rule.text + begin, rule.length - begin}, walk->names[--depth]->valuestring)) return false;
        rule.length = begin == 0 ? 0 : begin - 1;
    }
    return true;
}

static bool is_hidden(const walking *walk)
{
    part rule;

    for (const char *at = walk->rules; next_rule(&at, &rule);)
        if (rule_fits(walk, rule)) return true;
    return false;
}

static void skip_space(walking *walk)
{
    while (walk->at < walk->end && (unsigned char)*walk->at <= ' ') walk->at++;
}

static void skip_string(walking *walk)
{
    for (walk->at++; walk->at < walk->end && *walk->at != '"'; walk->at++)
        if (*walk->at == '\\') walk->at++;
    walk->at = walk->at < walk->end ? walk->at + 1 : walk->end;
}

static bool walk_value(walking *walk);

/* A member, of which the name is next. */
static bool walk_member(walking *walk)
{
    const char *begin = walk->at;

    skip_string(walk);
    cJSON *name = cJSON_ParseWithLength(begin, (size_t)(walk->at - begin));
    if (name == NULL || cJSON_GetStringValue(name) == NULL || walk->depth == DEPTH_MAX) {
        cJSON_Delete(name);
        return false;
    }
    walk->names[walk->depth++] = name;
    skip_space(walk);
    walk->at++; /* the colon */
    skip_space(walk);
    bool was = walk->hides, hides = !was && is_hidden(walk);
    if (hides) {
        rv_buf_add(walk->out, walk->copied, (size_t)(walk->at - walk->copied));
        rv_buf_adds(walk->out, "\"" HIDDEN "\"");
    }
    walk->hides = was || hides;
    bool good = walk_value(walk);
    walk->hides = was;
    if (hides) walk->copied = walk->at;
    cJSON_Delete(walk->names[--walk->depth]);
    return good;
}

/* An object or an array. */
static bool walk_items(walking *walk, char close)
{
    walk->at++;
    for (;;) {
        skip_space(walk);
        if (walk->at >= walk->end) return false;
        if (*walk->at == close) break;
        if (*walk->at == ',')
            walk->at++;
        else if (close == '}' ? *walk->at != '"' || !walk_member(walk) : !walk_value(walk))
            return false;
    }
    walk->at++;
    return true;
}

/* The text has been parsed before, so that it is JSON. */
static bool walk_value(walking *walk)
{
    if (walk->at >= walk->end) return false;
    if (*walk->at == '{') return walk_items(walk, '}');
    if (*walk->at == '[') return walk_items(walk, ']');
    if (*walk->at == '"') {
        skip_string(walk);
        return true;
    }
    const char *begin = walk->at;
    while (walk->at < walk->end && (unsigned char)*walk->at > ' ' && strchr(",]}", *walk->at) == NULL) walk->at++;
    return walk->at > begin;
}

static bool is_json(const char *text, size_t length)
{
    const char *end = NULL;
    cJSON *parsed = cJSON_ParseWithLengthOpts(text, length, &end, false);

    if (parsed == NULL) return false;
    cJSON_Delete(parsed);
    while (end < text + length && (unsigned char)*end <= ' ') end++;
    return end == text + length;
}

bool web_redact(rv_buf *ret, const char *rules, const char *text, size_t length)
{
    walking walk = {.out = ret, .rules = rules, .at = text, .end = text + length, .copied = text};
    size_t before = ret->length;

    if (length == 0) return true;
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) walk.at += 3;
    skip_space(&walk);
    if (is_json(text, length) && walk_value(&walk)) {
        rv_buf_add(ret, walk.copied, (size_t)(walk.end - walk.copied));
    } else {
        ret->length = before;
        rv_buf_adds(ret, HIDDEN);
    }
    return !ret->failed;
}

reeve_bytes web_redact_shown(rv_buf *room, bool hides_all, const char *rules, reeve_bytes bytes)
{
    static const reeve_bytes hidden = {HIDDEN, sizeof(HIDDEN) - 1};

    if (!hides_all && rules == NULL) return bytes;
    if (hides_all || !web_redact(room, rules, bytes.data, bytes.length)) return hidden;
    return (reeve_bytes){room->data == NULL ? "" : room->data, room->length};
}
