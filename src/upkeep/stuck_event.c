#include "upkeep/stuck_event.h"

#include "base/log.h"
#include "base/text.h"
#include "protocol/scripts.h"

/* Meanwhile the keeper looks after no other thread. */
#define CALL_MS 500

static void report(const rv_thread *t, const rv_stuck_task *task, const char *error)
{
    rv_log(REEVE_LOG_INFO, "thread.untold", "no event says that a handler does not return", "worker", t->worker->id,
           "thread", t->name, "task", task->id, "error", error, NULL);
}

void rv_stuck_event(rv_thread *t, const rv_stuck_task *task)
{
    rv_conn *conn = t->worker->keeper.thread.conn;
    const rv_prefix *prefix = &task->queue_session->prefix;
    const rv_reply *reply;
    if (!rv_conn_is_open(conn)) {
        report(t, task, "not connected to Redis");
        return;
    }
    rv_cmd_script(conn, &rv_script_stuck, 1, 4);
    rv_arg(conn, prefix->text, prefix->length);
    rv_args(conn, task->id);
    rv_args(conn, task->session);
    rv_args(conn, t->number_text);
    rv_argi(conn, task->ran_ms);
    if (rv_conn_call(conn, rv_deadline(CALL_MS), &reply) != REEVE_OK) report(t, task, rv_conn_error(conn)->text);
}
