#include "version_view.h"

#include <stdio.h>

#include "cli/json.h"

void cli_print_version(const cli_context *cli)
{
    cli_json json;

    if (!cli->json) {
        (void)printf("reeve %s\n", reeve_version());
        return;
    }
    cli_json_begin(&json, stdout);
    cli_json_text(&json, "version", reeve_version());
    cli_json_end(&json);
}
