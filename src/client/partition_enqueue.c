#include "client/partition_enqueue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/partitions.h"
#include "protocol/partition_use.h"
#include "protocol/spec.h"
#include "reeve/change.h"

/* Tasks of a call that may go to any partition and follow one another go to the same: a large call stays one. */
#define RUN 250

/* A task and where it goes. */
typedef struct placed {
    const reeve_task_spec *spec;
    rv_partition_layout layout; /* layout.count 0: its queue is not divided */
    unsigned partition;
    unsigned before;                 /* its partition before the change of their number, */
    bool asks;                       /* of which it is asked whether its key or group is in use there */
    unsigned depth;                  /* it is sent behind all tasks of a lower depth: its parents of this call */
    const reeve_parent *parents;     /* NULL: the spec's */
    char queue[REEVE_QUEUE_MAX + 1]; /* as scripts know it; "": the spec's is malformed */
} placed;

typedef struct plan {
    reeve_client *client;
    const reeve_task_spec *specs;
    size_t count;
    placed *places;
    placed **order;          /* as they are sent */
    reeve_task_spec *sent;   /* in that order */
    unsigned *fits;          /* the same: rv_client_enqueue_send */
    reeve_enqueued *answers; /* the same */
    reeve_parent *parents;   /* of all */
    placed **in_call;        /* of each parent: the task of the call that it is, or NULL */
    placed **by_id;          /* the tasks with ids of their own, sorted */
    size_t by_id_count;
    char (*handles)[REEVE_HANDLE_MAX];
} plan;

/* Of a divided queue, or of the one that a partition is of; NULL: of none. */
static const rv_partition_layout *find_layout(const reeve_client *client, const char *name)
{
    char queue[REEVE_QUEUE_MAX + 1];
    if (name == NULL || strlen(name) > REEVE_QUEUE_MAX) return NULL;
    rv_copy_text(queue, sizeof(queue), name);
    rv_partition_strip(queue);
    return rv_partition_map_find(&client->partitions, queue);
}

/* The partition of a parent that is named by the queue has to be found. */
static bool has_divided_parent(const reeve_client *client, const reeve_task_spec *spec)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    for (size_t i = 0; spec->after != NULL && i < spec->after_count; i++)
        if (rv_keys_split_handle(spec->after[i].handle, queue, id) &&
            rv_partition_map_find(&client->partitions, queue) != NULL)
            return true;
    return false;
}

bool rv_partition_enqueue_applies(reeve_client *client, const reeve_task_spec *specs, size_t count)
{
    const char *last = NULL;
    if (count == 0) return false;
    if (rv_partitions_find(client, specs[0].queue) != NULL) return true;
    if (client->partitions.count == 0 || client->stand_in != NULL) return false;
    for (size_t i = 0; i < count; i++) {
        const char *queue = specs[i].queue;
        if (specs[i].after_count > 0 && has_divided_parent(client, &specs[i])) return true;
        if (queue == NULL || (last != NULL && strcmp(last, queue) == 0)) continue;
        last = queue;
        if (find_layout(client, queue) != NULL) return true;
    }
    return false;
}

reeve_status rv_partition_enqueue_check(const reeve_client *client, const char *queue, rv_error *error)
{
    size_t length = strlen(queue), base = rv_partition_base(queue, length);
    char name[REEVE_QUEUE_MAX + 1];
    if (base == length) return REEVE_OK;
    rv_copy_text(name, sizeof(name), queue);
    name[base] = '\0';
    const rv_partition_layout *layout = rv_partition_map_find(&client->partitions, name);
    unsigned served = layout != NULL ? layout->served : 1;
    if (rv_partition_number(queue) < served) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "queue %s has no partition %s: it has %u (reeve partition %s)", name, queue,
                   served, name);
}

/* ---- which partition -------------------------------------------------------------------------------------------- */

static const char *key_of(const reeve_task_spec *spec)
{
    return spec->unique != NULL ? spec->unique : spec->group;
}

/* The spec names the partition itself. */
static void place_named(const plan *p, const reeve_task_spec *spec, placed *ret)
{
    const rv_partition_layout *layout = find_layout(p->client, spec->queue);
    if (layout == NULL || rv_partition_number(spec->queue) >= layout->served) return;
    ret->layout = *layout;
    ret->partition = rv_partition_number(spec->queue);
}

static void place(plan *p, size_t index, unsigned *run)
{
    const reeve_task_spec *spec = &p->specs[index];
    placed *at = &p->places[index];
    at->spec = spec;
    const rv_partition_layout *layout =
        spec->queue != NULL ? rv_partition_map_find(&p->client->partitions, spec->queue) : NULL;
    if (layout == NULL) {
        place_named(p, spec, at);
        return;
    }
    at->layout = *layout;
    const char *key = key_of(spec);
    if (key != NULL) {
        at->partition = rv_partition_of(key, layout->count);
        at->before = rv_partition_of(key, layout->before);
        at->asks = at->before != at->partition;
    } else if (spec->id != NULL) {
        at->partition = rv_partition_of(spec->id, layout->count);
    } else {
        at->partition = (p->client->next_partition + (*run)++ / RUN) % layout->count;
    }
}

/* ---- keys in use, while the number of partitions is being changed ----------------------------------------------- */

static void build_questions(rv_conn *conn, bool again, const void *context)
{
    const plan *p = context;
    (void)again;
    for (size_t i = 0; i < p->count; i++) {
        const placed *at = &p->places[i];
        const reeve_task_spec *spec = &p->specs[i];
        char name[REEVE_QUEUE_MAX + 1];
        if (!at->asks) continue;
        rv_partition_use use = {.unique = spec->unique, .group = spec->group, .priority = spec->priority};
        rv_partition_name(name, at->layout.queue, at->before);
        rv_keys_set_prefix(&use.prefix, p->client->ns, name);
        for (unsigned question = 0; question < RV_PARTITION_QUESTIONS; question++)
            rv_partition_use_build(conn, &use, question);
    }
}

typedef struct answers {
    plan *p;
    size_t at, next;  /* the spec whose questions are answered, and the index of the first question behind them */
    unsigned *in_use; /* by spec */
} answers;

static void on_answer(size_t index, const rv_reply *reply, void *context)
{
    answers *a = context;
    if (index == 0) {
        a->at = 0;
        a->next = RV_PARTITION_QUESTIONS;
        while (a->at < a->p->count && !a->p->places[a->at].asks) a->at++;
    }
    while (index >= a->next) {
        a->at++;
        while (a->at < a->p->count && !a->p->places[a->at].asks) a->at++;
        a->next += RV_PARTITION_QUESTIONS;
    }
    if (a->at >= a->p->count) return;
    const reeve_task_spec *spec = &a->p->specs[a->at];
    const rv_partition_use use = {.unique = spec->unique, .group = spec->group};
    unsigned question = (unsigned)(index - (a->next - RV_PARTITION_QUESTIONS));
    bool matters = rv_partition_use_matters(&use, question);
    if (matters && rv_partition_use_read(question, reply)) a->in_use[a->at] |= 1u << question;
}

static reeve_status ask(plan *p)
{
    bool any = false;
    for (size_t i = 0; i < p->count; i++) any = any || p->places[i].asks;
    if (!any) return REEVE_OK;
    answers a = {.p = p, .in_use = rv_zalloc_array(p->count, sizeof(*a.in_use))};
    if (a.in_use == NULL) return rv_fail(&p->client->error, REEVE_ENOMEM, "no memory for %zu tasks", p->count);
    reeve_status status = rv_client_exec(p->client, build_questions, p, on_answer, &a, NULL);
    for (size_t i = 0; status == REEVE_OK && i < p->count; i++)
        if (a.in_use[i] != 0) p->places[i].partition = p->places[i].before;
    rv_free(a.in_use);
    return status;
}

reeve_status rv_partition_enqueue_place(reeve_client *client, const reeve_task_spec *specs, size_t count, bool asks,
                                        char (*ret)[REEVE_QUEUE_MAX + 1])
{
    plan p = {.client = client, .specs = specs, .count = count};
    unsigned run = 0;
    for (size_t i = 0; i < count; i++) ret[i][0] = '\0';
    if (!rv_partition_enqueue_applies(client, specs, count)) return REEVE_OK;
    p.places = rv_zalloc_array(count, sizeof(*p.places));
    if (p.places == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for %zu tasks", count);
    for (size_t i = 0; i < count; i++) place(&p, i, &run);
    reeve_status status = asks ? ask(&p) : REEVE_OK;
    for (size_t i = 0; status == REEVE_OK && i < count; i++)
        if (p.places[i].layout.count > 0)
            rv_partition_exact_name(ret[i], p.places[i].layout.queue, p.places[i].partition);
    client->next_partition += (run + RUN - 1) / RUN;
    rv_free(p.places);
    return status;
}

/* ---- parents ---------------------------------------------------------------------------------------------------- */

/* The queues as scripts know them, when all partitions are chosen. */
static void name_queues(plan *p)
{
    for (size_t i = 0; i < p->count; i++) {
        placed *at = &p->places[i];
        const char *queue = at->spec->queue;
        if (at->layout.count > 0) {
            rv_partition_name(at->queue, at->layout.queue, at->partition);
        } else if (queue != NULL && rv_valid_queue(queue, strlen(queue))) {
            rv_copy_text(at->queue, sizeof(at->queue), queue);
            rv_partition_canonicalize(at->queue);
        }
    }
}

static int compare_ids(const void *a, const void *b)
{
    const placed *one = *(placed *const *)a, *other = *(placed *const *)b;
    int order = strcmp(one->spec->id, other->spec->id);
    return order != 0 ? order : (one > other) - (one < other);
}

static void sort_ids(plan *p)
{
    p->by_id_count = 0;
    for (size_t i = 0; i < p->count; i++)
        if (p->specs[i].id != NULL && p->places[i].queue[0] != '\0') p->by_id[p->by_id_count++] = &p->places[i];
    if (p->by_id_count > 0) qsort(p->by_id, p->by_id_count, sizeof(*p->by_id), compare_ids);
}

/* Whether a handle with this queue names the task: by its partition, or by the divided queue. */
static bool is_of_queue(const placed *at, const char *queue)
{
    return rv_partition_is_same(at->queue, queue) || (at->layout.count > 0 && strcmp(at->layout.queue, queue) == 0);
}

/* The task of this call with that handle, or NULL. */
static placed *find_in_call(const plan *p, const char *queue, const char *id)
{
    size_t from = 0, to = p->by_id_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (strcmp(p->by_id[middle]->spec->id, id) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < p->by_id_count && strcmp(p->by_id[from]->spec->id, id) == 0; from++)
        if (is_of_queue(p->by_id[from], queue)) return p->by_id[from];
    return NULL;
}

/* The handle as scripts know it, in ret or itself; NULL: client->error. A parent among the specs of the call goes where
 * its spec goes. */
static const char *resolve(plan *p, const char *handle, const placed *in_call, char ret[REEVE_HANDLE_MAX])
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    if (handle == NULL || !rv_keys_split_handle(handle, queue, id)) return handle;
    if (in_call == NULL) return rv_partitions_locate_handle(p->client, handle, ret);
    (void)snprintf(ret, REEVE_HANDLE_MAX, "%s/%s", in_call->queue, id);
    return ret;
}

/* Lets tasks be sent behind their parents of the call, which may be in other partitions: a parent that is not there when
 * its queue is told of the child counts as unknown. More passes than tasks are for parents in a circle, which Redis
 * refuses in whatever order they are sent. */
static void find_depths(plan *p)
{
    bool changed = true;
    for (size_t pass = 0; changed && pass < p->count; pass++) {
        changed = false;
        for (size_t i = 0; i < p->count; i++) {
            placed *at = &p->places[i];
            for (size_t j = 0; at->parents != NULL && j < p->specs[i].after_count; j++) {
                const placed *parent = p->in_call[at->parents - p->parents + (ptrdiff_t)j];
                if (parent == NULL || parent == at || at->depth > parent->depth) continue;
                at->depth = parent->depth + 1;
                changed = true;
            }
        }
    }
}

/* Finds the parents that are tasks of the call. *ret: how many there are in all; 0: nothing is to be done. */
static reeve_status link_parents(plan *p, size_t *ret)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    size_t total = 0, at = 0;
    for (size_t i = 0; i < p->count; i++) total += p->specs[i].after != NULL ? p->specs[i].after_count : 0;
    *ret = total;
    if (total == 0) return REEVE_OK;
    p->parents = rv_zalloc_array(total, sizeof(*p->parents));
    p->handles = rv_zalloc_array(total, sizeof(*p->handles));
    p->in_call = rv_zalloc_array(total, sizeof(*p->in_call));
    p->by_id = rv_zalloc_array(p->count, sizeof(*p->by_id));
    if (p->parents == NULL || p->handles == NULL || p->in_call == NULL || p->by_id == NULL)
        return rv_fail(&p->client->error, REEVE_ENOMEM, "no memory for %zu parents", total);
    sort_ids(p);
    for (size_t i = 0; i < p->count; i++) {
        const reeve_task_spec *spec = &p->specs[i];
        if (spec->after == NULL || spec->after_count == 0) continue;
        p->places[i].parents = &p->parents[at];
        for (size_t j = 0; j < spec->after_count; j++, at++) {
            const char *handle = spec->after[j].handle;
            p->parents[at] = spec->after[j];
            if (handle != NULL && rv_keys_split_handle(handle, queue, id)) p->in_call[at] = find_in_call(p, queue, id);
        }
    }
    find_depths(p);
    return REEVE_OK;
}

static reeve_status resolve_parents(plan *p)
{
    size_t total;
    reeve_status status = link_parents(p, &total);
    for (size_t at = 0; status == REEVE_OK && at < total; at++) {
        const char *given = p->parents[at].handle;
        p->parents[at].handle = resolve(p, given, p->in_call[at], p->handles[at]);
        if (p->parents[at].handle == NULL && given != NULL) status = p->client->error.status;
    }
    return status;
}

/* ---- sending ---------------------------------------------------------------------------------------------------- */

static void write_spec(const placed *at, reeve_task_spec *ret)
{
    *ret = *at->spec;
    if (at->parents != NULL) ret->after = at->parents;
    if (at->queue[0] != '\0') ret->queue = at->queue;
}

static int compare_sent(const void *a, const void *b)
{
    const placed *one = *(placed *const *)a, *other = *(placed *const *)b;
    if (one->depth != other->depth) return one->depth < other->depth ? -1 : 1;
    if (one->partition != other->partition) return one->partition < other->partition ? -1 : 1;
    return (one > other) - (one < other);
}

/* By partition, so that calls are as large as can be, but children behind their parents; otherwise as they came. */
static void sort(plan *p)
{
    for (size_t i = 0; i < p->count; i++) p->order[i] = &p->places[i];
    qsort(p->order, p->count, sizeof(*p->order), compare_sent);
    for (size_t i = 0; i < p->count; i++) {
        const placed *at = p->order[i];
        write_spec(at, &p->sent[i]);
        p->fits[i] = at->partition < at->layout.count ? at->layout.count : 0;
    }
}

static void release(plan *p)
{
    rv_free(p->places);
    rv_free(p->order);
    rv_free(p->sent);
    rv_free(p->fits);
    rv_free(p->answers);
    rv_free(p->parents);
    rv_free(p->handles);
    rv_free(p->in_call);
    rv_free(p->by_id);
}

static int compare_depths(const void *a, const void *b)
{
    const placed *one = *(placed *const *)a, *other = *(placed *const *)b;
    if (one->depth != other->depth) return one->depth < other->depth ? -1 : 1;
    return (one > other) - (one < other);
}

bool rv_partition_enqueue_order(reeve_client *client, const reeve_task_spec *specs, size_t count, size_t *ret)
{
    plan p = {.client = client, .specs = specs, .count = count};
    unsigned run = 0;
    size_t total;
    p.places = rv_zalloc_array(count, sizeof(*p.places));
    p.order = rv_zalloc_array(count, sizeof(*p.order));
    bool good = p.places != NULL && p.order != NULL;
    for (size_t i = 0; good && i < count; i++) {
        place(&p, i, &run);
        p.order[i] = &p.places[i];
    }
    if (good) name_queues(&p);
    good = good && link_parents(&p, &total) == REEVE_OK;
    if (good && total > 0) qsort(p.order, count, sizeof(*p.order), compare_depths);
    for (size_t i = 0; good && i < count; i++) ret[i] = (size_t)(p.order[i] - p.places);
    release(&p);
    return good;
}

static bool allocate(plan *p)
{
    p->places = rv_zalloc_array(p->count, sizeof(*p->places));
    p->order = rv_zalloc_array(p->count, sizeof(*p->order));
    p->sent = rv_zalloc_array(p->count, sizeof(*p->sent));
    p->fits = rv_zalloc_array(p->count, sizeof(*p->fits));
    p->answers = rv_zalloc_array(p->count, sizeof(*p->answers));
    return p->fits != NULL && p->places != NULL && p->order != NULL && p->sent != NULL && p->answers != NULL;
}

/* ---- partitions that were let go -------------------------------------------------------------------------------- */

/* A call that lasted longer than this may have put tasks into a partition that was let go meanwhile. */
#define LONG_MS 1000

void rv_partition_enqueue_bring_home(reeve_client *client, const char *name, const char *id)
{
    char queue[REEVE_QUEUE_MAX + 1];
    unsigned number = rv_partition_number(name);
    if (number == 0) return;
    rv_copy_text(queue, sizeof(queue), name);
    rv_partition_strip(queue);
    const rv_partition_layout *now = rv_partition_map_find(&client->partitions, queue);
    if (now != NULL && number < now->served) return;
    /* Where it cannot be moved it stays, and runs when the queue has so many partitions again. */
    (void)reeve_move(client, name, id, queue);
}

/* The partitions were chosen by a map that may have become old meanwhile: the call took long, or began with a closed
 * connection. Tasks in partitions that no worker serves any more are moved to where they belong now. */
static void move_stranded(plan *p)
{
    rv_error kept = p->client->error;
    size_t enqueued = 0;
    for (size_t i = 0; i < p->count; i++) enqueued += p->answers[i].status == REEVE_OK;
    if (enqueued == 0) return;
    if (rv_partitions_renew(p->client) != REEVE_OK) {
        p->client->error = kept;
        return;
    }
    for (size_t i = 0; i < p->count; i++) {
        const placed *at = p->order[i];
        char name[REEVE_QUEUE_MAX + 1];
        if (at->layout.count == 0 || p->answers[i].status != REEVE_OK) continue;
        rv_partition_exact_name(name, at->layout.queue, at->partition);
        rv_partition_enqueue_bring_home(p->client, name, p->answers[i].id);
    }
    p->client->error = kept;
}

reeve_status rv_partition_enqueue(reeve_client *client, const reeve_task_spec *specs, size_t count,
                                  reeve_enqueued *results)
{
    plan p = {.client = client, .specs = specs, .count = count};
    unsigned run = 0;
    int64_t began_ms = rv_now_ms();
    bool was_open = rv_conn_is_open(client->conn);
    reeve_status status =
        allocate(&p) ? REEVE_OK : rv_fail(&client->error, REEVE_ENOMEM, "no memory for %zu tasks", count);
    for (size_t i = 0; status == REEVE_OK && i < count; i++) place(&p, i, &run);
    if (status == REEVE_OK) status = ask(&p);
    if (status == REEVE_OK) name_queues(&p);
    if (status == REEVE_OK) status = resolve_parents(&p);
    for (size_t i = 0; status != REEVE_OK && i < count; i++) results[i] = (reeve_enqueued){.status = status};
    if (status == REEVE_OK) {
        client->next_partition += (run + RUN - 1) / RUN;
        sort(&p);
        status = rv_client_enqueue_send(client, p.sent, p.fits, count, p.answers);
        if (!was_open || rv_now_ms() - began_ms > LONG_MS) move_stranded(&p);
        for (size_t i = 0; i < count; i++) results[p.order[i] - p.places] = p.answers[i];
    }
    release(&p);
    return status;
}

reeve_status reeve_partition_of_task_sized(reeve_client *client, const reeve_task_spec *given,
                                           char ret[REEVE_PARTITION_NAME_MAX], size_t spec_size)
{
    reeve_task_spec spec;
    char name[1][REEVE_QUEUE_MAX + 1];
    if (client == NULL || given == NULL || ret == NULL) return REEVE_EINVAL;
    reeve_status status = rv_spec_read(&spec, given, spec_size, &client->error);
    if (status == REEVE_OK) status = rv_keys_check_queue(spec.queue, &client->error);
    if (status == REEVE_OK) status = rv_partition_enqueue_place(client, &spec, 1, true, name);
    if (status != REEVE_OK) return status;
    rv_copy_text(ret, REEVE_PARTITION_NAME_MAX, name[0][0] != '\0' ? name[0] : spec.queue);
    rv_partition_canonicalize(ret);
    return REEVE_OK;
}
