#include "upkeep/requests.h"

#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "running/bound.h"
#include "running/phase.h"
#include "running/pool_change.h"
#include "upkeep/reload_request.h"

#define ID_MAX 32
#define ANSWER_MAX (1024 * 1024) /* bytes of its text */
#define KEPT_MS 60000            /* how long an answer waits for Redis, and then in Redis */
#define ANSWERS_AT_ONCE 64

/* ---- answers --------------------------------------------------------------------------------------------------- */

typedef struct rv_answer {
    struct rv_answer *next;
    int64_t until_ms; /* then nobody waits for it any more */
    bool done;
    char id[ID_MAX + 1];
    char text[]; /* with its end */
} rv_answer;

reeve_status rv_requests_answer(reeve_worker *worker, const char *id, bool done, const char *text)
{
    rv_keeper *keeper = &worker->keeper;
    size_t length = rv_utf8_cut(text, strlen(text), ANSWER_MAX);
    rv_answer *answer = rv_zalloc(sizeof(*answer) + length + 1);
    if (answer == NULL) return REEVE_ENOMEM;
    answer->done = done;
    answer->until_ms = rv_deadline(KEPT_MS);
    rv_copy_text(answer->id, sizeof(answer->id), id);
    memcpy(answer->text, text, length);
    rv_lock(&keeper->thread.lock);
    rv_answer **end = &keeper->answers;
    while (*end != NULL) end = &(*end)->next;
    *end = answer;
    rv_unlock(&keeper->thread.lock);
    rv_waker_ring(&keeper->thread.waker);
    return REEVE_OK;
}

bool rv_requests_has_answers(reeve_worker *worker)
{
    rv_lock(&worker->keeper.thread.lock);
    bool has = worker->keeper.answers != NULL;
    rv_unlock(&worker->keeper.thread.lock);
    return has;
}

static void build(rv_conn *conn, const reeve_worker *worker, const rv_answer *answer)
{
    char key[RV_NS_MAX + ID_MAX + 16], words[RV_RANDOM_LENGTH + 16];
    (void)snprintf(key, sizeof(key), "%s:answer:%s", worker->ns, answer->id);
    int length = snprintf(words, sizeof(words), "%s %s ", worker->id, answer->done ? "ok" : "refused");
    rv_cmd(conn, 3);
    rv_args(conn, "RPUSH");
    rv_args(conn, key);
    rv_arg2(conn, words, (size_t)length, answer->text, strlen(answer->text));
    rv_cmd(conn, 3);
    rv_args(conn, "PEXPIRE");
    rv_args(conn, key);
    rv_argi(conn, KEPT_MS);
}

static void on_sent(size_t index, const rv_reply *reply, void *context)
{
    char *refused = context;
    (void)index;
    if (rv_reply_is(reply, RV_ERROR) && refused[0] == '\0') rv_copy_text(refused, 256, reply->text);
}

/* The first answers, as many as are sent at once. */
static size_t count_answers(const rv_answer *first)
{
    size_t count = 0;
    for (; first != NULL && count < ANSWERS_AT_ONCE; first = first->next) count++;
    return count;
}

/* Frees the first answers; of the others those that nobody waits for any more. */
static void drop(rv_keeper *keeper, size_t count)
{
    rv_lock(&keeper->thread.lock);
    for (rv_answer **at = &keeper->answers; *at != NULL;) {
        rv_answer *answer = *at;
        if (count == 0 && rv_now_ms() < answer->until_ms) {
            at = &answer->next;
            continue;
        }
        if (count > 0) count--;
        *at = answer->next;
        rv_free(answer);
    }
    rv_unlock(&keeper->thread.lock);
}

void rv_requests_send(reeve_worker *worker, int64_t deadline)
{
    rv_keeper *keeper = &worker->keeper;
    char refused[256] = "";
    /* Only the keeper removes answers, and others are added behind these. */
    rv_lock(&keeper->thread.lock);
    const rv_answer *first = keeper->answers;
    size_t count = count_answers(first);
    for (size_t i = 0; i < count; i++, first = first->next) build(keeper->thread.conn, worker, first);
    rv_unlock(&keeper->thread.lock);
    if (count == 0) return;
    reeve_status status = rv_conn_exec(keeper->thread.conn, deadline, on_sent, refused);
    drop(keeper, status == REEVE_OK ? count : 0);
    if (refused[0] != '\0')
        rv_log(REEVE_LOG_WARN, "control.unanswered", "Redis refused the answer to a request", "worker", worker->id,
               "error", refused, NULL);
}

void rv_requests_fini(reeve_worker *worker)
{
    for (rv_answer *answer = worker->keeper.answers, *next; answer != NULL; answer = next) {
        next = answer->next;
        rv_free(answer);
    }
    worker->keeper.answers = NULL;
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

/* A request, in words. */
typedef struct request {
    const char *id;
    const char *whole;
    char verb[24];
    char first[RV_POOL_NAME_MAX + 1]; /* a pool */
    char second[REEVE_QUEUE_MAX + 1];
    char third[24];
    char more[4];
    int words; /* with the verb */
} request;

static bool read_count(const char *text, unsigned *ret)
{
    int64_t number;
    if (!rv_parse_int(text, 0, INT32_MAX, &number)) return false;
    *ret = (unsigned)number;
    return true;
}

/* "threads POOL MIN MAX" */
static reeve_status set_threads(reeve_worker *worker, const request *r, rv_error *error)
{
    unsigned min, max;
    if (r->words != 4 || !read_count(r->second, &min) || !read_count(r->third, &max))
        return rv_fail(error, REEVE_EINVAL, "threads: a pool and two numbers are expected");
    return rv_pool_change_threads(worker, r->first, min, max, error);
}

/* "add-queue POOL QUEUE [WEIGHT]", "remove-queue POOL QUEUE" */
static reeve_status change_queue(reeve_worker *worker, const request *r, rv_error *error)
{
    unsigned weight = 1;
    bool adds = strcmp(r->verb, "add-queue") == 0;
    if (r->words < 3 || r->words > 3 + adds || (r->words == 4 && !read_count(r->third, &weight)))
        return rv_fail(error, REEVE_EINVAL, "%s: a pool and a queue are expected", r->verb);
    return adds ? rv_pool_change_add_queue(worker, r->first, r->second, weight, error)
                : rv_pool_change_remove_queue(worker, r->first, r->second, error);
}

static reeve_status become_quiet(reeve_worker *worker, const request *r, rv_error *error)
{
    (void)r;
    if (rv_phase_quiet(worker) || rv_worker_phase(worker) == RV_PHASE_QUIET) return REEVE_OK;
    return rv_fail(error, REEVE_ESTATE, "the worker is stopping");
}

static reeve_status resume(reeve_worker *worker, const request *r, rv_error *error)
{
    (void)r;
    return rv_phase_resume(worker, error);
}

static reeve_status set_log_level(reeve_worker *worker, const request *r, rv_error *error)
{
    static const char *const levels[] = {"debug", "info", "warn", "error", "off"};
    (void)worker;
    for (int i = 0; i <= REEVE_LOG_OFF; i++) {
        if (strcmp(levels[i], r->first) != 0) continue;
        if (!rv_log_set_level((reeve_log_level)i))
            return rv_fail(error, REEVE_ESTATE, "the program of this worker has no log");
        rv_log(REEVE_LOG_INFO, "log.level", "the level of the log was set", "level", r->first, NULL);
        return REEVE_OK;
    }
    return rv_fail(error, REEVE_EINVAL, "log-level: debug, info, warn, error or off is expected");
}

/* "broadcast QUEUE ID": the task of this worker has its id behind that one. */
static reeve_status take_broadcast(reeve_worker *worker, const request *r, rv_error *error)
{
    char queue[REEVE_QUEUE_MAX + 2] = "", broadcast[48] = "", id[REEVE_ID_MAX], more[4];
    _Static_assert(REEVE_QUEUE_MAX == 64, "the format has this length");
    int words = sscanf(r->whole, "broadcast %65s %47s %3s", queue, broadcast, more);
    (void)snprintf(id, sizeof(id), "%s.%s", broadcast, worker->id);
    if (words != 2 || !rv_valid_id(id, strlen(id)))
        return rv_fail(error, REEVE_EINVAL, "broadcast: a queue and the id of a broadcast are expected");
    return rv_bound_add(worker, queue, id, error);
}

/* What the program does, not the library. Its answer comes later. */
static bool pass_on(reeve_worker *worker, const request *r, rv_error *error)
{
    static const char *const known[] = {"stop", "reload", "rotate-logs"};
    bool is_known = strcmp(r->verb, "stack") == 0 && r->words <= 2;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        is_known = is_known || (strcmp(known[i], r->verb) == 0 && r->words == 1);
    if (!is_known) {
        (void)rv_fail(error, REEVE_EINVAL, "this worker does not know the request \"%.100s\"", r->whole);
        return false;
    }
    if (worker->on_request != NULL && worker->on_request(worker->on_request_user, r->id, r->whole)) return true;
    if (strcmp(r->verb, "reload") == 0) return rv_reload_request_start(worker, r->id, error) == REEVE_OK;
    (void)rv_fail(error, REEVE_EUNSUPPORTED, "the program of this worker does not carry out \"%s\"", r->verb);
    return false;
}

static void carry_out(reeve_worker *worker, const request *r)
{
    static const struct {
        const char *verb;
        reeve_status (*run)(reeve_worker *worker, const request *r, rv_error *error);
        const char *done;
    } own[] = {{"quiet", become_quiet, "takes no new tasks"},
               {"resume", resume, "takes tasks"},
               {"threads", set_threads, "the threads are set"},
               {"add-queue", change_queue, "the queue was added"},
               {"remove-queue", change_queue, "the queue was removed"},
               {"log-level", set_log_level, "the level is set"},
               {"broadcast", take_broadcast, "a thread will run the task"}};
    rv_error error = {0};
    size_t i = 0, count = sizeof(own) / sizeof(own[0]);
    rv_log(REEVE_LOG_INFO, "control.request", "a request has come", "worker", worker->id, "request", r->whole, NULL);
    while (i < count && strcmp(own[i].verb, r->verb) != 0) i++;
    if (i == count && pass_on(worker, r, &error)) return;
    bool done = i < count && own[i].run(worker, r, &error) == REEVE_OK;
    if (!done)
        rv_log(REEVE_LOG_WARN, "control.refused", "a request was refused", "request", r->whole, "error", error.text,
               NULL);
    (void)rv_requests_answer(worker, r->id, done, done ? own[i].done : error.text);
}

static bool is_id(const char *text)
{
    size_t length = strspn(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_");
    return length > 0 && length <= ID_MAX && text[length] == '\0';
}

void rv_requests_hear(reeve_worker *worker, const char *message)
{
    char id[ID_MAX + 2] = "";
    int begin = 0;
    request r = {.id = id};
    if (sscanf(message, "ask %33s %n", id, &begin) == 1 && begin > 0 && is_id(id)) {
        r.whole = message + begin;
        r.words = sscanf(r.whole, "%23s %64s %64s %23s %3s", r.verb, r.first, r.second, r.third, r.more);
    }
    if (r.words > 0) {
        carry_out(worker, &r);
        return;
    }
    if (rv_repeated_is_new(&worker->keeper.malformed, "request", rv_now_ms()))
        rv_log(REEVE_LOG_WARN, "control.malformed", "a message on the control channel is no request: it is ignored",
               "worker", worker->id, NULL);
}
