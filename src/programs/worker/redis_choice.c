#include "redis_choice.h"

#include <stdio.h>
#include <stdlib.h>

#include "redis/secret.h"

static bool fail(const char *where, const rv_error *why)
{
    (void)fprintf(stderr, "reeve-worker: %s: %s\n", where, why->text);
    return false;
}

static bool take_file(host_redis *ret, const char *file)
{
    rv_error why;

    if (rv_secret_read(&ret->secret, file, &why) != REEVE_OK) return fail("--redis-file", &why);
    if (!rv_config_check_redis(ret->secret, &why)) return fail("--redis-file", &why);
    ret->url = ret->secret;
    return true;
}

static bool take_text(host_redis *ret, const char *url, const char *where)
{
    rv_error why;

    ret->url = url;
    return rv_config_check_redis(url, &why) || fail(where, &why);
}

static bool take_configured(host_redis *ret, const rv_config *config)
{
    char *password;
    rv_error why = {0};

    ret->url = config->redis;
    if (config->redis_password_file == NULL) return true;
    if (config->redis == NULL) {
        (void)rv_fail(&why, REEVE_EINVAL, "needs redis, the URL that the password is for");
        return fail("redis_password_file", &why);
    }
    if (rv_secret_read(&password, config->redis_password_file, &why) != REEVE_OK)
        return fail("redis_password_file", &why);
    reeve_status status = rv_secret_in_url(&ret->secret, config->redis, password, &why);
    rv_secret_free(password);
    ret->url = ret->secret;
    return status == REEVE_OK || fail("redis_password_file", &why);
}

bool host_redis_choose(host_redis *ret, const host_options *options, const rv_config *config)
{
    const char *environment = getenv("REEVE_REDIS");

    *ret = (host_redis){0};
    if (options->redis != NULL) return take_text(ret, options->redis, "--redis");
    if (options->redis_file != NULL) return take_file(ret, options->redis_file);
    if (environment != NULL && *environment != '\0') return take_text(ret, environment, "REEVE_REDIS");
    return take_configured(ret, config);
}

void host_redis_fini(host_redis *redis)
{
    rv_secret_free(redis->secret);
    *redis = (host_redis){0};
}
