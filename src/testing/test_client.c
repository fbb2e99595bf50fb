#include "testing/test_client.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/layout.h"
#include "base/mem.h"
#include "client/stand_in.h"
#include "handlers/handler_check.h"
#include "handlers/plugin.h"
#include "protocol/keys.h"
#include "protocol/layers.h"
#include "protocol/spec_copy.h"

/* ---- the tasks --------------------------------------------------------------------------------------------------- */

rv_test_task *rv_test_client_get(const rv_test_client *tests, const char *handle)
{
    for (size_t i = 0; i < tests->count; i++) {
        if (strcmp(tests->tasks[i]->handle, handle) == 0) return tests->tasks[i];
    }
    return NULL;
}

rv_test_task *rv_test_client_get_in(const rv_test_client *tests, const char *queue, const char *id)
{
    char handle[REEVE_HANDLE_MAX];
    (void)snprintf(handle, sizeof(handle), "%s/%s", queue, id);
    return rv_test_client_get(tests, handle);
}

int64_t rv_test_client_now(const rv_test_client *tests)
{
    return tests->clock->real ? rv_wall_ms() : __atomic_load_n(&tests->clock->now_ms, __ATOMIC_SEQ_CST);
}

bool rv_test_client_has_ended(const rv_test_task *task)
{
    return task->is.state >= REEVE_STATE_COMPLETED;
}

void rv_test_client_end(const rv_test_client *tests, rv_test_task *task, reeve_state state)
{
    task->is.state = state;
    task->ended_ms = rv_test_client_now(tests);
}

static void free_task(rv_test_task *task)
{
    reeve_test_report_free(task->report);
    rv_free(task->parents);
    rv_free(task->spec);
    rv_free(task);
}

void rv_test_client_remove(rv_test_client *tests, rv_test_task *task)
{
    size_t at = 0;
    while (tests->tasks[at] != task) at++;
    tests->count--;
    memmove(&tests->tasks[at], &tests->tasks[at + 1], (tests->count - at) * sizeof(*tests->tasks));
    free_task(task);
}

static bool make_room(rv_test_client *tests)
{
    if (tests->count < tests->room) return true;
    size_t room = tests->room == 0 ? 16 : 2 * tests->room;
    rv_test_task **tasks = rv_realloc_array(tests->tasks, room, sizeof(*tasks));
    if (tasks == NULL) return false;
    tests->tasks = tasks;
    tests->room = room;
    return true;
}

static bool copy_parents(rv_test_task *task, const reeve_task_spec *spec)
{
    if (spec->after_count == 0) return true;
    task->parents = rv_zalloc_array(spec->after_count, sizeof(*task->parents));
    if (task->parents == NULL) return false;
    for (size_t i = 0; i < spec->after_count; i++) {
        rv_test_parent *parent = &task->parents[task->parent_count++];
        rv_copy_text(parent->handle, sizeof(parent->handle), spec->after[i].handle);
        parent->on_death = spec->after[i].on_death;
        parent->expected = spec->after[i].unknown != REEVE_UNKNOWN_COMPLETED;
    }
    return true;
}

reeve_status rv_test_client_add(rv_test_client *tests, const reeve_task_spec *spec, const char *id)
{
    rv_test_task *task = make_room(tests) ? rv_zalloc(sizeof(*task)) : NULL;
    if (task == NULL) return REEVE_ENOMEM;
    task->spec = rv_spec_copy(spec, id);
    if (task->spec == NULL || !copy_parents(task, spec)) {
        free_task(task);
        return REEVE_ENOMEM;
    }
    (void)snprintf(task->handle, sizeof(task->handle), "%s/%s", spec->queue, id);
    task->priority = spec->priority;
    task->ended_ms = task->due_ms = -1;
    task->is = (reeve_test_task){.handle = task->handle,
                                 .spec = task->spec,
                                 .state = REEVE_STATE_READY,
                                 .enqueued_ms = rv_test_client_now(tests)};
    if (spec->at_ms > task->is.enqueued_ms) task->due_ms = spec->at_ms;
    if (spec->in_ms > 0) task->due_ms = task->is.enqueued_ms + spec->in_ms;
    if (task->due_ms >= 0) task->is.state = REEVE_STATE_SCHEDULED;
    if (task->parent_count > 0) task->is.state = REEVE_STATE_BLOCKED;
    tests->tasks[tests->count++] = task;
    return REEVE_OK;
}

/* ---- an enqueue -------------------------------------------------------------------------------------------------- */

static rv_test_task *holder_of(const rv_test_client *tests, const reeve_task_spec *spec)
{
    for (size_t i = 0; spec->unique != NULL && i < tests->count; i++) {
        rv_test_task *task = tests->tasks[i];
        const char *key = task->spec->unique;
        bool holds = key != NULL && strcmp(key, spec->unique) == 0 && strcmp(task->spec->queue, spec->queue) == 0;
        bool timed = task->spec->unique_for_ms > 0;
        if (timed) holds = holds && rv_test_client_now(tests) - task->is.enqueued_ms < task->spec->unique_for_ms;
        if (task->spec->unique_until_started) holds = holds && task->is.attempts == 0;
        if (holds && (timed || !rv_test_client_has_ended(task))) return task;
    }
    return NULL;
}

static bool is_among(const reeve_task_spec *all, size_t count, const char *queue, const char *id)
{
    for (size_t i = 0; i < count; i++) {
        const reeve_task_spec *spec = &all[i];
        if (spec->id != NULL && strcmp(spec->queue, queue) == 0 && strcmp(spec->id, id) == 0) return true;
    }
    return false;
}

/* A parent in the task's queue that is not here, and does not come in the same call. */
static bool has_unknown_parent(const rv_test_client *tests, const reeve_task_spec *spec, const reeve_task_spec *all,
                               size_t count, char ret[REEVE_ID_MAX])
{
    for (size_t i = 0; i < spec->after_count; i++) {
        char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
        const reeve_parent *parent = &spec->after[i];
        if (parent->unknown != REEVE_UNKNOWN_REFUSE || !rv_keys_split_handle(parent->handle, queue, id)) continue;
        if (strcmp(queue, spec->queue) != 0 || rv_test_client_get(tests, parent->handle) != NULL) continue;
        if (is_among(all, count, queue, id)) continue;
        rv_copy_text(ret, REEVE_ID_MAX, id);
        return true;
    }
    return false;
}

static reeve_status enqueue(void *context, const reeve_task_spec *spec, const char *id, const reeve_task_spec *all,
                            size_t all_count, char other[REEVE_ID_MAX])
{
    rv_test_client *tests = context;
    rv_test_task *known = rv_test_client_get_in(tests, spec->queue, id);
    if (known != NULL && spec->if_exists == REEVE_EXISTS_IGNORE) return REEVE_OK;
    bool renews = known != NULL && spec->if_exists == REEVE_EXISTS_AGAIN && rv_test_client_has_ended(known);
    if (known != NULL && !renews) return REEVE_EEXISTS;
    if (renews) rv_test_client_remove(tests, known);
    if (has_unknown_parent(tests, spec, all, all_count, other)) return REEVE_ENOTFOUND;
    rv_test_task *holder = holder_of(tests, spec);
    if (holder != NULL) {
        bool waits = holder->is.state < REEVE_STATE_RUNNING;
        rv_copy_text(other, REEVE_ID_MAX, holder->spec->id);
        if (!waits || spec->on_conflict == REEVE_CONFLICT_REJECT) return REEVE_EUNIQUE;
        other[0] = '\0';
    }
    reeve_status status = rv_test_client_add(tests, spec, id);
    if (status != REEVE_OK) return status;
    if (holder != NULL) rv_test_client_remove(tests, holder);
    rv_test_client_unblock(tests);
    if (tests->run_at_once) (void)rv_test_client_run_all(tests, true);
    return REEVE_OK;
}

/* ---- the client -------------------------------------------------------------------------------------------------- */

static void clear(rv_test_client *tests)
{
    for (size_t i = 0; i < tests->count; i++) free_task(tests->tasks[i]);
    tests->count = 0;
}

static void destroy(void *context)
{
    rv_test_client *tests = context;
    if (tests == NULL) return;
    clear(tests);
    rv_free(tests->tasks);
    rv_free(tests->handlers);
    rv_free(tests->layers);
    rv_buf_fini(&tests->envelope);
    rv_free(tests);
}

static const rv_stand_in stand_in = {enqueue, rv_test_client_change, rv_test_client_depend, destroy};

static rv_test_client *tests_of(const reeve_client *client)
{
    return client != NULL && client->stand_in == &stand_in ? client->stand_in_context : NULL;
}

static reeve_status copy_handlers(rv_test_client *tests, const reeve_test_client_options *options, size_t handler_size,
                                  rv_error *error)
{
    if (options->handler_count == 0) return REEVE_OK;
    if (options->handlers == NULL) return rv_fail(error, REEVE_EINVAL, "no handlers were given");
    size_t apart = rv_layout_size(options->handlers, handler_size);
    tests->handlers = rv_zalloc_array(options->handler_count, sizeof(*tests->handlers));
    if (tests->handlers == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for handlers");
    for (size_t i = 0; i < options->handler_count; i++) {
        const char *theirs = (const char *)options->handlers + i * apart;
        reeve_handler *ours = &tests->handlers[i];
        reeve_status status = RV_LAYOUT_READ(ours, theirs, apart, "the handler", error);
        if (status == REEVE_OK) status = rv_keys_check_type_pattern(ours->type, error);
        if (status == REEVE_OK) status = rv_handler_check(ours, ours->type, error);
        if (status != REEVE_OK) return status;
    }
    tests->handler_count = options->handler_count;
    return REEVE_OK;
}

static reeve_status copy_layers(rv_test_client *tests, const reeve_test_client_options *options, size_t layer_size,
                                rv_error *error)
{
    if (options->layer_count == 0) return REEVE_OK;
    if (options->layers == NULL) return rv_fail(error, REEVE_EINVAL, "no layers were given");
    size_t apart = rv_layout_size(options->layers, layer_size);
    tests->layers = rv_zalloc_array(options->layer_count, sizeof(*tests->layers));
    if (tests->layers == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for layers");
    for (size_t i = 0; i < options->layer_count; i++) {
        const char *theirs = (const char *)options->layers + i * apart;
        reeve_status status = RV_LAYOUT_READ(&tests->layers[i], theirs, apart, "the layer", error);
        if (status == REEVE_OK) status = rv_layers_check(&tests->layers[i], "", error);
        if (status != REEVE_OK) return status;
    }
    tests->layer_count = options->layer_count;
    return REEVE_OK;
}

static reeve_status set_up(rv_test_client *tests, const reeve_test_client_options *options, size_t handler_size,
                           size_t layer_size, rv_error *error)
{
    rv_buf_init(&tests->envelope, SIZE_MAX);
    tests->plugin = options->plugin;
    tests->run_at_once = options->run_at_once;
    tests->size_limits = options->size_limits;
    tests->clock = options->clock != NULL ? options->clock : &tests->own_clock;
    if (!tests->clock->real && tests->clock->now_ms == 0) tests->clock->now_ms = REEVE_TEST_BEGIN_MS;
    reeve_status status = copy_handlers(tests, options, handler_size, error);
    return status == REEVE_OK ? copy_layers(tests, options, layer_size, error) : status;
}

/* Its tasks go through the layers when they are enqueued, too. Whoever gave the layers frees them. */
static reeve_status add_layers(reeve_client *client, const rv_test_client *tests)
{
    reeve_status status = REEVE_OK;
    size_t own = tests->layer_count, of_plugin = tests->plugin != NULL ? tests->plugin->plugin.layer_count : 0;
    for (size_t i = 0; i < own + of_plugin && status == REEVE_OK; i++) {
        reeve_layer layer = i < own ? tests->layers[i] : tests->plugin->layers[i - own];
        layer.free_user = NULL;
        status = rv_layers_add(&client->layers, &layer, &client->error);
    }
    return status;
}

reeve_status reeve_test_client_open_sized(reeve_client **ret, const reeve_test_client_options *given,
                                          size_t options_size, size_t handler_size, size_t layer_size)
{
    reeve_test_client_options options;
    rv_error error = {0};
    if (ret == NULL) return REEVE_EINVAL;
    *ret = NULL;
    reeve_status status = RV_LAYOUT_READ(&options, given, options_size, "the client's options", &error);
    if (status != REEVE_OK) return status;
    rv_test_client *tests = rv_zalloc(sizeof(*tests));
    if (tests == NULL) return REEVE_ENOMEM;
    status = set_up(tests, &options, handler_size, layer_size, &error);
    if (status == REEVE_OK) status = rv_stand_in_open(ret, &stand_in, tests, &options.size_limits, &error);
    if (status != REEVE_OK) {
        destroy(tests);
        return status;
    }
    status = add_layers(*ret, tests);
    if (status == REEVE_OK) return status;
    reeve_client_close(*ret);
    *ret = NULL;
    return status;
}

size_t reeve_test_client_count(const reeve_client *client)
{
    const rv_test_client *tests = tests_of(client);
    return tests != NULL ? tests->count : 0;
}

const reeve_test_task *reeve_test_client_task(const reeve_client *client, size_t n)
{
    const rv_test_client *tests = tests_of(client);
    return tests != NULL && n < tests->count ? &tests->tasks[n]->is : NULL;
}

const reeve_test_task *reeve_test_client_find(const reeve_client *client, const char *type, size_t n)
{
    const rv_test_client *tests = tests_of(client);
    for (size_t i = 0; tests != NULL && type != NULL && i < tests->count; i++) {
        const reeve_test_task *task = &tests->tasks[i]->is;
        if (strcmp(task->spec->type, type) == 0 && n-- == 0) return task;
    }
    return NULL;
}

void reeve_test_client_clear(reeve_client *client)
{
    rv_test_client *tests = tests_of(client);
    if (tests != NULL && tests->running == 0) clear(tests);
}

size_t reeve_test_client_run(reeve_client *client)
{
    rv_test_client *tests = tests_of(client);
    return tests != NULL ? rv_test_client_run_all(tests, false) : 0;
}
