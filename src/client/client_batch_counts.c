/*
 * client_batch_counts.c - how far a batch is, from the edges of one of its callbacks (parents:<id>, see
 * lua/lib/dependency_edges.lua). An edge does not tell everything about a member that has not ended for its callback:
 * one that waits for a retry is dead, another one has failed before. These are looked up in their queues.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "client/client.h"
#include "client/client_batch.h"
#include "client/partitions.h"
#include "reeve/depend.h"

#define PAGE 1000
#define NAMES_MAX ((size_t)1024 * 1024 * 1024)
#define NOT_ENDED '-'

typedef struct member {
    const char *handle;
    char how; /* the second character of its edge */
} member;

/* While edges are read: the memory of the names moves. */
typedef struct found {
    size_t name;
    char how;
} found;

/* What is asked of a member that has not ended. */
enum { DEAD, CANCELLED, FAILED, QUESTIONS };

typedef struct count_call {
    reeve_client *client;
    rv_prefix prefix;
    const char *id;
    char cursor[32];
    rv_buf names;
    rv_buf edges; /* of found */
    member *members;
    size_t member_count;
    bool open;
    /* a page of those that have not ended */
    const member **page;
    size_t page_count;
    bool (*facts)[QUESTIONS];
    bool failed; /* Redis refused some of the questions */
} count_call;

static void add_key(rv_conn *conn, const rv_prefix *prefix, const char *name, const char *id)
{
    char key[REEVE_ID_MAX + 16];
    (void)snprintf(key, sizeof(key), "%s%s", name, id);
    rv_arg2(conn, prefix->text, prefix->length, key, strlen(key));
}

/* ---- the edges ------------------------------------------------------------------------------------------------- */

static void build_exists(rv_conn *conn, bool again, const void *context)
{
    const count_call *call = context;
    (void)again;
    rv_cmd(conn, 3);
    rv_args(conn, "HEXISTS");
    add_key(conn, &call->prefix, "tasks", "");
    rv_args(conn, call->id);
}

static void build_edges_page(rv_conn *conn, bool again, const void *context)
{
    const count_call *call = context;
    (void)again;
    rv_cmd(conn, 5);
    rv_args(conn, "HSCAN");
    add_key(conn, &call->prefix, "parents:", call->id);
    rv_args(conn, call->cursor);
    rv_args(conn, "COUNT");
    rv_argi(conn, PAGE);
}

/* Placeholders and signals, and what another program wrote, are no members. */
static void add_edge(count_call *call, const rv_reply *name, const rv_reply *edge)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    if (!rv_reply_is(name, RV_TEXT) || !rv_reply_is(edge, RV_TEXT) || edge->length < 2) return;
    if (strcmp(name->text, REEVE_PARENT_OPEN) == 0) call->open = edge->text[1] == NOT_ENDED;
    if (!rv_keys_split_handle(name->text, queue, id)) return;
    const found one = {.name = call->names.length, .how = edge->text[1]};
    rv_buf_add(&call->names, name->text, name->length + 1);
    rv_buf_add(&call->edges, &one, sizeof(one));
}

static reeve_status read_edges(count_call *call)
{
    const rv_reply *reply;
    reeve_status status = rv_client_call(call->client, build_exists, call, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (rv_reply_int(reply, 0) != 1)
        return rv_fail(&call->client->error, REEVE_ENOTFOUND, "no such callback (any more)");
    rv_copy_text(call->cursor, sizeof(call->cursor), "0");
    do {
        status = rv_client_call(call->client, build_edges_page, call, &reply, NULL);
        if (status != REEVE_OK) return status;
        const rv_reply *cursor = rv_reply_at(reply, 0), *page = rv_reply_at(reply, 1);
        if (!rv_reply_is(cursor, RV_TEXT) || !rv_reply_is(page, RV_ARRAY))
            return rv_client_odd_reply(call->client, "HSCAN");
        for (size_t i = 0; i + 1 < page->count; i += 2) add_edge(call, page->items[i], page->items[i + 1]);
        rv_copy_text(call->cursor, sizeof(call->cursor), cursor->text);
    } while (strcmp(call->cursor, "0") != 0);
    return REEVE_OK;
}

/* An edge that has ended comes first. */
static int compare_members(const void *a, const void *b)
{
    const member *one = a, *other = b;
    int order = strcmp(one->handle, other->handle);
    return order != 0 ? order : (one->how == NOT_ENDED) - (other->how == NOT_ENDED);
}

/* A later page may have an edge of an earlier one: it counts once. */
static reeve_status sort_members(count_call *call)
{
    size_t count = call->edges.length / sizeof(found);
    bool full = call->names.failed || call->edges.failed;
    if (!full && count == 0) return REEVE_OK;
    call->members = full ? NULL : rv_zalloc_array(count, sizeof(*call->members));
    if (call->members == NULL)
        return rv_fail(&call->client->error, REEVE_ENOMEM, "no memory for the members of a batch");
    for (size_t i = 0; i < count; i++) {
        found one;
        memcpy(&one, call->edges.data + i * sizeof(one), sizeof(one));
        call->members[i] = (member){.handle = call->names.data + one.name, .how = one.how};
    }
    qsort(call->members, count, sizeof(*call->members), compare_members);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && strcmp(call->members[call->member_count - 1].handle, call->members[i].handle) == 0) continue;
        call->members[call->member_count++] = call->members[i];
    }
    return REEVE_OK;
}

/* ---- members that have not ended ------------------------------------------------------------------------------- */

static void build_questions(rv_conn *conn, bool again, const void *context)
{
    static const char *const ends[] = {[DEAD] = "dead", [CANCELLED] = "cancelled"};
    const count_call *call = context;
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    rv_prefix prefix;
    (void)again;
    for (size_t i = 0; i < call->page_count; i++) {
        (void)rv_keys_split_handle(call->page[i]->handle, queue, id);
        rv_keys_set_prefix(&prefix, call->client->ns, queue);
        for (size_t j = DEAD; j <= CANCELLED; j++) {
            rv_cmd(conn, 3);
            rv_args(conn, "ZSCORE");
            add_key(conn, &prefix, ends[j], "");
            rv_args(conn, id);
        }
        rv_cmd(conn, 3);
        rv_args(conn, "HGET");
        add_key(conn, &prefix, "info:", id);
        rv_args(conn, "failures");
    }
}

static void on_fact(size_t index, const rv_reply *reply, void *context)
{
    count_call *call = context;
    int64_t failures;
    if (rv_client_put_off(call->client, reply)) return;
    if (index >= call->page_count * QUESTIONS || reply->type == RV_ERROR) {
        call->failed = true;
        return;
    }
    bool is = rv_reply_is(reply, RV_TEXT);
    if (index % QUESTIONS == FAILED) is = is && rv_parse_int(reply->text, 1, INT64_MAX, &failures);
    call->facts[index / QUESTIONS][index % QUESTIONS] = is;
}

static reeve_status count_page(count_call *call, reeve_batch_counts *counts)
{
    if (call->page_count == 0) return REEVE_OK;
    reeve_status status = rv_client_exec(call->client, build_questions, call, on_fact, call, NULL);
    if (status != REEVE_OK) return status;
    if (call->failed) return rv_fail(&call->client->error, REEVE_EREDIS, "Redis refused to tell the states of members");
    for (size_t i = 0; i < call->page_count; i++) {
        const bool *facts = call->facts[i];
        counts->dead += facts[DEAD];
        counts->cancelled += !facts[DEAD] && facts[CANCELLED];
        counts->left += !facts[DEAD] && !facts[CANCELLED];
        counts->failed += !facts[DEAD] && !facts[CANCELLED] && facts[FAILED];
    }
    call->page_count = 0;
    return REEVE_OK;
}

static reeve_status count_members(count_call *call, reeve_batch_counts *counts)
{
    reeve_status status = REEVE_OK;
    for (size_t i = 0; i < call->member_count && status == REEVE_OK; i++) {
        const member *one = &call->members[i];
        counts->completed += one->how == 'c';
        counts->dead += one->how == 'd';
        counts->cancelled += one->how == 'x';
        if (one->how != NOT_ENDED) continue;
        call->page[call->page_count++] = one;
        if (call->page_count == PAGE) status = count_page(call, counts);
    }
    return status == REEVE_OK ? count_page(call, counts) : status;
}

/* Reads the edges of a callback. After it: close_call. */
static reeve_status open_call(count_call *call, const char *handle, char queue[REEVE_QUEUE_MAX + 1],
                              char id[REEVE_ID_MAX])
{
    rv_buf_init(&call->names, NAMES_MAX);
    rv_buf_init(&call->edges, NAMES_MAX);
    call->id = id;
    if (!rv_keys_split_handle(handle, queue, id))
        return rv_fail(&call->client->error, REEVE_EINVAL, "\"%.200s\" is no handle of a task", handle);
    char partition[REEVE_QUEUE_MAX + 1];
    const char *there = rv_partitions_locate(call->client, queue, id, partition);
    if (there == NULL) return call->client->error.status;
    rv_keys_set_prefix(&call->prefix, call->client->ns, there);
    call->page = (const member **)rv_zalloc_array(PAGE, sizeof(*call->page));
    call->facts = rv_zalloc_array(PAGE, sizeof(*call->facts));
    if (call->page == NULL || call->facts == NULL)
        return rv_fail(&call->client->error, REEVE_ENOMEM, "no memory to count the members of a batch");
    reeve_status status = read_edges(call);
    return status == REEVE_OK ? sort_members(call) : status;
}

static void close_call(count_call *call)
{
    rv_free((void *)call->page);
    rv_free(call->facts);
    rv_free(call->members);
    rv_buf_fini(&call->names);
    rv_buf_fini(&call->edges);
}

reeve_status reeve_batch_count(reeve_client *client, const char *handle, reeve_batch_counts *ret)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    count_call call = {.client = client};
    reeve_batch_counts counts = {0};
    if (client == NULL || handle == NULL || ret == NULL) return REEVE_EINVAL;
    reeve_status status = open_call(&call, handle, queue, id);
    if (status == REEVE_OK) status = count_members(&call, &counts);
    counts.members = call.member_count;
    counts.open = call.open;
    if (status == REEVE_OK) *ret = counts;
    close_call(&call);
    return status;
}

reeve_status rv_client_batch_each_left(reeve_client *client, const char *handle, rv_batch_member_fn each, void *context)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    count_call call = {.client = client};
    reeve_status status = open_call(&call, handle, queue, id);
    for (size_t i = 0; i < call.member_count && status == REEVE_OK; i++)
        if (call.members[i].how == NOT_ENDED) status = each(call.members[i].handle, context);
    close_call(&call);
    return status;
}
