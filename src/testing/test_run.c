#include "testing/test_run.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

/* ---- the clock ------------------------------------------------------------------------------------------------- */

void reeve_test_clock_move(reeve_test_clock *clock, int64_t ms)
{
    (void)__atomic_add_fetch(&clock->now_ms, ms, __ATOMIC_SEQ_CST);
}

int64_t rv_test_run_now(const rv_test_run *test_run)
{
    const reeve_test_clock *clock = test_run->clock;

    return clock->real ? rv_wall_ms() : __atomic_load_n(&clock->now_ms, __ATOMIC_SEQ_CST);
}

/* As the handler does: it may go on. */
static int64_t look_at_clock(void *context)
{
    rv_test_run *r = context;

    if (r->clock->real) return rv_wall_ms();
    return __atomic_fetch_add(&r->clock->now_ms, r->clock->step_ms, __ATOMIC_SEQ_CST);
}

void rv_test_run_begin(rv_test_run *test_run)
{
    test_run->clock = test_run->options.clock != NULL ? test_run->options.clock : &test_run->own_clock;
    if (!test_run->clock->real && test_run->clock->now_ms == 0) test_run->clock->now_ms = REEVE_TEST_BEGIN_MS;
    test_run->report->is.began_ms = rv_test_run_now(test_run);
    atomic_store(&test_run->alive_at_ms, test_run->report->is.began_ms);
    atomic_store(&test_run->cancelled, test_run->options.cancel_at == 1);
}

/* ---- what the handler meets ------------------------------------------------------------------------------------ */

rv_test_run_limit rv_test_run_passed(rv_test_run *test_run)
{
    int64_t now = rv_test_run_now(test_run);
    rv_test_run_limit passed = RV_TEST_RUN_WITHIN;
    int within = RV_TEST_RUN_WITHIN;

    if (test_run->silence_ms > 0 && now - atomic_load(&test_run->alive_at_ms) >= test_run->silence_ms)
        passed = RV_TEST_RUN_SILENT;
    if (now >= test_run->until_ms) passed = RV_TEST_RUN_LATE;
    (void)atomic_compare_exchange_strong(&test_run->passed, &within, (int)passed);
    return (rv_test_run_limit)atomic_load(&test_run->passed);
}

static bool asked_to_stop(void *context)
{
    rv_test_run *r = context;
    unsigned asked = atomic_fetch_add(&r->asked, 1) + 1;

    (void)look_at_clock(r);
    if (r->options.cancel_at != 0 && asked >= r->options.cancel_at) atomic_store(&r->cancelled, true);
    return rv_test_run_passed(r) != RV_TEST_RUN_WITHIN || atomic_load(&r->cancelled) || atomic_load(&r->lost) ||
           (r->options.stop_at != 0 && asked >= r->options.stop_at);
}

/* The list with room for one more, perhaps elsewhere; NULL, and the list stays, when it is full or there is no memory.
 */
static void *make_room(void *list, size_t count, size_t *room, size_t size)
{
    size_t wanted = *room == 0 ? 8 : 2 * *room;
    void *more;

    if (count >= REEVE_TEST_LIST_MAX) return NULL;
    if (count < *room) return list;
    more = rv_realloc_array(list, wanted, size);
    if (more != NULL) *room = wanted;
    return more;
}

/* The result of a call to Redis. */
static reeve_status answer(rv_test_run *r)
{
    reeve_status status = rv_test_run_passed(r) != RV_TEST_RUN_WITHIN ? REEVE_EREFUSED : r->options.tell_status;

    if (status == REEVE_EREFUSED) atomic_store(&r->lost, true);
    if (status == REEVE_OK) atomic_store(&r->alive_at_ms, rv_test_run_now(r));
    return status;
}

static void note_progress(const rv_test_run *r, int percent, const char *words)
{
    rv_test_run_report *to = r->report;
    reeve_test_progress *list = make_room(to->progress, to->is.progress_count, &to->progress_room, sizeof(*list));
    char *copy;

    if (list == NULL) return;
    to->progress = list;
    copy = rv_strdup(words != NULL ? words : "");
    if (copy == NULL) return;
    list[to->is.progress_count++] = (reeve_test_progress){rv_test_run_now(r), percent, copy};
}

static reeve_status hear_progress(reeve_task *task, int percent, const char *words, void *context)
{
    rv_test_run *r = context;

    (void)task;
    note_progress(r, percent, words);
    if (r->options.on_progress != NULL) r->options.on_progress(percent, words, r->options.user);
    return answer(r);
}

static reeve_status hear_log(reeve_task *task, const char *line, void *context)
{
    rv_test_run *r = context;
    rv_test_run_report *to = r->report;
    reeve_test_line *list = make_room(to->log, to->is.log_count, &to->log_room, sizeof(*list));

    (void)task;
    if (list != NULL) {
        char *copy = rv_strdup(line);

        to->log = list;
        if (copy != NULL) list[to->is.log_count++] = (reeve_test_line){rv_test_run_now(r), copy};
    }
    return answer(r);
}

static reeve_status hear_heartbeat(reeve_task *task, void *context)
{
    (void)task;
    return answer(context);
}

/* A limit that has passed stays so. */
static reeve_status move_limit(reeve_task *task, int64_t for_ms, void *context)
{
    rv_test_run *r = context;
    int64_t now = rv_test_run_now(r);

    (void)task;
    if (rv_test_run_passed(r) != RV_TEST_RUN_WITHIN) return REEVE_EREFUSED;
    r->until_ms = for_ms > RV_FOREVER - now ? RV_FOREVER : now + for_ms;
    return answer(r);
}

void rv_test_run_keep_checkpoint(rv_test_run_report *report, reeve_bytes data)
{
    rv_buf_clear(&report->checkpoint);
    rv_buf_add(&report->checkpoint, data.data, data.length);
}

static reeve_status hear_checkpoint(reeve_task *task, reeve_bytes data, void *context)
{
    rv_test_run *r = context;
    reeve_status status = answer(r);

    (void)task;
    if (status == REEVE_OK) rv_test_run_keep_checkpoint(r->report, data);
    return status;
}

static reeve_status tell_checkpoint(reeve_task *task, rv_buf *ret, void *context)
{
    const rv_test_run *r = context;
    const rv_buf *kept = &r->report->checkpoint;

    (void)task;
    if (kept->length > 0) rv_buf_add(ret, kept->data, kept->length);
    return ret->failed ? REEVE_ENOMEM : REEVE_OK;
}

static void note_pause(const rv_test_run *r, const char *group, int64_t delay_ms)
{
    rv_test_run_report *to = r->report;
    reeve_test_pause *list = make_room(to->pauses, to->is.pause_count, &to->pause_room, sizeof(*list));
    char *copy;

    if (list == NULL) return;
    to->pauses = list;
    copy = rv_strdup(group);
    if (copy == NULL && group != NULL) return;
    list[to->is.pause_count++] = (reeve_test_pause){rv_test_run_now(r), delay_ms, copy};
}

static reeve_status on_pause_for(reeve_task *task, const char *group, int64_t delay_ms, void *context)
{
    rv_test_run *r = context;

    (void)task;
    note_pause(r, group, delay_ms);
    return r->options.pause_status;
}

/* Its texts lie in one block, which begins with the handle. */
static bool copy_chained(reeve_test_chained *ret, const reeve_task_spec *spec, const char *id)
{
    rv_buf text;
    size_t type, group, unique, payload;

    rv_buf_init(&text, SIZE_MAX);
    rv_buf_addf(&text, "%s/%s", spec->queue, id);
    rv_buf_addc(&text, '\0');
    type = text.length;
    rv_buf_add(&text, spec->type, strlen(spec->type) + 1);
    group = text.length;
    if (spec->group != NULL) rv_buf_add(&text, spec->group, strlen(spec->group) + 1);
    unique = text.length;
    if (spec->unique != NULL) rv_buf_add(&text, spec->unique, strlen(spec->unique) + 1);
    payload = text.length;
    if (spec->payload.length > 0) rv_buf_add(&text, spec->payload.data, spec->payload.length);
    rv_buf_addc(&text, '\0');
    if (text.failed) {
        rv_buf_fini(&text);
        return false;
    }
    *ret = (reeve_test_chained){.handle = text.data,
                                .type = text.data + type,
                                .payload = {text.data + payload, spec->payload.length},
                                .group = spec->group != NULL ? text.data + group : NULL,
                                .unique = spec->unique != NULL ? text.data + unique : NULL,
                                .priority = spec->priority,
                                .delay_ms = spec->in_ms,
                                .at_ms = spec->at_ms};
    return true;
}

static reeve_status on_chained(const reeve_task_spec *spec, char id[REEVE_ID_MAX], void *context)
{
    const rv_test_run *r = context;
    rv_test_run_report *to = r->report;
    reeve_test_chained *list = make_room(to->chained, to->chained_count, &to->chained_room, sizeof(*list));

    if (list == NULL) return REEVE_ENOMEM;
    to->chained = list;
    if (r->chain != NULL) {
        reeve_status status = r->chain(spec, id, r->chain_context);
        if (status != REEVE_OK) return status;
    }
    if (id[0] == '\0') (void)snprintf(id, REEVE_ID_MAX, "chained-%zu", to->chained_count + 1);
    if (!copy_chained(&list[to->chained_count], spec, id)) return REEVE_ENOMEM;
    to->chained_count++;
    return REEVE_OK;
}

void rv_test_run_forget(rv_test_run_report *report)
{
    for (size_t i = 0; i < report->is.progress_count; i++) rv_free((void *)report->progress[i].words);
    for (size_t i = 0; i < report->is.log_count; i++) rv_free((void *)report->log[i].text);
    for (size_t i = 0; i < report->is.pause_count; i++) rv_free((void *)report->pauses[i].group);
    for (size_t i = 0; i < report->chained_count; i++) rv_free((void *)report->chained[i].handle);
    rv_free(report->progress);
    rv_free(report->log);
    rv_free(report->pauses);
    rv_free(report->chained);
    rv_buf_fini(&report->checkpoint);
}

rv_task_host rv_test_run_host(rv_test_run *test_run)
{
    return (rv_task_host){
        .progress = hear_progress,
        .heartbeat = hear_heartbeat,
        .extend = move_limit,
        .pause_for = on_pause_for,
        .checkpoint = hear_checkpoint,
        .last_checkpoint = tell_checkpoint,
        .log = hear_log,
        .chained = on_chained,
        .context = test_run,
        .cancelled = &test_run->cancelled,
        .now = look_at_clock,
        .asked_to_stop = asked_to_stop,
    };
}
