#include "client/fan.h"

#include <string.h>

#include "base/id.h"
#include "base/text.h"
#include "client/outbox.h"
#include "protocol/fan_call.h"
#include "protocol/scripts.h"

#define STEP "40"
#define STEPS_MAX 256
#define QUEUES_MAX 16

/* The queues that may have tasks to inform: those that messages went to. */
typedef struct fan {
    reeve_client *client;
    char queues[QUEUES_MAX][REEVE_QUEUE_MAX + 1];
    bool waits[QUEUES_MAX];
    size_t count;
} fan;

static void add_queue(fan *f, const char *queue, size_t length)
{
    if (!rv_valid_queue(queue, length)) return;
    size_t i = 0;
    while (i < f->count && strcmp(f->queues[i], queue) != 0) i++;
    if (i == QUEUES_MAX) return;
    if (i == f->count) rv_copy_text(f->queues[f->count++], sizeof(f->queues[0]), queue);
    f->waits[i] = true;
}

/* False: it is not to go on. */
static bool step(fan *f, size_t index)
{
    const rv_reply *reply;
    const char *queue = f->queues[index];
    const rv_simple_call call = {.script = &rv_script_fan, .queue = queue, .args = {STEP}, .count = 1};
    if (rv_client_script(f->client, &call, &reply, NULL) != REEVE_OK) return false;
    if (!rv_reply_is(reply, RV_ARRAY)) return false;
    bool carries = rv_reply_int(rv_reply_at(reply, 1), 0) > 0;
    f->waits[index] = rv_reply_int(rv_reply_at(reply, 0), 0) == 1;
    for (size_t i = 2; i < reply->count; i++) {
        const rv_reply *name = rv_reply_at(reply, i);
        if (rv_reply_is(name, RV_TEXT)) add_queue(f, name->text, name->length);
    }
    if (carries) rv_outbox_client_carry(f->client, queue);
    return true;
}

void rv_fan_run(reeve_client *client, const char *queue)
{
    fan f = {.client = client};
    bool more = true;
    add_queue(&f, queue, strlen(queue));
    for (unsigned steps = 0; more && steps < STEPS_MAX;) {
        more = false;
        for (size_t i = 0; i < f.count && steps < STEPS_MAX; i++) {
            if (!f.waits[i]) continue;
            if (!step(&f, i)) return;
            more = true;
            steps++;
        }
    }
}

static bool is_anybody_left(rv_conn *conn, const rv_prefix *prefix)
{
    const rv_reply *reply;
    rv_fan_call_ask(conn, prefix);
    return rv_conn_call(conn, 0, &reply) == REEVE_OK && rv_reply_int(reply, 0) > 0;
}

void rv_fan_follow(reeve_client *client, const char *queue)
{
    const rv_error before = client->error;
    rv_prefix prefix;
    if (client->stand_in != NULL || client->conn == NULL || !rv_conn_is_open(client->conn)) return;
    rv_keys_set_prefix(&prefix, client->ns, queue);
    if (is_anybody_left(client->conn, &prefix)) rv_fan_run(client, queue);
    client->error = before;
}
