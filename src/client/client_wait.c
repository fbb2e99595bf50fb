/*
 * client_wait.c - waiting for a task to end, without polling.
 *
 * The listener connection subscribes to the task's channel; then wait.lua looks whether the task has ended and, if not,
 * leaves word that somebody waits, so that whoever settles it publishes. Because the subscription stands before the
 * look, no end is missed. Word is left for a while only and renewed; a lost connection begins again from the start.
 *
 * Where an access list keeps notices from us (we may not subscribe, or those who settle may not publish), it polls:
 * ever more rarely, every POLL_MS in the end. So it does on a replica, where no word can be left.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/client.h"
#include "client/partitions.h"
#include "client/stand_in.h"
#include "protocol/scripts.h"

#define WORD_MS 60000
#define RENEW_MS 25000
#define RENEW_MIN_MS 2000 /* the first time: a notice may have been lost */
/* A subscription that is silent for so long is checked: its other half may be gone. */
#define PING_MS 5000
/* A call gets this long even when the wait is shorter: also a wait of 0 ms asks. */
#define CALL_MS 1000
#define TRY_AGAIN_MS 200
#define POLL_MIN_MS 50
#define POLL_MS 1000

typedef struct wait_for {
    reeve_client *client;
    const char *queue;
    const char *id;
    int64_t deadline;
    bool began;        /* Redis was reached, and the task had not ended */
    bool deaf;         /* we may not subscribe */
    bool polls;        /* notices may not come */
    int64_t pause_ms;  /* how long it waited before it looked last */
    reeve_state state; /* once it has ended */
    bool gone;
    bool deleted; /* gone: it was deleted */
} wait_for;

/* Until when one step of a wait may take: as long as any call, but not much longer than the wait. */
static int64_t step_deadline(const wait_for *wait)
{
    int64_t usual = rv_deadline(wait->client->timeout_ms), min = rv_deadline(CALL_MS);
    int64_t end = wait->deadline > min ? wait->deadline : min;
    return end < usual ? end : usual;
}

static reeve_status open_listener(reeve_client *client, int64_t deadline)
{
    if (client->listener == NULL) {
        rv_conn_options options = {
            .url = &client->url, .name = client->name, .waker = &client->waker, .command_ms = client->timeout_ms};
        reeve_status status = rv_conn_create(&client->listener, &options, &client->error);
        if (status != REEVE_OK) return status;
        rv_conn_set_pings(client->listener, PING_MS, client->timeout_ms);
    }
    /* A connection that was subscribed to something else is not worth tidying up. */
    rv_conn_close(client->listener);
    reeve_status status = rv_conn_open(client->listener, deadline);
    if (status != REEVE_OK) client->error = *rv_conn_error(client->listener);
    if (status == REEVE_OK) rv_conn_end_lost(client->listener, deadline);
    return status;
}

static reeve_status subscribe(wait_for *wait)
{
    reeve_client *client = wait->client;
    int64_t deadline = step_deadline(wait);
    reeve_status status = open_listener(client, deadline);
    if (status != REEVE_OK) return status;
    rv_prefix prefix;
    char channel[RV_PREFIX_MAX + REEVE_ID_MAX + 8];
    rv_keys_set_prefix(&prefix, client->ns, wait->queue);
    snprintf(channel, sizeof(channel), "%sdone:%s", prefix.text, wait->id);
    rv_cmd(client->listener, 2);
    rv_args(client->listener, "SUBSCRIBE");
    rv_args(client->listener, channel);
    const rv_reply *reply = NULL;
    status = rv_conn_call(client->listener, deadline, &reply);
    if (status != REEVE_OK) client->error = *rv_conn_error(client->listener);
    wait->deaf = status == REEVE_EREDIS && rv_reply_has_error_code(reply, "NOPERM");
    return wait->deaf ? REEVE_OK : status;
}

/* Has it ended? Sets state or gone. Leaves word if not. */
static reeve_status look(wait_for *wait, bool *ret_ended)
{
    const rv_reply *reply;
    char word[24];
    snprintf(word, sizeof(word), "%d", WORD_MS);
    rv_simple_call call = {.script = &rv_script_wait, .queue = wait->queue, .args = {wait->id, word}, .count = 2};
    rv_simple_call read = {.script = &rv_script_wait_look, .queue = wait->queue, .args = {wait->id}, .count = 1};
    bool reads = false;
    int64_t usual = wait->client->timeout_ms;
    wait->client->timeout_ms = step_deadline(wait) - rv_now_ms();
    reeve_status status = rv_client_script_or_read(wait->client, &call, &read, &reply, &reads);
    wait->client->timeout_ms = usual;
    if (status == REEVE_EREDIS && rv_client_was_put_off(wait->client)) return REEVE_ELOST;
    if (status != REEVE_OK) return status;
    wait->polls = wait->deaf || reads || rv_reply_is(reply, RV_ARRAY);
    if (rv_reply_is(reply, RV_ARRAY)) reply = rv_reply_at(reply, 0);
    if (!rv_reply_is(reply, RV_TEXT)) return rv_client_odd_reply(wait->client, "wait");
    wait->gone = reply->length == 0;
    *ret_ended = wait->gone;
    if (!wait->gone && reeve_state_parse(reply->text, &wait->state) == REEVE_OK)
        *ret_ended = wait->state >= REEVE_STATE_COMPLETED;
    return REEVE_OK;
}

/* A message is ["message", channel, state]. */
static bool read_message(wait_for *wait, const rv_reply *message)
{
    if (!rv_reply_is_text(rv_reply_at(message, 0), "message")) return false;
    const rv_reply *state = rv_reply_at(message, 2);
    if (!rv_reply_is(state, RV_TEXT)) return false;
    wait->gone = reeve_state_parse(state->text, &wait->state) != REEVE_OK;
    wait->deleted = rv_reply_is_text(state, "deleted");
    return true;
}

/* How long until the next look: twice as long each time, within bounds. */
static int64_t pause_ms(wait_for *wait)
{
    int64_t min = wait->polls ? POLL_MIN_MS : RENEW_MIN_MS, max = wait->polls ? POLL_MS : RENEW_MS;
    int64_t next = 2 * wait->pause_ms;
    wait->pause_ms = next < min ? min : next > max ? max : next;
    return wait->pause_ms;
}

/* Until a message, the time to look again (REEVE_ETIMEOUT), or trouble. */
static reeve_status listen(wait_for *wait, bool *ret_ended)
{
    int64_t renew = rv_deadline(pause_ms(wait));
    if (wait->deaf) {
        bool rung = rv_waker_wait(&wait->client->waker, renew < wait->deadline ? renew : wait->deadline);
        return rung ? REEVE_EINTERRUPTED : REEVE_ETIMEOUT;
    }
    for (;;) {
        const rv_reply *message;
        reeve_status status =
            rv_conn_receive(wait->client->listener, renew < wait->deadline ? renew : wait->deadline, &message);
        if (status != REEVE_OK) return status;
        *ret_ended = read_message(wait, message);
        if (*ret_ended) return REEVE_OK;
    }
}

/* Subscribes, looks and listens until the end, or until the connection is lost. */
static reeve_status follow(wait_for *wait, bool *ret_ended)
{
    reeve_status status = subscribe(wait);
    while (status == REEVE_OK) {
        status = look(wait, ret_ended);
        if (status != REEVE_OK || *ret_ended) break;
        wait->began = true;
        status = listen(wait, ret_ended);
        if (status == REEVE_OK) break;
        if (status == REEVE_ETIMEOUT && rv_now_ms() < wait->deadline) status = REEVE_OK; /* the word is renewed */
    }
    return status;
}

static bool is_outage(reeve_status status)
{
    return status == REEVE_ECONNECT || status == REEVE_ELOST || status == REEVE_ETIMEOUT;
}

/* An outage is waited out, as long as the wait lasts; at its beginning, as long as any call would. */
static reeve_status wait_until_ended(wait_for *wait)
{
    reeve_client *client = wait->client;
    int64_t begin_by = rv_deadline(client->timeout_ms);
    for (;;) {
        bool ended = false;
        reeve_status status = follow(wait, &ended);
        int64_t until = wait->began || wait->deadline < begin_by ? wait->deadline : begin_by;
        if (!is_outage(status)) return status;
        if (rv_now_ms() >= until) return client->error.status == REEVE_EREDIS ? REEVE_EREDIS : status;
        if (rv_waker_wait(&client->waker, rv_deadline(TRY_AGAIN_MS))) return REEVE_EINTERRUPTED;
        if (client->embedded != NULL) (void)rv_embedded_revive(client->embedded, step_deadline(wait), NULL);
    }
}

/* The record of the task that has ended. An outage is waited out: for the timeout of the client at least. */
static reeve_status show(wait_for *wait, reeve_task_info **ret)
{
    reeve_client *client = wait->client;
    int64_t min = rv_deadline(client->timeout_ms);
    for (;;) {
        reeve_status status = reeve_show(client, wait->queue, wait->id, ret);
        if (!is_outage(status)) return status;
        /* REEVE_ETIMEOUT means that the task has not ended. */
        if (rv_now_ms() >= min && rv_now_ms() >= wait->deadline) return status == REEVE_ETIMEOUT ? REEVE_ELOST : status;
        if (rv_waker_wait(&client->waker, rv_deadline(TRY_AGAIN_MS))) return REEVE_EINTERRUPTED;
        if (client->embedded != NULL) (void)rv_embedded_revive(client->embedded, step_deadline(wait), NULL);
    }
}

/* What the end was; the task's record may be gone already when it is not kept. */
static reeve_status tell(wait_for *wait, reeve_task_info **ret)
{
    reeve_client *client = wait->client;
    client->saw_deletion = wait->deleted;
    if (wait->deleted) return rv_fail(&client->error, REEVE_ENOTFOUND, "%s/%s was deleted", wait->queue, wait->id);
    if (wait->gone) return rv_fail(&client->error, REEVE_ENOTFOUND, "no task %s/%s (any more)", wait->queue, wait->id);
    reeve_task_info *info = NULL;
    reeve_status status = show(wait, &info);
    if (status != REEVE_OK && status != REEVE_ENOTFOUND) return status;
    if (ret != NULL) *ret = info;
    const char *why = info != NULL && info->error_message != NULL ? info->error_message : "";
    const char *kind = info != NULL && info->error_kind != NULL ? info->error_kind : "unknown";
    status = REEVE_OK;
    if (wait->state == REEVE_STATE_DEAD) {
        status = rv_fail(&client->error, REEVE_EDEAD, "%s/%s is dead: %s: %s", wait->queue, wait->id, kind, why);
    } else if (wait->state == REEVE_STATE_CANCELLED) {
        status = rv_fail(&client->error, REEVE_ECANCELLED, "%s/%s was cancelled", wait->queue, wait->id);
    }
    if (ret == NULL) reeve_task_info_free(info);
    return status;
}

/* A client for tests: the task has ended by now, or does not end during the call. */
static reeve_status look_at_stand_in(wait_for *wait, reeve_task_info **ret)
{
    reeve_task_info *info = NULL;
    reeve_status status = reeve_show(wait->client, wait->queue, wait->id, &info);
    if (status != REEVE_OK) return status;
    wait->state = info->state;
    bool ended = info->ended_ms >= 0;
    reeve_task_info_free(info);
    if (ended) return tell(wait, ret);
    return rv_fail(&wait->client->error, REEVE_ETIMEOUT, "%s/%s has not ended; reeve_test_client_run runs it",
                   wait->queue, wait->id);
}

/* Whether a task that is not where it was is in another partition of its queue. */
static bool has_moved(wait_for *wait, const char *queue, char partition[REEVE_QUEUE_MAX + 1])
{
    char now[REEVE_QUEUE_MAX + 1];
    if (!wait->gone || wait->deleted || wait->queue == queue) return false;
    const char *found = rv_partitions_locate(wait->client, queue, wait->id, now);
    if (found == NULL || strcmp(found, partition) == 0) return false;
    rv_copy_text(partition, REEVE_QUEUE_MAX + 1, found);
    wait->gone = false;
    return true;
}

reeve_status reeve_wait(reeve_client *client, const char *queue, const char *id, int64_t timeout_ms,
                        reeve_task_info **ret)
{
    if (client == NULL) return REEVE_EINVAL;
    if (ret != NULL) *ret = NULL;
    reeve_status status = rv_keys_check_queue(queue, &client->error);
    if (status == REEVE_OK) status = rv_keys_check_id(id, &client->error);
    if (status != REEVE_OK) return status;
    wait_for wait = {.client = client, .queue = queue, .id = id, .deadline = rv_deadline(timeout_ms)};
    if (client->stand_in != NULL) return look_at_stand_in(&wait, ret);
    char partition[REEVE_QUEUE_MAX + 1];
    wait.queue = rv_partitions_locate(client, queue, id, partition);
    if (wait.queue == NULL) return client->error.status;
    client->saw_deletion = false;
    client->waiting = true;
    status = wait_until_ended(&wait);
    while (status == REEVE_OK && has_moved(&wait, queue, partition)) status = wait_until_ended(&wait);
    if (client->listener != NULL) rv_conn_close(client->listener);
    bool ended = status == REEVE_OK;
    if (ended) status = tell(&wait, ret);
    client->waiting = false;
    if (ended && status != REEVE_EINTERRUPTED) return status;
    if (status == REEVE_EINTERRUPTED) {
        rv_waker_silence(&client->waker);
        return rv_fail(&client->error, status, "waiting for %s/%s was interrupted", queue, id);
    }
    if (status == REEVE_ETIMEOUT) return rv_fail(&client->error, status, "%s/%s has not ended in time", queue, id);
    return status;
}
