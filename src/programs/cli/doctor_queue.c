/*
 * doctor_queue.c - why tasks of a queue do not run, or are not looked after; and what its workers are.
 */
#include <inttypes.h>
#include <string.h>

#include "protocol/definition.h"
#include "verb_doctor.h"
#include "when.h"
#include "why_view.h"

#define OVERDUE_MS 2000 /* a worker that serves the queue is not later than that */
#define UNSENT_MS 3600000

static uint64_t waiting(const reeve_queue_info *info)
{
#define COUNT_OF(name) +info->count[REEVE_STATE_##name]
    return RV_WAITING_STATES(COUNT_OF);
#undef COUNT_OF
}

static void look_at_service(cli_findings *findings, const reeve_queue_info *info, bool served)
{
    const uint64_t count = waiting(info), now = info->count[REEVE_STATE_READY] + info->count[REEVE_STATE_PARKED];

    if (served || count == 0) return;
    cli_find(findings, now > 0 ? CLI_PROBLEM : CLI_WARNING, "unserved", info->name,
             "no live worker serves it, and %" PRIu64 " task%s there", count, count == 1 ? " waits" : "s wait");
    cli_find_count(findings, (int64_t)count);
    cli_advise(findings, "start a worker with a pool for this queue; `reeve workers --pools` shows those that live");
}

/* Reasons that do not pass by themselves. */
static void look_at_reasons(cli_findings *findings, const reeve_queue_info *info, const reeve_why *why)
{
    static const struct {
        reeve_reason_kind kind;
        cli_level level;
        const char *name, *advice;
    } known[] = {
        {REEVE_REASON_PAUSED, CLI_WARNING, "paused", "reeve resume QUEUE"},
        {REEVE_REASON_PAUSED_FOR, CLI_WARNING, "paused_for", "reeve limit QUEUE --pause-for none"},
        {REEVE_REASON_QUIET, CLI_WARNING, "quiet",
         "reeve signal --queue QUEUE resume, if they are quiet; start others, if they stop"},
        {REEVE_REASON_NO_HANDLER, CLI_PROBLEM, "no_handler",
         "load the plugin that has the handler in a worker of this queue, or cancel the task"},
    };

    for (size_t i = 0; why != NULL && i < why->count; i++) {
        for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
            rv_buf words;

            if (why->reasons[i].kind != known[k].kind) continue;
            rv_buf_init(&words, 4096);
            cli_reason_words(&words, why, &why->reasons[i]);
            cli_find(findings, known[k].level, known[k].name, info->name, "%s",
                     words.failed ? "" : rv_buf_text(&words));
            cli_advise(findings, "%s", known[k].advice);
            rv_buf_fini(&words);
        }
    }
}

/* Since when maintenance is overdue; 0: not known; -1: it is not. Messages wait in a queue that workers serve, too, when
 * another queue refuses them. */
static int64_t overdue_since(const rv_queue_checkup *queue, bool served)
{
    int64_t since = queue->overdue_ms, untold = served ? -1 : queue->untold_ms;

    if (untold >= 0 && (since < 0 || untold < since)) since = untold;
    return since < 0 || queue->now_ms - since <= OVERDUE_MS ? -1 : since;
}

static void look_at_upkeep(cli_findings *findings, const reeve_queue_info *info, const rv_queue_checkup *queue,
                           bool served)
{
    const int64_t overdue = overdue_since(queue, served);
    char since[CLI_WHEN_TEXT] = "";

    if (queue->expired > 0 && info->count[REEVE_STATE_RUNNING] > 0) {
        cli_find(findings, CLI_PROBLEM, "stalled", info->name,
                 "workers are gone (%" PRId64 " of their sessions have expired) and %" PRIu64
                 " tasks are listed as running",
                 queue->expired, info->count[REEVE_STATE_RUNNING]);
        cli_find_count(findings, queue->expired);
        cli_advise(findings, "a worker of the queue takes them back, or `reeve queues %s`", info->name);
    }
    if (overdue < 0) return;
    if (overdue > 0) cli_span_text(queue->now_ms - overdue, since);
    cli_find(findings, CLI_PROBLEM, "unmaintained", info->name, "nobody maintains it: something is overdue%s%s",
             since[0] != '\0' ? " for " : "", since);
    cli_advise(findings, served ? "its workers do not get on with it: see their logs, and `reeve workers`"
                                : "start a worker with a pool for this queue");
}

static void look_at_leftovers(cli_findings *findings, const reeve_queue_info *info, const rv_queue_checkup *queue)
{
    if (info->count[REEVE_STATE_DEAD] > 0) {
        cli_find(findings, CLI_WARNING, "dead", info->name, "%" PRIu64 " dead task%s", info->count[REEVE_STATE_DEAD],
                 info->count[REEVE_STATE_DEAD] == 1 ? "" : "s");
        cli_find_count(findings, (int64_t)info->count[REEVE_STATE_DEAD]);
        cli_advise(findings, "`reeve failures %s` says what they died of; `reeve retry` or `reeve purge` them",
                   info->name);
    }
    if (queue->unread > 0) {
        cli_find(findings, CLI_WARNING, "unread", info->name,
                 "messages to other queues were not understood and are set aside: %" PRId64, queue->unread);
        cli_find_count(findings, queue->unread);
        cli_advise(findings, "update the workers that serve the queue; docs/limits.md says how to bring them back");
    }
    if (queue->unsent_ms < 0 || queue->now_ms - queue->unsent_ms > UNSENT_MS) return;
    cli_find(findings, CLI_WARNING, "unsent", info->name,
             "a notice could not be sent: some Redis user has no rights to its channel");
    cli_advise(findings, "ACL SETUSER NAME &*, for the users of workers and producers");
}

void cli_doctor_queue(cli_findings *findings, const reeve_queue_info *info, const rv_queue_checkup *queue,
                      const reeve_why *why, bool served)
{
    look_at_service(findings, info, served);
    look_at_reasons(findings, info, why);
    look_at_upkeep(findings, info, queue, served);
    look_at_leftovers(findings, info, queue);
}

static bool is_running(const reeve_worker_info *worker)
{
    return worker->name[0] != '\0' && strcmp(worker->state, "running") == 0;
}

/* Another process before it in the list. */
static const reeve_worker_info *namesake_of(const reeve_worker_info *list, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        bool is_same_process = list[i].pid == list[index].pid && strcmp(list[i].host, list[index].host) == 0;
        if (!is_same_process && is_running(&list[i]) && strcmp(list[i].name, list[index].name) == 0) return &list[i];
    }
    return NULL;
}

static void look_at_names(cli_findings *findings, const reeve_worker_info *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const reeve_worker_info *other = is_running(&list[i]) ? namesake_of(list, i) : NULL;

        if (other == NULL) continue;
        cli_find(findings, CLI_WARNING, "same_name", NULL,
                 "workers %s (process %" PRId64 " on %s) and %s (process %" PRId64 " on %s) have the same name: %s",
                 other->id, other->pid, other->host, list[i].id, list[i].pid, list[i].host, list[i].name);
        cli_advise(findings, "give each its own worker.name: commands such as `reeve signal %s` are for both",
                   list[i].name);
    }
}

void cli_doctor_workers(cli_findings *findings, const reeve_worker_info *list, size_t count)
{
    look_at_names(findings, list, count);
    for (size_t i = 0; i < count; i++) {
        if (list[i].version == NULL || list[i].version[0] == '\0' || strcmp(list[i].version, reeve_version()) == 0)
            continue;
        cli_find(findings, CLI_WARNING, "versions", NULL, "worker %s on %s has version %s, this command %s",
                 list[i].name, list[i].host, list[i].version, reeve_version());
        cli_advise(findings, "update workers before the programs that enqueue for them");
    }
}
