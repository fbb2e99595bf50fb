#include "lease_view.h"

#include "bytes_view.h"
#include "handle.h"
#include "json.h"

void cli_lease_json(const reeve_task *task, const char *token, int64_t for_ms, FILE *out)
{
    cli_json json;

    cli_json_begin(&json, out);
    cli_handle_json(&json, reeve_task_queue(task), reeve_task_id(task));
    cli_json_text(&json, "type", reeve_task_type(task));
    cli_json_text(&json, "lease", token);
    cli_json_int(&json, "for_ms", for_ms);
    cli_json_int(&json, "attempt", reeve_task_attempt(task));
    cli_json_int(&json, "crashes", reeve_task_crashes(task));
    cli_json_int(&json, "enqueued_ms", reeve_task_enqueued_ms(task));
    cli_json_text(&json, "group", reeve_task_group(task));
    cli_json_bytes(&json, "payload", reeve_task_payload(task), false);
    cli_json_end(&json);
}

bool cli_lease_print(const cli_context *cli, reeve_consumer *consumer, const reeve_task *task, int64_t for_ms)
{
    char token[REEVE_TOKEN_MAX] = "";
    rv_buf payload;
    bool good;

    (void)reeve_consumer_token(consumer, task, token);
    if (cli->json) {
        cli_lease_json(task, token, for_ms, stdout);
        return true;
    }
    rv_buf_init(&payload, SIZE_MAX);
    cli_bytes_preview(&payload, reeve_task_payload(task));
    good = !payload.failed;
    (void)printf("handle:  %s\ntype:    %s\nattempt: %u\nlease:   %s\npayload: %s\n", reeve_task_handle(task),
                 reeve_task_type(task), reeve_task_attempt(task), token, good ? rv_buf_text(&payload) : "");
    rv_buf_fini(&payload);
    return good;
}

void cli_lease_print_run(const cli_context *cli, const char *queue, const char *id, const char *outcome,
                         int exit_status, int signal)
{
    cli_json json;

    if (!cli->json) {
        (void)printf("%s/%s %s\n", queue, id, outcome);
        return;
    }
    cli_json_begin(&json, stdout);
    cli_handle_json(&json, queue, id);
    cli_json_text(&json, "outcome", outcome);
    cli_json_maybe(&json, "exit", exit_status);
    cli_json_maybe(&json, "signal", signal > 0 ? signal : -1);
    cli_json_end(&json);
}
