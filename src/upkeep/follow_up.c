#include "upkeep/follow_up.h"

#include "base/log.h"
#include "base/text.h"
#include "protocol/fan_call.h"
#include "protocol/reap_call.h"
#include "running/redis_report.h"
#include "running/wakeup.h"

#define LEASES_MAX 200
#define ROUNDS 16 /* then all queues are maintained that are due meanwhile */
#define TRY_AGAIN_MS 1000

/* One pipeline. */
typedef struct calls_of {
    reeve_worker *worker;
    size_t places[2 * RV_MAINTAIN_AT_ONCE]; /* by call: the place of its queue in `maintained` */
    bool reaps[2 * RV_MAINTAIN_AT_ONCE];    /* by call: it is of reap.lua, else of fan.lua */
    size_t count;
    char words[256]; /* of the first error */
} calls_of;

static void add_call(calls_of *calls, size_t place, bool reaps)
{
    calls->places[calls->count] = place;
    calls->reaps[calls->count++] = reaps;
}

static void build(calls_of *calls, rv_conn *conn, size_t count)
{
    const rv_scheduler *scheduler = &calls->worker->scheduler;
    calls->count = 0;
    for (size_t i = 0; i < count; i++) {
        const rv_prefix *prefix = &rv_worker_queue_session(calls->worker, scheduler->maintained[i])->prefix;
        if (scheduler->dead[i]) {
            rv_reap_call_build(conn, prefix, LEASES_MAX, calls->worker->session_ms);
            add_call(calls, i, true);
        }
        if (scheduler->ends[i]) {
            rv_fan_call_build(conn, prefix, RV_FAN_CALL_MAX);
            add_call(calls, i, false);
        }
    }
}

static bool on_reaped(calls_of *calls, size_t place, const rv_reply *reply)
{
    rv_scheduler *scheduler = &calls->worker->scheduler;
    rv_reap_reply reaped;
    if (!rv_reap_call_read(&reaped, reply)) return false;
    if (reaped.session[0] != '\0') {
        char number[RV_NUMBER_TEXT];
        rv_log(REEVE_LOG_WARN, "session.reaped", "a session expired: its tasks run again", "queue",
               rv_worker_queue_session(calls->worker, scheduler->maintained[place])->queue, "session", reaped.session,
               "tasks", rv_number_text(number, reaped.recovered), NULL);
    }
    scheduler->dead[place] = reaped.more;
    if (!reaped.more) rv_wakeup_set_due(scheduler, scheduler->maintained[place], rv_now_ms());
    return true;
}

static bool on_fanned(calls_of *calls, size_t place, const rv_reply *reply)
{
    rv_scheduler *scheduler = &calls->worker->scheduler;
    rv_fan_reply fanned;
    if (!rv_fan_call_read(&fanned, reply)) return false;
    scheduler->ends[place] = fanned.more;
    if (fanned.outbox > 0) scheduler->outbox[place] = true;
    return true;
}

static void on_reply(size_t index, const rv_reply *reply, void *context)
{
    calls_of *calls = context;
    if (index >= calls->count) return;
    size_t place = calls->places[index];
    bool reaps = calls->reaps[index];
    if (reaps ? on_reaped(calls, place, reply) : on_fanned(calls, place, reply)) return;
    rv_scheduler *scheduler = &calls->worker->scheduler;
    if (calls->words[0] == '\0')
        rv_copy_text(calls->words, sizeof(calls->words),
                     rv_reply_is(reply, RV_ERROR) ? reply->text : "unexpected reply");
    *(reaps ? &scheduler->dead[place] : &scheduler->ends[place]) = false;
    rv_wakeup_set_due(scheduler, scheduler->maintained[place], rv_deadline(TRY_AGAIN_MS));
}

bool rv_follow_up_run(reeve_worker *worker, rv_conn *conn, size_t count)
{
    rv_scheduler *scheduler = &worker->scheduler;
    calls_of calls = {.worker = worker};
    for (unsigned round = 0; round < ROUNDS; round++) {
        build(&calls, conn, count);
        if (calls.count == 0) break;
        if (rv_conn_exec(conn, 0, on_reply, &calls) != REEVE_OK) return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (scheduler->dead[i] || scheduler->ends[i])
            rv_wakeup_set_due(scheduler, scheduler->maintained[i], rv_now_ms());
    }
    if (calls.words[0] != '\0')
        rv_redis_report_refusal(worker, "Redis refused the maintenance of a queue: the worker tries again",
                                calls.words);
    return true;
}
