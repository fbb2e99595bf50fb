/*
 * circle.c - walks from a blocked task to its parents, and from these to theirs: the parents of one distance are asked
 * for in one round trip. Only blocked tasks can be part of a circle. The tasks may move meanwhile: what is found was a
 * circle at some time, and stays one as long as nobody removes a dependency.
 */
#include "client/circle.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "protocol/scripts.h"

#define TASKS_MAX 128

typedef struct step {
    char handle[REEVE_HANDLE_MAX + 1];
    size_t from; /* the step whose task waits for this one; TASKS_MAX: the first task does */
} step;

typedef struct walk {
    reeve_client *client;
    char start[REEVE_HANDLE_MAX + 1];
    step *steps;
    size_t count;
    size_t first, end; /* the steps of one distance, which are asked for together */
    size_t last;       /* the step whose task waits for the first one; TASKS_MAX: none was found */
    bool failed;       /* a reply is none of the script's */
} walk;

static bool is_known(const walk *w, const char *handle)
{
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->steps[i].handle, handle) == 0) return true;
    return false;
}

/* The parents of a blocked task. Those in other queues may be in any state: they are asked. */
static void add_parents(walk *w, const rv_why_facts *facts, size_t from)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    for (size_t i = 0; i < facts->parent_count; i++) {
        const rv_why_parent *parent = &facts->parents[i];
        if (parent->state[0] != '\0' && strcmp(parent->state, "blocked") != 0) continue;
        if (strcmp(parent->handle, w->start) == 0 && w->last == TASKS_MAX) w->last = from;
        if (w->count == TASKS_MAX || !rv_keys_split_handle(parent->handle, queue, id) || is_known(w, parent->handle))
            continue;
        rv_copy_text(w->steps[w->count].handle, sizeof(w->steps[w->count].handle), parent->handle);
        w->steps[w->count++].from = from;
    }
}

static void build(rv_conn *conn, bool again, const void *context)
{
    const walk *w = context;
    (void)again;
    for (size_t i = w->first; i < w->end; i++) {
        char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
        rv_prefix prefix;
        (void)rv_keys_split_handle(w->steps[i].handle, queue, id);
        rv_keys_set_prefix(&prefix, w->client->ns, queue);
        rv_cmd_script(conn, &rv_script_why, 1, 1);
        rv_arg(conn, prefix.text, prefix.length);
        rv_args(conn, id);
    }
}

static void on_facts(size_t index, const rv_reply *reply, void *context)
{
    walk *w = context;
    rv_why_facts facts;
    if (rv_reply_is(reply, RV_NIL) || rv_reply_is(reply, RV_ERROR) || w->last != TASKS_MAX) return;
    if (!rv_why_facts_read(&facts, reply))
        w->failed = true;
    else if (strcmp(facts.state, "blocked") == 0)
        add_parents(w, &facts, w->first + index);
}

/* The tasks from the first one's parent on. */
static char *write_circle(const walk *w, size_t *ret_count)
{
    size_t places[TASKS_MAX], count = 0, length = 1;
    for (size_t at = w->last; at != TASKS_MAX && count < TASKS_MAX; at = w->steps[at].from) {
        places[count++] = at;
        length += strlen(w->steps[at].handle) + 1;
    }
    char *text = rv_alloc(length), *end = text;
    if (text == NULL) return NULL;
    *text = '\0';
    for (size_t i = count; i-- > 0;)
        end += snprintf(end, length - (size_t)(end - text), "%s%s", end > text ? " " : "", w->steps[places[i]].handle);
    *ret_count = count + 1;
    return text;
}

static reeve_status take_steps(walk *w)
{
    reeve_status status = REEVE_OK;
    for (w->first = 0; status == REEVE_OK && w->last == TASKS_MAX && w->first < w->count; w->first = w->end) {
        w->end = w->count;
        status = rv_client_exec(w->client, build, w, on_facts, w, NULL);
    }
    if (status == REEVE_OK && w->failed) status = rv_client_odd_reply(w->client, "why");
    return status;
}

reeve_status rv_circle_find(reeve_client *client, const char *queue, const char *id, const rv_why_facts *facts,
                            char **ret, size_t *ret_count)
{
    walk w = {.client = client, .last = TASKS_MAX, .steps = rv_zalloc_array(TASKS_MAX, sizeof(step))};
    *ret = NULL;
    *ret_count = 0;
    if (w.steps == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for an explanation");
    (void)snprintf(w.start, sizeof(w.start), "%s/%s", queue, id);
    add_parents(&w, facts, TASKS_MAX);
    reeve_status status = take_steps(&w);
    if (status == REEVE_OK && w.last != TASKS_MAX) {
        *ret = write_circle(&w, ret_count);
        if (*ret == NULL) status = rv_fail(&client->error, REEVE_ENOMEM, "no memory for an explanation");
    }
    rv_free(w.steps);
    return status;
}
