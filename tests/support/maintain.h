/*
 * maintain.h - a queue is maintained as a worker maintains it, a step at a time.
 */
#ifndef TEST_SUPPORT_MAINTAIN_H
#define TEST_SUPPORT_MAINTAIN_H

#include "protocol/fan_call.h"
#include "protocol/maintain_call.h"
#include "protocol/reap_call.h"

/* What a step did. */
typedef struct test_maintained {
    bool more; /* of any script that was called */
    int64_t next_in_ms;
    uint64_t promoted;
    uint64_t recovered;
    uint64_t trimmed;
    char session[64]; /* the dead session whose tasks went back, or "" */
    uint64_t outbox;  /* messages to other queues */
    const rv_reply *policy;
    int64_t result_max;
    rv_maintain_reply reply; /* of maintain.lua; pointers last until the next call */
} test_maintained;

/* One call of maintain.lua, and one of each script that its reply calls for. */
test_maintained test_maintain(const char *queue, unsigned max);
/* Until there is nothing more to do at once. */
void test_maintain_all(const char *queue);

/* One call of maintain.lua alone; and of the other scripts. */
rv_maintain_reply test_maintain_only(const char *queue, unsigned max);
rv_reap_reply test_reap(const char *queue, unsigned max);
rv_fan_reply test_fan(const char *queue, unsigned max);

#endif
