#include "log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define FIRST_FREE 64 /* far from what programs use by number */

static struct {
    char *path;   /* NULL: standard error */
    int original; /* standard error as it was, while a file is in its place */
} file = {.original = -1};

/* Puts the file in the place of standard error. */
static reeve_status put(const char *path, rv_error *error)
{
    int opened = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    bool done = opened >= 0 && dup2(opened, STDERR_FILENO) >= 0;
    int reason = errno;

    if (opened >= 0) (void)close(opened);
    return done ? REEVE_OK : rv_fail(error, REEVE_ESYSTEM, "%.300s: %s", path, strerror(reason));
}

static void restore(void)
{
    if (file.original < 0) return;
    (void)dup2(file.original, STDERR_FILENO);
    (void)close(file.original);
    file.original = -1;
}

static void forget(void)
{
    rv_free(file.path);
    file.path = NULL;
}

reeve_status host_log_file_set(const char *path, rv_error *error)
{
    if (path == NULL) {
        restore();
        forget();
        return REEVE_OK;
    }
    char *copy = rv_strdup(path);
    if (copy == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for the name of the log file");
    if (file.original < 0) file.original = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, FIRST_FREE);
    reeve_status status = put(path, error);
    if (status == REEVE_OK) {
        forget();
        file.path = copy;
        return REEVE_OK;
    }
    rv_free(copy);
    if (file.path == NULL) restore();
    return status;
}

reeve_status host_log_file_reopen(rv_error *error)
{
    if (file.path == NULL)
        return rv_fail(error, REEVE_ENOTFOUND, "the log goes to standard error: there is no file to open again");
    return put(file.path, error);
}

const char *host_log_file_path(void)
{
    return file.path;
}
