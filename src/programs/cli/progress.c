#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

#define SHOW_MS 100
#define BAR 20

void cli_progress_init(cli_progress *progress, const cli_context *cli)
{
    *progress = (cli_progress){.shows = !cli->json && isatty(STDERR_FILENO) == 1};
}

void cli_progress_bar(FILE *out, uint64_t done, uint64_t total)
{
    static const char full[] = "####################", empty[] = "--------------------";
    double part = done < total ? (double)done / (double)total : 1;
    int length = (int)(part * BAR);

    (void)fprintf(out, "[%.*s%.*s] %3d %%  ", length, full, BAR - length, empty, (int)(part * 100));
}

bool cli_progress_begin(cli_progress *progress, uint64_t done, uint64_t total)
{
    int64_t now = progress->shows ? rv_now_ms() : 0;

    if (!progress->shows || (progress->shown_ms != 0 && now - progress->shown_ms < SHOW_MS)) return false;
    cli_progress_clear(progress);
    progress->shown_ms = now;
    progress->stands = true;
    if (total > 0) cli_progress_bar(stderr, done, total);
    return true;
}

void cli_progress_end(cli_progress *progress)
{
    (void)progress;
    (void)fputs(" ...", stderr);
}

void cli_progress_clear(cli_progress *progress)
{
    if (progress->stands) (void)fputs("\r\033[K", stderr);
    progress->stands = false;
}

const char *cli_count_text(uint64_t number, char ret[CLI_COUNT_TEXT])
{
    char digits[CLI_COUNT_TEXT];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);
    char *at = ret;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) *at++ = ',';
        *at++ = digits[i];
    }
    *at = '\0';
    return ret;
}
