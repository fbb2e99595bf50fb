/*
 * flow.h - a tree of tasks from JSON: a task, the tasks that it waits for, those that these wait for, and so on. No I/O;
 * any thread.
 *
 *     {"queue":"media","type":"publish","parents":[
 *         {"type":"encode","payload":{"size":720}},
 *         {"type":"check","rule":"go","parents":[{"type":"fetch"}]}]}
 *
 * Each object is a line of `reeve enqueue --bulk` with two more members: `parents`, and `rule`, what the task above it
 * does if it dies.
 */
#ifndef CLI_FLOW_H
#define CLI_FLOW_H

#include "base/buf.h"
#include "bulk_line.h"

#define CLI_FLOW_MAX 1000 /* tasks of a flow */

typedef struct cli_flow_node {
    cli_bulk_line line;
    unsigned depth; /* 0: the task that waits for all others */
    char id[REEVE_ID_MAX];
    char handle[REEVE_HANDLE_MAX + 1];
    reeve_parent edge; /* to it, of the task above it */
} cli_flow_node;

/* The tasks in the order in which they stand in the text. */
typedef struct cli_flow {
    cli_flow_node *nodes[CLI_FLOW_MAX];
    size_t count;
} cli_flow;

/* Fills *ret, which is empty before and which cli_flow_fini frees in any case. False: *ret_fault tells why.
 * queue: of tasks that name none, and stand below none that does; may be NULL. */
bool cli_flow_parse(cli_flow *ret, const char *text, size_t length, const char *queue, cli_bulk_fault *ret_fault);
void cli_flow_fini(cli_flow *flow);

#endif
