#include "run_isolated.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "handlers/dependencies.h"
#include "handlers/task.h"
#include "isolation/runner_process.h"
#include "isolation/runner_run.h"
#include "protocol/json_parse.h"
#include "protocol/keys.h"
#include "protocol/settlement.h"
#include "testing/run_inline.h"
#include "worker/crash_report.h"

#define LOOK_MS 20    /* how often the time limit is looked at */
#define GRACE_MS 2000 /* from the request to stop to SIGTERM, and from there to SIGKILL */
#define END_MS 500    /* for the hooks of plugins */
#define BACKTRACE_SIZE ((size_t)64 * 1024)

typedef struct isolated {
    reeve_plugin_handle *plugins[2];
    size_t plugin_count;
    const char *type; /* of the handler */
    reeve_task *task;
    rv_runner runner;
    rv_buf in, out;
    bool done;
    bool lost;
    bool is_garbled; /* lost: by a message that is none */
    unsigned signals;
    int64_t signal_at; /* when the next one is sent; 0: it was not asked to stop */
} isolated;

/* ---- chained tasks --------------------------------------------------------------------------------------------- */

static const char *text_of(const cJSON *header, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(header, name);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

static int64_t number_of(const cJSON *header, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(header, name);
    return cJSON_IsNumber(item) ? (int64_t)item->valuedouble : 0;
}

/* NULL: none. */
static cJSON *parse(const char *begin, reeve_bytes text)
{
    cJSON *ret = NULL;
    rv_buf line;
    rv_buf_init(&line, SIZE_MAX);
    rv_buf_adds(&line, begin);
    rv_buf_add(&line, text.data, text.length);
    if (!line.failed) (void)rv_json_parse_object(&ret, line.data, line.length);
    rv_buf_fini(&line);
    return ret;
}

/* As if the handler had chained it here. */
static void chain(reeve_task *task, const char *handle, reeve_bytes sent_options, reeve_bytes envelope)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    const char *end = memchr(envelope.data, '\n', envelope.length);
    if (end == NULL || !rv_keys_split_handle(handle, queue, id)) return;
    size_t length = (size_t)(end - (const char *)envelope.data);
    cJSON *header = parse("{", (reeve_bytes){envelope.data, length}), *options = parse("", sent_options);
    const reeve_task_spec spec = {.size = sizeof(spec),
                                  .queue = queue,
                                  .id = id,
                                  .type = text_of(header, "type"),
                                  .payload = {end + 1, envelope.length - length - 1},
                                  .group = text_of(options, "group"),
                                  .unique = text_of(options, "unique"),
                                  .priority = (int)number_of(options, "priority"),
                                  .in_ms = number_of(options, "in"),
                                  .at_ms = number_of(options, "at")};
    if (spec.type != NULL) (void)reeve_task_chain(task, &spec, NULL);
    cJSON_Delete(header);
    cJSON_Delete(options);
}

/* The runner has made the chained tasks itself: the report gets them. */
static void take_chained(reeve_task *task)
{
    size_t count;
    rv_buf copy;
    const reeve_bytes chained = rv_dependencies_chained(task->dependencies, &count);
    if (count == 0) return;
    rv_buf_init(&copy, SIZE_MAX);
    rv_buf_add(&copy, chained.data, chained.length);
    const char *at = copy.data;
    for (size_t i = 0; i < count && !copy.failed; i++) {
        reeve_bytes handle, options, envelope;
        char text[REEVE_HANDLE_MAX];
        at = rv_settlement_chained_argument(at, &handle);
        at = rv_settlement_chained_argument(at, &options);
        at = rv_settlement_chained_argument(at, &envelope);
        memcpy(text, handle.data, handle.length); /* its length was checked */
        text[handle.length] = '\0';
        chain(task, text, options, envelope);
    }
    rv_buf_fini(&copy);
}

/* ---- one run --------------------------------------------------------------------------------------------------- */

static reeve_status start(isolated *own, rv_error *error)
{
    const reeve_runner_options limits = {.size = sizeof(limits)};
    const rv_runner_cgroup_options no_cgroup = {0};
    char in_force[RV_RUNNER_SANDBOX_TEXT];
    rv_buf hello;
    rv_buf_init(&hello, RV_RUNNER_BODY_MAX);
    rv_runner_hello_write(&hello, own->plugins, own->plugin_count, rv_task_size_limits(own->task), &limits,
                          &(rv_runner_sandbox){0});
    reeve_status status = hello.failed ? rv_fail(error, REEVE_ENOMEM, "no memory for a runner") : REEVE_OK;
    if (status == REEVE_OK)
        status = rv_runner_process_start(&own->runner, "run", &hello, sizeof(rv_flight_runner), &no_cgroup, error);
    rv_buf_fini(&hello);
    if (status != REEVE_OK) return status;
    return rv_runner_process_await(&own->runner, rv_deadline(RV_RUNNER_START_MS), in_force, error);
}

static reeve_status send_run(isolated *own)
{
    const reeve_task *task = own->task;
    char *header = task->options != NULL ? cJSON_PrintUnformatted(task->options) : NULL;
    const rv_runner_task sent = {.queue = task->queue,
                                 .id = task->id,
                                 .type = task->type,
                                 .attempt = task->attempt,
                                 .crashes = task->crashes,
                                 .enqueued_ms = task->enqueued_ms,
                                 .header = {header, header != NULL ? strlen(header) : 0},
                                 .payload = task->payload};
    rv_runner_run_begin(&own->out, own->type, "", 1);
    rv_runner_run_add(&own->out, &sent);
    cJSON_free(header);
    if (own->out.failed) return REEVE_ENOMEM;
    const rv_runner_message message = {
        .kind = RV_RUNNER_RUN, .run = ++own->runner.runs, .body = own->out.data, .length = own->out.length};
    return rv_runner_message_send(own->runner.fd, false, &message);
}

static bool answer_call(isolated *own, const rv_runner_message *call)
{
    rv_runner_reader in = rv_runner_message_read(call);
    rv_buf_clear(&own->out);
    if (call->index != 0 || !rv_runner_run_answer(&own->out, &in, own->task)) return false;
    const rv_runner_message answer = {
        .kind = RV_RUNNER_ANSWER, .run = call->run, .body = own->out.data, .length = own->out.length};
    reeve_status status = rv_runner_message_send(own->runner.fd, false, &answer);
    return status == REEVE_OK || status == REEVE_ELOST;
}

static bool take_outcome(isolated *own, const rv_runner_message *done)
{
    rv_runner_reader in = rv_runner_message_read(done);
    own->done = rv_runner_message_get_number(&in, 1, 1) == 1 && rv_runner_run_read_outcome(&in, own->task) &&
                rv_runner_run_read_counters(&in) && rv_runner_message_is_read(&in);
    if (own->done) take_chained(own->task);
    return own->done;
}

static void take_message(isolated *own)
{
    rv_runner_message message;
    reeve_status status = rv_runner_message_receive(own->runner.fd, &own->in, false, &message);
    if (status == REEVE_ETIMEOUT) return;
    bool good = status == REEVE_OK && message.run == own->runner.runs;
    if (good && message.kind == RV_RUNNER_CALL)
        good = answer_call(own, &message);
    else
        good = good && message.kind == RV_RUNNER_DONE && take_outcome(own, &message);
    own->lost = !good;
    own->is_garbled = !good && status != REEVE_ELOST;
}

/* The time limit: the handler is asked to stop, and ended when it does not. */
static void look_at_limit(isolated *own)
{
    if (own->signal_at == 0 && reeve_task_should_stop(own->task)) {
        atomic_store(&own->runner.flags->tasks[0].cancelled, reeve_task_is_cancelled(own->task));
        atomic_store(&own->runner.flags->tasks[0].stop, true);
        own->signal_at = rv_deadline(GRACE_MS);
    }
    if (own->signal_at == 0 || rv_now_ms() < own->signal_at) return;
    rv_runner_process_signal(&own->runner, own->signals++ == 0 ? SIGTERM : SIGKILL);
    own->signal_at = rv_deadline(GRACE_MS);
}

static void wait_for_end(isolated *own)
{
    struct pollfd waits[] = {{.fd = own->runner.fd, .events = POLLIN}, {.fd = own->runner.pidfd, .events = POLLIN}};
    while (!own->done && !own->lost) {
        if (poll(waits, 2, LOOK_MS) > 0) {
            if (waits[0].revents != 0)
                take_message(own);
            else
                own->lost = true;
        }
        look_at_limit(own);
    }
}

/* What a worker notes, with the backtrace as lines of the task's log. */
static void take_death(isolated *own, const rv_flight_crash *crash, const rv_runner_end *end)
{
    rv_buf message, backtrace;
    char how[64];
    rv_buf_init(&message, (size_t)4 * REEVE_MESSAGE_MAX);
    rv_buf_init(&backtrace, BACKTRACE_SIZE);
    if (own->is_garbled) {
        rv_buf_adds(&message, "what came from its process is no message of a runner");
    } else if (!host_crash_report_describe(crash, &message, &backtrace)) {
        rv_runner_process_describe_end(end, how, sizeof(how));
        rv_buf_clear(&message);
        rv_buf_addf(&message, "its process %s", how);
    }
    for (const char *line = rv_buf_text(&backtrace); *line != '\0'; line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        (void)reeve_task_log(own->task, "%.*s", (int)length, line);
        line += length;
    }
    (void)rv_task_failed(own->task, REEVE_OUTCOME_FAIL, "crash", "%s", rv_buf_text(&message));
    rv_buf_fini(&message);
    rv_buf_fini(&backtrace);
}

/* The record of a crash outlives its process. */
static void end(isolated *own)
{
    void *crash = own->runner.crash;
    size_t size = own->runner.crash_size;
    own->runner.crash = NULL;
    if (own->lost) {
        const rv_runner_end how =
            own->is_garbled ? rv_runner_process_kill(&own->runner) : rv_runner_process_reap(&own->runner);
        take_death(own, crash, &how);
    }
    rv_runner_process_stop(&own->runner, END_MS);
    if (crash != NULL) (void)munmap(crash, size);
}

static reeve_outcome call(reeve_task *task, void *user)
{
    isolated *own = user;
    rv_error error = {0};
    own->task = task;
    reeve_status status = start(own, &error);
    if (status == REEVE_OK) {
        status = send_run(own);
        if (status != REEVE_OK) (void)rv_fail(&error, status, "%s", reeve_status_text(status));
    }
    if (status != REEVE_OK) {
        rv_runner_process_stop(&own->runner, 0);
        return rv_task_failed(task, REEVE_OUTCOME_FAIL, "runner", "%s", error.text);
    }
    wait_for_end(own);
    end(own);
    return task->outcome;
}

reeve_test_report *cli_run_isolated(reeve_plugin_handle *plugin, reeve_plugin_handle *layers,
                                    const reeve_test_options *run)
{
    const reeve_handler *handler = rv_run_inline_find(reeve_plugin_get(plugin), run->type);
    isolated own = {.runner = RV_RUNNER_NONE};
    if (handler == NULL) return reeve_test_run_plugin(plugin, run); /* which says so */
    reeve_handler proxy = *handler;
    reeve_test_options options = *run;
    own.type = handler->type;
    if (layers != NULL) own.plugins[own.plugin_count++] = layers;
    own.plugins[own.plugin_count++] = plugin;
    rv_buf_init(&own.in, RV_RUNNER_BODY_MAX);
    rv_buf_init(&own.out, RV_RUNNER_BODY_MAX);
    proxy.run = call;
    proxy.run_batch = NULL;
    proxy.thread_start = NULL;
    proxy.thread_stop = NULL;
    proxy.free_user = NULL;
    proxy.user = &own;
    options.layers = NULL; /* they are around the handler in its process */
    options.layer_count = 0;
    reeve_test_report *report = reeve_test_run(&proxy, &options);
    rv_buf_fini(&own.in);
    rv_buf_fini(&own.out);
    return report;
}
