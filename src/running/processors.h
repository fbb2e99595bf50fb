/*
 * processors.h - how many processors this process may use.
 */
#ifndef RV_RUNNING_PROCESSORS_H
#define RV_RUNNING_PROCESSORS_H

#include <stdint.h>

#include "base/error.h"

/* Those of its affinity mask, and no more than the processor time that its control group allows: with a quota of 150 ms
 * in 100 ms, two. At least 1. Reads files of /proc and /sys. */
unsigned rv_processors(void);

/* Whether a list of processors ("0-3,8"; NULL: all) names one that this process may use, and how many; *ret is at most
 * rv_processors(). REEVE_EINVAL: it is no list, or names none of them. */
reeve_status rv_processors_of(const char *cpus, unsigned *ret, rv_error *error);

/* For tests: how many processors a quota is; both in microseconds, at most 0: no limit (UINT32_MAX). */
unsigned rv_processors_quota(long long quota, long long period);

#endif
