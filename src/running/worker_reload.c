#include "running/worker_reload.h"

#include "base/lock.h"
#include "base/log.h"
#include "handlers/handler_reload.h"
#include "running/handler_change.h"

#define PROGRAM_WORDS 1024 /* bytes of what the program says */

/* Asks the program, which may refuse: then nothing has changed yet. */
static reeve_status ask_program(reeve_worker *worker, rv_buf *words, rv_error *error)
{
    char text[PROGRAM_WORDS] = "";
    if (worker->on_reload == NULL) return REEVE_OK;
    reeve_status status = worker->on_reload(worker->on_reload_user, worker, text, sizeof(text));
    text[sizeof(text) - 1] = '\0';
    if (status != REEVE_OK) return rv_fail(error, status, "%s", text[0] != '\0' ? text : reeve_status_text(status));
    if (text[0] != '\0') rv_buf_addf(words, "%s%s", words->length > 0 ? "; " : "", text);
    return REEVE_OK;
}

static reeve_status replace(reeve_worker *worker, rv_handler_set *fresh, rv_error *error)
{
    rv_handler_set *present = worker->set;
    rv_handler_reload_take_over(fresh, present);
    reeve_status status = rv_handler_change_replace(worker, fresh, error);
    if (status != REEVE_OK) rv_handler_reload_take_over(present, fresh);
    return status;
}

static reeve_status reload(reeve_worker *worker, rv_buf *words, rv_error *error)
{
    rv_handler_set *fresh;
    reeve_status status = rv_handler_reload_make(&fresh, worker->set, words, error);
    if (status != REEVE_OK) return status;
    status = ask_program(worker, words, error);
    if (status == REEVE_OK && fresh != NULL) status = replace(worker, fresh, error);
    if (status != REEVE_OK) rv_handler_set_free(fresh);
    return status;
}

reeve_status rv_worker_reload(reeve_worker *worker, rv_buf *words, rv_error *error)
{
    rv_phase phase = rv_worker_phase(worker);
    if (phase == RV_PHASE_CREATED || phase >= RV_PHASE_STOPPING)
        return rv_fail(error, REEVE_ESTATE, "the worker does not run");
    rv_lock(&worker->reloading);
    reeve_status status = reload(worker, words, error);
    rv_unlock(&worker->reloading);
    if (status != REEVE_OK) {
        rv_log(REEVE_LOG_ERROR, "worker.reload_rejected", "the worker was not reloaded", "worker", worker->id, "error",
               error->text, NULL);
        return status;
    }
    if (words->length == 0) rv_buf_adds(words, "nothing has changed");
    rv_log(REEVE_LOG_INFO, "worker.reloaded", "the worker was reloaded", "worker", worker->id, "changes",
           rv_buf_text(words), NULL);
    return REEVE_OK;
}
