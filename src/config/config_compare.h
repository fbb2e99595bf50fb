/*
 * config_compare.h - how two configurations differ, setting by setting, and the exchange of settings between them.
 */
#ifndef RV_CONFIG_COMPARE_H
#define RV_CONFIG_COMPARE_H

#include "config/config.h"

/* A difference. The texts are valid during the call. */
typedef struct rv_config_difference {
    const char *row;  /* the setting's path in the table: "pools[].threads"; "pools" for a pool that comes or goes */
    const char *path; /* the same with the names of list elements: "pools.fast.threads" */
    const char *from; /* as the file would have it; "not set"; "absent": the list has no such element */
    const char *to;
} rv_config_difference;

/*
 * Calls `take` for each setting whose value differs. Elements of lists are compared by their name or type, whatever
 * their order in the file; a difference of the order alone is none. Values that may be secret (`redis`, options of
 * plugins) are not told: from is "..." and to is "another value". REEVE_ENOMEM: not all were told.
 */
reeve_status rv_config_compare(const rv_config *before, const rv_config *after,
                               void (*take)(const rv_config_difference *difference, void *context), void *context);

/* Whether a row's path is `path` or stands below it: "pools[].threads" below "pools". */
bool rv_config_compare_is_below(const char *row, const char *path);

/* Whether two elements of a list ("pools"), structs as rv_config_pool, have the same values. */
bool rv_config_compare_is_same(const char *list, const void *one, const void *other);

/* Exchanges the values of a setting, and of all settings below it: "pools", "worker.log". */
void rv_config_compare_exchange(rv_config *one, rv_config *other, const char *path);

#endif
