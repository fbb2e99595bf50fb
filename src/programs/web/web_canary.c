#include "web_canary.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "protocol/canary.h"
#include "web_clients.h"

#define LOOK_MS 1000 /* between two looks at a task that is under way */

/* A watched queue; guarded by the lock, but for its name. */
typedef struct watched {
    char queue[REEVE_QUEUE_MAX + 1];
    bool under_way;
    int64_t sent_at, next_at; /* monotonic */
    double seconds;           /* of the last one; negative: none has ended yet */
} watched;

struct web_canary {
    web_server *web;
    int64_t interval_ms;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool started, stopping;
    size_t count;
    watched list[];
};

/* The next name of a list. Returns the rest behind it, NULL at the end. *ret_length: 0 for an empty name. */
static const char *next_name(const char *list, const char **ret_name, size_t *ret_length)
{
    list += strspn(list, " ");
    size_t whole = strcspn(list, ",");
    *ret_name = list;
    *ret_length = whole;
    while (*ret_length > 0 && list[*ret_length - 1] == ' ') --*ret_length;
    return list[whole] == ',' ? list + whole + 1 : NULL;
}

bool web_canary_is_list(const char *text)
{
    const char *name, *rest = text;
    size_t length, count = 0;

    do {
        rest = next_name(rest, &name, &length);
        if (!rv_valid_queue(name, length) || ++count > WEB_CANARY_QUEUES_MAX) return false;
    } while (rest != NULL);
    return true;
}

/* ---- one queue ------------------------------------------------------------------------------------------------- */

static void set_ended(struct web_canary *canary, watched *of, double seconds)
{
    rv_lock(&canary->lock);
    of->under_way = false;
    of->seconds = seconds;
    rv_unlock(&canary->lock);
}

/* The record goes: it would stand among those of real tasks. */
static void end(struct web_canary *canary, watched *of, reeve_client *client, double seconds)
{
    set_ended(canary, of, seconds);
    (void)reeve_delete(client, of->queue, RV_CANARY_ID);
}

static void end_badly(struct web_canary *canary, watched *of, reeve_client *client, const reeve_task_info *info)
{
    rv_log(REEVE_LOG_WARN, "web.canary", "the task that measures a queue did not complete", "queue", of->queue, "error",
           info->error_message != NULL ? info->error_message : "it was cancelled", NULL);
    end(canary, of, client, -1);
}

static void look(struct web_canary *canary, watched *of, reeve_client *client)
{
    reeve_task_info *info = NULL;
    reeve_status status = reeve_show(client, of->queue, RV_CANARY_ID, &info);

    if (status == REEVE_ENOTFOUND) /* the queue keeps no records */
        set_ended(canary, of, (double)(rv_now_ms() - of->sent_at) / 1000);
    if (status != REEVE_OK) return;
    if (info->state == REEVE_STATE_COMPLETED)
        end(canary, of, client, (double)(info->ended_ms - info->enqueued_ms) / 1000);
    else if (info->state == REEVE_STATE_DEAD || info->state == REEVE_STATE_CANCELLED)
        end_badly(canary, of, client, info);
    reeve_task_info_free(info);
}

/* One that was under way already is this one: its age counts from its own enqueue. */
static int64_t age_of_known(const watched *of, reeve_client *client)
{
    reeve_task_info *info = NULL;
    int64_t age = 0;

    if (reeve_show(client, of->queue, RV_CANARY_ID, &info) != REEVE_OK) return 0;
    if (info->ended_ms <= 0) age = rv_wall_ms() - info->enqueued_ms;
    reeve_task_info_free(info);
    return age > 0 ? age : 0;
}

static void send(struct web_canary *canary, watched *of, reeve_client *client)
{
    const reeve_task_spec spec = {
        .size = sizeof(spec), .queue = of->queue, .type = RV_CANARY_TYPE, .id = RV_CANARY_ID, .attempts = 1};
    reeve_status status = reeve_enqueue(client, &spec, NULL);
    int64_t age = status == REEVE_EEXISTS ? age_of_known(of, client) : 0;

    if (status != REEVE_OK && status != REEVE_EEXISTS) return;
    rv_lock(&canary->lock);
    of->under_way = true;
    of->sent_at = rv_now_ms() - age;
    rv_unlock(&canary->lock);
}

static void tend(struct web_canary *canary, watched *of, reeve_client *client)
{
    int64_t now = rv_now_ms();

    if (of->under_way)
        look(canary, of, client);
    else
        send(canary, of, client);
    of->next_at = now + (of->under_way ? LOOK_MS : canary->interval_ms);
    if (of->under_way && now - of->sent_at > canary->interval_ms) of->next_at = now + canary->interval_ms / 4 + 1;
}

/* ---- the thread ------------------------------------------------------------------------------------------------ */

/* Sees to the queues whose time has come; when the next one's comes. */
static int64_t tend_due(struct web_canary *canary)
{
    int64_t next = RV_FOREVER;
    char words[256];
    reeve_status status;
    reeve_client *client = web_clients_take(canary->web->clients, &status, words, sizeof(words));

    if (client == NULL) return rv_deadline(LOOK_MS);
    for (size_t i = 0; i < canary->count; i++) {
        watched *of = &canary->list[i];
        if (of->next_at <= rv_now_ms()) tend(canary, of, client);
        if (of->next_at < next) next = of->next_at;
    }
    web_clients_give(canary->web->clients, client);
    return next;
}

static void *run(void *user)
{
    struct web_canary *canary = user;

    rv_lock(&canary->lock);
    while (!canary->stopping) {
        rv_unlock(&canary->lock);
        int64_t next = tend_due(canary);
        rv_lock(&canary->lock);
        struct timespec at = {.tv_sec = next / 1000, .tv_nsec = next % 1000 * 1000000};
        if (!canary->stopping) (void)pthread_cond_timedwait(&canary->changed, &canary->lock, &at);
    }
    rv_unlock(&canary->lock);
    return NULL;
}

static void add_names(struct web_canary *canary, const char *queues)
{
    const char *name, *rest = queues;
    size_t length;

    do {
        rest = next_name(rest, &name, &length);
        watched *of = &canary->list[canary->count++];
        (void)snprintf(of->queue, sizeof(of->queue), "%.*s", (int)length, name);
        of->seconds = -1;
    } while (rest != NULL);
}

struct web_canary *web_canary_open(web_server *web, const char *queues, int64_t interval_ms)
{
    size_t size = sizeof(struct web_canary) + WEB_CANARY_QUEUES_MAX * sizeof(watched);
    struct web_canary *canary = rv_zalloc(size);
    pthread_condattr_t monotonic;

    if (canary == NULL) return NULL;
    canary->web = web;
    canary->interval_ms = interval_ms;
    add_names(canary, queues);
    rv_lock_init(&canary->lock);
    rv_lock_check(pthread_condattr_init(&monotonic));
    rv_lock_check(pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC));
    rv_lock_check(pthread_cond_init(&canary->changed, &monotonic));
    (void)pthread_condattr_destroy(&monotonic);
    canary->started = pthread_create(&canary->thread, NULL, run, canary) == 0;
    if (canary->started) return canary;
    web_canary_close(canary);
    return NULL;
}

void web_canary_close(struct web_canary *canary)
{
    if (canary == NULL) return;
    rv_lock(&canary->lock);
    canary->stopping = true;
    (void)pthread_cond_signal(&canary->changed);
    rv_unlock(&canary->lock);
    if (canary->started) (void)pthread_join(canary->thread, NULL);
    (void)pthread_cond_destroy(&canary->changed);
    rv_lock_fini(&canary->lock);
    rv_free(canary);
}

void web_canary_each(struct web_canary *canary, void (*each)(void *user, const char *queue, double seconds), void *user)
{
    rv_lock(&canary->lock);
    for (size_t i = 0; i < canary->count; i++) {
        const watched *of = &canary->list[i];
        double age = of->under_way ? (double)(rv_now_ms() - of->sent_at) / 1000 : -1;
        each(user, of->queue, age > of->seconds ? age : of->seconds);
    }
    rv_unlock(&canary->lock);
}
