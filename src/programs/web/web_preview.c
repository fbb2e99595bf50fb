#include "web_preview.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"
#include "web.h"
#include "web_asked.h"

#define RUNNING_MAX 4
#define RUNNING_EACH 2 /* of a client */
#define WAIT_MS 10000  /* for a turn */
#define PAGE_SHOWN 32  /* bytes of the name of a page */
#define CLIENT_SIZE (WEB_NAME_SIZE + PAGE_SHOWN + 1)

/* A preview that runs, or waits for its turn. On the stack of its call, under the lock. */
typedef struct turn {
    struct turn *next;
    struct web_previews *previews;
    char client[CLIENT_SIZE];
    bool runs;
    bool gone; /* its client has closed the connection */
    reeve_client *counts_with;
} turn;

struct web_previews {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    turn *list; /* in the order in which they came */
};

struct web_previews *web_previews_open(void)
{
    struct web_previews *previews = rv_zalloc(sizeof(*previews));
    pthread_condattr_t monotonic;

    if (previews == NULL) return NULL;
    rv_lock_init(&previews->lock);
    rv_lock_check(pthread_condattr_init(&monotonic));
    rv_lock_check(pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC));
    rv_lock_check(pthread_cond_init(&previews->changed, &monotonic));
    (void)pthread_condattr_destroy(&monotonic);
    return previews;
}

void web_previews_close(struct web_previews *previews)
{
    if (previews == NULL) return;
    (void)pthread_cond_destroy(&previews->changed);
    rv_lock_fini(&previews->lock);
    rv_free(previews);
}

/* ---- turns ----------------------------------------------------------------------------------------------------- */

/* Without authentication, all clients are on this machine, and most have its address: pages of the dashboard name
 * themselves. A client that invents names gets more turns, but never all time: there is a maximum for all. */
static void name_client(const web_call *call, char ret[CLIENT_SIZE])
{
    const char *page = rv_http_server_header(call->http, "X-Reeve-Page");

    if (call->web->authenticates)
        (void)snprintf(ret, CLIENT_SIZE, "%s", call->who.name);
    else
        (void)snprintf(ret, CLIENT_SIZE, "%s %.*s", call->http->peer, PAGE_SHOWN, page == NULL ? "" : page);
}

/* The lock is held. */
static bool may_run(const struct web_previews *previews, const turn *of)
{
    unsigned all = 0, same = 0;

    for (const turn *at = previews->list; at != NULL; at = at->next) {
        all += at->runs;
        same += at->runs && strcmp(at->client, of->client) == 0;
    }
    return all < RUNNING_MAX && same < RUNNING_EACH;
}

/* Lets those run that may, in the order in which they came. The lock is held. */
static void give_turns(struct web_previews *previews)
{
    for (turn *at = previews->list; at != NULL; at = at->next)
        if (!at->runs && may_run(previews, at)) at->runs = true;
    (void)pthread_cond_broadcast(&previews->changed);
}

/* For the list's end. True: it runs now. */
static bool begin_turn(turn *of)
{
    struct web_previews *previews = of->previews;
    int64_t deadline = rv_deadline(WAIT_MS);
    struct timespec at = {.tv_sec = deadline / 1000, .tv_nsec = deadline % 1000 * 1000000};
    turn **end = &previews->list;

    rv_lock(&previews->lock);
    while (*end != NULL) end = &(*end)->next;
    *end = of;
    give_turns(previews);
    while (!of->runs && !of->gone && rv_now_ms() < deadline)
        (void)pthread_cond_timedwait(&previews->changed, &previews->lock, &at);
    bool runs = of->runs && !of->gone;
    rv_unlock(&previews->lock);
    return runs;
}

static void end_turn(turn *of)
{
    struct web_previews *previews = of->previews;
    turn **at = &previews->list;

    rv_lock(&previews->lock);
    while (*at != of) at = &(*at)->next;
    *at = of->next;
    give_turns(previews);
    rv_unlock(&previews->lock);
}

/* ---- counting -------------------------------------------------------------------------------------------------- */

static void note_gone(void *user)
{
    turn *of = user;

    rv_lock(&of->previews->lock);
    of->gone = true;
    (void)pthread_cond_broadcast(&of->previews->changed);
    rv_unlock(&of->previews->lock);
    reeve_client_interrupt(of->counts_with);
}

static void count(web_call *call, const web_asked *asked)
{
    const reeve_filter filter = cli_filter_in(&asked->filter->filter, asked->state);
    reeve_bulk_result counted;
    cli_json json;
    reeve_status status =
        reeve_bulk_update_preview(call->client, call->params.value[0], asked->action, &filter, &counted, NULL, NULL);

    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return;
    }
    cli_json_begin(&json, call->out);
    cli_json_uint(&json, "count", counted.done);
    cli_json_uint(&json, "seen", counted.seen);
    cli_json_end(&json);
}

void web_run_preview(web_call *call)
{
    web_asked asked = {0};
    turn own = {.previews = call->web->previews, .counts_with = call->client};

    if (web_asked_read(call, &asked)) {
        name_client(call, own.client);
        rv_http_server_watch(call->http, note_gone, &own);
        if (begin_turn(&own)) {
            count(call, &asked);
        } else {
            call->http->retry_after = 1;
            web_refuse(call, 503, "busy", "other tasks are being counted; try again in a moment");
        }
        (void)rv_http_server_unwatch(call->http);
        end_turn(&own);
    }
    web_asked_free(&asked);
}
