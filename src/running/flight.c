#include "running/flight.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "handlers/plugin.h"
#include "running/own_thread.h"
#include "running/worker_state.h"

/* ---- the layout ------------------------------------------------------------------------------------------------ */

#define ALIGNMENT 64u

static uint64_t aligned(uint64_t offset)
{
    return (offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The room for threads and queues beyond those that the worker begins with. */
#define MORE_SLOTS 512
#define MORE_QUEUES 1000
#define FEW_MORE_SLOTS 16 /* in a file, which has all its blocks */
#define FEW_MORE_QUEUES 64

typedef struct layout {
    uint64_t queues_at;
    uint64_t slots_at;
    uint64_t size;
} layout;

static uint32_t largest_batch(const reeve_worker *worker)
{
    size_t largest = 2 * RV_BATCH_MAX;
    for (size_t i = 0; i < worker->pool_count; i++) {
        const rv_pool *pool = rv_worker_pool(worker, i);
        if (pool->thread_count == 0) continue;
        size_t capacity = rv_worker_pool_thread(pool, 0)->batch.capacity;
        if (capacity > largest) largest = capacity;
    }
    return (uint32_t)largest;
}

static layout lay_out(const reeve_worker *worker)
{
    rv_flight *flight = worker->flight;
    layout plan = {.queues_at = aligned(sizeof(rv_flight_header))};
    size_t queues = worker->queue_session_count + (flight->is_small ? FEW_MORE_QUEUES : MORE_QUEUES);
    flight->slot_max = worker->thread_count + (flight->is_small ? FEW_MORE_SLOTS : MORE_SLOTS);
    flight->queue_max = queues > UINT16_MAX ? UINT16_MAX : (uint32_t)queues;
    flight->records_each = largest_batch(worker);
    plan.slots_at = aligned(plan.queues_at + flight->queue_max * sizeof(rv_flight_queue));
    flight->records_at = aligned(plan.slots_at + flight->slot_max * sizeof(rv_flight_slot));
    flight->data_at =
        aligned(flight->records_at + (uint64_t)flight->slot_max * flight->records_each * sizeof(rv_flight_record));
    plan.size = flight->data_at + (uint64_t)flight->slot_max * RV_FLIGHT_DATA_MAX;
    return plan;
}

void rv_flight_add_queue(reeve_worker *worker, rv_queue_session *queue_session)
{
    rv_flight *flight = worker->flight;
    if (flight == NULL || flight->header == NULL || flight->header->queue_count == flight->queue_max) return;
    rv_flight_header *header = flight->header;
    uint32_t place = header->queue_count;
    rv_flight_queue *queue = (rv_flight_queue *)((char *)header + header->queues_at) + place;
    rv_copy_text(queue->queue, sizeof(queue->queue), queue_session->queue);
    queue_session->flight = queue;
    queue_session->number = (uint16_t)place;
    rv_flight_note_session(queue, queue_session->session);
    header->queue_count = place + 1;
}

void rv_flight_seat(rv_thread *t)
{
    rv_flight *flight = t->worker->flight;
    uint32_t place = 0;
    if (flight == NULL || flight->threads == NULL) return;
    while (place < flight->slot_max && flight->threads[place].header != NULL) place++;
    if (place == flight->slot_max) return;
    char *base = (char *)flight->header;
    size_t capacity = t->batch.capacity;
    rv_flight_slot *slot = (rv_flight_slot *)(base + flight->header->slots_at) + place;
    slot->number = t->number;
    slot->record_count = capacity < flight->records_each ? (uint32_t)capacity : flight->records_each;
    slot->records_at = flight->records_at + (uint64_t)place * flight->records_each * sizeof(rv_flight_record);
    slot->data_at = flight->data_at + (uint64_t)place * RV_FLIGHT_DATA_MAX;
    slot->data_size = RV_FLIGHT_DATA_MAX;
    atomic_store(&slot->current, RV_FLIGHT_NONE);
    flight->threads[place] = (rv_flight_thread){.header = flight->header,
                                                .slot = slot,
                                                .records = (rv_flight_record *)(base + slot->records_at),
                                                .data = base + slot->data_at};
    t->batch.flight = &flight->threads[place];
    if (place >= flight->header->slot_count) flight->header->slot_count = place + 1;
}

void rv_flight_unseat(rv_thread *t)
{
    if (t->batch.flight == NULL) return;
    t->batch.flight->header = NULL;
    t->batch.flight = NULL;
}

static reeve_status map_whole(rv_flight *flight, uint64_t size, rv_error *error)
{
    void *mapped = ftruncate(flight->fd, (off_t)size) != 0
                       ? MAP_FAILED
                       : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, flight->fd, 0);
    if (mapped == MAP_FAILED) return rv_fail(error, REEVE_ENOMEM, "no memory for the flight record");
    flight->header = mapped;
    return REEVE_OK;
}

reeve_status rv_flight_attach(reeve_worker *worker, rv_error *error)
{
    rv_flight *flight = worker->flight;
    if (flight == NULL) return REEVE_OK;
    if (worker->queue_session_count > UINT16_MAX)
        return rv_fail(error, REEVE_EINVAL, "a supervised worker serves at most 65535 queues");
    layout plan = lay_out(worker);
    flight->threads = rv_zalloc_array(flight->slot_max, sizeof(*flight->threads));
    if (flight->threads == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for the flight record");
    reeve_status status = map_whole(flight, plan.size, error);
    if (status != REEVE_OK) return status;
    rv_flight_header *header = flight->header;
    rv_copy_text(header->worker, sizeof(header->worker), worker->id);
    header->queue_count = header->slot_count = 0;
    header->queues_at = plan.queues_at;
    header->slots_at = plan.slots_at;
    for (size_t i = 0; i < worker->queue_session_count; i++)
        rv_flight_add_queue(worker, rv_worker_queue_session(worker, i));
    header->magic = RV_FLIGHT_MAGIC;
    header->layout = RV_FLIGHT_LAYOUT;
    header->size = plan.size;
    return REEVE_OK;
}

void rv_flight_detach(reeve_worker *worker)
{
    if (worker->flight == NULL) return;
    for (size_t i = 0; i < worker->queue_session_count; i++) rv_worker_queue_session(worker, i)->flight = NULL;
    rv_free(worker->flight->threads);
    worker->flight->threads = NULL;
    worker->flight = NULL;
}

void rv_flight_note_session(rv_flight_queue *queue, const char *session)
{
    unsigned next = atomic_load_explicit(&queue->present, memory_order_relaxed) + 1;
    rv_copy_text(queue->sessions[next % 2], sizeof(queue->sessions[0]), session);
    atomic_store_explicit(&queue->present, next, memory_order_release);
}

/* ---- tasks ----------------------------------------------------------------------------------------------------- */

static void set_state(rv_flight_record *record, rv_flight_state state)
{
    atomic_store_explicit(&record->state, state, memory_order_release);
}

static bool is_free(const rv_flight_record *record)
{
    return atomic_load_explicit(&record->state, memory_order_relaxed) == RV_FLIGHT_FREE;
}

/* They are used in turns, so that the next one is free, but for items that stay long. There are as many as items. */
static rv_flight_record *next_free(rv_flight_thread *flight)
{
    uint32_t count = flight->slot->record_count;
    for (uint32_t i = 0; i < count; i++) {
        rv_flight_record *record = &flight->records[flight->next];
        flight->next = flight->next + 1 < count ? flight->next + 1 : 0;
        if (is_free(record)) return record;
    }
    return NULL;
}

void rv_flight_lease(rv_thread *t, size_t first, size_t count)
{
    if (t->batch.flight == NULL) return;
    for (size_t i = first; i < first + count; i++) {
        rv_item *item = &t->batch.items[i];
        size_t length = rv_lease_id_length(&item->lease);
        bool is_known = t->pool->queue_sessions[item->lease.queue]->flight != NULL && length <= REEVE_ID_LENGTH_MAX;
        rv_flight_record *record = is_known ? next_free(t->batch.flight) : NULL;
        item->flight = record;
        if (record == NULL) continue;
        record->queue = t->pool->queue_sessions[item->lease.queue]->number;
        record->since_ms = item->lease.since_ms;
        memcpy(record->session, t->batch.sessions[item->lease.queue], sizeof(record->session));
        memcpy(record->id, item->lease.id, length);
        record->id_length = (uint8_t)length;
        set_state(record, RV_FLIGHT_LEASED);
    }
}

void rv_flight_run(rv_thread *t, const rv_item *item)
{
    const rv_flight_thread *flight = t->batch.flight;
    if (flight == NULL) return;
    uint32_t place = item != NULL && item->flight != NULL ? (uint32_t)(item->flight - flight->records) : RV_FLIGHT_NONE;
    atomic_store_explicit(&flight->slot->current, place, memory_order_release);
}

void rv_flight_begin(const rv_item *item, unsigned max_crashes)
{
    if (item->flight == NULL) return;
    item->flight->max_crashes = max_crashes;
    set_state(item->flight, RV_FLIGHT_BEGUN);
}

static uint32_t flags_of(const rv_settlement *s)
{
    return (s->has_info ? RV_FLIGHT_INFO : 0u) | (s->checkpoint ? RV_FLIGHT_CHECKPOINT : 0u) |
           (s->unique ? RV_FLIGHT_UNIQUE : 0u) | (s->keeps_key ? RV_FLIGHT_KEEPS_KEY : 0u) |
           (s->failed ? RV_FLIGHT_FAILED : 0u) | (s->has_result ? RV_FLIGHT_RESULT : 0u) |
           (s->deadline ? RV_FLIGHT_DEADLINE : 0u) | (s->records_run ? RV_FLIGHT_RECORDS_RUN : 0u) |
           (s->keeps_record ? RV_FLIGHT_KEEPS_RECORD : 0u) | (s->begun ? RV_FLIGHT_DID_BEGIN : 0u) |
           (s->counts ? RV_FLIGHT_COUNTS : 0u);
}

static void put(rv_flight_thread *flight, const void *data, size_t length)
{
    if (length > 0) memcpy(flight->data + flight->used, data, length);
    flight->used += length;
}

/* Kind, message, result and chained tasks, one behind the other. False: there is no room. */
static bool keep_data(rv_flight_thread *flight, rv_flight_record *record, const rv_settlement *s)
{
    const char *kind = s->kind != NULL ? s->kind : "", *message = s->message != NULL ? s->message : "";
    size_t words[] = {strlen(kind) + 1, strlen(message) + 1}, result = s->has_result ? s->result.length : 0;
    size_t room = RV_FLIGHT_DATA_MAX - flight->used;
    if (words[0] + words[1] > room || result > room - words[0] - words[1]) return false;
    if (s->chained.length > room - words[0] - words[1] - result) return false;
    record->data_at = flight->used;
    record->kind_length = (uint32_t)words[0] - 1;
    record->message_length = (uint32_t)words[1] - 1;
    record->result_length = (uint32_t)result;
    record->chained_length = (uint32_t)s->chained.length;
    record->chained_count = (uint32_t)s->chained_count;
    put(flight, kind, words[0]);
    put(flight, message, words[1]);
    put(flight, s->result.data, result);
    put(flight, s->chained.data, s->chained.length);
    return true;
}

/* The common case: a completion with nothing to tell. */
static bool is_plain(const rv_settlement *s)
{
    return s->outcome == REEVE_OUTCOME_DONE && !s->has_result && !s->has_info && !s->checkpoint && !s->unique &&
           !s->failed && !s->deadline && !s->records_run && !s->keeps_record && s->begun && s->chained_count == 0;
}

void rv_flight_finish(rv_thread *t, const rv_item *item)
{
    rv_flight_record *record = item->flight;
    if (record == NULL) return;
    const rv_settlement *s = &item->settlement;
    if (is_plain(s)) {
        record->flags = RV_FLIGHT_PLAIN | RV_FLIGHT_DID_BEGIN;
        record->outcome = REEVE_OUTCOME_DONE;
        set_state(record, RV_FLIGHT_FINISHED);
        return;
    }
    record->outcome = (uint8_t)s->outcome;
    record->flags = flags_of(s);
    record->delay_ms = s->delay_ms;
    set_state(record, keep_data(t->batch.flight, record, s) ? RV_FLIGHT_FINISHED : RV_FLIGHT_UNKEPT);
}

void rv_flight_clear(rv_item *item)
{
    if (item->flight == NULL) return;
    set_state(item->flight, RV_FLIGHT_FREE);
    item->flight = NULL;
}

void rv_flight_forget_data(rv_flight_thread *flight)
{
    if (flight != NULL) flight->used = 0;
}

/* ---- for a signal handler -------------------------------------------------------------------------------------- */

void rv_flight_enter_thread(rv_thread *t)
{
    rv_own_thread_set(t);
    if (t->worker->flight != NULL && t->worker->flight->on_thread != NULL) t->worker->flight->on_thread();
}

void rv_flight_note_crash(rv_flight_crash *crash)
{
    const rv_thread *t = rv_own_thread_get();
    crash->slot = t == NULL && rv_plugin_runs_hook() ? RV_FLIGHT_HOOK : RV_FLIGHT_NONE;
    crash->type[0] = '\0';
    if (t == NULL || t->batch.flight == NULL) return;
    crash->slot = (uint32_t)(t->batch.flight - t->worker->flight->threads);
    memcpy(crash->thread, t->name, sizeof(crash->thread));
    if (t->batch.running >= t->batch.count) return;
    const rv_envelope *envelope = &t->batch.items[t->batch.running].lease.envelope;
    size_t length = envelope->type_length < REEVE_TYPE_MAX ? envelope->type_length : REEVE_TYPE_MAX;
    if (envelope->type != NULL) memcpy(crash->type, envelope->type, length);
    crash->type[length] = '\0';
}
