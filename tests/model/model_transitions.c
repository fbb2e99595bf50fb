/* The transitions that the definition allows: each one that a script makes must be among them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "support/cmocka.h"

#define MODEL_STATE(name, word, shown) word,
static const char *const words[STATES] = {MODEL_STATES(MODEL_STATE)};
#undef MODEL_STATE

#define ALLOW(from, to, script, wanted) {from, to, script, wanted, 0},
static struct allowed {
    model_state from, to;
    const char *script;
    bool wanted; /* a full run meets it */
    unsigned long count;
} allowed[] = {MODEL_ALLOWED(ALLOW)};
#undef ALLOW

#define ALLOWED (sizeof(allowed) / sizeof(allowed[0]))

static void describe(model_state from, model_state to, const char *script, char text[96])
{
    (void)snprintf(text, 96, "%s to %s by %s", words[from], words[to], script);
}

static struct allowed *find(model_state from, model_state to, const char *script)
{
    for (size_t i = 0; i < ALLOWED; i++)
        if (allowed[i].from == from && allowed[i].to == to && strcmp(allowed[i].script, script) == 0)
            return &allowed[i];
    return NULL;
}

/* REEVE_TEST_FIND, as in model_cover. */
static void look_for(const char *text)
{
    const char *wanted = getenv("REEVE_TEST_FIND");
    if (wanted && strcmp(wanted, text) == 0) model_differ("found: %s", text);
}

/* A task that comes to a queue counts there. */
static void count_enqueued(const model_task *task)
{
    for (int queue = 0; queue < QUEUES; queue++)
        if (task >= model.queues[queue].tasks && task < model.queues[queue].tasks + SLOTS)
            model.queues[queue].enqueued++;
}

void model_enter(model_task *task, model_state state)
{
    char text[96];
    if (task->state == state) return;
    const char *script = model_script_name();
    struct allowed *found = find(task->state, state, script);
    describe(task->state, state, script, text);
    if (!found) model_differ("%s: the definition does not allow this transition", text);
    if (found) found->count++;
    look_for(text);
    if (task->state == NONE) count_enqueued(task);
    task->state = state;
}

bool model_made_all(void)
{
    for (size_t i = 0; i < ALLOWED; i++)
        if (allowed[i].wanted && allowed[i].count == 0) return false;
    return true;
}

void model_show_unmade(void)
{
    char text[96];
    for (size_t i = 0; i < ALLOWED; i++) {
        describe(allowed[i].from, allowed[i].to, allowed[i].script, text);
        if (allowed[i].wanted && allowed[i].count == 0) print_error("never happened: %s\n", text);
    }
}

void model_show_made(void)
{
    char text[96];
    for (size_t i = 0; i < ALLOWED; i++) {
        describe(allowed[i].from, allowed[i].to, allowed[i].script, text);
        print_message("%8lu %s%s\n", allowed[i].count, text, allowed[i].wanted ? "" : " (rarely)");
    }
}
