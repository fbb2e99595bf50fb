/*
 * verb_flow.c - a tree of tasks is enqueued in one call.
 */
#include <stdio.h>

#include "base/mem.h"
#include "flow.h"
#include "handle.h"
#include "json.h"
#include "verbs.h"

struct flow_options {
    const char *queue;
};

static const cli_option flow_table[] = {
    {"queue", "QUEUE", "queue of tasks without a queue, if no task above them in the tree has one", CLI_TEXT,
     offsetof(struct flow_options, queue), 0, 0, NULL},
    {0},
};

/* The call has the tasks that are waited for before those that wait. */
struct flow_call {
    cli_flow flow;
    reeve_task_spec specs[CLI_FLOW_MAX];
    reeve_enqueued results[CLI_FLOW_MAX];
};

static size_t place_of(const cli_flow *flow, size_t node)
{
    return flow->count - 1 - node;
}

static void print_node(const cli_context *cli, const cli_flow_node *node)
{
    cli_json json;

    if (!cli->json) {
        (void)printf("%*s%s\n", (int)(2 * node->depth), "", node->handle);
        return;
    }
    cli_json_begin(&json, stdout);
    cli_handle_json(&json, node->line.spec.queue, node->line.spec.id);
    cli_json_uint(&json, "depth", node->depth);
    cli_json_end(&json);
}

/* Prints those that were enqueued. Returns the exit status. */
static int tell(const cli_context *cli, const struct flow_call *call)
{
    const cli_flow *flow = &call->flow;
    int code = CLI_DONE;

    for (size_t i = 0; i < flow->count; i++) {
        const reeve_enqueued *result = &call->results[place_of(flow, i)];
        const reeve_task_spec *spec = &call->specs[place_of(flow, i)];
        char words[512];

        if (result->status == REEVE_OK || result->status == REEVE_BUFFERED) {
            print_node(cli, flow->nodes[i]);
            continue;
        }
        reeve_enqueued_error(cli->client, spec, result, words, sizeof(words));
        const cli_fault fault = {.code = cli_code_of(result->status), .handle = flow->nodes[i]->handle};
        bool unknown = cli_may_be_enqueued(result->status);
        if (unknown) print_node(cli, flow->nodes[i]);
        code = cli_fault_say(cli, unknown ? CLI_UNKNOWN : cli_exit_of(result->status), &fault, "%s%s: %s",
                             unknown ? "unknown whether it was enqueued: " : "", flow->nodes[i]->handle, words);
    }
    return code;
}

static int enqueue(cli_context *cli, struct flow_call *call)
{
    cli_flow *flow = &call->flow;

    for (size_t i = 0; i < flow->count; i++) call->specs[place_of(flow, i)] = flow->nodes[i]->line.spec;
    (void)reeve_enqueue_many(cli->client, call->specs, flow->count, call->results);
    return tell(cli, call);
}

static int run(cli_context *cli, const struct flow_options *options, struct flow_call *call)
{
    cli_bulk_fault fault = {0};
    rv_buf text;
    int status;

    rv_buf_init(&text, SIZE_MAX);
    status = cli_read_payload(cli, &text, cli->rest[0]);
    if (status == CLI_DONE && !cli_flow_parse(&call->flow, text.data, text.length, options->queue, &fault))
        status = cli_fault_say(cli, fault.status == REEVE_EINVAL ? CLI_USAGE : CLI_REFUSED,
                               &(cli_fault){.code = cli_code_of(fault.status)}, "%s", fault.words);
    rv_buf_fini(&text);
    if (status == CLI_DONE) status = cli_open(cli);
    if (status == CLI_DONE) status = enqueue(cli, call);
    return status;
}

static int flow(cli_context *cli, void *pointer)
{
    const struct flow_options *options = pointer;
    struct flow_call *call;
    int status;

    if (options->queue != NULL && cli_queue_argument(cli, options->queue) != CLI_DONE) return CLI_USAGE;
    call = rv_zalloc(sizeof(*call));
    if (call == NULL) return cli_no_memory(cli);
    status = run(cli, options, call);
    cli_flow_fini(&call->flow);
    rv_free(call);
    return status;
}

const cli_verb cli_verb_flow = {
    .name = "flow",
    .section = CLI_TASKS,
    .synopsis = "JSON|-|@FILE [--queue QUEUE]",
    .summary = "Enqueues a tree of tasks that wait for each other",
    .options = flow_table,
    .options_size = sizeof(struct flow_options),
    .min = 1,
    .max = 1,
    .run = flow,
    .notes =
        "A task is an object as in a line of `reeve enqueue --bulk`. Its member \"parents\" is an array of tasks that\n"
        "it waits for; these can have parents, too. The member \"rule\" of a parent sets what happens if the parent\n"
        "dies, is cancelled or is deleted: fail, go or wait, as for `reeve enqueue --after`. A parent without a queue\n"
        "is in the queue of the task above it. A tree has at most 1000 tasks. They are enqueued in one call, and\n"
        "printed as a tree.\n"
        "\n"
        "Example:\n"
        "  reeve flow "
        "'{\"queue\":\"media\",\"type\":\"publish\",\"parents\":[{\"type\":\"encode\"},{\"type\":\"check\"}]}'\n",
    .exits = "0 all were enqueued, 1 one was refused, 4 unknown for one",
};
