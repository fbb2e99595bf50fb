#include "maintain.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "when.h"

#define QUEUES_MAX 64

/* Whether this queue is to be looked at: it is the first time, and there is room to remember it. */
static bool is_new(const char *queue)
{
    static char seen[QUEUES_MAX][REEVE_QUEUE_MAX + 1];
    static size_t count;

    for (size_t i = 0; i < count; i++)
        if (strcmp(seen[i], queue) == 0) return false;
    if (count == QUEUES_MAX) return false;
    rv_copy_text(seen[count++], sizeof(seen[0]), queue);
    return true;
}

static void add_count(rv_buf *words, uint64_t count, const char *what)
{
    if (count > 0) rv_buf_addf(words, "%s%" PRIu64 " %s", words->length > 0 ? ", " : "", count, what);
}

static void say(const cli_context *cli, const char *queue, const reeve_maintained *done)
{
    char ago[CLI_WHEN_TEXT] = "";
    rv_buf words;

    rv_buf_init(&words, 512);
    add_count(&words, done->recovered, "tasks of dead workers went back to it");
    add_count(&words, done->promoted, "scheduled tasks became ready");
    add_count(&words, done->trimmed, "old records went");
    bool silent = words.length == 0 && !done->more; /* nothing that changed what a user sees */
    if (done->since_ms > 0) cli_span_text(rv_wall_ms() - done->since_ms, ago);
    if (!silent)
        cli_note(cli, "no worker has maintained queue %s%s%s: this command did%s%s%s", queue,
                 ago[0] != '\0' ? " for " : "", ago, words.length > 0 ? "; " : "",
                 words.failed ? "" : rv_buf_text(&words), done->more ? "; there is more to do" : "");
    rv_buf_fini(&words);
}

bool cli_maintain(const cli_context *cli, const char *queue)
{
    reeve_maintained done;

    if (!is_new(queue)) return false;
    if (reeve_maintain(cli->client, queue, &done) != REEVE_OK || !done.needed) return false;
    say(cli, queue, &done);
    return true;
}

int cli_open_queue(cli_context *cli, const char *queue)
{
    int status = cli_open(cli);

    if (status == CLI_DONE) cli_maintain(cli, queue);
    return status;
}
