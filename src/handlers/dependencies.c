#include "handlers/dependencies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "base/mem.h"
#include "base/text.h"
#include "handlers/task.h"
#include "protocol/envelope.h"
#include "protocol/keys.h"
#include "protocol/outgoing.h"
#include "protocol/scripts.h"
#include "protocol/settlement.h"
#include "protocol/spec.h"
#include "redis/conn.h"

#define PAGE 1000
#define NAMES_MAX ((size_t)1024 * 1024 * 1024)

typedef struct rv_dependencies {
    bool known; /* the parents are */
    rv_buf names;
    reeve_task_parent *parents;
    size_t parent_count;
    rv_buf result; /* the last that was asked for */
    rv_buf chained;
    size_t chained_count;
    bool chains_unique; /* one of them has a unique key */
} rv_dependencies;

/* While they are fetched: the memory of the names moves. */
typedef struct found {
    size_t name;
    size_t place;
    char how;
} found;

static rv_dependencies *dependencies_of(reeve_task *task)
{
    if (task->dependencies != NULL) return task->dependencies;
    rv_dependencies *dependencies = rv_zalloc(sizeof(*dependencies));
    if (dependencies == NULL) return NULL;
    rv_buf_init(&dependencies->names, NAMES_MAX);
    rv_buf_init(&dependencies->result, REEVE_RESULT_MAX + 1);
    rv_buf_init(&dependencies->chained,
                (size_t)2 * REEVE_CHAIN_BYTES_MAX + (size_t)REEVE_CHAIN_MAX * 4 * REEVE_META_MAX);
    task->dependencies = dependencies;
    return dependencies;
}

void rv_dependencies_free(rv_dependencies *dependencies)
{
    if (dependencies == NULL) return;
    rv_buf_fini(&dependencies->names);
    rv_buf_fini(&dependencies->result);
    rv_buf_fini(&dependencies->chained);
    rv_free(dependencies->parents);
    rv_free(dependencies);
}

/* ---- parents --------------------------------------------------------------------------------------------------- */

typedef struct page_call {
    rv_prefix prefix;
    const char *id;
    char cursor[32];
} page_call;

static void build_page(rv_conn *conn, const void *context)
{
    const page_call *call = context;
    char key[REEVE_ID_MAX + 16];
    (void)snprintf(key, sizeof(key), "parents:%s", call->id);
    rv_cmd(conn, 5);
    rv_args(conn, "HSCAN");
    rv_arg2(conn, call->prefix.text, call->prefix.length, key, strlen(key));
    rv_args(conn, call->cursor);
    rv_args(conn, "COUNT");
    rv_argi(conn, PAGE);
}

static bool add_found(rv_dependencies *dependencies, rv_buf *list, const rv_reply *handle, const rv_reply *value)
{
    int64_t place = 0;
    char digits[24] = "";
    if (!rv_reply_is(handle, RV_TEXT) || !rv_reply_is(value, RV_TEXT) || value->length < 2) return false;
    /* A blank and a number may follow. */
    size_t length = strcspn(value->text + 2, " ");
    if (length < sizeof(digits)) memcpy(digits, value->text + 2, length);
    (void)rv_parse_int(digits, 0, INT64_MAX, &place);
    const found one = {.name = dependencies->names.length, .place = (size_t)place, .how = value->text[1]};
    rv_buf_add(&dependencies->names, handle->text, handle->length + 1);
    rv_buf_add(list, &one, sizeof(one));
    return true;
}

static reeve_status fetch(reeve_task *task, rv_dependencies *dependencies, rv_buf *list)
{
    const rv_task_host *host = task->host;
    page_call call = {.id = task->id, .cursor = "0"};
    rv_keys_set_prefix(&call.prefix, host->ns, task->queue);
    do {
        const rv_reply *reply;
        reeve_status status = host->ask(build_page, &call, &reply, host->context);
        if (status != REEVE_OK) return status;
        const rv_reply *cursor = rv_reply_at(reply, 0), *page = rv_reply_at(reply, 1);
        if (!rv_reply_is(cursor, RV_TEXT) || !rv_reply_is(page, RV_ARRAY)) return REEVE_EPROTO;
        for (size_t i = 0; i + 1 < page->count; i += 2) {
            if (!add_found(dependencies, list, page->items[i], page->items[i + 1])) return REEVE_EPROTO;
        }
        rv_copy_text(call.cursor, sizeof(call.cursor), cursor->text);
    } while (strcmp(call.cursor, "0") != 0);
    return dependencies->names.failed || list->failed ? REEVE_ENOMEM : REEVE_OK;
}

void rv_dependencies_list_parent(rv_buf *list, const char *handle, const char *ended)
{
    rv_buf_addc(list, strcmp(ended, "cancelled") == 0 ? 'x' : ended[0] != '\0' ? ended[0] : '-');
    rv_buf_add(list, handle, strlen(handle) + 1);
}

/* In another process than the worker: its host has the list, in order. */
static reeve_status fetch_from_host(reeve_task *task, rv_dependencies *dependencies, rv_buf *list)
{
    rv_buf listed;
    rv_buf_init(&listed, NAMES_MAX);
    reeve_status status = task->host->parents(task, &listed, task->host->context);
    for (size_t at = 0, place = 0; status == REEVE_OK && at < listed.length; place++) {
        const found one = {.name = dependencies->names.length, .place = place, .how = listed.data[at]};
        size_t length = strlen(listed.data + at + 1) + 1;
        rv_buf_add(&dependencies->names, listed.data + at + 1, length);
        rv_buf_add(list, &one, sizeof(one));
        at += 1 + length;
    }
    if (status == REEVE_OK && (listed.failed || dependencies->names.failed || list->failed)) status = REEVE_ENOMEM;
    rv_buf_fini(&listed);
    return status;
}

static int compare_found(const void *a, const void *b)
{
    const found *one = a, *other = b;
    if (one->place != other->place) return one->place < other->place ? -1 : 1;
    return one->name < other->name ? -1 : one->name > other->name;
}

static const char *word_of(char how)
{
    return how == 'c' ? "completed" : how == 'd' ? "dead" : how == 'x' ? "cancelled" : "";
}

/* A page may contain a parent of an earlier page: it counts once. */
static reeve_status keep_parents(rv_dependencies *dependencies, const rv_buf *list)
{
    size_t count = list->length / sizeof(found);
    found *all = (found *)(void *)list->data;
    if (count == 0) return REEVE_OK;
    dependencies->parents = rv_zalloc_array(count, sizeof(*dependencies->parents));
    if (dependencies->parents == NULL) return REEVE_ENOMEM;
    qsort(all, count, sizeof(*all), compare_found);
    for (size_t i = 0; i < count; i++) {
        const char *handle = dependencies->names.data + all[i].name;
        size_t last = dependencies->parent_count;
        if (last > 0 && all[i].place == all[i - 1].place && strcmp(dependencies->parents[last - 1].handle, handle) == 0)
            continue;
        dependencies->parents[dependencies->parent_count++] =
            (reeve_task_parent){.handle = handle, .ended = word_of(all[i].how)};
    }
    return REEVE_OK;
}

reeve_status reeve_task_parents(reeve_task *task, const reeve_task_parent **ret, size_t *ret_count)
{
    rv_dependencies *dependencies = dependencies_of(task);
    reeve_status status = REEVE_OK;
    if (dependencies == NULL) return REEVE_ENOMEM;
    const rv_task_host *host = task->host;
    if (!dependencies->known && host != NULL && (host->ask != NULL || host->parents != NULL)) {
        rv_buf list;
        rv_buf_init(&list, NAMES_MAX);
        rv_buf_clear(&dependencies->names);
        status = host->ask != NULL ? fetch(task, dependencies, &list) : fetch_from_host(task, dependencies, &list);
        if (status == REEVE_OK) status = keep_parents(dependencies, &list);
        dependencies->known = status == REEVE_OK;
        rv_buf_fini(&list);
    }
    if (status != REEVE_OK) return status;
    *ret = dependencies->parents;
    *ret_count = dependencies->parent_count;
    return REEVE_OK;
}

typedef struct result_call {
    rv_prefix prefix;
    char id[REEVE_ID_MAX];
} result_call;

static void build_result(rv_conn *conn, const void *context)
{
    const result_call *call = context;
    rv_cmd_script(conn, &rv_script_result, 1, 1);
    rv_arg(conn, call->prefix.text, call->prefix.length);
    rv_args(conn, call->id);
}

reeve_status reeve_task_parent_result(reeve_task *task, const char *handle, reeve_bytes *ret)
{
    rv_dependencies *dependencies = dependencies_of(task);
    const rv_task_host *host = task->host;
    char queue[REEVE_QUEUE_MAX + 1];
    result_call call;
    const rv_reply *reply;
    if (dependencies == NULL) return REEVE_ENOMEM;
    if (!rv_keys_split_handle(handle, queue, call.id)) return REEVE_EINVAL;
    *ret = (reeve_bytes){NULL, 0};
    if (host != NULL && host->text != NULL) return rv_dependencies_get_text(task, false, handle, ret);
    if (host == NULL || host->ask == NULL) return REEVE_OK;
    char located[REEVE_HANDLE_MAX];
    reeve_status status = host->locate != NULL ? host->locate(handle, located, host->context) : REEVE_OK;
    if (status != REEVE_OK) return status;
    if (host->locate != NULL) (void)rv_keys_split_handle(located, queue, call.id);
    rv_keys_set_prefix(&call.prefix, host->ns, queue);
    status = host->ask(build_result, &call, &reply, host->context);
    return status == REEVE_OK && rv_reply_is(reply, RV_TEXT) ? rv_dependencies_keep_result(task, reply, ret) : status;
}

reeve_status rv_dependencies_get_text(reeve_task *task, bool is_signal, const char *name, reeve_bytes *ret)
{
    rv_dependencies *dependencies = dependencies_of(task);
    bool is_there = false;
    if (dependencies == NULL) return REEVE_ENOMEM;
    rv_buf_clear(&dependencies->result);
    reeve_status status =
        task->host->text(task, is_signal, name, &dependencies->result, &is_there, task->host->context);
    if (status == REEVE_OK && dependencies->result.failed) return REEVE_ENOMEM;
    if (status == REEVE_OK && is_there)
        *ret = (reeve_bytes){rv_buf_text(&dependencies->result), dependencies->result.length};
    return status;
}

reeve_status rv_dependencies_keep_result(reeve_task *task, const rv_reply *text, reeve_bytes *ret)
{
    rv_dependencies *dependencies = dependencies_of(task);
    if (dependencies == NULL) return REEVE_ENOMEM;
    rv_buf_clear(&dependencies->result);
    rv_buf_add(&dependencies->result, text->text, text->length);
    if (dependencies->result.failed) return REEVE_ENOMEM;
    *ret = (reeve_bytes){rv_buf_text(&dependencies->result), dependencies->result.length};
    return REEVE_OK;
}

/* ---- handing on ------------------------------------------------------------------------------------------------ */

reeve_bytes rv_dependencies_chained(const rv_dependencies *dependencies, size_t *ret_count)
{
    *ret_count = dependencies != NULL ? dependencies->chained_count : 0;
    return *ret_count > 0 ? (reeve_bytes){dependencies->chained.data, dependencies->chained.length}
                          : (reeve_bytes){NULL, 0};
}

bool rv_dependencies_chains_unique(const rv_dependencies *dependencies)
{
    return dependencies != NULL && dependencies->chains_unique;
}

/* Whether an argument lies there; `at` is moved behind it. */
static bool pass_argument(const char **at, const char *end, reeve_bytes *ret)
{
    size_t length;
    if ((size_t)(end - *at) < sizeof(length)) return false;
    memcpy(&length, *at, sizeof(length));
    if (length > (size_t)(end - *at) - sizeof(length)) return false;
    *at = rv_settlement_chained_argument(*at, ret);
    return true;
}

/* What Redis will keep: it puts the time first. */
static bool is_envelope(reeve_bytes text)
{
    rv_envelope read;
    rv_buf whole;
    const char *newline = text.length > 0 ? memchr(text.data, '\n', text.length) : NULL;
    if (newline == NULL) return false;
    rv_buf_init(&whole, SIZE_MAX);
    rv_buf_adds(&whole, "{\"at\":1,");
    rv_buf_add(&whole, text.data, (size_t)(newline - (const char *)text.data) + 1);
    bool good = !whole.failed && rv_envelope_read(&read, whole.data, whole.length);
    rv_buf_fini(&whole);
    return good;
}

static bool pass_chained(const char **at, const char *end)
{
    reeve_bytes handle, options, envelope;
    char text[REEVE_HANDLE_MAX], queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    if (!pass_argument(at, end, &handle) || !pass_argument(at, end, &options) || !pass_argument(at, end, &envelope))
        return false;
    if (handle.length >= sizeof(text)) return false;
    memcpy(text, handle.data, handle.length);
    text[handle.length] = '\0';
    return rv_keys_split_handle(text, queue, id) && is_envelope(envelope);
}

bool rv_dependencies_take_chained(reeve_task *task, reeve_bytes chained, size_t count)
{
    const char *at = chained.data, *end = at + chained.length;
    rv_dependencies *dependencies = dependencies_of(task);
    if (dependencies == NULL) return false;
    for (size_t i = 0; i < count; i++)
        if (!pass_chained(&at, end)) return false;
    if (at != end) return false;
    rv_buf_clear(&dependencies->chained);
    rv_buf_add(&dependencies->chained, chained.data, chained.length);
    dependencies->chained_count = dependencies->chained.failed ? 0 : count;
    return !dependencies->chained.failed;
}

static reeve_status choose_chained_id(const rv_task_host *host, const reeve_task_spec *spec, char id[REEVE_ID_MAX])
{
    rv_copy_text(id, REEVE_ID_MAX, spec->id != NULL ? spec->id : "");
    if (host != NULL && host->chained != NULL) return host->chained(spec, id, host->context);
    if (id[0] == '\0') rv_uuid7(id);
    return REEVE_OK;
}

/* How many tasks are handed on, with their parents and bytes. */
static reeve_status check_chained(const rv_dependencies *dependencies, const reeve_task_spec *spec,
                                  const reeve_size_limits *size_limits, rv_error *error)
{
    size_t bytes = dependencies->chained.length + spec->payload.length;
    if (spec->after_count > REEVE_PARENTS_MAX)
        return rv_fail(error, REEVE_ETOOBIG, "%zu parents of a chained task: at most %d", spec->after_count,
                       REEVE_PARENTS_MAX);
    if (dependencies->chained_count >= REEVE_CHAIN_MAX)
        return rv_fail(error, REEVE_ETOOBIG, "%zu chained tasks: at most %d (no setting raises it)",
                       dependencies->chained_count + 1, REEVE_CHAIN_MAX);
    if (dependencies->chained_count >= (size_t)size_limits->batch)
        return rv_size_limits_refuse(error, size_limits, RV_SIZE_LIMIT(batch), "%zu chained tasks",
                                     dependencies->chained_count + 1);
    if (bytes <= REEVE_CHAIN_BYTES_MAX) return REEVE_OK;
    return rv_fail(error, REEVE_ETOOBIG, "the chained tasks have %zu bytes: at most %u (no setting raises it)", bytes,
                   REEVE_CHAIN_BYTES_MAX);
}

/* Whether the queue of the task that chains it takes a payload of that length. */
static reeve_status check_payload(const reeve_task *task, const reeve_task_spec *spec, rv_error *error)
{
    const atomic_llong *of_queue = task->host != NULL ? task->host->payload_max : NULL;
    long long max = of_queue != NULL ? atomic_load_explicit(of_queue, memory_order_relaxed) : 0;
    if (max <= 0 || spec->payload.length <= (size_t)max || strcmp(spec->queue, task->queue) != 0) return REEVE_OK;
    return rv_fail(
        error, REEVE_ETOOBIG,
        "the payload of the chained task has %zu bytes: at most %lld (payload_max of the queue %s raises it)",
        spec->payload.length, max, spec->queue);
}

/* Adds a task that has passed the layers. */
static reeve_status chain(reeve_task *task, const reeve_task_spec *spec, char ret_id[REEVE_ID_MAX])
{
    rv_error error = {0};
    reeve_status status = rv_spec_check_under(spec, rv_task_size_limits(task), &error);
    if (status == REEVE_OK) status = check_payload(task, spec, &error);
    if (status != REEVE_OK) return rv_task_refuse(task, &error);
    if (spec->if_exists == REEVE_EXISTS_AGAIN) {
        (void)rv_fail(&error, REEVE_EINVAL, "a chained task cannot come again (if_exists)");
        return rv_task_refuse(task, &error);
    }
    if (task->past) return REEVE_EREFUSED;
    rv_dependencies *dependencies = dependencies_of(task);
    if (dependencies == NULL) return REEVE_ENOMEM;
    status = check_chained(dependencies, spec, rv_task_size_limits(task), &error);
    if (status != REEVE_OK) return rv_task_refuse(task, &error);
    status = choose_chained_id(task->host, spec, ret_id);
    if (status != REEVE_OK) return status;
    size_t before = dependencies->chained.length;
    rv_settlement_chain(&dependencies->chained, spec, ret_id);
    if (dependencies->chained.failed) {
        /* The bytes before are complete: only the new ones are removed. */
        dependencies->chained.length = before;
        dependencies->chained.failed = false;
        return REEVE_ENOMEM;
    }
    dependencies->chained_count++;
    dependencies->chains_unique = dependencies->chains_unique || (spec->unique != NULL && spec->unique[0] != '\0');
    return REEVE_OK;
}

reeve_status reeve_task_chain_sized(reeve_task *task, const reeve_task_spec *given, char ret_id[REEVE_ID_MAX],
                                    size_t spec_size)
{
    rv_error error = {0};
    char made[REEVE_ID_MAX];
    reeve_task_spec spec;
    reeve_outgoing outgoing = {0};
    const rv_layers *layers = task->host != NULL ? task->host->layers : NULL;
    reeve_status status = rv_spec_read(&spec, given, spec_size, &error);
    if (status == REEVE_OK && rv_outgoing_has(layers))
        status = rv_outgoing_apply(&outgoing, layers, rv_task_size_limits(task), &spec, &error);
    status = status == REEVE_OK ? chain(task, &spec, made) : rv_task_refuse(task, &error);
    rv_outgoing_fini(&outgoing);
    if (status == REEVE_OK && ret_id != NULL) memcpy(ret_id, made, strlen(made) + 1);
    return status;
}
