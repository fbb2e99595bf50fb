/*
 * backoff.h - retry arithmetic: pure functions of their arguments.
 */
#ifndef RV_RETRY_H
#define RV_RETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "reeve/task.h"

#define RV_MAX_ATTEMPTS 20
#define RV_MAX_CRASHES 3
#define RV_BACKOFF_BASE_MS 1000
#define RV_BACKOFF_CAP_MS 3600000
#define RV_BACKOFF_JITTER 0.2

/* Whether a backoff makes sense: REEVE_EINVAL with words when its shape is none, its list empty or negative, its jitter
 * no share. NULL is fine. */
reeve_status rv_backoff_check(const reeve_backoff *backoff, rv_error *error);

/* Whether any member is set. */
bool rv_backoff_is_given(const reeve_backoff *backoff);

/* How many delays its list has. */
size_t rv_backoff_list_count(const reeve_backoff *backoff);

/*
 * The delay before the attempt that follows the nth failure (n >= 1), in milliseconds, at least 0. unit is a random
 * number in [0, 1) that places the delay within its jitter. backoff NULL or zeroed: the defaults of task.h; negative
 * times mean the defaults too. The default cap gives way to a base_ms that is longer; a given cap does not. Jitter is
 * applied after the cap: the delay may exceed the cap by its share of jitter. Nothing overflows.
 */
int64_t rv_backoff_delay(const reeve_backoff *backoff, unsigned failures, double unit);

/* The same where a handler may have chosen the delay: asked_ms, unless it is negative. */
int64_t rv_backoff_choose(int64_t asked_ms, const reeve_backoff *backoff, unsigned failures, double unit);

/*
 * Before the nth try (n >= 1) at reconnecting: 50 ms doubling to 2 s, half of it jitter ("equal jitter", AWS
 * Architecture Blog, M. Brooker, 2015).
 */
int64_t rv_backoff_reconnect(unsigned tries, double unit);

#endif
