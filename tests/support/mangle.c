#include "support/mangle.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"

#define CHUNK 65536
#define NODES 4096
#define LINKS 256

struct test_mangle {
    rv_test_redis *redis;
    char *dir;
    char url[300];
    int listener;
    rv_waker stop;
    pthread_t thread;
    pthread_t links[LINKS];
    size_t link_count;
    atomic_uint one_in;
    atomic_ulong changed;
    uint64_t seed;
};

typedef struct mangle_link {
    test_mangle *mangle;
    int client;
    int server;
    uint64_t random;
    rv_buf held; /* what the server said and makes no whole reply yet */
} mangle_link;

static uint64_t next_random(mangle_link *link)
{
    link->random ^= link->random << 13;
    link->random ^= link->random >> 7;
    link->random ^= link->random << 17;
    return link->random;
}

static size_t pick(mangle_link *link, size_t count)
{
    return count == 0 ? 0 : (size_t)(next_random(link) % count);
}

/* ---- replies --------------------------------------------------------------------------------------------------- */

/* A value in a reply's bytes: from start to end; of an array, whose values follow it, the first line ends at line. */
typedef struct node {
    size_t start, line, end;
} node;

/* Notes the value that begins at `at` and those in it; returns where it ends, 0 when it is not all there. */
static size_t read_node(const char *data, size_t length, size_t at, node *nodes, size_t *count)
{
    const char *end = at < length ? memmem(data + at, length - at, "\r\n", 2) : NULL;
    if (!end) return 0;
    size_t line = (size_t)(end - data) + 2, own = *count < NODES ? (*count)++ : NODES - 1;
    long number = strtol(data + at + 1, NULL, 10);
    size_t stop = line;
    if (data[at] == '$' && number >= 0) stop = line + (size_t)number + 2;
    if (stop > length) return 0;
    for (long i = 0; data[at] == '*' && i < number && stop > 0; i++) stop = read_node(data, length, stop, nodes, count);
    nodes[own] = (node){at, line, stop};
    return stop;
}

static void add_bulk(rv_buf *out, const char *data, size_t length)
{
    rv_buf_addf(out, "$%zu\r\n", length);
    rv_buf_add(out, data, length);
    rv_buf_adds(out, "\r\n");
}

static const char *const numbers[] = {"0",
                                      "1",
                                      "-1",
                                      "2",
                                      "7",
                                      "255",
                                      "256",
                                      "1000000",
                                      "2147483647",
                                      "2147483648",
                                      "4294967295",
                                      "-2147483649",
                                      "9007199254740993",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "18446744073709551616",
                                      "1e300",
                                      "nan",
                                      "-0",
                                      "0x10"};
static const char *const texts[] = {"",
                                    "0",
                                    "1",
                                    "idle",
                                    "#",
                                    "completed",
                                    "running",
                                    "unique ",
                                    "{}",
                                    "{\"at\":-1}\n",
                                    "\n",
                                    "a b c",
                                    "%s%n",
                                    "\xff\xfe",
                                    "a/b",
                                    "/",
                                    "-1 1\n{\"type\":\"t\"}\n",
                                    "99999999999999999999 x\n{\"at\":1,\"type\":\"t\"}\n"};
static const char *const errors[] = {"-ERR mangled",     "-READONLY mangled", "-NOSCRIPT mangled", "-OOM mangled",
                                     "-LOADING mangled", "-NOPERM mangled",   "-BUSY mangled"};
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void add_number(mangle_link *link, rv_buf *out)
{
    const char *number = numbers[pick(link, COUNT(numbers))];
    if (strspn(number, "-0123456789") == strlen(number) && pick(link, 2) == 0)
        rv_buf_addf(out, ":%s\r\n", number);
    else
        add_bulk(out, number, strlen(number));
}

/* Some bytes of a text become others; or it ends early. */
static void add_damaged(mangle_link *link, rv_buf *out, const char *data, const node *at)
{
    size_t length = at->end >= at->line + 2 ? at->end - at->line - 2 : 0;
    char *copy = malloc(length + 1);
    if (!copy) abort();
    memcpy(copy, data + at->line, length);
    for (size_t i = 0; i < 3 && length > 0; i++) copy[pick(link, length)] = (char)pick(link, 256);
    if (pick(link, 3) == 0) length = pick(link, length + 1);
    add_bulk(out, copy, length);
    free(copy);
}

/* An array with another number of values: fewer, or its values twice. */
static void add_resized(mangle_link *link, rv_buf *out, const char *data, const node *at)
{
    long number = strtol(data + at->start + 1, NULL, 10);
    static node inner[NODES];
    size_t count = 0, stop = at->line, fewer = pick(link, (size_t)(number > 0 ? number : 0) + 1);
    bool twice = pick(link, 2) == 0;
    rv_buf_addf(out, "*%zu\r\n", twice ? (size_t)number * 2 : fewer);
    if (twice) rv_buf_add(out, data + at->line, at->end - at->line);
    if (twice) rv_buf_add(out, data + at->line, at->end - at->line);
    for (size_t i = 0; !twice && i < fewer; i++) {
        count = 0;
        stop = read_node(data, at->end, stop, inner, &count);
    }
    if (!twice) rv_buf_add(out, data + at->line, stop - at->line);
}

static pthread_mutex_t resizing = PTHREAD_MUTEX_INITIALIZER;

static void add_other(mangle_link *link, rv_buf *out, const char *data, const node *at)
{
    size_t choice = pick(link, 8);
    char type = data[at->start];
    if (choice < 3 && type == '$' && data[at->start + 1] != '-') {
        add_damaged(link, out, data, at);
    } else if (choice < 4 && type == '*' && data[at->start + 1] != '-') {
        (void)pthread_mutex_lock(&resizing);
        add_resized(link, out, data, at);
        (void)pthread_mutex_unlock(&resizing);
    } else if (choice == 4) {
        const char *text = texts[pick(link, COUNT(texts))];
        add_bulk(out, text, strlen(text));
    } else if (choice == 5) {
        rv_buf_adds(out, pick(link, 2) == 0 ? "$-1\r\n" : "*0\r\n");
    } else if (choice == 6 && pick(link, 16) == 0) {
        rv_buf_addf(out, "%s\r\n", errors[pick(link, COUNT(errors))]);
    } else {
        add_number(link, out);
    }
}

/* Those of the handshake, and of what tells an error, are left alone: there would be no connection. */
static bool is_left_alone(const char *data)
{
    return data[0] == '+' || data[0] == '-';
}

static void add_reply(mangle_link *link, rv_buf *out, const char *data, size_t length, const node *nodes, size_t count)
{
    unsigned one_in = atomic_load(&link->mangle->one_in);
    if (one_in == 0 || is_left_alone(data) || pick(link, one_in) != 0) {
        rv_buf_add(out, data, length);
        return;
    }
    const node *at = &nodes[pick(link, count)];
    atomic_fetch_add(&link->mangle->changed, 1);
    rv_buf_add(out, data, at->start);
    add_other(link, out, data, at);
    rv_buf_add(out, data + at->end, length - at->end);
}

/* ---- connections ----------------------------------------------------------------------------------------------- */

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

static bool from_client(mangle_link *link)
{
    char data[CHUNK];
    ssize_t got = recv(link->client, data, sizeof(data), 0);
    return got > 0 && pass_on(link->server, data, (size_t)got);
}

static bool from_server(mangle_link *link)
{
    char data[CHUNK];
    node *nodes = malloc(NODES * sizeof(*nodes));
    rv_buf out;
    ssize_t got = recv(link->server, data, sizeof(data), 0);
    if (got <= 0 || !nodes) {
        free(nodes);
        return false;
    }
    rv_buf_init(&out, (size_t)1 << 30);
    rv_buf_add(&link->held, data, (size_t)got);
    size_t begin = 0, count = 0, end;
    while ((end = read_node(link->held.data, link->held.length, begin, nodes, &count)) > 0) {
        for (size_t i = 0; i < count; i++) {
            nodes[i].start -= begin;
            nodes[i].line -= begin;
            nodes[i].end -= begin;
        }
        add_reply(link, &out, link->held.data + begin, end - begin, nodes, count);
        begin = end;
        count = 0;
    }
    rv_buf rest;
    rv_buf_init(&rest, (size_t)1 << 30);
    rv_buf_add(&rest, link->held.data + begin, link->held.length - begin);
    rv_buf_fini(&link->held);
    link->held = rest;
    bool good = pass_on(link->client, out.data, out.length);
    rv_buf_fini(&out);
    free(nodes);
    return good;
}

static void *link_main(void *argument)
{
    mangle_link *link = argument;
    struct pollfd fds[3] = {{.fd = link->client, .events = POLLIN},
                            {.fd = link->server, .events = POLLIN},
                            {.fd = link->mangle->stop.fd, .events = POLLIN}};
    for (;;) {
        if (poll(fds, 3, -1) < 0) continue;
        if (fds[2].revents) break;
        if (fds[0].revents && !from_client(link)) break;
        if (fds[1].revents && !from_server(link)) break;
    }
    close(link->client);
    close(link->server);
    rv_buf_fini(&link->held);
    free(link);
    return NULL;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    rv_copy_text(address.sun_path, sizeof(address.sun_path), path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

static void accept_one(test_mangle *mangle)
{
    char path[256];
    int client = accept4(mangle->listener, NULL, NULL, SOCK_CLOEXEC);
    (void)snprintf(path, sizeof(path), "%s/redis.sock", test_redis_dir(mangle->redis));
    int server = client >= 0 ? connect_to(path) : -1;
    mangle_link *link = server >= 0 ? calloc(1, sizeof(*link)) : NULL;
    if (!link) {
        if (client >= 0) close(client);
        if (server >= 0) close(server);
        return;
    }
    mangle->seed = mangle->seed * 6364136223846793005u + 1442695040888963407u;
    *link = (mangle_link){.mangle = mangle, .client = client, .server = server, .random = mangle->seed | 1};
    rv_buf_init(&link->held, (size_t)1 << 30);
    pthread_t *slot = &mangle->links[mangle->link_count % LINKS];
    if (mangle->link_count >= LINKS) (void)pthread_join(*slot, NULL); /* (an old one: it has long ended) */
    if (pthread_create(slot, NULL, link_main, link) != 0) abort();
    mangle->link_count++;
}

static void *mangle_main(void *argument)
{
    test_mangle *mangle = argument;
    struct pollfd fds[2] = {{.fd = mangle->listener, .events = POLLIN}, {.fd = mangle->stop.fd, .events = POLLIN}};
    for (;;) {
        if (poll(fds, 2, -1) < 0) continue;
        if (fds[1].revents) return NULL;
        accept_one(mangle);
    }
}

test_mangle *test_mangle_start(rv_test_redis *redis, uint64_t seed)
{
    test_mangle *mangle = calloc(1, sizeof(*mangle));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_non_null(mangle);
    mangle->redis = redis;
    mangle->seed = seed;
    mangle->dir = test_make_dir();
    assert_int_equal(rv_waker_init(&mangle->stop, NULL), REEVE_OK);
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%.90s/mangle.sock", mangle->dir);
    (void)snprintf(mangle->url, sizeof(mangle->url), "unix://%s", address.sun_path);
    mangle->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(mangle->listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(mangle->listener, 64), 0);
    assert_int_equal(pthread_create(&mangle->thread, NULL, mangle_main, mangle), 0);
    return mangle;
}

void test_mangle_stop(test_mangle *mangle)
{
    rv_waker_ring(&mangle->stop);
    (void)pthread_join(mangle->thread, NULL);
    size_t links = mangle->link_count < LINKS ? mangle->link_count : LINKS;
    for (size_t i = 0; i < links; i++) (void)pthread_join(mangle->links[i], NULL);
    close(mangle->listener);
    rv_waker_fini(&mangle->stop);
    test_remove_dir(mangle->dir);
    free(mangle->dir);
    free(mangle);
}

const char *test_mangle_url(const test_mangle *mangle)
{
    return mangle->url;
}

void test_mangle_share(test_mangle *mangle, unsigned one_in)
{
    atomic_store(&mangle->one_in, one_in);
}

unsigned long test_mangle_count(const test_mangle *mangle)
{
    return atomic_load(&mangle->changed);
}
