/*
 * landlock.h - Landlock by its system calls: the headers of older systems lack them.
 */
#ifndef HOST_LANDLOCK_H
#define HOST_LANDLOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct host_landlock {
    int fd;
    int version;
    uint64_t files; /* the rights that are handled: all others are not limited */
    bool has_network;
} host_landlock;

/* False: this kernel has no Landlock, or none for what is asked. Also keeps signals within the process and its children,
 * where the kernel can. */
bool host_landlock_begin(host_landlock *ret, bool files, bool network);

/* Allows reading (and executing), or all, below a path. False: errno. */
bool host_landlock_allow(const host_landlock *rules, const char *path, bool writable);

/* From now on, for the calling thread and those that it starts. Frees the rules. */
bool host_landlock_enforce(host_landlock *rules);

#endif
