/*
 * client_ask.c - requests to running workers, and their answers: a message on the channel of each worker, and one list
 * for the answers to all of them.
 */
#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/client.h"
#include "client/client_ask.h"

#define REQUEST_MAX 500
#define WORKERS_MAX 1000
#define WAIT_MS 1000 /* of one call */
/* Between two requests to workers that do not listen, and in a cluster, which does not tell whether those of the list do. */
#define AGAIN_MS 100
#define CLUSTER_AGAIN_MS 1000

typedef struct asking {
    reeve_client *client;
    const char *const *workers;
    size_t count;
    const char *request;
    char id[RV_RANDOM_LENGTH + 1];
    reeve_answer *answers;
    size_t open; /* how many may still answer */
    int64_t wait_ms;
    bool insists;    /* workers that do not listen yet are asked again, until the end */
    size_t *targets; /* to whom the messages of a call go: indexes of workers */
    size_t target_count;
    char **whole; /* of the only worker: its answer, not cut; NULL: nobody wants it */
} asking;

static void build_request(rv_conn *conn, bool again, const void *context)
{
    const asking *a = context;
    char channel[RV_NS_MAX + RV_RANDOM_LENGTH + 16], message[REQUEST_MAX + RV_RANDOM_LENGTH + 16];
    (void)again; /* the worker answers twice: the second answer is left to expire */
    (void)snprintf(message, sizeof(message), "ask %s %s", a->id, a->request);
    for (size_t i = 0; i < a->target_count; i++) {
        const char *worker = a->workers[a->targets[i]];
        (void)snprintf(channel, sizeof(channel), "%s:alive:%.*s", a->client->ns, RV_RANDOM_LENGTH, worker);
        rv_cmd(conn, 3);
        rv_args(conn, "PUBLISH");
        rv_args(conn, channel);
        rv_args(conn, message);
    }
}

#define DEAF "it does not listen: it has ended, or may not subscribe to channels"

static void close_answer(asking *a, size_t index, const char *text)
{
    rv_copy_text(a->answers[index].text, sizeof(a->answers[index].text), text);
}

/* The number of subscribers: 0 says that the worker does not listen. */
static void on_published(size_t index, const rv_reply *reply, void *context)
{
    asking *a = context;
    if (index >= a->target_count) return;
    size_t worker = a->targets[index];
    if (rv_reply_is(reply, RV_ERROR))
        close_answer(a, worker, reply->text);
    else if (rv_reply_int(reply, 0) == 0 && a->client->url.kind != RV_URL_CLUSTER)
        close_answer(a, worker, DEAF);
    else
        close_answer(a, worker, "");
}

/* Whether a worker may still answer. */
static bool is_open(const reeve_answer *answer)
{
    return !answer->answered && answer->text[0] == '\0';
}

static bool is_deaf(const reeve_answer *answer)
{
    return !answer->answered && strcmp(answer->text, DEAF) == 0;
}

static void build_known(rv_conn *conn, bool again, const void *context)
{
    const asking *a = context;
    (void)again;
    for (size_t i = 0; i < a->target_count; i++) {
        rv_cmd(conn, 3);
        rv_args(conn, "SISMEMBER");
        rv_arg2(conn, a->client->ns, strlen(a->client->ns), ":workers", 8);
        rv_arg(conn, a->workers[a->targets[i]], strnlen(a->workers[a->targets[i]], RV_RANDOM_LENGTH));
    }
}

static void on_known(size_t index, const rv_reply *reply, void *context)
{
    asking *a = context;
    if (index >= a->target_count || !rv_reply_is(reply, RV_INT) || rv_reply_int(reply, 1) != 0) return;
    if (is_open(&a->answers[a->targets[index]])) close_answer(a, a->targets[index], DEAF);
}

/* A node of a cluster counts its own subscribers only: there the workers that exist are those of the list. */
static reeve_status publish(asking *a)
{
    reeve_status status = rv_client_exec(a->client, build_request, a, on_published, a, NULL);
    if (status == REEVE_OK && a->client->url.kind == RV_URL_CLUSTER)
        status = rv_client_exec(a->client, build_known, a, on_known, a, NULL);
    a->open = 0;
    for (size_t i = 0; i < a->count; i++) a->open += is_open(&a->answers[i]);
    return status;
}

/* A worker is in the list before it listens, and a moment without a connection does not listen. */
static reeve_status ask_again(asking *a)
{
    bool cluster = a->client->url.kind == RV_URL_CLUSTER;
    a->target_count = 0;
    for (size_t i = 0; i < a->count; i++)
        if (is_deaf(&a->answers[i]) || (cluster && is_open(&a->answers[i]))) a->targets[a->target_count++] = i;
    return a->target_count > 0 ? publish(a) : REEVE_OK;
}

static void build_wait(rv_conn *conn, bool again, const void *context)
{
    const asking *a = context;
    char key[RV_NS_MAX + RV_RANDOM_LENGTH + 16], seconds[32];
    (void)again;
    (void)snprintf(key, sizeof(key), "%s:answer:%s", a->client->ns, a->id);
    (void)snprintf(seconds, sizeof(seconds), "%lld.%03lld", (long long)a->wait_ms / 1000, (long long)a->wait_ms % 1000);
    rv_cmd(conn, 3);
    rv_args(conn, "BLPOP");
    rv_args(conn, key);
    rv_args(conn, seconds);
}

/* "<worker> ok <text>" or "<worker> refused <text>" */
static void take_answer(asking *a, const char *words)
{
    char worker[RV_RANDOM_LENGTH + 2], how[10];
    int text = 0;
    if (sscanf(words, "%17s %9s %n", worker, how, &text) != 2 || text == 0) return;
    for (size_t i = 0; i < a->count; i++) {
        reeve_answer *answer = &a->answers[i];
        if (strcmp(a->workers[i], worker) != 0 || answer->answered) continue;
        if (a->open > 0 && is_open(answer)) a->open--;
        answer->answered = true;
        answer->done = strcmp(how, "ok") == 0;
        rv_copy_text(answer->text, sizeof(answer->text), words + text);
        if (a->whole != NULL) *a->whole = rv_strdup(words + text);
    }
}

/* 0: nobody is to be asked again. */
static int64_t again_ms(const asking *a)
{
    if (!a->insists) return 0;
    if (a->client->url.kind == RV_URL_CLUSTER && a->open > 0) return CLUSTER_AGAIN_MS;
    for (size_t i = 0; i < a->count; i++)
        if (is_deaf(&a->answers[i])) return AGAIN_MS;
    return 0;
}

static reeve_status wait_for_one(asking *a)
{
    const rv_reply *reply;
    reeve_status status = rv_client_call(a->client, build_wait, a, &reply, NULL);
    if (status != REEVE_OK) return status;
    const rv_reply *words = rv_reply_at(reply, 1);
    if (rv_reply_is(reply, RV_ARRAY) && rv_reply_is(words, RV_TEXT)) take_answer(a, words->text);
    return REEVE_OK;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static reeve_status wait_for_answers(asking *a, int64_t deadline)
{
    int64_t longest = smaller(a->client->timeout_ms / 2, WAIT_MS), asked = rv_now_ms();
    for (;;) {
        int64_t again = again_ms(a), now = rv_now_ms();
        if ((a->open == 0 && again == 0) || now >= deadline) return REEVE_OK;
        reeve_status status = REEVE_OK;
        if (again > 0 && now >= asked + again) {
            status = ask_again(a);
            asked = now;
        }
        a->wait_ms = smaller(deadline - now, again > 0 ? smaller(longest, again) : longest);
        if (a->wait_ms < 1) a->wait_ms = 1;
        if (status == REEVE_OK) status = wait_for_one(a);
        if (status != REEVE_OK) return status;
    }
}

static reeve_status check(reeve_client *client, const char *request, size_t count, int64_t timeout_ms)
{
    size_t length = strlen(request);
    if (length == 0 || length > REQUEST_MAX || strpbrk(request, "\r\n") != NULL)
        return rv_fail(&client->error, REEVE_EINVAL, "a request is one line of 1 to %d bytes", REQUEST_MAX);
    if (count > WORKERS_MAX) return rv_fail(&client->error, REEVE_EINVAL, "at most %d workers", WORKERS_MAX);
    if (timeout_ms < 0) return rv_fail(&client->error, REEVE_EINVAL, "a time limit of %lld ms", (long long)timeout_ms);
    return REEVE_OK;
}

static reeve_status ask(asking *a, int64_t timeout_ms)
{
    reeve_status status = check(a->client, a->request, a->count, timeout_ms);
    if (status != REEVE_OK || a->count == 0) return status;
    int64_t deadline = rv_deadline(timeout_ms);
    rv_random_id(a->id);
    memset(a->answers, 0, a->count * sizeof(*a->answers));
    a->targets = rv_zalloc_array(a->count, sizeof(*a->targets));
    if (a->targets == NULL) return rv_fail(&a->client->error, REEVE_ENOMEM, "no memory for %zu workers", a->count);
    for (size_t i = 0; i < a->count; i++) a->targets[a->target_count++] = i;
    status = publish(a);
    if (status == REEVE_OK) status = wait_for_answers(a, deadline);
    rv_free(a->targets);
    return status;
}

reeve_status rv_client_ask_insist(reeve_client *client, const char *const *workers, size_t count, const char *request,
                                  int64_t timeout_ms, reeve_answer *ret_answers)
{
    asking a = {.client = client,
                .workers = workers,
                .count = count,
                .request = request,
                .answers = ret_answers,
                .insists = true};
    return ask(&a, timeout_ms);
}

reeve_status reeve_ask_workers(reeve_client *client, const char *const *workers, size_t count, const char *request,
                               int64_t timeout_ms, reeve_answer *ret_answers)
{
    if (client == NULL || request == NULL || (count > 0 && (workers == NULL || ret_answers == NULL)))
        return REEVE_EINVAL;
    asking a = {.client = client, .workers = workers, .count = count, .request = request, .answers = ret_answers};
    return ask(&a, timeout_ms);
}

static reeve_status no_answer(reeve_client *client, const char *worker, const reeve_answer *answer)
{
    if (answer->text[0] != '\0') return rv_fail(&client->error, REEVE_ENOTFOUND, "worker %s: %s", worker, answer->text);
    return rv_fail(&client->error, REEVE_ETIMEOUT, "worker %s gave no answer in time", worker);
}

reeve_status reeve_ask_worker(reeve_client *client, const char *worker, const char *request, int64_t timeout_ms,
                              bool *ret_done, char **ret_text)
{
    if (client == NULL || worker == NULL || request == NULL || ret_done == NULL || ret_text == NULL)
        return REEVE_EINVAL;
    reeve_answer answer = {0};
    char *text = NULL;
    asking a = {
        .client = client, .workers = &worker, .count = 1, .request = request, .answers = &answer, .whole = &text};
    reeve_status status = ask(&a, timeout_ms);
    if (status != REEVE_OK) return status;
    if (!answer.answered) return no_answer(client, worker, &answer);
    if (text == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for the answer of worker %s", worker);
    *ret_done = answer.done;
    *ret_text = text;
    return REEVE_OK;
}

void reeve_answer_free(char *text)
{
    rv_free(text);
}
