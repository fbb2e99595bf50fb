#include "running/company.h"

#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "running/share.h"

/* The reply of a call for several threads must begin earlier than that of one for one thread: its connection may be
 * dead without a sign. */
#define CALL_MS 2000

/* ---- whose outcomes -------------------------------------------------------------------------------------------- */

static bool is_unsettled(const rv_item *item)
{
    return !item->accepted && !item->refused;
}

static const rv_prefix *prefix_of(const rv_thread *t, const rv_item *item)
{
    return &t->pool->queue_sessions[item->lease.queue]->prefix;
}

static rv_turn_group *find_group(rv_company *company, const rv_prefix *prefix)
{
    for (size_t i = 0; i < company->group_count; i++) {
        if (company->groups[i].prefix == prefix) return &company->groups[i];
    }
    return NULL;
}

/* Whether the turn of a thread can go with those of the others: its leases are known to stand, it would ask the same
 * queues, and its outcomes are of the same sessions. */
static bool fits(const rv_thread *caller, const rv_thread *t, rv_company *company, unsigned losses)
{
    size_t more = 0;
    if (t->shared.losses != losses || !rv_queue_order_is_like(&caller->order, &t->order)) return false;
    for (size_t i = 0; i < t->batch.count; i++) {
        const rv_item *item = &t->batch.items[i];
        const rv_turn_group *group = find_group(company, prefix_of(t, item));
        if (group == NULL && ++more + company->group_count > RV_COMPANY_QUEUES) return false;
        if (group != NULL && strcmp(group->session, t->batch.sessions[item->lease.queue]) != 0) return false;
    }
    return true;
}

static void add(rv_company *company, const rv_thread *t)
{
    for (size_t i = 0; i < t->batch.count; i++) {
        const rv_item *item = &t->batch.items[i];
        if (!is_unsettled(item)) continue;
        rv_turn_group *group = find_group(company, prefix_of(t, item));
        if (group == NULL) {
            group = &company->groups[company->group_count++];
            *group = (rv_turn_group){.prefix = prefix_of(t, item), .session = t->batch.sessions[item->lease.queue]};
        }
        group->count++;
    }
    company->want += t->shared.want;
}

/* Writes the outcomes of all, group by group; of each thread the last item first, as rv_turn_call_group. */
static void write_outcomes(rv_company *company, const rv_settlement **outcomes)
{
    const rv_settlement **ends[RV_COMPANY_QUEUES];
    for (size_t i = 0; i < company->group_count; i++) {
        company->groups[i].items = ends[i] = outcomes;
        outcomes += company->groups[i].count;
    }
    for (const rv_thread *t = company->first; t != NULL; t = t->shared.next) {
        for (size_t i = t->batch.count; i-- > 0;) {
            const rv_item *item = &t->batch.items[i];
            if (!is_unsettled(item)) continue;
            *ends[find_group(company, prefix_of(t, item)) - company->groups]++ = &item->settlement;
        }
    }
}

/* ---- for whom the tasks are ------------------------------------------------------------------------------------ */

/* Deals them out: one to each thread, then the second one to each that wants two, and so on. If there are fewer than
 * all want, nobody goes without while others have many. */
static void deal(rv_company *company, char *names)
{
    size_t place = 0;
    for (unsigned round = 0; place < company->want; round++) {
        for (rv_thread *t = company->first; t != NULL; t = t->shared.next) {
            if (t->shared.want <= round) continue;
            size_t length = strlen(t->number_text);
            if (place > 0) *names++ = ' ';
            memcpy(names, t->number_text, length);
            names += length;
            company->takers[place++] = t;
        }
    }
    *names = '\0';
}

void rv_company_take(rv_thread *t, unsigned want, rv_company *ret)
{
    rv_share *share = t->shared.share;
    unsigned losses = rv_share_losses(t);
    ret->first = NULL;
    ret->group_count = 0;
    ret->want = 0;
    if (!fits(t, t, ret, losses)) return;
    t->shared.want = want;
    add(ret, t);
    rv_thread *last = t, *next;
    for (rv_thread *other = rv_share_remove(share, RV_SHARED_MAX); other != NULL; other = next) {
        next = other->shared.next;
        if (!fits(t, other, ret, losses)) {
            rv_share_answer(other, RV_SHARE_ALONE);
            continue;
        }
        add(ret, other);
        rv_queue_order_adopt(&other->order, &t->order);
        last->shared.next = other;
        last = other;
    }
    last->shared.next = NULL;
    if (last == t) return;
    ret->first = t;
    write_outcomes(ret, share->outcomes);
    deal(ret, share->names);
}

void rv_company_join(const rv_company *company, rv_turn *turn)
{
    if (company->first == NULL) return;
    turn->thread = company->first->shared.share->names;
    turn->hand = RV_HAND_SEVERAL;
    turn->want = company->want;
    turn->groups = company->groups;
    turn->group_count = company->group_count;
}

reeve_status rv_company_call(rv_thread *t, const rv_company *company, const rv_reply **ret)
{
    if (company == NULL) return rv_conn_call(t->conn, 0, ret);
    int64_t began_ms = rv_now_ms();
    bool shared = company->first != NULL;
    reeve_status status =
        shared ? rv_conn_call_begun_by(t->conn, began_ms + CALL_MS, ret) : rv_conn_call(t->conn, 0, ret);
    if (status == REEVE_OK) rv_share_note_call(t, rv_now_ms() - began_ms);
    return status;
}

/* ---- the reply ------------------------------------------------------------------------------------------------- */

/* Copies the leases into the threads' own memory. Where that fails, recovery finds them. */
static void copy_leases(const rv_company *company, size_t queues, const rv_turn_reply *reply)
{
    size_t count = rv_turn_reply_count(reply);
    rv_turn_reply_place place = {0};
    for (size_t i = 0; i < count && i < company->want; i++) {
        rv_thread *t = company->takers[i];
        rv_lease *lease = &t->leases[t->shared.leased];
        if (rv_turn_reply_copy_next(reply, queues, &place, &t->shared.arena, lease))
            t->shared.leased++;
        else
            t->shared.role = RV_SHARE_LOST;
    }
}

/* The keeper looks at finished items, too. */
static void note_refused(const rv_company *company, rv_thread *t, const rv_reply *refused)
{
    if (refused->count == 0) return;
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < refused->count; i++) {
        size_t group, length;
        const char *id = rv_turn_reply_refused(refused->items[i], company->group_count, &group, &length);
        for (size_t j = 0; id != NULL && j < t->batch.count; j++) {
            rv_item *item = &t->batch.items[j];
            if (item->accepted || prefix_of(t, item) != company->groups[group].prefix) continue;
            if (rv_lease_has_id(&item->lease, id, length)) item->refused = true;
        }
    }
    rv_unlock(&t->batch.lock);
}

/* The sessions that the thread's tasks are leased under are those of the caller. */
static void take_sessions(const rv_thread *caller, rv_thread *t)
{
    if (caller == t) return;
    for (size_t i = 0; i < t->shared.leased; i++) {
        size_t queue = rv_queue_order_queue(&caller->order, t->leases[i].queue);
        memcpy(t->sessions[queue], caller->sessions[queue], sizeof(t->sessions[queue]));
    }
    if (t->pool->queue_session_count == 1) memcpy(t->sessions[0], caller->sessions[0], sizeof(t->sessions[0]));
}

void rv_company_serve(rv_thread *t, rv_company *company, const rv_turn_reply *reply)
{
    bool idle = rv_turn_reply_is_idle(reply), again = reply->gone->count > 0;
    rv_share_end(t);
    for (rv_thread *one = company->first; one != NULL; one = one->shared.next) {
        one->shared.role = RV_SHARE_SERVED;
        one->shared.leased = 0;
    }
    copy_leases(company, rv_queue_order_places(&t->order), reply);
    for (rv_thread *one = company->first, *next; one != NULL; one = next) {
        next = one->shared.next;
        note_refused(company, one, reply->refused);
        take_sessions(t, one);
        one->shared.now_ms = reply->now_ms;
        one->shared.idle = idle;
        one->shared.again = again;
        if (one != t) rv_share_answer(one, one->shared.role);
    }
}

void rv_company_lose(rv_thread *t, rv_company *company)
{
    rv_share_note_loss(t);
    rv_share_end(t);
    for (rv_thread *one = company->first, *next; one != NULL; one = next) {
        next = one->shared.next;
        if (one == t) continue;
        /* Redis may still execute the lost call: whoever asks what it did ends that connection before. */
        rv_conn_adopt_losses(one->conn, t->conn);
        rv_share_answer(one, RV_SHARE_LOST);
    }
}
