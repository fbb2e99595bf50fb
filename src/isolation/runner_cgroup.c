#include "isolation/runner_cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <mntent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/mem.h"

#define LEAF "/reeve-worker"
#define NAME_MAX_LENGTH 96
#define REMOVE_TRIES 200
#define REMOVE_PAUSE_NS 1000000
#define CLEAR_ROUNDS_MAX 16
#define NAMES_MAX 1000

/* While one thread clears the base, no other thread starts a runner that it could move. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- files of a group ------------------------------------------------------------------------------------------ */

static bool write_file(const char *group, const char *name, const char *text)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/%s", group, name);
    if (length < 0 || (size_t)length >= sizeof(path)) return false;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool written = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    (void)close(fd);
    return written;
}

static FILE *open_file(const char *group, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/%s", group, name);
    return length < 0 || (size_t)length >= sizeof(path) ? NULL : fopen(path, "re");
}

/* The number behind a name in a file of lines such as "oom_kill 0"; 0: there is none. */
static int64_t read_number(const char *group, const char *file, const char *name)
{
    char line[256];
    int64_t number = 0;
    size_t length = strlen(name);
    FILE *lines = open_file(group, file);
    while (lines != NULL && fgets(line, sizeof(line), lines) != NULL)
        if (strncmp(line, name, length) == 0 && line[length] == ' ') number = strtoll(line + length, NULL, 10);
    if (lines != NULL) (void)fclose(lines);
    return number;
}

/* ---- the base -------------------------------------------------------------------------------------------------- */

/* Where cgroup v2 is mounted. */
static bool find_mount(char ret[PATH_MAX])
{
    struct mntent entry;
    char room[4096];
    bool found = false;
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    while (mounts != NULL && !found && getmntent_r(mounts, &entry, room, sizeof(room)) != NULL) {
        found = strcmp(entry.mnt_type, "cgroup2") == 0;
        if (found) rv_copy_text(ret, PATH_MAX, entry.mnt_dir);
    }
    if (mounts != NULL) (void)endmntent(mounts);
    return found;
}

/* The group of this process, without the leaf that an earlier call has moved it to. */
static bool find_own(char ret[PATH_MAX])
{
    char mount[PATH_MAX], line[PATH_MAX];
    bool found = false;
    FILE *groups = find_mount(mount) ? fopen("/proc/self/cgroup", "re") : NULL;
    while (groups != NULL && !found && fgets(line, sizeof(line), groups) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        found = strncmp(line, "0::/", 4) == 0;
        if (!found) continue;
        int length = snprintf(ret, PATH_MAX, "%s%s", mount, strcmp(line, "0::/") == 0 ? "" : line + 3);
        found = length > 0 && length < PATH_MAX;
    }
    if (groups != NULL) (void)fclose(groups);
    size_t length = found ? strlen(ret) : 0, leaf = strlen(LEAF);
    if (length > leaf && strcmp(ret + length - leaf, LEAF) == 0) ret[length - leaf] = '\0';
    return found;
}

/* Moves the processes of a group. False: there is none that can be moved. */
static bool move_processes(const char *from, const char *to)
{
    char line[32];
    bool moved = false;
    FILE *processes = open_file(from, "cgroup.procs");
    while (processes != NULL && fgets(line, sizeof(line), processes) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (write_file(to, "cgroup.procs", line)) moved = true;
    }
    if (processes != NULL) (void)fclose(processes);
    return moved;
}

/* A group that gives controllers to others can have no processes itself, unless it is the root. Those that are listed may
 * start others before they are moved. */
static void clear_base(const char *base)
{
    char leaf[PATH_MAX];
    if (access(base, W_OK) != 0) return;
    int length = snprintf(leaf, sizeof(leaf), "%s%s", base, LEAF);
    if (length < 0 || (size_t)length >= sizeof(leaf) || (mkdir(leaf, 0755) != 0 && errno != EEXIST)) return;
    for (unsigned i = 0; i < CLEAR_ROUNDS_MAX && move_processes(base, leaf); i++) continue;
}

static bool is_root(const char *base)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/cgroup.events", base); /* all others have it */
    return length < 0 || (size_t)length >= sizeof(path) || access(path, F_OK) != 0;
}

/* Removes the empty groups of workers that were killed. */
static void remove_old(const char *base)
{
    const struct dirent *entry;
    DIR *list = opendir(base);
    if (list == NULL) return;
    while ((entry = readdir(list)) != NULL) {
        char *rest;
        if (strncmp(entry->d_name, "reeve-", 6) != 0) continue;
        long worker = strtol(entry->d_name + 6, &rest, 10);
        if (worker <= 0 || *rest != '-' || kill((pid_t)worker, 0) == 0 || errno != ESRCH) continue;
        (void)unlinkat(dirfd(list), entry->d_name, AT_REMOVEDIR);
    }
    (void)closedir(list);
}

static bool find_base(const rv_runner_cgroup_options *options, char ret[PATH_MAX])
{
    bool is_own = strcmp(options->base, RV_RUNNER_CGROUP_OWN) == 0;
    if (is_own && !find_own(ret)) return false;
    if (!is_own) rv_copy_text(ret, PATH_MAX, options->base);
    if (is_own && options->memory > 0 && !is_root(ret)) clear_base(ret);
    if (options->memory > 0) (void)write_file(ret, "cgroup.subtree_control", "+memory"); /* see limit_memory */
    remove_old(ret);
    return true;
}

/* ---- a group --------------------------------------------------------------------------------------------------- */

/* Kernels before 5.14 have no cgroup.kill: there, one that a process starts meanwhile is left for the next call. */
static void kill_group(const char *group)
{
    char line[32];
    if (write_file(group, "cgroup.kill", "1")) return;
    FILE *processes = open_file(group, "cgroup.procs");
    while (processes != NULL && fgets(line, sizeof(line), processes) != NULL) {
        long pid = strtol(line, NULL, 10); /* 0: of another namespace */
        if (pid > 1 && pid != (long)getpid()) (void)kill((pid_t)pid, SIGKILL);
    }
    if (processes != NULL) (void)fclose(processes);
}

static void remove_group(const char *group)
{
    const struct timespec pause = {.tv_nsec = REMOVE_PAUSE_NS};
    for (unsigned i = 0; i < REMOVE_TRIES && rmdir(group) != 0 && errno == EBUSY; i++) {
        kill_group(group);
        (void)nanosleep(&pause, NULL);
    }
}

/* A name that is taken may be that of a live runner: containers that share the base number their processes alike. */
static bool make_group(char *ret, size_t size, const char *base, pid_t runner)
{
    char another[32] = "";
    for (unsigned i = 1; i <= NAMES_MAX; i++) {
        (void)snprintf(ret, size, "%s/reeve-%ld-%ld%s", base, (long)getpid(), (long)runner, another);
        if (mkdir(ret, 0755) == 0) return true;
        if (errno != EEXIST) return false;
        (void)snprintf(another, sizeof(another), "-%u", i);
    }
    return false;
}

/* Memory that is swapped out would not count. False: the base has not the controller. */
static bool limit_memory(const char *group, int64_t memory)
{
    char number[32];
    (void)snprintf(number, sizeof(number), "%" PRId64, memory);
    if (!write_file(group, "memory.max", number)) return false;
    (void)write_file(group, "memory.swap.max", "0");
    (void)write_file(group, "memory.oom.group", "1");
    return true;
}

static rv_runner_cgroup add_group(const char *base, int64_t memory, pid_t runner)
{
    char number[32];
    rv_runner_cgroup group = {0};
    size_t size = strlen(base) + NAME_MAX_LENGTH;
    group.path = rv_zalloc(size);
    if (group.path == NULL) return group;
    bool made = make_group(group.path, size, base, runner);
    if (made && memory > 0) group.limits_memory = limit_memory(group.path, memory);
    (void)snprintf(number, sizeof(number), "%ld", (long)runner);
    if (made && write_file(group.path, "cgroup.procs", number)) return group;
    if (made) (void)rmdir(group.path);
    rv_free(group.path);
    return (rv_runner_cgroup){0};
}

/* ---- the group of a runner ------------------------------------------------------------------------------------- */

void rv_runner_cgroup_begin(const rv_runner_cgroup_options *options, rv_runner_cgroup_base *ret)
{
    ret->path[0] = '\0';
    if (options->base == NULL) return;
    rv_lock(&lock);
    if (!find_base(options, ret->path)) ret->path[0] = '\0';
}

rv_runner_cgroup rv_runner_cgroup_end(const rv_runner_cgroup_options *options, const rv_runner_cgroup_base *base,
                                      pid_t runner)
{
    rv_runner_cgroup group = {0};
    if (options->base == NULL) return group;
    if (runner > 0 && base->path[0] != '\0') group = add_group(base->path, options->memory, runner);
    rv_unlock(&lock);
    return group;
}

void rv_runner_cgroup_describe(const rv_runner_cgroup_options *options, const rv_runner_cgroup *group, char *ret,
                               size_t size)
{
    const char *words = "";
    if (options->base != NULL && group->path == NULL)
        words = "not in force: cgroup";
    else if (group->path != NULL && options->memory <= 0)
        words = "cgroup";
    else if (group->path != NULL)
        words = group->limits_memory ? "cgroup, memory (cgroup)" : "cgroup; not in force: memory (cgroup)";
    (void)snprintf(ret, size, "%s", words);
}

void rv_runner_cgroup_kill(const rv_runner_cgroup *group)
{
    if (group->path != NULL) kill_group(group->path);
}

bool rv_runner_cgroup_was_full(const rv_runner_cgroup *group)
{
    return group->path != NULL && read_number(group->path, "memory.events", "oom_kill") > 0;
}

void rv_runner_cgroup_remove(rv_runner_cgroup *group)
{
    if (group->path != NULL) remove_group(group->path);
    rv_free(group->path);
    *group = (rv_runner_cgroup){0};
}
