#include "web_clients.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"

#define IDLE_MAX 8
#define SHORT_MAX 16
#define LONG_MAX 64
#define WAIT_S 5
#define CALL_MS 5000

struct web_clients {
    const web_server *web;
    pthread_mutex_t lock;
    pthread_cond_t given;
    reeve_client *idle[IDLE_MAX];
    size_t idle_count;
    unsigned used[2];                /* short, long */
    reeve_client *waiting[LONG_MAX]; /* those of calls that may wait */
    bool stopping;
    uint64_t calls;
};

struct web_clients *web_clients_open(const web_server *web)
{
    struct web_clients *clients = rv_zalloc(sizeof(*clients));

    if (clients == NULL) return NULL;
    clients->web = web;
    rv_lock_init(&clients->lock);
    rv_lock_check(pthread_cond_init(&clients->given, NULL));
    return clients;
}

void web_clients_close(struct web_clients *clients)
{
    if (clients == NULL) return;
    while (clients->idle_count > 0) reeve_client_close(clients->idle[--clients->idle_count]);
    (void)pthread_cond_destroy(&clients->given);
    rv_lock_fini(&clients->lock);
    rv_free(clients);
}

/* Waits for a place. False: there is none. */
static bool reserve(struct web_clients *clients, bool waits)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    while (!clients->stopping && clients->used[waits] >= (waits ? LONG_MAX : SHORT_MAX)) {
        if (waits || pthread_cond_timedwait(&clients->given, &clients->lock, &until) != 0) return false;
    }
    if (clients->stopping) return false;
    clients->used[waits]++;
    clients->calls++;
    return true;
}

static reeve_status open_one(const struct web_clients *clients, reeve_client **ret, char *ret_words, size_t size)
{
    const web_options *options = &clients->web->options;
    reeve_client_options own = {.size = sizeof(own),
                                .redis = options->redis,
                                .ns = options->ns,
                                .tls = options->tls,
                                .timeout_ms = CALL_MS,
                                .name = "reeve-web",
                                .size_limits = options->size_limits};

    return reeve_client_open_with_error(ret, &own, ret_words, size);
}

/* Lists a client whose calls are interrupted when the server stops. */
static void list_waiting(struct web_clients *clients, reeve_client *old, reeve_client *new)
{
    for (size_t i = 0; i < LONG_MAX; i++) {
        if (clients->waiting[i] != old) continue;
        clients->waiting[i] = new;
        break;
    }
    if (new != NULL && clients->stopping) reeve_client_interrupt(new);
}

static void release(struct web_clients *clients, bool waits)
{
    clients->used[waits]--;
    (void)pthread_cond_signal(&clients->given);
}

reeve_client *web_clients_take(struct web_clients *clients, bool waits, reeve_status *ret_status, char *ret_words,
                               size_t size)
{
    reeve_client *client = NULL;

    *ret_status = REEVE_ETIMEOUT;
    (void)snprintf(ret_words, size, "too many requests at a time");
    rv_lock(&clients->lock);
    bool reserved = reserve(clients, waits);
    if (reserved && clients->idle_count > 0) client = clients->idle[--clients->idle_count];
    rv_unlock(&clients->lock);
    if (!reserved) return NULL;
    if (client == NULL) *ret_status = open_one(clients, &client, ret_words, size);
    rv_lock(&clients->lock);
    if (client == NULL)
        release(clients, waits);
    else if (waits)
        list_waiting(clients, NULL, client);
    rv_unlock(&clients->lock);
    return client;
}

void web_clients_give(struct web_clients *clients, reeve_client *client, bool waits)
{
    bool keeps;

    rv_lock(&clients->lock);
    if (waits) list_waiting(clients, client, NULL);
    keeps = !waits && clients->idle_count < IDLE_MAX;
    if (keeps) clients->idle[clients->idle_count++] = client;
    release(clients, waits);
    rv_unlock(&clients->lock);
    if (!keeps) reeve_client_close(client);
}

void web_clients_interrupt(struct web_clients *clients)
{
    rv_lock(&clients->lock);
    clients->stopping = true;
    for (size_t i = 0; i < LONG_MAX; i++)
        if (clients->waiting[i] != NULL) reeve_client_interrupt(clients->waiting[i]);
    (void)pthread_cond_broadcast(&clients->given);
    rv_unlock(&clients->lock);
}

uint64_t web_clients_calls(struct web_clients *clients)
{
    rv_lock(&clients->lock);
    uint64_t calls = clients->calls;
    rv_unlock(&clients->lock);
    return calls;
}
