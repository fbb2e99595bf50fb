#include "http_gone.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/mem.h"

#define EVENTS 16
#define END 0 /* the number of the descriptor that ends the thread */

struct rv_http_gone {
    pthread_mutex_t lock;
    pthread_t thread;
    int epoll, end;
    uint64_t number; /* of the last watch */
    rv_http_gone_watch *list;
};

/* Numbers are not used again: an event that comes late is for nobody. */
static void tell(rv_http_gone *gone, uint64_t number)
{
    rv_http_gone_watch *watch = gone->list;

    while (watch != NULL && watch->number != number) watch = watch->next;
    if (watch == NULL || watch->told) return;
    watch->told = true;
    watch->gone(watch->user);
}

static void *run(void *user)
{
    rv_http_gone *gone = user;
    struct epoll_event events[EVENTS];

    for (;;) {
        int count = epoll_wait(gone->epoll, events, EVENTS, -1);
        rv_lock(&gone->lock);
        for (int i = 0; i < count; i++) {
            if (events[i].data.u64 == END) {
                rv_unlock(&gone->lock);
                return NULL;
            }
            tell(gone, events[i].data.u64);
        }
        rv_unlock(&gone->lock);
    }
}

static bool start(rv_http_gone *gone)
{
    struct epoll_event end = {.events = EPOLLIN, .data = {.u64 = END}};

    gone->epoll = epoll_create1(EPOLL_CLOEXEC);
    gone->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return gone->epoll >= 0 && gone->end >= 0 && epoll_ctl(gone->epoll, EPOLL_CTL_ADD, gone->end, &end) == 0 &&
           pthread_create(&gone->thread, NULL, run, gone) == 0;
}

static void free_all(rv_http_gone *gone)
{
    if (gone->epoll >= 0) (void)close(gone->epoll);
    if (gone->end >= 0) (void)close(gone->end);
    rv_lock_fini(&gone->lock);
    rv_free(gone);
}

rv_http_gone *rv_http_gone_open(void)
{
    rv_http_gone *gone = rv_zalloc(sizeof(*gone));

    if (gone == NULL) return NULL;
    gone->epoll = gone->end = -1;
    rv_lock_init(&gone->lock);
    if (start(gone)) return gone;
    free_all(gone);
    return NULL;
}

void rv_http_gone_close(rv_http_gone *gone)
{
    if (gone == NULL) return;
    (void)eventfd_write(gone->end, 1);
    (void)pthread_join(gone->thread, NULL);
    free_all(gone);
}

void rv_http_gone_add(rv_http_gone *gone, rv_http_gone_watch *watch)
{
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLONESHOT};

    rv_lock(&gone->lock);
    event.data.u64 = watch->number = ++gone->number;
    watch->told = false;
    watch->next = gone->list;
    gone->list = watch;
    rv_unlock(&gone->lock);
    (void)epoll_ctl(gone->epoll, EPOLL_CTL_ADD, watch->fd, &event);
}

bool rv_http_gone_remove(rv_http_gone *gone, rv_http_gone_watch *watch)
{
    (void)epoll_ctl(gone->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    rv_lock(&gone->lock);
    rv_http_gone_watch **at = &gone->list;
    while (*at != watch) at = &(*at)->next;
    *at = watch->next;
    rv_unlock(&gone->lock);
    return watch->told;
}
