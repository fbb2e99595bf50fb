#include "spans_send.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <reeve/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH_MAX 256
#define IO_SECONDS 5
#define PAUSE_MIN_MS 500
#define PAUSE_MAX_MS 30000
#define STOP_MS 2000
#define REPORT_MS 60000

typedef enum sent { SENT, LATER, REFUSED } sent;

static struct {
    pthread_mutex_t lock; /* guards what follows, up to the line */
    pthread_cond_t changed;
    char *waiting[SPANS_WAITING_MAX]; /* a ring */
    size_t first, count;
    unsigned long lost;
    bool stops;
    /* ---- only the thread, and those that start and end it */
    pthread_t thread;
    bool started;
    char host[256], port[8], path[512];
    const char *before, *after;
    int64_t stop_by, reported_at;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void spans_send_count_lost(size_t count)
{
    (void)reeve_plugin_count("spans_lost", "Spans that could not be written or sent.", count);
}

/* ---- one request ----------------------------------------------------------------------------------------------- */

static int connect_to(const struct addrinfo *address)
{
    const struct timeval limit = {.tv_sec = IO_SECONDS};
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0) return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)); /* also of connect */
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (connect(fd, address->ai_addr, address->ai_addrlen) == 0) return fd;
    (void)close(fd);
    return -1;
}

static int open_connection(void)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    int fd = -1;

    if (getaddrinfo(state.host, state.port, &hints, &list) != 0) return -1;
    for (const struct addrinfo *at = list; at != NULL && fd < 0; at = at->ai_next) fd = connect_to(at);
    freeaddrinfo(list);
    return fd;
}

static bool send_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t done = send(fd, text, length, MSG_NOSIGNAL);
        if (done <= 0) return false;
        text += done;
        length -= (size_t)done;
    }
    return true;
}

/* The status of the answer; 0: there is none. */
static unsigned read_status(int fd)
{
    char line[64];
    size_t length = 0;
    unsigned status = 0;
    int64_t end = now_ms() + IO_SECONDS * 1000;

    while (length < sizeof(line) - 1 && now_ms() < end) {
        ssize_t got = recv(fd, line + length, sizeof(line) - 1 - length, 0);
        if (got <= 0) break;
        length += (size_t)got;
    }
    line[length] = '\0';
    return sscanf(line, "HTTP/1.%*1[01] %3u", &status) == 1 ? status : 0;
}

static sent post(const char *body, size_t length)
{
    char head[1024];
    int fd = open_connection();
    unsigned status = 0;

    if (fd < 0) return LATER;
    int head_length =
        snprintf(head, sizeof(head),
                 "POST %s HTTP/1.1\r\nHost: %s:%s\r\nContent-Type: application/json\r\n"
                 "Content-Length: %zu\r\nUser-Agent: reeve/" REEVE_VERSION "\r\nConnection: close\r\n\r\n",
                 state.path, state.host, state.port, length);
    if (send_all(fd, head, (size_t)head_length) && send_all(fd, body, length)) status = read_status(fd);
    (void)close(fd);
    if (status >= 200 && status < 300) return SENT;
    return status == 0 || status == 429 || status == 502 || status == 503 || status == 504 ? LATER : REFUSED;
}

/* ---- the thread ------------------------------------------------------------------------------------------------ */

/* Takes up to BATCH_MAX spans. 0: it is to end. */
static size_t take(char *ret[BATCH_MAX])
{
    size_t count = 0;

    (void)pthread_mutex_lock(&state.lock);
    while (state.count == 0 && !state.stops) (void)pthread_cond_wait(&state.changed, &state.lock);
    for (; count < BATCH_MAX && state.count > 0; state.count--) {
        ret[count++] = state.waiting[state.first];
        state.first = (state.first + 1) % SPANS_WAITING_MAX;
    }
    (void)pthread_mutex_unlock(&state.lock);
    return count;
}

static char *join(char *const *spans, size_t count, size_t *ret_length)
{
    FILE *out;
    char *text = NULL;

    out = open_memstream(&text, ret_length);
    if (out == NULL) return NULL;
    (void)fputs(state.before, out);
    for (size_t i = 0; i < count; i++) (void)fprintf(out, "%s%s", i > 0 ? "," : "", spans[i]);
    (void)fputs(state.after, out);
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

/* Pauses, or ends at once when there is no time left. False: give up. */
static bool may_repeat(int64_t pause_ms)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += pause_ms / 1000;
    at.tv_nsec += pause_ms % 1000 * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    (void)pthread_mutex_lock(&state.lock);
    int64_t end = now_ms() + pause_ms;
    while (!state.stops && now_ms() < end && pthread_cond_timedwait(&state.changed, &state.lock, &at) == 0) continue;
    bool good = !state.stops || now_ms() < state.stop_by;
    bool stops = state.stops;
    (void)pthread_mutex_unlock(&state.lock);
    if (good && stops) (void)usleep(100000);
    return good;
}

/* At most once a minute, and at the end. */
static void report(bool last)
{
    char number[24];

    (void)pthread_mutex_lock(&state.lock);
    bool due = state.lost > 0 && (last || state.reported_at == 0 || now_ms() - state.reported_at >= REPORT_MS);
    (void)snprintf(number, sizeof(number), "%lu", state.lost);
    if (due) state.lost = 0;
    (void)pthread_mutex_unlock(&state.lock);
    if (!due) return;
    state.reported_at = now_ms();
    reeve_log_write(REEVE_LOG_WARN, "spans.lost", "spans were not sent: the receiver is away, too slow or refuses them",
                    &(reeve_log_field){"count", number}, 1);
}

static sent send_batch(char *const *spans, size_t count)
{
    size_t length = 0;
    char *body = join(spans, count, &length);
    sent result = body == NULL ? REFUSED : post(body, length);

    for (int64_t pause = PAUSE_MIN_MS; result == LATER && may_repeat(pause);
         pause = pause * 2 > PAUSE_MAX_MS ? PAUSE_MAX_MS : pause * 2) {
        report(false); /* meanwhile others may have been lost */
        result = post(body, length);
    }
    free(body);
    return result;
}

static void *run(void *user)
{
    char *spans[BATCH_MAX];
    size_t count;

    (void)user;
    while ((count = take(spans)) > 0) {
        if (send_batch(spans, count) != SENT) {
            (void)pthread_mutex_lock(&state.lock);
            state.lost += count;
            (void)pthread_mutex_unlock(&state.lock);
            spans_send_count_lost(count);
        }
        for (size_t i = 0; i < count; i++) free(spans[i]);
        report(false);
    }
    report(true);
    return NULL;
}

/* ---- the callers ----------------------------------------------------------------------------------------------- */

/* http://HOST[:PORT][/PATH] */
static bool read_endpoint(const char *text)
{
    char authority[256];

    if (strncmp(text, "http://", 7) != 0) return false;
    text += 7;
    size_t length = strcspn(text, "/");
    if (length == 0 || length >= sizeof(authority) || strpbrk(text, " \r\n?#") != NULL) return false;
    (void)snprintf(authority, sizeof(authority), "%.*s", (int)length, text);
    text += length;
    length = strlen(text);
    while (length > 0 && text[length - 1] == '/') length--;
    if (snprintf(state.path, sizeof(state.path), "%.*s/v1/traces", (int)length, text) >= (int)sizeof(state.path))
        return false;
    char *colon = strrchr(authority, ':'), *bracket = strchr(authority, ']');
    bool has_port = colon != NULL && (bracket == NULL || colon > bracket);
    if (has_port) *colon = '\0';
    if (has_port && (strlen(colon + 1) > 5 || colon[1 + strspn(colon + 1, "0123456789")] != '\0')) return false;
    (void)snprintf(state.port, sizeof(state.port), "%.5s", has_port ? colon + 1 : "4318");
    if (authority[0] == '[' && bracket != NULL) *bracket = '\0';
    (void)snprintf(state.host, sizeof(state.host), "%s", authority[0] == '[' ? authority + 1 : authority);
    return state.host[0] != '\0' && state.port[0] != '\0';
}

int spans_send_start(const char *endpoint, const char *before, const char *after)
{
    pthread_condattr_t monotonic;

    if (!read_endpoint(endpoint)) return EINVAL;
    state.before = before;
    state.after = after;
    state.stops = false;
    state.reported_at = 0;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&state.changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    int failure = pthread_create(&state.thread, NULL, run, NULL);
    state.started = failure == 0;
    return failure;
}

void spans_send_put(const char *span, size_t length)
{
    char *copy = malloc(length + 1);

    if (copy != NULL) memcpy(copy, span, length);
    if (copy != NULL) copy[length] = '\0';
    (void)pthread_mutex_lock(&state.lock);
    bool fits = copy != NULL && state.count < SPANS_WAITING_MAX;
    if (fits)
        state.waiting[(state.first + state.count++) % SPANS_WAITING_MAX] = copy;
    else
        state.lost++;
    (void)pthread_cond_signal(&state.changed);
    (void)pthread_mutex_unlock(&state.lock);
    if (fits) return;
    free(copy);
    spans_send_count_lost(1);
}

void spans_send_stop(void)
{
    if (!state.started) return;
    (void)pthread_mutex_lock(&state.lock);
    state.stops = true;
    state.stop_by = now_ms() + STOP_MS;
    (void)pthread_cond_signal(&state.changed);
    (void)pthread_mutex_unlock(&state.lock);
    (void)pthread_join(state.thread, NULL);
    (void)pthread_cond_destroy(&state.changed);
    state.started = false;
}
