#include "upkeep/cron_fire.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/maintain_call.h"
#include "protocol/scripts.h"
#include "running/redis_report.h"
#include "running/wakeup.h"
#include "running/worker_state.h"

/* Entries fired in one pipeline: each may carry REEVE_CRON_CATCH_UP_MAX ids. */
#define FIRE_AT_ONCE 32
#define TRY_AGAIN_MS 1000
/* Slots of one call: a task with many tags takes Redis long. The rest is due at once. */
#define SLOTS_AT_ONCE 100

/* fire.lua's answer */
#define OVERLAPS (-2)

void rv_cron_fire_table_fini(rv_cron_table *table)
{
    rv_free(table->due);
    rv_free(table->slots);
    memset(table, 0, sizeof(*table));
}

/* ---- noting ---------------------------------------------------------------------------------------------------- */

/* FNV-1a, 64 bits */
static uint64_t add_hash(uint64_t hash, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    return (hash ^ 0xff) * 1099511628211u;
}

/* The entry stays due, for a worker that can fire it, and every maintenance of the queue returns it: it is logged
 * once for each definition. */
static void note_broken(rv_cron_table *table, const char *queue, const rv_maintain_due *due, const rv_error *error)
{
    uint64_t hash = add_hash(14695981039346656037u, queue, strlen(queue));
    hash = add_hash(hash, due->name, strlen(due->name));
    hash = add_hash(hash, due->line, due->length);
    for (size_t i = 0; i < table->broken_count; i++) {
        if (table->broken[i] == hash) return;
    }
    if (table->broken_count == RV_CRON_BROKEN_MAX) return;
    table->broken[table->broken_count++] = hash;
    rv_log(REEVE_LOG_ERROR, "cron.broken", "this worker cannot fire the recurring entry, and leaves it to others",
           "queue", queue, "entry", due->name, "error", error->text, NULL);
}

/* Room for one more, and for its slots. */
static bool make_room(rv_cron_table *table)
{
    if (table->slots == NULL) table->slots = rv_zalloc_array(REEVE_CRON_CATCH_UP_MAX, sizeof(*table->slots));
    if (table->slots == NULL) return false;
    if (table->count < table->capacity) return true;
    size_t capacity = table->capacity > 0 ? 2 * table->capacity : 16;
    rv_cron_due *more = rv_realloc_array(table->due, capacity, sizeof(*more));
    if (more == NULL) return false;
    table->due = more;
    table->capacity = capacity;
    return true;
}

static void note(reeve_worker *worker, size_t queue_session, const rv_maintain_due *due, const rv_cron_due *common)
{
    rv_cron_table *table = worker->scheduler.cron;
    rv_cron_due noted = *common;
    rv_error error = {0};
    reeve_status status = rv_cron_definition_check_name(due->name, &error);
    if (status == REEVE_OK)
        status = rv_cron_definition_read_rule(&noted.rule, due->name, due->line, due->length, &error);
    if (status == REEVE_ENOMEM) {
        rv_wakeup_set_due(&worker->scheduler, queue_session, rv_deadline(TRY_AGAIN_MS));
        return;
    }
    if (status != REEVE_OK) {
        note_broken(table, rv_worker_queue_session(worker, queue_session)->queue, due, &error);
        /* Behind a full page of such entries others may be due: the next page is asked for, but not without a pause. */
        if (common->more) rv_wakeup_set_due(&worker->scheduler, queue_session, rv_deadline(TRY_AGAIN_MS));
        return;
    }
    if (!make_room(table)) {
        rv_wakeup_set_due(&worker->scheduler, queue_session, rv_deadline(TRY_AGAIN_MS));
        return;
    }
    rv_copy_text(noted.name, sizeof(noted.name), due->name);
    noted.due_ms = due->due_ms;
    table->due[table->count++] = noted;
}

void rv_cron_fire_note(reeve_worker *worker, size_t queue_session, const rv_maintain_reply *maintained)
{
    rv_maintain_due due;
    rv_cron_due common = {.queue_session = queue_session,
                          .now_ms = maintained->now_ms,
                          .heard_ms = rv_now_ms(),
                          .more = rv_maintain_call_due(maintained, RV_MAINTAIN_DUE_MAX - 1, &due)};
    for (size_t i = 0; rv_maintain_call_due(maintained, i, &due); i++) note(worker, queue_session, &due, &common);
}

void rv_cron_fire_drop(reeve_worker *worker)
{
    worker->scheduler.cron->count = 0;
}

/* ---- firing ---------------------------------------------------------------------------------------------------- */

typedef struct firing {
    reeve_worker *worker;
    rv_cron_due *due; /* of this pipeline */
    size_t count;
    char words[256]; /* of the first error */
} firing;

static void build(rv_conn *conn, const rv_prefix *prefix, rv_cron_due *due, int64_t *slots)
{
    char id[REEVE_ID_MAX];
    size_t count = rv_cron_definition_decide(&due->rule, due->due_ms, due->now_ms, slots, &due->next_ms);
    if (count > SLOTS_AT_ONCE && due->rule.jitter_ms == 0) {
        count = SLOTS_AT_ONCE;
        due->next_ms = slots[SLOTS_AT_ONCE];
    }
    rv_cmd_script(conn, &rv_script_fire, 1, 3 + count);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, due->name);
    rv_argi(conn, due->due_ms);
    rv_argi(conn, due->next_ms);
    for (size_t i = 0; i < count; i++) {
        rv_cron_definition_slot_id(id, due->name, slots[i]);
        rv_args(conn, id);
    }
}

static void log_fired(const char *queue, const rv_cron_due *due, int64_t answer)
{
    char number[RV_NUMBER_TEXT];
    if (answer > 0) {
        rv_log(REEVE_LOG_DEBUG, "cron.fired", "the recurring entry fired", "queue", queue, "entry", due->name, "tasks",
               rv_number_text(number, (uint64_t)answer), NULL);
    } else if (answer == OVERLAPS) {
        rv_log(REEVE_LOG_INFO, "cron.overlap",
               "the recurring entry skipped a slot: the task of the last slot has not ended", "queue", queue, "entry",
               due->name, NULL);
    }
}

static void on_fired(size_t index, const rv_reply *reply, void *context)
{
    firing *f = context;
    if (index >= f->count) return;
    const rv_cron_due *due = &f->due[index];
    rv_scheduler *scheduler = &f->worker->scheduler;
    if (!rv_reply_is(reply, RV_INT)) {
        if (f->words[0] == '\0') {
            rv_copy_text(f->words, sizeof(f->words), rv_reply_is(reply, RV_ERROR) ? reply->text : "unexpected reply");
        }
        rv_wakeup_set_due(scheduler, due->queue_session, rv_deadline(TRY_AGAIN_MS));
        return;
    }
    log_fired(rv_worker_queue_session(f->worker, due->queue_session)->queue, due, reply->number);
    if (due->more)
        rv_wakeup_set_due(scheduler, due->queue_session, rv_now_ms());
    else if (due->next_ms >= 0)
        rv_wakeup_set_due(scheduler, due->queue_session, due->heard_ms + (due->next_ms - due->now_ms));
}

static bool fire_some(firing *f, rv_conn *conn)
{
    rv_cron_table *table = f->worker->scheduler.cron;
    for (size_t i = 0; i < f->count; i++)
        build(conn, &rv_worker_queue_session(f->worker, f->due[i].queue_session)->prefix, &f->due[i], table->slots);
    return rv_conn_exec(conn, 0, on_fired, f) == REEVE_OK;
}

bool rv_cron_fire_run(reeve_worker *worker, rv_conn *conn)
{
    rv_cron_table *table = worker->scheduler.cron;
    firing f = {.worker = worker};
    bool good = true;
    for (size_t i = 0; i < table->count; i += FIRE_AT_ONCE) {
        f.due = table->due + i;
        f.count = table->count - i < FIRE_AT_ONCE ? table->count - i : FIRE_AT_ONCE;
        if (good) good = fire_some(&f, conn);
        for (size_t j = 0; !good && j < f.count; j++)
            rv_wakeup_set_due(&worker->scheduler, f.due[j].queue_session, rv_now_ms());
    }
    table->count = 0;
    if (f.words[0] != '\0')
        rv_redis_report_refusal(worker, "Redis did not take a recurring entry's tasks: trying again", f.words);
    return good;
}
