#include "client/confirm.h"

#include <limits.h>
#include <string.h>

#include "base/layout.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/partition.h"

/* WAIT ends by itself: the rest is for its reply. */
#define SLACK_MS 2000
#define DEFAULT_MS 1000
#define MAX_MS ((int64_t)24 * 3600 * 1000)

reeve_status rv_confirm_choose(reeve_confirmation *ret, const reeve_confirmation *given, rv_error *error)
{
    *ret = *given;
    if (ret->timeout_ms <= 0) ret->timeout_ms = DEFAULT_MS;
    if (ret->replicas <= INT_MAX && ret->timeout_ms <= MAX_MS) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "the number of replicas to wait for, or the time, is too large");
}

static rv_confirmed_queue *find(const reeve_client *client, const char *queue)
{
    for (size_t i = 0; i < client->confirmed_count; i++)
        if (strcmp(client->confirmed[i].queue, queue) == 0) return &client->confirmed[i];
    return NULL;
}

const reeve_confirmation *rv_confirm_find(const reeve_client *client, const char *queue)
{
    char name[REEVE_QUEUE_MAX + 1];
    if (client->confirmed_count == 0 || queue == NULL) return &client->confirmation;
    rv_copy_text(name, sizeof(name), queue);
    rv_partition_strip(name);
    const rv_confirmed_queue *found = find(client, name);
    return found != NULL ? &found->confirmation : &client->confirmation;
}

bool rv_confirm_add(reeve_confirmation *sum, const reeve_confirmation *more)
{
    if (more->replicas == 0 && !more->disk) return false;
    if (more->replicas > sum->replicas) sum->replicas = more->replicas;
    if (more->timeout_ms > sum->timeout_ms) sum->timeout_ms = more->timeout_ms;
    sum->disk = sum->disk || more->disk;
    return true;
}

/* ---- setting ---------------------------------------------------------------------------------------------------- */

static void remove_setting(reeve_client *client, const char *queue)
{
    rv_confirmed_queue *found = find(client, queue);
    if (found != NULL) *found = client->confirmed[--client->confirmed_count];
}

static reeve_status set(reeve_client *client, const char *queue, const reeve_confirmation *confirmation)
{
    rv_confirmed_queue *found = find(client, queue);
    if (found == NULL && client->confirmed_count == REEVE_CONFIRMED_QUEUES_MAX)
        return rv_fail(&client->error, REEVE_EFULL, "a client has settings of at most %d queues for what to wait for",
                       REEVE_CONFIRMED_QUEUES_MAX);
    if (client->confirmed == NULL)
        client->confirmed = rv_zalloc_array(REEVE_CONFIRMED_QUEUES_MAX, sizeof(*client->confirmed));
    if (client->confirmed == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a setting");
    if (found == NULL) found = &client->confirmed[client->confirmed_count++];
    rv_copy_text(found->queue, sizeof(found->queue), queue);
    found->confirmation = *confirmation;
    return REEVE_OK;
}

reeve_status reeve_client_confirm_sized(reeve_client *client, const char *queue, const reeve_confirmation *given,
                                        size_t size)
{
    reeve_confirmation read, chosen;
    if (client == NULL) return REEVE_EINVAL;
    rv_error_clear(&client->error);
    reeve_status status = queue != NULL ? rv_keys_check_queue(queue, &client->error) : REEVE_OK;
    if (status == REEVE_OK && given == NULL) {
        if (queue != NULL)
            remove_setting(client, queue);
        else
            client->confirmation = client->opened_with;
        return REEVE_OK;
    }
    if (status == REEVE_OK) status = RV_LAYOUT_READ(&read, given, size, "what to wait for", &client->error);
    if (status == REEVE_OK) status = rv_confirm_choose(&chosen, &read, &client->error);
    if (status != REEVE_OK) return status;
    if (queue != NULL) return set(client, queue, &chosen);
    client->confirmation = chosen;
    return REEVE_OK;
}

/* ---- waiting ---------------------------------------------------------------------------------------------------- */

static bool refuse(rv_error *error, const char *reason)
{
    (void)rv_fail(error, REEVE_UNCONFIRMED, "enqueued, but not confirmed: %s", reason);
    return false;
}

static void build(rv_conn *conn, const reeve_confirmation *wanted)
{
    rv_conn_discard(conn);
    rv_cmd(conn, wanted->disk ? 4 : 3);
    rv_args(conn, wanted->disk ? "WAITAOF" : "WAIT");
    if (wanted->disk) rv_args(conn, "1");
    rv_argi(conn, wanted->replicas);
    rv_argi(conn, wanted->timeout_ms);
}

/* A Redis before 7.2 does not know the command. */
static bool is_unknown(const rv_reply *reply)
{
    return rv_reply_is(reply, RV_ERROR) && strstr(reply->text, "unknown command") != NULL;
}

static bool check(const reeve_confirmation *wanted, const rv_reply *reply, rv_error *error)
{
    bool on_disk = !wanted->disk || rv_reply_int(rv_reply_at(reply, 0), 0) >= 1;
    int64_t count = rv_reply_int(wanted->disk ? rv_reply_at(reply, 1) : reply, 0);
    if (on_disk && count >= wanted->replicas) return true;
    if (!on_disk)
        (void)rv_fail(error, REEVE_UNCONFIRMED,
                      "enqueued, but the append-only file has it not on the disk after %lld ms",
                      (long long)wanted->timeout_ms);
    else
        (void)rv_fail(error, REEVE_UNCONFIRMED,
                      "enqueued, but %lld of %u replicas confirmed it within %lld ms: see INFO replication",
                      (long long)count, wanted->replicas, (long long)wanted->timeout_ms);
    return false;
}

bool rv_confirm_run(reeve_client *client, const reeve_confirmation *wanted, unsigned epoch, rv_error *error)
{
    const rv_reply *reply = NULL;
    rv_conn *conn = client->conn;
    if (!rv_conn_is_open(conn) || rv_conn_epoch(conn) != epoch)
        return refuse(error, "the connection was lost meanwhile, perhaps by a failover");
    build(conn, wanted);
    if (rv_conn_call(conn, rv_deadline(wanted->timeout_ms + SLACK_MS), &reply) == REEVE_OK)
        return check(wanted, reply, error);
    if (is_unknown(reply))
        return refuse(error, "this Redis has no WAITAOF, which tells what is on the disk: Redis 7.2 and newer have it");
    return refuse(error, rv_conn_error(conn)->text);
}
