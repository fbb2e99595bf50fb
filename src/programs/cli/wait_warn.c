#include "wait_warn.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "why_view.h"

#define LATEST_MS 1000

struct cli_wait_warn {
    const cli_context *cli;
    cli_handle handle;
    int64_t delay_ms;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool over; /* under the lock */
};

/* What does not pass by itself, or only when somebody does something. */
static bool is_worth_saying(reeve_reason_kind kind)
{
    return kind == REEVE_REASON_UNSERVED || kind == REEVE_REASON_QUIET || kind == REEVE_REASON_NO_HANDLER ||
           kind == REEVE_REASON_PAUSED || kind == REEVE_REASON_PAUSED_FOR;
}

static void say(const cli_context *cli, const reeve_why *why)
{
    for (size_t i = 0; i < why->count; i++) {
        rv_buf words;

        if (!is_worth_saying(why->reasons[i].kind)) continue;
        rv_buf_init(&words, 4096);
        cli_reason_words(&words, why, &why->reasons[i]);
        cli_note(cli, "%s/%s cannot run yet: %s", why->queue, why->id, words.failed ? "" : rv_buf_text(&words));
        rv_buf_fini(&words);
        return;
    }
}

static void look(const cli_wait_warn *warn)
{
    reeve_client_options options = {
        .size = sizeof(options), .redis = warn->cli->redis, .ns = warn->cli->ns, .name = "reeve-cli"};
    reeve_client *client = NULL;
    reeve_why *why = NULL;

    if (reeve_client_open(&client, &options) != REEVE_OK) return;
    if (reeve_task_why(client, warn->handle.queue, warn->handle.id, &why) == REEVE_OK) say(warn->cli, why);
    reeve_why_free(why);
    reeve_client_close(client);
}

static void *warn_main(void *argument)
{
    cli_wait_warn *warn = argument;
    struct timespec until;
    bool over;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(warn->delay_ms % 1000) * 1000000;
    until.tv_sec += (time_t)(warn->delay_ms / 1000) + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&warn->lock);
    while (!warn->over && pthread_cond_timedwait(&warn->ended, &warn->lock, &until) == 0) continue;
    over = warn->over;
    (void)pthread_mutex_unlock(&warn->lock);
    if (!over) look(warn);
    return NULL;
}

cli_wait_warn *cli_wait_warn_start(const cli_context *cli, const cli_handle *handle, int64_t timeout_ms)
{
    cli_wait_warn *warn = cli->json ? NULL : rv_zalloc(sizeof(*warn));

    if (warn == NULL) return NULL;
    warn->cli = cli;
    warn->handle = *handle;
    warn->delay_ms = timeout_ms < 0 || timeout_ms / 2 > LATEST_MS ? LATEST_MS : timeout_ms / 2;
    (void)pthread_mutex_init(&warn->lock, NULL);
    (void)pthread_cond_init(&warn->ended, NULL);
    if (pthread_create(&warn->thread, NULL, warn_main, warn) == 0) return warn;
    (void)pthread_mutex_destroy(&warn->lock);
    (void)pthread_cond_destroy(&warn->ended);
    rv_free(warn);
    return NULL;
}

void cli_wait_warn_stop(cli_wait_warn *warn)
{
    if (warn == NULL) return;
    (void)pthread_mutex_lock(&warn->lock);
    warn->over = true;
    (void)pthread_cond_signal(&warn->ended);
    (void)pthread_mutex_unlock(&warn->lock);
    (void)pthread_join(warn->thread, NULL);
    (void)pthread_mutex_destroy(&warn->lock);
    (void)pthread_cond_destroy(&warn->ended);
    rv_free(warn);
}
