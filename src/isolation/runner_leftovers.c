#include "isolation/runner_leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"

#define ROUNDS_MAX 50    /* a leftover may have started others, which are found when it has ended */
#define ROUND_NS 1000000 /* for the kernel to end them */
#define ANCESTORS_MAX 64
#define READ_MAX ((size_t)1024 * 1024) /* bytes of a file in /proc */

/* ---- marks ----------------------------------------------------------------------------------------------------- */

uint64_t rv_runner_leftovers_number(void)
{
    static atomic_uint_least64_t last;
    return atomic_fetch_add(&last, 1) + 1;
}

void rv_runner_leftovers_mark(uint64_t number, char ret[RV_RUNNER_MARK_SIZE])
{
    (void)snprintf(ret, RV_RUNNER_MARK_SIZE, RV_RUNNER_OF "%ld:%" PRIu64, (long)getpid(), number);
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

typedef struct search {
    char mark[RV_RUNNER_MARK_SIZE];
    size_t mark_length; /* of what is compared: with the zero byte for one runner, without for all of a worker */
    rv_buf children;
    rv_buf file;
    unsigned killed;
} search;

static bool is_marked(search *s, pid_t pid)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%ld/environ", (long)pid);
    if (!read_file(path, &s->file)) return false;
    const char *at = s->file.data, *end = at + s->file.length;
    while (at != NULL && (size_t)(end - at) >= s->mark_length) {
        if (memcmp(at, s->mark, s->mark_length) == 0) return true;
        at = memchr(at, '\0', (size_t)(end - at));
        if (at != NULL) at++;
    }
    return false;
}

/* ---- leftovers ------------------------------------------------------------------------------------------------- */

/* Kills those children of a thread that are leftovers. */
static void kill_children(search *s, const char *path)
{
    if (!read_file(path, &s->children)) return;
    char *next = NULL;
    for (char *word = strtok_r(s->children.data, " ", &next); word != NULL; word = strtok_r(NULL, " ", &next)) {
        pid_t pid = (pid_t)strtol(word, NULL, 10);
        if (pid <= 1 || !is_marked(s, pid)) continue;
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

static void kill_marked(search *s)
{
    const struct timespec pause = {.tv_nsec = ROUND_NS};
    rv_buf_init(&s->children, 2 * READ_MAX);
    rv_buf_init(&s->file, 2 * READ_MAX);
    s->killed = 1;
    for (unsigned round = 0; s->killed > 0 && round < ROUNDS_MAX; round++) {
        pid_t ancestor = getpid();
        s->killed = 0;
        for (unsigned i = 0; ancestor > 0 && i < ANCESTORS_MAX; i++) {
            look_below(s, ancestor);
            ancestor = parent_of(ancestor, &s->file);
        }
        if (s->killed > 0) (void)nanosleep(&pause, NULL);
    }
    rv_buf_fini(&s->children);
    rv_buf_fini(&s->file);
}

void rv_runner_leftovers_kill(uint64_t number)
{
    search s;
    rv_runner_leftovers_mark(number, s.mark);
    s.mark_length = strlen(s.mark) + 1;
    kill_marked(&s);
}

void rv_runner_leftovers_kill_all(pid_t worker)
{
    search s;
    (void)snprintf(s.mark, sizeof(s.mark), RV_RUNNER_OF "%ld:", (long)worker);
    s.mark_length = strlen(s.mark);
    kill_marked(&s);
}
