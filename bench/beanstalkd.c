/*
 * beanstalkd.c - beanstalkd, measured as reeve is: one tube, filled and then drained by threads that take jobs in
 * batches (so many reserves and deletes on the way at once), one producer, and the pickup of an idle consumer.
 *
 *     bench-beanstalkd SOCKET PID drain|enqueue|pickup [TASKS [THREADS [BATCH [HANDLER_US]]]]
 *
 * SOCKET: a unix socket's path. HANDLER_US: how long each handler of a drain sleeps.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "figures.h"

#define PAYLOAD 100
#define BATCH_MAX 256
#define THREADS_MAX 256
#define LINE_MAX 224
#define WARM_UP 50

static const char *socket_path;
static long batch, handler_us;

/* ---- the protocol: lines out, lines in ------------------------------------------------------------------------- */

struct peer {
    int fd;
    size_t out_length, in_begin, in_end;
    char out[BATCH_MAX * 2 * LINE_MAX];
    char in[65536];
};

static struct peer *open_peer(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct peer *peer = calloc(1, sizeof(*peer));

    if (peer == NULL) fail("beanstalkd", "no memory");
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
    peer->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (peer->fd < 0 || connect(peer->fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        fail(socket_path, strerror(errno));
    return peer;
}

static void close_peer(struct peer *peer)
{
    (void)close(peer->fd);
    free(peer);
}

static void add(struct peer *peer, const char *text)
{
    size_t length = strlen(text);

    if (length > sizeof(peer->out) - peer->out_length) fail("beanstalkd", "too much at once");
    memcpy(peer->out + peer->out_length, text, length);
    peer->out_length += length;
}

static void flush(struct peer *peer)
{
    for (size_t sent = 0; sent < peer->out_length;) {
        ssize_t wrote = write(peer->fd, peer->out + sent, peer->out_length - sent);

        if (wrote <= 0) fail("beanstalkd", "write failed");
        sent += (size_t)wrote;
    }
    peer->out_length = 0;
}

static void read_more(struct peer *peer)
{
    ssize_t got;

    memmove(peer->in, peer->in + peer->in_begin, peer->in_end - peer->in_begin);
    peer->in_end -= peer->in_begin;
    peer->in_begin = 0;
    got = read(peer->fd, peer->in + peer->in_end, sizeof(peer->in) - peer->in_end);
    if (got <= 0) fail("beanstalkd", "read failed");
    peer->in_end += (size_t)got;
}

/* The next line, which lives until the next call. */
static char *line(struct peer *peer)
{
    for (;;) {
        char *begin = peer->in + peer->in_begin;
        char *end = memmem(begin, peer->in_end - peer->in_begin, "\r\n", 2);

        if (end != NULL) {
            *end = '\0';
            peer->in_begin = (size_t)(end + 2 - peer->in);
            return begin;
        }
        read_more(peer);
    }
}

static void expect(struct peer *peer, const char *word)
{
    const char *got = line(peer);

    if (strncmp(got, word, strlen(word)) != 0) fail("beanstalkd", got);
}

/* Whether a job came; then its id. */
static bool reserved(struct peer *peer, unsigned long long *ret_id)
{
    const char *got = line(peer);

    if (strncmp(got, "TIMED_OUT", 9) == 0) return false;
    if (sscanf(got, "RESERVED %llu", ret_id) != 1) fail("beanstalkd", got);
    (void)line(peer); /* the payload has no line feeds */
    return true;
}

static void add_put(struct peer *peer)
{
    static char text[LINE_MAX];

    if (text[0] == '\0') (void)snprintf(text, sizeof(text), "put 0 0 60 %d\r\n%0*d\r\n", PAYLOAD, PAYLOAD, 0);
    add(peer, text);
}

static void add_delete(struct peer *peer, unsigned long long id)
{
    char text[LINE_MAX];

    (void)snprintf(text, sizeof(text), "delete %llu\r\n", id);
    add(peer, text);
}

/* ---- filling ---------------------------------------------------------------------------------------------------- */

static void fill(long tasks, long at_once)
{
    struct peer *peer = open_peer();

    for (long done = 0; done < tasks;) {
        long count = tasks - done < at_once ? tasks - done : at_once;

        for (long i = 0; i < count; i++) add_put(peer);
        flush(peer);
        for (long i = 0; i < count; i++) expect(peer, "INSERTED");
        done += count;
    }
    close_peer(peer);
}

/* ---- draining --------------------------------------------------------------------------------------------------- */

static atomic_long done;
static pthread_barrier_t start;

/* Deletes what it has and asks for the next, in one go. */
static void *work(void *unused)
{
    unsigned long long held[BATCH_MAX];
    struct peer *peer = open_peer();
    long count = 0, got;

    (void)unused;
    (void)pthread_barrier_wait(&start);
    do {
        for (long i = 0; i < count; i++) add_delete(peer, held[i]);
        for (long i = 0; i < batch; i++) add(peer, "reserve-with-timeout 0\r\n");
        flush(peer);
        for (long i = 0; i < count; i++) expect(peer, "DELETED");
        atomic_fetch_add(&done, count);
        got = 0;
        for (long i = 0; i < batch; i++)
            if (reserved(peer, &held[got])) got++;
        count = got;
        for (long i = 0; i < count; i++) run_handler(handler_us);
    } while (count > 0);
    close_peer(peer);
    return NULL;
}

static void drain(pid_t pid, long tasks, long threads)
{
    pthread_t ids[THREADS_MAX];
    double cpu, own, began, seconds, memory = process_bytes(pid);

    fill(tasks, BATCH_MAX);
    memory = (process_bytes(pid) - memory) / (double)tasks;
    (void)pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, work, NULL) != 0) fail("bench-beanstalkd", "no thread");
    cpu = process_cpu_seconds(pid);
    own = own_cpu_seconds();
    (void)pthread_barrier_wait(&start);
    began = now();
    for (long i = 0; i < threads; i++) (void)pthread_join(ids[i], NULL);
    seconds = now() - began;
    own = own_cpu_seconds() - own;
    if (atomic_load(&done) != tasks) fail("bench-beanstalkd", "the counts are wrong");
    print_rate("", tasks, seconds, process_cpu_seconds(pid) - cpu, own);
    (void)printf("task_bytes=%.0f\n", memory);
}

/* ---- pickup ----------------------------------------------------------------------------------------------------- */

static sem_t seen;
static double seen_at;

static void *pop(void *count)
{
    struct peer *peer = open_peer();

    for (long i = 0; i < *(long *)count; i++) {
        unsigned long long id;

        add(peer, "reserve\r\n");
        flush(peer);
        if (!reserved(peer, &id)) fail("beanstalkd", "no job");
        seen_at = now();
        add_delete(peer, id);
        flush(peer);
        expect(peer, "DELETED");
        (void)sem_post(&seen);
    }
    close_peer(peer);
    return NULL;
}

static void pickup(long samples)
{
    struct peer *peer = open_peer();
    double *values = calloc((size_t)samples, sizeof(*values));
    long count = samples + WARM_UP;
    pthread_t thread;

    if (values == NULL || sem_init(&seen, 0, 0) != 0) fail("bench-beanstalkd", "no memory");
    if (pthread_create(&thread, NULL, pop, &count) != 0) fail("bench-beanstalkd", "no thread");
    for (long i = -WARM_UP; i < samples; i++) {
        struct timespec pause = {.tv_nsec = 1000000 + random() % 3000000};
        double sent;

        (void)nanosleep(&pause, NULL);
        sent = now();
        add_put(peer);
        flush(peer);
        expect(peer, "INSERTED");
        while (sem_wait(&seen) != 0) {}
        if (i >= 0) values[i] = (seen_at - sent) * 1e6;
    }
    (void)pthread_join(thread, NULL);
    print_percentiles(values, samples);
    free(values);
    close_peer(peer);
}

int main(int argc, char **argv)
{
    long tasks = number_argument(argc, argv, 4, 100000, 1), threads = number_argument(argc, argv, 5, 4, 1);
    const char *what = argc > 3 ? argv[3] : "";
    pid_t pid;

    batch = number_argument(argc, argv, 6, 64, 1);
    handler_us = number_argument(argc, argv, 7, 0, 0);
    if (argc < 4 || batch > BATCH_MAX || threads > THREADS_MAX) fail("bench-beanstalkd", "see the head of its source");
    socket_path = argv[1];
    pid = (pid_t)number_argument(argc, argv, 2, 0, 1);
    if (strcmp(what, "drain") == 0)
        drain(pid, tasks, threads);
    else if (strcmp(what, "enqueue") == 0)
        print_enqueue(pid, tasks, BATCH_MAX, fill);
    else if (strcmp(what, "pickup") == 0)
        pickup(tasks);
    else
        fail(what, "drain, enqueue or pickup");
    return 0;
}
