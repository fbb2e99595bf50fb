#include "json_scan.h"

#include <stdint.h>
#include <string.h>

#include "utf8.h"

static bool scan_value(cli_scan *scan, cli_value *ret);

static bool expected(cli_scan *scan, const char *what)
{
    scan->expected = what;
    return false;
}

static void skip_space(cli_scan *scan)
{
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\n' || *scan->at == '\r'))
        scan->at++;
}

/* The next character, or 0 at the end: a zero byte is never part of JSON. */
static char peek(const cli_scan *scan)
{
    return scan->at < scan->end ? *scan->at : '\0';
}

static bool take(cli_scan *scan, char c)
{
    if (peek(scan) != c || c == '\0') return false;
    scan->at++;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool scan_digits(cli_scan *scan)
{
    if (!is_digit(peek(scan))) return expected(scan, "a digit");
    while (is_digit(peek(scan))) scan->at++;
    return true;
}

static bool scan_number(cli_scan *scan)
{
    (void)take(scan, '-');
    if (!take(scan, '0') && !scan_digits(scan)) return false;
    if (take(scan, '.') && !scan_digits(scan)) return false;
    if (take(scan, 'e') || take(scan, 'E')) {
        if (!take(scan, '+')) (void)take(scan, '-');
        return scan_digits(scan);
    }
    return true;
}

static int hex_value(char c)
{
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool scan_escape(cli_scan *scan)
{
    char c = peek(scan);

    if (c == '\0' || strchr("\"\\/bfnrtu", c) == NULL) return expected(scan, "an escape such as \\n or \\u00e9");
    scan->at++;
    for (int i = 0; c == 'u' && i < 4; i++) {
        if (hex_value(peek(scan)) < 0) return expected(scan, "four hexadecimal digits");
        scan->at++;
    }
    return true;
}

static bool scan_string(cli_scan *scan)
{
    uint32_t character;

    if (!take(scan, '"')) return expected(scan, "a string");
    while (scan->at < scan->end) {
        size_t step;

        if (take(scan, '"')) return true;
        if (take(scan, '\\')) {
            if (!scan_escape(scan)) return false;
            continue;
        }
        if ((unsigned char)*scan->at < 0x20) return expected(scan, "an escape for this control character");
        step = cli_utf8_next(scan->at, (size_t)(scan->end - scan->at), &character);
        if (step == 0) return expected(scan, "UTF-8");
        scan->at += step;
    }
    return expected(scan, "the closing quote of a string");
}

static bool scan_word(cli_scan *scan, const char *word)
{
    size_t length = strlen(word);

    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length) != 0)
        return expected(scan, "a value");
    scan->at += length;
    return true;
}

static bool scan_key(cli_scan *scan)
{
    skip_space(scan);
    if (peek(scan) != '"') return expected(scan, "a member's name in quotes");
    if (!scan_string(scan)) return false;
    skip_space(scan);
    return take(scan, ':') || expected(scan, "':'");
}

/* The rest of an array or object after its opening bracket. */
static bool scan_members(cli_scan *scan, char closing)
{
    cli_value member;
    bool object = closing == '}';

    skip_space(scan);
    if (take(scan, closing)) return true;
    do {
        if (object && !scan_key(scan)) return false;
        if (!scan_value(scan, &member)) return false;
        skip_space(scan);
    } while (take(scan, ','));
    return take(scan, closing) || expected(scan, object ? "',' or '}'" : "',' or ']'");
}

static bool scan_container(cli_scan *scan, char closing)
{
    bool well;

    if (scan->depth == CLI_SCAN_DEPTH) return expected(scan, "less nesting");
    scan->at++;
    scan->depth++;
    well = scan_members(scan, closing);
    scan->depth--;
    return well;
}

static bool scan_by_first(cli_scan *scan, cli_value_kind *ret)
{
    switch (peek(scan)) {
    case '{':
        *ret = CLI_VALUE_OBJECT;
        return scan_container(scan, '}');
    case '[':
        *ret = CLI_VALUE_ARRAY;
        return scan_container(scan, ']');
    case '"':
        *ret = CLI_VALUE_STRING;
        return scan_string(scan);
    case 't':
        *ret = CLI_VALUE_TRUE;
        return scan_word(scan, "true");
    case 'f':
        *ret = CLI_VALUE_FALSE;
        return scan_word(scan, "false");
    case 'n':
        *ret = CLI_VALUE_NULL;
        return scan_word(scan, "null");
    default:
        break;
    }
    *ret = CLI_VALUE_NUMBER;
    if (peek(scan) != '-' && !is_digit(peek(scan))) return expected(scan, "a value");
    return scan_number(scan);
}

static bool scan_value(cli_scan *scan, cli_value *ret)
{
    cli_value value;

    skip_space(scan);
    value.text = scan->at;
    if (!scan_by_first(scan, &value.kind)) return false;
    value.length = (size_t)(scan->at - value.text);
    *ret = value;
    return true;
}

void cli_scan_init(cli_scan *scan, const char *text, size_t length)
{
    memset(scan, 0, sizeof(*scan));
    scan->start = scan->at = text;
    scan->end = text + length;
}

bool cli_scan_value(cli_scan *scan, cli_value *ret)
{
    return scan_value(scan, ret);
}

bool cli_scan_end(cli_scan *scan)
{
    skip_space(scan);
    return scan->at == scan->end || expected(scan, "the end");
}

void cli_walk_init(cli_walk *walk, const cli_value *container)
{
    cli_scan_init(&walk->scan, container->text + 1, container->length - 2);
    walk->object = container->kind == CLI_VALUE_OBJECT;
}

bool cli_walk_next(cli_walk *walk, cli_value *ret_key, cli_value *ret_value)
{
    skip_space(&walk->scan);
    (void)take(&walk->scan, ',');
    skip_space(&walk->scan);
    if (walk->scan.at == walk->scan.end) return false;
    if (walk->object) {
        if (!scan_value(&walk->scan, ret_key)) return false;
        skip_space(&walk->scan);
        (void)take(&walk->scan, ':');
    }
    return scan_value(&walk->scan, ret_value);
}

static uint32_t hex4(const char *text)
{
    uint32_t number = 0;

    for (int i = 0; i < 4; i++) number = number << 4 | (uint32_t)hex_value(text[i]);
    return number;
}

static size_t put_utf8(uint32_t character, char *target)
{
    size_t size = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;

    if (size == 1) {
        target[0] = (char)character;
        return 1;
    }
    for (size_t i = size - 1; i > 0; i--, character >>= 6) target[i] = (char)(0x80 | (character & 0x3f));
    target[0] = (char)((0xf00u >> size & 0xf0u) | character);
    return size;
}

/* *at stands behind "\u", and then behind the escape or pair of escapes. */
static bool unescape_unicode(const char **at, const char *end, char **target)
{
    uint32_t character = hex4(*at);

    *at += 4;
    if (character >= 0xdc00 && character <= 0xdfff) return false;
    if (character >= 0xd800 && character <= 0xdbff) {
        uint32_t low = end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u' ? hex4(*at + 2) : 0;
        if (low < 0xdc00 || low > 0xdfff) return false;
        *at += 6;
        character = 0x10000 + ((character - 0xd800) << 10) + (low - 0xdc00);
    }
    *target += put_utf8(character, *target);
    return true;
}

bool cli_scan_string(const cli_value *string, char *target, size_t *ret_length)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *at = string->text + 1, *end = string->text + string->length - 1;
    char *to = target;

    while (at < end) {
        if (*at != '\\') {
            *to++ = *at++;
        } else if (at[1] == 'u') {
            at += 2;
            if (!unescape_unicode(&at, end, &to)) return false;
        } else {
            *to++ = meanings[strchr(letters, at[1]) - letters];
            at += 2;
        }
    }
    *ret_length = (size_t)(to - target);
    return true;
}

size_t cli_scan_compact(const cli_value *value, char *target)
{
    char *to = target;
    bool string = false;

    for (size_t i = 0; i < value->length; i++) {
        char c = value->text[i];

        if (string && c == '\\') {
            *to++ = c;
            c = value->text[++i];
        } else if (c == '"') {
            string = !string;
        }
        if (string || (c != ' ' && c != '\t' && c != '\n' && c != '\r')) *to++ = c;
    }
    return (size_t)(to - target);
}
