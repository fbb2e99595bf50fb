#include "isolation/runner_limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- limits of the process ------------------------------------------------------------------------------------- */

static void set_limit(int which, int64_t value)
{
    const struct rlimit limit = {(rlim_t)value, (rlim_t)value};
    if (value > 0) (void)setrlimit(which, &limit);
}

void rv_runner_limits_set(const reeve_runner_options *limits)
{
    set_limit(RLIMIT_DATA, limits->memory);
    set_limit(RLIMIT_NOFILE, limits->files);
    set_limit(RLIMIT_NPROC, limits->processes);
    struct rlimit size; /* the hard limit stays: long messages are files, too (rv_runner_host_send) */
    if (limits->file_size > 0 && getrlimit(RLIMIT_FSIZE, &size) == 0) {
        if ((rlim_t)limits->file_size < size.rlim_cur) size.rlim_cur = (rlim_t)limits->file_size;
        (void)setrlimit(RLIMIT_FSIZE, &size);
    }
}

/* The limit counts from the beginning of the process, in whole seconds. */
static void limit_cpu(int64_t ms)
{
    struct rusage used;
    struct rlimit limit;
    if (ms <= 0 || getrusage(RUSAGE_SELF, &used) != 0 || getrlimit(RLIMIT_CPU, &limit) != 0) return;
    int64_t us = ((int64_t)used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec +
                 used.ru_stime.tv_usec + ms * 1000;
    limit.rlim_cur = (rlim_t)((us + 999999) / 1000000);
    (void)setrlimit(RLIMIT_CPU, &limit);
}

void rv_runner_limits_begin(const reeve_runner_options *limits, const char *scratch)
{
    limit_cpu(limits->cpu_ms);
    if (scratch[0] == '\0') return;
    (void)setenv("TMPDIR", scratch, 1);
    if (chdir(scratch) != 0) (void)fprintf(stderr, "reeve-runner: cannot work in %s: %s\n", scratch, strerror(errno));
}

/* ---- scratch directories --------------------------------------------------------------------------------------- */

bool rv_runner_limits_make_scratch(const char *base, const rv_runner_sandbox *sandbox, char *ret, size_t size)
{
    int length = snprintf(ret, size, "%s/reeve-XXXXXX", base);
    if (length < 0 || (size_t)length >= size) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (mkdtemp(ret) == NULL) return false;
    if (!sandbox->changes_user || chown(ret, sandbox->uid, sandbox->gid) == 0) return true;
    int failed = errno;
    (void)rmdir(ret);
    errno = failed;
    return false;
}

#define DEPTH_MAX 100 /* each takes a descriptor; what lies deeper stays */

/* By descriptors: what a process that the handler left behind moves or links meanwhile leads nowhere else. Closes dir. */
static void empty(int dir, unsigned depth)
{
    const struct dirent *entry;
    DIR *list = fdopendir(dir);
    if (list == NULL) {
        (void)close(dir);
        return;
    }
    while ((entry = readdir(list)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (unlinkat(dir, entry->d_name, 0) == 0) continue;
        int below =
            depth < DEPTH_MAX ? openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
        if (below >= 0) empty(below, depth + 1);
        (void)unlinkat(dir, entry->d_name, AT_REMOVEDIR);
    }
    (void)closedir(list);
}

void rv_runner_limits_empty_scratch(const char *path)
{
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir >= 0) empty(dir, 0);
}

void rv_runner_limits_remove_scratch(const char *path)
{
    if (rmdir(path) == 0) return;
    rv_runner_limits_empty_scratch(path);
    (void)rmdir(path);
}
