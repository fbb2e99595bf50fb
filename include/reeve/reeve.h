/*
 * reeve.h - all of reeve: durable background tasks on Redis.
 *
 * client.h    enqueue tasks, and control them; it includes the next three
 * inspect.h   the state, the record and the log of a task; lists of tasks; waiting for the end of a task
 * queue.h     queues and their settings
 * workers.h   live workers, crashes, and requests to workers
 * change.h    change single tasks by hand: edit or move them, make them dead, end their leases
 * task.h      the task, as its handler uses it
 * size_limits.h  size limits of tasks and results
 * limits.h    limits of concurrency and rate, for queues and groups
 * broadcast.h a task for each live worker of a queue
 * depend.h    dependencies between tasks, task batches, chained tasks
 * signal.h    tasks that wait for events from outside
 * transaction.h  enqueues as commands for the program's own connection and transaction
 * hiredis.h   the same for programs that use hiredis; not included by this file
 * buffer.h    enqueue while Redis is away
 * dead.h      dead letters by kind of error, and bulk operations
 * cron.h      recurring tasks
 * search.h    find tasks by a filter
 * tags.h      find tasks by their tags
 * stats.h     statistics by day: numbers, wait times, run times, errors
 * watch.h     events: follow what happens to tasks
 * why.h       why a task or a queue does not run
 * partition.h queues that are divided into partitions
 * maintain.h  maintenance of queues that no worker serves
 * check.h     check the data of a queue, and repair them
 * worker.h    run handlers in pools of threads inside your program
 * consumer.h  take tasks without handlers
 * plugin.h    put handlers into a shared object
 * plugin_option.h  options of plugins, which plugin.h includes
 * plugin.hpp  plugin.h for C++, with exceptions as outcomes; not included by this file
 * layer.h     functions around handlers
 * testing.h   run a handler in a unit test, and test a producer without Redis
 * status.h    statuses, structs and their sizes, log and memory hooks
 * tls.h       TLS settings
 */
#ifndef REEVE_H
#define REEVE_H

#include "broadcast.h"
#include "buffer.h"
#include "change.h"
#include "check.h"
#include "client.h"
#include "consumer.h"
#include "cron.h"
#include "dead.h"
#include "depend.h"
#include "inspect.h"
#include "layer.h"
#include "limits.h"
#include "maintain.h"
#include "partition.h"
#include "plugin.h"
#include "queue.h"
#include "search.h"
#include "signal.h"
#include "size_limits.h"
#include "stats.h"
#include "status.h"
#include "tags.h"
#include "task.h"
#include "testing.h"
#include "transaction.h"
#include "version.h"
#include "watch.h"
#include "why.h"
#include "worker.h"
#include "workers.h"

#endif
