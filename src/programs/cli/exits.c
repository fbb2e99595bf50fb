#include "exits.h"

#include <stddef.h>

#include "cli.h"

const cli_exit cli_exits[] = {
    {CLI_DONE, "done", "done"},
    {CLI_REFUSED, "refused", "refused or not found"},
    {CLI_USAGE, "usage", "wrong usage"},
    {CLI_NO_REDIS, "no_redis", "no Redis"},
    {CLI_UNKNOWN, "unknown",
     "enqueue: not known whether the task was enqueued, or has reached the replicas; the message has its handle"},
    {CLI_DEAD, "dead", "wait, watch, enqueue --wait: the task is dead"},
    {CLI_CANCELLED, "cancelled", "wait, watch, enqueue --wait: the task was cancelled"},
    {CLI_TIMED_OUT, "timed_out", "wait, watch, enqueue --wait: the time limit has passed"},
    {CLI_SIGNALLED, "signalled", "plus N: ended by signal N, such as 130 by INT"},
    {0, NULL, NULL},
};
