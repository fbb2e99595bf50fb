/*
 * doctor_cluster.c - the nodes of a Redis Cluster, and queues that are too large to be moved between them.
 */
#include <inttypes.h>
#include <stdio.h>

#include "verb_doctor.h"

/* Of tasks of 100 bytes: a MIGRATE of their hash takes 1.2 s, or fails, since it has 512 MB. */
#define SLOW_TASKS 300000
#define IMMOVABLE_TASKS 2800000

void cli_doctor_cluster(cli_findings *findings, rv_cluster *cluster)
{
    unsigned served = 0;

    for (int node = 0; (node = rv_cluster_next_master(cluster, node)) != RV_CLUSTER_NO_NODE; node++)
        served += rv_cluster_slots_of(cluster, node);
    if (served == RV_SLOTS) return;
    cli_find(findings, CLI_PROBLEM, "slots", NULL,
             "no node of the cluster serves %u of the %d hash slots: queues there cannot be used", RV_SLOTS - served,
             RV_SLOTS);
    cli_find_count(findings, RV_SLOTS - served);
    cli_advise(findings, "redis-cli --cluster check HOST:PORT, and redis-cli --cluster fix HOST:PORT");
}

void cli_doctor_cluster_queue(cli_findings *findings, const reeve_queue_info *info)
{
    uint64_t count = 0;

    for (int state = 0; state < REEVE_STATE_COUNT; state++) count += info->count[state];
    if (count < SLOW_TASKS) return;
    cli_find(findings, CLI_WARNING, "large", info->name, "%s: it has %" PRIu64 " tasks in all states",
             count < IMMOVABLE_TASKS ? "the move of its hash slot stops two nodes for a second or more"
                                     : "it may be too large to be moved to another node of the cluster",
             count);
    cli_find_count(findings, (int64_t)count);
    cli_advise(findings, "keep fewer ended tasks, reeve settings %s --keep-completed AGE:COUNT, or use several queues",
               info->name);
}

void cli_doctor_cluster_print(rv_cluster *cluster)
{
    rv_cluster_node address;

    for (int node = 0; (node = rv_cluster_next_master(cluster, node)) != RV_CLUSTER_NO_NODE; node++) {
        if (rv_cluster_node_at(cluster, node, &address))
            (void)printf("node %s:%d: %u hash slots\n", address.host, address.port, rv_cluster_slots_of(cluster, node));
    }
}
