#include "client/client.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/fork.h"
#include "base/id.h"
#include "base/layout.h"
#include "base/mem.h"
#include "client/buffer.h"
#include "client/confirm.h"
#include "client/partitions.h"
#include "client/spread.h"
#include "client/stand_in.h"
#include "protocol/definition.h"
#include "reeve/depend.h"

#define DEFAULT_TIMEOUT_MS 5000
#define DEFAULT_SPIN_US 50
#define EMBEDDED_START_MS 10000
/* A connection that was unused for longer may have been closed, by a restart of Redis, say: then nothing is sent over
 * it of which it would not be known whether it was carried out. */
#define UNUSED_MS 1000

static reeve_status choose_options(reeve_client *client, const reeve_client_options *options)
{
    const char *ns = rv_keys_choose_ns(options->ns, &client->error);
    if (ns == NULL) return client->error.status;
    rv_copy_text(client->ns, sizeof(client->ns), ns);
    rv_copy_text(client->name, sizeof(client->name), options->name != NULL ? options->name : "reeve-client");
    client->timeout_ms = options->timeout_ms > 0 ? options->timeout_ms : DEFAULT_TIMEOUT_MS;
    client->spin_us = options->spin_us != 0 ? options->spin_us : DEFAULT_SPIN_US;
    const reeve_confirmation confirmation = {
        .replicas = options->wait_replicas, .disk = options->wait_disk, .timeout_ms = options->wait_replicas_ms};
    if (rv_confirm_choose(&client->opened_with, &confirmation, &client->error) != REEVE_OK) return client->error.status;
    client->confirmation = client->opened_with;
    return rv_size_limits_choose(&client->size_limits, &options->size_limits, &client->error);
}

static reeve_status choose_url(reeve_client *client, const reeve_client_options *options)
{
    reeve_status status = rv_url_parse(&client->url, rv_url_choose(options->redis), &client->error);
    return status == REEVE_OK ? rv_url_secure(&client->url, options->tls, &client->error) : status;
}

static reeve_status join_embedded(reeve_client *client)
{
    if (client->url.kind != RV_URL_EMBEDDED) return REEVE_OK;
    rv_url socket;
    reeve_status status = rv_embedded_join(&client->embedded, &client->url, &socket,
                                           rv_deadline(client->timeout_ms + EMBEDDED_START_MS), &client->error);
    if (status != REEVE_OK) return status;
    rv_url_fini(&client->url);
    client->url = socket;
    return REEVE_OK;
}

static reeve_status connect_first(reeve_client *client, const rv_url *url)
{
    reeve_status status = rv_waker_init(&client->waker, &client->error);
    if (status != REEVE_OK) return status;
    rv_conn_options options = {.url = url,
                               .name = client->name,
                               .waker = &client->waker,
                               .command_ms = client->timeout_ms,
                               .spin_us = client->spin_us,
                               .ns = client->ns,
                               .format = RV_FORMAT};
    status = rv_conn_create(&client->conn, &options, &client->error);
    if (status != REEVE_OK) return status;
    rv_conn_ask_clock(client->conn);
    rv_partitions_ask(client);
    client->began_ms = rv_now_ms();
    int64_t wait_ms = client->timeout_ms;
    if (client->buffer != NULL && client->buffer->wait_ms < wait_ms) wait_ms = client->buffer->wait_ms;
    status = rv_conn_open(client->conn, rv_deadline(wait_ms));
    if (status != REEVE_OK) client->error = *rv_conn_error(client->conn);
    return status;
}

static reeve_client *create(void)
{
    reeve_client *client = rv_zalloc(sizeof(*client));
    if (client == NULL) return NULL;
    client->waker.fd = -1;
    client->generation = rv_fork_generation();
    rv_buf_init(&client->scratch, 16 * (size_t)REEVE_META_MAX + REEVE_PARENTS_MAX * 256u);
    return client;
}

reeve_status rv_client_open_to(reeve_client **ret, const rv_url *url, const reeve_client_options *options,
                               rv_error *error)
{
    reeve_client *client = create();
    if (client == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a client");
    reeve_status status = choose_options(client, options);
    if (status == REEVE_OK) status = connect_first(client, url);
    if (status == REEVE_OK) {
        *ret = client;
        return REEVE_OK;
    }
    *error = client->error;
    reeve_client_close(client);
    return status;
}

reeve_status reeve_client_open_with_error_sized(reeve_client **ret, const reeve_client_options *given, char *ret_error,
                                                size_t size, size_t options_size)
{
    reeve_client_options options;
    if (ret == NULL) return REEVE_EINVAL;
    *ret = NULL;
    reeve_client *client = create();
    if (client == NULL) {
        rv_copy_text(ret_error, size, reeve_status_text(REEVE_ENOMEM));
        return REEVE_ENOMEM;
    }
    reeve_status status = RV_LAYOUT_READ(&options, given, options_size, "the client's options", &client->error);
    if (status == REEVE_OK) status = choose_options(client, &options);
    if (status == REEVE_OK) status = choose_url(client, &options);
    if (status == REEVE_OK) status = join_embedded(client);
    if (status == REEVE_OK) status = rv_buffer_open(client, &options);
    if (status == REEVE_OK) status = connect_first(client, &client->url);
    if (client->buffer != NULL && client->conn != NULL && rv_buffer_is_outage(client, status)) {
        /* It opens without Redis. */
        rv_error_clear(&client->error);
        status = REEVE_OK;
    }
    if (status != REEVE_OK) {
        rv_copy_text(ret_error, size, client->error.text);
        reeve_client_close(client);
        return status;
    }
    *ret = client;
    return REEVE_OK;
}

reeve_status reeve_client_open_sized(reeve_client **ret, const reeve_client_options *options, size_t options_size)
{
    return reeve_client_open_with_error_sized(ret, options, NULL, 0, options_size);
}

void reeve_client_close(reeve_client *client)
{
    if (client == NULL) return;
    if (client->stand_in != NULL) client->stand_in->close(client->stand_in_context);
    rv_conn_destroy(client->conn);
    rv_conn_destroy(client->listener);
    if (client->generation == rv_fork_generation())
        rv_embedded_leave(client->embedded);
    else
        rv_embedded_forsake(client->embedded);
    rv_url_fini(&client->url);
    rv_layers_fini(&client->layers);
    rv_partition_map_fini(&client->partitions);
    rv_known_queues_fini(&client->known);
    rv_free(client->confirmed);
    rv_buffer_close(client->buffer, client->generation == rv_fork_generation());
    rv_buf_fini(&client->scratch);
    if (client->waker.fd >= 0) rv_waker_fini(&client->waker);
    rv_free(client);
}

const char *reeve_client_error(const reeve_client *client)
{
    return client != NULL ? client->error.text : "";
}

void reeve_client_interrupt(reeve_client *client)
{
    if (client != NULL && client->generation == rv_fork_generation()) rv_waker_ring(&client->waker);
}

reeve_status rv_client_check_process(reeve_client *client)
{
    if (client->generation == rv_fork_generation()) return REEVE_OK;
    return rv_fail(&client->error, REEVE_EINVAL,
                   "another process opened this client, before a fork: open one in each process");
}

/* True when it was interrupted: only a wait can be. */
static bool pause_was_interrupted(reeve_client *client, int64_t until)
{
    if (client->waiting) return rv_waker_wait(&client->waker, until);
    while (rv_now_ms() < until) (void)poll(NULL, 0, rv_poll_timeout(until));
    return false;
}

/* Opens the connection, trying again until the deadline when it was open before. */
static reeve_status reopen(reeve_client *client, int64_t deadline, unsigned *tries)
{
    for (;;) {
        reeve_status status = rv_conn_open(client->conn, deadline);
        if (status == REEVE_OK) return status;
        client->error = *rv_conn_error(client->conn);
        int64_t pause = rv_backoff_reconnect((*tries)++, rv_random_unit());
        if (status != REEVE_ECONNECT || rv_now_ms() + pause >= deadline) return status;
        if (client->embedded != NULL) {
            rv_error ignored;
            rv_embedded_revive(client->embedded, deadline, &ignored);
        }
        if (pause_was_interrupted(client, rv_now_ms() + pause))
            return rv_fail(&client->error, REEVE_EINTERRUPTED, "interrupted while connecting to Redis");
    }
}

/* How a try is carried out: many commands with a callback, or one whose reply is kept. */
typedef struct carry {
    rv_on_reply on_reply;
    void *context;
    const rv_reply **ret;
} carry;

bool rv_client_put_off(reeve_client *client, const rv_reply *reply)
{
    if (!rv_refusal_passes(rv_refusal_of(reply))) return false;
    if (client->put_off.status == REEVE_OK)
        (void)rv_fail(&client->put_off, REEVE_EREDIS, "Redis answered: %s%s", reply->text,
                      rv_refusal_advice(reply->text));
    if (rv_reply_has_error_code(reply, "READONLY")) client->on_replica = true;
    return true;
}

bool rv_client_was_put_off(const reeve_client *client)
{
    return client->put_off.status != REEVE_OK;
}

bool rv_client_is_on_replica(const reeve_client *client)
{
    return client->can_read && client->on_replica && rv_client_was_put_off(client);
}

/* One try on an open connection. */
static reeve_status try_once(reeve_client *client, int64_t deadline, const carry *how)
{
    rv_error_clear(&client->put_off);
    client->on_replica = false;
    reeve_status status = how->ret != NULL ? rv_conn_call(client->conn, deadline, how->ret)
                                           : rv_conn_exec(client->conn, deadline, how->on_reply, how->context);
    if (status == REEVE_EREDIS && how->ret != NULL) (void)rv_client_put_off(client, *how->ret);
    bool put_off = rv_client_was_put_off(client);
    if (status == REEVE_OK && put_off) status = REEVE_EREDIS;
    if (status == REEVE_OK)
        rv_error_clear(&client->error); /* of an earlier try */
    else
        client->error = put_off && status == REEVE_EREDIS ? client->put_off : *rv_conn_error(client->conn);
    return status;
}

/* Before a node that refused, or hung up, is asked again, or another one in its place. False: there is no time left. */
static bool pause_for_refusal(reeve_client *client, int64_t deadline, unsigned *tries)
{
    int64_t pause = rv_backoff_reconnect((*tries)++, rv_random_unit());
    if (rv_now_ms() + pause >= deadline) return false;
    return !pause_was_interrupted(client, rv_now_ms() + pause);
}

/*
 * The end of a call. Where the reply to an earlier try was lost, that one may have been carried out, whatever became of
 * the later ones; and so may one whose reply was read in part, until memory ran out (its connection is closed then).
 */
static reeve_status end_call(reeve_client *client, reeve_status status, bool again)
{
    bool final = status == REEVE_OK || status == REEVE_ELOST || status == REEVE_ETIMEOUT || status == REEVE_EPROTO ||
                 status == REEVE_EINTERRUPTED;
    client->unsure = again || (status == REEVE_ENOMEM && !rv_conn_is_open(client->conn));
    if (final || !again) return status;
    return rv_fail(&client->error, REEVE_ELOST,
                   "%s; the reply to an earlier try was lost: whether the call was carried out is unknown",
                   client->error.text);
}

reeve_status rv_client_refused(reeve_client *client, const char *text)
{
    (void)rv_fail(&client->error, REEVE_EREDIS, "Redis answered: %s%s", text, rv_refusal_advice(text));
    return end_call(client, REEVE_EREDIS, client->unsure);
}

/* The connection cannot be opened in time. If the node refused before, that is reported as the cause. */
static reeve_status end_unreached(reeve_client *client, reeve_status status, bool again)
{
    if (rv_client_was_put_off(client) && (status == REEVE_ETIMEOUT || status == REEVE_ECONNECT)) {
        client->error = client->put_off;
        status = REEVE_EREDIS;
    }
    return end_call(client, status, again);
}

/* Connects, and ends what was lost: also in an earlier call, which the caller may repeat now. REEVE_ECONNECT: the
 * connection was lost again before anything was sent. */
static reeve_status reach(reeve_client *client, int64_t deadline, unsigned *tries)
{
    for (;;) {
        reeve_status status = reopen(client, deadline, tries);
        if (status != REEVE_OK) return status;
        rv_conn_end_lost(client->conn, deadline);
        if (rv_conn_is_open(client->conn)) return REEVE_OK;
        (void)rv_fail(&client->error, REEVE_ECONNECT, "%s", rv_conn_error(client->conn)->text);
        if (!pause_for_refusal(client, deadline, tries)) return REEVE_ECONNECT;
    }
}

static reeve_status carry_out(reeve_client *client, rv_build_fn build, const void *context, const carry *how,
                              bool *ret_again)
{
    if (client->stand_in != NULL) return rv_stand_in_refuse(client);
    if (rv_client_check_process(client) != REEVE_OK) return client->error.status;
    int64_t deadline = rv_deadline(client->timeout_ms);
    bool again = false;
    unsigned tries = 1, losses = 0;
    int64_t before_ms = client->began_ms;
    client->began_ms = deadline - client->timeout_ms;
    if (client->began_ms - before_ms > UNUSED_MS) rv_conn_check_end(client->conn);
    rv_error_clear(&client->error);
    rv_error_clear(&client->put_off);
    for (;;) {
        reeve_status status = reach(client, deadline, &tries);
        if (status != REEVE_OK) return end_unreached(client, status, again);
        rv_conn_discard(client->conn);
        if (!again) client->began_clock = *rv_conn_clock(client->conn);
        build(client->conn, again, context);
        status = try_once(client, deadline, how);
        if (ret_again != NULL) *ret_again = again;
        if (status == REEVE_EREDIS && rv_client_was_put_off(client) && !rv_client_is_on_replica(client) &&
            pause_for_refusal(client, deadline, &tries))
            continue;
        /* A node of a cluster, which is connected when a command is for it. */
        if (status == REEVE_ECONNECT && pause_for_refusal(client, deadline, &tries)) continue;
        if (status != REEVE_ELOST || rv_now_ms() >= deadline) return end_call(client, status, again);
        if (losses++ > 0 && !pause_for_refusal(client, deadline, &tries)) return end_call(client, status, again);
        again = true;
    }
}

reeve_status rv_client_exec(reeve_client *client, rv_build_fn build, const void *context, rv_on_reply on_reply,
                            void *reply_context, bool *ret_again)
{
    carry how = {.on_reply = on_reply, .context = reply_context};
    return carry_out(client, build, context, &how, ret_again);
}

reeve_status rv_client_call(reeve_client *client, rv_build_fn build, const void *context, const rv_reply **ret,
                            bool *ret_again)
{
    carry how = {.ret = ret};
    return carry_out(client, build, context, &how, ret_again);
}

typedef struct simple_build {
    const rv_simple_call *call;
    rv_prefix prefix;
} simple_build;

static void build_simple(rv_conn *conn, bool again, const void *context)
{
    const simple_build *simple = context;
    (void)again;
    rv_cmd_script(conn, simple->call->script, 1, simple->call->count);
    rv_arg(conn, simple->prefix.text, simple->prefix.length);
    for (size_t i = 0; i < simple->call->count; i++) rv_args(conn, simple->call->args[i]);
}

reeve_status rv_client_script(reeve_client *client, const rv_simple_call *call, const rv_reply **ret, bool *ret_again)
{
    reeve_status status = rv_keys_check_queue(call->queue, &client->error);
    if (status != REEVE_OK) return status;
    if (client->stand_in != NULL) {
        if (ret_again != NULL) *ret_again = false;
        return rv_stand_in_script(client, call, ret);
    }
    const rv_partition_layout *layout = rv_partitions_find(client, call->queue);
    if (layout != NULL) return rv_spread_script(client, layout, call, ret, ret_again);
    simple_build simple = {.call = call};
    rv_keys_set_prefix(&simple.prefix, client->ns, call->queue);
    return rv_client_call(client, build_simple, &simple, ret, ret_again);
}

reeve_status rv_client_script_or_read(reeve_client *client, const rv_simple_call *call, const rv_simple_call *read,
                                      const rv_reply **ret, bool *ret_read)
{
    client->can_read = true;
    reeve_status status = rv_client_script(client, call, ret, NULL);
    *ret_read = status == REEVE_EREDIS && rv_client_is_on_replica(client);
    client->can_read = false;
    return *ret_read ? rv_client_script(client, read, ret, NULL) : status;
}

reeve_status rv_client_odd_reply(reeve_client *client, const char *what)
{
    return rv_fail(&client->error, REEVE_EPROTO, "%s: Redis answered what this version does not understand", what);
}
