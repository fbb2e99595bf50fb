/*
 * hostile.c - handlers that do to their runner and to its worker what no handler should: for tests of process isolation.
 * The payload says what. REEVE_TEST_HOSTILE_LOAD says what a runner does while it loads the plugin.
 */
#include <errno.h>
#include <fcntl.h>
#include <reeve/plugin.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOCKET = 3, FLAGS = 4, CRASH = 5 }; /* descriptors of a runner */
enum { CALL = 5, DONE = 7, HEARTBEAT = 4 };
enum { RUN = 2 }; /* each attack follows one other task of its runner */

/* As src/isolation/runner_message.c has it. */
typedef struct head {
    uint32_t magic;
    uint16_t kind;
    uint16_t is_apart;
    uint32_t index;
    uint32_t unused;
    uint64_t run;
    uint64_t length;
} head;

static void send_packet(const head *start, const void *body, size_t length, const int *fds, int fd_count)
{
    struct iovec parts[] = {{(void *)start, sizeof(*start)}, {(void *)body, length}};
    union {
        char room[CMSG_SPACE(8 * sizeof(int))];
        struct cmsghdr aligned;
    } control = {.room = {0}};
    struct msghdr packet = {.msg_iov = parts, .msg_iovlen = 2};
    if (fd_count > 0) {
        packet.msg_control = control.room;
        packet.msg_controllen = CMSG_SPACE((size_t)fd_count * sizeof(int));
        struct cmsghdr *first = CMSG_FIRSTHDR(&packet);
        first->cmsg_level = SOL_SOCKET;
        first->cmsg_type = SCM_RIGHTS;
        first->cmsg_len = CMSG_LEN((size_t)fd_count * sizeof(int));
        memcpy(CMSG_DATA(first), fds, (size_t)fd_count * sizeof(int));
    }
    (void)sendmsg(SOCKET, &packet, MSG_NOSIGNAL);
}

static head call_head(size_t length)
{
    return (head){.magic = 0x72766d31u, .kind = CALL, .run = RUN, .length = length};
}

/* Calls, without reading an answer. */
static void flood(void)
{
    const int64_t number = HEARTBEAT;
    const head start = call_head(sizeof(number));
    for (;;) send_packet(&start, &number, sizeof(number), NULL, 0);
}

static void send_descriptors(int count)
{
    int fds[8];
    const head start = call_head(1);
    for (int i = 0; i < count; i++) fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    send_packet(&start, "x", 1, fds, count);
    pause();
}

static void send_lengths(uint64_t length, bool apart)
{
    head start = call_head(length);
    int fd = memfd_create("large", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    start.is_apart = apart;
    if (apart) (void)ftruncate(fd, (off_t)(length < 1u << 30 ? length : 1u << 30));
    send_packet(&start, "x", apart ? 0 : 1, &fd, apart);
    pause();
}

/* An outcome of another task than the one it runs: of the next call, or of more tasks than there are. */
static void send_outcomes(uint64_t run, int64_t count)
{
    head start = call_head(sizeof(count));
    start.kind = DONE;
    start.run = run;
    send_packet(&start, &count, sizeof(count), NULL, 0);
    pause();
}

/* Its crash record claims to be as large as can be, and names a file that nobody writes to as a module. */
static void forge_crash(void)
{
    char path[512];
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    uintptr_t from = 0;
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
        if (strstr(line, "memfd:reeve-runner") != NULL && strstr(line, "rw-s") != NULL)
            from = (uintptr_t)strtoull(line, NULL, 16);
    if (maps != NULL) (void)fclose(maps);
    if (from == 0) return;
    (void)snprintf(path, sizeof(path), "%s", getenv("REEVE_TEST_FIFO"));
    /* stage, signal, code, address, pc, sp, at_ms, slot, thread, type, frame_count, frames, maps_length, maps */
    char *record = (char *)from;
    size_t type = 4 * 3 + 4 + 8 * 4 + 4 + 16;
    size_t frames = (type + REEVE_TYPE_MAX + 1 + 3) / 4 * 4;
    uint32_t count = UINT32_MAX, longest = 128 * 1024;
    uint64_t pc = 0x1000;
    memset(record, 'z', 128 * 1024);
    memcpy(record + 24, &pc, sizeof(pc));
    memcpy(record + frames, &count, sizeof(count));
    char *lengths = record + (frames + 4 + 7) / 8 * 8 + 64 * 8;
    memcpy(lengths, &longest, sizeof(longest));
    (void)snprintf(lengths + 4, 600, "1000-2000 r-xp 00000000 00:00 1 %s\n", path);
    *(volatile uint32_t *)(void *)record = 4;
    (void)kill(getpid(), SIGKILL);
}

static void leave_child(bool own_session)
{
    if (fork() == 0) {
        if (own_session) (void)setsid();
        for (;;) pause();
    }
}

/* A daemon, another program, with the environment of the runner or without. */
static void leave_daemon(bool hidden)
{
    char *const arguments[] = {(char *)"sleep", (char *)"3600", NULL};
    pid_t child = fork();
    if (child == 0) {
        (void)setsid();
        if (hidden) (void)clearenv();
        if (fork() == 0) (void)execvp(arguments[0], arguments);
        _exit(0);
    }
    (void)waitpid(child, NULL, 0);
}

/* Without an end. */
static void use_memory(void)
{
    enum { MIB = 1 << 20 };
    for (;;) {
        char *block = malloc(MIB);
        if (block != NULL) memset(block, 1, MIB);
    }
}

static reeve_outcome hostile(reeve_task *task, void *user)
{
    const char *what = reeve_task_payload(task).data;
    (void)user;
    if (strcmp(what, "flood") == 0) flood();
    if (strcmp(what, "descriptors") == 0) send_descriptors(2);
    if (strcmp(what, "more descriptors") == 0) send_descriptors(8);
    if (strcmp(what, "garbage") == 0) (void)!write(SOCKET, "hello, world\n", 13), pause();
    if (strcmp(what, "large packet") == 0) send_lengths((uint64_t)1 << 40, false);
    if (strcmp(what, "large memory") == 0) send_lengths((uint64_t)1 << 40, true);
    if (strcmp(what, "unsealed") == 0) send_lengths(100000, true);
    if (strcmp(what, "another run") == 0) send_outcomes(RUN + 1, 1);
    if (strcmp(what, "earlier run") == 0) send_outcomes(RUN - 1, 1);
    if (strcmp(what, "many outcomes") == 0) send_outcomes(RUN, 100);
    if (strcmp(what, "close") == 0) closefrom(3), pause();
    if (strcmp(what, "regroup") == 0) (void)setpgid(0, getpgid(getppid())), pause();
    if (strcmp(what, "forge") == 0) forge_crash();
    if (strcmp(what, "child") == 0) leave_child(false);
    if (strcmp(what, "session") == 0) leave_child(true), abort();
    if (strcmp(what, "daemon") == 0) leave_daemon(false), abort();
    if (strcmp(what, "quiet daemon") == 0) leave_daemon(false);
    if (strcmp(what, "daemon and wait") == 0) leave_daemon(false), pause();
    if (strcmp(what, "hidden daemon") == 0) leave_daemon(true), abort();
    if (strcmp(what, "hidden daemon that completes") == 0) leave_daemon(true);
    if (strcmp(what, "memory") == 0) use_memory();
    if (strcmp(what, "stopped") == 0) (void)raise(SIGSTOP);
    if (strcmp(what, "print") == 0) printf("a line\n"), (void)fflush(stdout);
    return reeve_task_done(task, NULL, 0);
}

/* In a runner only: there, a descriptor is memory of this name. */
static bool is_in_runner(void)
{
    char target[64];
    ssize_t length = readlink("/proc/self/fd/4", target, sizeof(target) - 1);
    if (length <= 0) return false;
    target[length] = '\0';
    return strstr(target, "reeve-runner") != NULL;
}

static int load(void)
{
    const char *what = getenv("REEVE_TEST_HOSTILE_LOAD");
    if (what == NULL || !is_in_runner()) return 0;
    if (strcmp(what, "truncate") == 0) {
        (void)!ftruncate(FLAGS, 0);
        (void)!ftruncate(CRASH, 0);
    }
    if (strcmp(what, "child") == 0) {
        leave_child(true);
        _exit(5);
    }
    if (strcmp(what, "hang") == 0) pause();
    if (strcmp(what, "garbage") == 0) (void)!write(SOCKET, "hello, world\n", 13);
    return 0;
}

static const reeve_handler handlers[] = {{REEVE_HANDLER, .type = "hostile", .run = hostile}};

REEVE_PLUGIN(.name = "hostile", .version = "1", .handlers = handlers, .handler_count = 1, .load = load)
