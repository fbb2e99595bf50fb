#include "isolation/runner_sandbox.h"

#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

#define NAME_MAX_LENGTH 64
#define DATABASE_MAX 16384

bool rv_runner_sandbox_is_set(const rv_runner_sandbox *sandbox)
{
    return sandbox->changes_user || sandbox->no_network || sandbox->filters_calls || sandbox->limits_files;
}

bool rv_runner_sandbox_equals(const rv_runner_sandbox *one, const rv_runner_sandbox *other)
{
    bool same = one->changes_user == other->changes_user && one->uid == other->uid && one->gid == other->gid &&
                one->no_network == other->no_network && one->filters_calls == other->filters_calls &&
                one->path_count == other->path_count;
    for (size_t i = 0; same && i < one->path_count; i++)
        same = one->paths[i].writable == other->paths[i].writable &&
               one->paths[i].is_scratch == other->paths[i].is_scratch &&
               strcmp(one->paths[i].path, other->paths[i].path) == 0;
    return same;
}

/* ---- users ----------------------------------------------------------------------------------------------------- */

static bool find_user(const char *name, rv_runner_sandbox *ret)
{
    char room[DATABASE_MAX];
    struct passwd entry, *found = NULL;
    int64_t number;
    bool is_number = rv_parse_int(name, 0, UINT32_MAX - 1, &number);
    int failed = is_number ? getpwuid_r((uid_t)number, &entry, room, sizeof(room), &found)
                           : getpwnam_r(name, &entry, room, sizeof(room), &found);
    if (failed != 0 || found == NULL) return false;
    ret->uid = found->pw_uid;
    ret->gid = found->pw_gid;
    return true;
}

static bool find_group(const char *name, gid_t *ret)
{
    char room[DATABASE_MAX];
    struct group entry, *found = NULL;
    int64_t number;
    if (rv_parse_int(name, 0, UINT32_MAX - 1, &number)) {
        *ret = (gid_t)number;
        return true;
    }
    if (getgrnam_r(name, &entry, room, sizeof(room), &found) != 0 || found == NULL) return false;
    *ret = found->gr_gid;
    return true;
}

/* "USER" or "USER:GROUP", names or numbers. */
static reeve_status choose_user(rv_runner_sandbox *ret, const char *text, rv_error *error)
{
    char user[NAME_MAX_LENGTH];
    const char *colon = strchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    if (length == 0 || length >= sizeof(user))
        return rv_fail(error, REEVE_EINVAL, "user of runners: \"%.64s\" is no USER or USER:GROUP", text);
    memcpy(user, text, length);
    user[length] = '\0';
    if (!find_user(user, ret)) return rv_fail(error, REEVE_EINVAL, "user of runners: there is no user \"%s\"", user);
    if (colon != NULL && !find_group(colon + 1, &ret->gid))
        return rv_fail(error, REEVE_EINVAL, "user of runners: there is no group \"%.64s\"", colon + 1);
    ret->changes_user = ret->uid != geteuid() || ret->gid != getegid();
    if (ret->changes_user && geteuid() != 0)
        return rv_fail(error, REEVE_EINVAL, "user of runners: only a worker of root can run them as \"%.64s\"", text);
    return REEVE_OK;
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

static reeve_status choose_path(rv_runner_path *ret, const char *text, const char *scratch, rv_error *error)
{
    bool writable = strncmp(text, "rw:", 3) == 0, known = writable || strncmp(text, "ro:", 3) == 0;
    *ret = (rv_runner_path){.path = known ? text + 3 : "", .writable = writable};
    ret->is_scratch = writable && strcmp(ret->path, "scratch") == 0;
    if (ret->is_scratch) ret->path = scratch != NULL ? scratch : "";
    if (known && ret->path[0] == '/') return REEVE_OK;
    if (known && strcmp(text + 3, "scratch") == 0)
        return rv_fail(error, REEVE_EINVAL, "sandbox: \"%s\" needs a scratch directory (rw only)", text);
    return rv_fail(error, REEVE_EINVAL, "sandbox: \"%.100s\" is none of ro:/PATH, rw:/PATH and rw:scratch", text);
}

reeve_status rv_runner_sandbox_choose(rv_runner_sandbox *ret, const reeve_runner_options *options, rv_error *error)
{
    reeve_status status = REEVE_OK;
    *ret = (rv_runner_sandbox){.no_network = (options->sandbox & REEVE_SANDBOX_NO_NETWORK) != 0,
                               .filters_calls = (options->sandbox & REEVE_SANDBOX_SYSCALLS) != 0,
                               .limits_files = options->path_count > 0};
    if ((options->sandbox & ~(REEVE_SANDBOX_NO_NETWORK | REEVE_SANDBOX_SYSCALLS)) != 0)
        return rv_fail(error, REEVE_EINVAL, "sandbox: an unknown flag");
    if (options->path_count > RV_RUNNER_SANDBOX_PATHS_MAX)
        return rv_fail(error, REEVE_EINVAL, "sandbox: %zu paths, at most %d", options->path_count,
                       RV_RUNNER_SANDBOX_PATHS_MAX);
    for (size_t i = 0; status == REEVE_OK && i < options->path_count; i++)
        status = choose_path(&ret->paths[ret->path_count++], options->paths[i], options->scratch, error);
    if (status == REEVE_OK && options->user != NULL) status = choose_user(ret, options->user, error);
    return status;
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

void rv_runner_sandbox_put(rv_buf *out, const rv_runner_sandbox *sandbox)
{
    rv_runner_message_put_number(out, sandbox->changes_user);
    rv_runner_message_put_number(out, sandbox->uid);
    rv_runner_message_put_number(out, sandbox->gid);
    rv_runner_message_put_number(out, sandbox->no_network);
    rv_runner_message_put_number(out, sandbox->filters_calls);
    rv_runner_message_put_number(out, sandbox->limits_files);
    rv_runner_message_put_number(out, (int64_t)sandbox->path_count);
    for (size_t i = 0; i < sandbox->path_count; i++) {
        rv_runner_message_put_number(out, sandbox->paths[i].writable);
        rv_runner_message_put_text(out, sandbox->paths[i].path);
    }
}

void rv_runner_sandbox_get(rv_runner_reader *in, rv_runner_sandbox *ret)
{
    ret->changes_user = rv_runner_message_get_number(in, 0, 1) == 1;
    ret->uid = (uid_t)rv_runner_message_get_number(in, 0, UINT32_MAX);
    ret->gid = (gid_t)rv_runner_message_get_number(in, 0, UINT32_MAX);
    ret->no_network = rv_runner_message_get_number(in, 0, 1) == 1;
    ret->filters_calls = rv_runner_message_get_number(in, 0, 1) == 1;
    ret->limits_files = rv_runner_message_get_number(in, 0, 1) == 1;
    ret->path_count = (size_t)rv_runner_message_get_number(in, 0, RV_RUNNER_SANDBOX_PATHS_MAX);
    for (size_t i = 0; i < ret->path_count; i++) {
        ret->paths[i].writable = rv_runner_message_get_number(in, 0, 1) == 1;
        ret->paths[i].path = rv_runner_message_get_text(in, PATH_MAX);
    }
}
