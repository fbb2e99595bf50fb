#include "crashes_view.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "json.h"
#include "table.h"
#include "when.h"

static const char *given(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

void cli_crash_json(const reeve_crash_info *crash, FILE *out)
{
    cli_json json;

    cli_json_begin(&json, out);
    cli_json_int(&json, "at_ms", crash->at_ms);
    cli_json_text(&json, "worker", crash->worker);
    cli_json_text(&json, "thread", given(crash->thread));
    cli_json_text(&json, "handle", given(crash->task));
    cli_json_text(&json, "type", given(crash->type));
    cli_json_text(&json, "message", crash->message);
    cli_json_text(&json, "backtrace", given(crash->backtrace));
    cli_json_uint(&json, "crashed", crash->crashed);
    cli_json_uint(&json, "settled", crash->settled);
    cli_json_uint(&json, "given_back", crash->given_back);
    cli_json_end(&json);
}

static bool print_crash(const reeve_crash_info *crash)
{
    char time[CLI_WHEN_TEXT];
    cli_fields fields;

    cli_fields_init(&fields);
    cli_time_text(crash->at_ms, rv_wall_ms(), time);
    cli_fields_add(&fields, "crashed", time);
    cli_fields_add(&fields, "worker", crash->worker);
    cli_fields_add(&fields, "thread", given(crash->thread));
    cli_fields_add(&fields, "task", given(crash->task));
    cli_fields_add(&fields, "type", given(crash->type));
    cli_fields_add(&fields, "error", crash->message);
    cli_fields_add(&fields, "backtrace", given(crash->backtrace));
    cli_fields_addf(&fields, "tasks", "%" PRIu64 " crashed, %" PRIu64 " settled, %" PRIu64 " given back",
                    crash->crashed, crash->settled, crash->given_back);
    bool printed = cli_fields_print(&fields, stdout);
    cli_fields_fini(&fields);
    return printed;
}

int cli_crashes_view(cli_context *cli, const cli_page *page)
{
    reeve_crash_info *list;
    size_t count, shown;
    int status = CLI_DONE;

    reeve_status result = reeve_crashes(cli->client, &list, &count);
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    if (!cli->json && count == 0) (void)fprintf(stderr, "no supervised worker has crashed\n");
    shown = count;
    size_t from = cli_page_cut(cli, page, "crashes", &shown);
    for (size_t i = 0; i < shown && status == CLI_DONE; i++) {
        if (!cli->json && i > 0) (void)fputc('\n', stdout);
        if (cli->json)
            cli_crash_json(&list[from + i], stdout);
        else if (!print_crash(&list[from + i]))
            status = cli_no_memory(cli);
    }
    reeve_crashes_free(list, count);
    return status;
}
