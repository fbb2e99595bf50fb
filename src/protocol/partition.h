/*
 * partition.h - queues that are divided into partitions: names, and which partition a task belongs to. No I/O.
 *
 * A queue `mail` with 16 partitions is 16 queues for Redis, its scripts and workers: partition 0 is the queue `mail`
 * itself, the others are `mail~1` to `mail~15`, each in a hash slot of its own. So whoever does not know of the
 * partitions uses partition 0, and nothing is lost. `mail~0` is another name of partition 0, which no call divides
 * further (rv_keys_set_prefix).
 *
 * The hash <ns>:partitions has a field for each such queue, eight numbers: "<count> <before> <served> <changed at, ms>
 * <concurrency> <rate: count> <period, ms> <burst>". New tasks go to `count` partitions. While the number is being changed, `before` is the one before the change; it is `count` otherwise.
 * `served` is how many partitions may have tasks: workers serve them, and clients search them. The limits are those of
 * the whole queue, which the partitions share; 0: none.
 */
#ifndef RV_PROTOCOL_PARTITION_H
#define RV_PROTOCOL_PARTITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "redis/reply.h"
#include "reeve/limits.h"
#include "reeve/partition.h"
#include "reeve/task.h"

#define RV_PARTITION_MARK '~'
#define RV_PARTITION_KEY ":partitions" /* behind the namespace */

typedef struct rv_partition_layout {
    char queue[REEVE_QUEUE_MAX + 1];
    unsigned count, before, served;
    int64_t changed_ms;  /* wall clock of who changed it */
    int64_t concurrency; /* of the whole queue; 0: no limit */
    reeve_rate rate;     /* the same; count 0: no limit */
} rv_partition_layout;

/* The queues of a namespace that have partitions. */
typedef struct rv_partition_map {
    rv_partition_layout *layouts; /* NULL: none */
    size_t count;
} rv_partition_map;

/* Reads a reply to HGETALL <ns>:partitions; what cannot be read is left out. False: no memory, or another reply; then
 * *ret stays as it is. */
bool rv_partition_map_read(rv_partition_map *ret, const rv_reply *reply);
void rv_partition_map_fini(rv_partition_map *map);
bool rv_partition_map_is_same(const rv_partition_map *map, const rv_partition_map *other);
/* The layout of a queue, or NULL: it is not divided. */
const rv_partition_layout *rv_partition_map_find(const rv_partition_map *map, const char *queue);

/* The value of a field; false: it is malformed. */
bool rv_partition_layout_read(rv_partition_layout *ret, const char *text);
#define RV_PARTITION_LAYOUT_TEXT 200
void rv_partition_layout_write(char ret[RV_PARTITION_LAYOUT_TEXT], const rv_partition_layout *layout);

/* The length of the queue's own name in the name of one of its partitions, which need not end in a zero byte; `length`:
 * it is no partition's. */
size_t rv_partition_base(const char *name, size_t length);
/* The number of the partition that a name names: 0 where it is no partition's. */
unsigned rv_partition_number(const char *name);
/* The queue's own name in place of that of a partition; in a text "<queue>/<id>" too. */
void rv_partition_strip(char *text);
/* "mail" in place of "mail~0"; in a text "<queue>/<id>" too. Names that are stored, sent to scripts or compared have this
 * form. */
void rv_partition_canonicalize(char *text);
/* Whether both names are of the same queue of Redis: "mail" and "mail~0" are. */
bool rv_partition_is_same(const char *name, const char *other);
/* Whether `own` is the same queue, or one of the partitions of `queue`. */
bool rv_partition_is_of(const char *own, const char *queue);
/* The length of a name in that form. */
size_t rv_partition_canonical_length(const char *name, size_t length);

/* The name of a partition: of partition 0 the queue's. The queue's name is short enough (RV_PARTITION_QUEUE_MAX). */
#define RV_PARTITION_QUEUE_MAX (REEVE_QUEUE_MAX - 3)
void rv_partition_name(char ret[REEVE_QUEUE_MAX + 1], const char *queue, unsigned number);
/* The same, but "mail~0" for partition 0: a call of this name is for this partition alone. */
void rv_partition_exact_name(char ret[REEVE_QUEUE_MAX + 1], const char *queue, unsigned number);

/* The partition, of so many, of a group, a unique key or an id. */
unsigned rv_partition_of(const char *text, unsigned count);
/* Changes the last digits of a UUID so that it belongs to the partition. */
void rv_partition_fit_id(char id[REEVE_ID_MAX], unsigned number, unsigned count);

#endif
