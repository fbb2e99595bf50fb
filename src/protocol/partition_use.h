/*
 * partition_use.h - while the number of partitions of a queue is being changed: whether a unique key or a group is in use
 * in its previous partition. New tasks with this key or group then go there, so that unique keys and the order of groups
 * are kept.
 */
#ifndef RV_PROTOCOL_PARTITION_USE_H
#define RV_PROTOCOL_PARTITION_USE_H

#include "protocol/keys.h"
#include "redis/conn.h"

/* A new task: its key and its group (NULL: none), and the previous partition of these. */
typedef struct rv_partition_use {
    rv_prefix prefix;
    const char *unique, *group;
    int priority;
} rv_partition_use;

#define RV_PARTITION_QUESTIONS 3

/* Whether the answer to a question, from 0 on, matters for the task. */
bool rv_partition_use_matters(const rv_partition_use *use, unsigned question);
/* Adds the command that asks it. */
void rv_partition_use_build(rv_conn *conn, const rv_partition_use *use, unsigned question);
/* Whether the reply means that the key or group is in use. */
bool rv_partition_use_read(unsigned question, const rv_reply *reply);

#endif
