#include "upkeep/strays.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/scripts.h"
#include "upkeep/offload.h"

#define PAGE "200"

/* A lease as Redis has it: a field of `running:<session>`. */
typedef struct stray {
    rv_queue_session *queue_session;
    const char *session;
    const char *thread; /* its text */
    rv_lease lease;
} stray;

/* A page of leases, and when it was requested. */
typedef struct page {
    reeve_worker *worker;
    rv_queue_session *queue_session;
    rv_session_text session;
    int64_t asked_ms;
} page;

/* "<since ms> <thread>" */
static bool read_lease(stray *ret, const char *text)
{
    char figures[24];
    const char *blank = strchr(text, ' ');
    if (blank == NULL || (size_t)(blank - text) >= sizeof(figures)) return false;
    memcpy(figures, text, (size_t)(blank - text));
    figures[blank - text] = '\0';
    ret->thread = blank + 1;
    return rv_parse_int(figures, 0, INT64_MAX, &ret->lease.since_ms);
}

static rv_thread *find_thread(reeve_worker *worker, const char *number)
{
    for (size_t i = 0; i < worker->pool_count; i++) {
        for (unsigned j = 0; j < rv_worker_pool(worker, i)->thread_count; j++) {
            rv_thread *t = rv_worker_pool_thread(rv_worker_pool(worker, i), j);
            if (strcmp(t->number_text, number) == 0) return t;
        }
    }
    return NULL;
}

/* Whether the batch has that lease, and the keeper has not taken it over. The caller holds the lock. */
static bool is_known(const rv_thread *t, const stray *s)
{
    for (size_t i = 0; i < t->batch.count; i++) {
        const rv_item *item = &t->batch.items[i];
        if (item->lease.since_ms == s->lease.since_ms &&
            rv_lease_has_id(&item->lease, s->lease.id, rv_lease_id_length(&s->lease)) &&
            t->pool->queue_sessions[item->lease.queue] == s->queue_session)
            return !rv_batch_is_taken(item);
    }
    return false;
}

/* A thread that has run one task since before the page was requested has taken no turn since: a lease that it does
 * not know is a stray. A thread that began its task later may have leased in between: its leases are checked again. */
static void look_at_lease(page *p, const rv_reply *id, const char *lease)
{
    stray s = {.queue_session = p->queue_session, .session = p->session};
    s.lease.id = id->text;
    s.lease.id_length = id->length;
    rv_thread *t = read_lease(&s, lease) ? find_thread(p->worker, s.thread) : NULL;
    if (t == NULL) return;
    rv_lock(&t->batch.lock);
    /* The turns of a consumer look for its own (recovery.c). */
    if (t->batch.running != RV_NONE && !t->batch.pulled && !is_known(t, &s)) {
        if (t->batch.running_since_ms < p->asked_ms)
            rv_offload_give_back(t, s.queue_session, s.session, &s.lease);
        else
            p->worker->keeper.strays_again = true;
    }
    rv_unlock(&t->batch.lock);
}

static reeve_status scan(page *p, const char *what, int64_t deadline, const rv_reply **ret)
{
    char key[RV_SESSION_LENGTH + 16];
    rv_keeper *keeper = &p->worker->keeper;
    int length = snprintf(key, sizeof(key), "%s:%s", what, p->session);
    p->asked_ms = rv_now_ms();
    rv_cmd(keeper->thread.conn, 5);
    rv_args(keeper->thread.conn, "HSCAN");
    rv_arg2(keeper->thread.conn, p->queue_session->prefix.text, p->queue_session->prefix.length, key, (size_t)length);
    rv_args(keeper->thread.conn, keeper->stray_cursor);
    rv_args(keeper->thread.conn, "COUNT");
    rv_args(keeper->thread.conn, PAGE);
    return rv_conn_call(keeper->thread.conn, deadline, ret);
}

/* Whether a thread still runs the task. A task that runs at most once has no lease. */
static bool is_run(reeve_worker *worker, const rv_queue_session *queue_session, const char *id)
{
    bool found = false;
    for (size_t i = 0; i < worker->pool_count && !found; i++) {
        for (unsigned j = 0; j < rv_worker_pool(worker, i)->thread_count && !found; j++) {
            rv_thread *t = rv_worker_pool_thread(rv_worker_pool(worker, i), j);
            rv_lock(&t->batch.lock);
            for (size_t k = 0; k < t->batch.count && !found; k++) {
                const rv_lease *lease = &t->batch.items[k].lease;
                found = t->pool->queue_sessions[lease->queue] == queue_session && strcmp(lease->id, id) == 0;
            }
            rv_unlock(&t->batch.lock);
        }
    }
    return found;
}

static reeve_status free_keys(page *p, const rv_reply *fields, int64_t deadline)
{
    rv_conn *conn = p->worker->keeper.thread.conn;
    char(*ids)[REEVE_ID_MAX] = rv_zalloc_array(fields->count / 2 + 1, sizeof(*ids));
    size_t count = 0;
    if (ids == NULL) return REEVE_ENOMEM;
    for (size_t i = 0; i + 1 < fields->count; i += 2) {
        const rv_reply *id = fields->items[i];
        if (!rv_reply_is(id, RV_TEXT) || id->length >= REEVE_ID_MAX || is_run(p->worker, p->queue_session, id->text))
            continue;
        memcpy(ids[count++], id->text, id->length + 1);
    }
    for (size_t i = 0; i < count; i++) {
        rv_cmd_script(conn, &rv_script_once, 1, 2);
        rv_arg(conn, p->queue_session->prefix.text, p->queue_session->prefix.length);
        rv_args(conn, p->session);
        rv_args(conn, ids[i]);
    }
    rv_free(ids);
    return count == 0 ? REEVE_OK : rv_conn_exec(conn, deadline, NULL, NULL);
}

static void look_at_leases(page *p, const rv_reply *fields)
{
    for (size_t i = 0; i + 1 < fields->count; i += 2) {
        const rv_reply *id = fields->items[i], *lease = fields->items[i + 1];
        if (!rv_reply_is(id, RV_TEXT) || !rv_reply_is(lease, RV_TEXT) || id->length >= REEVE_ID_MAX) continue;
        if (id->text[0] != '#') look_at_lease(p, id, lease->text);
    }
}

/* Continues with the next hash or the next queue. */
static void go_on(rv_keeper *keeper, const char *cursor)
{
    rv_copy_text(keeper->stray_cursor, sizeof(keeper->stray_cursor), cursor);
    if (strcmp(cursor, "0") != 0) return;
    keeper->stray_keys = !keeper->stray_keys;
    if (!keeper->stray_keys) keeper->strays_left--;
}

static reeve_status look_at_page(page *p, int64_t deadline)
{
    const rv_reply *reply;
    rv_keeper *keeper = &p->worker->keeper;
    bool keys = keeper->stray_keys;
    reeve_status status = scan(p, keys ? "once" : "running", deadline, &reply);
    if (status != REEVE_OK) return status;
    const rv_reply *cursor = rv_reply_at(reply, 0), *fields = rv_reply_at(reply, 1);
    if (!rv_reply_is(cursor, RV_TEXT) || cursor->length >= sizeof(keeper->stray_cursor) ||
        !rv_reply_is(fields, RV_ARRAY))
        return REEVE_EPROTO;
    go_on(keeper, cursor->text);
    if (keys) return free_keys(p, fields, deadline);
    look_at_leases(p, fields);
    return REEVE_OK;
}

void rv_strays_look(reeve_worker *worker, int64_t deadline)
{
    rv_keeper *keeper = &worker->keeper;
    page p = {.worker = worker,
              .queue_session = rv_worker_queue_session(worker, keeper->strays_count - keeper->strays_left)};
    reeve_status status = rv_queue_session_get(p.queue_session, p.session) ? look_at_page(&p, deadline) : REEVE_EPROTO;
    if (status == REEVE_OK || status == REEVE_ELOST || status == REEVE_ETIMEOUT || status == REEVE_ECONNECT) return;
    /* There is no session, or Redis refuses: the threads find stray leases before their next turns. */
    keeper->stray_keys = true;
    go_on(keeper, "0");
}
