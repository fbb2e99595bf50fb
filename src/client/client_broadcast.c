/*
 * client_broadcast.c - a task for each live worker of a queue: they are enqueued blocked, and each worker is asked to take
 * its own (running/bound.h).
 */
#include "reeve/broadcast.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/buffer.h"
#include "client/client.h"
#include "client/client_ask.h"
#include "client/partitions.h"
#include "protocol/parents.h"
#include "protocol/partition.h"
#include "protocol/spec.h"

#define EXPIRES_MS 600000
#define ASKED_AT_ONCE 1000

typedef struct broadcast {
    reeve_client *client;
    const reeve_task_spec *spec;
    char id[RV_UUID_LENGTH + 1];
    char queue[REEVE_QUEUE_MAX + 1]; /* of the tasks: the first partition */
    reeve_broadcast_task *tasks;
    size_t count;
} broadcast;

/* ---- the workers ----------------------------------------------------------------------------------------------- */

static bool is_of(const cJSON *name, const char *queue, size_t length)
{
    if (!cJSON_IsString(name)) return false;
    const char *text = name->valuestring;
    return rv_partition_base(text, strlen(text)) == length && strncmp(text, queue, length) == 0;
}

static bool serves(const reeve_worker_info *info, const char *queue)
{
    size_t length = rv_partition_base(queue, strlen(queue));
    cJSON *pools = info->pools != NULL ? cJSON_Parse(info->pools) : NULL;
    const cJSON *pool, *name;
    bool found = false;
    cJSON_ArrayForEach(pool, pools)
    {
        cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(pool, "queues"))
        {
            if (is_of(name, queue, length)) found = true;
        }
    }
    cJSON_Delete(pools);
    return found;
}

/* A consumer has no handlers: it names no types. */
static bool has_handlers(const reeve_worker_info *info)
{
    return info->types == NULL || strcmp(info->types, "[]") != 0;
}

static reeve_status find_workers(broadcast *b)
{
    reeve_worker_info *list = NULL;
    size_t count = 0;
    reeve_status status = reeve_workers(b->client, &list, &count);
    if (status != REEVE_OK) return status;
    b->tasks = rv_zalloc_array(count + 1, sizeof(*b->tasks));
    if (b->tasks == NULL) status = rv_fail(&b->client->error, REEVE_ENOMEM, "no memory for %zu workers", count);
    for (size_t i = 0; status == REEVE_OK && i < count; i++) {
        if (!serves(&list[i], b->spec->queue) || !has_handlers(&list[i])) continue;
        reeve_broadcast_task *task = &b->tasks[b->count++];
        rv_copy_text(task->worker, sizeof(task->worker), list[i].id);
        rv_copy_text(task->name, sizeof(task->name), list[i].name);
        (void)snprintf(task->id, sizeof(task->id), "%s.%s", b->id, task->worker);
    }
    reeve_workers_free(list, count);
    if (status == REEVE_OK && b->count == 0)
        status = rv_fail(&b->client->error, REEVE_ENOTFOUND, "no live worker serves the queue %s", b->spec->queue);
    return status;
}

/* ---- the tasks ------------------------------------------------------------------------------------------------- */

#define SIGNAL_TEXT (sizeof(RV_PARENTS_WORKER) + 64)

static void fill(const broadcast *b, size_t index, reeve_task_spec *spec, reeve_parent *parent, char *signal)
{
    (void)snprintf(signal, SIGNAL_TEXT, "%s%s", RV_PARENTS_WORKER, b->tasks[index].worker);
    *parent = (reeve_parent){.handle = signal};
    *spec = *b->spec;
    spec->size = sizeof(*spec);
    spec->queue = b->queue;
    spec->id = b->tasks[index].id;
    spec->attempts = 1;
    spec->max_crashes = 1;
    spec->after = parent;
    spec->after_count = 1;
    if (spec->deadline_ms == 0 && spec->expires_in_ms == 0) spec->expires_in_ms = EXPIRES_MS;
}

static reeve_status enqueue(broadcast *b)
{
    reeve_client *client = b->client;
    reeve_task_spec *specs = rv_zalloc_array(b->count, sizeof(*specs));
    reeve_parent *parents = rv_zalloc_array(b->count, sizeof(*parents));
    char *signals = rv_zalloc_array(b->count, SIGNAL_TEXT);
    reeve_enqueued *results = rv_zalloc_array(b->count, sizeof(*results));
    reeve_status status = REEVE_OK;
    if (specs == NULL || parents == NULL || signals == NULL || results == NULL) {
        status = rv_fail(&client->error, REEVE_ENOMEM, "no memory for %zu tasks", b->count);
    } else {
        for (size_t i = 0; i < b->count; i++) fill(b, i, &specs[i], &parents[i], signals + i * SIGNAL_TEXT);
        rv_buffer_switch_off(client); /* tasks that come later are run by nobody */
        status = reeve_enqueue_many(client, specs, b->count, results);
        rv_buffer_switch_on(client);
    }
    rv_free(specs);
    rv_free(parents);
    rv_free(signals);
    rv_free(results);
    return status;
}

/* ---- asking ---------------------------------------------------------------------------------------------------- */

static void note_answers(broadcast *b, size_t first, size_t count, const reeve_answer *answers)
{
    for (size_t i = 0; i < count; i++) {
        reeve_broadcast_task *task = &b->tasks[first + i];
        const char *why = answers[i].text[0] != '\0' ? answers[i].text : "it gave no answer in time";
        task->accepted = answers[i].done;
        if (!task->accepted) rv_copy_text(task->reason, sizeof(task->reason), why);
    }
}

static reeve_status ask(broadcast *b, int64_t wait_ms)
{
    char request[REEVE_QUEUE_MAX + RV_UUID_LENGTH + 32];
    const char **workers = rv_zalloc_array(b->count, sizeof(*workers));
    reeve_answer *answers = rv_zalloc_array(b->count, sizeof(*answers));
    reeve_status status = REEVE_OK;
    if (workers == NULL || answers == NULL)
        status = rv_fail(&b->client->error, REEVE_ENOMEM, "no memory for %zu answers", b->count);
    for (size_t i = 0; status == REEVE_OK && i < b->count; i++) workers[i] = b->tasks[i].worker;
    char name[REEVE_QUEUE_MAX + 1];
    rv_copy_text(name, sizeof(name), b->queue);
    rv_partition_canonicalize(name);
    (void)snprintf(request, sizeof(request), "broadcast %s %s", name, b->id);
    for (size_t first = 0; status == REEVE_OK && first < b->count; first += ASKED_AT_ONCE) {
        size_t count = b->count - first < ASKED_AT_ONCE ? b->count - first : ASKED_AT_ONCE;
        status = rv_client_ask_insist(b->client, workers + first, count, request, wait_ms, answers + first);
        if (status == REEVE_OK) note_answers(b, first, count, answers + first);
    }
    rv_free(workers);
    rv_free(answers);
    return status;
}

static bool is_outage(reeve_status status)
{
    return status == REEVE_ECONNECT || status == REEVE_ELOST || status == REEVE_ETIMEOUT;
}

/* What no worker has accepted. One may have: the task is asked to stop then. Without Redis the rest expires. */
static void cancel_others(broadcast *b)
{
    char reason[REEVE_REASON_MAX + 1];
    bool running;
    reeve_status status = REEVE_OK;
    for (size_t i = 0; i < b->count && !is_outage(status); i++) {
        const reeve_broadcast_task *task = &b->tasks[i];
        if (task->accepted) continue;
        (void)snprintf(reason, sizeof(reason), "broadcast: %.180s", task->reason);
        status = reeve_cancel_with_reason(b->client, b->queue, task->id, reason, false, &running);
    }
}

/* The call has failed: some of the tasks may be there, and of some it is unknown. */
static void take_back(broadcast *b)
{
    const rv_error error = b->client->error;
    for (size_t i = 0; i < b->count; i++) {
        reeve_broadcast_task *task = &b->tasks[i];
        if (!task->accepted && task->reason[0] == '\0') rv_copy_text(task->reason, sizeof(task->reason), error.text);
    }
    cancel_others(b);
    b->client->error = error;
}

/* ---- the call -------------------------------------------------------------------------------------------------- */

static reeve_status check(reeve_client *client, const reeve_task_spec *spec)
{
    const char *other = NULL;
    if (spec->id != NULL) other = "an id";
    if (spec->group != NULL) other = "a group";
    if (spec->unique != NULL) other = "a unique key";
    if (spec->after_count > 0) other = "parents";
    if (spec->in_ms != 0 || spec->at_ms != 0) other = "a time";
    if (spec->attempts > 1) other = "more than one attempt";
    if (spec->max_crashes > 1) other = "more than one crash";
    if (spec->backoff != NULL) other = "a backoff: its tasks have one attempt";
    if (spec->retry_for_ms != 0) other = "a time of retries: its tasks have one attempt";
    if (spec->if_exists != REEVE_EXISTS_REFUSE) other = "a rule for ids that exist";
    if (other != NULL) return rv_fail(&client->error, REEVE_EINVAL, "a broadcast cannot have %s", other);
    return rv_spec_check(spec, &client->error);
}

static reeve_status run(broadcast *b, int64_t wait_ms)
{
    const char *queue = b->spec->queue;
    bool divided = rv_partitions_find(b->client, queue) != NULL;
    rv_uuid7(b->id);
    if (divided)
        rv_partition_exact_name(b->queue, queue, 0);
    else
        rv_copy_text(b->queue, sizeof(b->queue), queue);
    reeve_status status = find_workers(b);
    if (status != REEVE_OK) return status;
    status = enqueue(b);
    if (status == REEVE_OK) status = ask(b, wait_ms);
    if (status == REEVE_OK)
        cancel_others(b);
    else
        take_back(b);
    return status;
}

reeve_status reeve_broadcast_sized(reeve_client *client, const reeve_task_spec *given, int64_t wait_ms,
                                   reeve_broadcast_task **ret, size_t *ret_count, size_t spec_size)
{
    reeve_task_spec spec;
    if (client == NULL || ret == NULL || ret_count == NULL) return REEVE_EINVAL;
    reeve_status status = rv_spec_read(&spec, given, spec_size, &client->error);
    if (status == REEVE_OK && wait_ms < 0)
        status = rv_fail(&client->error, REEVE_EINVAL, "a time limit of %lld ms", (long long)wait_ms);
    if (status == REEVE_OK) status = check(client, &spec);
    if (status != REEVE_OK) return status;
    broadcast b = {.client = client, .spec = &spec};
    status = run(&b, wait_ms);
    if (status != REEVE_OK) {
        rv_free(b.tasks);
        return status;
    }
    *ret = b.tasks;
    *ret_count = b.count;
    return REEVE_OK;
}

void reeve_broadcast_free(reeve_broadcast_task *list)
{
    rv_free(list);
}
