/* ut_doctor.c - what is found wrong with a Redis, by what it says of itself. */
#include <stdio.h>
#include <string.h>

#include "cli/verb_doctor.h"
#include "support/cmocka.h"

static const rv_checkup sound = {.version = "7.0.15",
                                 .major = 7,
                                 .role = "master",
                                 .mode = "standalone",
                                 .used_bytes = 1 << 20,
                                 .max_bytes = 100 << 20,
                                 .policy = "noeviction",
                                 .aof = 1,
                                 .save_known = true,
                                 .fsync = "everysec",
                                 .about_ms = 1,
                                 .user = "default"};

/* "problem:evicts warning:clock", of a Redis; each has words and advice. */
static const char *found(const rv_checkup *redis)
{
    static char text[256];
    cli_findings findings = {0};
    size_t length = 0;

    text[0] = '\0';
    cli_doctor_redis(&findings, redis, false);
    for (size_t i = 0; i < findings.count; i++) {
        const cli_finding *one = &findings.list[i];
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s:%s", i > 0 ? " " : "",
                                   one->level == CLI_PROBLEM ? "problem" : "warning", one->name);
        assert_true(strlen(one->text) > 10);
        assert_true(one->advice != NULL && strlen(one->advice) > 10);
    }
    assert_false(findings.failed);
    cli_findings_fini(&findings);
    return text;
}

#define FOUND(words, ...)                            \
    do {                                             \
        rv_checkup redis = sound;                    \
        __VA_ARGS__;                                 \
        assert_string_equal(found(&redis), (words)); \
    } while (0)

static void a_sound_one_has_none(void **state)
{
    (void)state;
    FOUND("", (void)0);
    FOUND("", redis.max_bytes = 0);
    FOUND("", redis.replicas = 2, redis.replicas_behind = 1);
    FOUND("", redis.ahead_ms = 900);
    FOUND("", redis.ahead_ms = 5000, redis.about_ms = 4001); /* (not known any better) */
    /* A user who may ask for nothing. */
    FOUND("", redis = (rv_checkup){.major = -1, .used_bytes = -1, .max_bytes = -1, .evicted = -1, .aof = -1});
}

static void what_is_wrong_is_found(void **state)
{
    (void)state;
    FOUND("problem:version", redis.major = 6);
    FOUND("problem:loading", redis.loading = true);
    FOUND("problem:replica", strcpy(redis.role, "slave"));
    FOUND("warning:replicas", redis.replicas = 1, redis.replicas_behind = 1);
    FOUND("warning:replicas", redis.replicas = 3, redis.replicas_behind = 3);
    FOUND("problem:evicts", strcpy(redis.policy, "allkeys-lru"));
    FOUND("warning:evicts", strcpy(redis.policy, "volatile-ttl"), redis.max_bytes = 0);
    FOUND("problem:evicted", redis.evicted = 1);
    FOUND("warning:memory", redis.used_bytes = 75 << 20);
    FOUND("problem:memory", redis.used_bytes = 90 << 20);
    FOUND("problem:volatile", redis.aof = 0);
    FOUND("warning:saves_only", redis.aof = 0, strcpy(redis.save, "3600 1"));
    FOUND("warning:saves_only", redis.aof = 0, redis.save_known = false);
    FOUND("warning:fsync", strcpy(redis.fsync, "no"));
    FOUND("problem:append_failed", redis.aof_failed = true);
    FOUND("problem:save_failed", redis.save_failed = true);
    FOUND("warning:clock", redis.ahead_ms = 1500);
    FOUND("warning:clock", redis.ahead_ms = -90000);
}

static void info_is_read(void **state)
{
    rv_checkup redis = {.major = -1};
    (void)state;
    rv_checkup_read_info(
        &redis, "# Server\r\nredis_version:7.2.4\r\nredis_mode:cluster\r\n\r\n# Memory\r\nused_memory:12345\r\n"
                "used_memory_human:12K\r\nmaxmemory:99999999999\r\nmaxmemory_policy:volatile-lru\r\n"
                "loading:1\r\naof_enabled:1\r\naof_last_write_status:err\r\nrdb_last_bgsave_status:ok\r\n"
                "role:slave\r\nmaster_link_status:down\r\nevicted_keys:7\r\nno colon\r\nlast:");
    assert_string_equal(redis.version, "7.2.4");
    assert_int_equal(redis.major, 7);
    assert_int_equal(redis.minor, 2);
    assert_string_equal(redis.mode, "cluster");
    assert_string_equal(redis.role, "slave");
    assert_string_equal(redis.link, "down");
    assert_string_equal(redis.policy, "volatile-lru");
    assert_int_equal(redis.used_bytes, 12345);
    assert_int_equal(redis.max_bytes, 99999999999);
    assert_int_equal(redis.evicted, 7);
    assert_true(redis.loading && redis.aof == 1 && redis.aof_failed && !redis.save_failed);
    redis = (rv_checkup){.major = -1};
    rv_checkup_read_info(
        &redis, "role:master\nconnected_slaves:4\nslave0:ip=a,port=1,state=online,offset=5,lag=0\n"
                "slave1:ip=b,port=1,state=wait_bgsave,offset=0,lag=0\nslave_repl_offset:7\n"
                "slave2:ip=c,port=1,state=online,offset=5,lag=11\nslave3:ip=d,port=1,state=online,offset=5,lag=x\n"
                "slave4:ip=e,port=1,state=online,offset=5,lag=0,io-thread=0\n"
                "slave5:ip=f,port=1,state=online,offset=5,lag=12,type=replica\n");
    assert_int_equal(redis.replicas, 6);
    assert_int_equal(redis.replicas_behind, 4);
    /* What makes no sense says nothing. */
    redis = (rv_checkup){.major = -1, .used_bytes = -1};
    rv_checkup_read_info(&redis, "redis_version:x\nused_memory:-5\nused_memory:99999999999999999999\n:\n::\n\n");
    assert_int_equal(redis.used_bytes, -1);
    assert_int_equal(redis.major, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_sound_one_has_none), cmocka_unit_test(what_is_wrong_is_found),
                                       cmocka_unit_test(info_is_read)};

    return cmocka_run_group_tests_name("ut_doctor", tests, NULL, NULL);
}
