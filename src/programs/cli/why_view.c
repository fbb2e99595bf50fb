#include "why_view.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "limits_view.h"
#include "protocol/parents.h"
#include "rate.h"
#include "when.h"

#define WORDS_MAX 4096

/* "N task" or "N tasks", and a verb that agrees. */
static void add_tasks(rv_buf *buf, const reeve_reason *reason, const char *one, const char *many)
{
    rv_buf_addf(buf, "%s%" PRId64 " %s", reason->more ? "at least " : "", reason->count,
                reason->count == 1 ? one : many);
}

static void add_time(rv_buf *buf, const char *before, int64_t time_ms, int64_t now_ms)
{
    char text[CLI_WHEN_TEXT];

    cli_time_text(time_ms, now_ms, text);
    if (time_ms > 0) rv_buf_addf(buf, "%s%s", before, text);
}

static void add_whose(rv_buf *buf, const reeve_reason *reason)
{
    if (reason->group == NULL)
        rv_buf_adds(buf, "the queue");
    else if (strncmp(reason->group, "type:", 5) == 0)
        rv_buf_addf(buf, "its type %s", reason->group + 5);
    else if (strncmp(reason->group, "key:", 4) == 0)
        rv_buf_addf(buf, "its limit key %s", reason->group + 4);
    else
        rv_buf_addf(buf, "its group %s", reason->group);
}

static void add_paused(rv_buf *buf, const reeve_reason *reason, int64_t now_ms)
{
    add_whose(buf, reason);
    add_time(buf, " is paused until ", reason->until_ms, now_ms);
}

static void add_concurrency(rv_buf *buf, const reeve_reason *reason)
{
    add_whose(buf, reason);
    rv_buf_addf(buf, " is at its limit: %" PRId64 " run, and %" PRId64 " may run at once", reason->count,
                reason->limit);
}

static void add_rate(rv_buf *buf, const reeve_reason *reason, int64_t now_ms)
{
    char rate[CLI_LIMIT_TEXT];

    add_whose(buf, reason);
    rv_buf_addf(buf, " is at its limit: a rate of %s", cli_limit_rate_text(&reason->rate, rate));
    add_time(buf, "; the next task starts at ", reason->until_ms, now_ms);
}

static void add_running(rv_buf *buf, const reeve_reason *reason, int64_t now_ms)
{
    if (reason->count >= 0) {
        add_tasks(buf, reason, "task runs", "tasks run");
        return;
    }
    rv_buf_adds(buf, "it runs");
    add_time(buf, " since ", reason->since_ms, now_ms);
    if (reason->worker != NULL) rv_buf_addf(buf, ", in worker %s", reason->worker);
    if (reason->name != NULL)
        rv_buf_addf(buf, " (%s on %s)", reason->name, reason->host != NULL ? reason->host : "an unknown host");
}

static void add_stalled(rv_buf *buf, const reeve_reason *reason, int64_t now_ms)
{
    if (reason->count >= 0) {
        rv_buf_addf(buf, "%" PRId64 " of its workers' sessions %s expired, and their tasks were not taken back yet",
                    reason->count, reason->count == 1 ? "has" : "have");
        return;
    }
    rv_buf_addf(buf, "it is stalled: its worker%s%s is gone", reason->worker != NULL ? " " : "",
                reason->worker != NULL ? reason->worker : "");
    add_time(buf, "; its session expired at ", reason->since_ms, now_ms);
}

static void add_blocked(rv_buf *buf, const reeve_reason *reason, const reeve_why *why)
{
    if (why->id == NULL) {
        add_tasks(buf, reason, "task waits for others", "tasks wait for others");
    } else {
        rv_buf_adds(buf, "it waits for ");
        add_tasks(buf, reason, "other task", "other tasks");
    }
}

static void add_parent(rv_buf *buf, const reeve_reason *reason)
{
    const char *state = reason->state != NULL ? reason->state : "unknown";

    if (reason->handle != NULL && strcmp(reason->handle, "!") == 0)
        rv_buf_adds(buf,
                    "its producer keeps it open for parents to come (`reeve depend --remove-after '!'` ends that)");
    else if (rv_parents_signal(reason->handle) != NULL)
        rv_buf_addf(buf, "it waits for the signal %s (`reeve signal-task HANDLE %s` sends it)",
                    rv_parents_signal(reason->handle), rv_parents_signal(reason->handle));
    else if (strcmp(state, "gone") == 0)
        rv_buf_addf(buf, "it waits for %s, which does not exist", reason->handle);
    else if (strcmp(state, "dead") == 0 || strcmp(state, "cancelled") == 0)
        rv_buf_addf(buf, "it waits for %s, which is %s: a retry of that may complete (`reeve retry %s`)",
                    reason->handle, state, reason->handle);
    else if (strcmp(state, "completed") == 0)
        rv_buf_addf(buf,
                    "it waits for %s, which is completed: the news is on its way (if that lasts, "
                    "`reeve depend --remove-after %s` lets the task go)",
                    reason->handle, reason->handle);
    else
        rv_buf_addf(buf, "it waits for %s, which is %s", reason->handle, state);
}

#define CIRCLE_SHOWN 8

/* Each task of the handles waits for the next, and the last one for this. */
static void add_circle(rv_buf *buf, const reeve_reason *reason, const reeve_why *why)
{
    const char *handle = reason->handle != NULL ? reason->handle : "", *at = handle;
    int first = (int)strcspn(handle, " ");
    rv_buf_addf(buf, "%" PRId64 " tasks wait in a circle, and never start: %s/%s", reason->count, why->queue, why->id);
    for (int i = 0; *at != '\0' && i < CIRCLE_SHOWN; i++) {
        size_t length = strcspn(at, " ");
        rv_buf_addf(buf, " waits for %.*s, which", (int)length, at);
        at += length + (at[length] == ' ');
    }
    rv_buf_addf(buf, "%s waits for %s/%s. Remove one of these dependencies: `reeve depend %s/%s --remove-after %.*s`",
                *at != '\0' ? " waits for others, the last of which" : "", why->queue, why->id, why->queue, why->id,
                first, handle);
}

static void add_messages(rv_buf *buf, const reeve_reason *reason, const reeve_why *why)
{
    if (why->id != NULL) rv_buf_adds(buf, "parents in other queues may not know of it yet: ");
    add_tasks(buf, reason, "message of its queue to other queues waits", "messages of its queue to other queues wait");
    rv_buf_adds(buf, " to be carried (workers log `outbox.refused` when a queue takes none)");
}

static void add_due(rv_buf *buf, const reeve_reason *reason, int64_t now_ms)
{
    if (reason->count >= 0) {
        add_tasks(buf, reason, "task is scheduled", "tasks are scheduled");
        add_time(buf, reason->count == 1 ? " for " : "; the first for ", reason->until_ms, now_ms);
        return;
    }
    if (reason->failures > 0)
        rv_buf_addf(buf, "attempt %u failed; the next one is due", reason->failures);
    else
        rv_buf_adds(buf, "it is due");
    add_time(buf, " at ", reason->until_ms, now_ms);
}

static void add_parked(rv_buf *buf, const reeve_reason *reason)
{
    if (reason->group == NULL) {
        add_tasks(buf, reason, "task waits for the limit of its group, type or limit key",
                  "tasks wait for the limits of their groups, types or limit keys");
        return;
    }
    rv_buf_adds(buf, "it waits in ");
    add_whose(buf, reason);
    rv_buf_addf(buf, ", %" PRId64 " before it", reason->count > 0 ? reason->count : 0);
}

static void add_no_handler(rv_buf *buf, const reeve_reason *reason)
{
    if (reason->count == 1)
        rv_buf_addf(buf, "the worker that serves the queue has no handler for type %s", reason->type);
    else
        rv_buf_addf(buf, "none of the %" PRId64 " workers that serve the queue has a handler for type %s",
                    reason->count, reason->type);
    if (reason->handle != NULL) rv_buf_addf(buf, ", of %s", reason->handle);
}

static void add_busy(rv_buf *buf, const reeve_reason *reason)
{
    if (reason->count == 1)
        rv_buf_adds(buf, "the only thread that serves the queue runs a task");
    else
        rv_buf_addf(buf, "all %" PRId64 " threads that serve the queue run tasks", reason->count);
    rv_buf_adds(buf, " (`reeve workers --running` shows them, `reeve threads` adds threads)");
}

static void add_ended(rv_buf *buf, const reeve_reason *reason, const char *how, int64_t now_ms)
{
    rv_buf_addf(buf, "it %s", how);
    add_time(buf, " at ", reason->since_ms, now_ms);
    if (reason->error_kind != NULL) rv_buf_addf(buf, ", of %s", reason->error_kind);
}

static void add_ready(rv_buf *buf, const reeve_reason *reason)
{
    if (reason->count >= 0)
        add_tasks(buf, reason, "task is ready", "tasks are ready");
    else
        rv_buf_adds(buf, "it is the next one");
}

/* A breaker that is open, or whose task tries. */
static void add_breaker(rv_buf *buf, const reeve_reason *reason, int64_t now_ms)
{
    rv_buf_adds(buf, "too many attempts failed: the circuit breaker of ");
    if (reason->kind == REEVE_REASON_GROUP_BREAKER)
        rv_buf_addf(buf, "group %s", reason->group);
    else
        rv_buf_adds(buf, "the queue");
    add_time(buf, " is open until ", reason->until_ms, now_ms);
    if (reason->handle != NULL) rv_buf_addf(buf, ", while %s tries", reason->handle);
}

/* What is of the queue, and of groups. */
static void add_limit(rv_buf *buf, const reeve_reason *reason, int64_t now_ms)
{
    switch (reason->kind) {
    case REEVE_REASON_PAUSED_FOR:
    case REEVE_REASON_GROUP_PAUSED:
        add_paused(buf, reason, now_ms);
        break;
    case REEVE_REASON_CONCURRENCY:
    case REEVE_REASON_GROUP_CONCURRENCY:
        add_concurrency(buf, reason);
        break;
    default:
        add_rate(buf, reason, now_ms);
        break;
    }
}

void cli_reason_words(rv_buf *buf, const reeve_why *why, const reeve_reason *reason)
{
    int64_t now_ms = why->now_ms;

    switch (reason->kind) {
    case REEVE_REASON_COMPLETED:
        add_ended(buf, reason, "completed", now_ms);
        break;
    case REEVE_REASON_DEAD:
        add_ended(buf, reason, "died", now_ms);
        break;
    case REEVE_REASON_CANCELLED:
        add_ended(buf, reason, "was cancelled", now_ms);
        break;
    case REEVE_REASON_RUNNING:
        add_running(buf, reason, now_ms);
        break;
    case REEVE_REASON_STALLED:
        add_stalled(buf, reason, now_ms);
        break;
    case REEVE_REASON_PAUSED:
        rv_buf_adds(buf, "the queue is paused");
        add_time(buf, " since ", reason->since_ms, now_ms);
        break;
    case REEVE_REASON_PAUSED_FOR:
    case REEVE_REASON_CONCURRENCY:
    case REEVE_REASON_RATE:
    case REEVE_REASON_GROUP_PAUSED:
    case REEVE_REASON_GROUP_CONCURRENCY:
    case REEVE_REASON_GROUP_RATE:
        add_limit(buf, reason, now_ms);
        break;
    case REEVE_REASON_BREAKER:
    case REEVE_REASON_GROUP_BREAKER:
        add_breaker(buf, reason, now_ms);
        break;
    case REEVE_REASON_BLOCKED:
        add_blocked(buf, reason, why);
        break;
    case REEVE_REASON_PARENT:
        add_parent(buf, reason);
        break;
    case REEVE_REASON_CIRCLE:
        add_circle(buf, reason, why);
        break;
    case REEVE_REASON_DUE:
        add_due(buf, reason, now_ms);
        break;
    case REEVE_REASON_PARKED:
        add_parked(buf, reason);
        break;
    case REEVE_REASON_UNSERVED:
        rv_buf_adds(buf, "no live worker serves the queue");
        break;
    case REEVE_REASON_QUIET:
        rv_buf_addf(buf, "its workers (%" PRId64 ") take no new tasks: they are quiet or stopping", reason->count);
        break;
    case REEVE_REASON_NO_HANDLER:
        add_no_handler(buf, reason);
        break;
    case REEVE_REASON_BUSY:
        add_busy(buf, reason);
        break;
    case REEVE_REASON_BEHIND:
        add_tasks(buf, reason, "task is before it", "tasks are before it");
        break;
    case REEVE_REASON_READY:
        add_ready(buf, reason);
        break;
    case REEVE_REASON_EMPTY:
        rv_buf_adds(buf, "no task waits");
        break;
    case REEVE_REASON_MESSAGES:
        add_messages(buf, reason, why);
        break;
    default:
        rv_buf_adds(buf, reeve_reason_name(reason->kind));
        break;
    }
}

void cli_why_words(rv_buf *buf, const reeve_why *why)
{
    for (size_t i = 0; i < why->count; i++) {
        if (i > 0) rv_buf_addc(buf, '\n');
        cli_reason_words(buf, why, &why->reasons[i]);
    }
}

static void reason_json(cli_json *json, const reeve_why *why, const reeve_reason *reason)
{
    rv_buf words;

    rv_buf_init(&words, WORDS_MAX);
    cli_reason_words(&words, why, reason);
    cli_json_open(json, NULL);
    cli_json_text(json, "reason", reeve_reason_name(reason->kind));
    cli_json_text(json, "text", words.failed ? NULL : rv_buf_text(&words));
    cli_json_maybe(json, "since_ms", reason->since_ms > 0 ? reason->since_ms : -1);
    cli_json_maybe(json, "until_ms", reason->until_ms);
    cli_json_maybe(json, "limit", reason->limit);
    cli_json_maybe(json, "count", reason->count);
    cli_json_bool(json, "more", reason->more);
    cli_rate_json(json, &reason->rate, false);
    cli_json_uint(json, "failed_attempts", reason->failures);
    cli_json_text(json, "group", reason->group);
    cli_json_text(json, "handle", reason->handle);
    cli_json_text(json, "parent_state", reason->state);
    cli_json_text(json, "type", reason->type);
    cli_json_text(json, "worker", reason->worker);
    cli_json_text(json, "name", reason->name);
    cli_json_text(json, "host", reason->host);
    cli_json_text(json, "error_kind", reason->error_kind);
    cli_json_close(json);
    rv_buf_fini(&words);
}

void cli_reasons_json(cli_json *json, const char *key, const reeve_why *why)
{
    if (why == NULL) {
        cli_json_null(json, key);
        return;
    }
    cli_json_open_array(json, key);
    for (size_t i = 0; i < why->count; i++) reason_json(json, why, &why->reasons[i]);
    cli_json_close_array(json);
}
