/*
 * enqueue_error.c - the error message of each task of a call of reeve_enqueue_many. A result has no room for a
 * message: errors of the task itself are found again by checking it, and an error of Redis is kept once for all
 * tasks that it concerns.
 */
#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "base/text.h"
#include "client/client.h"
#include "protocol/envelope.h"
#include "protocol/parents.h"
#include "protocol/spec.h"

reeve_status rv_enqueue_error_check(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error)
{
    reeve_status status = rv_spec_check_under(spec, size_limits, error);
    if (status != REEVE_OK || spec->after_count <= REEVE_PARENTS_MAX) return status;
    return rv_fail(error, REEVE_ETOOBIG, "%zu parents: at most %d in one call; reeve_enqueue takes more",
                   spec->after_count, REEVE_PARENTS_MAX);
}

static const rv_cause *find_cause(const reeve_client *client, const char *queue, reeve_status status)
{
    for (size_t i = 0; i < client->cause_count; i++) {
        const rv_cause *cause = &client->causes[i];
        if (cause->error.status == status && strcmp(cause->queue, queue) == 0) return cause;
    }
    return NULL;
}

void rv_client_note_cause(reeve_client *client, const char *queue, const rv_error *error)
{
    if (client->cause_count == RV_CAUSES || find_cause(client, queue, error->status) != NULL) return;
    rv_cause *cause = &client->causes[client->cause_count++];
    rv_copy_text(cause->queue, sizeof(cause->queue), queue);
    cause->error = *error;
}

reeve_status rv_enqueue_error_refuse_all(reeve_client *client, size_t count, reeve_enqueued *ret_results, size_t at,
                                         const char *what)
{
    for (size_t i = 0; i < count; i++) ret_results[i] = (reeve_enqueued){.status = REEVE_ETOOBIG};
    (void)rv_size_limits_refuse(&client->error, &client->size_limits, at, "%zu %s", count, what);
    client->cause_count = 0;
    rv_client_note_cause(client, "", &client->error);
    return REEVE_ETOOBIG;
}

/* If more queues failed than causes are kept: the cause of one of the others. */
static void write_cause_of_another(const reeve_client *client, reeve_status status, char *ret, size_t size)
{
    for (size_t i = 0; i < client->cause_count; i++) {
        const rv_cause *cause = &client->causes[i];
        char prefix[REEVE_QUEUE_MAX + sizeof("queue : ")];
        size_t length = (size_t)snprintf(prefix, sizeof(prefix), "queue %s: ", cause->queue);
        if (cause->error.status != status || strncmp(cause->error.text, prefix, length) != 0) continue;
        (void)snprintf(ret, size, "queue %s, and others: %s", cause->queue, cause->error.text + length);
        return;
    }
    rv_copy_text(ret, size, reeve_status_text(status));
}

static void write_cause(const reeve_client *client, const char *queue, reeve_status status, char *ret, size_t size)
{
    const rv_cause *cause = find_cause(client, queue, status);
    if (cause == NULL) cause = find_cause(client, "", status);
    if (cause != NULL)
        rv_copy_text(ret, size, cause->error.text);
    else
        write_cause_of_another(client, status, ret, size);
}

void reeve_enqueued_error_sized(const reeve_client *client, const reeve_task_spec *given, const reeve_enqueued *result,
                                char *ret, size_t size, size_t spec_size)
{
    reeve_task_spec spec;
    rv_error error = {0};
    if (ret == NULL || size == 0) return;
    ret[0] = '\0';
    if (client == NULL || given == NULL || result == NULL || result->status == REEVE_OK) return;
    if (rv_spec_read(&spec, given, spec_size, &error) != REEVE_OK) {
        rv_copy_text(ret, size, error.text);
        return;
    }
    char queue[REEVE_QUEUE_MAX + 1]; /* in place of a partition of it */
    rv_copy_text(queue, sizeof(queue), spec.queue);
    rv_partition_strip(queue);
    if (spec.queue != NULL && rv_valid_queue(spec.queue, strlen(spec.queue))) spec.queue = queue;
    switch (result->status) {
    case REEVE_EEXISTS:
        (void)snprintf(ret, size, "a task %s/%s exists already", spec.queue, result->id);
        break;
    case REEVE_EUNIQUE:
        (void)snprintf(ret, size, "the unique key \"%s\" is held by %s/%s", spec.unique != NULL ? spec.unique : "",
                       spec.queue, result->id);
        break;
    case REEVE_ENOTFOUND:
        (void)rv_parents_refuse(&error, spec.queue, spec.id != NULL ? spec.id : spec.type, result->id);
        rv_copy_text(ret, size, error.text);
        break;
    default:
        if (rv_enqueue_error_check(&spec, &client->size_limits, &error) != REEVE_OK)
            rv_copy_text(ret, size, error.text);
        else
            write_cause(client, spec.queue, result->status, ret, size);
    }
}
