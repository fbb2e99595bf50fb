#include "running/chain_place.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "base/mem.h"
#include "base/text.h"
#include "handlers/task.h"
#include "protocol/keys.h"
#include "protocol/partition.h"
#include "protocol/partition_use.h"
#include "protocol/settlement.h"
#include "running/locate_task.h"

#define UUID_VERSION 14 /* the place of its digit */

/* A chained task: see protocol/settlement.h. */
typedef struct chained_task {
    reeve_bytes handle, options, envelope;
    char queue[REEVE_QUEUE_MAX + 1];
    char id[REEVE_ID_MAX];
    cJSON *read;                /* its options; NULL: it has none */
    rv_partition_layout layout; /* layout.count 0: its queue is not divided */
    unsigned partition;
} chained_task;

typedef struct placing {
    reeve_worker *worker;
    const rv_task_host *host;       /* asks Redis */
    const char *queue;              /* of the task that chains them, */
    char base[REEVE_QUEUE_MAX + 1]; /* and the queue that it is a partition of */
    chained_task *tasks;
    size_t count;
} placing;

static bool read_task(chained_task *ret, const char **at)
{
    char handle[REEVE_HANDLE_MAX];
    *at = rv_settlement_chained_argument(*at, &ret->handle);
    *at = rv_settlement_chained_argument(*at, &ret->options);
    *at = rv_settlement_chained_argument(*at, &ret->envelope);
    if (ret->handle.length >= sizeof(handle)) return false;
    memcpy(handle, ret->handle.data, ret->handle.length);
    handle[ret->handle.length] = '\0';
    if (!rv_keys_split_handle(handle, ret->queue, ret->id)) return false;
    if (ret->options.length == 0) return true;
    ret->read = cJSON_ParseWithLength(ret->options.data, ret->options.length);
    return ret->read != NULL;
}

static const char *option_of(const chained_task *task, const char *name)
{
    return task->read != NULL ? cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(task->read, name)) : NULL;
}

/* The library made it, so no other task can have it. */
static bool is_made(const char *id)
{
    return strlen(id) == RV_UUID_LENGTH && id[UUID_VERSION] == '7';
}

static const char *key_of(const chained_task *task)
{
    const char *unique = option_of(task, "unique");
    return unique != NULL ? unique : option_of(task, "group");
}

/* By the layout of its queue, which is divided. */
static void place(const placing *p, chained_task *task)
{
    const char *key = key_of(task);
    if (key == NULL && is_made(task->id) && strcmp(task->layout.queue, p->base) == 0)
        task->partition = rv_partition_number(p->queue);
    else
        task->partition = rv_partition_of(key != NULL ? key : task->id, task->layout.count);
}

/* ---- while a number of partitions is being changed -------------------------------------------------------------- */

typedef struct asked {
    rv_partition_use use;
    unsigned question;
} asked;

static void build_question(rv_conn *conn, const void *what)
{
    const asked *a = what;
    rv_partition_use_build(conn, &a->use, a->question);
}

/* False: it is not, or Redis did not answer. */
static bool is_in_use(const placing *p, const chained_task *task, unsigned partition)
{
    char name[REEVE_QUEUE_MAX + 1];
    const rv_task_host *host = p->host;
    const cJSON *priority = cJSON_GetObjectItemCaseSensitive(task->read, "priority");
    asked a = {.use = {.unique = option_of(task, "unique"), .group = option_of(task, "group")}};
    if (priority != NULL) a.use.priority = priority->valueint;
    rv_partition_name(name, task->layout.queue, partition);
    rv_keys_set_prefix(&a.use.prefix, p->worker->ns, name);
    for (; a.question < RV_PARTITION_QUESTIONS; a.question++) {
        const rv_reply *reply;
        if (!rv_partition_use_matters(&a.use, a.question)) continue;
        if (host->ask(build_question, &a, &reply, host->context) != REEVE_OK) return false;
        if (rv_partition_use_read(a.question, reply)) return true;
    }
    return false;
}

/* A key or group that is in use in its previous partition stays there. */
static void keep_in_use(const placing *p, chained_task *task)
{
    const char *key = task->layout.before != task->layout.count ? key_of(task) : NULL;
    if (key == NULL) return;
    unsigned before = rv_partition_of(key, task->layout.before);
    if (before != task->partition && is_in_use(p, task, before)) task->partition = before;
}

/* ---- parents ---------------------------------------------------------------------------------------------------- */

static const chained_task *find_chained(const placing *p, const char *queue, const char *id)
{
    for (size_t i = p->count; i-- > 0;)
        if (strcmp(p->tasks[i].id, id) == 0 && rv_partition_is_same(p->tasks[i].queue, queue)) return &p->tasks[i];
    return NULL;
}

/* A parent that is chained with it is where it was placed, even if the layout has changed since. Another one is where it
 * is; where Redis does not answer, in the partition of its id. */
static bool place_parent(const placing *p, cJSON *parent)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX], handle[REEVE_HANDLE_MAX];
    cJSON *first = cJSON_GetArrayItem(parent, 0);
    const char *given = cJSON_GetStringValue(first);
    if (given == NULL || !rv_keys_split_handle(given, queue, id)) return true;
    const chained_task *chained = find_chained(p, queue, id);
    if (chained == NULL) {
        (void)rv_locate_task_handle(p->worker, p->host, given, handle);
    } else {
        if (chained->layout.count > 0) rv_partition_name(queue, chained->layout.queue, chained->partition);
        (void)snprintf(handle, sizeof(handle), "%s/%s", queue, id);
        rv_partition_canonicalize(handle);
    }
    return cJSON_SetValuestring(first, handle) != NULL;
}

static bool write_task(const placing *p, const chained_task *task, rv_buf *ret)
{
    char queue[REEVE_QUEUE_MAX + 1] = "", handle[REEVE_HANDLE_MAX];
    cJSON *after = cJSON_GetObjectItemCaseSensitive(task->read, "after"), *parent;
    reeve_bytes options = task->options;
    bool good = true;
    cJSON_ArrayForEach(parent, after) good = good && place_parent(p, parent);
    char *text = good && after != NULL ? cJSON_PrintUnformatted(task->read) : NULL;
    if (after != NULL && text == NULL) return false;
    if (text != NULL) options = (reeve_bytes){text, strlen(text)};
    if (task->layout.count > 0) rv_partition_name(queue, task->layout.queue, task->partition);
    (void)snprintf(handle, sizeof(handle), "%s/%s", queue[0] != '\0' ? queue : task->queue, task->id);
    rv_settlement_chain_parts(ret, handle, options, task->envelope);
    cJSON_free(text);
    return !ret->failed;
}

/* Reads the tasks and places them. */
static bool read_all(placing *p, reeve_bytes chained, size_t count)
{
    const char *at = chained.data;
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        chained_task *task = &p->tasks[p->count++];
        good = read_task(task, &at);
        if (!good || !rv_locate_task_layout(p->worker, task->queue, &task->layout)) continue;
        place(p, task);
        keep_in_use(p, task);
    }
    return good;
}

bool rv_chain_place(reeve_worker *worker, const rv_task_host *host, const char *queue, reeve_bytes chained,
                    size_t count, rv_buf *ret)
{
    placing p = {.worker = worker, .host = host, .queue = queue};
    p.tasks = rv_zalloc_array(count, sizeof(*p.tasks));
    if (p.tasks == NULL) return false;
    rv_copy_text(p.base, sizeof(p.base), queue);
    rv_partition_strip(p.base);
    bool good = read_all(&p, chained, count);
    for (size_t i = 0; good && i < count; i++) good = write_task(&p, &p.tasks[i], ret);
    for (size_t i = 0; i < p.count; i++) cJSON_Delete(p.tasks[i].read);
    rv_free(p.tasks);
    return good;
}

/* ---- the tasks that it waits for -------------------------------------------------------------------------------- */

/* Chained tasks as they were given and as they were placed, in one order. */
typedef struct both {
    const rv_chain_placed *chained;
    const char *given_at, *placed_at; /* the next one's */
    size_t next;
} both;

static const char *pass(const char *at, reeve_bytes *ret_handle)
{
    reeve_bytes unused;
    at = rv_settlement_chained_argument(at, ret_handle);
    for (size_t i = 1; i < RV_SETTLEMENT_CHAINED_ARGS; i++) at = rv_settlement_chained_argument(at, &unused);
    return at;
}

/* Looks from the one behind the last that was found: most often parents are in the order of the chained tasks. */
static bool find_placed(both *b, const char *handle, char ret[REEVE_HANDLE_MAX])
{
    size_t length = strlen(handle);
    for (size_t i = 0; i < b->chained->count; i++) {
        reeve_bytes given, placed;
        if (b->next == b->chained->count || b->next == 0) {
            b->next = 0;
            b->given_at = b->chained->given.data;
            b->placed_at = b->chained->placed.data;
        }
        b->given_at = pass(b->given_at, &given);
        b->placed_at = pass(b->placed_at, &placed);
        b->next++;
        if (given.length != length || memcmp(given.data, handle, length) != 0) continue;
        (void)snprintf(ret, REEVE_HANDLE_MAX, "%.*s", (int)placed.length, (const char *)placed.data);
        return true;
    }
    return false;
}

reeve_status rv_chain_place_parents(reeve_worker *worker, const rv_task_host *host, reeve_bytes parents,
                                    const rv_chain_placed *chained, rv_buf *ret)
{
    const char *at = parents.data, *end = at + parents.length;
    both b = {.chained = chained};
    while (at < end) {
        char given[REEVE_HANDLE_MAX], handle[REEVE_HANDLE_MAX];
        size_t length = strcspn(at, " ");
        reeve_status status = REEVE_OK;
        (void)snprintf(given, sizeof(given), "%.*s", (int)length, at);
        if (!find_placed(&b, given, handle)) status = rv_locate_task_handle(worker, host, given, handle);
        if (status != REEVE_OK) return status;
        if (ret->length > 0) rv_buf_addc(ret, ' ');
        rv_buf_adds(ret, handle);
        rv_buf_add(ret, at + length, 2); /* the blank and the rule */
        at += length + 3;
    }
    return ret->failed ? REEVE_ENOMEM : REEVE_OK;
}
