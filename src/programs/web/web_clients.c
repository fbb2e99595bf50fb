#include "web_clients.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"

#define IDLE_MAX 8
#define SHORT_MAX 16
#define WAITING_MAX 128
#define WAITING_EACH (WAITING_MAX / 2) /* of a user */
#define WAIT_S 5
#define CALL_MS 5000

/* A call that may wait. */
typedef struct waiting {
    bool used;
    char user[WEB_NAME_SIZE]; /* "": nobody in particular */
    reeve_client *client;     /* NULL: it is being opened */
} waiting;

struct web_clients {
    const web_server *web;
    pthread_mutex_t lock;
    pthread_cond_t given;
    reeve_client *idle[IDLE_MAX];
    size_t idle_count;
    unsigned used; /* for short calls */
    waiting waiting[WAITING_MAX];
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

/* Waits for a place of a short call. False: there is none. */
static bool reserve(struct web_clients *clients)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    while (!clients->stopping && clients->used >= SHORT_MAX)
        if (pthread_cond_timedwait(&clients->given, &clients->lock, &until) != 0) return false;
    if (clients->stopping) return false;
    clients->used++;
    clients->calls++;
    return true;
}

/* A place of a call that may wait, at once; NULL: there is none, or the user has too many. */
static waiting *reserve_waiting(struct web_clients *clients, const char *user)
{
    waiting *place = NULL;
    unsigned same = 0;

    for (size_t i = 0; i < WAITING_MAX; i++) {
        waiting *at = &clients->waiting[i];
        if (!at->used) place = at;
        same += at->used && user[0] != '\0' && strcmp(at->user, user) == 0;
    }
    if (place == NULL || same >= WAITING_EACH || clients->stopping) return NULL;
    *place = (waiting){.used = true};
    (void)snprintf(place->user, sizeof(place->user), "%s", user);
    clients->calls++;
    return place;
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

static const char busy[] = "too many requests at a time";

reeve_client *web_clients_take(struct web_clients *clients, reeve_status *ret_status, char *ret_words, size_t size)
{
    reeve_client *client = NULL;

    *ret_status = REEVE_ETIMEOUT;
    (void)snprintf(ret_words, size, "%s", busy);
    rv_lock(&clients->lock);
    bool reserved = reserve(clients);
    if (reserved && clients->idle_count > 0) client = clients->idle[--clients->idle_count];
    rv_unlock(&clients->lock);
    if (!reserved || client != NULL) return client;
    *ret_status = open_one(clients, &client, ret_words, size);
    if (client != NULL) return client;
    rv_lock(&clients->lock);
    clients->used--;
    (void)pthread_cond_signal(&clients->given);
    rv_unlock(&clients->lock);
    return NULL;
}

reeve_client *web_clients_take_waiting(struct web_clients *clients, const char *user, reeve_status *ret_status,
                                       char *ret_words, size_t size)
{
    reeve_client *client = NULL;

    *ret_status = REEVE_ETIMEOUT;
    (void)snprintf(ret_words, size, "%s", busy);
    rv_lock(&clients->lock);
    waiting *place = reserve_waiting(clients, user == NULL ? "" : user);
    rv_unlock(&clients->lock);
    if (place == NULL) return NULL;
    *ret_status = open_one(clients, &client, ret_words, size);
    rv_lock(&clients->lock);
    place->client = client;
    place->used = client != NULL;
    if (client != NULL && clients->stopping) reeve_client_interrupt(client);
    rv_unlock(&clients->lock);
    return client;
}

/* False: it is the client of a short call. */
static bool leave_waiting(struct web_clients *clients, const reeve_client *client)
{
    for (size_t i = 0; i < WAITING_MAX; i++) {
        if (clients->waiting[i].client != client) continue;
        clients->waiting[i] = (waiting){.used = false};
        return true;
    }
    return false;
}

void web_clients_give(struct web_clients *clients, reeve_client *client)
{
    bool keeps = false;

    rv_lock(&clients->lock);
    if (!leave_waiting(clients, client)) {
        keeps = clients->idle_count < IDLE_MAX;
        if (keeps) clients->idle[clients->idle_count++] = client;
        clients->used--;
        (void)pthread_cond_signal(&clients->given);
    }
    rv_unlock(&clients->lock);
    if (!keeps) reeve_client_close(client);
}

void web_clients_interrupt(struct web_clients *clients)
{
    rv_lock(&clients->lock);
    clients->stopping = true;
    for (size_t i = 0; i < WAITING_MAX; i++)
        if (clients->waiting[i].client != NULL) reeve_client_interrupt(clients->waiting[i].client);
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
