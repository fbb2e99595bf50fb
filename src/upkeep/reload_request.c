#include "upkeep/reload_request.h"

#include "base/lock.h"
#include "base/text.h"
#include "running/os_thread.h"
#include "running/worker_reload.h"
#include "upkeep/requests.h"

#define WORDS_MAX 8192 /* bytes of an answer */

static void *carry_out(void *argument)
{
    reeve_worker *worker = argument;
    rv_error error = {0};
    rv_buf words;
    rv_buf_init(&words, WORDS_MAX);
    bool done = rv_worker_reload(worker, &words, &error) == REEVE_OK;
    (void)rv_requests_answer(worker, worker->reload.id, done, done ? rv_buf_text(&words) : error.text);
    rv_buf_fini(&words);
    atomic_store(&worker->reload.runs, false);
    return NULL;
}

reeve_status rv_reload_request_start(reeve_worker *worker, const char *id, rv_error *error)
{
    if (atomic_load(&worker->reload.runs)) return rv_fail(error, REEVE_ESTATE, "another reload is under way");
    rv_reload_request_join(worker);
    rv_copy_text(worker->reload.id, sizeof(worker->reload.id), id);
    atomic_store(&worker->reload.runs, true);
    reeve_status status = rv_os_thread_start(&worker->reload.thread, carry_out, worker, "reeve-reload", error);
    worker->reload.has_thread = status == REEVE_OK;
    if (status != REEVE_OK) atomic_store(&worker->reload.runs, false);
    return status;
}

void rv_reload_request_join(reeve_worker *worker)
{
    if (worker->reload.has_thread) rv_lock_check(pthread_join(worker->reload.thread, NULL));
    worker->reload.has_thread = false;
}
