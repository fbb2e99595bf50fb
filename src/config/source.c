#include "config/source.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/complain.h"

#define SOURCE_MAX (1024 * 1024)
#define DEPTH_MAX 10 /* libconfig's own */

/* ---- reading --------------------------------------------------------------------------------------------------- */

static int read_all(int fd, rv_buf *text)
{
    char chunk[4096];

    for (;;) {
        ssize_t got = read(fd, chunk, sizeof(chunk));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0) return 0;
        rv_buf_add(text, chunk, (size_t)got);
        if (text->failed) return text->length + (size_t)got > SOURCE_MAX ? EFBIG : ENOMEM;
    }
}

reeve_status rv_source_read(const char *path, rv_buf *text, rv_config_errors *errors)
{
    rv_buf_init(text, SOURCE_MAX);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        rv_complain(errors, path, "cannot be opened: %s", strerror(errno));
        return REEVE_ESYSTEM;
    }
    int error = read_all(fd, text);
    close(fd);
    if (error == ENOMEM) return REEVE_ENOMEM;
    if (error == EFBIG) {
        rv_complain(errors, path, "is larger than %d bytes", SOURCE_MAX);
        return REEVE_EINVAL;
    }
    if (error != 0) {
        rv_complain(errors, path, "cannot be read: %s", strerror(error));
        return REEVE_ESYSTEM;
    }
    if (text->length > 0 && memchr(text->data, '\0', text->length) != NULL) {
        rv_complain(errors, path, "has a zero byte: not a text file");
        return REEVE_EINVAL;
    }
    return REEVE_OK;
}

/* ---- looking through ------------------------------------------------------------------------------------------- */

typedef struct look {
    rv_config_errors *errors;
    const char *first; /* the file that was read first */
    const char *file;
    unsigned depth;
    unsigned line;
    bool line_begins; /* the line had only blanks so far */
} look;

static void look_through(look *at, const char *text);

static void complain_here(const look *at, const char *words, const char *what, size_t length)
{
    rv_buf where;

    rv_buf_init(&where, 4096);
    rv_buf_addf(&where, "%s:%u", at->file, at->line);
    rv_complain(at->errors, rv_buf_text(&where), "%s: %.*s", words, (int)length, what);
    rv_buf_fini(&where);
}

/* The end of a string that begins at the quote, past its closing quote. */
static const char *skip_string(look *at, const char *text)
{
    for (text++; *text != '\0' && *text != '"'; text++) {
        if (*text == '\n') at->line++;
        if (*text == '\\' && text[1] != '\0') text++;
    }
    return *text == '"' ? text + 1 : text;
}

static const char *skip_comment(look *at, const char *text)
{
    if (*text == '#' || text[1] == '/') return text + strcspn(text, "\n");
    for (text += 2; *text != '\0' && (text[0] != '*' || text[1] != '/'); text++) {
        if (*text == '\n') at->line++;
    }
    return *text == '\0' ? text : text + 2;
}

/* A number with a fraction or an exponent is a float, one with an L has 64 bits, one with an x is hexadecimal. */
static const char *look_number(const look *at, const char *text)
{
    size_t length = strspn(text, "0123456789");
    int64_t number;
    char digits[24];

    if (text[length] == 'x' || text[length] == 'X') {
        size_t zeros = 1 + strspn(text + length + 1, "0");
        size_t hex = strspn(text + length + zeros, "0123456789abcdefABCDEF");
        if (hex > 8) complain_here(at, "too large a number", text, length + zeros + hex);
        return text + length + zeros + hex;
    }
    if (strchr(".eELl", text[length]) != NULL && text[length] != '\0')
        return text + length + strspn(text + length, ".0123456789eEL+-");
    bool fits = length < sizeof(digits);
    if (fits) {
        memcpy(digits, text, length);
        digits[length] = '\0';
        fits = rv_parse_int(digits, 0, INT32_MAX, &number);
    }
    if (!fits) complain_here(at, "too large a number", text, length);
    return text + length;
}

static void look_into_included(const look *at, const char *name, size_t length)
{
    rv_buf path, text;
    rv_config_errors unread;
    struct stat facts;

    rv_buf_init(&path, 4096);
    rv_buf_init(&text, SOURCE_MAX);
    rv_config_errors_init(&unread);
    rv_complain_add_included(&path, at->first, name, length);
    if (path.failed || at->depth >= DEPTH_MAX || stat(rv_buf_text(&path), &facts) != 0) goto out;
    if (!S_ISREG(facts.st_mode)) {
        complain_here(at, "not a file, cannot be included", name, length);
    } else if (rv_source_read(rv_buf_text(&path), &text, &unread) == REEVE_OK) {
        look inside = {at->errors, at->first, rv_buf_text(&path), at->depth + 1, 1, true};
        look_through(&inside, rv_buf_text(&text));
    }
out:
    rv_config_errors_fini(&unread);
    rv_buf_fini(&text);
    rv_buf_fini(&path);
}

/* libconfig knows @include only at the beginning of a line, with one string after it. */
static const char *look_include(look *at, const char *text)
{
    const char *name = text + strlen("@include");

    name += strspn(name, " \t");
    if (*name != '"') return text + 1;
    const char *end = skip_string(at, name);
    if (end - name >= 2 && end[-1] == '"') look_into_included(at, name + 1, (size_t)(end - name) - 2);
    return end;
}

static const char *look_token(look *at, const char *text)
{
    if (*text == '"') return skip_string(at, text);
    if (*text == '#' || (*text == '/' && (text[1] == '/' || text[1] == '*'))) return skip_comment(at, text);
    if (at->line_begins && strncmp(text, "@include", 8) == 0) return look_include(at, text);
    if (isdigit((unsigned char)*text)) return look_number(at, text);
    if (*text == '.') return text + 1 + strspn(text + 1, "0123456789eE");
    if (isalpha((unsigned char)*text) || *text == '*' || *text == '_') {
        while (isalnum((unsigned char)*text) || strchr("-_*", *text) != NULL) {
            if (*text == '\0') break;
            text++;
        }
        return text;
    }
    return text + 1;
}

static void look_through(look *at, const char *text)
{
    while (*text != '\0') {
        if (*text == '\n') {
            at->line++;
            at->line_begins = true;
            text++;
        } else if (*text == ' ' || *text == '\t') {
            text++;
        } else {
            text = look_token(at, text);
            at->line_begins = false;
        }
    }
}

void rv_source_check(const char *file, const char *text, rv_config_errors *errors)
{
    look at = {errors, file, file, 0, 1, true};
    look_through(&at, text);
}
