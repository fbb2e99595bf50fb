/*
 * left_group.h - what a worker has left: the processes that its handlers have started, which would work on for tasks that
 * run again elsewhere. Those in the process group of the worker are asked to end (TERM), and killed after a grace. One
 * that has a session or a group of its own, as a daemon has, lives on.
 *
 * They are children of the supervisor, which is a subreaper. A group is signalled only while the supervisor has children
 * in it, so that its number cannot be that of another one.
 */
#ifndef HOST_LEFT_GROUP_H
#define HOST_LEFT_GROUP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HOST_LEFT_GROUPS 8 /* of workers that die one after the other; beyond that, the first is killed at once */

typedef struct host_left_groups {
    struct {
        pid_t id;
        int64_t until_ms; /* then it is killed */
    } list[HOST_LEFT_GROUPS];
    size_t count;
} host_left_groups;

/* The worker has ended, and was not reaped yet: what it has left is asked to end. */
void host_left_group_ask(pid_t worker);

/* It was reaped. */
void host_left_group_add(host_left_groups *of, pid_t worker);

/* Kills those whose time is over. Returns when to do so again (monotonic ms), or RV_FOREVER. */
int64_t host_left_group_look(host_left_groups *of);

/* The supervisor ends: waits for the end of all, which takes no longer than the grace, and reaps what ends. */
void host_left_group_wait(host_left_groups *of);

#endif
