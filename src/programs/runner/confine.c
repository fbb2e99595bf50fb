#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "landlock.h"
#include "syscall_filter.h"

/* What every program needs: the loader, system libraries, and the usual devices. Those that do not exist are left out. */
static const char *const always_read[] = {"/lib",           "/lib64",           "/usr/lib",       "/usr/lib64",
                                          "/usr/local/lib", "/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo",
                                          "/dev/urandom",   "/dev/random",      "/dev/zero"};

static reeve_status change_user(const rv_runner_sandbox *sandbox, rv_error *error)
{
    char words[128];
    if (!sandbox->changes_user) return REEVE_OK;
    if (setgroups(0, NULL) != 0 || setresgid(sandbox->gid, sandbox->gid, sandbox->gid) != 0 ||
        setresuid(sandbox->uid, sandbox->uid, sandbox->uid) != 0)
        return rv_fail(error, REEVE_ESYSTEM, "cannot run as user %u, group %u: %s", (unsigned)sandbox->uid,
                       (unsigned)sandbox->gid, strerror_r(errno, words, sizeof(words)));
    (void)setenv("HOME", "/", 1); /* that of the worker is not its own */
    (void)unsetenv("USER");
    (void)unsetenv("LOGNAME");
    return REEVE_OK;
}

static void allow_files(host_landlock *rules, const rv_runner_sandbox *sandbox, const char *const *plugins,
                        size_t count)
{
    for (size_t i = 0; i < sizeof(always_read) / sizeof(always_read[0]); i++)
        (void)host_landlock_allow(rules, always_read[i], false);
    (void)host_landlock_allow(rules, "/dev/null", true);
    for (size_t i = 0; i < count; i++) (void)host_landlock_allow(rules, plugins[i], false);
    for (size_t i = 0; i < sandbox->path_count; i++)
        if (!host_landlock_allow(rules, sandbox->paths[i].path, sandbox->paths[i].writable))
            (void)fprintf(stderr, "reeve-runner: sandbox: cannot allow %s: %s\n", sandbox->paths[i].path,
                          strerror(errno));
}

/* Adds a word to one of the two lists. */
static void note(rv_buf *in_force, rv_buf *missing, bool is_in_force, const char *what)
{
    rv_buf *list = is_in_force ? in_force : missing;
    rv_buf_addf(list, "%s%s", list->length > 0 ? ", " : "", what);
}

static void confine(const rv_runner_sandbox *sandbox, const char *const *plugins, size_t count, rv_buf *in_force,
                    rv_buf *missing)
{
    host_landlock rules;
    bool has_rules = (sandbox->limits_files || sandbox->no_network) &&
                     host_landlock_begin(&rules, sandbox->limits_files, sandbox->no_network);
    bool is_new = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    if (has_rules && sandbox->limits_files) allow_files(&rules, sandbox, plugins, count);
    has_rules = has_rules && host_landlock_enforce(&rules) && is_new;
    bool has_filter = (sandbox->filters_calls || sandbox->no_network) && is_new &&
                      host_syscall_filter_begin(sandbox->filters_calls, sandbox->no_network);
    if (sandbox->limits_files) note(in_force, missing, has_rules, "files (Landlock)");
    if (sandbox->no_network) {
        bool by_landlock = has_rules && rules.has_network;
        if (has_filter || !by_landlock) note(in_force, missing, has_filter, "network (seccomp)");
        if (by_landlock || !has_filter) note(in_force, missing, by_landlock, "TCP (Landlock)");
    }
    if (sandbox->filters_calls) note(in_force, missing, has_filter, "syscalls (seccomp)");
}

reeve_status host_confine(const rv_runner_sandbox *sandbox, const char *const *plugins, size_t plugin_count,
                          char ret[RV_RUNNER_SANDBOX_TEXT], rv_error *error)
{
    rv_buf in_force, missing;
    ret[0] = '\0';
    if (!rv_runner_sandbox_is_set(sandbox)) return REEVE_OK;
    reeve_status status = change_user(sandbox, error);
    if (status != REEVE_OK) return status;
    rv_buf_init(&in_force, 1024);
    rv_buf_init(&missing, 1024);
    if (sandbox->changes_user) rv_buf_addf(&in_force, "user %u:%u", (unsigned)sandbox->uid, (unsigned)sandbox->gid);
    confine(sandbox, plugins, plugin_count, &in_force, &missing);
    (void)snprintf(ret, RV_RUNNER_SANDBOX_TEXT, "%s%s%s", in_force.length > 0 ? rv_buf_text(&in_force) : "nothing",
                   missing.length > 0 ? "; not in force: " : "", rv_buf_text(&missing));
    rv_buf_fini(&in_force);
    rv_buf_fini(&missing);
    return status;
}
