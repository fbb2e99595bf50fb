/*
 * say.c - what a verb says about its work, on standard error: words for people, or an error object a line.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"
#include "utf8.h"

#define WORDS_MAX 4096

/* ---- codes ----------------------------------------------------------------------------------------------------- */

const char *cli_code_of(reeve_status status)
{
    switch (status) {
    case REEVE_ENOMEM:
        return "no_memory";
    case REEVE_EINVAL:
    case REEVE_EURL:
    case REEVE_EUNSUPPORTED:
        return "invalid";
    case REEVE_ECONNECT:
        return "connect";
    case REEVE_ELOST:
        return "lost";
    case REEVE_ETIMEOUT:
        return "timeout";
    case REEVE_EREDIS:
    case REEVE_EPROTO:
        return "redis";
    case REEVE_EEXISTS:
        return "exists";
    case REEVE_ENOTFOUND:
        return "not_found";
    case REEVE_ESTATE:
        return "state";
    case REEVE_ETOOBIG:
        return "too_big";
    case REEVE_EINTERRUPTED:
        return "interrupted";
    case REEVE_EPLUGIN:
        return "plugin";
    case REEVE_EDEAD:
        return "dead";
    case REEVE_ECANCELLED:
        return "cancelled";
    case REEVE_EUNIQUE:
        return "unique";
    case REEVE_BUFFERED:
        return "buffered";
    case REEVE_EFULL:
        return "full";
    case REEVE_UNCONFIRMED:
        return "unconfirmed";
    default:
        return "refused";
    }
}

bool cli_fails_for_all(reeve_status status)
{
    switch (status) {
    case REEVE_ENOMEM:
    case REEVE_ECONNECT:
    case REEVE_ELOST:
    case REEVE_ETIMEOUT:
    case REEVE_EREDIS:
    case REEVE_EPROTO:
    case REEVE_EINTERRUPTED:
        return true;
    default:
        return false;
    }
}

static const char *code_of_exit(int status)
{
    switch (status) {
    case CLI_USAGE:
        return "usage";
    case CLI_NO_REDIS:
        return "connect";
    default:
        return status >= CLI_SIGNALLED ? "interrupted" : "refused";
    }
}

/* ---- saying ---------------------------------------------------------------------------------------------------- */

/* errno of the first flush that failed; the stream itself keeps only that one did. */
static int output_error;

static void flush_output(void)
{
    if (fflush(stdout) != 0 && output_error == 0) output_error = errno;
}

static void say_words(const cli_context *cli, const char *words)
{
    rv_buf safe;

    rv_buf_init(&safe, (size_t)WORDS_MAX * 6);
    cli_utf8_add_safe(&safe, words, strlen(words), false);
    flush_output(); /* so that both streams, on one terminal, come in order */
    (void)fprintf(stderr, "reeve: %s%s%s\n", cli->verb == NULL ? "" : cli->verb->name, cli->verb == NULL ? "" : ": ",
                  safe.failed ? "out of memory" : rv_buf_text(&safe));
    rv_buf_fini(&safe);
}

static void say_object(const cli_context *cli, int status, const cli_fault *fault, const char *words)
{
    cli_json json;

    flush_output();
    cli_json_begin(&json, stderr);
    cli_json_text(&json, "error", fault->code == NULL ? code_of_exit(status) : fault->code);
    cli_json_text(&json, "message", words);
    cli_json_text(&json, "verb", cli->verb == NULL ? NULL : cli->verb->name);
    cli_json_int(&json, "exit", status);
    cli_json_text(&json, "handle", fault->handle);
    cli_json_maybe(&json, "line", fault->line == 0 ? -1 : (int64_t)fault->line);
    cli_json_text(&json, "unique", fault->unique);
    cli_json_text(&json, "holder", fault->holder);
    cli_json_end(&json);
}

__attribute__((format(printf, 4, 0))) static int say(const cli_context *cli, int status, const cli_fault *fault,
                                                     const char *format, va_list arguments)
{
    char words[WORDS_MAX];

    (void)vsnprintf(words, sizeof(words), format, arguments);
    if (cli->json_faults)
        say_object(cli, status, fault, words);
    else
        say_words(cli, words);
    return status;
}

int cli_fault_say(const cli_context *cli, int status, const cli_fault *fault, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    status = say(cli, status, fault, format, arguments);
    va_end(arguments);
    return status;
}

int cli_fail(const cli_context *cli, int status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    status = say(cli, status, &(cli_fault){0}, format, arguments);
    va_end(arguments);
    return status;
}

int cli_usage(const cli_context *cli, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)say(cli, CLI_USAGE, &(cli_fault){0}, format, arguments);
    va_end(arguments);
    if (cli->json_faults) return CLI_USAGE;
    if (cli->verb == NULL)
        (void)fprintf(stderr, "Try `reeve --help`.\n");
    else
        (void)fprintf(stderr, "Try `reeve %s --help`.\n", cli->verb->name);
    return CLI_USAGE;
}

int cli_no_memory(const cli_context *cli)
{
    return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "no_memory"}, "out of memory");
}

int cli_signalled(const cli_context *cli, int signal)
{
    int status = CLI_SIGNALLED + signal;

    return cli->json ? cli_fail(cli, status, "interrupted by signal %d", signal) : status;
}

void cli_note(const cli_context *cli, const char *format, ...)
{
    va_list arguments;

    if (cli->json) return;
    va_start(arguments, format);
    (void)say(cli, CLI_DONE, &(cli_fault){0}, format, arguments);
    va_end(arguments);
}

/* ---- standard output ------------------------------------------------------------------------------------------- */

/* The pipe or socket has no other end any more. */
static bool reader_is_gone(void)
{
    struct pollfd poller = {.fd = STDOUT_FILENO};

    return poll(&poller, 1, 0) == 1 && (poller.revents & POLLERR) != 0;
}

bool cli_flush(const cli_context *cli)
{
    static bool reported;

    flush_output();
    if (output_error == 0 && ferror(stdout) == 0) return true;
    if (!reported && !reader_is_gone())
        (void)cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "output"}, "standard output: %s",
                            output_error == 0 ? "write error" : strerror(output_error));
    reported = true;
    return false;
}
