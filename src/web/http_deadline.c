#include "http_deadline.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"
#include "mhd.h"

#define SLACK_MS 100

typedef struct waiting {
    struct MHD_Connection *connection;
    int fd;
    int64_t at; /* RV_FOREVER: its request is complete */
    struct waiting *next;
} waiting;

struct rv_http_deadline {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    int64_t limit_ms;
    waiting *list;
    bool closing;
};

static waiting *find(const rv_http_deadline *deadline, const struct MHD_Connection *connection)
{
    waiting *one = deadline->list;

    while (one != NULL && one->connection != connection) one = one->next;
    return one;
}

static waiting *add(rv_http_deadline *deadline, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = rv_mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    waiting *one = info == NULL ? NULL : rv_zalloc(sizeof(*one));

    if (one == NULL) return NULL;
    one->connection = connection;
    one->fd = info->connect_fd;
    one->next = deadline->list;
    deadline->list = one;
    return one;
}

void rv_http_deadline_begin(rv_http_deadline *deadline, struct MHD_Connection *connection)
{
    rv_lock(&deadline->lock);
    waiting *one = find(deadline, connection);
    if (one == NULL) one = add(deadline, connection);
    if (one != NULL) one->at = rv_deadline(deadline->limit_ms);
    (void)pthread_cond_signal(&deadline->changed);
    rv_unlock(&deadline->lock);
}

void rv_http_deadline_met(rv_http_deadline *deadline, struct MHD_Connection *connection)
{
    rv_lock(&deadline->lock);
    waiting *one = find(deadline, connection);
    if (one != NULL) one->at = RV_FOREVER;
    rv_unlock(&deadline->lock);
}

void rv_http_deadline_end(rv_http_deadline *deadline, struct MHD_Connection *connection)
{
    rv_lock(&deadline->lock);
    for (waiting **at = &deadline->list; *at != NULL; at = &(*at)->next) {
        if ((*at)->connection != connection) continue;
        waiting *gone = *at;
        *at = gone->next;
        rv_free(gone);
        break;
    }
    rv_unlock(&deadline->lock);
}

void rv_http_deadline_cut(rv_http_deadline *deadline)
{
    rv_lock(&deadline->lock);
    for (waiting *one = deadline->list; one != NULL; one = one->next) (void)shutdown(one->fd, SHUT_RDWR);
    rv_unlock(&deadline->lock);
}

/* Cuts those off whose time has come; the earliest of the others. The lock is held, so that no descriptor is closed and
 * used again meanwhile: rv_http_deadline_end comes before that. */
static int64_t look(rv_http_deadline *deadline)
{
    int64_t now = rv_now_ms(), next = RV_FOREVER;

    for (waiting *one = deadline->list; one != NULL; one = one->next) {
        if (one->at <= now) {
            (void)shutdown(one->fd, SHUT_RDWR);
            one->at = RV_FOREVER;
        } else if (one->at < next) {
            next = one->at;
        }
    }
    return next;
}

static void *run(void *user)
{
    rv_http_deadline *deadline = user;

    rv_lock(&deadline->lock);
    while (!deadline->closing) {
        int64_t next = look(deadline);
        if (next == RV_FOREVER) {
            (void)pthread_cond_wait(&deadline->changed, &deadline->lock);
            continue;
        }
        int64_t until = next + SLACK_MS;
        struct timespec at = {.tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000};
        (void)pthread_cond_timedwait(&deadline->changed, &deadline->lock, &at);
    }
    rv_unlock(&deadline->lock);
    return NULL;
}

rv_http_deadline *rv_http_deadline_open(unsigned seconds)
{
    rv_http_deadline *deadline = rv_zalloc(sizeof(*deadline));
    pthread_condattr_t monotonic;

    if (deadline == NULL) return NULL;
    deadline->limit_ms = (int64_t)seconds * 1000;
    rv_lock_init(&deadline->lock);
    rv_lock_check(pthread_condattr_init(&monotonic));
    rv_lock_check(pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC));
    rv_lock_check(pthread_cond_init(&deadline->changed, &monotonic));
    (void)pthread_condattr_destroy(&monotonic);
    if (pthread_create(&deadline->thread, NULL, run, deadline) == 0) return deadline;
    (void)pthread_cond_destroy(&deadline->changed);
    rv_lock_fini(&deadline->lock);
    rv_free(deadline);
    return NULL;
}

void rv_http_deadline_close(rv_http_deadline *deadline)
{
    if (deadline == NULL) return;
    rv_lock(&deadline->lock);
    deadline->closing = true;
    (void)pthread_cond_signal(&deadline->changed);
    rv_unlock(&deadline->lock);
    (void)pthread_join(deadline->thread, NULL);
    while (deadline->list != NULL) {
        waiting *gone = deadline->list;
        deadline->list = gone->next;
        rv_free(gone);
    }
    (void)pthread_cond_destroy(&deadline->changed);
    rv_lock_fini(&deadline->lock);
    rv_free(deadline);
}
