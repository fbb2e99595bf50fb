#include "worker/aftermath.h"

#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "protocol/crash_list.h"
#include "protocol/definition.h"
#include "protocol/end_session_call.h"
#include "protocol/registry.h"
#include "protocol/turn_build.h"
#include "protocol/turn_reply.h"

/* ---- reading what the process left ----------------------------------------------------------------------------- */

/* Whether `count` things of this size at this offset lie within the record. */
static bool lies_within(uint64_t at, uint64_t count, uint64_t each, uint64_t size)
{
    return at % sizeof(uint64_t) == 0 && at <= size && count <= (size - at) / each;
}

bool rv_aftermath_has_work(const rv_flight_header *flight, size_t size)
{
    if (size < sizeof(*flight) || flight->magic != RV_FLIGHT_MAGIC || flight->layout != RV_FLIGHT_LAYOUT) return false;
    return flight->size >= sizeof(*flight) && flight->size <= size &&
           lies_within(flight->queues_at, flight->queue_count, sizeof(rv_flight_queue), flight->size) &&
           lies_within(flight->slots_at, flight->slot_count, sizeof(rv_flight_slot), flight->size);
}

static const rv_flight_slot *slot_of(const rv_flight_header *flight, uint32_t place)
{
    const rv_flight_slot *slot =
        (const rv_flight_slot *)((const char *)flight + flight->slots_at) + (place < flight->slot_count ? place : 0);
    bool fits = place < flight->slot_count &&
                lies_within(slot->records_at, slot->record_count, sizeof(rv_flight_record), flight->size) &&
                lies_within(slot->data_at, slot->data_size, 1, flight->size);
    return fits ? slot : NULL;
}

static const rv_flight_queue *queue_of(const rv_flight_header *flight, uint32_t place)
{
    const rv_flight_queue *queue = (const rv_flight_queue *)((const char *)flight + flight->queues_at) + place;
    return memchr(queue->queue, '\0', sizeof(queue->queue)) != NULL ? queue : NULL;
}

/* NULL: it is free, or malformed. */
static const rv_flight_record *record_of(const rv_flight_header *flight, const rv_flight_slot *slot, uint32_t place)
{
    if (place >= slot->record_count) return NULL;
    const rv_flight_record *record = (const rv_flight_record *)((const char *)flight + slot->records_at) + place;
    if (atomic_load(&record->state) == RV_FLIGHT_FREE || record->queue >= flight->queue_count) return NULL;
    if (record->id_length == 0 || record->id_length > REEVE_ID_LENGTH_MAX) return NULL;
    if (memchr(record->session, '\0', sizeof(record->session)) == NULL) return NULL;
    return queue_of(flight, record->queue) != NULL ? record : NULL;
}

static bool is_in(const rv_flight_record *record, rv_flight_state state)
{
    return record != NULL && atomic_load(&record->state) == (unsigned)state;
}

/* ---- the work -------------------------------------------------------------------------------------------------- */

#define TOGETHER 64

typedef struct work {
    const rv_aftermath *aftermath;
    const rv_flight_header *flight;
    rv_aftermath_counts *counts;
    rv_conn *conn;
    rv_prefix *prefixes; /* by queue */
    char words[256];     /* of the first error reply */
    /* the group that is being built: outcomes of one lease */
    const rv_flight_record *first;
    rv_settlement items[TOGETHER];
    const rv_settlement *listed[TOGETHER];
    char ids[TOGETHER][REEVE_ID_MAX];
    size_t count;
} work;

static void note_error(work *w, const rv_reply *reply)
{
    if (w->words[0] != '\0') return;
    rv_copy_text(w->words, sizeof(w->words), rv_reply_is(reply, RV_ERROR) ? reply->text : "unexpected reply");
}

static void send_group(work *w, const rv_flight_slot *slot)
{
    char lease[48], thread[12];
    if (w->count == 0) return;
    (void)snprintf(thread, sizeof(thread), "%u", slot->number);
    (void)snprintf(lease, sizeof(lease), "%lld %s", (long long)w->first->since_ms, thread);
    rv_turn_group group = {.prefix = &w->prefixes[w->first->queue],
                           .session = w->first->session,
                           .lease = lease,
                           .items = w->listed,
                           .count = w->count};
    rv_turn turn = {.thread = thread, .groups = &group, .group_count = 1};
    rv_turn_build(w->conn, &turn);
    w->count = 0;
}

/* A settlement of the record's task, without an outcome yet. */
static rv_settlement *add(work *w, const rv_flight_slot *slot, const rv_flight_record *record)
{
    bool same = w->count > 0 && w->first->queue == record->queue && w->first->since_ms == record->since_ms &&
                strcmp(w->first->session, record->session) == 0;
    if (!same || w->count == TOGETHER) send_group(w, slot);
    if (w->count == 0) w->first = record;
    char *id = w->ids[w->count];
    memcpy(id, record->id, record->id_length);
    id[record->id_length] = '\0';
    w->items[w->count] = (rv_settlement){.id = id, .id_length = record->id_length};
    w->listed[w->count] = &w->items[w->count];
    return &w->items[w->count++];
}

/* ---- what had finished ----------------------------------------------------------------------------------------- */

/* Each chained task has RV_SETTLEMENT_CHAINED_ARGS arguments, each behind its length. */
static bool has_chained(const char *at, const rv_flight_record *record)
{
    uint64_t left = record->chained_length;
    for (uint64_t i = 0; i < (uint64_t)record->chained_count * RV_SETTLEMENT_CHAINED_ARGS; i++) {
        size_t length;
        if (left < sizeof(length)) return false;
        memcpy(&length, at, sizeof(length));
        left -= sizeof(length);
        if (length > left) return false;
        left -= length;
        at += sizeof(length) + length;
    }
    return left == 0;
}

static bool has_words(const char *data, const rv_flight_record *record, uint64_t size)
{
    uint64_t left = record->data_at <= size ? size - record->data_at : 0;
    uint64_t words = (uint64_t)record->kind_length + record->message_length + 2;
    if (words > left || record->result_length > left - words) return false;
    if (record->chained_length > left - words - record->result_length) return false;
    const char *kind = data + record->data_at;
    return kind[record->kind_length] == '\0' && kind[words - 1] == '\0' &&
           has_chained(kind + words + record->result_length, record);
}

static void settle_finished(work *w, const rv_flight_slot *slot, const rv_flight_record *record)
{
    const char *data = (const char *)w->flight + slot->data_at;
    if (record->flags & RV_FLIGHT_PLAIN) {
        rv_settlement *plain = add(w, slot, record);
        plain->outcome = REEVE_OUTCOME_DONE;
        plain->begun = true;
        w->counts->settled++;
        return;
    }
    if (!has_words(data, record, slot->data_size) || record->outcome > REEVE_OUTCOME_DISCARD) return;
    const char *kind = data + record->data_at, *message = kind + record->kind_length + 1;
    const char *result = message + record->message_length + 1;
    rv_settlement *s = add(w, slot, record);
    s->outcome = (reeve_outcome)record->outcome;
    s->delay_ms = record->delay_ms;
    s->kind = kind;
    s->message = message;
    s->has_info = record->flags & RV_FLIGHT_INFO;
    s->checkpoint = record->flags & RV_FLIGHT_CHECKPOINT;
    s->unique = record->flags & RV_FLIGHT_UNIQUE;
    s->keeps_key = record->flags & RV_FLIGHT_KEEPS_KEY;
    s->failed = record->flags & RV_FLIGHT_FAILED;
    s->has_result = record->flags & RV_FLIGHT_RESULT;
    s->deadline = record->flags & RV_FLIGHT_DEADLINE;
    s->records_run = record->flags & RV_FLIGHT_RECORDS_RUN;
    s->keeps_record = record->flags & RV_FLIGHT_KEEPS_RECORD;
    s->begun = record->flags & RV_FLIGHT_DID_BEGIN;
    s->counts = record->flags & RV_FLIGHT_COUNTS;
    s->result = (reeve_bytes){.data = result, .length = record->result_length};
    s->chained = (reeve_bytes){.data = result + record->result_length, .length = record->chained_length};
    s->chained_count = record->chained_count;
    w->counts->settled++;
}

/* ---- what had crashed ------------------------------------------------------------------------------------------ */

/* Calls `each` for the tasks to blame: those that the thread that crashed was running; or all that ran, where the
 * thread is not known. None, where that was in a hook. */
typedef void (*on_blamed)(work *w, const rv_flight_slot *slot, const rv_flight_record *record, void *context);

static void visit_slot(work *w, const rv_flight_slot *slot, on_blamed each, void *context)
{
    uint32_t current = atomic_load(&slot->current);
    const rv_flight_record *run = record_of(w->flight, slot, current);
    for (uint32_t i = 0; i < slot->record_count; i++) {
        const rv_flight_record *record = record_of(w->flight, slot, i);
        if (is_in(record, RV_FLIGHT_BEGUN) || (record == run && is_in(record, RV_FLIGHT_LEASED)))
            each(w, slot, record, context);
    }
}

static void visit_begun(work *w, const rv_flight_slot *slot, on_blamed each, void *context)
{
    for (uint32_t i = 0; i < slot->record_count; i++) {
        const rv_flight_record *record = record_of(w->flight, slot, i);
        if (is_in(record, RV_FLIGHT_BEGUN)) each(w, slot, record, context);
    }
}

static void visit_blamed(work *w, on_blamed each, void *context)
{
    const rv_flight_crash *crash = &w->flight->crash;
    bool has_fault = atomic_load(&crash->stage) >= RV_CRASH_SIGNAL;
    bool is_known = has_fault && crash->slot != RV_FLIGHT_NONE;
    if (has_fault && crash->slot == RV_FLIGHT_HOOK) return;
    const rv_flight_slot *slot = is_known ? slot_of(w->flight, crash->slot) : NULL;
    if (slot != NULL) {
        visit_slot(w, slot, each, context);
        return;
    }
    for (uint32_t i = 0; i < w->flight->slot_count; i++) {
        slot = slot_of(w->flight, i);
        if (slot != NULL) visit_begun(w, slot, each, context);
    }
}

static void count_blamed(work *w, const rv_flight_slot *slot, const rv_flight_record *record, void *context)
{
    (void)slot;
    (void)context;
    w->counts->crashed++;
    (void)snprintf(w->counts->blamed, sizeof(w->counts->blamed), "%s/%.*s", queue_of(w->flight, record->queue)->queue,
                   (int)record->id_length, record->id);
}

static void blame(work *w, const rv_flight_slot *slot, const rv_flight_record *record, void *context)
{
    (void)context;
    unsigned max = is_in(record, RV_FLIGHT_BEGUN) && record->max_crashes > 0 ? record->max_crashes : RV_MAX_CRASHES;
    rv_settlement *s = add(w, slot, record);
    s->outcome = REEVE_OUTCOME_FAIL;
    s->crashed = true;
    s->max_crashes = w->counts->is_cause ? max : 0;
    s->message = w->aftermath->message;
    s->backtrace = w->aftermath->backtrace;
    send_group(w, slot);
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

static void on_settled(size_t index, const rv_reply *reply, void *context)
{
    rv_turn_reply turn;
    (void)index;
    if (!rv_turn_reply_read(&turn, reply)) note_error(context, reply);
}

static void build_finished(work *w)
{
    for (uint32_t i = 0; i < w->flight->slot_count; i++) {
        const rv_flight_slot *slot = slot_of(w->flight, i);
        for (uint32_t j = 0; slot != NULL && j < slot->record_count; j++) {
            const rv_flight_record *record = record_of(w->flight, slot, j);
            if (is_in(record, RV_FLIGHT_FINISHED)) settle_finished(w, slot, record);
            if (is_in(record, RV_FLIGHT_UNKEPT)) w->counts->unkept++;
        }
        if (slot != NULL) send_group(w, slot);
    }
}

static reeve_status settle(work *w, int64_t deadline)
{
    build_finished(w);
    visit_blamed(w, count_blamed, NULL);
    w->counts->is_cause = w->counts->crashed == 1;
    visit_blamed(w, blame, NULL);
    if (rv_conn_pending(w->conn) == 0) return REEVE_OK;
    reeve_status status = rv_conn_exec(w->conn, deadline, on_settled, w);
    return status == REEVE_OK && w->words[0] != '\0' ? REEVE_EREDIS : status;
}

/* Gives back what is left. */
static reeve_status end_session(work *w, uint32_t place, int64_t deadline)
{
    const rv_flight_queue *queue = queue_of(w->flight, place);
    rv_end_session_turns turns = "";
    rv_session_text session;
    bool more = true;
    if (queue == NULL) return REEVE_OK;
    rv_copy_text(session, sizeof(session), queue->sessions[atomic_load(&queue->present) % 2]);
    while (more) {
        const rv_reply *reply;
        uint64_t given_back = 0;
        rv_end_session_call_build_next(w->conn, &w->prefixes[place], session, 200, turns);
        reeve_status status = rv_conn_call(w->conn, deadline, &reply);
        if (status != REEVE_OK) return status;
        if (!rv_end_session_call_read(reply, &given_back, &more)) return REEVE_EPROTO;
        rv_end_session_call_read_turns(reply, turns);
        w->counts->given_back += given_back;
    }
    return REEVE_OK;
}

/* ---- the record ------------------------------------------------------------------------------------------------ */

static void copy_text(char *ret, const char *from, size_t size)
{
    memcpy(ret, from, size);
    ret[size] = '\0';
}

/* For `reeve workers --crashes`; and the worker is not listed any more. */
static reeve_status note_crash(work *w, int64_t deadline)
{
    const rv_flight_header *flight = w->flight;
    const rv_flight_crash *crash = &flight->crash;
    const rv_aftermath_counts *counts = w->counts;
    bool has_fault = atomic_load(&crash->stage) >= RV_CRASH_SIGNAL;
    char worker[sizeof(flight->worker) + 1], thread[sizeof(crash->thread) + 1] = "", type[sizeof(crash->type) + 1] = "";
    copy_text(worker, flight->worker, sizeof(flight->worker));
    if (has_fault) copy_text(thread, crash->thread, sizeof(crash->thread));
    if (has_fault) copy_text(type, crash->type, sizeof(crash->type));
    int64_t died_ms = w->aftermath->died_ms;
    const rv_crash_entry entry = {.at_ms = has_fault     ? crash->at_ms
                                           : died_ms > 0 ? died_ms
                                                         : rv_wall_ms(),
                                  .worker = worker,
                                  .thread = thread,
                                  .task = counts->blamed,
                                  .type = type,
                                  .message = w->aftermath->message,
                                  .backtrace = w->aftermath->backtrace,
                                  .crashed = counts->crashed,
                                  .settled = counts->settled,
                                  .given_back = counts->given_back};
    rv_crash_list_add(w->conn, w->aftermath->ns, &entry);
    rv_registry_remove(w->conn, w->aftermath->ns, worker);
    return rv_conn_exec(w->conn, deadline, NULL, NULL);
}

static reeve_status work_on(work *w, int64_t deadline, rv_error *error)
{
    reeve_status status = rv_conn_open(w->conn, deadline);
    if (status == REEVE_OK) status = settle(w, deadline);
    for (uint32_t i = 0; status == REEVE_OK && i < w->flight->queue_count; i++) status = end_session(w, i, deadline);
    if (status == REEVE_OK) status = note_crash(w, deadline);
    if (status == REEVE_OK) return status;
    return rv_fail(error, status, "%s", w->words[0] != '\0' ? w->words : rv_conn_error(w->conn)->text);
}

reeve_status rv_aftermath_settle(const rv_aftermath *aftermath, int64_t deadline, rv_aftermath_counts *ret,
                                 rv_error *error)
{
    *ret = (rv_aftermath_counts){0};
    if (!rv_aftermath_has_work(aftermath->flight, aftermath->size)) return REEVE_OK;
    const rv_flight_header *flight = aftermath->flight;
    rv_conn_options options = {
        .url = aftermath->target, .name = "reeve-supervisor", .ns = aftermath->ns, .format = RV_FORMAT};
    work *w = rv_zalloc(sizeof(*w));
    rv_prefix *prefixes = rv_zalloc_array(flight->queue_count + 1, sizeof(*prefixes));
    reeve_status status = rv_fail(error, REEVE_ENOMEM, "no memory to settle what the worker left");
    if (w == NULL || prefixes == NULL) goto out;
    w->aftermath = aftermath;
    w->flight = flight;
    w->counts = ret;
    w->prefixes = prefixes;
    for (uint32_t i = 0; i < flight->queue_count; i++) {
        const rv_flight_queue *queue = queue_of(flight, i);
        rv_keys_set_prefix(&prefixes[i], aftermath->ns, queue != NULL ? queue->queue : "");
    }
    status = rv_conn_create(&w->conn, &options, error);
    if (status == REEVE_OK) status = work_on(w, deadline, error);
    rv_conn_destroy(w->conn);
out:
    rv_free(prefixes);
    rv_free(w);
    return status;
}
