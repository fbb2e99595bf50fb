/*
 * zone.h - time zones: UTC, the local zone of the process, and those of the system's tzdata by name. Any thread.
 *
 * The local zone is the C library's: TZ, else the system's. A zone by name is read from the directory of the
 * environment variable TZDIR, else from /usr/share/zoneinfo, when it is first asked for, and stays in memory: a process
 * that runs on after an update of tzdata keeps the rules that it knows, as with the local zone.
 */
#ifndef RV_ZONE_H
#define RV_ZONE_H

#include <stdint.h>

#include "base/error.h"

#define RV_ZONE_NAME_MAX 64
#define RV_ZONES_MAX 1024 /* zones by name in one process; tzdata has some 600 names */

/* One of these, or a zone that rv_zone_find returned. */
typedef int rv_zone;
enum { RV_ZONE_UTC = 0, RV_ZONE_LOCAL = 1 };

/* "utc" and "local" in any case, else a name as "Europe/Berlin". REEVE_EINVAL: there is none of this name, or no
 * tzdata; REEVE_ENOMEM. ret is written on success only; error may be NULL. May read a file. */
reeve_status rv_zone_find(const char *name, rv_zone *ret, rv_error *error);

/* Its name: "utc", "local" or that of tzdata. */
const char *rv_zone_name(rv_zone zone);

/* Seconds east of Greenwich at a moment, in seconds since 1970. */
int64_t rv_zone_offset(rv_zone zone, int64_t moment);

#endif
