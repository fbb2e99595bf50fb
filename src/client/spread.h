/*
 * spread.h - calls for a queue that is divided into partitions (protocol/partition.h).
 *
 * rv_client_script hands the calls of scripts for such a queue to rv_spread_script. Calls whose replies have to be added
 * up are made for each partition by their own functions, with rv_spread_begin: they use the exact names of partitions,
 * which no call divides further.
 */
#ifndef RV_CLIENT_SPREAD_H
#define RV_CLIENT_SPREAD_H

#include "client/client.h"
#include "client/partitions.h"

/*
 * A script about a task, or a unique key, is called for the partition that has it; one that sets something of the queue,
 * for all partitions, *ret being the last reply; recurring entries are in partition 0. Others are refused:
 * REEVE_EUNSUPPORTED.
 */
reeve_status rv_spread_script(reeve_client *client, const rv_partition_layout *layout, const rv_simple_call *call,
                              const rv_reply **ret, bool *ret_again);

/* The partitions of a queue, one after the other. */
typedef struct rv_spread {
    char queue[REEVE_QUEUE_MAX + 1];
    unsigned count; /* how many; 0: the queue is not divided */
    unsigned next;
    char name[REEVE_QUEUE_MAX + 1]; /* of the present one, exact */
} rv_spread;

/* False: the queue is not divided. */
bool rv_spread_begin(rv_spread *spread, reeve_client *client, const char *queue);
/* Sets `name` to the first partition, then to the next ones. False: there is none left. */
bool rv_spread_next(rv_spread *spread);

/* Fails with REEVE_EUNSUPPORTED if the queue is divided. */
reeve_status rv_spread_refuse(reeve_client *client, const char *queue, const char *what);

/* A part of a number that all partitions share: the first ones have one more where it does not divide evenly. */
int64_t rv_spread_part(int64_t whole, unsigned partition, unsigned count);

#endif
