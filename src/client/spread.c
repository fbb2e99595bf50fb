#include "client/spread.h"

#include <string.h>

#include "base/text.h"
#include "protocol/scripts.h"

/* What a script is about. */
typedef enum about { OTHER, TASK, KEY, QUEUE, ENTRY } about;

static about about_of(const rv_script *script)
{
    static const struct {
        const rv_script *script;
        about about;
    } known[] = {
        {&rv_script_show, TASK},       {&rv_script_result, TASK},     {&rv_script_retry, TASK},
        {&rv_script_cancel, TASK},     {&rv_script_cancelled, TASK},  {&rv_script_delete, TASK},
        {&rv_script_wait, TASK},       {&rv_script_wait_look, TASK},  {&rv_script_reschedule, TASK},
        {&rv_script_add_log, TASK},    {&rv_script_expire, TASK},     {&rv_script_fail, TASK},
        {&rv_script_move, TASK},       {&rv_script_unlock, KEY},      {&rv_script_settings, QUEUE},
        {&rv_script_pause, QUEUE},     {&rv_script_pause_for, QUEUE}, {&rv_script_cron, ENTRY},
        {&rv_script_cron_look, ENTRY}, {&rv_script_fire, ENTRY},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].script == script) return known[i].about;
    return OTHER;
}

static reeve_status call_one(reeve_client *client, const rv_simple_call *call, const char *name, const rv_reply **ret,
                             bool *ret_again)
{
    rv_simple_call one = *call;
    one.queue = name;
    return rv_client_script(client, &one, ret, ret_again);
}

/* While the number of partitions is being changed, the key may be held where it was before. */
static reeve_status call_for_key(reeve_client *client, const rv_partition_layout *layout, const rv_simple_call *call,
                                 const rv_reply **ret, bool *ret_again)
{
    char name[REEVE_QUEUE_MAX + 1];
    unsigned at = rv_partition_of(call->args[0], layout->count),
             before = rv_partition_of(call->args[0], layout->before);
    rv_partition_exact_name(name, layout->queue, before);
    reeve_status status = call_one(client, call, name, ret, ret_again);
    if (status != REEVE_OK || at == before || (rv_reply_is(*ret, RV_TEXT) && (*ret)->length > 0)) return status;
    rv_partition_exact_name(name, layout->queue, at);
    return call_one(client, call, name, ret, ret_again);
}

static reeve_status call_all(reeve_client *client, const rv_simple_call *call, const rv_reply **ret, bool *ret_again)
{
    rv_spread spread;
    reeve_status status = REEVE_OK;
    bool again = false;
    if (ret_again != NULL) *ret_again = false;
    (void)rv_spread_begin(&spread, client, call->queue);
    while (status == REEVE_OK && rv_spread_next(&spread)) {
        status = call_one(client, call, spread.name, ret, &again);
        if (ret_again != NULL) *ret_again = *ret_again || again;
    }
    return status;
}

reeve_status rv_spread_script(reeve_client *client, const rv_partition_layout *layout, const rv_simple_call *call,
                              const rv_reply **ret, bool *ret_again)
{
    char name[REEVE_QUEUE_MAX + 1];
    const rv_partition_layout copied = *layout; /* the client's may be read anew */
    const char *found;
    switch (about_of(call->script)) {
    case TASK:
        found = rv_partitions_locate(client, call->queue, call->args[0], name);
        return found == NULL ? client->error.status : call_one(client, call, found, ret, ret_again);
    case KEY:
        return call_for_key(client, &copied, call, ret, ret_again);
    case QUEUE:
        return call_all(client, call, ret, ret_again);
    case ENTRY:
        rv_partition_exact_name(name, copied.queue, 0);
        return call_one(client, call, name, ret, ret_again);
    case OTHER:
        break;
    }
    return rv_spread_refuse(client, call->queue, "this call");
}

bool rv_spread_begin(rv_spread *spread, reeve_client *client, const char *queue)
{
    const rv_partition_layout *layout = client != NULL ? rv_partitions_find(client, queue) : NULL;
    *spread = (rv_spread){0};
    if (layout == NULL) return false;
    rv_copy_text(spread->queue, sizeof(spread->queue), queue);
    spread->count = layout->served;
    return true;
}

bool rv_spread_next(rv_spread *spread)
{
    if (spread->next >= spread->count) return false;
    rv_partition_exact_name(spread->name, spread->queue, spread->next++);
    return true;
}

reeve_status rv_spread_refuse(reeve_client *client, const char *queue, const char *what)
{
    if (rv_partitions_find(client, queue) == NULL) return REEVE_OK;
    return rv_fail(&client->error, REEVE_EUNSUPPORTED,
                   "queue %.64s has partitions, and %s is for one of them: name it, %.64s~0 or %.64s~1, for instance",
                   queue, what, queue, queue);
}

int64_t rv_spread_part(int64_t whole, unsigned partition, unsigned count)
{
    return whole / count + (partition < whole % count ? 1 : 0);
}
