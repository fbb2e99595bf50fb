#include "isolation/runner_leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/lock.h"
#include "base/mem.h"

#define ROUNDS_MAX 50    /* a leftover may have started others, which are found when it has ended */
#define ROUND_NS 1000000 /* for the kernel to end them */
#define ANCESTORS_MAX 64
#define READ_MAX ((size_t)1024 * 1024) /* bytes of a file in /proc */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list */
static pid_t *live;                                      /* the runners of this process */
static size_t live_count, live_room;

/* ---- runners that live ----------------------------------------------------------------------------------------- */

bool rv_runner_leftovers_begin_start(void)
{
    rv_lock(&lock);
    if (live_count < live_room) return true;
    size_t room = live_room == 0 ? 16 : 2 * live_room;
    pid_t *more = rv_realloc(live, room * sizeof(*live));
    if (more != NULL) {
        live = more;
        live_room = room;
        return true;
    }
    rv_unlock(&lock);
    return false;
}

void rv_runner_leftovers_end_start(pid_t pid)
{
    if (pid > 0) live[live_count++] = pid;
    rv_unlock(&lock);
}

void rv_runner_leftovers_note_end(pid_t pid)
{
    rv_lock(&lock);
    for (size_t i = 0; i < live_count; i++) {
        if (live[i] != pid) continue;
        live[i] = live[--live_count];
        break;
    }
    if (live_count == 0) { /* nothing is left when the last worker is destroyed */
        rv_free(live);
        live = NULL;
        live_room = 0;
    }
    rv_unlock(&lock);
}

static bool is_live(pid_t pid)
{
    for (size_t i = 0; i < live_count; i++)
        if (live[i] == pid) return true;
    return false;
}

/* ---- /proc ----------------------------------------------------------------------------------------------------- */

static bool read_file(const char *path, rv_buf *ret)
{
    char chunk[4096];
    ssize_t got;
    rv_buf_clear(ret);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    while ((got = read(fd, chunk, sizeof(chunk))) > 0 && ret->length < READ_MAX) rv_buf_add(ret, chunk, (size_t)got);
    (void)close(fd);
    return !ret->failed && ret->length > 0;
}

static pid_t parent_of(pid_t pid, rv_buf *file)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    if (!read_file(path, file)) return 0;
    const char *behind_name = strrchr(rv_buf_text(file), ')'); /* ") S 1234 ..." */
    return behind_name != NULL && strlen(behind_name) > 4 ? (pid_t)strtol(behind_name + 4, NULL, 10) : 0;
}

static bool is_of(pid_t pid, const char *variable, rv_buf *file)
{
    char path[64];
    size_t length = strlen(variable) + 1; /* with the zero byte */
    (void)snprintf(path, sizeof(path), "/proc/%ld/environ", (long)pid);
    if (!read_file(path, file)) return false;
    const char *found = memmem(file->data, file->length, variable, length);
    return found != NULL && (found == file->data || found[-1] == '\0');
}

/* ---- leftovers ------------------------------------------------------------------------------------------------- */

typedef struct search {
    char variable[64];
    rv_buf children;
    rv_buf file;
    unsigned killed;
} search;

/* Kills those children of a thread that are leftovers. */
static void kill_children(search *s, const char *path)
{
    if (!read_file(path, &s->children)) return;
    char *next = NULL;
    for (char *word = strtok_r(s->children.data, " ", &next); word != NULL; word = strtok_r(NULL, " ", &next)) {
        pid_t pid = (pid_t)strtol(word, NULL, 10);
        if (pid <= 1 || is_live(pid) || !is_of(pid, s->variable, &s->file)) continue;
        if (kill(pid, SIGKILL) == 0) s->killed++;
    }
}

static void look_below(search *s, pid_t parent)
{
    char path[320];
    const struct dirent *entry;
    (void)snprintf(path, sizeof(path), "/proc/%ld/task", (long)parent);
    DIR *threads = opendir(path);
    if (threads == NULL) return;
    while ((entry = readdir(threads)) != NULL) {
        if (entry->d_name[0] == '.') continue;
        (void)snprintf(path, sizeof(path), "/proc/%ld/task/%.200s/children", (long)parent, entry->d_name);
        kill_children(s, path);
    }
    (void)closedir(threads);
}

void rv_runner_leftovers_kill(pid_t worker)
{
    const struct timespec pause = {.tv_nsec = ROUND_NS};
    search s = {.killed = 1};
    (void)snprintf(s.variable, sizeof(s.variable), RV_RUNNER_OF "%ld", (long)worker);
    rv_buf_init(&s.children, 2 * READ_MAX);
    rv_buf_init(&s.file, 2 * READ_MAX);
    rv_lock(&lock);
    for (unsigned round = 0; s.killed > 0 && round < ROUNDS_MAX; round++) {
        pid_t ancestor = getpid();
        s.killed = 0;
        for (unsigned i = 0; ancestor > 0 && i < ANCESTORS_MAX; i++) {
            look_below(&s, ancestor);
            ancestor = parent_of(ancestor, &s.file);
        }
        if (s.killed > 0) (void)nanosleep(&pause, NULL);
    }
    rv_unlock(&lock);
    rv_buf_fini(&s.children);
    rv_buf_fini(&s.file);
}
