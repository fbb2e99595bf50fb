/*
 * stacks_print.c - the stacks of the threads of this process as JSON, and as messages of the log.
 */
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "stacks.h"
#include "stacks_each.h"

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

typedef struct json {
    rv_buf *out;
    size_t count;
    size_t left_out;
} json;

static void add_text(rv_buf *out, const char *key, const char *text)
{
    rv_buf_addf(out, ",\"%s\":", key);
    rv_buf_add_json(out, text, strlen(text));
}

static void add_json(const host_stack *of, void *user)
{
    json *to = user;
    rv_buf one;

    rv_buf_init(&one, HOST_STACKS_MAX);
    rv_buf_addf(&one, "%s{\"tid\":%" PRId64, to->count > 0 ? "," : "", of->number);
    add_text(&one, "thread", of->thread);
    if (of->stack->id[0] != '\0') {
        add_text(&one, "queue", of->stack->queue);
        add_text(&one, "id", of->stack->id);
        add_text(&one, "type", of->stack->type);
        rv_buf_addf(&one, ",\"for_ms\":%" PRId64, of->for_ms);
    }
    add_text(&one, "stack", of->frames);
    rv_buf_addc(&one, '}');
    bool fits = !one.failed && to->out->length + one.length + 64 < HOST_STACKS_MAX;
    if (fits) rv_buf_add(to->out, one.data, one.length);
    to->count += fits;
    to->left_out += !fits;
    rv_buf_fini(&one);
}

bool host_stacks_json(rv_buf *ret, const char *thread)
{
    json to = {.out = ret};
    size_t left_out = 0;

    rv_buf_adds(ret, "{\"threads\":[");
    const char *why = host_stacks_each(thread, add_json, &to, &left_out);
    if (why == NULL) {
        rv_buf_addf(ret, "],\"left_out\":%zu}", left_out + to.left_out);
        return !ret->failed;
    }
    rv_buf_clear(ret);
    rv_buf_adds(ret, why);
    return false;
}

/* ---- the log --------------------------------------------------------------------------------------------------- */

void host_stacks_log_one(const host_stack *of, void *user)
{
    char number[RV_NUMBER_TEXT], ms[RV_NUMBER_TEXT];
    bool runs = of->stack->id[0] != '\0';

    (void)user;
    rv_log(REEVE_LOG_WARN, "worker.stack", "the stack of a thread", "thread", of->thread, "tid",
           rv_number_text(number, (uint64_t)of->number), "queue", runs ? of->stack->queue : "", "task",
           runs ? of->stack->id : "", "type", runs ? of->stack->type : "", "ms",
           rv_number_text(ms, (uint64_t)of->for_ms), "stack", of->frames, NULL);
}

void host_stacks_log(const char *thread)
{
    size_t left_out = 0;
    const char *why = host_stacks_each(thread, host_stacks_log_one, NULL, &left_out);

    if (why != NULL) rv_log(REEVE_LOG_WARN, "worker.stack", "there are no stacks", "error", why, NULL);
}
