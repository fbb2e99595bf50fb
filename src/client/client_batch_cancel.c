/*
 * client_batch_cancel.c - cancels the members of a batch that have not ended, one after the other. The callbacks hear of it.
 */
#include <string.h>

#include "client/change_call.h"
#include "client/client_batch.h"
#include "protocol/scripts.h"
#include "reeve/change.h"

typedef struct cancelling {
    reeve_client *client;
    const char *reason;
    reeve_batch_cancelled *counts;
} cancelling;

/* One that has ended meanwhile, or is dead and may be retried, stays as it is. */
static reeve_status cancel_member(const char *handle, void *context)
{
    cancelling *all = context;
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    bool running = false;
    (void)rv_keys_split_handle(handle, queue, id);
    const rv_change_call what = {
        {&rv_script_cancel, queue, {id, "tell", all->reason}, 3}, "cancel", "cancelled", &running, false};
    reeve_status status = rv_change_call_run(all->client, &what);
    if (status == REEVE_ESTATE || status == REEVE_ENOTFOUND) return REEVE_OK;
    if (status == REEVE_OK && running) all->counts->asked++;
    if (status == REEVE_OK && !running) all->counts->cancelled++;
    return status;
}

reeve_status reeve_batch_cancel(reeve_client *client, const char *handle, const char *reason,
                                reeve_batch_cancelled *ret)
{
    reeve_batch_cancelled counts = {0};
    if (client == NULL || handle == NULL) return REEVE_EINVAL;
    cancelling all = {.client = client, .reason = reason != NULL ? reason : "", .counts = &counts};
    reeve_status status = rv_change_call_check_reason(client, all.reason);
    if (status == REEVE_OK) status = rv_client_batch_each_left(client, handle, cancel_member, &all);
    if (ret != NULL) *ret = counts;
    return status;
}
