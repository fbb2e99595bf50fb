#include "support/proxy.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/queue.h"

#define LINKS 32
/* The server has said all that it had to say: since it said something that was dropped; and if there was none, for
 * it may be busy and have said nothing yet. */
#define SILENCE_MS 60
#define LONG_SILENCE_MS 3000
#define CHUNK 65536

/* A connection to us and ours to the server. */
typedef struct proxy_link {
    int client; /* -1: unused */
    int server;
    bool losing;
    bool muted;
    bool kept_back;
    bool dropped; /* losing: something was not passed on */
    size_t pass;
    int64_t heard_ms; /* losing: when the server last said something */
    char tail[64];    /* the end of what the client said before, without its pings */
} proxy_link;

struct test_proxy {
    rv_test_redis *redis;
    char *dir;
    char url[300];
    int listener;
    rv_waker stop;
    pthread_t thread;
    proxy_link links[LINKS];
    int kept[LINKS]; /* the server's halves of muted connections that the client has closed */
    size_t kept_count;
    pthread_mutex_t lock; /* guards what follows */
    char mute[32];        /* "": no connection is to be muted */
    char mute_open[32];   /* the same, of what was said before */
    char keep_back[32];   /* what is said to a connection is to be kept back; "": nothing is */
    char slam[32];        /* "": no connection is closed for what it brings */
    char text[32];        /* "": nothing is to be lost */
    size_t pass;
    unsigned times;
    bool hold;          /* its end is kept back, in place of the replies being lost, */
    bool hold_and_lose; /* or besides */
    atomic_int held;    /* the server's side of that request's connection; -1: there is none */
    char end;           /* its last byte */
    atomic_uint lost;
    atomic_uint delay_ms;
    atomic_bool mutes;
    atomic_bool mute_all;
    atomic_bool keeps_back;
    atomic_bool passes; /* nothing is kept back any more */
    atomic_bool cuts;   /* what is muted is closed at the server's side */
};

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    rv_copy_text(address.sun_path, sizeof(address.sun_path), path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

static void accept_one(test_proxy *proxy)
{
    int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC);
    for (size_t i = 0; client >= 0 && i < LINKS; i++) {
        if (proxy->links[i].client >= 0) continue;
        char path[256];
        (void)snprintf(path, sizeof(path), "%s/redis.sock", test_redis_dir(proxy->redis));
        int server = connect_to(path);
        if (server < 0) break;
        proxy->links[i] = (proxy_link){.client = client, .server = server};
        return;
    }
    if (client >= 0) close(client);
}

/* Nobody tells the server that the client has closed a muted connection. */
static void keep_server(test_proxy *proxy, proxy_link *link)
{
    if (!link->muted || link->server < 0 || proxy->kept_count == LINKS) return;
    proxy->kept[proxy->kept_count++] = link->server;
    link->server = -1;
}

static void hang_up(proxy_link *link)
{
    close(link->client);
    if (link->server >= 0) close(link->server);
    link->client = link->server = -1;
}

static bool pass_on(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t put = send(fd, data, length, MSG_NOSIGNAL);
        if (put <= 0) return false;
        data += put;
        length -= (size_t)put;
    }
    return true;
}

/* From now on the client's side hears nothing, and the server's is the test's. */
static size_t keep_end(test_proxy *proxy, proxy_link *link, const char *data, size_t length)
{
    proxy->end = data[length - 1];
    (void)pass_on(link->server, data, length - 1);
    atomic_store(&proxy->held, link->server);
    link->server = -1;
    return 0;
}

/* A subscription pings by itself, at any moment: what it said before remains its last request. */
static bool is_ping(const char *data, size_t length)
{
    static const char ping[] = "*1\r\n$4\r\nPING\r\n";
    return length == sizeof(ping) - 1 && memcmp(data, ping, length) == 0;
}

/* Is this the request whose replies are to be lost? (Its text may have come in two pieces, but all of it before is no
 * request of now.) Returns how much of it goes on. */
static size_t look_for_text(test_proxy *proxy, proxy_link *link, const char *data, size_t length)
{
    char ends[128];
    size_t going = length;
    size_t kept = strlen(link->tail), more = length < 60 ? length : 60;
    memcpy(ends, link->tail, kept);
    memcpy(ends + kept, data, more);
    (void)pthread_mutex_lock(&proxy->lock);
    size_t wanted = strlen(proxy->text);
    size_t before = kept + 1 > wanted ? kept + 1 - wanted : 0; /* a piece that begins earlier ended before */
    if (wanted > 0 && (memmem(data, length, proxy->text, wanted) != NULL ||
                       memmem(ends + before, kept + more - before, proxy->text, wanted) != NULL)) {
        link->losing = !proxy->hold || proxy->hold_and_lose;
        link->dropped = proxy->hold;
        link->pass = proxy->pass;
        link->heard_ms = rv_now_ms();
        if (--proxy->times == 0) proxy->text[0] = '\0';
        if (proxy->hold) going = keep_end(proxy, link, data, length);
    }
    (void)pthread_mutex_unlock(&proxy->lock);
    if (is_ping(data, length)) return going;
    size_t keep = length < sizeof(link->tail) - 1 ? length : sizeof(link->tail) - 1;
    memcpy(link->tail, data + length - keep, keep);
    link->tail[keep] = '\0';
    return going;
}

static bool is_slammed(test_proxy *proxy, const char *data, size_t length)
{
    (void)pthread_mutex_lock(&proxy->lock);
    size_t wanted = strlen(proxy->slam);
    bool slammed = wanted > 0 && memmem(data, length, proxy->slam, wanted) != NULL;
    (void)pthread_mutex_unlock(&proxy->lock);
    return slammed;
}

static void look_for_mute(test_proxy *proxy, proxy_link *link, const char *data, size_t length)
{
    (void)pthread_mutex_lock(&proxy->lock);
    size_t wanted = strlen(proxy->mute);
    link->muted = wanted > 0 && memmem(data, length, proxy->mute, wanted) != NULL;
    if (link->muted) proxy->mute[0] = '\0';
    (void)pthread_mutex_unlock(&proxy->lock);
}

static void note_mute(test_proxy *proxy, proxy_link *link)
{
    if (atomic_load(&proxy->cuts) && link->server >= 0) {
        close(link->server);
        link->server = -1;
    }
    atomic_store(&proxy->mutes, true);
}

static void mute_all_open_ones(test_proxy *proxy)
{
    if (!atomic_load(&proxy->mute_all)) return;
    for (size_t i = 0; i < LINKS; i++) {
        proxy_link *link = &proxy->links[i];
        if (link->client < 0 || link->muted) continue;
        link->muted = true;
        note_mute(proxy, link);
    }
    atomic_store(&proxy->mute_all, false);
}

static void mute_open_ones(test_proxy *proxy)
{
    (void)pthread_mutex_lock(&proxy->lock);
    for (size_t i = 0; proxy->mute_open[0] != '\0' && i < LINKS; i++) {
        proxy_link *link = &proxy->links[i];
        if (link->client < 0 || link->muted || strstr(link->tail, proxy->mute_open) == NULL) continue;
        link->muted = true;
        proxy->mute_open[0] = '\0';
        note_mute(proxy, link);
    }
    (void)pthread_mutex_unlock(&proxy->lock);
}

static void keep_back_open_ones(test_proxy *proxy)
{
    (void)pthread_mutex_lock(&proxy->lock);
    for (size_t i = 0; i < LINKS; i++) {
        proxy_link *link = &proxy->links[i];
        if (atomic_load(&proxy->passes)) link->kept_back = false;
        if (link->client < 0 || proxy->keep_back[0] == '\0' || strstr(link->tail, proxy->keep_back) == NULL) continue;
        link->kept_back = true;
        proxy->keep_back[0] = '\0';
        atomic_store(&proxy->keeps_back, true);
    }
    atomic_store(&proxy->passes, false);
    (void)pthread_mutex_unlock(&proxy->lock);
}

static void from_client(test_proxy *proxy, proxy_link *link)
{
    static char data[CHUNK];
    ssize_t got = recv(link->client, data, sizeof(data), 0);
    if (got <= 0) {
        keep_server(proxy, link);
        hang_up(link);
        return;
    }
    if (link->muted && link->server < 0) return;
    if (!link->muted) look_for_mute(proxy, link, data, (size_t)got);
    if (is_slammed(proxy, data, (size_t)got)) {
        hang_up(link);
        atomic_fetch_add(&proxy->lost, 1);
        return;
    }
    size_t going = look_for_text(proxy, link, data, (size_t)got);
    if (!pass_on(link->server, data, going)) hang_up(link);
    if (link->muted) note_mute(proxy, link);
}

static void from_server(proxy_link *link, unsigned delay_ms)
{
    static char data[CHUNK];
    ssize_t got = recv(link->server, data, sizeof(data), 0);
    if (got <= 0) {
        hang_up(link);
        return;
    }
    if (link->muted) return;
    size_t pass = (size_t)got;
    if (delay_ms > 0) (void)usleep(delay_ms * 1000);
    if (link->losing) {
        if (pass > link->pass) pass = link->pass;
        link->dropped = link->dropped || pass < (size_t)got;
        link->pass -= pass;
        link->heard_ms = rv_now_ms();
    }
    if (!pass_on(link->client, data, pass)) hang_up(link);
}

static bool is_silent(const proxy_link *link)
{
    return rv_now_ms() >= link->heard_ms + (link->dropped ? SILENCE_MS : LONG_SILENCE_MS);
}

/* Whose server is silent loses its connection now. */
static void lose_the_silent(test_proxy *proxy)
{
    for (size_t i = 0; i < LINKS; i++) {
        proxy_link *link = &proxy->links[i];
        if (link->client < 0 || !link->losing || !is_silent(link)) continue;
        hang_up(link);
        atomic_fetch_add(&proxy->lost, 1);
    }
}

static void *serve(void *argument)
{
    test_proxy *proxy = argument;
    for (;;) {
        struct pollfd fds[2 + 2 * LINKS] = {{.fd = proxy->stop.fd, .events = POLLIN},
                                            {.fd = proxy->listener, .events = POLLIN}};
        for (size_t i = 0; i < LINKS; i++) {
            fds[2 + 2 * i] = (struct pollfd){.fd = proxy->links[i].client, .events = POLLIN};
            fds[3 + 2 * i] =
                (struct pollfd){.fd = proxy->links[i].server, .events = proxy->links[i].kept_back ? 0 : POLLIN};
        }
        (void)poll(fds, 2 + 2 * LINKS, 10);
        if (fds[0].revents) return NULL;
        for (size_t i = 0; i < LINKS; i++) {
            proxy_link *link = &proxy->links[i];
            if (link->client >= 0 && fds[2 + 2 * i].revents) from_client(proxy, link);
            if (link->client >= 0 && !link->kept_back && fds[3 + 2 * i].revents)
                from_server(link, atomic_load(&proxy->delay_ms));
        }
        lose_the_silent(proxy);
        mute_open_ones(proxy);
        mute_all_open_ones(proxy);
        keep_back_open_ones(proxy);
        if (fds[1].revents) accept_one(proxy);
    }
}

test_proxy *test_proxy_start(rv_test_redis *redis)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    test_proxy *proxy = calloc(1, sizeof(*proxy));
    assert_non_null(proxy);
    proxy->redis = redis;
    atomic_init(&proxy->held, -1);
    proxy->dir = test_make_dir();
    for (size_t i = 0; i < LINKS; i++) proxy->links[i].client = proxy->links[i].server = -1;
    int length = snprintf(address.sun_path, sizeof(address.sun_path), "%s/proxy.sock", proxy->dir);
    assert_true(length > 0 && (size_t)length < sizeof(address.sun_path));
    (void)snprintf(proxy->url, sizeof(proxy->url), "unix://%s", address.sun_path);
    proxy->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(proxy->listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(proxy->listener, 16), 0);
    assert_int_equal(rv_waker_init(&proxy->stop, NULL), REEVE_OK);
    (void)pthread_mutex_init(&proxy->lock, NULL);
    assert_int_equal(pthread_create(&proxy->thread, NULL, serve, proxy), 0);
    return proxy;
}

void test_proxy_stop(test_proxy *proxy)
{
    rv_waker_ring(&proxy->stop);
    (void)pthread_join(proxy->thread, NULL);
    for (size_t i = 0; i < LINKS; i++)
        if (proxy->links[i].client >= 0) hang_up(&proxy->links[i]);
    while (proxy->kept_count > 0) close(proxy->kept[--proxy->kept_count]);
    close(proxy->listener);
    rv_waker_fini(&proxy->stop);
    (void)pthread_mutex_destroy(&proxy->lock);
    test_remove_dir(proxy->dir);
    free(proxy->dir);
    free(proxy);
}

void test_proxy_delay(test_proxy *proxy, unsigned ms)
{
    atomic_store(&proxy->delay_ms, ms);
}

const char *test_proxy_url(const test_proxy *proxy)
{
    return proxy->url;
}

static void lose(test_proxy *proxy, const char *text, size_t pass, unsigned times, bool hold)
{
    (void)pthread_mutex_lock(&proxy->lock);
    rv_copy_text(proxy->text, sizeof(proxy->text), text);
    proxy->pass = pass;
    proxy->times = times;
    proxy->hold = hold;
    proxy->hold_and_lose = false;
    (void)pthread_mutex_unlock(&proxy->lock);
}

void test_proxy_lose(test_proxy *proxy, const char *text, size_t pass)
{
    lose(proxy, text, pass, 1, false);
}

void test_proxy_lose_all(test_proxy *proxy, const char *text, unsigned times)
{
    lose(proxy, text, 0, times, false);
}

void test_proxy_hold(test_proxy *proxy, const char *text)
{
    lose(proxy, text, 0, 1, true);
}

void test_proxy_hold_and_lose(test_proxy *proxy, const char *text)
{
    lose(proxy, text, 0, 1, true);
    (void)pthread_mutex_lock(&proxy->lock);
    proxy->hold_and_lose = true;
    (void)pthread_mutex_unlock(&proxy->lock);
}

bool test_proxy_holds(const test_proxy *proxy)
{
    return atomic_load(&proxy->held) >= 0;
}

void test_proxy_release(test_proxy *proxy)
{
    char replies[CHUNK];
    int held = atomic_exchange(&proxy->held, -1);
    assert_true(held >= 0);
    if (pass_on(held, &proxy->end, 1)) (void)recv(held, replies, sizeof(replies), 0);
    close(held);
}

void test_proxy_slam(test_proxy *proxy, const char *text)
{
    (void)pthread_mutex_lock(&proxy->lock);
    rv_copy_text(proxy->slam, sizeof(proxy->slam), text);
    (void)pthread_mutex_unlock(&proxy->lock);
}

void test_proxy_mute(test_proxy *proxy, const char *text, bool cut)
{
    atomic_store(&proxy->mutes, false);
    atomic_store(&proxy->cuts, cut);
    (void)pthread_mutex_lock(&proxy->lock);
    rv_copy_text(proxy->mute, sizeof(proxy->mute), text);
    (void)pthread_mutex_unlock(&proxy->lock);
}

void test_proxy_mute_open(test_proxy *proxy, const char *text, bool cut)
{
    atomic_store(&proxy->mutes, false);
    atomic_store(&proxy->cuts, cut);
    (void)pthread_mutex_lock(&proxy->lock);
    rv_copy_text(proxy->mute_open, sizeof(proxy->mute_open), text);
    (void)pthread_mutex_unlock(&proxy->lock);
    TEST_AWAIT(test_proxy_mutes(proxy));
}

void test_proxy_keep_back_next(test_proxy *proxy, const char *text)
{
    atomic_store(&proxy->keeps_back, false);
    (void)pthread_mutex_lock(&proxy->lock);
    rv_copy_text(proxy->keep_back, sizeof(proxy->keep_back), text);
    (void)pthread_mutex_unlock(&proxy->lock);
}

bool test_proxy_keeps_back(const test_proxy *proxy)
{
    return atomic_load(&proxy->keeps_back);
}

void test_proxy_keep_back(test_proxy *proxy, const char *text)
{
    test_proxy_keep_back_next(proxy, text);
    TEST_AWAIT(test_proxy_keeps_back(proxy));
}

void test_proxy_pass_on(test_proxy *proxy)
{
    atomic_store(&proxy->passes, true);
    TEST_AWAIT(!atomic_load(&proxy->passes));
}

void test_proxy_mute_all(test_proxy *proxy)
{
    atomic_store(&proxy->cuts, true);
    atomic_store(&proxy->mute_all, true);
    TEST_AWAIT(!atomic_load(&proxy->mute_all));
}

bool test_proxy_mutes(const test_proxy *proxy)
{
    return atomic_load(&proxy->mutes);
}

unsigned test_proxy_lost(const test_proxy *proxy)
{
    return atomic_load(&proxy->lost);
}
