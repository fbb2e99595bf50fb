#include "redis/embedded_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static reeve_status unusable(const char *path, rv_error *error)
{
    char words[128];
    return rv_fail(error, REEVE_ESYSTEM,
                   "the directory %s of the embedded Redis cannot be used: %s; name another one, as in embedded:/path",
                   path, strerror_r(errno, words, sizeof(words)));
}

/* Nowhere else: what is written to /tmp is gone one day. */
static reeve_status choose_default(char *path, size_t size, rv_error *error)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length;
    if (state && *state == '/')
        length = snprintf(path, size, "%s/reeve", state);
    else if (home && *home == '/')
        length = snprintf(path, size, "%s/.local/state/reeve", home);
    else
        return rv_fail(
            error, REEVE_EINVAL,
            "no place for the data of an embedded Redis: neither HOME nor XDG_STATE_HOME is an absolute path; "
            "set one, or name a directory (embedded:/path) or a Redis (REEVE_REDIS, --redis, the "
            "configuration)");
    return length > 0 && (size_t)length < size ? REEVE_OK : unusable("(default)", error);
}

static reeve_status choose(const char *given, char *path, size_t size, rv_error *error)
{
    errno = ENAMETOOLONG;
    if (!given) return choose_default(path, size, error);
    int length = snprintf(path, size, "%s", given);
    return length > 0 && (size_t)length < size ? REEVE_OK : unusable(given, error);
}

static bool make_one(const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Makes the directory and those above it. Which of them stand is for open to find out. */
static bool make_all(char *path)
{
    for (char *at = path + 1; *at; at++) {
        if (*at != '/') continue;
        *at = '\0';
        bool made = make_one(path) || errno == EROFS || errno == EACCES;
        *at = '/';
        if (!made) return false;
    }
    return make_one(path);
}

/* Another user who owns the directory, or may write to it, could put a server of his own in place of this one. Root
 * may name any user's directory, but does not follow a link into one. */
static reeve_status check_owner(const char *path, bool given, int fd, rv_error *error)
{
    struct stat state;
    if (fstat(fd, &state) != 0) return unusable(path, error);
    bool ours = state.st_uid == geteuid() || (given && geteuid() == 0);
    const char *fault = !ours                        ? "belongs to another user"
                        : (state.st_mode & 022) != 0 ? "can be written by others"
                                                     : NULL;
    /* Others could read what Redis writes to its files. */
    if (fault == NULL && (state.st_mode & 077) != 0 && fchmod(fd, state.st_mode & 0700) != 0)
        fault = "can be read by others";
    if (fault == NULL) return REEVE_OK;
    return rv_fail(error, REEVE_ESYSTEM,
                   "the directory %s of the embedded Redis %s; name another one, as in embedded:/path", path, fault);
}

static void place_socket(rv_embedded_dir *dir)
{
    int length = snprintf(dir->socket, sizeof(dir->socket), "%s/redis.sock", dir->path);
    if (length > 0 && (size_t)length < sizeof(dir->socket)) return;
    (void)snprintf(dir->socket, sizeof(dir->socket), "/proc/self/fd/%d/redis.sock", dir->fd);
}

static reeve_status keep_path(rv_embedded_dir *dir, const char *path, rv_error *error)
{
    char absolute[PATH_MAX];
    if (!realpath(path, absolute)) return unusable(path, error);
    dir->path = rv_strdup(absolute);
    return dir->path ? REEVE_OK : rv_fail(error, REEVE_ENOMEM, "out of memory for an embedded Redis");
}

reeve_status rv_embedded_dir_open(rv_embedded_dir *ret, const char *given, rv_error *error)
{
    char path[PATH_MAX];
    rv_embedded_dir dir = {.fd = -1};
    reeve_status status = choose(given, path, sizeof(path), error);
    if (status != REEVE_OK) return status;
    if (!make_all(path)) return unusable(path, error);
    dir.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (given ? 0 : O_NOFOLLOW));
    if (dir.fd < 0) return unusable(path, error);
    status = check_owner(path, given != NULL, dir.fd, error);
    if (status == REEVE_OK) status = keep_path(&dir, path, error);
    if (status != REEVE_OK) {
        rv_embedded_dir_close(&dir);
        return status;
    }
    place_socket(&dir);
    *ret = dir;
    return REEVE_OK;
}

void rv_embedded_dir_close(rv_embedded_dir *dir)
{
    if (dir->fd >= 0) close(dir->fd);
    rv_free(dir->path);
    *dir = (rv_embedded_dir){.fd = -1};
}
