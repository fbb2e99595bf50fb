#include "queue_json.h"

#include "json.h"
#include "limits_view.h"

void cli_queue_json(const reeve_queue_info *info, int64_t workers, FILE *out)
{
    cli_json json;

    cli_json_begin(&json, out);
    cli_json_text(&json, "queue", info->name);
    cli_json_bool(&json, "paused", info->paused);
    for (int state = 0; state < REEVE_STATE_COUNT; state++)
        cli_json_uint(&json, reeve_state_name((reeve_state)state), info->count[state]);
    cli_json_uint(&json, "completed_total", info->completed_total);
    cli_json_uint(&json, "failed_total", info->failed_total);
    cli_json_uint(&json, "dead_total", info->dead_total);
    cli_json_uint(&json, "crashed_total", info->crashed_total);
    cli_json_uint(&json, "cancelled_total", info->cancelled_total);
    cli_json_uint(&json, "enqueued_total", info->enqueued_total);
    cli_json_maybe(&json, "oldest_ready_ms", info->oldest_ready_ms);
    cli_json_maybe(&json, "next_due_ms", info->next_due_ms);
    cli_json_maybe(&json, "paused_ms", info->paused_ms);
    cli_json_maybe(&json, "pause_until_ms", info->pause_until_ms);
    cli_concurrency_json(&json, info->concurrency, false);
    cli_rate_json(&json, &info->rate, false);
    cli_json_open(&json, "each_group");
    cli_concurrency_json(&json, info->group_concurrency, false);
    cli_rate_json(&json, &info->group_rate, false);
    cli_json_close(&json);
    cli_json_maybe(&json, "workers", workers);
    cli_json_end(&json);
}
