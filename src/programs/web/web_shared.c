#include "web_shared.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/text.h"
#include "web_pace.h"

#define ANSWERS_MAX 1000
#define TEXT_MAX ((size_t)16 * 1024)
#define KEY_MAX 1024
#define LOOKED_AT_MS 15000 /* an answer that nobody has asked for during this time is not looked at */
#define INTERVAL_MAX_S 3600

/* What a call has written. */
typedef struct written {
    char *text;
    size_t length;
    unsigned status, retry_after;
    int64_t began_at, cost_us;
} written;

typedef struct shared_answer {
    const web_route *route;
    char *key; /* path and query; NULL: free */
    char *text;
    size_t length;
    written passing; /* what the last reading gave if it is not kept, for calls that waited for it; text NULL: none */
    web_pace pace;
    int64_t asked_at;  /* monotonic */
    int64_t began_at;  /* when reading the text began; 0: there is none */
    uint64_t readings; /* that have ended */
    unsigned users;    /* calls that wait for it, or read it */
    bool reading;
} shared_answer;

struct web_shared {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a reading has ended */
    shared_answer list[ANSWERS_MAX];
    int64_t *least_us; /* of each route: the cost of its cheapest answer */
};

/* ---- the list: the lock is held -------------------------------------------------------------------------------- */

static shared_answer *find(struct web_shared *shared, const char *key)
{
    for (size_t i = 0; i < ANSWERS_MAX; i++)
        if (shared->list[i].key != NULL && strcmp(shared->list[i].key, key) == 0) return &shared->list[i];
    return NULL;
}

static void empty(shared_answer *of)
{
    rv_free(of->key);
    free(of->text);
    free(of->passing.text);
    *of = (shared_answer){0};
}

/* One that is new, in the place of one that nobody looks at any more; NULL: there is no place, or no memory. */
static shared_answer *make(struct web_shared *shared, const char *key, const web_route *route)
{
    int64_t before = rv_now_ms() - LOOKED_AT_MS;
    shared_answer *place = NULL;

    for (size_t i = 0; i < ANSWERS_MAX; i++) {
        shared_answer *at = &shared->list[i];
        if (at->key != NULL && at->users == 0 && at->asked_at < before) empty(at);
        if (at->key == NULL) place = at;
    }
    char *own_key = place == NULL ? NULL : rv_strdup(key);
    if (own_key == NULL) return NULL;
    *place = (shared_answer){.key = own_key, .route = route, .asked_at = rv_now_ms()};
    return place;
}

static bool is_fresh(const struct web_shared *shared, const shared_answer *of)
{
    int64_t now = rv_now_ms();
    web_pace_sum sum = {0};

    if (of->began_at == 0) return false;
    for (size_t i = 0; i < ANSWERS_MAX; i++)
        if (shared->list[i].key != NULL && shared->list[i].asked_at > now - LOOKED_AT_MS)
            web_pace_add(&sum, &shared->list[i].pace);
    int64_t interval_ms = web_pace_interval(&of->pace, &sum);
    return now - of->began_at < interval_ms - interval_ms / 10; /* viewers ask once in such an interval, more or less */
}

/* Keeps a text, unless there is a newer one. */
static void keep(struct web_shared *shared, shared_answer *of, written *by)
{
    if (of->began_at > by->began_at) return;
    bool changed = of->text == NULL || of->length != by->length || memcmp(of->text, by->text, by->length) != 0;
    web_pace_note(&of->pace, &shared->least_us[of->route - web_route_table], by->cost_us, changed);
    free(of->text);
    of->text = by->text;
    of->length = by->length;
    of->began_at = by->began_at;
    by->text = NULL;
}

/* The page cannot be shared now, for instance because its task is gone: what was kept is older. */
static void forget_text(shared_answer *of, const written *by)
{
    if (of->began_at <= by->began_at) of->began_at = 0;
}

/* Ends a reading for all. What is not kept, an error or a long text, is for those who wait now: they do not ask Redis for
 * it once more, which is slow or fails already. */
static void end_reading(struct web_shared *shared, shared_answer *of, written *by, bool good)
{
    free(of->passing.text);
    of->passing = (written){.text = NULL};
    if (good) {
        keep(shared, of, by);
    } else {
        forget_text(of, by);
        of->passing = *by;
        by->text = NULL;
    }
    of->reading = false;
    of->readings++;
    (void)pthread_cond_broadcast(&shared->changed);
}

/* A call needs it no more. */
static void leave(shared_answer *of)
{
    if (--of->users > 0) return;
    free(of->passing.text);
    of->passing = (written){.text = NULL};
}

/* Gives a call the newest that was read. False: there is nothing. */
static bool write_newest(web_call *call, const shared_answer *of)
{
    if (of->began_at > 0) {
        (void)fwrite(of->text, 1, of->length, call->out);
        return true;
    }
    if (of->passing.text == NULL) return false;
    call->http->status = of->passing.status;
    call->http->retry_after = of->passing.retry_after;
    (void)fwrite(of->passing.text, 1, of->passing.length, call->out);
    return true;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static int64_t own_time_us(void)
{
    struct timespec at;

    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at) == 0 ? at.tv_sec * 1000000 + at.tv_nsec / 1000 : 0;
}

/* Lets the call write, and takes a copy. False: it is an error, or too long to be kept. */
static bool read_anew(web_call *call, void (*run)(web_call *call), written *ret)
{
    FILE *out = call->out;
    int64_t began_us = rv_now_us(), own_us = own_time_us();

    *ret = (written){.began_at = rv_now_ms()};
    call->out = open_memstream(&ret->text, &ret->length);
    if (call->out == NULL) {
        call->out = out;
        run(call);
        return false;
    }
    run(call);
    bool whole = fclose(call->out) == 0;
    call->out = out;
    if (whole) {
        (void)fwrite(ret->text, 1, ret->length, out);
    } else {
        free(ret->text);
        ret->text = NULL;
        web_refuse(call, 503, "busy", "no memory");
    }
    ret->status = call->http->status;
    ret->retry_after = call->http->retry_after;
    ret->cost_us = rv_now_us() - began_us - (own_time_us() - own_us);
    return whole && ret->status == 200 && ret->length <= TEXT_MAX;
}

/* Reads it for all who ask. */
static void read_for_all(web_call *call, void (*run)(web_call *call), shared_answer *of)
{
    struct web_shared *shared = call->web->shared;
    written by;
    bool good = read_anew(call, run, &by);

    rv_lock(&shared->lock);
    end_reading(shared, of, &by, good);
    leave(of);
    rv_unlock(&shared->lock);
    free(by.text);
}

/* A page of the dashboard that opens asks for it again soon. */
static void read_for_one(web_call *call, void (*run)(web_call *call), const char *key)
{
    struct web_shared *shared = call->web->shared;
    written by;
    bool good = read_anew(call, run, &by);

    rv_lock(&shared->lock);
    shared_answer *of = find(shared, key);
    if (good && of == NULL && rv_http_server_header(call->http, "X-Reeve-Page") != NULL)
        of = make(shared, key, call->route);
    if (of != NULL && good) keep(shared, of, &by);
    if (of != NULL && !good) forget_text(of, &by);
    rv_unlock(&shared->lock);
    free(by.text);
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

/* A directive; NULL: the header does not have it. */
static const char *directive(const char *header, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = header; *at != '\0'; at += strcspn(at, ",")) {
        at += strspn(at, ", \t");
        if (strncasecmp(at, name, length) == 0 && strchr("=, \t", at[length]) != NULL) return at + length;
    }
    return NULL;
}

bool web_shared_may_be_old(const char *cache_control, int64_t *ret_interval_ms)
{
    const char *age = cache_control == NULL ? NULL : directive(cache_control, "max-age");
    char digits[8];
    int64_t seconds;

    if (age == NULL || age[0] != '=' || directive(cache_control, "max-stale") == NULL) return false;
    size_t length = strcspn(++age, ", \t");
    (void)snprintf(digits, sizeof(digits), "%.*s", length < sizeof(digits) ? (int)length : (int)sizeof(digits), age);
    if (length >= sizeof(digits) || !rv_parse_int(digits, 1, INTERVAL_MAX_S, &seconds)) return false;
    *ret_interval_ms = seconds * 1000;
    return true;
}

static void add_parameter(void *user, const char *name, const char *value)
{
    rv_buf *key = user;

    rv_buf_adds(key, "&");
    rv_buf_adds(key, name);
    rv_buf_adds(key, "=");
    rv_buf_adds(key, value);
}

/* Path and query, encoded as they came. */
static bool write_key(const web_call *call, rv_buf *ret)
{
    rv_buf_init(ret, KEY_MAX);
    rv_buf_adds(ret, call->http->path);
    rv_buf_adds(ret, "?");
    rv_http_server_each_query(call->http, add_parameter, ret);
    rv_buf_addc(ret, '\0');
    return !ret->failed;
}

/* Waits for the end of the reading that is under way. */
static void await_reading(struct web_shared *shared, const shared_answer *of)
{
    uint64_t before = of->readings;

    while (of->readings == before) (void)pthread_cond_wait(&shared->changed, &shared->lock);
}

/* Gives an answer that there is, or that is being read, however long that takes. False: the call reads it; *ret: for all who
 * ask, or NULL. */
static bool give(web_call *call, const char *key, int64_t interval_ms, shared_answer **ret)
{
    struct web_shared *shared = call->web->shared;

    *ret = NULL;
    rv_lock(&shared->lock);
    shared_answer *of = find(shared, key);
    if (of == NULL) of = make(shared, key, call->route);
    if (of == NULL) {
        rv_unlock(&shared->lock);
        return false;
    }
    of->asked_at = rv_now_ms();
    of->pace.interval_ms = interval_ms;
    of->users++;
    bool fresh = is_fresh(shared, of), reads = !fresh && !of->reading;
    if (reads) {
        of->reading = true;
        *ret = of;
    } else {
        if (!fresh) await_reading(shared, of);
        fresh = write_newest(call, of);
        leave(of);
    }
    rv_unlock(&shared->lock);
    return fresh;
}

static void answer_shared(web_call *call, void (*run)(web_call *call), const char *key)
{
    int64_t interval_ms;
    shared_answer *of = NULL;

    if (web_shared_may_be_old(rv_http_server_header(call->http, "Cache-Control"), &interval_ms) &&
        give(call, key, interval_ms, &of))
        return;
    if (of != NULL)
        read_for_all(call, run, of);
    else
        read_for_one(call, run, key);
}

void web_shared_answer(web_call *call, void (*run)(web_call *call))
{
    rv_buf key;
    bool waits = (call->route->flags & WEB_WAIT) != 0 && rv_http_server_query(call->http, "wait") != NULL;

    if ((call->route->flags & WEB_SHARED) == 0 || waits) {
        run(call);
        return;
    }
    if (write_key(call, &key))
        answer_shared(call, run, key.data);
    else
        run(call);
    rv_buf_fini(&key);
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

struct web_shared *web_shared_open(void)
{
    struct web_shared *shared = rv_zalloc(sizeof(*shared));

    if (shared == NULL) return NULL;
    shared->least_us = rv_zalloc_array(web_route_count, sizeof(*shared->least_us));
    if (shared->least_us == NULL) {
        rv_free(shared);
        return NULL;
    }
    rv_lock_init(&shared->lock);
    rv_lock_check(pthread_cond_init(&shared->changed, NULL));
    return shared;
}

void web_shared_close(struct web_shared *shared)
{
    if (shared == NULL) return;
    for (size_t i = 0; i < ANSWERS_MAX; i++) empty(&shared->list[i]);
    (void)pthread_cond_destroy(&shared->changed);
    rv_lock_fini(&shared->lock);
    rv_free(shared->least_us);
    rv_free(shared);
}
