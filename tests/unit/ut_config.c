/* ut_config.c - a worker's configuration: what a good file becomes. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/cmocka.h"
#include "support/config.h"
#include "support/dirs.h"

static void test_defaults(void **state)
{
    (void)state;
    rv_config *config = test_config(TEST_POOL);

    assert_string_equal(config->file, "good.conf");
    assert_null(config->redis);
    assert_string_equal(config->ns, "reeve");
    assert_null(config->worker.name);
    assert_int_equal(config->worker.session_ms, 15000);
    assert_int_equal(config->worker.drain_ms, 25000);
    assert_int_equal(config->worker.log_level, REEVE_LOG_INFO);
    assert_int_equal(config->worker.log_format, RV_LOG_LOGFMT);
    assert_null(config->plugin_dir);
    assert_int_equal(config->plugin_count, 0);
    assert_int_equal(config->pool_count, 1);
    assert_null(config->pools[0].name);
    assert_int_equal(config->pools[0].threads.max, 0);
    assert_int_equal(config->pools[0].batch, 128);
    assert_int_equal(config->pools[0].batch_time_ms, 0);
    assert_int_equal(config->pools[0].order, REEVE_ORDER_STRICT);
    assert_int_equal(config->handler_count, 0);
    assert_int_equal(config->queue_count, 0);
    rv_config_free(config);
}

static void test_everything(void **state)
{
    (void)state;
    rv_config *config = test_config(
        "redis = \"redis://user:pw@localhost:6380/2\";\n"
        "namespace = \"acme:prod\";\n"
        "worker = { name = \"media-1\"; session = 7.5; drain = 0;\n"
        "           log = { level = \"debug\"; format = \"json\"; }; };\n"
        "plugin_dir = \"/opt/acme\";\n"
        "plugins = [ \"checksum\",\n"
        "  \"/opt/thumbs.so\" ];\n"
        "pools = ( { name = \"fast\"; queues = [ \"critical\", \"default\" ]; threads = 8;\n"
        "            batch = 1; batch_time = 0.02; order = \"strict\"; isolation = \"thread\"; },\n"
        "          { queues = ( \"thumbs\" ); threads = { min = 2; max = 32; }; target_wait = 0.2; nice = 5; } );\n"
        "handlers = ( { type = \"a/b:c\"; attempts = 5; max_crashes = 2; timeout = 0.25; retry_for = 90;\n"
        "               batch_size = 200; batch_wait = 0.5; } );\n"
        "queues = ( { name = \"q\"; } );\n");

    assert_string_equal(config->redis, "redis://user:pw@localhost:6380/2");
    assert_string_equal(config->ns, "acme:prod");
    assert_string_equal(config->worker.name, "media-1");
    assert_int_equal(config->worker.session_ms, 7500);
    assert_int_equal(config->worker.drain_ms, 0);
    assert_int_equal(config->worker.log_level, REEVE_LOG_DEBUG);
    assert_int_equal(config->worker.log_format, RV_LOG_JSON);
    assert_string_equal(config->plugin_dir, "/opt/acme");
    assert_int_equal(config->plugin_count, 2);
    assert_string_equal(config->plugins[1].name, "/opt/thumbs.so");
    assert_string_equal(config->plugins[1].where, "good.conf:7");
    assert_int_equal(config->pool_count, 2);
    assert_string_equal(config->pools[0].name, "fast");
    assert_int_equal(config->pools[0].queue_count, 2);
    assert_string_equal(config->pools[0].queues[1].text, "default");
    assert_int_equal(config->pools[0].threads.max, 8);
    assert_int_equal(config->pools[0].threads.min, 0);
    assert_int_equal(config->pools[0].batch, 1);
    assert_int_equal(config->pools[0].batch_time_ms, 20);
    assert_string_equal(config->pools[1].queues[0].text, "thumbs");
    assert_int_equal(config->pools[1].threads.min, 2);
    assert_int_equal(config->pools[1].threads.max, 32);
    assert_int_equal(config->pools[1].target_wait_ms, 200);
    assert_int_equal(config->pools[1].shrink_after_ms, 0);
    assert_int_equal(config->pools[1].nice, 5);
    assert_string_equal(config->handlers[0].type, "a/b:c");
    assert_string_equal(config->handlers[0].where, "good.conf:11");
    assert_int_equal(config->handlers[0].attempts, 5);
    assert_int_equal(config->handlers[0].max_crashes, 2);
    assert_int_equal(config->handlers[0].timeout_ms, 250);
    assert_int_equal(config->handlers[0].retry_for_ms, 90000);
    assert_int_equal(config->handlers[0].batch_size, 200);
    assert_int_equal(config->handlers[0].batch_wait_ms, 500);
    assert_false(config->handlers[0].has_backoff);
    assert_string_equal(config->queues[0].name, "q");
    assert_false(config->queues[0].settings.given[RV_QUEUE_KEEP_COMPLETED_AGE]);
    assert_false(config->queues[0].settings.given[RV_QUEUE_KEEP_DEAD_COUNT]);
    rv_config_free(config);
}

static void test_orders(void **state)
{
    (void)state;
    rv_config *config =
        test_config("pools = ( { queues = [ \"a\", \"b\" ]; order = \"weighted\"; weights = [ 1000, 1 ]; },\n"
                    "  { queues = [ \"a\" ]; order = \"weighted\"; },\n"
                    "  { queues = [ \"a\" ]; order = \"round-robin\"; } );\n");
    const rv_config_pool *pools = config->pools;

    assert_int_equal(pools[0].order, REEVE_ORDER_WEIGHTED);
    assert_int_equal(pools[0].weight_count, 2);
    assert_int_equal(pools[0].weights[0].number, 1000);
    assert_int_equal(pools[0].weights[1].number, 1);
    assert_string_equal(pools[0].weights[1].where, "good.conf:1");
    assert_int_equal(pools[1].order, REEVE_ORDER_WEIGHTED);
    assert_int_equal(pools[1].weight_count, 0);
    assert_int_equal(pools[2].order, REEVE_ORDER_ROUND_ROBIN);
    rv_config_free(config);
}

static void test_backoff(void **state)
{
    (void)state;
    rv_config *config = test_config(
        TEST_POOL
        "handlers = ( { type = \"none\"; }, { type = \"empty\"; backoff = { }; },\n"
        "  { type = \"all\"; backoff = { shape = \"fixed\"; base = 1.5; cap = 60; jitter = 0.5; }; },\n"
        "  { type = \"calm\"; backoff = { jitter = 0; }; }, { type = \"wild\"; backoff = { jitter = 1; }; } );\n");
    const rv_config_handler *handlers = config->handlers;

    assert_false(handlers[0].has_backoff);
    assert_true(handlers[1].has_backoff);
    assert_int_equal(handlers[1].backoff.shape, REEVE_BACKOFF_EXPONENTIAL);
    assert_int_equal(handlers[1].backoff.base_ms, 0);
    assert_int_equal(handlers[1].backoff.cap_ms, 0);
    assert_true(handlers[1].backoff.jitter == 0);
    assert_int_equal(handlers[2].backoff.shape, REEVE_BACKOFF_FIXED);
    assert_int_equal(handlers[2].backoff.base_ms, 1500);
    assert_int_equal(handlers[2].backoff.cap_ms, 60000);
    assert_true(handlers[2].backoff.jitter == 0.5);
    assert_true(handlers[3].backoff.jitter < 0); /* none, as the library wants it */
    assert_true(handlers[4].backoff.jitter == 1);
    rv_config_free(config);
}

static void test_lists(void **state)
{
    (void)state;
    rv_config *config = test_config(
        TEST_POOL
        "handlers = ( { type = \"a\"; backoff = { shape = \"list\"; list = [ 1.0, 5.5, 60.0 ]; jitter = 0; }; },\n"
        "  { type = \"b\"; backoff = { list = ( 7, 0.25 ); shape = \"list\"; }; },\n"
        "  { type = \"c\"; backoff = { shape = \"list\"; list = [ 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 ]; }; } );\n");

    assert_int_equal(config->handlers[0].backoff.shape, REEVE_BACKOFF_LIST);
    assert_int_equal(config->handlers[0].backoff.list_ms[0], 1000);
    assert_int_equal(config->handlers[0].backoff.list_ms[1], 5500);
    assert_int_equal(config->handlers[0].backoff.list_ms[2], 60000);
    assert_int_equal(config->handlers[0].backoff.list_ms[3], 0);
    assert_true(config->handlers[0].backoff.jitter < 0);
    assert_int_equal(config->handlers[1].backoff.list_ms[0], 7000);
    assert_int_equal(config->handlers[1].backoff.list_ms[1], 250);
    assert_int_equal(config->handlers[2].backoff.list_ms[15], 16000);
    rv_config_free(config);
}

static void test_policies_of_queues(void **state)
{
    (void)state;
    rv_config *config = test_config(
        TEST_POOL "queues = ( { name = \"a\"; }, { name = \"b\"; attempts = 5; max_crashes = 2; timeout = 1.5;\n"
                  "    backoff = { shape = \"list\"; list = [ 3 ]; }; },\n"
                  "  { name = \"c\"; backoff = { shape = \"fixed\"; base = 2; cap = 9; jitter = 0.5; }; } );\n");
    const rv_config_queue *queues = config->queues;

    assert_int_equal(queues[0].settings.number[RV_QUEUE_ATTEMPTS] + queues[0].settings.number[RV_QUEUE_MAX_CRASHES] +
                         queues[0].settings.number[RV_QUEUE_TIMEOUT],
                     0);
    assert_false(queues[0].settings.given[RV_QUEUE_BACKOFF]);
    assert_int_equal(queues[1].settings.number[RV_QUEUE_ATTEMPTS], 5);
    assert_int_equal(queues[1].settings.number[RV_QUEUE_MAX_CRASHES], 2);
    assert_int_equal(queues[1].settings.number[RV_QUEUE_TIMEOUT], 1500);
    assert_true(queues[1].settings.given[RV_QUEUE_BACKOFF]);
    assert_int_equal(queues[1].settings.backoff.list_ms[0], 3000);
    assert_false(queues[1].settings.given[RV_QUEUE_KEEP_COMPLETED_AGE]);
    assert_int_equal(queues[2].settings.backoff.shape, REEVE_BACKOFF_FIXED);
    assert_int_equal(queues[2].settings.backoff.base_ms, 2000);
    assert_int_equal(queues[2].settings.backoff.cap_ms, 9000);
    assert_true(queues[2].settings.backoff.jitter == 0.5);
    rv_config_free(config);
}

static void test_keep(void **state)
{
    (void)state;
    rv_config *config = test_config(
        TEST_POOL "queues = ( { name = \"a\"; keep = { completed = { age = 0.5; }; }; },\n"
                  "  { name = \"b\"; keep = { dead = { age = -1; count = -1; }; }; },\n"
                  "  { name = \"c\"; keep = { completed = { count = 0; }; dead = { }; stats = { days = 0; }; }; },\n"
                  "  { name = \"d\"; keep = { stats = { }; }; } );\n");
    const rv_config_queue *queues = config->queues;

    assert_true(queues[0].settings.given[RV_QUEUE_KEEP_COMPLETED_AGE]);
    assert_false(queues[0].settings.given[RV_QUEUE_KEEP_DEAD_COUNT]);
    assert_int_equal(queues[0].settings.number[RV_QUEUE_KEEP_COMPLETED_AGE], 500);
    assert_int_equal(queues[0].settings.number[RV_QUEUE_KEEP_COMPLETED_COUNT], 10000);
    assert_false(queues[1].settings.given[RV_QUEUE_KEEP_COMPLETED_AGE]);
    assert_true(queues[1].settings.given[RV_QUEUE_KEEP_DEAD_COUNT]);
    assert_int_equal(queues[1].settings.number[RV_QUEUE_KEEP_DEAD_AGE], -1);
    assert_int_equal(queues[1].settings.number[RV_QUEUE_KEEP_DEAD_COUNT], -1);
    assert_int_equal(queues[2].settings.number[RV_QUEUE_KEEP_COMPLETED_AGE], 86400000);
    assert_int_equal(queues[2].settings.number[RV_QUEUE_KEEP_COMPLETED_COUNT], 0);
    assert_int_equal(queues[2].settings.number[RV_QUEUE_KEEP_DEAD_AGE], 7776000000);
    assert_int_equal(queues[2].settings.number[RV_QUEUE_KEEP_DEAD_COUNT], 10000);
    assert_false(queues[1].settings.given[RV_QUEUE_KEEP_STATS_DAYS]);
    assert_true(queues[2].settings.given[RV_QUEUE_KEEP_STATS_DAYS]);
    assert_int_equal(queues[2].settings.number[RV_QUEUE_KEEP_STATS_DAYS], 0);
    assert_true(queues[3].settings.given[RV_QUEUE_KEEP_STATS_DAYS]);
    assert_int_equal(queues[3].settings.number[RV_QUEUE_KEEP_STATS_DAYS], 30);
    rv_config_free(config);
}

static void test_sizes(void **state)
{
    (void)state;
    rv_config *config = test_config(
        TEST_POOL
        "worker = { size_limits = { payload = 1; result = 16777216; batch = 1000; parents = 1000000000; }; };\n"
        "queues = ( { name = \"a\"; result_max = 16777216; keep = { completed = { bytes = 1; }; }; },\n"
        "  { name = \"b\"; result_max = -1; keep = { completed = { bytes = -1; }; }; },\n"
        "  { name = \"c\"; keep = { completed = { bytes = 1000000000000000L; }; }; },\n"
        "  { name = \"d\"; keep = { completed = { age = 1; }; }; } );\n");
    const rv_config_queue *queues = config->queues;
    const reeve_size_limits *size_limits = &config->worker.size_limits;

    assert_int_equal(size_limits->payload, 1);
    assert_int_equal(size_limits->result, 16777216);
    assert_int_equal(size_limits->batch, 1000);
    assert_int_equal(size_limits->parents, 1000000000);
    assert_int_equal(size_limits->checkpoint, 0);
    assert_int_equal(queues[0].settings.number[RV_QUEUE_RESULT_MAX], 16777216);
    assert_int_equal(queues[0].settings.number[RV_QUEUE_KEEP_COMPLETED_BYTES], 1);
    assert_int_equal(queues[0].settings.number[RV_QUEUE_KEEP_COMPLETED_COUNT], 10000);
    assert_int_equal(queues[1].settings.number[RV_QUEUE_RESULT_MAX], -1);
    assert_int_equal(queues[1].settings.number[RV_QUEUE_KEEP_COMPLETED_BYTES], -1);
    assert_int_equal(queues[2].settings.number[RV_QUEUE_RESULT_MAX], 0);
    assert_int_equal(queues[2].settings.number[RV_QUEUE_KEEP_COMPLETED_BYTES], 1000000000000000);
    assert_int_equal(queues[3].settings.number[RV_QUEUE_KEEP_COMPLETED_BYTES], -1);
    rv_config_free(config);
}

static void test_includes(void **state)
{
    (void)state;
    assert_int_equal(mkdir("sub", 0700), 0);
    assert_int_equal(mkdir("sub/more", 0700), 0);
    test_write_text("sub/pools.conf", "# 99999999999\n" TEST_POOL "@include \"more/worker.conf\"\n");
    test_write_text("sub/more/worker.conf", "worker = { name = \"n\"; };\n");
    test_write_text("sub/main.conf", "@include \"pools.conf\"\nnamespace = \"x\";\n");
    rv_config_errors errors;
    rv_config *config;

    rv_config_errors_init(&errors);
    assert_int_equal(rv_config_load("sub/main.conf", &config, &errors), REEVE_OK);
    assert_string_equal(config->pools[0].where, "sub/pools.conf:2");
    assert_string_equal(config->worker.name, "n");
    assert_string_equal(config->ns, "x");
    rv_config_free(config);
    rv_config_errors_fini(&errors);
}

/* Numbers that only look too large: in comments, strings, names, floats, and with an L. */
static void test_large_numbers_elsewhere(void **state)
{
    (void)state;
    rv_config *config =
        test_config("/* 99999999999\n */ // 99999999999\n" TEST_POOL
                    "worker = { name = \"99999999999 \\\" 99999999999\"; session = 86.4e3; };\n"
                    "queues = ( { name = \"q\"; keep = { dead = { age = 2000000000; count = 1000000000L; };\n"
                    "  completed = { count = 0x3b9aca00; }; }; } );\n"
                    "handlers = ( { type = \"t\"; timeout = 1999999999.5; } );\n");

    assert_string_equal(config->worker.name, "99999999999 \" 99999999999");
    assert_int_equal(config->worker.session_ms, 86400000);
    assert_int_equal(config->queues[0].settings.number[RV_QUEUE_KEEP_DEAD_AGE], 2000000000000);
    assert_int_equal(config->queues[0].settings.number[RV_QUEUE_KEEP_DEAD_COUNT], 1000000000);
    assert_int_equal(config->handlers[0].timeout_ms, 1999999999500);
    rv_config_free(config);
}

static void test_limits(void **state)
{
    (void)state;
    rv_config *config =
        test_config(TEST_POOL "queues = ( { name = \"a\"; },\n"
                              "  { name = \"b\"; concurrency = 16; on_dead = \"told\"; events = 500;\n"
                              "    rate = { count = 100; period = 0.5; burst = 20; };\n"
                              "    group = { concurrency = 1; rate = { count = 5; }; }; },\n"
                              "  { name = \"c\"; concurrency = -1; on_dead = \"\"; rate = { count = -1; };\n"
                              "    events = -1;\n"
                              "    group = { concurrency = -1; rate = { count = -1; }; }; } );\n");
    const rv_config_queue *queues = config->queues;

    assert_int_equal(queues[0].settings.number[RV_QUEUE_CONCURRENCY], 0);
    assert_int_equal(queues[0].settings.number[RV_QUEUE_GROUP_CONCURRENCY], 0);
    assert_false(queues[0].has_rate || queues[0].has_group_rate);
    assert_null(queues[0].settings.text[RV_QUEUE_ON_DEAD]);
    assert_int_equal(queues[0].settings.number[RV_QUEUE_EVENTS], 0);
    assert_int_equal(queues[1].settings.number[RV_QUEUE_EVENTS], 500);
    assert_int_equal(queues[2].settings.number[RV_QUEUE_EVENTS], -1);
    assert_int_equal(queues[1].settings.number[RV_QUEUE_CONCURRENCY], 16);
    assert_true(queues[1].has_rate && queues[1].has_group_rate);
    assert_int_equal(queues[1].rate.count, 100);
    assert_int_equal(queues[1].rate.period_ms, 500);
    assert_int_equal(queues[1].rate.burst, 20);
    assert_int_equal(queues[1].settings.number[RV_QUEUE_GROUP_CONCURRENCY], 1);
    assert_int_equal(queues[1].group_rate.count, 5);
    assert_int_equal(queues[1].group_rate.period_ms, 1000);
    assert_int_equal(queues[1].group_rate.burst, 0);
    assert_string_equal(queues[1].settings.text[RV_QUEUE_ON_DEAD], "told");
    assert_int_equal(queues[2].settings.number[RV_QUEUE_CONCURRENCY], -1);
    assert_int_equal(queues[2].rate.count, -1);
    assert_int_equal(queues[2].settings.number[RV_QUEUE_GROUP_CONCURRENCY], -1);
    assert_int_equal(queues[2].group_rate.count, -1);
    assert_string_equal(queues[2].settings.text[RV_QUEUE_ON_DEAD], "");
    rv_config_free(config);
}

/* Paths are relative to the file, wherever the program runs. */
static void test_relative_paths(void **state)
{
    (void)state;
    rv_config_errors errors;
    rv_config *config;

    assert_int_equal(mkdir("conf", 0755), 0);
    test_write_text("conf/good.conf",
                    "pools = ( { queues = [ \"a\" ]; isolation = \"process\"; runner = { scratch = \"tmp\"; }; } );\n"
                    "worker = { health = \"health\"; crash_dir = \"crashes\"; log = { file = \"/var/w.log\"; }; };\n"
                    "plugins = [ \"checksum\", \"../say.so\" ];\n"
                    "tls = { ca = \"ca.pem\"; ca_dir = \"cas\"; cert = \"c.pem\"; key = \"/etc/c.key\"; };\n"
                    "web = { listen = \"unix:web.sock\"; cert = \"w.pem\"; key = \"w.key\"; };\n"
                    "metrics = { listen = \"127.0.0.1:9420\"; };\n");
    rv_config_errors_init(&errors);
    assert_int_equal(rv_config_load("conf/good.conf", &config, &errors), REEVE_OK);
    assert_string_equal(config->worker.health, "conf/health");
    assert_string_equal(config->worker.crash_dir, "conf/crashes");
    assert_string_equal(config->worker.log_file, "/var/w.log");
    assert_string_equal(config->plugins[0].name, "checksum");
    assert_string_equal(config->plugins[1].name, "conf/../say.so");
    assert_string_equal(config->pools[0].runner.scratch, "conf/tmp");
    assert_string_equal(config->tls.ca, "conf/ca.pem");
    assert_string_equal(config->tls.ca_dir, "conf/cas");
    assert_string_equal(config->tls.cert, "conf/c.pem");
    assert_string_equal(config->tls.key, "/etc/c.key");
    assert_string_equal(config->web.listen, "unix:conf/web.sock");
    assert_string_equal(config->web.cert, "conf/w.pem");
    assert_string_equal(config->metrics.listen, "127.0.0.1:9420");
    rv_config_free(config);
    rv_config_errors_fini(&errors);
}

#define TEN "0123456789"
#define FIFTY TEN TEN TEN TEN TEN

/* The path of a socket that fits, until the directory of the file is before it. */
static void test_long_sockets(void **state)
{
    (void)state;
    rv_config_errors errors;
    rv_config *config;

    assert_int_equal(mkdir(FIFTY, 0755), 0);
    test_write_text(FIFTY "/a.conf", "pools = ( { queues = [ \"a\" ]; } );\n"
                                     "worker = { health = \"" FIFTY "1234567\"; };\n"
                                     "web = {\n  listen = \"unix:" FIFTY "1234567\"; };\n"
                                     "metrics = { listen = \"unix:" FIFTY "123456\"; };\n");
    rv_config_errors_init(&errors);
    assert_int_equal(rv_config_load(FIFTY "/a.conf", &config, &errors), REEVE_EINVAL);
    assert_null(config);
#define TOO_LONG(where)                                                                           \
    FIFTY "/a.conf:" where ": the path of a socket has at most 107 bytes, and \"" FIFTY "/" FIFTY \
          "1234567\" has 108: choose a shorter one\n"
    assert_string_equal(rv_buf_text(&errors.text), TOO_LONG("2: worker.health") TOO_LONG("4: web.listen"));
    rv_config_errors_fini(&errors);
}

/* Fails the first allocation, then the second, until nothing is left to fail. */
static void test_no_memory(void **state)
{
    (void)state;
    rv_config_errors errors;
    rv_config *config;
    reeve_status status;
    unsigned long nth = 0;

    test_write_text("good.conf", "pools = ( { queues = [ \"a\" ]; order = \"weighted\"; weights = [ 2 ]; } );\n"
                                 "worker = { name = \"w\"; };\nplugins = [ \"p\" ];\n"
                                 "metrics = { listen = \"unix:m\"; };\n"
                                 "handlers = ( { type = \"t\"; backoff = { base = 1; }; } );\n");
    do {
        rv_config_errors_init(&errors);
        (void)rv_mem_fail_at(++nth);
        status = rv_config_load("good.conf", &config, &errors);
        (void)rv_mem_fail_at(0);
        if (status != REEVE_OK) assert_null(config);
        assert_true(status == REEVE_OK || status == REEVE_ENOMEM);
        rv_config_errors_fini(&errors);
    } while (status != REEVE_OK);
    assert_string_equal(config->handlers[0].where, "good.conf:5");
    assert_true(nth > 10);
    rv_config_free(config);
}

static void test_free_null(void **state)
{
    (void)state;
    rv_config_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),       cmocka_unit_test(test_everything),
        cmocka_unit_test(test_orders),         cmocka_unit_test(test_backoff),
        cmocka_unit_test(test_lists),          cmocka_unit_test(test_policies_of_queues),
        cmocka_unit_test(test_keep),           cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_includes),       cmocka_unit_test(test_large_numbers_elsewhere),
        cmocka_unit_test(test_limits),         cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_relative_paths), cmocka_unit_test(test_long_sockets),
        cmocka_unit_test(test_free_null),
    };

    if (chdir(test_dir()) != 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
