/*
 * cron_clock.h - what a clock on a wall shows when an entry is due: dates and times of day, without zones.
 *
 * "Shown" is what such a clock shows, counted in seconds as if it were UTC since 1970. Each day has 86400 of them.
 */
#ifndef RV_CRON_CLOCK_H
#define RV_CRON_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cron.h"

/* The first that matches in [from, until], and the last. False: none does; ret is as it was. Years 1 to 9999 and about.
 */
bool rv_cron_clock_first_shown(const rv_cron *cron, int64_t from, int64_t until, int64_t *ret);
bool rv_cron_clock_last_shown(const rv_cron *cron, int64_t from, int64_t until, int64_t *ret);

#endif
