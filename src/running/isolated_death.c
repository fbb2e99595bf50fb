#include "running/isolated_death.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "protocol/crash_list.h"
#include "running/isolated.h"
#include "running/run_task.h"

#define LIST_MS 1000
#define BACKTRACE_MAX ((size_t)64 * 1024)

static void log_crash(const rv_isolated_call *run, const char *message, pid_t pid)
{
    char number[RV_NUMBER_TEXT];
    const reeve_task *task = run->tasks[0];
    const char *what = run->count > 1 ? "a runner died in a call of several tasks: they run again, one by one"
                                      : "a runner died while a handler ran";
    rv_log(REEVE_LOG_ERROR, "runner.crashed", what, "thread", run->t->name, "pid",
           rv_number_text(number, (uint64_t)pid), "queue", task->queue, "task", task->id, "type", task->type, "error",
           message, NULL);
}

/* For `reeve workers --crashes`. Without Redis it is not listed. */
static void list_crash(rv_thread *t, reeve_task *task, const char *message, const char *backtrace)
{
    const rv_crash_entry entry = {.at_ms = rv_wall_ms(),
                                  .worker = t->worker->id,
                                  .thread = t->name,
                                  .task = reeve_task_handle(task),
                                  .type = task->type,
                                  .message = message,
                                  .backtrace = backtrace,
                                  .crashed = 1};
    if (!rv_conn_is_open(t->conn) && rv_conn_open(t->conn, rv_deadline(LIST_MS)) != REEVE_OK) return;
    rv_crash_list_add(t->conn, t->worker->ns, &entry);
    (void)rv_conn_exec(t->conn, rv_deadline(LIST_MS), NULL, NULL);
}

static void note_crash(rv_isolated_call *run, const char *message, const rv_buf *backtrace)
{
    reeve_task *task = run->tasks[0];
    list_crash(run->t, task, message, rv_buf_text(backtrace));
    (void)rv_task_failed(task, REEVE_OUTCOME_FAIL, "crash", "%s", message);
    task->backtrace = rv_chunks_add_copy(&task->payloads, rv_buf_text(backtrace), backtrace->length + 1);
    task->crashed = true;
}

/* Its tasks were asked to stop: those that have no outcome yet go back, and that is no failure. One that was settled
 * before it ran has failed. */
static void note_ended(rv_isolated_call *run)
{
    for (size_t i = 0; i < run->count; i++) {
        if (run->tasks[i]->past)
            (void)rv_task_failed(run->tasks[i], REEVE_OUTCOME_RETRY, "stopped", "ended: it did not stop when asked to");
        else
            (void)reeve_task_give_back(run->tasks[i]);
    }
}

/* One of several tasks has ended the process: they run again one by one, which shows which one it was. One that runs at
 * most once has failed. */
static void run_singly(const rv_isolated_call *run, const rv_handler *handler)
{
    for (size_t i = 0; i < run->count; i++) {
        if (run->tasks[i]->past)
            (void)rv_task_failed(run->tasks[i], REEVE_OUTCOME_FAIL, "crash", "%s", "the process of its call has died");
        else
            rv_isolated_run(run->t, handler, &run->tasks[i], 1);
    }
}

void rv_isolated_death_reap(rv_isolated_call *run)
{
    rv_runner taken = rv_isolated_take_runner(run->t);
    run->pid = taken.pid;
    run->crash = taken.crash;
    taken.crash = NULL;
    run->end = run->is_garbled ? rv_runner_process_kill(&taken) : rv_runner_process_reap(&taken);
}

/* Message and backtrace of the death. */
static void describe(const rv_isolated_call *run, rv_buf *message, rv_buf *backtrace)
{
    char how[64];
    const reeve_worker *worker = run->t->worker;
    if (run->crash != NULL && worker->describe_crash != NULL && worker->describe_crash(run->crash, message, backtrace))
        return;
    rv_buf_clear(message);
    if (run->is_garbled) {
        rv_buf_adds(message, "its process was ended: what came from it is no message of a runner (handlers must leave "
                             "descriptor 3 alone)");
        return;
    }
    rv_runner_process_describe_end(&run->end, how, sizeof(how));
    rv_buf_addf(message, "its process %s", how);
}

void rv_isolated_death_take(rv_isolated_call *run, const rv_handler *handler)
{
    if (run->was_ended) {
        rv_log(REEVE_LOG_WARN, "runner.ended", "a handler did not stop when asked to: its runner was ended", "thread",
               run->t->name, "queue", run->tasks[0]->queue, "task", run->tasks[0]->id, "type", run->tasks[0]->type,
               NULL);
        note_ended(run);
        return;
    }
    rv_buf message, backtrace;
    rv_buf_init(&message, (size_t)4 * REEVE_MESSAGE_MAX);
    rv_buf_init(&backtrace, BACKTRACE_MAX);
    describe(run, &message, &backtrace);
    log_crash(run, rv_buf_text(&message), run->pid);
    if (run->count > 1)
        run_singly(run, handler);
    else
        note_crash(run, rv_buf_text(&message), &backtrace);
    rv_buf_fini(&message);
    rv_buf_fini(&backtrace);
}
