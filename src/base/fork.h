/*
 * fork.h - whether this process was forked from another one since something was made: a descriptor, random bytes and locks
 * are shared with the parent then.
 */
#ifndef RV_FORK_H
#define RV_FORK_H

/* A number that is another one in a forked child (not after vfork, or clone called by itself). 0: forks cannot be watched, for
 * there is no memory. Any thread. */
unsigned rv_fork_generation(void);

#endif
