/*
 * web_lease.c - leases by HTTP: a program in any language leases tasks, extends the leases, and settles the tasks.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/lease_view.h"
#include "cli/settle_word.h"
#include "reeve/consumer.h"
#include "web.h"

#define QUEUE(call) ((call)->params.value[0])
#define ID(call) ((call)->params.value[1])
#define WAIT_MAX_MS 60000
#define LEASE_MS 60000
#define LEASE_MIN_MS 500

struct lease {
    int64_t for_ms, wait_ms, count;
};

static bool read_lease(web_call *call, struct lease *ret)
{
    const cJSON *count = cJSON_GetObjectItemCaseSensitive(call->body, "count");

    if (!web_body_duration(call, "for", LEASE_MS, &ret->for_ms)) return false;
    if (!web_body_duration(call, "wait", 0, &ret->wait_ms)) return false;
    if (ret->wait_ms > WAIT_MAX_MS) ret->wait_ms = WAIT_MAX_MS;
    if (ret->for_ms < LEASE_MIN_MS) {
        web_refuse(call, 400, "invalid", "\"for\": expected at least %d ms", LEASE_MIN_MS);
        return false;
    }
    ret->count = 1;
    if (count == NULL) return true;
    ret->count = count->valueint;
    if (cJSON_IsNumber(count) && count->valuedouble == count->valueint && count->valueint >= 1 &&
        count->valueint <= REEVE_CONSUMER_MAX)
        return true;
    web_refuse(call, 400, "invalid", "\"count\": expected a whole number from 1 to %d", REEVE_CONSUMER_MAX);
    return false;
}

static reeve_consumer *open_consumer(web_call *call, const struct lease *lease)
{
    const web_options *options = &call->web->options;
    const char *const queues[] = {QUEUE(call)};
    char words[512] = "";
    reeve_consumer *consumer = NULL;
    const reeve_consumer_options own = {.size = sizeof(own),
                                        .redis = options->redis,
                                        .ns = options->ns,
                                        .tls = options->tls,
                                        .queues = queues,
                                        .queue_count = 1,
                                        .session_ms = lease->for_ms,
                                        .size_limits = options->size_limits};
    reeve_status status = reeve_consumer_open(&consumer, &own, words, sizeof(words));

    if (status != REEVE_OK) web_refuse_words(call, status, words);
    return consumer;
}

/* The leases stay when the consumer goes. */
static void print_leases(web_call *call, reeve_consumer *consumer, reeve_task *const *tasks, unsigned count,
                         int64_t for_ms)
{
    (void)fputs("{\"tasks\":[", call->out);
    for (unsigned i = 0; i < count; i++) {
        char token[REEVE_TOKEN_MAX] = "";
        if (i > 0) (void)fputc(',', call->out);
        (void)reeve_consumer_token(consumer, tasks[i], token);
        cli_lease_json(tasks[i], token, for_ms, call->out);
    }
    (void)fputs("]}\n", call->out);
}

static void stop_waiting(void *consumer)
{
    reeve_consumer_interrupt(consumer);
}

/* Waits for tasks until the client has closed the connection: *ret_gone. */
static reeve_status wait_for(web_call *call, reeve_consumer *consumer, const struct lease *lease, reeve_task **ret,
                             unsigned *ret_count, bool *ret_gone)
{
    const unsigned count = (unsigned)lease->count;

    *ret_count = 0;
    *ret_gone = false;
    if (lease->wait_ms == 0) return reeve_consumer_lease(consumer, ret, count, 0, ret_count);
    rv_http_server_watch(call->http, stop_waiting, consumer);
    reeve_status status = reeve_consumer_lease(consumer, ret, count, lease->wait_ms, ret_count);
    *ret_gone = rv_http_server_unwatch(call->http);
    return status == REEVE_EINTERRUPTED ? REEVE_OK : status;
}

/* What a client has that does not read the answer any more goes back to its queue. */
static void lease_with(web_call *call, reeve_consumer *consumer, const struct lease *lease)
{
    reeve_task *tasks[REEVE_CONSUMER_MAX];
    unsigned count;
    bool gone;
    reeve_status status = wait_for(call, consumer, lease, tasks, &count, &gone);

    if (status != REEVE_OK)
        web_refuse_words(call, status, reeve_consumer_error(consumer));
    else
        print_leases(call, consumer, tasks, gone ? 0 : count, lease->for_ms);
    if (status == REEVE_OK && count > 0 && !gone)
        (void)reeve_consumer_detach(consumer);
    else
        (void)reeve_consumer_close(consumer);
}

void web_run_lease(web_call *call)
{
    struct lease lease;
    reeve_consumer *consumer = read_lease(call, &lease) ? open_consumer(call, &lease) : NULL;

    if (consumer != NULL) lease_with(call, consumer, &lease);
}

/* ---- settle ---------------------------------------------------------------------------------------------------- */

/* What a request settles a task with; its texts are those of the body. */
typedef struct settlement {
    reeve_lease_outcome outcome;
    reeve_parent after[CLI_SETTLE_AFTER_MAX];
    char *result; /* to be freed */
} settlement;

/* null is absent, but for a result, which may be any value. */
static bool has(const web_call *call, const char *name)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(call->body, name);

    return value != NULL && (!cJSON_IsNull(value) || strcmp(name, "result") == 0);
}

/* The outcome, which must have the members that it needs, and no others. */
static const cli_settle_word *read_word(web_call *call)
{
    const char *name = web_body_text(call, "outcome");
    const cli_settle_word *word = name == NULL ? NULL : cli_settle_word_find(name);

    if (word == NULL) {
        web_refuse(call, 400, "invalid", "\"outcome\": expected " CLI_SETTLE_WORDS);
        return NULL;
    }
    for (const char *const *option = cli_settle_word_options; *option != NULL; option++) {
        if (!has(call, *option) || cli_settle_word_takes(word, *option)) continue;
        web_refuse(call, 400, "invalid", "\"%s\" does not go with the outcome %s", *option, word->word);
        return NULL;
    }
    if (word->needs == NULL || has(call, word->needs)) return word;
    web_refuse(call, 400, "invalid", "the outcome %s needs \"%s\"", word->word, word->needs);
    return NULL;
}

/* A text of the body or an array of them, whose rules are cut off in place. */
static bool read_after(web_call *call, settlement *to)
{
    cJSON *list = cJSON_GetObjectItemCaseSensitive(call->body, "after");
    bool is_array = cJSON_IsArray(list);
    cJSON *item = is_array ? list->child : list;
    reeve_lease_outcome *outcome = &to->outcome;
    bool good = !has(call, "after") || item != NULL;

    outcome->after = to->after;
    /* What is next to a text is another member of the body. */
    for (; has(call, "after") && item != NULL; item = is_array ? item->next : NULL) {
        good = good && cJSON_IsString(item) && outcome->after_count < CLI_SETTLE_AFTER_MAX &&
               cli_settle_word_after(item->valuestring, &to->after[outcome->after_count++]);
    }
    if (!good)
        web_refuse(call, 400, "invalid", "\"after\": expected a text, or an array of 1 to %d, each " CLI_SETTLE_AFTER,
                   CLI_SETTLE_AFTER_MAX);
    return good;
}

/* The result as it was written, so that a number keeps all its digits; of a text its bytes. The caller frees *ret_made. */
static bool read_result(web_call *call, reeve_bytes *ret, char **ret_made)
{
    cli_value value;

    if (!web_body_source(call, "result", &value)) return true;
    char *made = *ret_made = rv_alloc(value.length + 1);
    if (made == NULL) {
        web_refuse_status(call, REEVE_ENOMEM);
        return false;
    }
    ret->data = made;
    if (value.kind != CLI_VALUE_STRING) {
        ret->length = cli_scan_compact(&value, made);
        return true;
    }
    if (cli_scan_string(&value, made, &ret->length)) return true;
    web_refuse(call, 400, "invalid", "\"result\": half a surrogate pair is no text");
    return false;
}

static bool read_settlement(web_call *call, settlement *ret)
{
    const cli_settle_word *word = read_word(call);
    reeve_lease_outcome *outcome = &ret->outcome;
    const char *reason = web_body_text(call, "reason");

    if (word == NULL) return false;
    *outcome = (reeve_lease_outcome){.size = sizeof(*outcome),
                                     .outcome = word->outcome,
                                     .has_delay = has(call, "in"),
                                     .kind = web_body_text(call, "kind"),
                                     .message = reason != NULL ? reason : web_body_text(call, "message")};
    return web_body_duration(call, "in", 0, &outcome->delay_ms) && read_after(call, ret) &&
           read_result(call, &outcome->result, &ret->result);
}

void web_run_settle(web_call *call)
{
    const char *token = web_body_text(call, "lease");
    settlement given = {.result = NULL};

    if (token == NULL) {
        web_refuse(call, 400, "invalid", "\"lease\" is missing: the token of the lease");
    } else if (read_settlement(call, &given)) {
        reeve_status status = reeve_lease_settle(call->client, QUEUE(call), ID(call), token, &given.outcome);
        if (status == REEVE_OK)
            web_done(call);
        else
            web_refuse_status(call, status);
    }
    rv_free(given.result);
}

void web_run_heartbeat(web_call *call)
{
    const char *token = web_body_text(call, "lease");
    int64_t for_ms;

    if (token == NULL) {
        web_refuse(call, 400, "invalid", "\"lease\" is missing: the token of the lease");
        return;
    }
    if (!web_body_duration(call, "for", LEASE_MS, &for_ms)) return;
    reeve_status status = reeve_lease_extend(call->client, QUEUE(call), ID(call), token, for_ms);
    if (status == REEVE_OK)
        web_done(call);
    else
        web_refuse_status(call, status);
}
