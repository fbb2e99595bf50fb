/*
 * top_action.c - what `reeve top` changes, it changes by the command line: the command that did it is shown, and can be repeated.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "top_model.h"

#define ARGUMENTS_MAX 600
#define KEYS_EACH 500 /* of one command */
#define OUTPUT_MAX ((size_t)1024 * 1024)

const cli_top_action cli_top_actions[] = {
    {CLI_TOP_QUEUES, 'P', "pause", "pause the queues"},
    {CLI_TOP_QUEUES, 'U', "resume", "resume the queues"},
    {CLI_TOP_TASKS, 'R', "retry", "make the tasks ready now"},
    {CLI_TOP_TASKS, 'K', "cancel", "cancel the tasks"},
    {CLI_TOP_TASKS, 'D', "delete", "delete the tasks"},
    {CLI_TOP_DEAD, 'R', "retry", "make the tasks ready now"},
    {CLI_TOP_DEAD, 'D', "delete", "delete the tasks"},
    {CLI_TOP_WORKERS, 'Q', "signal %s quiet", "make the worker lease no more tasks"},
    {CLI_TOP_CRON, 'P', "cron pause", "pause the entries"},
    {CLI_TOP_CRON, 'U', "cron resume", "resume the entries"},
    {CLI_TOP_CRON, 'D', "cron remove", "remove the entries"},
    {CLI_TOP_TABS, 0, NULL, NULL},
};

const cli_top_action *cli_top_find_action(const cli_top *top, char key)
{
    for (const cli_top_action *action = cli_top_actions; action->words != NULL; action++)
        if (action->tab == top->tab && action->key == key) return action;
    return NULL;
}

const char *cli_top_action_text(const cli_top_action *action, const char *key, char *ret, size_t size)
{
    const char *place = strstr(action->words, "%s");
    size_t before = place == NULL ? strlen(action->words) : (size_t)(place - action->words);

    (void)snprintf(ret, size, "%.*s%s%s", (int)before, action->words, place == NULL ? "" : key,
                   place == NULL ? "" : place + 2);
    return ret;
}

size_t cli_top_chosen(const cli_top *top)
{
    if (top->mark_count > 0) return top->mark_count;
    return cli_top_at_cursor(top) == NULL ? 0 : 1;
}

/* ---- the command line -------------------------------------------------------------------------------------------------- */

typedef struct command_line {
    const char *list[ARGUMENTS_MAX + 1];
    size_t count;
    char words[256]; /* what is taken apart */
} command_line;

static void add(command_line *arguments, const char *text)
{
    if (arguments->count < ARGUMENTS_MAX) arguments->list[arguments->count++] = text;
}

/* The options that lead to the same Redis; its URL, which may have a password, goes by the environment. */
static void begin(command_line *arguments, const cli_top *top)
{
    memset(arguments, 0, sizeof(*arguments));
    add(arguments, "reeve");
    if (top->cli->ns != NULL) {
        add(arguments, "--ns");
        add(arguments, top->cli->ns);
    }
}

/* Words between blanks; "%s" among them stands for a key. */
static void add_words(command_line *arguments, const char *words, const char *key)
{
    char *rest = arguments->words;

    (void)snprintf(arguments->words, sizeof(arguments->words), "%s", words);
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) add(arguments, strcmp(word, "%s") == 0 ? key : word);
}

static void replace_process(const cli_top *top, command_line *arguments)
{
    if (top->cli->redis != NULL) (void)setenv("REEVE_REDIS", top->cli->redis, 1);
    (void)signal(SIGINT, SIG_DFL);
    (void)execv("/proc/self/exe", (char *const *)arguments->list);
    _exit(127);
}

static int wait_for(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs it with both outputs into `out`. */
static int run_quietly(const cli_top *top, command_line *arguments, rv_buf *out)
{
    int ends[2];
    char part[512];
    ssize_t got;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    pid = fork();
    if (pid == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)dup2(ends[1], STDERR_FILENO);
        replace_process(top, arguments);
    }
    (void)close(ends[1]);
    while (pid > 0 && ((got = read(ends[0], part, sizeof(part))) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0) rv_buf_add(out, part, (size_t)got);
    (void)close(ends[0]);
    return pid > 0 ? wait_for(pid) : -1;
}

static void show_command(cli_top *top, const command_line *arguments)
{
    size_t used = 0;

    top->command[0] = '\0';
    for (size_t i = 0; i < arguments->count && used < sizeof(top->command) - 1; i++) {
        int length =
            snprintf(top->command + used, sizeof(top->command) - used, "%s%s", i > 0 ? " " : "", arguments->list[i]);
        used += length > 0 ? (size_t)length : 0;
    }
}

/* The last line that it printed, behind the command. */
static void note_result(cli_top *top, const rv_buf *out, int status)
{
    const char *text = out->failed || out->length == 0 ? "" : out->data;
    size_t length = strlen(text);

    while (length > 0 && text[length - 1] == '\n') length--;
    size_t from = length;
    while (from > 0 && text[from - 1] != '\n') from--;
    (void)snprintf(top->note, sizeof(top->note), "%s%.*s   [%.200s]",
                   status == 0 ? "" : "not done: ", (int)(length - from), text + from, top->command);
}

/* One command, for count of the keys. What the first one that failed printed stays in `out`. */
static void act_once(cli_top *top, const cli_top_action *action, char *const *keys, size_t count, rv_buf *out,
                     int *status)
{
    command_line arguments;
    bool each = strstr(action->words, "%s") != NULL;
    rv_buf printed;

    begin(&arguments, top);
    add_words(&arguments, action->words, keys[0]);
    for (size_t i = 0; !each && i < count; i++) add(&arguments, keys[i]);
    arguments.list[arguments.count] = NULL;
    show_command(top, &arguments);
    rv_buf_init(&printed, OUTPUT_MAX);
    int ended = run_quietly(top, &arguments, &printed);
    if (*status == 0) {
        rv_buf_clear(out);
        rv_buf_add(out, printed.data, printed.length);
        *status = ended;
    }
    rv_buf_fini(&printed);
}

void cli_top_act(cli_top *top, const cli_top_action *action)
{
    const cli_top_row *row = cli_top_at_cursor(top);
    char *at_cursor[] = {row == NULL ? NULL : (char *)(uintptr_t)row->key};
    char *const *keys = top->mark_count > 0 ? top->marks : at_cursor;
    size_t count = cli_top_chosen(top), each = strstr(action->words, "%s") != NULL ? 1 : KEYS_EACH;
    int status = 0;
    rv_buf out;

    if (count == 0) return;
    rv_buf_init(&out, OUTPUT_MAX);
    for (size_t i = 0; i < count; i += each)
        act_once(top, action, keys + i, count - i < each ? count - i : each, &out, &status);
    note_result(top, &out, status);
    rv_buf_fini(&out);
    cli_top_clear_marks(top);
}

int cli_top_run_words(const cli_top *top, const char *words)
{
    command_line arguments;
    pid_t pid;

    begin(&arguments, top);
    add_words(&arguments, words, "");
    arguments.list[arguments.count] = NULL;
    pid = fork();
    if (pid == 0) replace_process(top, &arguments);
    return pid > 0 ? wait_for(pid) : -1;
}
