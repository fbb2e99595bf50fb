#include "upkeep/last_messages.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/outbox.h"
#include "protocol/fan_call.h"

#define CARRY_ROUNDS 16

typedef struct last_messages {
    reeve_worker *worker;
    rv_conn *conn;
    int64_t deadline;
    bool *left; /* by queue session: there is something to tell */
    size_t count;
} last_messages;

static void on_exists(size_t index, const rv_reply *reply, void *context)
{
    const last_messages *all = context;
    if (index < all->count) all->left[index] = rv_reply_int(reply, 0) > 0;
}

static bool look(last_messages *all)
{
    for (size_t i = 0; i < all->count; i++)
        rv_fan_call_ask(all->conn, &rv_worker_queue_session(all->worker, i)->prefix);
    return rv_conn_exec(all->conn, all->deadline, on_exists, all) == REEVE_OK;
}

/* Returns whether there is more to tell in this queue. */
static bool tell(const last_messages *all, const rv_queue_session *queue_session)
{
    const rv_reply *reply;
    rv_fan_reply fanned;
    rv_error error = {0};
    size_t carried = 0;
    rv_fan_call_build(all->conn, &queue_session->prefix, RV_FAN_CALL_MAX);
    if (rv_conn_call(all->conn, all->deadline, &reply) != REEVE_OK || !rv_fan_call_read(&fanned, reply)) return false;
    if (fanned.outbox == 0) return fanned.more;
    reeve_status status = rv_outbox_carry_by(all->conn, all->worker->ns, queue_session->queue, CARRY_ROUNDS,
                                             all->deadline, &carried, &error);
    return (status == REEVE_OK || carried > 0) && (fanned.more || carried > 0);
}

void rv_last_messages_send(reeve_worker *worker, rv_conn *conn, int64_t deadline)
{
    last_messages all = {.worker = worker, .conn = conn, .deadline = deadline, .count = worker->queue_session_count};
    all.left = rv_zalloc_array(all.count + 1, sizeof(*all.left));
    if (all.left == NULL) return;
    bool more = look(&all);
    while (more && rv_now_ms() < deadline && rv_conn_is_open(conn)) {
        more = false;
        for (size_t i = 0; i < all.count && rv_conn_is_open(conn); i++) {
            if (all.left[i]) all.left[i] = tell(&all, rv_worker_queue_session(worker, i));
            more = more || all.left[i];
        }
    }
    rv_free(all.left);
}
