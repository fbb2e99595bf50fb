/*
 * lease_far.c - leases of another process, by their tokens: settled or extended with a client.
 *
 * The session and the lease are read first (recover.lua), as are the policies that decide about another attempt. The
 * outcome goes by a turn that leases nothing, and names exactly this lease: sent twice, it counts once. A task that waits
 * for others is blocked by the script block in its place. Tasks that waited for this one and are to hear of its end are
 * told before the call returns: there may be no worker that would.
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/layout.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/fan.h"
#include "client/partitions.h"
#include "consumer/lease_token.h"
#include "handlers/layers_run.h"
#include "handlers/task.h"
#include "handlers/waiting.h"
#include "protocol/heartbeat_call.h"
#include "protocol/recover_call.h"
#include "protocol/regain_call.h"
#include "protocol/scripts.h"
#include "protocol/turn_build.h"
#include "protocol/turn_reply.h"
#include "reeve/depend.h"
#include "running/attempt_policy.h"

typedef struct far {
    reeve_client *client;
    const char *queue;
    const char *id;
    char partition[REEVE_QUEUE_MAX + 1]; /* the queue's, where it is divided */
    rv_lease_token token;
    rv_prefix prefix;
    rv_queue_session queue_session; /* for the queue's policy */
    char cursor[24];
    rv_settlement settlement;
    reeve_parent *after; /* of the outcome, with handles as scripts know them */
    char (*handles)[REEVE_HANDLE_MAX];
    reeve_bytes parents; /* those that the task is to wait for; none: the settlement is sent */
    bool regains;        /* the last call of send_turn was one of regain.lua */
} far;

static reeve_status refuse(far *f)
{
    return rv_fail(&f->client->error, REEVE_EREFUSED, "%s/%s: the lease is not held any more", f->queue, f->id);
}

static reeve_status begin(far *f, reeve_client *client, const char *queue, const char *id, const char *token)
{
    if (client == NULL || queue == NULL || id == NULL || token == NULL) return REEVE_EINVAL;
    *f = (far){.client = client, .queue = queue, .id = id, .cursor = "0"};
    reeve_status status = rv_keys_check_queue(queue, &client->error);
    if (status != REEVE_OK) return status;
    if (client->stand_in != NULL)
        return rv_fail(&client->error, REEVE_EUNSUPPORTED, "a client for tests has no leases");
    if (!rv_valid_id(id, strlen(id))) return rv_fail(&client->error, REEVE_EINVAL, "the id is not valid");
    if (!rv_lease_token_read(&f->token, token))
        return rv_fail(&client->error, REEVE_EINVAL, "the token of the lease is not valid");
    f->queue = rv_partitions_locate(client, queue, id, f->partition);
    if (f->queue == NULL) return client->error.status;
    rv_keys_set_prefix(&f->prefix, client->ns, f->queue);
    return REEVE_OK;
}

/* ---- what the task and its queue say --------------------------------------------------------------------------- */

static void build_policy(rv_conn *conn, bool again, const void *context)
{
    const far *f = context;
    (void)again;
    rv_cmd(conn, 4);
    rv_args(conn, "HMGET");
    rv_arg2(conn, f->prefix.text, f->prefix.length, "settings", 8);
    rv_args(conn, "policy");
    rv_args(conn, "result_max");
}

static reeve_status read_policy(far *f)
{
    const rv_reply *reply;
    reeve_status status = rv_client_call(f->client, build_policy, f, &reply, NULL);
    if (status != REEVE_OK) return status;
    const rv_reply *policy = rv_reply_at(reply, 0);
    rv_queue_session_init(&f->queue_session, f->client->ns, f->queue, "");
    if (rv_reply_is(policy, RV_TEXT)) rv_queue_session_set_policy(&f->queue_session, policy->text, policy->length);
    atomic_store(&f->queue_session.result_max, rv_reply_int(rv_reply_at(reply, 1), 0));
    return REEVE_OK;
}

static void build_recover(rv_conn *conn, bool again, const void *context)
{
    const far *f = context;
    (void)again;
    rv_recover_call_build(conn, &f->prefix, f->token.session, "", f->cursor);
}

static bool is_it(const far *f, const rv_lease *lease)
{
    return lease->since_ms == f->token.since_ms && rv_lease_has_id(lease, f->id, strlen(f->id));
}

/* Finds the lease; what it points to lives until the client's next call. */
static reeve_status find(far *f, rv_lease *ret)
{
    do {
        const rv_reply *reply;
        rv_recover_reply found;
        reeve_status status = rv_client_call(f->client, build_recover, f, &reply, NULL);
        if (status != REEVE_OK) return status;
        if (!rv_recover_call_read(&found, reply)) return rv_client_odd_reply(f->client, "lease");
        while (rv_recover_call_leases(&found, 0, ret, 1) == 1)
            if (is_it(f, ret)) return REEVE_OK;
        rv_copy_text(f->cursor, sizeof(f->cursor), found.cursor);
    } while (strcmp(f->cursor, "0") != 0);
    return refuse(f);
}

/* ---- the outcome ----------------------------------------------------------------------------------------------- */

/* Before the lease is read, which ends with the client's next call. */
static reeve_status locate_parents(far *f, const reeve_lease_outcome *o)
{
    if (o->after == NULL || o->after_count == 0 || o->after_count > REEVE_PARENTS_MAX) return REEVE_OK;
    f->after = rv_zalloc_array(o->after_count, sizeof(*f->after));
    f->handles = rv_zalloc_array(o->after_count, sizeof(*f->handles));
    if (f->after == NULL || f->handles == NULL)
        return rv_fail(&f->client->error, REEVE_ENOMEM, "no memory for parents");
    for (size_t i = 0; i < o->after_count; i++) {
        f->after[i] = o->after[i];
        if (o->after[i].handle == NULL) continue;
        f->after[i].handle = rv_partitions_locate_handle(f->client, o->after[i].handle, f->handles[i]);
        if (f->after[i].handle == NULL) return f->client->error.status;
    }
    return REEVE_OK;
}

/* The task waits for others, as after reeve_task_wait_for in a handler. */
static reeve_status choose_wait(far *f, reeve_task *task, const reeve_lease_outcome *o)
{
    if (o->delay_ms != 0)
        return rv_fail(&f->client->error, REEVE_EINVAL, "%s/%s: a task that waits for others has no delay", f->queue,
                       f->id);
    if (reeve_task_wait_for(task, f->after != NULL ? f->after : o->after, o->after_count) == REEVE_OUTCOME_SNOOZE)
        return REEVE_OK;
    return rv_fail(&f->client->error, task->refusal != NULL ? task->refusal->status : REEVE_ENOMEM, "%s",
                   task->message);
}

/* The outcome as a handler would have chosen it: texts are cut, and the size of the result is checked. */
static reeve_status choose(far *f, reeve_task *task, const reeve_lease_outcome *o)
{
    const char *kind = o->kind != NULL ? o->kind : "failed", *message = o->message != NULL ? o->message : "";
    if (o->after_count > 0 && (o->cancel || o->outcome != REEVE_OUTCOME_SNOOZE))
        return rv_fail(&f->client->error, REEVE_EINVAL, "%s/%s: only the outcome snooze waits for other tasks",
                       f->queue, f->id);
    switch (o->cancel ? REEVE_OUTCOME_CANCEL : o->outcome) {
    case REEVE_OUTCOME_DONE:
        if (reeve_task_done(task, o->result.data, o->result.length) == REEVE_OUTCOME_DONE) return REEVE_OK;
        return rv_fail(&f->client->error, REEVE_ETOOBIG, "%s", task->message);
    case REEVE_OUTCOME_RETRY:
        (void)reeve_task_retry(task, o->has_delay ? o->delay_ms : -1, kind, "%s", message);
        return REEVE_OK;
    case REEVE_OUTCOME_FAIL:
        (void)reeve_task_fail(task, kind, "%s", message);
        return REEVE_OK;
    case REEVE_OUTCOME_SNOOZE:
        if (o->after_count > 0) return choose_wait(f, task, o);
        (void)reeve_task_snooze(task, o->delay_ms);
        return REEVE_OK;
    case REEVE_OUTCOME_CANCEL:
        (void)reeve_task_cancel(task, "%s", message);
        return REEVE_OK;
    case REEVE_OUTCOME_DISCARD:
        (void)reeve_task_discard(task);
        return REEVE_OK;
    case REEVE_OUTCOME_NONE:
        break;
    }
    return rv_fail(&f->client->error, REEVE_EINVAL, "there is no outcome");
}

static void build_time(rv_conn *conn, bool again, const void *context)
{
    (void)again;
    (void)context;
    rv_cmd(conn, 1);
    rv_args(conn, "TIME");
}

/* The reply of the lease ends with this call: only the numbers of the lease are used after it. */
static reeve_status read_clock(far *f, int64_t *ret_ms)
{
    const rv_reply *reply;
    reeve_status status = rv_client_call(f->client, build_time, NULL, &reply, NULL);
    if (status == REEVE_OK) *ret_ms = rv_reply_within(rv_reply_at(reply, 0), 0, RV_REPLY_NUMBER_MAX / 1000, 0) * 1000;
    return status;
}

/* The layers of the client see the task as it is in Redis. What it borrows of the lease ends with the next call. */
static void pass_layers(const far *f, reeve_task *task, const rv_item *item)
{
    const rv_envelope *envelope = &item->lease.envelope;
    size_t length = envelope->type_length < REEVE_TYPE_MAX ? envelope->type_length : REEVE_TYPE_MAX;
    if (f->client->layers.count == 0) return;
    if (length > 0) memcpy(task->own_type, envelope->type, length);
    task->own_type[length] = '\0';
    task->type = task->own_type;
    task->payload = envelope->payload;
    task->options = item->options;
    task->attempt = item->lease.failures + 1;
    task->crashes = item->lease.crashes;
    task->enqueued_ms = envelope->at_ms;
    rv_layers_run_after(&f->client->layers, f->client->layers.count, task);
    task->options = NULL;
    task->payload = (reeve_bytes){0};
}

static reeve_status settle_as(far *f, reeve_task *task, const rv_lease *lease)
{
    rv_attempt_policy policy;
    rv_item item = {.lease = *lease};
    if (!rv_attempt_policy_read(&item, &f->queue_session))
        return rv_fail(&f->client->error, REEVE_ENOMEM, "no memory for the options of the task");
    pass_layers(f, task, &item);
    rv_attempt_policy_choose(&policy, &item, NULL, &f->queue_session);
    bool counts = true;
    f->parents = rv_waiting_parents(task);
    (void)rv_attempt_policy_limit_snoozes(&policy, lease, task, task->outcome, &counts);
    f->settlement = (rv_settlement){.id = f->id,
                                    .outcome = task->outcome,
                                    .counts = counts,
                                    .counted = policy.max_snoozes > 0 && task->delay_ms > 0,
                                    .has_info = lease->has_info,
                                    .checkpoint = lease->has_checkpoint,
                                    .deadline = lease->envelope.deadline_ms > 0,
                                    .begun = true,
                                    .records_run = policy.records_runs,
                                    .keeps_record = policy.keeps_record,
                                    .unique = policy.unique,
                                    .delay_ms = task->delay_ms,
                                    .kind = task->kind,
                                    .message = task->message};
    if (task->outcome == REEVE_OUTCOME_DONE) {
        f->settlement.has_result = task->result.length > 0;
        f->settlement.result = (reeve_bytes){.data = task->result.data, .length = task->result.length};
    }
    int64_t now_ms = 0;
    reeve_status status = REEVE_OK;
    if (task->outcome == REEVE_OUTCOME_RETRY && policy.retry_for_ms > 0) status = read_clock(f, &now_ms);
    if (task->outcome == REEVE_OUTCOME_RETRY) rv_attempt_policy_decide_retry(&policy, lease, &f->settlement, now_ms);
    cJSON_Delete(item.options);
    return status;
}

static void add_regain(rv_conn *conn, const far *f)
{
    const rv_lease lease = {.id = f->id, .since_ms = f->token.since_ms};
    rv_regain_call_build(conn, &f->prefix, f->token.session, 1);
    rv_regain_call_add(conn, &lease, f->token.thread);
}

static void build_block(rv_conn *conn, const far *f)
{
    rv_cmd_script(conn, &rv_script_block, 1, 4);
    rv_arg(conn, f->prefix.text, f->prefix.length);
    rv_args(conn, f->token.session);
    rv_args(conn, f->token.lease);
    rv_args(conn, f->id);
    rv_arg(conn, f->parents.data, f->parents.length);
}

static void build_turn(rv_conn *conn, const far *f)
{
    const rv_settlement *items[] = {&f->settlement};
    const rv_turn_group group = {
        .prefix = &f->prefix, .session = f->token.session, .lease = f->token.lease, .items = items, .count = 1};
    const rv_turn turn = {.thread = "far", .groups = &group, .group_count = 1};
    rv_turn_build(conn, &turn);
}

typedef struct turned {
    far *f;
    reeve_status status;
    bool refused;
} turned;

/* regain.lua is a call of its own: before the turn in one pipeline it would come behind it if Redis did not know the
 * script. */
static void build_outcome(rv_conn *conn, bool again, const void *context)
{
    far *f = ((const turned *)context)->f;
    f->regains = again;
    if (again)
        add_regain(conn, f);
    else if (f->parents.length > 0)
        build_block(conn, f);
    else
        build_turn(conn, f);
}

/* False: it is no reply of the script. */
static bool read_refused(const far *f, const rv_reply *reply, bool *ret)
{
    rv_turn_reply turn;
    if (f->parents.length > 0) {
        int64_t held = rv_reply_within(reply, 0, 1, -1);
        *ret = held == 0;
        return held >= 0;
    }
    if (!rv_turn_reply_read(&turn, reply)) return false;
    *ret = turn.refused->count > 0;
    return true;
}

static void on_turned(size_t index, const rv_reply *reply, void *context)
{
    turned *t = context;
    (void)index;
    if (rv_reply_is(reply, RV_ERROR)) {
        t->status = rv_client_put_off(t->f->client, reply) ? REEVE_OK : rv_client_refused(t->f->client, reply->text);
        return;
    }
    if (t->f->regains || read_refused(t->f, reply, &t->refused)) t->status = REEVE_OK;
}

static void build_stands(rv_conn *conn, bool again, const void *context)
{
    const far *f = context;
    char key[RV_SESSION_LENGTH + 16];
    int length = snprintf(key, sizeof(key), "running:%s", f->token.session);
    (void)again;
    rv_cmd(conn, 3);
    rv_args(conn, "HEXISTS");
    rv_arg2(conn, f->prefix.text, f->prefix.length, key, (size_t)length);
    rv_args(conn, "#");
}

/* The first call may have settled it: a session that exists has settled what it does not hold any more. */
static reeve_status check_stands(far *f)
{
    const rv_reply *reply;
    reeve_status status = rv_client_call(f->client, build_stands, f, &reply, NULL);
    if (status != REEVE_OK) return status;
    return rv_reply_int(reply, 0) == 1 ? REEVE_OK : refuse(f);
}

/* *ret_again: an earlier try may have been executed. */
static reeve_status call_turn(far *f, turned *t, bool *ret_again)
{
    int64_t deadline = rv_deadline(f->client->timeout_ms);
    do {
        bool again;
        t->status = REEVE_EPROTO;
        reeve_status status = rv_client_exec(f->client, build_outcome, t, on_turned, t, &again);
        *ret_again = *ret_again || again;
        if (status != REEVE_OK) return status;
        if (t->status == REEVE_EPROTO) return rv_client_odd_reply(f->client, "settle");
        if (t->status != REEVE_OK || !f->regains) return t->status;
    } while (rv_now_ms() < deadline);
    return rv_fail(&f->client->error, REEVE_ELOST, "%s/%s: the replies of Redis were lost again and again", f->queue,
                   f->id);
}

static reeve_status send_turn(far *f)
{
    bool again = false;
    turned t = {.f = f};
    reeve_status status = call_turn(f, &t, &again);
    if (status == REEVE_OK && t.refused) status = again ? check_stands(f) : refuse(f);
    if (status == REEVE_OK) rv_fan_follow(f->client, f->queue);
    return status;
}

/* A layer's `after`: the call that settles has no room for tasks. */
static reeve_status refuse_chained(const reeve_task_spec *spec, char id[REEVE_ID_MAX], void *context)
{
    (void)spec;
    (void)id;
    (void)context;
    return REEVE_EUNSUPPORTED;
}

static reeve_status settle(far *f, const reeve_lease_outcome *o)
{
    reeve_task task;
    rv_lease lease;
    rv_task_host host = {
        .size_limits = &f->client->size_limits, .result_max = &f->queue_session.result_max, .chained = refuse_chained};
    reeve_status status = locate_parents(f, o);
    if (status == REEVE_OK) status = find(f, &lease);
    if (status != REEVE_OK) return status;
    rv_task_init(&task);
    task.queue = f->queue;
    task.id = f->id;
    task.host = &host;
    status = choose(f, &task, o);
    if (status == REEVE_OK) status = settle_as(f, &task, &lease);
    if (status == REEVE_OK) status = send_turn(f);
    rv_task_fini(&task);
    return status;
}

reeve_status reeve_lease_settle_sized(reeve_client *client, const char *queue, const char *id, const char *token,
                                      const reeve_lease_outcome *given, size_t outcome_size)
{
    far f;
    reeve_lease_outcome outcome;
    reeve_status status = begin(&f, client, queue, id, token);
    if (status == REEVE_OK)
        status = RV_LAYOUT_READ(&outcome, given, outcome_size, "the outcome of the lease", &client->error);
    if (status == REEVE_OK) status = read_policy(&f);
    if (status != REEVE_OK) return status;
    status = settle(&f, &outcome);
    rv_queue_session_fini(&f.queue_session);
    rv_free(f.after);
    rv_free(f.handles);
    return status;
}

/* ---- extending ------------------------------------------------------------------------------------------------- */

typedef struct extension {
    far f;
    int64_t for_ms;
    bool alive;
    bool held;
} extension;

static void build_extension(rv_conn *conn, bool again, const void *context)
{
    const extension *e = context;
    char key[RV_SESSION_LENGTH + 16];
    int length = snprintf(key, sizeof(key), "running:%s", e->f.token.session);
    (void)again;
    rv_heartbeat_call_build(conn, &e->f.prefix, e->f.token.session, e->for_ms);
    rv_cmd(conn, 3);
    rv_args(conn, "HGET");
    rv_arg2(conn, e->f.prefix.text, e->f.prefix.length, key, (size_t)length);
    rv_args(conn, e->f.id);
}

static void on_extended(size_t index, const rv_reply *reply, void *context)
{
    extension *e = context;
    rv_heartbeat_reply heartbeat;
    if (rv_reply_is(reply, RV_ERROR) && !rv_client_put_off(e->f.client, reply))
        (void)rv_client_refused(e->f.client, reply->text);
    else if (index == 0)
        e->alive = rv_heartbeat_call_read(&heartbeat, reply) && heartbeat.alive;
    else
        e->held = rv_reply_is_text(reply, e->f.token.lease);
}

reeve_status reeve_lease_extend(reeve_client *client, const char *queue, const char *id, const char *token,
                                int64_t for_ms)
{
    extension e = {.for_ms = for_ms};
    reeve_status status = begin(&e.f, client, queue, id, token);
    if (status != REEVE_OK) return status;
    if (for_ms < 1) return rv_fail(&client->error, REEVE_EINVAL, "a lease lasts for at least 1 ms");
    rv_error_clear(&client->error);
    status = rv_client_exec(client, build_extension, &e, on_extended, &e, NULL);
    if (status != REEVE_OK) return status;
    if (client->error.status != REEVE_OK) return client->error.status;
    return e.alive && e.held ? REEVE_OK : refuse(&e.f);
}
