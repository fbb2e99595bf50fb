/*
 * client_forget.c - a queue goes, with all that belongs to it.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "client/client.h"
#include "client/fan.h"
#include "client/partition_put.h"
#include "client/partitions.h"
#include "protocol/scripts.h"
#include "reeve/change.h"
#include "reeve/cron.h"

#define STEP "100"
/* So often in a row tasks are still to hear of ends, in this queue or in others. */
#define TELLS_MAX 100

#define KNOWN_ALL (REEVE_FORGET_TASKS | REEVE_FORGET_CRON | REEVE_FORGET_SERVED)

typedef struct forgetting {
    reeve_client *client;
    const char *queue;
    unsigned what;
    unsigned tells;
    char cursor[24];
    uint64_t deleted;
    bool existed, again, done;
} forgetting;

static reeve_status refuse(const forgetting *f, int64_t count, const char *words)
{
    return rv_fail(&f->client->error, REEVE_ESTATE, "cannot forget queue %s: %lld %s", f->queue, (long long)count,
                   words);
}

static reeve_status remove_entries(const forgetting *f)
{
    reeve_cron_info *list;
    size_t count;
    reeve_status status = reeve_cron_list(f->client, f->queue, &list, &count);
    if (status != REEVE_OK) return status;
    for (size_t i = 0; i < count && status == REEVE_OK; i++) {
        status = reeve_cron_remove(f->client, f->queue, list[i].name);
        if (status == REEVE_ENOTFOUND) status = REEVE_OK;
    }
    reeve_cron_free(list, count);
    return status;
}

static reeve_status tell(forgetting *f)
{
    rv_fan_run(f->client, f->queue);
    if (++f->tells < TELLS_MAX) return REEVE_OK;
    return rv_fail(&f->client->error, REEVE_EREDIS,
                   "queue %s: tasks that waited for its tasks cannot be told that these are deleted", f->queue);
}

static reeve_status follow(forgetting *f, const char *word, int64_t number)
{
    if (strcmp(word, "served") == 0) return refuse(f, number, "sessions of workers lease from it");
    if (strcmp(word, "tasks") == 0) return refuse(f, number, "tasks are in it, including those that have ended");
    if (strcmp(word, "cron") == 0)
        return f->what & REEVE_FORGET_CRON ? remove_entries(f) : refuse(f, number, "recurring entries are in it");
    bool tells = strcmp(word, "messages") == 0;
    f->done = strcmp(word, "forgotten") == 0;
    if (!tells && !f->done && strcmp(word, "more") != 0) return rv_client_odd_reply(f->client, "forget");
    if (f->done) {
        f->existed = number > 0;
        return REEVE_OK;
    }
    if (number > 0) f->deleted += (uint64_t)number;
    if (tells && number <= 0) return tell(f);
    if (tells) rv_fan_run(f->client, f->queue);
    f->tells = 0;
    return REEVE_OK;
}

static reeve_status step(forgetting *f)
{
    const rv_reply *reply;
    char letters[3], word[16];
    bool again;
    (void)snprintf(letters, sizeof(letters), "%s%s", f->what & REEVE_FORGET_TASKS ? "t" : "",
                   f->what & REEVE_FORGET_SERVED ? "s" : "");
    const rv_simple_call call = {
        .script = &rv_script_forget, .queue = f->queue, .args = {letters, STEP, f->cursor}, .count = 3};
    reeve_status status = rv_client_script(f->client, &call, &reply, &again);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 3 || !rv_reply_is(reply->items[0], RV_TEXT) ||
        !rv_reply_is(reply->items[2], RV_TEXT) || reply->items[2]->length >= sizeof(f->cursor))
        return rv_client_odd_reply(f->client, "forget");
    f->again = f->again || again;
    rv_copy_text(word, sizeof(word), reply->items[0]->text);
    rv_copy_text(f->cursor, sizeof(f->cursor), reply->items[2]->text);
    return follow(f, word, rv_reply_int(reply->items[1], 0));
}

static void build_remove_name(rv_conn *conn, bool again, const void *context)
{
    const forgetting *f = context;
    (void)again;
    rv_cmd(conn, 3);
    rv_args(conn, "SREM");
    rv_arg2(conn, f->client->ns, strlen(f->client->ns), ":queues", 7);
    rv_args(conn, f->queue);
}

/* Its name goes last: until then the queue is there to be seen. */
static reeve_status remove_name(forgetting *f)
{
    const rv_reply *reply;
    bool again;
    reeve_status status = rv_client_call(f->client, build_remove_name, f, &reply, &again);
    if (status != REEVE_OK || f->existed || f->again || again || rv_reply_int(reply, 0) == 1) return status;
    return rv_fail(&f->client->error, REEVE_ENOTFOUND, "no such queue: %s", f->queue);
}

static reeve_status forget_one(reeve_client *client, const char *queue, unsigned what, uint64_t *ret_deleted)
{
    forgetting f = {.client = client, .queue = queue, .what = what, .cursor = "0"};
    reeve_status status = REEVE_OK;
    while (status == REEVE_OK && !f.done) status = step(&f);
    if (status == REEVE_OK) status = remove_name(&f);
    *ret_deleted += f.deleted;
    return status;
}

/* ---- all partitions --------------------------------------------------------------------------------------------- */

/* Nothing of a partition goes where another one refuses. */
static reeve_status check_tasks(reeve_client *client, const char *queue)
{
    reeve_queue_info info;
    uint64_t count = 0;
    reeve_status status = reeve_queue(client, queue, &info);
    for (size_t i = 0; status == REEVE_OK && i < REEVE_STATE_COUNT; i++) count += info.count[i];
    const forgetting f = {.client = client, .queue = queue};
    return status == REEVE_OK && count > 0
               ? refuse(&f, (int64_t)count, "tasks are in it, including those that have ended")
               : status;
}

/* The queue is not divided any more, unless another operator has divided it anew meanwhile. */
static reeve_status remove_layout(reeve_client *client, const rv_partition_layout *read)
{
    rv_partition_layout none = {.count = 1, .before = 1, .served = 1};
    bool done = false;
    rv_copy_text(none.queue, sizeof(none.queue), read->queue);
    reeve_status status = rv_partition_put(client, read, &none, false, &done);
    if (status != REEVE_OK || done) return status;
    return rv_fail(&client->error, REEVE_ESTATE, "queue %s: its partitions were changed meanwhile; try again",
                   read->queue);
}

/* The last partitions first: as long as there is something, the queue itself is there to be seen. */
static reeve_status forget_partitions(reeve_client *client, const rv_partition_layout *layout, unsigned what,
                                      uint64_t *ret_deleted)
{
    reeve_status status = (what & REEVE_FORGET_TASKS) == 0 ? check_tasks(client, layout->queue) : REEVE_OK;
    for (unsigned i = layout->served; status == REEVE_OK && i > 0; i--) {
        char name[REEVE_QUEUE_MAX + 1];
        /* Partition 0 is the last one; its own name is that in the list of queues. */
        if (i == 1) status = remove_layout(client, layout);
        rv_partition_name(name, layout->queue, i - 1);
        if (status == REEVE_OK) status = forget_one(client, name, what, ret_deleted);
        if (status == REEVE_ENOTFOUND && i > 1) status = REEVE_OK;
    }
    return status;
}

reeve_status reeve_queue_forget(reeve_client *client, const char *queue, unsigned what, uint64_t *ret_deleted)
{
    uint64_t deleted = 0;
    if (client == NULL) return REEVE_EINVAL;
    if (ret_deleted != NULL) *ret_deleted = 0;
    reeve_status status = rv_keys_check_queue(queue, &client->error);
    if (status == REEVE_OK && (what & ~(unsigned)KNOWN_ALL) != 0)
        status =
            rv_fail(&client->error, REEVE_EINVAL, "what to forget: there is no flag %u", what & ~(unsigned)KNOWN_ALL);
    const rv_partition_layout *layout = status == REEVE_OK ? rv_partitions_find(client, queue) : NULL;
    if (status == REEVE_OK && layout != NULL) {
        const rv_partition_layout copied = *layout; /* the client's may be read anew */
        status = forget_partitions(client, &copied, what, &deleted);
    } else if (status == REEVE_OK) {
        status = forget_one(client, queue, what, &deleted);
    }
    rv_known_queues_forget(&client->known); /* the next task of this client enters the name again */
    if (ret_deleted != NULL) *ret_deleted = deleted;
    return status;
}
