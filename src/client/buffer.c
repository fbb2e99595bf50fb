#include "client/buffer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/client_enqueue.h"
#include "client/partition_enqueue.h"

#define WAIT_MS 500
#define AWAY_MS 1000
/* If the reply of a call is not awaited, it is unknown later whether its tasks were enqueued. */
#define CALL_MIN_MS 100

/* ---- the queue --------------------------------------------------------------------------------------------------- */

static void push(rv_buffer *buffer, rv_buffered *task)
{
    *buffer->end = task;
    buffer->end = &task->next;
    buffer->count++;
    buffer->bytes += task->length;
}

static bool take_record(const char *data, size_t length, bool flagged, void *context)
{
    rv_buffer *buffer = context;
    size_t count;
    int64_t at_ms;
    bool no_memory;
    if (data[0] == 'T') {
        rv_buffered *task = rv_buffer_record_read(data, length, &no_memory);
        if (task == NULL) return false;
        if (flagged && task->sent_ms == 0) rv_buffer_record_set_sent(task, task->since_ms); /* or later */
        push(buffer, task);
        return true;
    }
    if (!rv_buffer_record_read_mark(data, length, &count, &at_ms) || count > buffer->count) return false;
    if (data[0] == 'S') rv_buffer_note_sent(buffer, count, at_ms);
    for (size_t i = 0; data[0] == 'D' && i < count; i++) rv_buffer_pop(buffer);
    return data[0] == 'S' || data[0] == 'D';
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static rv_buffer *make(const reeve_client_options *options)
{
    rv_buffer *buffer = rv_zalloc(sizeof(*buffer));
    if (buffer == NULL) return NULL;
    buffer->end = &buffer->first;
    buffer->max_bytes = (size_t)(options->buffer_bytes > 0 ? options->buffer_bytes : REEVE_BUFFER_BYTES_DEFAULT);
    buffer->wait_ms = options->buffer_wait_ms > 0 ? options->buffer_wait_ms : WAIT_MS;
    buffer->on_refused = options->buffer_refused;
    buffer->user = options->buffer_user;
    return buffer;
}

reeve_status rv_buffer_open(reeve_client *client, const reeve_client_options *options)
{
    if (options->buffer_bytes < 0 || options->buffer_wait_ms < 0)
        return rv_fail(&client->error, REEVE_EINVAL, "buffer_bytes and buffer_wait_ms must not be negative");
    if (options->buffer_path == NULL && options->buffer_bytes == 0) return REEVE_OK;
    client->buffer = make(options);
    if (client->buffer == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a buffer");
    if (options->buffer_path == NULL) return REEVE_OK;
    return rv_buffer_file_open(&client->buffer->file, options->buffer_path, client->ns, take_record, client->buffer,
                               &client->error);
}

void rv_buffer_close(rv_buffer *buffer, bool is_owner)
{
    if (buffer == NULL) return;
    char tasks[24];
    (void)snprintf(tasks, sizeof(tasks), "%zu", buffer->count);
    if (buffer->count > 0 && buffer->file == NULL)
        rv_log(REEVE_LOG_WARN, "client.buffer_lost", "the client was closed with tasks in its buffer in memory",
               "tasks", tasks, NULL);
    if (is_owner) rv_buffer_forget_delivered(buffer);
    while (buffer->first != NULL) rv_buffer_pop(buffer);
    rv_buffer_file_close(buffer->file);
    rv_free(buffer);
}

/* ---- keeping tasks ----------------------------------------------------------------------------------------------- */

/* What a call puts into the buffer, all of it with one write. */
typedef struct keeping {
    rv_buffer *buffer;
    rv_buf record, framed;
    rv_buffered *first, **end;
    size_t bytes;
} keeping;

static reeve_status keep_one(keeping *k, const reeve_task_spec *spec, const char *id, int64_t sent_ms, rv_error *error)
{
    bool no_memory;
    if (spec->if_exists == REEVE_EXISTS_AGAIN)
        return rv_fail(error, REEVE_ECONNECT, "a task that may come again (if_exists) is not kept in a buffer");
    rv_buf_clear(&k->record);
    rv_buffer_record_write(&k->record, spec, id, sent_ms);
    if (k->buffer->bytes + k->bytes + k->record.length > k->buffer->max_bytes)
        return rv_fail(error, REEVE_EFULL, "the buffer is full: %zu tasks with %zu bytes (buffer_bytes is %zu)",
                       k->buffer->count, k->buffer->bytes, k->buffer->max_bytes);
    rv_buffered *task = k->record.failed ? NULL : rv_buffer_record_read(k->record.data, k->record.length, &no_memory);
    if (task == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a task in the buffer");
    rv_buffer_file_add(&k->framed, k->record.data, k->record.length);
    *k->end = task;
    k->end = &task->next;
    k->bytes += task->length;
    return REEVE_OK;
}

/* They are in the file before they are in the queue. */
static reeve_status end_keeping(keeping *k, rv_error *error)
{
    reeve_status status = REEVE_OK;
    if (k->first != NULL && k->buffer->file != NULL) {
        status = rv_buffer_file_append(k->buffer->file, &k->framed, error);
        if (status == REEVE_OK) k->buffer->behind = 0;
    }
    for (rv_buffered *task = k->first, *next; task != NULL; task = next) {
        next = task->next;
        task->next = NULL;
        if (status == REEVE_OK)
            push(k->buffer, task);
        else
            rv_free(task);
    }
    rv_buf_fini(&k->record);
    rv_buf_fini(&k->framed);
    return status;
}

static void note_failure(rv_error *first, const rv_error *error)
{
    if (first->status == REEVE_OK) *first = *error;
}

/* Puts the tasks with the status REEVE_BUFFERED into the buffer. sent_ms: when those with an id whose `unknown` is set
 * may have been sent. */
static void keep(reeve_client *client, const reeve_task_spec *specs, size_t count, reeve_enqueued *results,
                 int64_t sent_ms, const bool *unknown, rv_error *first)
{
    keeping k = {.buffer = client->buffer};
    rv_error error = {0};
    k.end = &k.first;
    rv_buf_init(&k.record, SIZE_MAX);
    rv_buf_init(&k.framed, SIZE_MAX);
    rv_buffer_add_behind(client->buffer, &k.framed);
    for (size_t i = 0; i < count; i++) {
        if (results[i].status != REEVE_BUFFERED) continue;
        bool is_unknown = unknown != NULL && unknown[i];
        results[i].status = keep_one(&k, &specs[i], results[i].id, is_unknown ? sent_ms : 0, &error);
        if (results[i].status == REEVE_OK) {
            results[i].status = REEVE_BUFFERED;
            continue;
        }
        if (is_unknown) results[i].status = REEVE_ELOST;
        note_failure(first, &error);
    }
    if (end_keeping(&k, &error) == REEVE_OK) return;
    for (size_t i = 0; i < count; i++) {
        if (results[i].status != REEVE_BUFFERED) continue;
        results[i].status = unknown != NULL && unknown[i] ? REEVE_ELOST : error.status;
    }
    note_failure(first, &error);
}

/* Checks the task and gives it an id, as a call that sends it does. */
static void prepare(reeve_client *client, const reeve_task_spec *spec, reeve_enqueued *result, rv_error *first)
{
    rv_error error = {0};
    *result = (reeve_enqueued){.status = rv_enqueue_error_check(spec, &client->size_limits, &error)};
    if (result->status != REEVE_OK) note_failure(first, &error);
    if (result->status != REEVE_OK) return;
    result->status = REEVE_BUFFERED;
    if (spec->id != NULL)
        rv_copy_text(result->id, sizeof(result->id), spec->id);
    else
        rv_uuid7(result->id);
}

bool rv_buffer_is_on(const reeve_client *client)
{
    return client->buffer != NULL && client->buffer->off == 0;
}

void rv_buffer_switch_off(reeve_client *client)
{
    if (client->buffer != NULL) client->buffer->off++;
}

void rv_buffer_switch_on(reeve_client *client)
{
    if (client->buffer != NULL) client->buffer->off--;
}

bool rv_buffer_is_outage(const reeve_client *client, reeve_status status)
{
    return status == REEVE_ECONNECT || status == REEVE_ELOST || status == REEVE_ETIMEOUT ||
           (status == REEVE_EREDIS && rv_client_was_put_off(client));
}

/* The message of the first task that Redis, or a check, has refused. */
static void note_refusal(const reeve_client *client, const reeve_task_spec *specs, size_t count,
                         const reeve_enqueued *results, rv_error *first)
{
    rv_error error = {0};
    char words[sizeof(error.text)];
    size_t at = 0;
    while (at < count && (results[at].status == REEVE_OK || results[at].status == REEVE_BUFFERED)) at++;
    if (at == count) return;
    reeve_enqueued_error(client, &specs[at], &results[at], words, sizeof(words));
    (void)rv_fail(&error, results[at].status, "%s", words);
    note_failure(first, &error);
}

/* Tasks are kept because of an outage. */
static void note_away(rv_buffer *buffer)
{
    buffer->only_refused = false;
    rv_error_clear(&buffer->refusal);
}

/* Sends the tasks, and keeps those that an outage has left. */
static void send_or_keep(reeve_client *client, const reeve_task_spec *specs, size_t count, reeve_enqueued *results,
                         rv_error *first)
{
    rv_buffer *buffer = client->buffer;
    int64_t began_ms = rv_wall_ms();
    buffer->off++;
    (void)rv_client_enqueue_run(client, specs, count, results);
    buffer->off--;
    bool away = false, *unknown = rv_zalloc_array(count, sizeof(*unknown));
    for (size_t i = 0; i < count && unknown != NULL; i++) {
        /* A layer or a check gives these statuses to no task: they are of the connection. */
        if (!rv_buffer_is_outage(client, results[i].status)) continue;
        away = true;
        /* Without an id it was not sent: Redis did not answer where its parents are, or keys are in use. */
        if (results[i].id[0] == '\0') {
            prepare(client, &specs[i], &results[i], first);
            continue;
        }
        unknown[i] = rv_client_enqueue_is_unknown(results[i].status);
        results[i].status = REEVE_BUFFERED;
    }
    note_refusal(client, specs, count, results, first);
    if (away) note_away(buffer);
    if (away) buffer->away_until_ms = rv_deadline(AWAY_MS);
    if (away) keep(client, specs, count, results, began_ms, unknown, first);
    rv_free(unknown);
}

static reeve_status end_call(reeve_client *client, const reeve_enqueued *results, size_t count, const rv_error *first)
{
    client->error = *first;
    if (first->status != REEVE_OK) return first->status;
    for (size_t i = 0; i < count; i++) {
        if (results[i].status != REEVE_BUFFERED) continue;
        if (client->buffer->refusal.status != REEVE_OK)
            return rv_fail(&client->error, REEVE_BUFFERED, "%s: the task %s is in the buffer",
                           client->buffer->refusal.text, results[i].id);
        return rv_fail(&client->error, REEVE_BUFFERED, "Redis cannot be reached: the task %s is in the buffer",
                       results[i].id);
    }
    return REEVE_OK;
}

/* queue: of a spec that is not checked yet. */
static bool has_queue(const rv_buffer *buffer, const char *queue)
{
    if (queue == NULL) return false;
    for (const rv_buffered *task = buffer->first; task != NULL; task = task->next)
        if (strcmp(task->queue, queue) == 0) return true;
    return false;
}

/* Whether new tasks go behind those of the buffer. */
static bool must_wait(rv_buffer *buffer, const reeve_task_spec *specs, size_t count)
{
    size_t refused = 0;
    if (!buffer->only_refused) return buffer->count > 0;
    for (size_t i = 0; i < count; i++) refused += has_queue(buffer, specs[i].queue);
    buffer->only_refused = refused == 0 || refused == count;
    return refused > 0;
}

static bool may_deliver(const rv_buffer *buffer)
{
    return buffer->count > 0 && (!buffer->only_refused || rv_now_ms() >= buffer->refused_until_ms);
}

static reeve_status enqueue(reeve_client *client, const reeve_task_spec *specs, size_t count, reeve_enqueued *results)
{
    rv_buffer *buffer = client->buffer;
    rv_error first = {0};
    int64_t usual_ms = client->timeout_ms;
    reeve_status status = rv_client_check_process(client);
    for (size_t i = 0; i < count && status != REEVE_OK; i++) results[i] = (reeve_enqueued){.status = status};
    if (status != REEVE_OK) return status;
    client->cause_count = 0;
    if (client->timeout_ms > buffer->wait_ms) client->timeout_ms = buffer->wait_ms;
    bool away = rv_now_ms() < buffer->away_until_ms;
    if (away) note_away(buffer);
    if (!away && may_deliver(buffer)) (void)rv_buffer_deliver(client, rv_deadline(buffer->wait_ms));
    if (away || must_wait(buffer, specs, count)) {
        for (size_t i = 0; i < count; i++) prepare(client, &specs[i], &results[i], &first);
        keep(client, specs, count, results, 0, NULL, &first);
    } else {
        send_or_keep(client, specs, count, results, &first);
    }
    client->timeout_ms = usual_ms;
    if (first.status != REEVE_OK) rv_client_note_cause(client, "", &first);
    return end_call(client, results, count, &first);
}

/* Tasks of divided queues get their partitions now: what is sent again later goes to the same. */
static bool place(reeve_client *client, const reeve_task_spec *specs, size_t count, reeve_task_spec *placed,
                  char (*names)[REEVE_QUEUE_MAX + 1])
{
    bool away = rv_now_ms() < client->buffer->away_until_ms;
    if (placed == NULL || names == NULL) return false;
    if ((away || rv_partition_enqueue_place(client, specs, count, true, names) != REEVE_OK) &&
        rv_partition_enqueue_place(client, specs, count, false, names) != REEVE_OK)
        return false;
    memcpy(placed, specs, count * sizeof(*placed));
    for (size_t i = 0; i < count; i++)
        if (names[i][0] != '\0') placed[i].queue = names[i];
    return true;
}

static bool any_has_parents(const reeve_task_spec *specs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (specs[i].after_count > 0) return count > 1;
    return false;
}

/* Parents first: each partition has calls of its own. False: no memory, and nothing was done. */
static bool enqueue_in_order(reeve_client *client, const reeve_task_spec *placed, size_t count, reeve_enqueued *results,
                             reeve_status *ret)
{
    size_t *order = rv_zalloc_array(count, sizeof(*order));
    reeve_task_spec *sorted = rv_zalloc_array(count, sizeof(*sorted));
    reeve_enqueued *answers = rv_zalloc_array(count, sizeof(*answers));
    bool good =
        order != NULL && sorted != NULL && answers != NULL && rv_partition_enqueue_order(client, placed, count, order);
    for (size_t i = 0; good && i < count; i++) sorted[i] = placed[order[i]];
    if (good) *ret = enqueue(client, sorted, count, answers);
    for (size_t i = 0; good && i < count; i++) results[order[i]] = answers[i];
    rv_free(order);
    rv_free(sorted);
    rv_free(answers);
    return good;
}

reeve_status rv_buffer_enqueue(reeve_client *client, const reeve_task_spec *specs, size_t count,
                               reeve_enqueued *results)
{
    reeve_status status = REEVE_OK;
    if (!rv_partition_enqueue_applies(client, specs, count)) return enqueue(client, specs, count, results);
    reeve_task_spec *placed = rv_zalloc_array(count, sizeof(*placed));
    char(*names)[REEVE_QUEUE_MAX + 1] = rv_zalloc_array(count, sizeof(*names));
    bool good = place(client, specs, count, placed, names);
    if (!good || !any_has_parents(placed, count) || !enqueue_in_order(client, placed, count, results, &status))
        status = enqueue(client, good ? placed : specs, count, results);
    rv_free(placed);
    rv_free(names);
    return status;
}

/* ---- what programs call ------------------------------------------------------------------------------------------ */

reeve_status reeve_client_buffer(reeve_client *client, reeve_buffer_info *ret)
{
    if (client == NULL || ret == NULL) return REEVE_EINVAL;
    const rv_buffer *buffer = client->buffer;
    *ret = (reeve_buffer_info){.oldest_ms = -1};
    if (buffer == NULL) return REEVE_OK;
    ret->tasks = buffer->count;
    ret->bytes = buffer->bytes;
    if (buffer->first != NULL) ret->oldest_ms = buffer->first->since_ms;
    ret->delivered = buffer->delivered;
    ret->refused = buffer->refused;
    ret->unknown = buffer->unknown;
    return REEVE_OK;
}

reeve_status reeve_client_flush(reeve_client *client, int64_t timeout_ms)
{
    if (client == NULL) return REEVE_EINVAL;
    rv_error_clear(&client->error);
    reeve_status status = rv_client_check_process(client);
    if (status != REEVE_OK || client->buffer == NULL) return status;
    int64_t usual_ms = client->timeout_ms;
    if (timeout_ms == 0 && client->buffer->count > 0)
        return rv_fail(&client->error, REEVE_ETIMEOUT, "%zu tasks of the buffer are left", client->buffer->count);
    if (timeout_ms >= 0 && client->timeout_ms > timeout_ms)
        client->timeout_ms = timeout_ms > CALL_MIN_MS ? timeout_ms : CALL_MIN_MS;
    status = rv_buffer_deliver(client, rv_deadline(timeout_ms));
    client->timeout_ms = usual_ms;
    if (status != REEVE_OK) return status;
    rv_error_clear(&client->error);
    return REEVE_OK;
}
