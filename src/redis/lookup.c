#include "redis/lookup.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

/* Many times what getaddrinfo needs with all modules of the name service. */
#define STACK_BYTES ((size_t)512 * 1024)

/* Held by who waits for it, by who uses its addresses, and by its thread: the last one frees it. */
struct rv_lookup {
    struct rv_lookup *next; /* while it is under way */
    unsigned users;
    pid_t process; /* after a fork, no thread continues the lookups of the parent */
    rv_waker done; /* stays rung: it wakes all */
    char *host;
    char port[16];
    int outcome;            /* of getaddrinfo, once done is rung */
    struct addrinfo *found; /* the same */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards under_way and each one's users */
static rv_lookup *under_way;

const struct addrinfo *rv_lookup_addresses(const rv_lookup *lookup)
{
    return lookup->found;
}

static void destroy(rv_lookup *lookup)
{
    if (lookup->found) freeaddrinfo(lookup->found);
    rv_waker_fini(&lookup->done);
    rv_free(lookup->host);
    rv_free(lookup);
}

void rv_lookup_release(rv_lookup *lookup)
{
    if (!lookup) return;
    (void)pthread_mutex_lock(&lock);
    bool last = --lookup->users == 0;
    (void)pthread_mutex_unlock(&lock);
    if (last) destroy(lookup);
}

static rv_lookup *create(const char *host, int port, rv_error *error)
{
    rv_lookup *lookup = rv_zalloc(sizeof(*lookup));
    if (lookup) lookup->host = rv_strdup(host);
    if (!lookup || !lookup->host) {
        rv_free(lookup);
        (void)rv_fail(error, REEVE_ENOMEM, "out of memory for looking up a host");
        return NULL;
    }
    lookup->users = 1;
    lookup->process = getpid();
    (void)snprintf(lookup->port, sizeof(lookup->port), "%d", port);
    if (rv_waker_init(&lookup->done, error) == REEVE_OK) return lookup;
    destroy(lookup);
    return NULL;
}

static void run(rv_lookup *lookup, int flags)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags};
    lookup->outcome = getaddrinfo(lookup->host, lookup->port, &hints, &lookup->found);
    if (lookup->outcome != 0) lookup->found = NULL;
}

/* ---- the thread ------------------------------------------------------------------------------------------------ */

static void take_out(rv_lookup *lookup)
{
    (void)pthread_mutex_lock(&lock);
    for (rv_lookup **at = &under_way; *at; at = &(*at)->next) {
        if (*at != lookup) continue;
        *at = lookup->next;
        break;
    }
    (void)pthread_mutex_unlock(&lock);
}

static void *look_up_main(void *argument)
{
    rv_lookup *lookup = argument;
    run(lookup, 0);
    take_out(lookup);
    rv_waker_ring(&lookup->done);
    rv_lookup_release(lookup);
    return NULL;
}

static bool start_thread(rv_lookup *lookup)
{
    pthread_t id;
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0) return false;
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&id, &attributes, look_up_main, lookup) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return started;
}

/* The one that is under way for this name, or lookup itself, which then is. */
static rv_lookup *join(rv_lookup *lookup)
{
    (void)pthread_mutex_lock(&lock);
    rv_lookup *at = under_way;
    while (at && (at->process != lookup->process || strcmp(at->host, lookup->host) != 0 ||
                  strcmp(at->port, lookup->port) != 0))
        at = at->next;
    if (at) {
        at->users++;
    } else {
        lookup->users++; /* the reference of the thread */
        lookup->next = under_way;
        under_way = lookup;
    }
    (void)pthread_mutex_unlock(&lock);
    return at ? at : lookup;
}

/* Without a thread it takes as long as it takes. */
static rv_lookup *begin(rv_lookup *lookup)
{
    rv_lookup *joined = join(lookup);
    if (joined != lookup) {
        rv_lookup_release(lookup);
    } else if (!start_thread(lookup)) {
        (void)look_up_main(lookup);
    }
    return joined;
}

/* ---- waiting --------------------------------------------------------------------------------------------------- */

/* The thread took the lock after it had written the outcome: taking it, too, makes that visible here. */
static reeve_status take_outcome(void)
{
    (void)pthread_mutex_lock(&lock);
    (void)pthread_mutex_unlock(&lock);
    return REEVE_OK;
}

static reeve_status await(const rv_lookup *lookup, int64_t deadline, const rv_waker *waker, const rv_waker *quit,
                          rv_error *error)
{
    struct pollfd fds[3] = {{.fd = lookup->done.fd, .events = POLLIN},
                            {.fd = quit ? quit->fd : -1, .events = POLLIN},
                            {.fd = waker ? waker->fd : -1, .events = POLLIN}};
    for (;;) {
        int ready = poll(fds, 3, rv_poll_timeout(deadline));
        if (ready > 0 && fds[0].revents) return take_outcome();
        if (ready > 0 && !fds[1].revents) return rv_fail(error, REEVE_EINTERRUPTED, "interrupted while connecting");
        if (ready > 0 || (ready == 0 && rv_now_ms() >= deadline))
            return rv_fail(error, REEVE_ECONNECT, "the host's name could not be looked up in time");
        if (ready < 0 && errno != EINTR) return rv_fail(error, REEVE_ECONNECT, "poll failed");
    }
}

reeve_status rv_lookup_host(rv_lookup **ret, const char *host, int port, int64_t deadline, const rv_waker *waker,
                            const rv_waker *quit, rv_error *error)
{
    rv_lookup *lookup = create(host, port, error);
    if (!lookup) return error ? error->status : REEVE_ENOMEM;
    reeve_status status = REEVE_OK;
    run(lookup, AI_NUMERICHOST);
    if (lookup->outcome == EAI_NONAME) {
        lookup = begin(lookup);
        status = await(lookup, deadline, waker, quit, error);
    }
    if (status == REEVE_OK && lookup->outcome != 0)
        status =
            rv_fail(error, REEVE_ECONNECT, "the host's name cannot be looked up: %s", gai_strerror(lookup->outcome));
    if (status == REEVE_OK) {
        *ret = lookup;
    } else {
        rv_lookup_release(lookup);
    }
    return status;
}
