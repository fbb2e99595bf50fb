/*
 * overview.h - what a screen of all queues shows, read in one call of a script (overview.lua).
 */
#ifndef RV_CLIENT_OVERVIEW_H
#define RV_CLIENT_OVERVIEW_H

#include "client/client.h"
#include "reeve/cron.h"

typedef struct rv_overview_request {
    bool workers, cron;
    const char *queue; /* whose tasks are listed; NULL: of none */
    reeve_state state;
    size_t limit; /* of tasks */
} rv_overview_request;

/* Parts that were not asked for are NULL. */
typedef struct rv_overview {
    reeve_queue_info *queues;
    size_t queue_count;
    reeve_worker_info *workers;
    size_t worker_count;
    reeve_cron_info *cron;
    size_t cron_count;
    reeve_task_info **tasks;
    size_t task_count;
} rv_overview;

/*
 * Reads as reeve_queues, reeve_workers, reeve_cron_list and reeve_list do. Where that is more than one call may read, the
 * queue has partitions, Redis is a cluster, or it refuses the script, it makes their calls. On success the caller frees
 * what was read with rv_overview_free; else there is nothing to free.
 */
reeve_status rv_overview_read(reeve_client *client, const rv_overview_request *request, rv_overview *ret);
void rv_overview_free(rv_overview *overview);

/* Parts of its reply; *ret is freed as what the public functions return. client_queues.c */
reeve_status rv_overview_read_queues(reeve_client *client, const rv_reply *reply, reeve_queue_info **ret,
                                     size_t *ret_count);
/* client_workers.c */
reeve_status rv_overview_read_workers(reeve_client *client, const rv_reply *reply, reeve_worker_info **ret,
                                      size_t *ret_count);
/* client_cron_list.c. REEVE_ETOOBIG: a queue has more pages. */
reeve_status rv_overview_read_cron(reeve_client *client, const rv_reply *reply, reeve_cron_info **ret,
                                   size_t *ret_count);

#endif
