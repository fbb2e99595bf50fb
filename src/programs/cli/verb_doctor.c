/*
 * verb_doctor.c - the verb that looks for what is wrong, with Redis and with queues.
 */
#include "verb_doctor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "protocol/partition.h"
#include "protocol/serving.h"
#include "verbs.h"

struct doctor_options {
    bool strict;
};

static const cli_option doctor_table[] = {
    {"strict", NULL, "exit with status 1 for warnings as well", CLI_FLAG, offsetof(struct doctor_options, strict), 0, 0,
     NULL},
    {0},
};

/* All that one run reads. */
struct visit {
    cli_context *cli;
    cli_findings findings;
    rv_checkup redis;
    reeve_queue_info *queues;
    size_t queue_count;
    reeve_worker_info *workers;
    size_t worker_count;
};

/* ---- looking --------------------------------------------------------------------------------------------------- */

static bool is_asked_for(const cli_context *cli, const char *queue)
{
    for (size_t i = 0; i < cli->count; i++)
        if (rv_partition_is_of(cli->rest[i], queue)) return true;
    return cli->count == 0;
}

/* A name of which Redis has no queue may be mistyped. That of a partition stands for its queue. */
static void find_unknown(struct visit *visit)
{
    cli_context *cli = visit->cli;
    for (size_t i = 0; i < cli->count; i++) {
        bool known = false;
        for (size_t j = 0; j < visit->queue_count && !known; j++)
            known = rv_partition_is_of(cli->rest[i], visit->queues[j].name);
        if (known) continue;
        cli_find(&visit->findings, CLI_WARNING, "unknown_queue", cli->rest[i], "there is no such queue");
        cli_advise(&visit->findings, "see the names that \"reeve queues\" prints; a queue begins with its first task");
    }
}

static int look_at_redis(struct visit *visit)
{
    cli_context *cli = visit->cli;
    rv_buf missing;

    reeve_status result = rv_checkup_take(cli->client, &visit->redis);
    if (result == REEVE_EREDIS) {
        cli_find(&visit->findings, CLI_PROBLEM, "refused", NULL, "%s", reeve_client_error(cli->client));
        cli_advise(&visit->findings, "see Redis's log, and the rights of this user: ACL GETUSER NAME");
    } else if (result != REEVE_OK) {
        return cli_fail_call(cli, result, NULL);
    }
    cli_doctor_redis(&visit->findings, &visit->redis, cli->client->embedded != NULL);
    if (cli->client->url.cluster != NULL) cli_doctor_cluster(&visit->findings, cli->client->url.cluster);
    rv_buf_init(&missing, 16384);
    result = rv_checkup_rights(cli->client, cli->count > 0 ? cli->rest[0] : "default", &missing);
    if (result == REEVE_EREDIS) {
        cli_find(&visit->findings, CLI_PROBLEM, "rights", NULL, "scripts cannot be called: %s",
                 reeve_client_error(cli->client));
        cli_advise(&visit->findings, "ACL SETUSER NAME +@all, by a user who may");
    } else if (result == REEVE_OK) {
        cli_doctor_rights(&visit->findings, &visit->redis, cli->client->ns, rv_buf_text(&missing));
    }
    rv_buf_fini(&missing);
    return result == REEVE_OK || result == REEVE_EREDIS ? CLI_DONE : cli_fail_call(cli, result, NULL);
}

static bool is_busy(const reeve_queue_info *info)
{
    for (int state = REEVE_STATE_BLOCKED; state <= REEVE_STATE_RUNNING; state++)
        if (info->count[state] > 0) return true;
    return false;
}

static int look_at_queue(struct visit *visit, const reeve_queue_info *info)
{
    cli_context *cli = visit->cli;
    rv_queue_checkup queue;
    reeve_why *why = NULL;
    rv_serving serving;

    reeve_status result = rv_checkup_queue(cli->client, info->name, &queue);
    if (result == REEVE_OK && is_busy(info)) result = reeve_queue_why(cli->client, info->name, &why);
    if (result != REEVE_OK && result != REEVE_ENOTFOUND) return cli_fail_call(cli, result, info->name);
    result = rv_serving_count(&serving, visit->workers, visit->worker_count, info->name, NULL);
    if (result != REEVE_OK) {
        reeve_why_free(why);
        return cli_fail_call(cli, result, info->name);
    }
    cli_doctor_queue(&visit->findings, info, &queue, why, serving.workers > 0);
    if (cli->client->url.cluster != NULL) cli_doctor_cluster_queue(&visit->findings, info);
    reeve_why_free(why);
    return CLI_DONE;
}

/* A user without rights to what is read here is told that. */
static int look_at_queues(struct visit *visit)
{
    cli_context *cli = visit->cli;
    int status = CLI_DONE;

    reeve_status result = reeve_workers(cli->client, &visit->workers, &visit->worker_count);
    if (result == REEVE_OK) result = reeve_queues(cli->client, &visit->queues, &visit->queue_count);
    if (result == REEVE_EREDIS) {
        cli_find(&visit->findings, CLI_PROBLEM, "unread_queues", NULL, "queues and workers cannot be read: %s",
                 reeve_client_error(cli->client));
        cli_advise(&visit->findings, "see the other findings");
        return CLI_DONE;
    }
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    cli_doctor_workers(&visit->findings, visit->workers, visit->worker_count);
    find_unknown(visit);
    for (size_t i = 0; i < visit->queue_count && status == CLI_DONE; i++) {
        if (is_asked_for(cli, visit->queues[i].name)) status = look_at_queue(visit, &visit->queues[i]);
    }
    return status;
}

/* ---- telling --------------------------------------------------------------------------------------------------- */

static void print_json(const cli_finding *finding)
{
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "level", finding->level == CLI_PROBLEM ? "problem" : "warning");
    cli_json_text(&json, "finding", finding->name);
    cli_json_text(&json, "queue", finding->queue);
    cli_json_text(&json, "text", finding->text);
    cli_json_text(&json, "advice", finding->advice);
    if (finding->count == -1)
        cli_json_null(&json, "count");
    else
        cli_json_int(&json, "count", finding->count);
    cli_json_end(&json);
}

static void print_words(const cli_finding *finding)
{
    (void)printf("%s: %s%s%s%s\n", finding->level == CLI_PROBLEM ? "problem" : "warning",
                 finding->queue != NULL ? "queue " : "", finding->queue != NULL ? finding->queue : "",
                 finding->queue != NULL ? ": " : "", finding->text);
    if (finding->advice != NULL) (void)printf("    what to do: %s\n", finding->advice);
}

/* Problems first. */
static void print_level(const struct visit *visit, cli_level level)
{
    for (size_t i = 0; i < visit->findings.count; i++) {
        if (visit->findings.list[i].level != level) continue;
        if (visit->cli->json)
            print_json(&visit->findings.list[i]);
        else
            print_words(&visit->findings.list[i]);
    }
}

static int report(const struct visit *visit, bool strict)
{
    const size_t problems = cli_findings_of(&visit->findings, CLI_PROBLEM);
    const size_t warnings = cli_findings_of(&visit->findings, CLI_WARNING);

    if (visit->findings.failed) return cli_no_memory(visit->cli);
    print_level(visit, CLI_PROBLEM);
    print_level(visit, CLI_WARNING);
    if (!visit->cli->json && visit->cli->client->url.cluster != NULL)
        cli_doctor_cluster_print(visit->cli->client->url.cluster);
    if (!visit->cli->json)
        (void)printf("%zu problem%s, %zu warning%s; Redis %s, queues: %zu, workers: %zu\n", problems,
                     problems == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s",
                     visit->redis.version[0] != '\0' ? visit->redis.version : "?", visit->queue_count,
                     visit->worker_count);
    if (visit->queue_count + visit->worker_count == 0) cli_note_private(visit->cli);
    if (problems == 0 && (!strict || warnings == 0)) return CLI_DONE;
    if (visit->cli->json)
        return cli_fault_say(visit->cli, CLI_REFUSED, &(cli_fault){.code = "findings"}, "%zu problems, %zu warnings",
                             problems, warnings);
    return CLI_REFUSED;
}

static int doctor(cli_context *cli, void *pointer)
{
    const struct doctor_options *options = pointer;
    struct visit visit = {.cli = cli};
    int status = CLI_DONE;

    for (size_t i = 0; i < cli->count && status == CLI_DONE; i++) status = cli_queue_argument(cli, cli->rest[i]);
    if (status == CLI_DONE) status = cli_open(cli);
    if (status == CLI_DONE) status = look_at_redis(&visit);
    if (status == CLI_DONE) status = look_at_queues(&visit);
    if (status == CLI_DONE) status = report(&visit, options->strict);
    cli_findings_fini(&visit.findings);
    reeve_queues_free(visit.queues);
    reeve_workers_free(visit.workers, visit.worker_count);
    return status;
}

const cli_verb cli_verb_doctor = {
    .name = "doctor",
    .section = CLI_SERVERS,
    .synopsis = "[--strict] [QUEUE...]",
    .summary = "Looks for problems of Redis and of queues, and prints what to do about them",
    .options = doctor_table,
    .options_size = sizeof(struct doctor_options),
    .max = CLI_ANY_NUMBER,
    .run = doctor,
    .notes =
        "A problem means that tasks can be lost, or do not run. A warning is about something that can become a\n"
        "problem. The command changes nothing. Of Redis it checks the version, role, eviction, persistence,\n"
        "memory and clock, and the rights of the user. Of each queue it checks the workers, maintenance, tasks of\n"
        "dead workers, handlers, pauses and dead tasks. In a cluster it checks the settings of one node, and lists\n"
        "all masters. It takes two or three round trips for each queue.\n"
        "\n"
        "Examples:\n"
        "  reeve doctor\n"
        "  reeve doctor --strict mail\n"
        "  reeve doctor --json | jq -r 'select(.level == \"problem\") | .finding'\n",
    .exits = "0 no problem, 1 a problem (with --strict: or a warning)",
};
