/*
 * redis_clock.c - computes from a reply to TIME how far Redis's clock is ahead of the local monotonic clock.
 */
#include "redis/conn.h"

/* Far beyond any time that there is; what is larger would not fit when it is counted in ms. */
#define SECONDS_MAX 1000000000000

/* Rounded down, and without the way of the reply: what is reckoned from it is at no time ahead of Redis. */
void rv_redis_clock_note(rv_redis_clock *clock, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY)) return;
    int64_t seconds = rv_reply_int(rv_reply_at(reply, 0), -1), us = rv_reply_int(rv_reply_at(reply, 1), -1);
    if (seconds < 0 || seconds > SECONDS_MAX || us < 0 || us >= 1000000) return;
    clock->known = true;
    clock->noted_ms = rv_now_ms();
    clock->ahead_ms = seconds * 1000 + us / 1000 - clock->noted_ms - 1;
}
