#include "handle.h"

#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "json.h"

bool cli_handle_parse(cli_handle *ret, const char *text)
{
    const char *slash = strchr(text, '/');
    size_t queue_length, id_length;

    if (slash == NULL) return false;
    queue_length = (size_t)(slash - text);
    id_length = strlen(slash + 1);
    if (!rv_valid_queue(text, queue_length) || !rv_valid_id(slash + 1, id_length)) return false;
    memcpy(ret->queue, text, queue_length);
    ret->queue[queue_length] = '\0';
    memcpy(ret->id, slash + 1, id_length + 1);
    return true;
}

int cli_handle_argument(const cli_context *cli, cli_handle *ret, const char *text)
{
    if (cli_handle_parse(ret, text)) return CLI_DONE;
    return cli_usage(cli, "\"%.200s\" is no handle: expected QUEUE/ID, for instance default/order-17", text);
}

void cli_handle_text(const cli_handle *handle, char ret[REEVE_HANDLE_MAX + 1])
{
    (void)snprintf(ret, REEVE_HANDLE_MAX + 1, "%s/%s", handle->queue, handle->id);
}

void cli_handle_json(cli_json *json, const char *queue, const char *id)
{
    char text[REEVE_HANDLE_MAX + 1];

    (void)snprintf(text, sizeof(text), "%s/%s", queue, id);
    cli_json_text(json, "handle", text);
    cli_json_text(json, "queue", queue);
    cli_json_text(json, "id", id);
}

void cli_handle_print(const cli_context *cli, const cli_handle *handle)
{
    char text[REEVE_HANDLE_MAX + 1];
    cli_json json;

    if (!cli->json) {
        cli_handle_text(handle, text);
        (void)puts(text);
        return;
    }
    cli_json_begin(&json, stdout);
    cli_handle_json(&json, handle->queue, handle->id);
    cli_json_end(&json);
}
