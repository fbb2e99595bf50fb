#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/id.h"
#include "client/client.h"
#include "protocol/size_limits.h"
#include "redis/secret.h"

/* ---- size_limits ------------------------------------------------------------------------------------------------- */

/* The environment's first, so that what the flag says of the same size limit has precedence. */
int cli_read_size_limits(cli_context *cli)
{
    const char *environment = getenv("REEVE_SIZE_LIMITS");
    rv_error why;

    cli->size_limits = rv_size_limits_default;
    if (environment != NULL && rv_size_limits_parse(&cli->size_limits, environment, &why) != REEVE_OK)
        return cli_usage(cli, "the environment's REEVE_SIZE_LIMITS: %s", why.text);
    if (cli->size_limit != NULL && rv_size_limits_parse(&cli->size_limits, cli->size_limit, &why) != REEVE_OK)
        return cli_usage(cli, "--size-limit: %s", why.text);
    return CLI_DONE;
}

int cli_read_redis_file(cli_context *cli)
{
    rv_error why;

    if (cli->redis_file == NULL) return CLI_DONE;
    if (cli->redis != NULL) return cli_usage(cli, "either --redis or --redis-file");
    if (rv_secret_read(&cli->secret, cli->redis_file, &why) != REEVE_OK)
        return cli_usage(cli, "--redis-file: %s", why.text);
    cli->redis = cli->secret;
    return CLI_DONE;
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

void cli_note_private(const cli_context *cli)
{
    static bool noted;
    const char *url = getenv("REEVE_REDIS");

    if (noted || cli->client == NULL || cli->client->embedded == NULL) return;
    if (cli->redis != NULL || (url != NULL && *url != '\0')) return;
    noted = true;
    cli_note(cli, "REEVE_REDIS is not set, and --redis not given: this is the private Redis of %s",
             cli->client->url.redacted);
}

int cli_open(cli_context *cli)
{
    reeve_client_options options = {.size = sizeof(options),
                                    .redis = cli->redis,
                                    .ns = cli->ns,
                                    .name = "reeve-cli",
                                    .buffer_path = cli->buffer,
                                    .buffer_refused = cli->buffer_refused,
                                    .buffer_user = cli,
                                    .wait_replicas = cli->wait_replicas,
                                    .wait_replicas_ms = cli->wait_replicas_ms,
                                    .wait_disk = cli->wait_disk,
                                    .size_limits = cli->size_limits};
    char words[512] = "";
    reeve_status status = reeve_client_open_with_error(&cli->client, &options, words, sizeof(words));
    int code = cli_exit_of(status);

    if (status == REEVE_OK) return cli->layers != NULL ? cli_add_layers(cli) : CLI_DONE;
    /* Whatever a server answers to AUTH, SELECT and the like: there is no Redis to work with. */
    bool of_file = cli->buffer != NULL && (status == REEVE_ESYSTEM || status == REEVE_ESTATE);
    if (code == CLI_REFUSED && status != REEVE_ENOMEM && !of_file) code = CLI_NO_REDIS;
    (void)cli_fault_say(cli, code, &(cli_fault){.code = cli_code_of(status)}, "%s",
                        words[0] == '\0' ? reeve_status_text(status) : words);
    if (code == CLI_NO_REDIS && !cli->json_faults)
        (void)fprintf(stderr, "--redis URL, --redis-file FILE or the environment's REEVE_REDIS names another Redis.\n");
    return code;
}

static int fail_call(const cli_context *cli, reeve_status status, const cli_fault *fault, const char *subject)
{
    const char *words = reeve_client_error(cli->client);
    cli_fault coded = *fault;

    coded.code = cli_code_of(status);
    if (words[0] == '\0') words = reeve_status_text(status);
    if (subject == NULL || strstr(words, subject) != NULL)
        return cli_fault_say(cli, cli_exit_of(status), &coded, "%s", words);
    return cli_fault_say(cli, cli_exit_of(status), &coded, "%s: %s", subject, words);
}

int cli_fail_call(const cli_context *cli, reeve_status status, const char *subject)
{
    return fail_call(cli, status, &(cli_fault){0}, subject);
}

int cli_fault_call(const cli_context *cli, reeve_status status, const cli_fault *fault)
{
    return fail_call(cli, status, fault, fault->handle);
}

/* ---- arguments ------------------------------------------------------------------------------------------------- */

int cli_queue_argument(const cli_context *cli, const char *text)
{
    if (rv_valid_queue(text, strlen(text))) return CLI_DONE;
    return cli_usage(cli, "\"%.200s\" is no queue: expected 1 to %d characters of A-Z a-z 0-9 . _ -", text,
                     REEVE_QUEUE_MAX);
}

static int fail_file(const cli_context *cli, const char *name)
{
    return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "input"}, "%s: %s", name, strerror(errno));
}

static int read_stream(const cli_context *cli, rv_buf *buf, int fd, const char *name)
{
    for (;;) {
        ssize_t got;

        if (!rv_buf_reserve(buf, 1)) {
            if (buf->length <= REEVE_PAYLOAD_MAX) return cli_no_memory(cli);
            return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "too_big"},
                                 "%s: larger than the limit of %u MiB", name, REEVE_PAYLOAD_MAX >> 20);
        }
        got = read(fd, buf->data + buf->length, buf->capacity - buf->length - 1);
        if (got == 0) return CLI_DONE;
        if (got > 0)
            buf->length += (size_t)got;
        else if (errno != EINTR)
            return fail_file(cli, name);
    }
}

int cli_read_payload(const cli_context *cli, rv_buf *ret, const char *text)
{
    int fd, status;

    rv_buf_init(ret, (size_t)REEVE_PAYLOAD_MAX + 1); /* one more, to tell what just fits from what does not */
    if (text == NULL) return CLI_DONE;
    if (strcmp(text, "-") == 0) return read_stream(cli, ret, STDIN_FILENO, "standard input");
    if (text[0] != '@' || text[1] == '@') {
        rv_buf_adds(ret, text[0] == '@' ? text + 1 : text);
        return ret->failed ? cli_no_memory(cli) : CLI_DONE;
    }
    fd = open(text + 1, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_file(cli, text + 1);
    status = read_stream(cli, ret, fd, text + 1);
    (void)close(fd);
    return status;
}
