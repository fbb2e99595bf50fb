/*
 * fork.h - whether this process was forked from another one since something was made: a descriptor, random bytes and
 * locks are shared with the parent then. And descriptors that a forked child is not to share.
 */
#ifndef RV_FORK_H
#define RV_FORK_H

#include <stdatomic.h>

extern _Atomic unsigned rv_fork_counted; /* of fork.c alone, but for reading */

/* A number that is another one in a forked child (not after vfork, or clone called by itself). 0: forks cannot be
 * watched, for there is no memory. Any thread. */
unsigned rv_fork_generation(void);

/* The same in one instruction, for who has called rv_fork_generation in this process or a parent of it. */
static inline unsigned rv_fork_generation_known(void)
{
    return atomic_load_explicit(&rv_fork_counted, memory_order_relaxed);
}

/* Between these no thread forks (but by vfork, or clone called by itself). Short: no waiting, no forking in between. */
void rv_fork_hold(void);
void rv_fork_release(void);

/* In between, from the opening of a descriptor to its closing: a forked child closes it. For few at a time; any beyond
 * are shared with a child. */
void rv_fork_add_private(int fd);
void rv_fork_remove_private(int fd);

#endif
