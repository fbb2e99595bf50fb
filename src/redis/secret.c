#include "redis/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

#define LINE_MAX_BYTES 4096

void rv_secret_free(char *secret)
{
    if (secret != NULL) explicit_bzero(secret, strlen(secret));
    rv_free(secret);
}

static reeve_status check_mode(int fd, const char *path, rv_error *error)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return rv_fail(error, REEVE_EINVAL, "%.200s: cannot be looked at: %s", path, strerror(errno));
    if (S_ISFIFO(about.st_mode)) return REEVE_OK;
    if (!S_ISREG(about.st_mode)) return rv_fail(error, REEVE_EINVAL, "%.200s: is neither a file nor a pipe", path);
    const mode_t others = about.st_uid == 0 ? S_IWGRP | S_IRWXO : S_IRWXG | S_IRWXO;
    if ((about.st_mode & others) == 0) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "%.200s: others may read or change it (mode %04o): chmod 600 it", path,
                   (unsigned)(about.st_mode & 07777));
}

/* Up to the end of a line or of the file. */
static reeve_status read_line(int fd, const char *path, char line[LINE_MAX_BYTES + 1], rv_error *error)
{
    size_t length = 0;
    while (length <= LINE_MAX_BYTES) {
        ssize_t got = read(fd, line + length, LINE_MAX_BYTES + 1 - length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return rv_fail(error, REEVE_EINVAL, "%.200s: cannot be read: %s", path, strerror(errno));
        char *end = memchr(line + length, '\n', (size_t)got);
        length += (size_t)got;
        if (end != NULL || got == 0) {
            line[end != NULL ? (size_t)(end - line) : length] = '\0';
            return REEVE_OK;
        }
    }
    return rv_fail(error, REEVE_EINVAL, "%.200s: its first line has more than %d bytes", path, LINE_MAX_BYTES);
}

static char *trimmed(char *line)
{
    static const char blanks[] = " \t\r\v\f";
    line += strspn(line, blanks);
    size_t length = strlen(line);
    while (length > 0 && strchr(blanks, line[length - 1]) != NULL) length--;
    line[length] = '\0';
    return line;
}

reeve_status rv_secret_read(char **ret, const char *path, rv_error *error)
{
    char line[LINE_MAX_BYTES + 2];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *ret = NULL;
    if (fd < 0) return rv_fail(error, REEVE_EINVAL, "%.200s: cannot be opened: %s", path, strerror(errno));
    reeve_status status = check_mode(fd, path, error);
    if (status == REEVE_OK) status = read_line(fd, path, line, error);
    (void)close(fd);
    if (status == REEVE_OK) {
        const char *text = trimmed(line);
        if (*text == '\0')
            status = rv_fail(error, REEVE_EINVAL, "%.200s: its first line is empty", path);
        else if ((*ret = rv_strdup(text)) == NULL)
            status = rv_fail(error, REEVE_ENOMEM, "no memory for what %.200s says", path);
    }
    explicit_bzero(line, sizeof(line));
    return status;
}

/* ---- in a URL -------------------------------------------------------------------------------------------------- */

static void add_encoded(rv_buf *out, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *text != '\0'; text++) {
        if (strchr(plain, *text) != NULL)
            rv_buf_addc(out, *text);
        else
            rv_buf_addf(out, "%%%02X", (unsigned)(unsigned char)*text);
    }
}

reeve_status rv_secret_in_url(char **ret, const char *url, const char *password, rv_error *error)
{
    const char *authority = strstr(url, "://"), *at = NULL;
    *ret = NULL;
    if (authority == NULL) return rv_fail(error, REEVE_EURL, "the Redis URL is none that takes a password");
    authority += 3;
    for (const char *c = authority; *c != '\0' && *c != '/' && *c != '?'; c++)
        if (*c == '@') at = c;
    const char *colon = at != NULL ? memchr(authority, ':', (size_t)(at - authority)) : NULL;
    if (colon != NULL && colon + 1 < at)
        return rv_fail(error, REEVE_EURL, "the Redis URL has a password, and there is one in a file");
    rv_buf out;
    rv_buf_init(&out, strlen(url) + 3 * strlen(password) + 8);
    rv_buf_add(&out, url, (size_t)(authority - url));
    if (at != NULL) rv_buf_add(&out, authority, (size_t)((colon != NULL ? colon : at) - authority));
    rv_buf_addc(&out, ':');
    add_encoded(&out, password);
    rv_buf_addc(&out, '@');
    rv_buf_adds(&out, at != NULL ? at + 1 : authority);
    *ret = out.failed ? NULL : rv_strdup(rv_buf_text(&out));
    if (out.length > 0) explicit_bzero(out.data, out.length);
    rv_buf_fini(&out);
    return *ret != NULL ? REEVE_OK : rv_fail(error, REEVE_ENOMEM, "no memory for the Redis URL");
}
