#include "isolation/runner_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "isolation/runner_leftovers.h"
#include "isolation/runner_program.h"
#include "isolation/runner_serve.h"

#define NATURAL_MS 200 /* how long a process whose socket is closed may take to end its own way */

static reeve_status fail_system(rv_error *error, const char *what, int number)
{
    char words[128];
    return rv_fail(error, REEVE_ESYSTEM, "%s: %s", what, strerror_r(number, words, sizeof(words)));
}

/* ---- start ----------------------------------------------------------------------------------------------------- */

/* The environment that a runner gets: nothing that could be a secret of the worker. */
static bool is_kept(const char *variable)
{
    static const char *const kept[] = {"PATH=",     "HOME=", "USER=",   "LOGNAME=", "LANG=",      "LC_",
                                       "LANGUAGE=", "TZ=",   "TMPDIR=", "TERM=",    "LD_",        "ASAN_OPTIONS=",
                                       "UBSAN_",    "LSAN_", "TSAN_",   "MALLOC_",  "REEVE_TEST_"};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (strncmp(variable, kept[i], strlen(kept[i])) == 0) return true;
    return false;
}

/* `own` is added. */
static char **make_environment(char *own)
{
    size_t count = 0, kept = 0;
    while (environ != NULL && environ[count] != NULL) count++;
    char **ret = rv_zalloc_array(count + 2, sizeof(*ret));
    if (ret != NULL) ret[kept++] = own;
    for (size_t i = 0; ret != NULL && i < count; i++)
        if (is_kept(environ[i])) ret[kept++] = environ[i];
    return ret;
}

/* Memory that both processes share, and none can cut; *ret_fd is to be closed. NULL: errno. */
static void *make_shared(size_t size, int *ret_fd)
{
    *ret_fd = memfd_create("reeve-runner", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*ret_fd < 0 || ftruncate(*ret_fd, (off_t)size) != 0) return NULL;
    if (fcntl(*ret_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return NULL;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *ret_fd, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

/* A descriptor that is none of those which the child is to have, so that moving one does not close another. */
static int move_up(int fd)
{
    if (fd < 0 || fd > RV_RUNNER_CRASH_FD) return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, RV_RUNNER_CRASH_FD + 1);
    (void)close(fd);
    return moved;
}

static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    int failed =
        posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (failed == 0) failed = posix_spawnattr_setpgroup(attributes, 0);
    if (failed == 0) failed = posix_spawnattr_setsigmask(attributes, &none);
    return failed == 0 ? posix_spawnattr_setsigdefault(attributes, &all) : failed;
}

/* The descriptors that the child is to have. */
typedef struct child_ends {
    int socket;
    int flags;
    int crash; /* or -1 */
} child_ends;

static int add_actions(posix_spawn_file_actions_t *actions, const child_ends *ends)
{
    int failed = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (failed == 0) failed = posix_spawn_file_actions_adddup2(actions, ends->socket, RV_RUNNER_SOCKET_FD);
    if (failed == 0) failed = posix_spawn_file_actions_adddup2(actions, ends->flags, RV_RUNNER_FLAGS_FD);
    bool has_crash = ends->crash >= 0;
    if (failed == 0 && has_crash) failed = posix_spawn_file_actions_adddup2(actions, ends->crash, RV_RUNNER_CRASH_FD);
    if (failed != 0) return failed;
    return posix_spawn_file_actions_addclosefrom_np(actions, has_crash ? RV_RUNNER_CRASH_FD + 1 : RV_RUNNER_CRASH_FD);
}

static int spawn(rv_runner *runner, const char *program, const char *name, const child_ends *ends)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    char *arguments[] = {(char *)"reeve-runner", (char *)name, NULL}, mark[RV_RUNNER_MARK_SIZE];
    rv_runner_leftovers_mark(runner->number, mark);
    char **environment = make_environment(mark);
    if (environment == NULL) return ENOMEM;
    int failed = posix_spawnattr_init(&attributes);
    if (failed == 0) {
        failed = posix_spawn_file_actions_init(&actions);
        if (failed == 0) {
            failed = set_attributes(&attributes);
            if (failed == 0) failed = add_actions(&actions, ends);
            if (failed == 0) failed = posix_spawn(&runner->pid, program, &actions, &attributes, arguments, environment);
            (void)posix_spawn_file_actions_destroy(&actions);
        }
        (void)posix_spawnattr_destroy(&attributes);
    }
    rv_free(environment);
    return failed;
}

/* The same, in a control group of its own; it loads no plugin before the hello. */
static int start(rv_runner *runner, const char *program, const char *name, const child_ends *ends,
                 const rv_runner_cgroup_options *cgroup)
{
    rv_runner_cgroup_base base;
    runner->number = rv_runner_leftovers_number();
    rv_runner_cgroup_begin(cgroup, &base);
    int failed = spawn(runner, program, name, ends);
    runner->cgroup = rv_runner_cgroup_end(cgroup, &base, failed == 0 ? runner->pid : 0);
    return failed;
}

static void close_if(int fd)
{
    if (fd >= 0) (void)close(fd);
}

static void free_parts(rv_runner *runner)
{
    close_if(runner->fd);
    close_if(runner->pidfd);
    if (runner->flags != NULL) (void)munmap(runner->flags, sizeof(*runner->flags));
    if (runner->crash != NULL) (void)munmap(runner->crash, runner->crash_size);
    *runner = RV_RUNNER_NONE;
}

/* Makes what both processes share. Returns 0, or errno; the ends of the child are to be closed in both cases. */
static int make_ends(rv_runner *runner, child_ends *ret, size_t crash_size)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    runner->fd = ends[0];
    ret->socket = move_up(ends[1]);
    if (ret->socket < 0) return EMFILE;
    runner->flags = make_shared(sizeof(*runner->flags), &ret->flags);
    if (runner->flags == NULL) return errno;
    if (crash_size > 0) runner->crash = make_shared(crash_size, &ret->crash);
    if (crash_size > 0 && runner->crash == NULL) return errno;
    runner->crash_size = crash_size;
    ret->flags = move_up(ret->flags);
    ret->crash = move_up(ret->crash);
    return ret->flags < 0 || (crash_size > 0 && ret->crash < 0) ? EMFILE : 0;
}

reeve_status rv_runner_process_start(rv_runner *ret, const char *name, const rv_buf *hello, size_t crash_size,
                                     const rv_runner_cgroup_options *cgroup, rv_error *error)
{
    char path[PATH_MAX], what[PATH_MAX + 32];
    const char *program = rv_runner_program(path, sizeof(path));
    child_ends ends = {.socket = -1, .flags = -1, .crash = -1};
    *ret = RV_RUNNER_NONE;
    int failed = make_ends(ret, &ends, crash_size);
    if (failed == 0) failed = start(ret, program, name, &ends, cgroup);
    close_if(ends.socket);
    close_if(ends.flags);
    close_if(ends.crash);
    if (failed != 0) {
        (void)snprintf(what, sizeof(what), "cannot start the runner %s", program);
        ret->pid = 0;
        free_parts(ret);
        return fail_system(error, what, failed);
    }
    ret->pidfd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
    ret->started_ms = rv_now_ms();
    const rv_runner_message message = {.kind = RV_RUNNER_HELLO, .body = hello->data, .length = hello->length};
    reeve_status status = rv_runner_message_send(ret->fd, false, &message);
    if (status == REEVE_OK || status == REEVE_ELOST) return REEVE_OK; /* one that is gone says so when it is awaited */
    (void)rv_runner_process_kill(ret);
    return rv_fail(error, REEVE_ESYSTEM, "cannot tell the runner %s which plugins to load", program);
}

static reeve_status fail_ended(rv_runner *runner, rv_error *error)
{
    char how[64];
    const rv_runner_end end = rv_runner_process_reap(runner);
    rv_runner_process_describe_end(&end, how, sizeof(how));
    return rv_fail(error, REEVE_EPLUGIN, "a runner %s before it had loaded the plugins", how);
}

reeve_status rv_runner_process_await(rv_runner *runner, int64_t deadline, char ret_in_force[RV_RUNNER_SANDBOX_TEXT],
                                     rv_error *error)
{
    ret_in_force[0] = '\0';
    struct pollfd waits[] = {{.fd = runner->fd, .events = POLLIN}, {.fd = runner->pidfd, .events = POLLIN}};
    rv_runner_message answer;
    rv_buf body;
    int ready;
    do {
        ready = poll(waits, 2, rv_poll_timeout(deadline));
    } while (ready <= 0 && rv_now_ms() < deadline);
    if (ready <= 0) {
        (void)rv_runner_process_kill(runner);
        return rv_fail(error, REEVE_ETIMEOUT, "a runner did not load the plugins in time");
    }
    rv_buf_init(&body, RV_RUNNER_BODY_MAX);
    reeve_status status = rv_runner_message_receive(runner->fd, &body, false, &answer);
    if (status == REEVE_ELOST || status == REEVE_ETIMEOUT) { /* a child of it may hold the socket open */
        status = fail_ended(runner, error);
    } else if (status != REEVE_OK || answer.kind != RV_RUNNER_READY) {
        bool refused = status == REEVE_OK && answer.kind == RV_RUNNER_REFUSED;
        status = rv_fail(error, REEVE_EPLUGIN, "a runner cannot begin: %.900s",
                         refused ? answer.body : "it does not answer as a runner does");
        (void)rv_runner_process_kill(runner);
    } else {
        rv_copy_text(ret_in_force, RV_RUNNER_SANDBOX_TEXT, answer.body);
    }
    rv_buf_fini(&body);
    return status;
}

/* ---- end ------------------------------------------------------------------------------------------------------- */

/* Waits until the process has ended, without reaping it. */
static void wait_for_end(const rv_runner *runner, int64_t ms)
{
    struct pollfd process = {.fd = runner->pidfd, .events = POLLIN};
    int64_t deadline = rv_deadline(ms);
    if (runner->pidfd < 0) return;
    while (poll(&process, 1, rv_poll_timeout(deadline)) <= 0 && rv_now_ms() < deadline) continue;
}

void rv_runner_process_signal(const rv_runner *runner, int number)
{
    (void)kill(-runner->pid, number);
    (void)kill(runner->pid, number);
}

rv_runner_end rv_runner_process_kill(rv_runner *runner)
{
    siginfo_t info = {0};
    int got;
    if (runner->pid == 0) return (rv_runner_end){0};
    rv_runner_process_signal(runner, SIGKILL);
    rv_runner_cgroup_kill(&runner->cgroup);
    do {
        got = waitid(P_PID, (id_t)runner->pid, &info, WEXITED);
    } while (got != 0 && errno == EINTR);
    rv_runner_leftovers_kill(runner->number);
    rv_runner_end end = {.was_full = rv_runner_cgroup_was_full(&runner->cgroup)};
    rv_runner_cgroup_remove(&runner->cgroup);
    free_parts(runner);
    if (got != 0) return end; /* the program has reaped it */
    if (info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)
        end.signal = info.si_status;
    else
        end.status = info.si_status;
    return end;
}

rv_runner_end rv_runner_process_reap(rv_runner *runner)
{
    wait_for_end(runner, NATURAL_MS);
    return rv_runner_process_kill(runner);
}

void rv_runner_process_stop(rv_runner *runner, int64_t patience_ms)
{
    if (runner->pid == 0) return;
    (void)shutdown(runner->fd, SHUT_RDWR);
    wait_for_end(runner, patience_ms);
    (void)rv_runner_process_kill(runner);
}

void rv_runner_process_describe_end(const rv_runner_end *end, char *ret, size_t size)
{
    const char *name = end->signal != 0 ? sigabbrev_np(end->signal) : NULL;
    if (end->signal == SIGXCPU)
        (void)snprintf(ret, size, "was killed by SIGXCPU: it has used its CPU time");
    else if (end->signal == SIGXFSZ)
        (void)snprintf(ret, size, "was killed by SIGXFSZ: a file was too long");
    else if (end->signal == SIGKILL && end->was_full)
        (void)snprintf(ret, size, "was killed: its control group had no memory left");
    else if (end->signal == 0)
        (void)snprintf(ret, size, "ended with status %d", end->status);
    else if (name != NULL)
        (void)snprintf(ret, size, "was killed by SIG%s", name);
    else
        (void)snprintf(ret, size, "was killed by signal %d", end->signal);
}
