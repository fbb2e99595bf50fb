#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/id.h"
#include "utf8.h"

#define WORDS_MAX 4096

/* ---- saying ---------------------------------------------------------------------------------------------------- */

/* errno of the first flush that failed; the stream itself keeps only that one did. */
static int output_error;

static void flush_output(void)
{
    if (fflush(stdout) != 0 && output_error == 0) output_error = errno;
}

__attribute__((format(printf, 2, 0))) static void say(const cli_context *cli, const char *format, va_list arguments)
{
    char words[WORDS_MAX];
    rv_buf safe;

    (void)vsnprintf(words, sizeof(words), format, arguments);
    rv_buf_init(&safe, sizeof(words) * 6);
    cli_utf8_add_safe(&safe, words, strlen(words), false);
    flush_output(); /* so that both streams, on one terminal, come in order */
    (void)fprintf(stderr, "reeve: %s%s%s\n", cli->verb == NULL ? "" : cli->verb->name, cli->verb == NULL ? "" : ": ",
                  safe.failed ? "out of memory" : rv_buf_text(&safe));
    rv_buf_fini(&safe);
}

void cli_say(const cli_context *cli, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(cli, format, arguments);
    va_end(arguments);
}

int cli_fail(const cli_context *cli, int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(cli, format, arguments);
    va_end(arguments);
    return status;
}

int cli_usage(const cli_context *cli, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(cli, format, arguments);
    va_end(arguments);
    if (cli->verb == NULL)
        (void)fprintf(stderr, "Try `reeve --help`.\n");
    else
        (void)fprintf(stderr, "Try `reeve %s --help`.\n", cli->verb->name);
    return CLI_USAGE;
}

int cli_no_memory(const cli_context *cli)
{
    return cli_fail(cli, CLI_REFUSED, "out of memory");
}

/* The pipe or socket has no other end any more. */
static bool reader_is_gone(void)
{
    struct pollfd poller = {.fd = STDOUT_FILENO};

    return poll(&poller, 1, 0) == 1 && (poller.revents & POLLERR) != 0;
}

bool cli_flush(const cli_context *cli)
{
    static bool said;

    flush_output();
    if (output_error == 0 && ferror(stdout) == 0) return true;
    if (!said && !reader_is_gone())
        cli_say(cli, "standard output: %s", output_error == 0 ? "write error" : strerror(output_error));
    said = true;
    return false;
}

/* ---- Redis ----------------------------------------------------------------------------------------------------- */

int cli_exit_of(reeve_status status)
{
    switch (status) {
    case REEVE_OK:
        return CLI_DONE;
    case REEVE_ECONNECT:
    case REEVE_ELOST:
    case REEVE_ETIMEOUT:
        return CLI_NO_REDIS;
    case REEVE_EURL:
    case REEVE_EINVAL:
    case REEVE_EUNSUPPORTED:
        return CLI_USAGE;
    default:
        return CLI_REFUSED;
    }
}

int cli_open(cli_context *cli)
{
    reeve_client_options options = {.size = sizeof(options), .redis = cli->redis, .ns = cli->ns, .name = "reeve-cli"};
    char words[512] = "";
    reeve_status status = reeve_client_open_or_say(&cli->client, &options, words, sizeof(words));
    int code = cli_exit_of(status);

    if (status == REEVE_OK) return CLI_DONE;
    /* Whatever a server answers to AUTH, SELECT and the like: there is no Redis to work with. */
    if (code == CLI_REFUSED && status != REEVE_ENOMEM) code = CLI_NO_REDIS;
    cli_say(cli, "%s", words[0] == '\0' ? reeve_status_text(status) : words);
    if (code == CLI_NO_REDIS)
        (void)fprintf(stderr,
                      "--redis URL or the environment's REEVE_REDIS names another Redis.\n");
    return code;
}

int cli_fail_call(const cli_context *cli, reeve_status status, const char *subject)
{
    const char *words = reeve_client_error(cli->client);

    if (words[0] == '\0') words = reeve_status_text(status);
    if (subject == NULL || strstr(words, subject) != NULL)
        cli_say(cli, "%s", words);
    else
        cli_say(cli, "%s: %s", subject, words);
    return cli_exit_of(status);
}

/* ---- arguments ------------------------------------------------------------------------------------------------- */

int cli_queue_argument(const cli_context *cli, const char *text)
{
    if (rv_valid_queue(text, strlen(text))) return CLI_DONE;
    return cli_usage(cli, "\"%.200s\" is no queue: expected 1 to %d characters of A-Z a-z 0-9 . _ -", text,
                     REEVE_QUEUE_MAX);
}

static int read_stream(const cli_context *cli, rv_buf *buf, int fd, const char *name)
{
    for (;;) {
        ssize_t got;

        if (!rv_buf_reserve(buf, 1)) {
            if (buf->length <= REEVE_PAYLOAD_MAX) return cli_no_memory(cli);
            return cli_fail(cli, CLI_REFUSED, "%s: larger than the limit of %u MiB", name, REEVE_PAYLOAD_MAX >> 20);
        }
        got = read(fd, buf->data + buf->length, buf->capacity - buf->length - 1);
        if (got == 0) return CLI_DONE;
        if (got > 0)
            buf->length += (size_t)got;
        else if (errno != EINTR)
            return cli_fail(cli, CLI_REFUSED, "%s: %s", name, strerror(errno));
    }
}

int cli_read_payload(const cli_context *cli, rv_buf *ret, const char *text)
{
    int fd, status;

    rv_buf_init(ret, (size_t)REEVE_PAYLOAD_MAX + 1); /* one more, to tell what just fits from what does not */
    if (text == NULL) return CLI_DONE;
    if (strcmp(text, "-") == 0) return read_stream(cli, ret, STDIN_FILENO, "standard input");
    if (text[0] != '@') {
        rv_buf_adds(ret, text);
        return ret->failed ? cli_no_memory(cli) : CLI_DONE;
    }
    fd = open(text + 1, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return cli_fail(cli, CLI_REFUSED, "%s: %s", text + 1, strerror(errno));
    status = read_stream(cli, ret, fd, text + 1);
    (void)close(fd);
    return status;
}
