/*
 * redis_choice.h - which Redis the worker works on.
 */
#ifndef HOST_REDIS_CHOICE_H
#define HOST_REDIS_CHOICE_H

#include "config/config.h"
#include "options.h"

typedef struct host_redis {
    const char *url; /* NULL: none is named */
    char *secret;    /* owned: what a file says */
} host_redis;

/*
 * The flags, the environment, the configuration, in this order. False: it is no URL that can be used, or a file
 * cannot be read; standard error has the words. (The configuration's URL was looked at when that was read.)
 */
bool host_redis_choose(host_redis *ret, const host_options *options, const rv_config *config);
void host_redis_fini(host_redis *redis);

#endif
