/*
 * task_log.c - what a task's handler has said.
 */
#include <string.h>

#include "base/text.h"
#include "json.h"
#include "task_view.h"
#include "utf8.h"

bool cli_task_log(const reeve_task_info *info, FILE *out)
{
    char time[RV_TIME_TEXT];
    bool good;
    rv_buf buf;

    rv_buf_init(&buf, (size_t)8 * REEVE_LOG_LINES * REEVE_MESSAGE_MAX);
    for (size_t i = 0; i < info->log_count; i++) {
        const char *text = info->log[i].text;

        rv_format_time(info->log[i].time_ms, time);
        rv_buf_addf(&buf, "%s  ", time);
        cli_utf8_add_safe(&buf, text, strlen(text), false);
        rv_buf_addc(&buf, '\n');
    }
    good = !buf.failed;
    if (good) (void)fwrite(rv_buf_text(&buf), 1, buf.length, out);
    rv_buf_fini(&buf);
    return good;
}

void cli_task_log_json(const reeve_task_info *info, FILE *out)
{
    for (size_t i = 0; i < info->log_count; i++) {
        cli_json json;

        cli_json_begin(&json, out);
        cli_json_int(&json, "at_ms", info->log[i].time_ms);
        cli_json_text(&json, "text", info->log[i].text);
        cli_json_end(&json);
    }
}
