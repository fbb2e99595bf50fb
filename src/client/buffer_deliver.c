/*
 * buffer_deliver.c - sends the tasks of a client's buffer: those of one queue that stand together, in one call of
 * enqueue.lua, until none is left.
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "client/buffer.h"
#include "client/buffer_parents.h"
#include "client/partition_enqueue.h"
#include "protocol/enqueue_refusal.h"
#include "protocol/format.h"
#include "protocol/parents.h"
#include "protocol/scripts.h"

#define CALL_TASKS 250
#define CALL_BYTES ((size_t)1024 * 1024)
#define AWAY_MS 1000
#define REFUSED_MS 10000
/* By how much this machine's clock may have been wrong when a task was sent: more is on the safe side. */
#define CLOCK_SLACK_MS 60000
#define COMMAND_OF_TASKS 2 /* behind SADD and SET */

typedef struct delivery {
    reeve_client *client;
    size_t count;
    bool sent_before; /* an earlier call may have enqueued them */
    int64_t sent_ms;  /* when: the first of them */
    int64_t began_ms; /* rv_now_ms */
    bool marked;
    bool answered;
    char *options[CALL_TASKS]; /* NULL: those of the task (buffer_parents.h) */
    reeve_status statuses[CALL_TASKS];
    char words[CALL_TASKS][REEVE_ID_MAX]; /* the holder of a unique key, or a parent */
    rv_error error;                       /* of the call */
    rv_error unmarked;                    /* why nothing was sent */
} delivery;

/* The next tasks: of one queue, and all or none of them sent before. */
static void choose(delivery *d)
{
    const rv_buffered *first = d->client->buffer->first;
    size_t bytes = 0;
    d->count = 0;
    d->sent_before = first->sent_ms != 0;
    d->sent_ms = first->sent_ms;
    for (const rv_buffered *task = first; task != NULL && d->count < CALL_TASKS; task = task->next) {
        bytes += task->length;
        if (d->count > 0 && bytes > CALL_BYTES) break;
        if (strcmp(task->queue, first->queue) != 0 || (task->sent_ms != 0) != d->sent_before) break;
        if (task->sent_ms < d->sent_ms) d->sent_ms = task->sent_ms;
        d->count++;
    }
}

static void write_way(const delivery *d, bool again, char *ret, size_t size)
{
    int64_t elapsed = rv_now_ms() - d->began_ms + 1;
    if (d->sent_before) {
        int64_t wall = rv_wall_ms() - d->sent_ms;
        elapsed = (wall > elapsed ? wall : elapsed) + CLOCK_SLACK_MS;
    }
    if (d->sent_before || again)
        (void)snprintf(ret, size, "again %lld", (long long)elapsed);
    else
        rv_copy_text(ret, size, "0");
}

/* The connection is open now. That the tasks are sent is in the file before they are; else they are not sent. */
static bool mark(delivery *d)
{
    rv_error_clear(&d->unmarked);
    d->marked = d->marked || rv_buffer_mark_sent(d->client->buffer, d->count, &d->unmarked) == REEVE_OK;
    return d->marked;
}

static void build_nothing(rv_conn *conn)
{
    rv_cmd(conn, 1);
    rv_args(conn, "PING");
}

static void build(rv_conn *conn, bool again, const void *context)
{
    delivery *d = *(delivery *const *)context;
    const rv_buffered *task = d->client->buffer->first;
    rv_prefix prefix;
    char way[64], queue[REEVE_QUEUE_MAX + 1];
    if (!mark(d)) {
        build_nothing(conn);
        return;
    }
    rv_keys_set_prefix(&prefix, d->client->ns, task->queue);
    write_way(d, again, way, sizeof(way));
    rv_cmd(conn, 3);
    rv_args(conn, "SADD");
    rv_arg2(conn, d->client->ns, strlen(d->client->ns), ":queues", 7);
    rv_copy_text(queue, sizeof(queue), task->queue);
    rv_partition_canonicalize(queue);
    rv_args(conn, queue);
    rv_format_note(conn, d->client->ns);
    rv_cmd_script(conn, &rv_script_enqueue, 1, 1 + 3 * d->count);
    rv_arg(conn, prefix.text, prefix.length);
    rv_args(conn, way);
    for (size_t i = 0; i < d->count; i++, task = task->next) {
        rv_args(conn, task->id);
        if (d->options[i] != NULL)
            rv_args(conn, d->options[i]);
        else
            rv_arg(conn, task->options.data, task->options.length);
        rv_arg(conn, task->rest.data, task->rest.length);
    }
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static void take_answer(delivery *d, size_t index, const rv_buffered *task, const rv_reply *answer)
{
    reeve_status *status = &d->statuses[index];
    if (rv_reply_is(answer, RV_TEXT)) {
        const char *words;
        *status = rv_enqueue_refusal_read(answer->text, &words);
        rv_copy_text(d->words[index], sizeof(d->words[index]), words);
        return;
    }
    int64_t number = rv_reply_int(answer, 0);
    /* Nobody else has an id that the library made. */
    *status = number > 0 || (number == 0 && task->own_id) ? REEVE_OK : number == 0 ? REEVE_EEXISTS : REEVE_ELOST;
}

static void on_reply(size_t index, const rv_reply *reply, void *context)
{
    delivery *d = context;
    if (rv_client_put_off(d->client, reply)) return;
    if (rv_reply_is(reply, RV_ERROR)) {
        if (d->error.status == REEVE_OK) (void)rv_client_refused(d->client, reply->text);
        if (d->error.status == REEVE_OK) d->error = d->client->error;
        return;
    }
    if (index != COMMAND_OF_TASKS) return;
    bool alike = rv_reply_is(reply, RV_INT);
    if (!alike && (!rv_reply_is(reply, RV_ARRAY) || reply->count != d->count)) {
        (void)rv_fail(&d->error, REEVE_EPROTO, "enqueue: unexpected reply");
        return;
    }
    const rv_buffered *task = d->client->buffer->first;
    for (size_t i = 0; i < d->count; i++, task = task->next) take_answer(d, i, task, alike ? reply : reply->items[i]);
    d->answered = true;
}

static void write_reason(const delivery *d, size_t index, const rv_buffered *task, char *ret, size_t size)
{
    rv_error error = {0};
    char queue[REEVE_QUEUE_MAX + 1];
    rv_copy_text(queue, sizeof(queue), task->queue);
    rv_partition_strip(queue);
    switch (d->statuses[index]) {
    case REEVE_ETOOBIG:
        (void)rv_enqueue_refusal_explain_size(&error, queue, d->words[index]);
        rv_copy_text(ret, size, error.text);
        break;
    case REEVE_EEXISTS:
        (void)snprintf(ret, size, "a task %s/%s exists already", queue, task->id);
        break;
    case REEVE_EUNIQUE:
        (void)snprintf(ret, size, "its unique key is held by %s/%s", queue, d->words[index]);
        break;
    case REEVE_ENOTFOUND:
        (void)snprintf(ret, size, "its parent %s/%s does not exist", queue, d->words[index]);
        break;
    default:
        (void)snprintf(ret, size,
                       "unknown whether it was enqueued: it is not there, and may have ended and not be kept");
        break;
    }
}

static void tell_refusal(rv_buffer *buffer, const delivery *d, size_t index, const rv_buffered *task)
{
    char handle[REEVE_HANDLE_MAX], words[512];
    (void)snprintf(handle, sizeof(handle), "%s/%s", task->queue, task->id);
    rv_partition_strip(handle);
    write_reason(d, index, task, words, sizeof(words));
    rv_log(REEVE_LOG_WARN, "client.buffer_refused", "a task of the buffer is dropped", "task", handle, "error", words,
           NULL);
    if (buffer->on_refused != NULL) buffer->on_refused(handle, d->statuses[index], words, buffer->user);
}

static reeve_status take_answers(rv_buffer *buffer, const delivery *d)
{
    rv_error error = {0};
    const rv_buffered *task = buffer->first;
    for (size_t i = 0; i < d->count; i++, task = task->next) {
        if (d->statuses[i] == REEVE_OK) {
            rv_partition_enqueue_bring_home(d->client, task->queue, task->id);
            buffer->delivered++;
            continue;
        }
        if (d->statuses[i] == REEVE_ELOST)
            buffer->unknown++;
        else
            buffer->refused++;
        tell_refusal(buffer, d, i, task);
    }
    return rv_buffer_drop(buffer, d->count, &error) == REEVE_OK
               ? REEVE_OK
               : rv_fail(&d->client->error, error.status, "%s", error.text);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void free_options(delivery *d)
{
    for (size_t i = 0; i < d->count; i++) cJSON_free(d->options[i]);
}

/* *ret_refused: Redis answered with an error that does not pass by itself. */
static reeve_status deliver_some(reeve_client *client, bool *ret_refused)
{
    delivery d; /* not zeroed, because it is large */
    const delivery *context = &d;
    d.client = client;
    d.began_ms = rv_now_ms();
    d.marked = d.answered = false;
    rv_error_clear(&d.error);
    rv_error_clear(&d.unmarked);
    choose(&d);
    int64_t wall_ms = rv_wall_ms();
    reeve_status status = rv_buffer_parents_locate(client, d.count, d.options);
    if (status != REEVE_OK) {
        free_options(&d);
        *ret_refused = status == REEVE_EREDIS && !rv_client_was_put_off(client);
        return status;
    }
    status = rv_client_exec(client, build, &context, on_reply, &d, NULL);
    free_options(&d);
    if (status == REEVE_OK && d.error.status != REEVE_OK) {
        client->error = d.error;
        status = d.error.status;
    }
    if (d.unmarked.status != REEVE_OK) {
        client->error = d.unmarked;
        return d.unmarked.status;
    }
    *ret_refused = !d.answered && (d.error.status == REEVE_EREDIS || d.error.status == REEVE_ELOST);
    if (d.answered) return take_answers(client->buffer, &d);
    if (status == REEVE_OK) status = rv_client_odd_reply(client, "enqueue");
    if (client->unsure || status == REEVE_ELOST || status == REEVE_ETIMEOUT || status == REEVE_EPROTO)
        rv_buffer_note_sent(client->buffer, d.count, wall_ms);
    return status;
}

/* Redis is there, and refuses the tasks of a queue, and will do so until somebody changes something. The tasks of other
 * queues are delivered nevertheless. False: the file cannot be written. */
static bool put_aside(reeve_client *client)
{
    rv_buffer *buffer = client->buffer;
    rv_error error = {0}, refusal = {0};
    char queue[REEVE_QUEUE_MAX + 1];
    rv_copy_text(queue, sizeof(queue), buffer->first->queue);
    rv_partition_strip(queue);
    (void)rv_fail(&refusal, REEVE_EREDIS, "the queue %s: %s", queue, client->error.text);
    if (rv_buffer_put_aside(buffer, &error) != REEVE_OK) {
        client->error = error;
        return false;
    }
    rv_log(REEVE_LOG_WARN, "client.buffer_waits", "Redis refuses tasks of the buffer: they stay there", "queue", queue,
           "error", client->error.text, NULL);
    buffer->refusal = refusal;
    return true;
}

reeve_status rv_buffer_deliver(reeve_client *client, int64_t deadline)
{
    rv_buffer *buffer = client->buffer;
    buffer->delivery++;
    buffer->only_refused = false;
    rv_error_clear(&buffer->refusal);
    while (buffer->count > 0) {
        if (buffer->first->refused_in == buffer->delivery) {
            buffer->only_refused = true;
            buffer->refused_until_ms = rv_deadline(REFUSED_MS);
            client->error = buffer->refusal;
            return buffer->refusal.status;
        }
        bool refused = false;
        reeve_status status = deliver_some(client, &refused);
        if (status != REEVE_OK && !(refused && put_aside(client))) {
            rv_error_clear(&buffer->refusal);
            buffer->away_until_ms = rv_deadline(AWAY_MS);
            return status;
        }
        buffer->away_until_ms = 0;
        if (buffer->count > 0 && rv_now_ms() >= deadline)
            return rv_fail(&client->error, REEVE_ETIMEOUT, "%zu tasks of the buffer are left", buffer->count);
    }
    return REEVE_OK;
}
