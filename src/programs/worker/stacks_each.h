/*
 * stacks_each.h - the stacks of threads, one by one, for those that print them.
 */
#ifndef HOST_STACKS_EACH_H
#define HOST_STACKS_EACH_H

#include "running/flight.h"

/* A thread's stack, valid during a call. */
typedef struct host_stack {
    char thread[40];
    int64_t number;
    const rv_flight_stack *stack;
    const char *frames; /* "": it gave none */
    int64_t for_ms;
} host_stack;

typedef void (*host_stack_fn)(const host_stack *of, void *user);

/* Asks the threads of this process, and of its runners, as host_stacks_json does, and calls `each` for every one.
 * Returns NULL, or in words why there is none. */
const char *host_stacks_each(const char *thread, host_stack_fn each, void *user, size_t *ret_left_out);

/* Writes one to the log. A host_stack_fn; user is not used. */
void host_stacks_log_one(const host_stack *of, void *user);

#endif
