#include "upkeep/partition_return.h"

#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/client_partition.h"
#include "client/partition_left.h"

/* The queues of the worker that can have been divided. */
typedef struct queue_list {
    const char **names;
    bool *divided; /* the queue was divided at some time */
    size_t count;
} queue_list;

static void list_queues(const reeve_worker *worker, size_t max, queue_list *ret)
{
    for (size_t i = 0; i < max; i++) {
        const rv_queue_session *queue_session = rv_worker_queue_session(worker, i);
        if (!atomic_load(&queue_session->away) && rv_partition_left_applies(queue_session->queue))
            ret->names[ret->count++] = queue_session->queue;
    }
}

/* One command for all queues: each that was ever divided has had a partition 1. */
static reeve_status ask_divided(reeve_worker *worker, queue_list *list)
{
    const rv_reply *reply;
    rv_conn *conn = worker->scheduler.thread.conn;
    rv_cmd(conn, 2 + list->count);
    rv_args(conn, "SMISMEMBER");
    rv_arg2(conn, worker->ns, strlen(worker->ns), ":queues", 7);
    for (size_t i = 0; i < list->count; i++) {
        char name[REEVE_QUEUE_MAX + 1];
        rv_partition_exact_name(name, list->names[i], 1);
        rv_args(conn, name);
    }
    reeve_status status = rv_conn_call(conn, 0, &reply);
    for (size_t i = 0; status == REEVE_OK && i < list->count; i++)
        list->divided[i] = rv_reply_int(rv_reply_at(reply, i), 0) == 1;
    return status;
}

static unsigned count_served(reeve_worker *worker, const char *queue)
{
    rv_lock(&worker->changing);
    const rv_partition_layout *layout = rv_partition_map_find(&worker->partitions, queue);
    unsigned served = layout != NULL ? layout->served : 1;
    rv_unlock(&worker->changing);
    return served;
}

static void serve(reeve_worker *worker, const char *queue, unsigned served)
{
    const reeve_client_options options = {
        .size = sizeof(options), .ns = worker->ns, .name = "reeve-worker-partitions", .timeout_ms = worker->command_ms};
    reeve_client *client = NULL;
    rv_error error = {0};
    bool changed = false;
    reeve_status status = rv_client_open_to(&client, worker->target, &options, &error);
    if (status == REEVE_OK) status = rv_client_partition_serve(client, queue, served, &changed);
    if (client != NULL && status != REEVE_OK) error = client->error;
    reeve_client_close(client);
    char number[RV_NUMBER_TEXT];
    if (status != REEVE_OK)
        rv_log(REEVE_LOG_WARN, "partition.stranded",
               "tasks are in partitions that the queue no longer has, and cannot be served yet: the worker tries again",
               "queue", queue, "served", rv_number_text(number, served), "error", error.text, NULL);
    else if (changed)
        rv_log(REEVE_LOG_WARN, "partition.returned",
               "tasks or messages are in partitions that the queue no longer has: workers serve these again until the "
               "next reeve partition",
               "queue", queue, "served", rv_number_text(number, served), NULL);
}

static reeve_status look_at(reeve_worker *worker, const char *queue)
{
    rv_partition_left left = {.ns = worker->ns, .queue = queue, .from = count_served(worker, queue)};
    if (left.from >= REEVE_PARTITIONS_MAX) return REEVE_OK;
    reeve_status status = rv_partition_left_look(worker->scheduler.thread.conn, 0, &left);
    unsigned served = rv_partition_left_served(&left);
    if (status == REEVE_OK && served > 0) serve(worker, queue, served);
    return status;
}

bool rv_partition_return_look(reeve_worker *worker, int64_t *ret_at_ms)
{
    rv_scheduler *scheduler = &worker->scheduler;
    queue_list list = {.names = NULL};
    reeve_status status = REEVE_OK;
    *ret_at_ms = scheduler->partitions_at_ms;
    if (rv_now_ms() < scheduler->partitions_at_ms) return true;
    size_t max = worker->queue_session_count;
    *ret_at_ms = scheduler->partitions_at_ms = rv_deadline(worker->session_ms);
    list.names = rv_zalloc_array(max + 1, sizeof(*list.names));
    list.divided = rv_zalloc_array(max + 1, sizeof(*list.divided));
    if (list.names != NULL && list.divided != NULL) list_queues(worker, max, &list);
    if (list.count > 0) status = ask_divided(worker, &list);
    for (size_t i = 0; status == REEVE_OK && i < list.count; i++)
        if (list.divided[i]) status = look_at(worker, list.names[i]);
    rv_free(list.names);
    rv_free(list.divided);
    return rv_conn_is_open(scheduler->thread.conn);
}
