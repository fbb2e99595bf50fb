/* ut_enqueue_layers.c - layers at an enqueue (reeve/layer.h), their counterparts before handlers, and those around
 * batch handlers, with a client for tests. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "reeve/reeve.h"
#include "support/cmocka.h"

static reeve_client *client;
static unsigned freed;

/* Appends its letter to the payload, and takes it away before the handler. */
static reeve_status append(reeve_outgoing *task, reeve_task_spec *spec, void *user)
{
    char text[64];
    int length = snprintf(text, sizeof(text), "%.*s%s", (int)spec->payload.length,
                          spec->payload.length > 0 ? (const char *)spec->payload.data : "", (const char *)user);
    reeve_status status = reeve_outgoing_set_payload(task, text, (size_t)length);
    return status == REEVE_OK ? reeve_outgoing_set_meta(task, "last", user) : status;
}

static bool strip(reeve_task *task, const char *letter)
{
    reeve_bytes in = reeve_task_payload(task);
    const char *text = in.data;
    if (in.length == 0 || text[in.length - 1] != letter[0]) return false;
    return reeve_task_set_payload(task, text, in.length - 1) == REEVE_OK;
}

static reeve_outcome strip_one(reeve_task *task, reeve_next *next, void *user)
{
    if (!strip(task, user)) return reeve_task_fail(task, "strip", "no %s", (const char *)user);
    return reeve_next_run(next, task);
}

static void strip_batch(reeve_task *const *tasks, size_t count, reeve_next_batch *next, void *user)
{
    reeve_task *good[16];
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        if (strip(tasks[i], user))
            good[left++] = tasks[i];
        else
            (void)reeve_task_fail(tasks[i], "strip", "no %s", (const char *)user);
    }
    reeve_next_run_batch(next, good, left);
}

static reeve_status refuse_odd(reeve_outgoing *task, reeve_task_spec *spec, void *user)
{
    (void)user;
    if (spec->payload.length == 0) return reeve_outgoing_refuse(task, REEVE_OK, "an empty %s", spec->type);
    if (spec->payload.length > 5) return REEVE_EUNSUPPORTED;
    if (spec->priority == 1) spec->priority = 1000;
    return REEVE_OK;
}

static reeve_status set_defaults(reeve_outgoing *task, reeve_task_spec *spec, void *user)
{
    char *group = reeve_outgoing_alloc(task, 8);
    (void)user;
    if (group == NULL) return REEVE_ENOMEM;
    (void)snprintf(group, 8, "g%zu", spec->payload.length);
    if (spec->group == NULL) spec->group = group;
    assert_int_equal(reeve_outgoing_set_meta(task, "b", NULL), REEVE_OK);
    assert_null(reeve_outgoing_meta(task, "b"));
    assert_int_equal(reeve_outgoing_set_meta(task, "c", "3"), REEVE_OK);
    assert_int_equal(reeve_outgoing_set_meta(task, "a", "11"), REEVE_OK);
    assert_int_equal(reeve_outgoing_set_meta(task, "none", NULL), REEVE_OK);
    assert_string_equal(reeve_outgoing_meta(task, "a"), "11");
    assert_null(reeve_outgoing_meta(task, NULL));
    return REEVE_OK;
}

static reeve_outcome echo(reeve_task *task, void *user)
{
    reeve_bytes in = reeve_task_payload(task);
    (void)user;
    assert_int_equal(((const char *)in.data)[in.length], 0);
    return reeve_task_done(task, in.data, in.length);
}

static reeve_outcome chain(reeve_task *task, void *user)
{
    (void)user;
    reeve_task_spec spec = {.queue = "q", .type = "echo", .payload = reeve_task_payload(task)};
    if (reeve_task_chain(task, &spec, NULL) != REEVE_OK)
        return reeve_task_fail(task, "chain", "%s", reeve_task_call_error(task));
    return reeve_task_done(task, NULL, 0);
}

static void echo_many(reeve_task *const *tasks, size_t count, void *user)
{
    for (size_t i = 0; i < count; i++) (void)echo(tasks[i], user);
}

static void count_free(void *user)
{
    (void)user;
    freed++;
}

static void open_client(const reeve_layer *layers, size_t count)
{
    static const reeve_handler handlers[] = {
        {.type = "echo", .run = echo}, {.type = "chain", .run = chain}, {.type = "many", .run_batch = echo_many}};
    const reeve_test_client_options options = {
        .handlers = handlers, .handler_count = 3, .layers = layers, .layer_count = count, .run_at_once = true};
    assert_int_equal(reeve_test_client_open(&client, &options), REEVE_OK);
}

static int close_client(void **state)
{
    (void)state;
    reeve_client_close(client);
    client = NULL;
    return 0;
}

static const reeve_test_task *put(const char *type, const char *payload)
{
    const reeve_task_spec spec = {.queue = "q", .type = type, .payload = reeve_test_text(payload)};
    if (reeve_enqueue(client, &spec, NULL) != REEVE_OK) fail_msg("%s", reeve_client_error(client));
    return reeve_test_client_find(client, type, 0);
}

static const reeve_layer pair[] = {
    {REEVE_LAYER, .name = "a", .enqueue = append, .run = strip_one, .run_batch = strip_batch, .user = (void *)"a"},
    {REEVE_LAYER, .name = "b", .enqueue = append, .run = strip_one, .run_batch = strip_batch, .user = (void *)"b"},
};

static void the_last_layer_is_called_first(void **state)
{
    (void)state;
    open_client(pair, 2);
    const reeve_test_task *task = put("echo", "x");
    assert_string_equal(task->spec->payload.data, "xba");
    assert_string_equal(task->spec->meta[0].value, "a");
    assert_int_equal(task->spec->meta_count, 1);
    assert_string_equal(task->report->result.data, "x");
}

static void chained_tasks_pass_them(void **state)
{
    (void)state;
    open_client(pair, 2);
    (void)put("chain", "x");
    const reeve_test_task *task = reeve_test_client_find(client, "echo", 0);
    assert_string_equal(task->spec->payload.data, "xba");
    assert_string_equal(task->report->result.data, "x");
}

static void batch_handlers_have_them(void **state)
{
    (void)state;
    open_client(pair, 2);
    assert_string_equal(put("many", "x")->report->result.data, "x");
    reeve_client_close(client);
    open_client((const reeve_layer[]){{REEVE_LAYER, .name = "a", .run_batch = strip_batch, .user = (void *)"a"}}, 1);
    assert_string_equal(put("many", "x")->report->message, "no a");
}

static void strip_before(reeve_task *task, void *user)
{
    if (!strip(task, user)) (void)reeve_task_fail(task, "strip", "no %s", (const char *)user);
}

static void add_after(reeve_task *task, void *user)
{
    char text[64];
    reeve_bytes result = reeve_task_result(task);
    int length =
        snprintf(text, sizeof(text), "%.*s%s", (int)result.length, (const char *)result.data, (const char *)user);
    (void)reeve_task_done(task, text, (size_t)length);
}

/* One function for handlers and for batch handlers; a pattern names the types at the enqueue, too. */
static void before_is_the_counterpart(void **state)
{
    static const reeve_layer layers[] = {
        {REEVE_LAYER, .name = "a", .type = "ma*", .enqueue = append, .before = strip_before, .after = add_after,
         .user = (void *)"a"},
        {REEVE_LAYER, .name = "b", .enqueue = append, .before = strip_before, .after = add_after, .user = (void *)"b"},
    };
    (void)state;
    open_client(layers, 2);
    const reeve_test_task *task = put("many", "x");
    assert_string_equal(task->spec->payload.data, "xba");
    assert_string_equal(task->report->result.data, "xba");
    task = put("echo", "x");
    assert_string_equal(task->spec->payload.data, "xb");
    assert_string_equal(task->report->result.data, "xb");
    reeve_client_close(client);
    open_client((const reeve_layer[]){{REEVE_LAYER, .name = "a", .before = strip_before, .user = (void *)"a"}}, 1);
    assert_string_equal(put("many", "x")->report->message, "no a");
}

static void run_batch_twice(reeve_task *const *tasks, size_t count, reeve_next_batch *next, void *user)
{
    (void)user;
    reeve_next_run_batch(next, tasks, count);
    reeve_next_run_batch(next, tasks, count);
}

static void run_nobody(reeve_task *const *tasks, size_t count, reeve_next_batch *next, void *user)
{
    (void)user;
    (void)count;
    reeve_next_run_batch(next, tasks, 0);
}

static void a_misused_batch_fails(void **state)
{
    (void)state;
    open_client((const reeve_layer[]){{REEVE_LAYER, .name = "twice", .run_batch = run_batch_twice}}, 1);
    const reeve_test_task *task = put("many", "x");
    assert_string_equal(task->report->kind, "layer");
    assert_non_null(strstr(task->report->message, "twice"));
    reeve_client_close(client);
    open_client((const reeve_layer[]){{REEVE_LAYER, .name = "nobody", .run_batch = run_nobody}}, 1);
    task = put("many", "x");
    assert_int_equal(task->report->outcome, REEVE_OUTCOME_RETRY);
    assert_string_equal(task->report->kind, "handler");
}

static void layers_change_and_refuse(void **state)
{
    const reeve_meta meta[] = {{"a", "1"}, {"b", "2"}};
    const reeve_task_spec specs[] = {
        {.queue = "q", .type = "t", .payload = {"x", 1}, .meta = meta, .meta_count = 2},
        {.queue = "q", .type = "t"},
        {.queue = "q", .type = "t", .payload = {"x", 1}, .priority = 1},
        {.queue = "q", .type = "other"},
        {.queue = "q", .type = "t", .payload = {"too long", 8}},
        {.queue = "q", .type = "t", .payload = {"xy", 2}, .group = "own"},
        {.queue = "", .type = "t"},
    };
    reeve_enqueued results[7];
    char words[512];
    (void)state;
    open_client(NULL, 0);
    const reeve_layer odd = {REEVE_LAYER, .name = "odd", .type = "t", .enqueue = refuse_odd};
    const reeve_layer defaults = {REEVE_LAYER, .name = "defaults", .type = "t", .enqueue = set_defaults};
    assert_int_equal(reeve_client_add_layer(client, &defaults), REEVE_OK);
    assert_int_equal(reeve_client_add_layer(client, &odd), REEVE_OK);
    assert_int_equal(reeve_enqueue_many(client, specs, 7, results), REEVE_EINVAL);
    assert_string_equal(reeve_client_error(client), "the layer \"odd\": an empty t");
    assert_int_equal(results[0].status, REEVE_OK);
    assert_int_equal(results[1].status, REEVE_EINVAL);
    assert_int_equal(results[2].status, REEVE_EINVAL); /* priority 1000 */
    assert_int_equal(results[3].status, REEVE_OK);
    assert_int_equal(results[4].status, REEVE_EUNSUPPORTED);
    assert_int_equal(results[5].status, REEVE_OK);
    assert_int_equal(results[6].status, REEVE_EINVAL);
    assert_string_equal(results[1].id, "");
    reeve_enqueued_error(client, &specs[1], &results[1], words, sizeof(words));
    assert_string_equal(words, "the layer \"odd\": an empty t");
    reeve_enqueued_error(client, &specs[0], &results[0], words, sizeof(words));
    assert_string_equal(words, "");
    assert_int_equal(reeve_test_client_count(client), 3);
    const reeve_task_spec *first = reeve_test_client_task(client, 0)->spec;
    assert_string_equal(first->group, "g1");
    assert_int_equal(first->meta_count, 2);
    assert_string_equal(first->meta[0].value, "11");
    assert_string_equal(first->meta[1].key, "c");
    assert_string_equal(meta[0].value, "1"); /* the program's own stays */
    assert_string_equal(reeve_test_client_task(client, 2)->spec->group, "own");
    assert_int_equal(reeve_enqueue(client, &specs[4], NULL), REEVE_EUNSUPPORTED);
    assert_string_equal(reeve_client_error(client), "the layer \"odd\" refuses the task: not supported by this build");
}

static void odd_layers_are_refused(void **state)
{
    (void)state;
    open_client(NULL, 0);
    const reeve_layer none = {REEVE_LAYER, .name = "none"};
    const reeve_layer good = {REEVE_LAYER, .name = "good", .enqueue = append, .user = (void *)"x",
                              .free_user = count_free};
    assert_int_equal(reeve_client_add_layer(client, &none), REEVE_EINVAL);
    assert_int_equal(reeve_client_add_layer(client, NULL), REEVE_EINVAL);
    assert_int_equal(reeve_client_add_layer(NULL, &good), REEVE_EINVAL);
    freed = 0;
    assert_int_equal(reeve_client_add_layer(client, &good), REEVE_OK);
    (void)close_client(NULL);
    assert_int_equal(freed, 1);
}

static void commands_pass_them(void **state)
{
    char words[256] = "";
    reeve_commands *commands = NULL;
    const reeve_commands_options options = {.layers = pair, .layer_count = 2};
    const reeve_task_spec spec = {.queue = "q", .type = "t", .payload = {"x", 1}};
    (void)state;
    assert_int_equal(reeve_enqueue_commands(&commands, &options, &spec, 1, words, sizeof(words)), REEVE_OK);
    const reeve_command *last = &commands->list[commands->count - 1];
    const char *envelope = last->argv[last->argc - 1];
    assert_string_equal(envelope + last->lengths[last->argc - 1] - 3, "xba");
    reeve_commands_free(commands);
    const reeve_layer odd = {REEVE_LAYER, .name = "odd", .enqueue = refuse_odd};
    const reeve_commands_options refusing = {.layers = &odd, .layer_count = 1};
    const reeve_task_spec empty = {.queue = "q", .type = "t"};
    assert_int_equal(reeve_enqueue_commands(&commands, &refusing, &empty, 1, words, sizeof(words)), REEVE_EINVAL);
    assert_string_equal(words, "the layer \"odd\": an empty t");
}

static void each_allocation_may_fail(void **state)
{
    reeve_status status = REEVE_ENOMEM;
    unsigned long nth = 0;
    const reeve_task_spec specs[] = {{.queue = "q", .type = "t", .payload = {"x", 1}}, {.queue = "q", .type = "t"}};
    (void)state;
    while (status != REEVE_OK) {
        reeve_enqueued results[2];
        open_client(pair, 2);
        (void)rv_mem_fail_at(++nth);
        status = reeve_enqueue_many(client, specs, 2, results);
        (void)rv_mem_fail_at(0);
        if (status != REEVE_OK) assert_int_equal(status, REEVE_ENOMEM);
        (void)close_client(NULL);
        assert_true(nth < 1000);
    }
    assert_true(nth > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_last_layer_is_called_first, close_client),
        cmocka_unit_test_teardown(chained_tasks_pass_them, close_client),
        cmocka_unit_test_teardown(batch_handlers_have_them, close_client),
        cmocka_unit_test_teardown(before_is_the_counterpart, close_client),
        cmocka_unit_test_teardown(a_misused_batch_fails, close_client),
        cmocka_unit_test_teardown(layers_change_and_refuse, close_client),
        cmocka_unit_test(odd_layers_are_refused),
        cmocka_unit_test(commands_pass_them),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("ut_enqueue_layers", tests, NULL, NULL);
}
