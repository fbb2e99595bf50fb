/*
 * transaction.c - an enqueue as commands that a program sends on its own connection: what client_enqueue.c builds into
 * a connection stands here in memory of its own, and its replies come as values of any client library.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/layout.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/transaction.h"
#include "protocol/definition.h"
#include "protocol/outgoing.h"
#include "protocol/parents.h"
#include "protocol/scripts.h"
#include "protocol/spec.h"

/* EVAL, script, 1, prefix and way; then up to three arguments for each task. */
#define HEAD_ARGS 5
#define TASK_ARGS 3

static void free_command(rv_transaction_command *command)
{
    rv_buf_fini(&command->text);
    rv_free(command->parts);
    rv_free((void *)command->argv);
    rv_free(command->lengths);
}

void reeve_commands_free(reeve_commands *given)
{
    rv_transaction *made = (rv_transaction *)given; /* it begins with what the program sees */
    if (made == NULL) return;
    for (size_t i = 0; made->commands != NULL && i < made->is.count; i++) free_command(&made->commands[i]);
    rv_free(made->commands);
    rv_free(made->list);
    rv_free(made->tasks);
    rv_free(made->own_ids);
    rv_free(made);
}

/* ---- building ---------------------------------------------------------------------------------------------------- */

/* Begins the next part of a command's text. The sizes of commands were counted before. */
static void end_part(rv_transaction_command *command, size_t start)
{
    command->parts[command->part_count++] = (rv_transaction_part){start, command->text.length - start};
}

static void add_text(rv_transaction_command *command, const char *text)
{
    size_t start = command->text.length;
    rv_buf_adds(&command->text, text);
    end_part(command, start);
}

static void add_queue(rv_transaction_command *command, const char *queue)
{
    size_t start = command->text.length;
    rv_buf_add(&command->text, queue, rv_partition_canonical_length(queue, strlen(queue)));
    end_part(command, start);
}

static rv_transaction_command *begin_command(rv_transaction *made, size_t parts)
{
    rv_transaction_command *command = &made->commands[made->is.count++];
    rv_buf_init(&command->text, SIZE_MAX);
    command->parts = rv_zalloc_array(parts, sizeof(*command->parts));
    command->argv = rv_zalloc_array(parts + HEAD_ARGS, sizeof(*command->argv));
    command->lengths = rv_zalloc_array(parts + HEAD_ARGS, sizeof(*command->lengths));
    return command->parts != NULL && command->argv != NULL && command->lengths != NULL ? command : NULL;
}

static void add_arg(rv_transaction_command *command, const char *data, size_t length)
{
    command->argv[command->argc] = data;
    command->lengths[command->argc++] = length;
}

static void add_part(rv_transaction_command *command, size_t index)
{
    const rv_transaction_part *part = &command->parts[index];
    add_arg(command, part->length > 0 ? command->text.data + part->start : "", part->length);
}

/* The arguments of an enqueue: see src/lua/enqueue.lua. Its parts are the prefix, then id, options and rest of each
 * task. */
static void arrange_enqueue(const rv_transaction *made, rv_transaction_command *command)
{
    const rv_script *script = &rv_script_enqueue;
    bool plain = command->plain && !made->repeated;
    command->argc = 0;
    add_arg(command, made->loaded ? "EVALSHA" : "EVAL", made->loaded ? 7 : 4);
    add_arg(command, made->loaded ? script->sha : script->text, made->loaded ? strlen(script->sha) : script->length);
    add_arg(command, "1", 1);
    add_part(command, 0);
    if (made->repeated)
        (void)snprintf(command->way, sizeof(command->way), "again %lld",
                       (long long)rv_now_ms() - (long long)made->made_ms + 1);
    else
        rv_copy_text(command->way, sizeof(command->way), plain ? "plain" : "0");
    add_arg(command, command->way, strlen(command->way));
    for (size_t i = 1; i < command->part_count; i += TASK_ARGS) {
        add_part(command, i);
        if (plain) continue;
        add_part(command, i + 1);
        add_part(command, i + 2);
    }
    for (size_t i = 1; plain && i < command->part_count; i += TASK_ARGS) add_part(command, i + 2);
}

static void arrange(rv_transaction *made)
{
    for (size_t i = 0; i < made->is.count; i++) {
        rv_transaction_command *command = &made->commands[i];
        if (command->task_count > 0) {
            arrange_enqueue(made, command);
        } else {
            command->argc = 0;
            for (size_t part = 0; part < command->part_count; part++) add_part(command, part);
        }
        made->list[i] = (reeve_command){(int)command->argc, command->argv, command->lengths};
    }
}

/* Each queue once; and the version of the data, see protocol/format.h. */
static bool announce(rv_transaction *made, const char *ns, const reeve_task_spec *specs, size_t count)
{
    char number[24];
    rv_transaction_command *queues = begin_command(made, count + 2);
    rv_transaction_command *format = begin_command(made, 5);
    if (queues == NULL || format == NULL) return false;
    add_text(queues, "SADD");
    rv_buf_addf(&queues->text, "%s:queues", ns);
    end_part(queues, strlen("SADD"));
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(specs[i].queue, specs[i - 1].queue) != 0) add_queue(queues, specs[i].queue);
    }
    add_text(format, "SET");
    rv_buf_addf(&format->text, "%s:format", ns);
    end_part(format, strlen("SET"));
    (void)snprintf(number, sizeof(number), "%d", RV_FORMAT);
    add_text(format, number);
    add_text(format, "NX");
    add_text(format, "GET");
    return !queues->text.failed && !format->text.failed;
}

static void add_task(rv_transaction *made, rv_transaction_command *command, const reeve_task_spec *spec, size_t index)
{
    reeve_enqueued *task = &made->tasks[index];
    made->own_ids[index] = spec->id == NULL || spec->if_exists == REEVE_EXISTS_IGNORE;
    task->status = REEVE_ELOST;
    if (spec->id != NULL)
        rv_copy_text(task->id, sizeof(task->id), spec->id);
    else
        rv_uuid7(task->id);
    add_text(command, task->id);
    size_t start = command->text.length;
    rv_spec_write_options(&command->text, spec);
    end_part(command, start);
    start = command->text.length;
    rv_spec_write_envelope(&command->text, spec);
    end_part(command, start);
    command->plain = command->plain && !rv_spec_has_options(spec);
    command->task_count++;
}

/* The tasks from `first` on that one command enqueues. Returns the first that is left, or 0: no memory. */
static size_t add_enqueue(rv_transaction *made, const char *ns, const reeve_task_spec *specs, size_t first)
{
    rv_prefix prefix;
    size_t end = first + 1;
    while (end < made->is.task_count && end - first < REEVE_COMMAND_TASKS_MAX &&
           strcmp(specs[end].queue, specs[first].queue) == 0)
        end++;
    rv_transaction_command *command = begin_command(made, 1 + TASK_ARGS * (end - first));
    if (command == NULL) return 0;
    command->first_task = first;
    command->plain = true;
    rv_keys_set_prefix(&prefix, ns, specs[first].queue);
    add_text(command, prefix.text);
    for (size_t i = first; i < end; i++) add_task(made, command, &specs[i], i);
    return command->text.failed ? 0 : end;
}

static reeve_status build(rv_transaction *made, const char *ns, const reeve_task_spec *specs, size_t count,
                          rv_error *error)
{
    size_t next = 0;
    bool good = made->commands != NULL && made->list != NULL && made->tasks != NULL && made->own_ids != NULL;
    if (good) good = announce(made, ns, specs, count);
    while (good && next < count) {
        next = add_enqueue(made, ns, specs, next);
        good = next > 0;
    }
    if (!good) return rv_fail(error, REEVE_ENOMEM, "no memory for the commands of %zu tasks", count);
    made->made_ms = rv_now_ms();
    arrange(made);
    return REEVE_OK;
}

static reeve_status make(reeve_commands **ret, const char *ns, bool loaded, const reeve_task_spec *specs, size_t count,
                         rv_error *error)
{
    rv_transaction *made = rv_zalloc(sizeof(*made));
    if (made == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for the commands of %zu tasks", count);
    made->loaded = loaded;
    made->commands = rv_zalloc_array(count + 2, sizeof(*made->commands));
    made->list = rv_zalloc_array(count + 2, sizeof(*made->list));
    made->tasks = rv_zalloc_array(count, sizeof(*made->tasks));
    made->own_ids = rv_zalloc_array(count, sizeof(*made->own_ids));
    made->is = (reeve_commands){.list = made->list, .tasks = made->tasks, .task_count = count, .error = ""};
    reeve_status status = build(made, ns, specs, count, error);
    if (status == REEVE_OK)
        *ret = &made->is;
    else
        reeve_commands_free(&made->is);
    return status;
}

/* Copies of the specs go through the layers of the options, and are checked. */
static reeve_status pass_layers(const reeve_commands_options *options, const reeve_size_limits *size_limits,
                                reeve_outgoing *outgoing, reeve_task_spec *specs, size_t count, rv_error *error)
{
    rv_layers layers = {0};
    reeve_status status = REEVE_OK;
    size_t apart = options->layer_count > 0 ? rv_layout_size(options->layers, sizeof(reeve_layer)) : 0;
    for (size_t i = 0; i < options->layer_count && status == REEVE_OK; i++) {
        reeve_layer layer;
        const char *theirs = (const char *)options->layers + i * apart;
        status = RV_LAYOUT_READ(&layer, theirs, apart, "the layer", error);
        layer.free_user = NULL;
        if (status == REEVE_OK) status = rv_layers_add(&layers, &layer, error);
    }
    for (size_t i = 0; i < count && status == REEVE_OK; i++) {
        if (layers.count > 0) status = rv_outgoing_apply(outgoing, &layers, size_limits, &specs[i], error);
        if (status == REEVE_OK) status = rv_enqueue_error_check(&specs[i], size_limits, error);
        if (status == REEVE_OK && specs[i].if_exists == REEVE_EXISTS_AGAIN)
            status = rv_fail(error, REEVE_EINVAL, "if_exists \"again\" cannot be a part of other commands");
    }
    rv_layers_fini(&layers);
    return status;
}

static reeve_status make_checked(reeve_commands **ret, const reeve_commands_options *options,
                                 const reeve_task_spec *specs, size_t count, rv_error *error)
{
    reeve_size_limits size_limits;
    reeve_outgoing outgoing = {0};
    const char *ns = rv_keys_choose_ns(options->ns, error);
    if (ns == NULL) return error->status;
    reeve_status status = rv_size_limits_choose(&size_limits, &options->size_limits, error);
    if (status != REEVE_OK) return status;
    if (count > (size_t)size_limits.batch)
        return rv_size_limits_refuse(error, &size_limits, RV_SIZE_LIMIT(batch), "%zu tasks in one call", count);
    reeve_task_spec *own = rv_zalloc_array(count, sizeof(*own));
    if (own == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for the commands of %zu tasks", count);
    memcpy(own, specs, count * sizeof(*own));
    status = pass_layers(options, &size_limits, &outgoing, own, count, error);
    if (status == REEVE_OK) status = make(ret, ns, options->loaded, own, count, error);
    rv_outgoing_fini(&outgoing);
    rv_free(own);
    return status;
}

reeve_status reeve_enqueue_commands_sized(reeve_commands **ret, const reeve_commands_options *given,
                                          const reeve_task_spec *given_specs, size_t count, char *ret_error,
                                          size_t size, size_t options_size, size_t spec_size)
{
    reeve_commands_options options;
    const reeve_task_spec *specs = NULL;
    reeve_task_spec *owned = NULL;
    rv_error error = {0};
    if (ret == NULL) return REEVE_EINVAL;
    *ret = NULL;
    reeve_status status = RV_LAYOUT_READ(&options, given, options_size, "the options of the commands", &error);
    if (status == REEVE_OK && (given_specs == NULL || count == 0))
        status = rv_fail(&error, REEVE_EINVAL, "no task was given");
    if (status == REEVE_OK && options.layers == NULL && options.layer_count > 0)
        status = rv_fail(&error, REEVE_EINVAL, "no layers were given");
    if (status == REEVE_OK) status = rv_spec_read_all(&specs, &owned, given_specs, count, spec_size, &error);
    if (status == REEVE_OK) status = make_checked(ret, &options, specs, count, &error);
    rv_free(owned);
    if (status != REEVE_OK) rv_copy_text(ret_error, size, error.text);
    return status;
}

reeve_status reeve_commands_repeat(reeve_commands *commands)
{
    rv_transaction *made = (rv_transaction *)commands;
    if (commands == NULL) return REEVE_EINVAL;
    made->repeated = true;
    arrange(made);
    return REEVE_OK;
}

static const char *load_argv[] = {"SCRIPT", "LOAD", NULL};
static size_t load_lengths[] = {6, 4, 0};

static void fill_in_script(void)
{
    load_argv[2] = rv_script_enqueue.text;
    load_lengths[2] = rv_script_enqueue.length;
}

const reeve_command *reeve_commands_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const reeve_command command = {3, load_argv, load_lengths};
    (void)pthread_once(&once, fill_in_script);
    return &command;
}
