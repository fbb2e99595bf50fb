/*
 * process_memory.h - how much memory a process uses, from /proc.
 */
#ifndef RV_BASE_PROCESS_MEMORY_H
#define RV_BASE_PROCESS_MEMORY_H

#include <stdint.h>

/* The resident memory of a process in bytes; pid 0: of this one. 0: not known. Any thread. */
int64_t rv_process_memory(int pid);

#endif
