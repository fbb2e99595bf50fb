/*
 * verb_partition.c - the number of partitions of a queue: printed, or changed while the queue is in use.
 */
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>

#include "base/text.h"
#include "json.h"
#include "new_queue.h"
#include "reeve/partition.h"
#include "verbs.h"

#define STEP 1000
#define PAUSE_MIN_MS 200
#define PAUSE_MAX_MS 5000

struct partition_options {
    bool no_wait;
};

static void report(const cli_context *cli, const reeve_partitions *partitions, bool done)
{
    const char *queue = cli->rest[0];
    cli_json json;

    if (cli->json) {
        cli_json_begin(&json, stdout);
        cli_json_text(&json, "queue", queue);
        cli_json_uint(&json, "partitions", partitions->count);
        cli_json_uint(&json, "before", partitions->before);
        cli_json_uint(&json, "served", partitions->served);
        cli_json_bool(&json, "changing", !done);
        cli_json_end(&json);
        return;
    }
    (void)printf("%s: %u partition%s\n", queue, partitions->count, partitions->count == 1 ? "" : "s");
    if (partitions->before != partitions->count)
        (void)printf("being changed from %u: reeve partition %s %u continues\n", partitions->before, queue,
                     partitions->count);
    else if (partitions->served != partitions->count)
        (void)printf("%u are served, until the last ones have no records of ended tasks and no messages\n",
                     partitions->served);
}

static bool is_settled(const reeve_partitions *partitions)
{
    return partitions->before == partitions->count && partitions->served == partitions->count;
}

static void show_progress(const cli_context *cli, const reeve_partitions *partitions, uint64_t moved)
{
    if (cli->json || !cli_flush(cli)) return;
    (void)fprintf(stderr,
                  "%" PRIu64 " moved, %" PRIu64 " with a group or a unique key to run where they are, %" PRIu64
                  " left in partitions that go\n",
                  moved, partitions->waiting, partitions->remaining);
}

/* Until the change has ended. */
static int carry_on(cli_context *cli, reeve_partitions *partitions)
{
    uint64_t moved = 0;
    int pause_ms = PAUSE_MIN_MS;
    bool done = false;

    for (;;) {
        reeve_status status = reeve_partition_step(cli->client, cli->rest[0], STEP, partitions, &done);

        if (status != REEVE_OK) return cli_fail_call(cli, status, NULL);
        moved += partitions->moved;
        if (done) return CLI_DONE;
        show_progress(cli, partitions, moved);
        if (partitions->moved > 0) {
            pause_ms = PAUSE_MIN_MS;
            continue;
        }
        (void)poll(NULL, 0, pause_ms);
        pause_ms = pause_ms * 2 < PAUSE_MAX_MS ? pause_ms * 2 : PAUSE_MAX_MS;
    }
}

static int partition(cli_context *cli, void *given)
{
    const struct partition_options *options = given;
    reeve_partitions partitions;
    int64_t count = 0;
    int status = cli_queue_argument(cli, cli->rest[0]);

    if (status == CLI_DONE && cli->count > 1 && !rv_parse_int(cli->rest[1], 1, REEVE_PARTITIONS_MAX, &count))
        status =
            cli_usage(cli, "\"%.100s\" is no number of partitions: from 1 to %d", cli->rest[1], REEVE_PARTITIONS_MAX);
    if (status == CLI_DONE) status = cli_open(cli);
    if (status != CLI_DONE) return status;
    if (count == 0) cli_note_no_queue(cli, cli->rest[0]);
    if (count > 0) {
        reeve_status result = reeve_partition_set(cli->client, cli->rest[0], (unsigned)count);

        if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    }
    reeve_status result = reeve_partition_get(cli->client, cli->rest[0], &partitions);
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    if (count > 0 && !options->no_wait && !is_settled(&partitions)) status = carry_on(cli, &partitions);
    if (status == CLI_DONE) report(cli, &partitions, is_settled(&partitions));
    return status;
}

static const cli_option partition_options[] = {
    {"no-wait", NULL, "begin the change, and do not wait until it has ended", CLI_FLAG,
     offsetof(struct partition_options, no_wait), 0, 0, NULL},
    {0},
};

const cli_verb cli_verb_partition = {
    .name = "partition",
    .section = CLI_CHANGES,
    .synopsis = "QUEUE [NUMBER]",
    .summary = "Prints or changes the number of partitions of a queue",
    .min = 1,
    .max = 2,
    .options = partition_options,
    .options_size = sizeof(struct partition_options),
    .run = partition,
    .notes =
        "A partition is a part of the tasks of a queue. Each partition has a hash slot of its own, so that the queue\n"
        "can use several nodes of a Redis Cluster (docs/partitions.md). After a change, all producers use the new\n"
        "partitions after at most 10 seconds. Tasks in partitions that are no longer used\n"
        "are moved, except tasks with a group or a unique key, which run in their old partition. The command ends\n"
        "when the change is complete. It can be interrupted and repeated, and the queue can be used meanwhile.\n"
        "\n"
        "Example:\n"
        "  reeve partition mail 16\n",
};
