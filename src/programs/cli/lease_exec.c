#include "lease_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "lease_view.h"
#include "stop.h"

/* How long the loop sleeps between looks at the lease, and at the command. */
#define LOOK_MS 100
/* A command that was told to end and does not is killed after this time. */
#define KILL_AFTER_MS 10000
/* What the command has left behind may hold the pipes: they are read for so long after its end. */
#define REST_MS 200
#define UNKNOWN_END (255 << 8) /* as of an exit with status 255: waitpid did not tell */
#define CHUNK 65536

/* The command and what goes through its pipes. */
typedef struct run {
    pid_t pid;
    int in, out, err; /* -1: closed */
    reeve_bytes payload;
    size_t written;
    rv_buf result;
    char tail[REEVE_MESSAGE_MAX + 1]; /* of standard error */
    size_t tail_length;
    bool passes;      /* standard error goes to ours, too */
    bool told;        /* SIGTERM was sent */
    int64_t kills_ms; /* when SIGKILL is (monotonic) */
    bool ended;
    int status; /* of the command that has ended, as of waitpid */
    bool too_big;
} run;

/* ---- starting -------------------------------------------------------------------------------------------------- */

static char *variable(const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 2;
    char *text = malloc(size);

    if (text != NULL) (void)snprintf(text, size, "%s=%s", name, value);
    return text;
}

#define VARIABLES 8

/* The environment with REEVE_HANDLE and so on; the first VARIABLES are to be freed. NULL: no memory. */
static char **environment(reeve_consumer *consumer, const reeve_task *task)
{
    char token[REEVE_TOKEN_MAX] = "", attempt[16], crashes[16];
    size_t count = 0;
    const char *group = reeve_task_group(task);

    (void)reeve_consumer_token(consumer, task, token);
    (void)snprintf(attempt, sizeof(attempt), "%u", reeve_task_attempt(task));
    (void)snprintf(crashes, sizeof(crashes), "%u", reeve_task_crashes(task));
    while (environ[count] != NULL) count++;
    char **all = calloc(VARIABLES + count + 1, sizeof(*all));
    if (all == NULL) return NULL;
    all[0] = variable("REEVE_HANDLE", reeve_task_handle(task));
    all[1] = variable("REEVE_QUEUE", reeve_task_queue(task));
    all[2] = variable("REEVE_ID", reeve_task_id(task));
    all[3] = variable("REEVE_TYPE", reeve_task_type(task));
    all[4] = variable("REEVE_ATTEMPT", attempt);
    all[5] = variable("REEVE_CRASHES", crashes);
    all[6] = variable("REEVE_LEASE", token);
    all[7] = variable("REEVE_GROUP", group != NULL ? group : "");
    for (size_t i = 0; i < count; i++) all[VARIABLES + i] = environ[i];
    return all;
}

static void free_environment(char **all)
{
    for (size_t i = 0; all != NULL && i < VARIABLES; i++) free(all[i]);
    free(all);
}

static void close_both(int ends[2])
{
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0) (void)close(ends[i]);
}

/* In a process group of its own, so that a signal reaches what the shell started; with default signals. */
static int spawn(run *r, const char *command, char **variables, int in, int out, int err)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    char shell[] = "/bin/sh", option[] = "-c";
    char *arguments[] = {shell, option, (char *)(uintptr_t)command, NULL};

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    (void)posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
    (void)posix_spawnattr_setflags(&attributes,
                                   (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setsigdefault(&attributes, &all);
    int failed = posix_spawn(&r->pid, shell, &files, &attributes, arguments, variables);
    (void)posix_spawn_file_actions_destroy(&files);
    (void)posix_spawnattr_destroy(&attributes);
    return failed;
}

static bool start(run *r, reeve_consumer *consumer, const reeve_task *task, const char *command)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
    char **variables = environment(consumer, task);
    bool good = variables != NULL && pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 &&
                pipe2(err, O_CLOEXEC) == 0 && fcntl(in[1], F_SETFL, O_NONBLOCK) == 0 &&
                spawn(r, command, variables, in[0], out[1], err[1]) == 0;
    free_environment(variables);
    if (!good) {
        close_both(in);
        close_both(out);
        close_both(err);
        return false;
    }
    (void)close(in[0]);
    (void)close(out[1]);
    (void)close(err[1]);
    r->in = in[1];
    r->out = out[0];
    r->err = err[0];
    return true;
}

/* ---- its pipes ------------------------------------------------------------------------------------------------- */

static void end_pipe(int *fd)
{
    (void)close(*fd);
    *fd = -1;
}

static void give_payload(run *r)
{
    size_t left = r->payload.length - r->written;
    ssize_t wrote = left > 0 ? write(r->in, (const char *)r->payload.data + r->written, left) : 0;

    if (wrote < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (wrote > 0) r->written += (size_t)wrote;
    if (wrote < 0 || r->written == r->payload.length) end_pipe(&r->in); /* it may not want to read */
}

/* False: the pipe has ended. */
static bool read_some(int *fd, char *chunk, size_t *ret_length)
{
    ssize_t got = read(*fd, chunk, CHUNK);

    if (got < 0 && errno == EINTR)
        got = 0;
    else if (got <= 0) {
        end_pipe(fd);
        return false;
    }
    *ret_length = (size_t)got;
    return true;
}

static void take_result(run *r)
{
    char chunk[CHUNK];
    size_t length;

    if (!read_some(&r->out, chunk, &length)) return;
    if (r->result.length + length > REEVE_RESULT_MAX) r->too_big = true;
    if (!r->too_big) rv_buf_add(&r->result, chunk, length);
}

static void take_error(run *r)
{
    char chunk[CHUNK];
    size_t length;

    if (!read_some(&r->err, chunk, &length)) return;
    if (r->passes) (void)!write(STDERR_FILENO, chunk, length);
    const char *last = chunk;
    if (length > REEVE_MESSAGE_MAX) {
        last = chunk + length - REEVE_MESSAGE_MAX;
        length = REEVE_MESSAGE_MAX;
    }
    size_t room = REEVE_MESSAGE_MAX - length, keep = r->tail_length < room ? r->tail_length : room;
    memmove(r->tail, r->tail + r->tail_length - keep, keep);
    memcpy(r->tail + keep, last, length);
    r->tail_length = keep + length;
    r->tail[r->tail_length] = '\0';
}

/* ---- running --------------------------------------------------------------------------------------------------- */

/* Tells it once to end, and kills it if it does not. */
static void stop(run *r)
{
    if (!r->told) {
        r->told = true;
        r->kills_ms = rv_deadline(KILL_AFTER_MS);
        (void)kill(-r->pid, SIGTERM);
    } else if (rv_now_ms() >= r->kills_ms) {
        (void)kill(-r->pid, SIGKILL);
    }
}

/* Whether the command has ended; it is reaped then. */
static bool has_ended(run *r)
{
    if (r->ended) return true;
    pid_t ended = waitpid(r->pid, &r->status, WNOHANG);
    if (ended < 0 && errno != EINTR) r->status = UNKNOWN_END;
    r->ended = ended == r->pid || r->status == UNKNOWN_END;
    return r->ended;
}

static void pass_bytes(run *r, int64_t wait_ms)
{
    struct pollfd fds[] = {{.fd = r->out, .events = POLLIN},
                           {.fd = r->err, .events = POLLIN},
                           {.fd = r->in, .events = POLLOUT},
                           {.fd = r->told ? -1 : cli_stop_fd(), .events = POLLIN}};

    (void)poll(fds, 4, (int)wait_ms);
    if (fds[0].revents != 0) take_result(r);
    if (fds[1].revents != 0) take_error(r);
    if (fds[2].revents != 0) give_payload(r);
}

/* Passes bytes until the command has ended, and both outputs have. */
static void attend(run *r, const reeve_task *task)
{
    int64_t rest_ms = INT64_MAX;

    while (!r->ended || r->out >= 0 || r->err >= 0) {
        bool open = r->out >= 0 || r->err >= 0;

        if (!r->ended && (reeve_task_should_stop(task) || cli_stop_signal() != 0)) stop(r);
        pass_bytes(r, open && !r->ended ? LOOK_MS : LOOK_MS / 10);
        if (!r->ended && has_ended(r)) rest_ms = rv_deadline(REST_MS);
        if (rv_now_ms() >= rest_ms) break;
    }
    if (r->in >= 0) end_pipe(&r->in);
    if (r->out >= 0) end_pipe(&r->out);
    if (r->err >= 0) end_pipe(&r->err);
}

static void write_end(const run *r, int status, char *ret, size_t size)
{
    if (r->told)
        (void)snprintf(ret, size, "the command was told to end");
    else if (WIFSIGNALED(status))
        (void)snprintf(ret, size, "the command was ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        (void)snprintf(ret, size, "the command exited with status %d", WEXITSTATUS(status));
    else
        (void)snprintf(ret, size, "the output of the command cannot be the result");
}

/* The end of standard error, or how the command ended. */
static void write_message(const run *r, int status, char *ret, size_t size)
{
    const char *tail = r->tail;
    size_t length = r->tail_length;

    while (length > 0 && (tail[length - 1] == '\n' || tail[length - 1] == ' ')) length--;
    if (length > 0)
        (void)snprintf(ret, size, "%.*s", (int)length, tail);
    else
        write_end(r, status, ret, size);
}

static reeve_outcome decide(run *r, reeve_task *task, int status)
{
    char message[REEVE_MESSAGE_MAX + 1];

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !r->told) {
        if (r->too_big) return reeve_task_fail(task, "result", "the output is longer than %u bytes", REEVE_RESULT_MAX);
        if (r->result.failed) return reeve_task_retry(task, -1, "resources", "no memory for the output");
        return reeve_task_done(task, r->result.data, r->result.length);
    }
    if (r->told) return reeve_task_give_back(task);
    write_message(r, status, message, sizeof(message));
    return reeve_task_retry(task, -1, "exit", "%s", message);
}

static const char *word_of(reeve_outcome outcome)
{
    switch (outcome) {
    case REEVE_OUTCOME_DONE:
        return "done";
    case REEVE_OUTCOME_RETRY:
        return "retry";
    case REEVE_OUTCOME_SNOOZE:
        return "give-back";
    default: /* the others are not chosen above */
        break;
    }
    return "fail";
}

static int settle(cli_context *cli, reeve_consumer *consumer, run *r, reeve_task *task, int status, bool *ret_done)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX], name[REEVE_HANDLE_MAX + 1], words[80];

    rv_copy_text(queue, sizeof(queue), reeve_task_queue(task));
    rv_copy_text(id, sizeof(id), reeve_task_id(task));
    rv_copy_text(name, sizeof(name), reeve_task_handle(task));
    reeve_outcome outcome = decide(r, task, status);
    reeve_status settled = reeve_consumer_settle(consumer, task, outcome);
    if (settled != REEVE_OK)
        return cli_fault_say(cli, cli_exit_of(settled), &(cli_fault){.code = cli_code_of(settled), .handle = name},
                             "%s: %s", name, reeve_consumer_error(consumer));
    *ret_done = outcome == REEVE_OUTCOME_DONE;
    cli_lease_print_run(cli, queue, id, word_of(outcome), WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                        WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    if (*ret_done) return CLI_DONE;
    write_end(r, status, words, sizeof(words));
    (void)cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "failed", .handle = name}, "%s: %s", name, words);
    return CLI_DONE;
}

int cli_lease_exec(cli_context *cli, reeve_consumer *consumer, reeve_task *task, const char *command, bool *ret_done)
{
    run r = {.in = -1, .out = -1, .err = -1, .payload = reeve_task_payload(task), .passes = !cli->json};
    int status;

    *ret_done = false;
    (void)signal(SIGCHLD, SIG_DFL); /* where it is ignored, nobody learns how the command ended */
    if (!start(&r, consumer, task, command)) {
        (void)reeve_consumer_settle(consumer, task, reeve_task_give_back(task));
        return cli_fail(cli, CLI_REFUSED, "the command cannot be started: %s", strerror(errno));
    }
    rv_buf_init(&r.result, REEVE_RESULT_MAX);
    attend(&r, task);
    status = settle(cli, consumer, &r, task, r.status, ret_done);
    rv_buf_fini(&r.result);
    return status;
}
