/*
 * reeve.h - all of reeve: durable background tasks on Redis.
 *
 * client.h   enqueue tasks and look at them
 * task.h     what a handler sees of its task, and how it answers
 * guards.h   how large things may be
 * limits.h   how many tasks of a queue or a group run at once, and how many in a period
 * stats.h    how many tasks a day, how long they waited and ran, what they failed of
 * dead.h     what becomes of failures: the dead letters by kind; and what is done to many tasks at once
 * cron.h     tasks that recur
 * tags.h     tasks are found by their tags
 * watch.h    what happens to tasks, as it happens
 * worker.h   run handlers in a pool of threads inside your program
 * plugin.h   put handlers into a shared object
 * plugin.hpp the same in C++, where exceptions become outcomes; not included from here
 * layer.h    functions around handlers
 * testing.h  run a handler in a unit test
 * status.h   results of calls, log and memory hooks
 */
#ifndef REEVE_H
#define REEVE_H

#include "client.h"
#include "cron.h"
#include "dead.h"
#include "depend.h"
#include "guards.h"
#include "layer.h"
#include "limits.h"
#include "maintain.h"
#include "plugin.h"
#include "stats.h"
#include "status.h"
#include "tags.h"
#include "task.h"
#include "testing.h"
#include "version.h"
#include "watch.h"
#include "why.h"
#include "worker.h"

#endif
