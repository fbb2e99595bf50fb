/*
 * client_forget.c - a queue goes, with all that belongs to it.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "client/client.h"
#include "client/fan.h"
#include "client/spread.h"
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

reeve_status reeve_queue_forget(reeve_client *client, const char *queue, unsigned what, uint64_t *ret_deleted)
{
    if (client == NULL) return REEVE_EINVAL;
    forgetting f = {.client = client, .queue = queue, .what = what, .cursor = "0"};
    if (ret_deleted != NULL) *ret_deleted = 0;
    reeve_status status = rv_keys_check_queue(queue, &client->error);
    if (status == REEVE_OK && (what & ~(unsigned)KNOWN_ALL) != 0)
        status =
            rv_fail(&client->error, REEVE_EINVAL, "what to forget: there is no flag %u", what & ~(unsigned)KNOWN_ALL);
    if (status == REEVE_OK) status = rv_spread_refuse(client, queue, "forgetting");
    while (status == REEVE_OK && !f.done) status = step(&f);
    if (status == REEVE_OK) status = remove_name(&f);
    client->known_until_ms = 0; /* the next task of this client enters the name again */
    if (ret_deleted != NULL) *ret_deleted = f.deleted;
    return status;
}
