#include "flow.h"

#include <stdio.h>
#include <string.h>

#include "after.h"
#include "base/id.h"
#include "base/mem.h"
#include "json_scan.h"

typedef struct reading {
    cli_flow *flow;
    cli_bulk_fault *fault;
} reading;

static bool refuse(const reading *r, reeve_status status, const char *reason)
{
    r->fault->status = status;
    r->fault->reason = reason;
    (void)snprintf(r->fault->words, sizeof(r->fault->words), "%s", reason);
    return false;
}

static bool is_key(const cli_value *key, const char *name)
{
    size_t length = strlen(name);
    return key->length == length + 2 && memcmp(key->text + 1, name, length) == 0;
}

/* The object without `parents` and `rule`, which are returned; of kind CLI_VALUE_NULL if they are not there. */
static bool split(const reading *r, const cli_value *object, rv_buf *rest, cli_value *parents, cli_value *rule)
{
    cli_value key, value;
    cli_walk walk;
    bool first = true;

    parents->kind = rule->kind = CLI_VALUE_NULL;
    rv_buf_addc(rest, '{');
    cli_walk_init(&walk, object);
    while (cli_walk_next(&walk, &key, &value)) {
        if (is_key(&key, "parents")) {
            if (value.kind != CLI_VALUE_ARRAY) return refuse(r, REEVE_EINVAL, "\"parents\" is no array of tasks");
            if (parents->kind != CLI_VALUE_NULL) return refuse(r, REEVE_EINVAL, "\"parents\" is given twice");
            *parents = value;
        } else if (is_key(&key, "rule")) {
            if (value.kind != CLI_VALUE_STRING) return refuse(r, REEVE_EINVAL, "\"rule\" is no string");
            if (rule->kind != CLI_VALUE_NULL) return refuse(r, REEVE_EINVAL, "\"rule\" is given twice");
            *rule = value;
        } else {
            if (!first) rv_buf_addc(rest, ',');
            rv_buf_add(rest, key.text, key.length);
            rv_buf_addc(rest, ':');
            rv_buf_add(rest, value.text, value.length);
            first = false;
        }
    }
    rv_buf_addc(rest, '}');
    return !rest->failed || refuse(r, REEVE_ENOMEM, "out of memory");
}

static bool read_rule(const reading *r, cli_flow_node *node, const cli_value *rule)
{
    char text[32] = "x/x:";
    size_t length;

    node->edge = (reeve_parent){.handle = node->handle};
    if (rule->kind == CLI_VALUE_NULL) return true;
    if (rule->length > 20 || !cli_scan_string(rule, text + 4, &length))
        return refuse(r, REEVE_EINVAL, "\"rule\" is none of " CLI_AFTER_NAMES);
    text[4 + length] = '\0';
    reeve_parent edge = {0};
    if (!cli_after_parse(text, &edge) || strcmp(edge.handle, "x/x") != 0)
        return refuse(r, REEVE_EINVAL, "\"rule\" is none of " CLI_AFTER_NAMES);
    node->edge.on_death = edge.on_death;
    node->edge.unknown = edge.unknown;
    return true;
}

static bool read_own(const reading *r, cli_flow_node *node, const rv_buf *text, const char *queue)
{
    const cli_bulk_defaults defaults = {.queue = queue};

    if (!cli_bulk_line_parse(&node->line, text->data, text->length, &defaults, r->fault)) return false;
    if (node->line.spec.id == NULL) {
        rv_uuid7(node->id);
        node->line.spec.id = node->id;
    }
    (void)snprintf(node->handle, sizeof(node->handle), "%s/%s", node->line.spec.queue, node->line.spec.id);
    return true;
}

/* The task waits for the nodes that stand one level below it, from `first` on, besides those that it names itself. */
static bool add_parents(const reading *r, cli_flow_node *node, size_t first)
{
    const cli_flow *flow = r->flow;
    reeve_task_spec *spec = &node->line.spec;
    size_t count = spec->after_count;

    for (size_t i = first; i < flow->count; i++) count += flow->nodes[i]->depth == node->depth + 1;
    if (count == 0) return true;
    reeve_parent *after = rv_realloc(node->line.after, count * sizeof(*after));
    if (after == NULL) return refuse(r, REEVE_ENOMEM, "out of memory");
    node->line.after = after;
    spec->after = after;
    for (size_t i = first; i < flow->count; i++)
        if (flow->nodes[i]->depth == node->depth + 1) after[spec->after_count++] = flow->nodes[i]->edge;
    return true;
}

static bool read_node(const reading *r, const cli_value *object, unsigned depth, const char *queue);

static bool read_parents(const reading *r, const cli_value *parents, unsigned depth, const char *queue)
{
    cli_value value;
    cli_walk walk;

    if (parents->kind == CLI_VALUE_NULL) return true;
    cli_walk_init(&walk, parents);
    while (cli_walk_next(&walk, NULL, &value))
        if (!read_node(r, &value, depth, queue)) return false;
    return true;
}

/* Depth is bounded: what JSON may be nested. */
static bool read_node(const reading *r, const cli_value *object, unsigned depth, const char *queue)
{
    cli_flow *flow = r->flow;
    cli_value parents, rule;
    rv_buf text;

    if (object->kind != CLI_VALUE_OBJECT)
        return refuse(r, REEVE_EINVAL, "expected an object such as {\"queue\":\"default\",\"type\":\"noop\"}");
    if (flow->count == CLI_FLOW_MAX) return refuse(r, REEVE_ETOOBIG, "a flow has at most 1000 tasks");
    cli_flow_node *node = rv_zalloc(sizeof(*node));
    if (node == NULL) return refuse(r, REEVE_ENOMEM, "out of memory");
    node->depth = depth;
    flow->nodes[flow->count++] = node;
    size_t first = flow->count;
    rv_buf_init(&text, SIZE_MAX);
    bool good = split(r, object, &text, &parents, &rule) && read_own(r, node, &text, queue);
    rv_buf_fini(&text);
    if (good && depth == 0 && rule.kind != CLI_VALUE_NULL)
        good = refuse(r, REEVE_EINVAL, "\"rule\" is for tasks that another one waits for");
    return good && read_rule(r, node, &rule) && read_parents(r, &parents, depth + 1, node->line.spec.queue) &&
           add_parents(r, node, first);
}

bool cli_flow_parse(cli_flow *ret, const char *text, size_t length, const char *queue, cli_bulk_fault *ret_fault)
{
    const reading r = {.flow = ret, .fault = ret_fault};
    cli_value object;
    cli_scan scan;

    if (length > 0 && memchr(text, '\0', length) != NULL) return refuse(&r, REEVE_EINVAL, "invalid JSON: a zero byte");
    cli_scan_init(&scan, text, length);
    if (cli_scan_value(&scan, &object) && cli_scan_end(&scan)) return read_node(&r, &object, 0, queue);
    (void)refuse(&r, REEVE_EINVAL, "invalid JSON");
    (void)snprintf(ret_fault->words, sizeof(ret_fault->words), "invalid JSON at byte %zu: expected %s",
                   (size_t)(scan.at - text) + 1, scan.expected);
    return false;
}

void cli_flow_fini(cli_flow *flow)
{
    for (size_t i = 0; i < flow->count; i++) {
        cli_bulk_line_fini(&flow->nodes[i]->line);
        rv_free(flow->nodes[i]);
    }
    flow->count = 0;
}
