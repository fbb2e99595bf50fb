#include "upkeep/early.h"

#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "base/text.h"
#include "running/wakeup.h"
#include "upkeep/cancel_running.h"

/* All workers of a namespace hear of all cancels, so most of these concern tasks of other workers. When a notice has to
 * make room for another, the worker asks Redis instead. */
#define NOTICES_MAX 256

/* The first look; each time after that doubles. */
#define FIRST_LOOK_MS 50

typedef struct notice {
    int64_t until_ms; /* when it is forgotten (monotonic); 0: unused */
    const rv_queue_session *queue_session;
    bool revokes;
    rv_revoke revoke; /* of a cancel only the id */
} notice;

typedef struct rv_early {
    notice notices[NOTICES_MAX];
    size_t next;           /* the place of the next notice, modulo NOTICES_MAX */
    int64_t look_at_ms;    /* RV_FOREVER: there is no notice */
    int64_t interval_ms;   /* between the next look and the one after it */
    int64_t asks_until_ms; /* until then each look asks Redis which tasks were cancelled, or lost their leases */
} rv_early;

static rv_early *get(reeve_worker *worker)
{
    rv_keeper *keeper = &worker->keeper;
    if (keeper->early == NULL) keeper->early = rv_zalloc(sizeof(*keeper->early));
    if (keeper->early != NULL && keeper->early->interval_ms == 0) keeper->early->look_at_ms = RV_FOREVER;
    return keeper->early;
}

static const rv_queue_session *find_queue(const reeve_worker *worker, const char *queue)
{
    for (size_t i = 0; i < worker->queue_session_count; i++)
        if (strcmp(rv_worker_queue_session(worker, i)->queue, queue) == 0) return rv_worker_queue_session(worker, i);
    return NULL;
}

/* How long a reply may be on its way until the thread gives it up: the deadline of a call; of a task that was handed
 * over, until heartbeats show that it has not arrived (unheard.h). */
static int64_t keep_ms(const reeve_worker *worker)
{
    return worker->command_ms + worker->session_ms;
}

static void look_soon(rv_early *early, int64_t now)
{
    early->interval_ms = FIRST_LOOK_MS;
    if (now + FIRST_LOOK_MS < early->look_at_ms) early->look_at_ms = now + FIRST_LOOK_MS;
}

void rv_early_note_missed(reeve_worker *worker)
{
    rv_early *early = get(worker);
    rv_wakeup_note_missed(worker);
    if (early == NULL) return;
    early->asks_until_ms = rv_now_ms() + keep_ms(worker);
    look_soon(early, rv_now_ms());
}

static void add(reeve_worker *worker, const char *queue, const notice *given)
{
    const rv_queue_session *queue_session = find_queue(worker, queue);
    if (queue_session == NULL) return;
    rv_early *early = get(worker);
    if (early == NULL) {
        rv_wakeup_note_missed(worker);
        return;
    }
    int64_t now = rv_now_ms();
    notice *place = &early->notices[early->next++ % NOTICES_MAX];
    if (place->until_ms > now) early->asks_until_ms = now + keep_ms(worker);
    if (place->until_ms > now) rv_wakeup_note_missed(worker);
    *place = *given;
    place->queue_session = queue_session;
    place->until_ms = now + keep_ms(worker);
    look_soon(early, now);
}

void rv_early_add_cancel(reeve_worker *worker, const char *queue, const char *id)
{
    notice cancel = {.revokes = false};
    rv_copy_text(cancel.revoke.id, sizeof(cancel.revoke.id), id);
    add(worker, queue, &cancel);
}

void rv_early_add_revoke(reeve_worker *worker, const rv_revoke *revoke)
{
    const notice given = {.revokes = true, .revoke = *revoke};
    add(worker, revoke->queue, &given);
}

/* Whether the thread has a task of which one of these notices says that it was cancelled; that notice is forgotten. */
static bool look_in(rv_thread *t, notice *const *cancels, size_t count)
{
    bool found = false;
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < t->batch.count; i++) {
        const rv_item *item = &t->batch.items[i];
        if ((item->state != RV_ITEM_RUNNING && item->state != RV_ITEM_WAITING) || item->cancelled) continue;
        for (size_t j = 0; j < count; j++) {
            notice *n = cancels[j];
            if (n->until_ms == 0 || n->queue_session != t->pool->queue_sessions[item->lease.queue] ||
                strcmp(n->revoke.id, item->lease.id) != 0)
                continue;
            n->until_ms = 0;
            found = true;
        }
    }
    rv_unlock(&t->batch.lock);
    return found;
}

/* A later attempt of a task that was cancelled, for instance of one that was retried by hand, has not been cancelled:
 * Redis knows. */
static bool look_for_cancelled(reeve_worker *worker, notice *const *cancels, size_t count)
{
    bool found = false;
    for (size_t i = 0; count > 0 && i < worker->pool_count; i++) {
        for (unsigned j = 0; j < rv_worker_pool(worker, i)->thread_count; j++)
            found = look_in(rv_worker_pool_thread(rv_worker_pool(worker, i), j), cancels, count) || found;
    }
    return found;
}

int64_t rv_early_look(reeve_worker *worker)
{
    rv_early *early = worker->keeper.early;
    notice *cancels[NOTICES_MAX];
    size_t count = 0, left = 0;
    int64_t now = rv_now_ms();
    if (early == NULL || now < early->look_at_ms) return early == NULL ? RV_FOREVER : early->look_at_ms;
    for (size_t i = 0; i < NOTICES_MAX; i++) {
        notice *n = &early->notices[i];
        if (n->until_ms <= now) continue;
        if (!n->revokes)
            cancels[count++] = n;
        else if (rv_cancel_running_revoke(worker, &n->revoke) == RV_REVOKED_TAKEN)
            n->until_ms = 0;
    }
    if (look_for_cancelled(worker, cancels, count))
        rv_wakeup_note_missed(worker);
    else if (now < early->asks_until_ms)
        rv_wakeup_ask_cancelled(worker);
    for (size_t i = 0; i < NOTICES_MAX; i++) left += early->notices[i].until_ms > now;
    early->look_at_ms = left > 0 || now < early->asks_until_ms ? now + early->interval_ms : RV_FOREVER;
    early->interval_ms *= 2;
    return early->look_at_ms;
}
