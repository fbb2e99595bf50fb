/*
 * doctor_redis.c - what is wrong with a Redis that is to keep tasks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verb_doctor.h"
#include "when.h"

#define OLDEST_MAJOR 7
#define CLOCK_MS 1000
#define FULL_PROBLEM 90 /* percent of maxmemory */
#define FULL_WARNING 75

static void look_at_version(cli_findings *findings, const rv_checkup *redis)
{
    if (redis->major < 0 || redis->major >= OLDEST_MAJOR) return;
    cli_find(findings, CLI_PROBLEM, "version", NULL, "this is Redis %s; reeve needs 7.0 or newer", redis->version);
    cli_advise(findings, "update Redis");
}

static void look_at_role(cli_findings *findings, const rv_checkup *redis)
{
    if (redis->loading) {
        cli_find(findings, CLI_PROBLEM, "loading", NULL, "Redis is loading its data and refuses commands until it has");
        cli_advise(findings, "wait, and look again");
    }
    if (strcmp(redis->role, "slave") != 0) return;
    cli_find(findings, CLI_PROBLEM, "replica", NULL,
             "this Redis is a replica%s: it refuses to write, so nothing can be enqueued or run",
             strcmp(redis->link, "down") == 0 ? " without a connection to its master" : "");
    cli_advise(findings, "name the master in the URL, or the sentinels: redis-sentinel://host1,host2/NAME");
}

/* Some that lag are the business of who runs Redis; where all do, the failover itself loses tasks. */
static void look_at_replicas(cli_findings *findings, const rv_checkup *redis)
{
    if (redis->replicas == 0 || redis->replicas_behind < redis->replicas) return;
    if (redis->replicas == 1)
        cli_find(findings, CLI_WARNING, "replicas", NULL,
                 "the replica of this Redis is not in sync: a failover to it loses tasks");
    else
        cli_find(findings, CLI_WARNING, "replicas", NULL,
                 "none of the %u replicas of this Redis is in sync: a failover loses tasks", redis->replicas);
    cli_find_count(findings, redis->replicas);
    cli_advise(findings, "see INFO replication, and the logs of the replicas");
}

/* Without a limit of memory nothing is evicted, until somebody sets one. */
static void look_at_eviction(cli_findings *findings, const rv_checkup *redis)
{
    if (redis->policy[0] != '\0' && strcmp(redis->policy, "noeviction") != 0) {
        cli_find(findings, redis->max_bytes == 0 ? CLI_WARNING : CLI_PROBLEM, "evicts", NULL,
                 "maxmemory-policy is %s: when its memory is full, Redis throws keys away, and tasks with them",
                 redis->policy);
        cli_advise(findings, "CONFIG SET maxmemory-policy noeviction, and the same in redis.conf");
    }
    if (redis->evicted <= 0) return;
    cli_find(findings, CLI_PROBLEM, "evicted", NULL,
             "Redis has thrown away %" PRId64 " keys since it started: tasks may be lost", redis->evicted);
    cli_find_count(findings, redis->evicted);
    cli_advise(findings, "set maxmemory-policy to noeviction, and give Redis more memory");
}

static void look_at_memory(cli_findings *findings, const rv_checkup *redis)
{
    if (redis->max_bytes <= 0 || redis->used_bytes < 0) return;
    const double percent = 100.0 * (double)redis->used_bytes / (double)redis->max_bytes;
    if (percent < FULL_WARNING) return;
    cli_find(findings, percent < FULL_PROBLEM ? CLI_WARNING : CLI_PROBLEM, "memory", NULL,
             "Redis uses %.0f %% of maxmemory (%" PRId64 " of %" PRId64
             " MiB): when it is full, nothing more can be enqueued",
             percent, redis->used_bytes >> 20, redis->max_bytes >> 20);
    cli_advise(findings, "raise maxmemory, or keep fewer ended tasks: reeve settings QUEUE --keep-completed AGE:COUNT");
}

static void look_at_failures_to_persist(cli_findings *findings, const rv_checkup *redis)
{
    if (redis->aof == 1 && redis->aof_failed) {
        cli_find(findings, CLI_PROBLEM, "append_failed", NULL, "Redis could not write its append-only file");
        cli_advise(findings, "see Redis's log: the disk may be full");
    }
    if (!redis->save_failed) return;
    cli_find(findings, CLI_PROBLEM, "save_failed", NULL, "Redis could not save its data the last time it tried");
    cli_advise(findings, "see Redis's log: the disk may be full, or its directory not be writable");
}

static void look_at_persistence(cli_findings *findings, const rv_checkup *redis)
{
    look_at_failures_to_persist(findings, redis);
    if (redis->aof == 0 && redis->save_known && redis->save[0] == '\0') {
        cli_find(findings, CLI_PROBLEM, "volatile", NULL,
                 "Redis has neither an append-only file nor save points: a restart loses all tasks");
        cli_advise(findings, "CONFIG SET appendonly yes, and the same in redis.conf");
    } else if (redis->aof == 0) {
        cli_find(findings, CLI_WARNING, "saves_only", NULL,
                 "Redis has no append-only file: a crash loses all tasks since its last save%s%s",
                 redis->save[0] != '\0' ? ", save points " : "", redis->save);
        cli_advise(findings, "CONFIG SET appendonly yes, and the same in redis.conf");
    } else if (redis->aof == 1 && strcmp(redis->fsync, "no") == 0) {
        cli_find(findings, CLI_WARNING, "fsync", NULL,
                 "appendfsync is no: a crash of the machine loses what the system had not written yet");
        cli_advise(findings, "CONFIG SET appendfsync everysec, and the same in redis.conf");
    }
}

static void look_at_clock(cli_findings *findings, const rv_checkup *redis)
{
    char apart[CLI_WHEN_TEXT];

    if (llabs(redis->ahead_ms) <= CLOCK_MS + redis->about_ms) return;
    cli_span_text(llabs(redis->ahead_ms), apart);
    cli_find(findings, CLI_WARNING, "clock", NULL,
             "Redis's clock is %s %s that of this machine; tasks run by Redis's clock", apart,
             redis->ahead_ms > 0 ? "ahead of" : "behind");
    cli_find_count(findings, redis->ahead_ms);
    cli_advise(findings, "let NTP set the clocks of both machines");
}

void cli_doctor_redis(cli_findings *findings, const rv_checkup *redis, bool embedded)
{
    look_at_version(findings, redis);
    look_at_role(findings, redis);
    look_at_replicas(findings, redis);
    look_at_eviction(findings, redis);
    look_at_memory(findings, redis);
    look_at_persistence(findings, redis);
    if (!embedded) look_at_clock(findings, redis);
}

void cli_doctor_rights(cli_findings *findings, const rv_checkup *redis, const char *ns, const char *missing)
{
    const char *user = redis->user[0] != '\0' ? redis->user : "NAME";

    while (*missing != '\0') {
        char what[1024];
        const size_t length = strcspn(missing, "\n");

        (void)snprintf(what, sizeof(what), "%.*s", (int)length, missing);
        if (strstr(what, " the channel") != NULL) {
            cli_find(findings, CLI_WARNING, "channels", NULL,
                     "the Redis user %s may not call %s: who waits for a notice looks every second instead", user,
                     what);
            cli_advise(findings, "ACL SETUSER %s &%s:*", user, ns);
        } else {
            cli_find(findings, CLI_PROBLEM, "rights", NULL, "the Redis user %s may not call %s", user, what);
            cli_advise(findings, "ACL SETUSER %s +COMMAND ~%s:*, for each of these commands", user, ns);
        }
        missing += length;
        if (*missing == '\n') missing++;
    }
}
