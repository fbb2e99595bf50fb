/*
 * control.c - one call for each handle, each reported by itself. A handle that is refused does not stop the others; a
 * failure that concerns all handles does. What is refused in its state is tried again behind the others, as long as any of them is
 * done: a task for which others wait goes when these have gone.
 *
 * Standard input is read to its end before the first task is touched: the handles may come from `reeve list`, which
 * would skip tasks if those that it has passed went away while it lists.
 *
 * A signal ends the verb between two tasks, so that each task that was changed is reported.
 */
#include "control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "lines.h"
#include "maintain.h"
#include "stop.h"

#define HANDLE_LINE_MAX 1024
#define INPUT_MAX ((size_t)4 << 30)

struct steering {
    cli_context *cli;
    cli_control_fn call;
    const void *options;
    const char *done; /* "retried" */
    int status;
    size_t count;   /* how many were done */
    rv_buf refused; /* handles, to be tried again, each as a text that ends in a zero byte */
    bool final;     /* nothing is tried again */
    bool ended;     /* a failure concerns the other handles, too */
};

/* running: it is on its way. */
static void report(const struct steering *steering, const cli_handle *handle, bool running)
{
    const cli_context *cli = steering->cli;
    char name[REEVE_HANDLE_MAX + 1];
    cli_json json;

    if (cli->json) {
        cli_json_begin(&json, stdout);
        cli_handle_json(&json, handle->queue, handle->id);
        cli_json_text(&json, "action", cli->verb->name);
        cli_json_bool(&json, "cancelling", running);
        cli_json_end(&json);
        return;
    }
    cli_handle_text(handle, name);
    if (running)
        (void)printf("cancelling %s: it is running\n", name);
    else
        (void)printf("%s %s\n", steering->done, name);
}

static void control_one(struct steering *steering, const char *name, const cli_handle *handle)
{
    bool running = false;
    reeve_status result;

    cli_maintain(steering->cli, handle->queue);
    result = steering->call(steering->cli->client, handle, steering->options, &running);

    if (result == REEVE_OK) {
        steering->count++;
        report(steering, handle, running);
        return;
    }
    if (result == REEVE_ESTATE && !steering->final) {
        rv_buf_add(&steering->refused, name, strlen(name) + 1);
        if (!steering->refused.failed) return;
    }
    steering->status = cli_fault_call(steering->cli, result, &(cli_fault){.handle = name});
    if (steering->status != CLI_NO_REDIS) steering->status = CLI_REFUSED;
    steering->ended = cli_fails_for_all(result);
}

static void control_line(struct steering *steering, const char *name)
{
    cli_handle handle;

    if (cli_handle_parse(&handle, name)) {
        control_one(steering, name, &handle);
    } else {
        steering->status = cli_fault_say(steering->cli, CLI_REFUSED, &(cli_fault){.code = "invalid", .handle = name},
                                         "%s: no handle; expected QUEUE/ID", name);
    }
}

/* Appends a line as a text that ends in a zero byte; empty ones are left out. */
static void keep_line(rv_buf *kept, const char *text, size_t length)
{
    if (length > 0 && text[length - 1] == '\r') length--;
    if (length == 0) return;
    rv_buf_add(kept, text, length);
    rv_buf_addc(kept, '\0');
}

static int fail_input(const cli_context *cli, const char *words)
{
    return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "input"}, "standard input: %s", words);
}

static int read_lines(const cli_context *cli, cli_lines *input, rv_buf *kept)
{
    const char *text;
    size_t length;

    while (cli_stop_signal() == 0) {
        switch (cli_lines_next(input, true, &text, &length)) {
        case CLI_LINE:
            keep_line(kept, text, length);
            break;
        case CLI_LINE_TOO_LONG:
            return fail_input(cli, "a line is too long for a handle");
        case CLI_LINE_END:
            return kept->failed ? cli_no_memory(cli) : CLI_DONE;
        default:
            if (errno != EINTR) return fail_input(cli, strerror(errno));
        }
    }
    return CLI_DONE;
}

static bool goes_on(const struct steering *steering)
{
    return !steering->ended && ferror(stdout) == 0 && cli_stop_signal() == 0;
}

static void control_input(struct steering *steering)
{
    cli_lines input;
    rv_buf kept;
    int status;

    cli_lines_init(&input, STDIN_FILENO, cli_stop_fd(), HANDLE_LINE_MAX);
    rv_buf_init(&kept, INPUT_MAX);
    status = read_lines(steering->cli, &input, &kept);
    if (status != CLI_DONE) steering->status = status;
    for (size_t at = 0; status == CLI_DONE && at < kept.length; at += strlen(kept.data + at) + 1) {
        if (!goes_on(steering)) break;
        control_line(steering, kept.data + at);
    }
    rv_buf_fini(&kept);
    cli_lines_fini(&input);
}

static void control_refused(struct steering *steering)
{
    size_t before = 0;

    while (steering->refused.length > 0 && goes_on(steering)) {
        rv_buf list = steering->refused;

        rv_buf_init(&steering->refused, INPUT_MAX);
        steering->final = steering->count == before || list.failed;
        before = steering->count;
        for (size_t at = 0; at < list.length && goes_on(steering); at += strlen(list.data + at) + 1)
            control_line(steering, list.data + at);
        rv_buf_fini(&list);
    }
}

static bool is_input(const char *argument)
{
    return strcmp(argument, "-") == 0;
}

/* All arguments are checked before the first task is touched. */
static int check_arguments(const cli_context *cli)
{
    cli_handle handle;
    int status = CLI_DONE;

    for (size_t i = 0; i < cli->count && status == CLI_DONE; i++)
        if (!is_input(cli->rest[i])) status = cli_handle_argument(cli, &handle, cli->rest[i]);
    return status;
}

int cli_control(cli_context *cli, const char *done, cli_control_fn call, const void *options)
{
    struct steering steering = {.cli = cli, .call = call, .options = options, .done = done};
    cli_handle handle;
    int status = check_arguments(cli);

    if (status == CLI_DONE) status = cli_open(cli);
    if (status != CLI_DONE) return status;
    rv_buf_init(&steering.refused, INPUT_MAX);
    cli_stop_catch(NULL);
    for (size_t i = 0; i < cli->count && goes_on(&steering); i++) {
        if (is_input(cli->rest[i]))
            control_input(&steering);
        else if (cli_handle_parse(&handle, cli->rest[i]))
            control_one(&steering, cli->rest[i], &handle);
    }
    control_refused(&steering);
    cli_stop_release();
    rv_buf_fini(&steering.refused);
    return cli_stop_signal() == 0 ? steering.status : cli_signalled(cli, cli_stop_signal());
}
