/*
 * clock.h - the one clock. Deadlines are absolute milliseconds on the monotonic clock; RV_FOREVER never comes.
 */
#ifndef RV_CLOCK_H
#define RV_CLOCK_H

#include <stdint.h>

#define RV_FOREVER INT64_MAX

int64_t rv_now_ms(void);                 /* monotonic */
int64_t rv_now_us(void);                 /* monotonic */
int64_t rv_wall_ms(void);                /* since the epoch; for logs and ids only */
int64_t rv_deadline(int64_t timeout_ms); /* now + timeout; negative: RV_FOREVER; saturates */
/* What poll(2) takes: milliseconds until the deadline, rounded up, 0 when it has passed, -1 for RV_FOREVER. */
int rv_poll_timeout(int64_t deadline);

#endif
