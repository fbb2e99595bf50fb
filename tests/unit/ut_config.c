/* ut_config.c - a worker's configuration: what a good file becomes, and the exact words about every kind of bad one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/config.h"
#include "support/cmocka.h"
#include "support/dirs.h"

#define POOL "pools = ( { queues = [ \"a\" ]; } );\n"

static void write_file(const char *name, const char *text, size_t length)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void write_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

static rv_config *loaded(const char *text)
{
    rv_config_errors errors;
    rv_config *config = NULL;

    write_text("good.conf", text);
    rv_config_errors_init(&errors);
    reeve_status status = rv_config_load("good.conf", &config, &errors);
    if (status != REEVE_OK) fail_msg("%s: %s", reeve_status_text(status), rv_buf_text(&errors.text));
    assert_int_equal(errors.count, 0);
    rv_config_errors_fini(&errors);
    return config;
}

/* The file is refused with exactly these lines. */
static void refused_file(const char *name, reeve_status expected, const char *lines)
{
    rv_config_errors errors;
    rv_config *config = (rv_config *)&errors;

    rv_config_errors_init(&errors);
    assert_int_equal(rv_config_load(name, &config, &errors), expected);
    assert_null(config);
    assert_string_equal(rv_buf_text(&errors.text), lines);
    assert_true(errors.count > 0);
    rv_config_errors_fini(&errors);
}

static void refused(const char *text, const char *lines)
{
    write_text("bad.conf", text);
    refused_file("bad.conf", REEVE_EINVAL, lines);
}

/* ---- good files ------------------------------------------------------------------------------------------------ */

static void test_defaults(void **state)
{
    (void)state;
    rv_config *config = loaded(POOL);

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
    assert_int_equal(config->pools[0].threads, 1);
    assert_int_equal(config->pools[0].batch, 64);
    assert_int_equal(config->pools[0].order, REEVE_ORDER_STRICT);
    assert_int_equal(config->handler_count, 0);
    assert_int_equal(config->queue_count, 0);
    rv_config_free(config);
}

static void test_everything(void **state)
{
    (void)state;
    rv_config *config = loaded("redis = \"redis://user:pw@localhost:6380/2\";\n"
                               "namespace = \"acme:prod\";\n"
                               "worker = { name = \"media-1\"; session = 7.5; drain = 0;\n"
                               "           log = { level = \"debug\"; format = \"json\"; }; };\n"
                               "plugin_dir = \"/opt/acme\";\n"
                               "plugins = [ \"checksum\",\n"
                               "  \"/opt/thumbs.so\" ];\n"
                               "pools = ( { name = \"fast\"; queues = [ \"critical\", \"default\" ]; threads = 8;\n"
                               "            batch = 1; order = \"strict\"; isolation = \"thread\"; },\n"
                               "          { queues = ( \"thumbs\" ); } );\n"
                               "handlers = ( { type = \"a/b:c\"; attempts = 5; max_crashes = 2; timeout = 0.25;\n"
                               "               many = 200; many_wait = 0.5; } );\n"
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
    assert_string_equal(config->plugins[1].text, "/opt/thumbs.so");
    assert_string_equal(config->plugins[1].where, "good.conf:7");
    assert_int_equal(config->pool_count, 2);
    assert_string_equal(config->pools[0].name, "fast");
    assert_int_equal(config->pools[0].queue_count, 2);
    assert_string_equal(config->pools[0].queues[1].text, "default");
    assert_int_equal(config->pools[0].threads, 8);
    assert_int_equal(config->pools[0].batch, 1);
    assert_string_equal(config->pools[1].queues[0].text, "thumbs");
    assert_string_equal(config->handlers[0].type, "a/b:c");
    assert_string_equal(config->handlers[0].where, "good.conf:11");
    assert_int_equal(config->handlers[0].attempts, 5);
    assert_int_equal(config->handlers[0].max_crashes, 2);
    assert_int_equal(config->handlers[0].timeout_ms, 250);
    assert_int_equal(config->handlers[0].many, 200);
    assert_int_equal(config->handlers[0].many_wait_ms, 500);
    assert_false(config->handlers[0].has_backoff);
    assert_string_equal(config->queues[0].name, "q");
    assert_false(config->queues[0].keeps_completed);
    assert_false(config->queues[0].keeps_dead);
    rv_config_free(config);
}

static void test_orders(void **state)
{
    (void)state;
    rv_config *config =
        loaded("pools = ( { queues = [ \"a\", \"b\" ]; order = \"weighted\"; weights = [ 1000, 1 ]; },\n"
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
    rv_config *config = loaded(
        POOL "handlers = ( { type = \"none\"; }, { type = \"empty\"; backoff = { }; },\n"
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
    rv_config *config = loaded(
        POOL "handlers = ( { type = \"a\"; backoff = { shape = \"list\"; list = [ 1.0, 5.5, 60.0 ]; jitter = 0; }; },\n"
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
    rv_config *config = loaded(
        POOL "queues = ( { name = \"a\"; }, { name = \"b\"; attempts = 5; max_crashes = 2; timeout = 1.5;\n"
             "    backoff = { shape = \"list\"; list = [ 3 ]; }; },\n"
             "  { name = \"c\"; backoff = { shape = \"fixed\"; base = 2; cap = 9; jitter = 0.5; }; } );\n");
    const rv_config_queue *queues = config->queues;

    assert_int_equal(queues[0].attempts + queues[0].max_crashes + queues[0].timeout_ms, 0);
    assert_false(queues[0].has_backoff);
    assert_int_equal(queues[1].attempts, 5);
    assert_int_equal(queues[1].max_crashes, 2);
    assert_int_equal(queues[1].timeout_ms, 1500);
    assert_true(queues[1].has_backoff);
    assert_int_equal(queues[1].backoff.list_ms[0], 3000);
    assert_false(queues[1].keeps_completed);
    assert_int_equal(queues[2].backoff.shape, REEVE_BACKOFF_FIXED);
    assert_int_equal(queues[2].backoff.base_ms, 2000);
    assert_int_equal(queues[2].backoff.cap_ms, 9000);
    assert_true(queues[2].backoff.jitter == 0.5);
    rv_config_free(config);
}

static void test_keep(void **state)
{
    (void)state;
    rv_config *config = loaded(POOL "queues = ( { name = \"a\"; keep = { completed = { age = 0.5; }; }; },\n"
                                    "  { name = \"b\"; keep = { dead = { age = -1; count = -1; }; }; },\n"
                                    "  { name = \"c\"; keep = { completed = { count = 0; }; dead = { }; stats = { days = 0; }; }; },\n"
                                    "  { name = \"d\"; keep = { stats = { }; }; } );\n");
    const rv_config_queue *queues = config->queues;

    assert_true(queues[0].keeps_completed);
    assert_false(queues[0].keeps_dead);
    assert_int_equal(queues[0].completed.age_ms, 500);
    assert_int_equal(queues[0].completed.count, 10000);
    assert_false(queues[1].keeps_completed);
    assert_true(queues[1].keeps_dead);
    assert_int_equal(queues[1].dead.age_ms, -1);
    assert_int_equal(queues[1].dead.count, -1);
    assert_int_equal(queues[2].completed.age_ms, 86400000);
    assert_int_equal(queues[2].completed.count, 0);
    assert_int_equal(queues[2].dead.age_ms, 7776000000);
    assert_int_equal(queues[2].dead.count, 10000);
    assert_false(queues[1].keeps_stats);
    assert_true(queues[2].keeps_stats);
    assert_int_equal(queues[2].stats_days, 0);
    assert_true(queues[3].keeps_stats);
    assert_int_equal(queues[3].stats_days, 30);
    rv_config_free(config);
}

static void test_includes(void **state)
{
    (void)state;
    assert_int_equal(mkdir("sub", 0700), 0);
    assert_int_equal(mkdir("sub/more", 0700), 0);
    write_text("sub/pools.conf", "# 99999999999\n" POOL "@include \"more/worker.conf\"\n");
    write_text("sub/more/worker.conf", "worker = { name = \"n\"; };\n");
    write_text("sub/main.conf", "@include \"pools.conf\"\nnamespace = \"x\";\n");
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
        loaded("/* 99999999999\n */ // 99999999999\n" POOL
               "worker = { name = \"99999999999 \\\" 99999999999\"; session = 86.4e3; };\n"
               "queues = ( { name = \"q\"; keep = { dead = { age = 2000000000; count = 1000000000L; };\n"
               "  completed = { count = 0x3b9aca00; }; }; } );\n"
               "handlers = ( { type = \"t\"; timeout = 1999999999.5; } );\n");

    assert_string_equal(config->worker.name, "99999999999 \" 99999999999");
    assert_int_equal(config->worker.session_ms, 86400000);
    assert_int_equal(config->queues[0].dead.age_ms, 2000000000000);
    assert_int_equal(config->queues[0].dead.count, 1000000000);
    assert_int_equal(config->handlers[0].timeout_ms, 1999999999500);
    rv_config_free(config);
}

/* ---- bad files ------------------------------------------------------------------------------------------------- */

static void test_values(void **state)
{
    (void)state;
    refused(
        "pools = ( { queues = [ \"a\" ]; },\n          { queues = [ \"a\" ];\n            threads = \"many\"; } );\n",
        "bad.conf:3: pools[1].threads: expected a whole number from 1 to 1024, got \"many\"\n");
    refused(POOL "worker = { session = 0.4;\n drain = \"x\"; };\n",
            "bad.conf:2: worker.session: expected seconds from 0.5 to 86400, got 0.4\n"
            "bad.conf:3: worker.drain: expected seconds from 0 to 86400, got \"x\"\n");
    refused(POOL "worker = { log = { level = \"loud\"; format = 3; }; };\n",
            "bad.conf:2: worker.log.level: expected \"debug\" or \"info\" or \"warn\" or \"error\" or \"off\", got "
            "\"loud\"\n"
            "bad.conf:2: worker.log.format: expected \"logfmt\" or \"json\", got 3\n");
    refused("pools = ( { queues = [ \"a\", \"b c\", \"\" ]; threads = 1025; batch = 1.5; } );\n",
            "bad.conf:1: pools[0].queues[1]: expected a queue name (1 to 64 of A-Z a-z 0-9 . _ -), got \"b c\"\n"
            "bad.conf:1: pools[0].queues[2]: expected a queue name (1 to 64 of A-Z a-z 0-9 . _ -), got \"\"\n"
            "bad.conf:1: pools[0].threads: expected a whole number from 1 to 1024, got 1025\n"
            "bad.conf:1: pools[0].batch: expected a whole number from 1 to 256, got 1.5\n");
    refused(POOL "handlers = ( { type = \"a b\"; attempts = 0; backoff = { jitter = 1.1; }; } );\n",
            "bad.conf:2: handlers[0].type: expected a type (1 to 100 of A-Z a-z 0-9 . _ - : /), got \"a b\"\n"
            "bad.conf:2: handlers[0].attempts: expected a whole number from 1 to 1000000, got 0\n"
            "bad.conf:2: handlers[0].backoff.jitter: expected a number from 0 to 1, got 1.1\n");
    refused(POOL "queues = ( { name = \"q\"; keep = { dead = { age = -2; count = true; }; }; } );\n",
            "bad.conf:2: queues[0].keep.dead.age: expected seconds from 0 to 2000000000, or -1, got -2\n"
            "bad.conf:2: queues[0].keep.dead.count: expected a whole number from 0 to 1000000000, or -1, got true\n");
    refused(POOL "namespace = \"a b\"; plugin_dir = \"\"; plugins = [ \"\" ];\n",
            "bad.conf:2: namespace: expected 1 to 64 of A-Z a-z 0-9 . _ : -, got \"a b\"\n"
            "bad.conf:2: plugin_dir: expected a directory, got \"\"\n"
            "bad.conf:2: plugins[0]: expected a plugin's name or path, got \"\"\n");
}

static void test_shapes(void **state)
{
    (void)state;
    refused("pools = { queues = [ \"a\" ]; };\n",
            "bad.conf:1: pools: expected a list of groups ( { ... }, { ... } ), got a group\n");
    refused("pools = ( );\n", "bad.conf:1: pools: expected a list of groups ( { ... }, { ... } ), got an empty list\n");
    refused("pools = ( 7 );\n", "bad.conf:1: pools[0]: expected a group { ... }, got 7\n");
    refused(POOL "worker = \"x\";\nplugins = \"checksum\";\n",
            "bad.conf:2: worker: expected a group { ... }, got \"x\"\n"
            "bad.conf:3: plugins: expected a list [ ... ], each a plugin's name or path, got \"checksum\"\n");
    refused("pools = ( { queues = [ ]; } );\n",
            "bad.conf:1: pools[0].queues: expected a list [ ... ], each a queue name (1 "
            "to 64 of A-Z a-z 0-9 . _ -), got an empty list\n");
}

static void test_missing(void **state)
{
    (void)state;
    refused("", "bad.conf: pools: missing; expected a list of groups ( { ... }, { ... } )\n");
    refused(
        "handlers = ( { } );\nqueues = ( { } );\npools = ( { } );\n",
        "bad.conf:1: handlers[0].type: missing; expected a type (1 to 100 of A-Z a-z 0-9 . _ - : /)\n"
        "bad.conf:2: queues[0].name: missing; expected a queue name (1 to 64 of A-Z a-z 0-9 . _ -)\n"
        "bad.conf:3: pools[0].queues: missing; expected a list [ ... ], each a queue name (1 to 64 of A-Z a-z 0-9 . "
        "_ -)\n");
}

static void test_unknown(void **state)
{
    (void)state;
    refused("pools = ( { queues = [ \"a\" ]; thread = 2; } );\nplugin = [ ];\n",
            "bad.conf:1: pools[0].thread: unknown setting; did you mean \"threads\"?\n"
            "bad.conf:2: plugin: unknown setting; did you mean \"plugins\"?\n");
    refused(POOL "worker = { log = { colour = true; }; };\n",
            "bad.conf:2: worker.log.colour: unknown setting; there are: level, format\n");
}

static void test_later(void **state)
{
    (void)state;
    refused("pools = ( { queues = [ \"a\" ]; isolation = \"process\"; } );\n",
            "bad.conf:1: pools[0].isolation: \"process\" is not available in this version\n");
    refused(POOL "web = { listen = \"127.0.0.1:8420\"; };\n", "bad.conf:2: web: not available in this version\n");
}

static void test_weights(void **state)
{
    (void)state;
    refused("pools = ( { queues = [ \"a\", \"b\" ]; order = \"weighted\"; weights = [ 5 ]; },\n"
            "  { queues = [ \"a\" ]; order = \"weighted\"; weights = [ 5, 1 ]; },\n"
            "  { queues = [ \"a\" ]; weights = [ 5 ]; },\n"
            "  { queues = [ \"a\" ]; order = \"round-robin\";\n    weights = [ 5 ]; } );\n",
            "bad.conf:1: pools[0].weights: expected one for each of the 2 queues, got 1\n"
            "bad.conf:2: pools[1].weights: expected one for each of the 1 queues, got 2\n"
            "bad.conf:3: pools[2].weights: only with order = \"weighted\", here it is \"strict\"\n"
            "bad.conf:5: pools[3].weights: only with order = \"weighted\", here it is \"round-robin\"\n");
    refused("pools = ( { queues = [ \"a\" ]; order = \"weighted\"; weights = [ ]; },\n"
            "  { queues = [ \"a\", \"b\", \"c\" ]; order = \"weighted\"; weights = ( 0, 1001, 1.5 ); },\n"
            "  { queues = [ \"a\" ]; order = \"weighted\"; weights = 5; },\n"
            "  { queues = [ \"a\" ]; order = \"weighted\"; weights = [ \"many\" ]; } );\n",
            "bad.conf:1: pools[0].weights: expected a list [ ... ], each a whole number from 1 to 1000, got an empty "
            "list\n"
            "bad.conf:2: pools[1].weights[0]: expected a whole number from 1 to 1000, got 0\n"
            "bad.conf:2: pools[1].weights[1]: expected a whole number from 1 to 1000, got 1001\n"
            "bad.conf:2: pools[1].weights[2]: expected a whole number from 1 to 1000, got 1.5\n"
            "bad.conf:3: pools[2].weights: expected a list [ ... ], each a whole number from 1 to 1000, got 5\n"
            "bad.conf:4: pools[3].weights[0]: expected a whole number from 1 to 1000, got \"many\"\n");
    refused("pools = ( { queues = [ \"a\" ]; order = \"heavy\"; weights = [ 5 ]; },\n"
            "  { queues = [ \"a\" ]; order = 3; weights = [ 5 ]; } );\n",
            "bad.conf:1: pools[0].order: expected \"strict\" or \"weighted\" or \"round-robin\", got \"heavy\"\n"
            "bad.conf:2: pools[1].order: expected \"strict\" or \"weighted\" or \"round-robin\", got 3\n");
}

static void test_limits(void **state)
{
    (void)state;
    rv_config *config = loaded(POOL "queues = ( { name = \"a\"; },\n"
                                    "  { name = \"b\"; concurrency = 16; on_dead = \"told\"; events = 500;\n"
                                    "    rate = { count = 100; period = 0.5; burst = 20; };\n"
                                    "    group = { concurrency = 1; rate = { count = 5; }; }; },\n"
                                    "  { name = \"c\"; concurrency = -1; on_dead = \"\"; rate = { count = -1; };\n"
                                    "    events = -1;\n"
                                    "    group = { concurrency = -1; rate = { count = -1; }; }; } );\n");
    const rv_config_queue *queues = config->queues;

    assert_int_equal(queues[0].concurrency, 0);
    assert_int_equal(queues[0].group_concurrency, 0);
    assert_false(queues[0].has_rate || queues[0].has_group_rate);
    assert_null(queues[0].on_dead);
    assert_int_equal(queues[0].events, 0);
    assert_int_equal(queues[1].events, 500);
    assert_int_equal(queues[2].events, -1);
    assert_int_equal(queues[1].concurrency, 16);
    assert_true(queues[1].has_rate && queues[1].has_group_rate);
    assert_int_equal(queues[1].rate.count, 100);
    assert_int_equal(queues[1].rate.period_ms, 500);
    assert_int_equal(queues[1].rate.burst, 20);
    assert_int_equal(queues[1].group_concurrency, 1);
    assert_int_equal(queues[1].group_rate.count, 5);
    assert_int_equal(queues[1].group_rate.period_ms, 1000);
    assert_int_equal(queues[1].group_rate.burst, 0);
    assert_string_equal(queues[1].on_dead, "told");
    assert_int_equal(queues[2].concurrency, -1);
    assert_int_equal(queues[2].rate.count, -1);
    assert_int_equal(queues[2].group_concurrency, -1);
    assert_int_equal(queues[2].group_rate.count, -1);
    assert_string_equal(queues[2].on_dead, "");
    rv_config_free(config);
}

static void test_bad_limits(void **state)
{
    (void)state;
    refused(POOL "queues = ( { name = \"a\"; concurrency = 0; rate = { period = 1; }; group = 1; },\n"
                 "  { name = \"b\"; concurrency = 1.5; rate = { count = 0; period = 0; burst = 0; };"
                 "    on_dead = \"t t\"; },\n"
                 "  { name = \"c\"; rate = 100;"
                 "    group = { rate = { count = 1; period = 40000000; brust = 1; }; }; } );\n",
            "bad.conf:2: queues[0].concurrency: expected a whole number from 1 to 1000000000, or -1, got 0\n"
            "bad.conf:2: queues[0].rate.count: missing; expected a whole number from 1 to 1000000000, or -1\n"
            "bad.conf:2: queues[0].group: expected a group { ... }, got 1\n"
            "bad.conf:3: queues[1].concurrency: expected a whole number from 1 to 1000000000, or -1, got 1.5\n"
            "bad.conf:3: queues[1].rate.count: expected a whole number from 1 to 1000000000, or -1, got 0\n"
            "bad.conf:3: queues[1].rate.period: expected seconds from 0.001 to 31622400, got 0\n"
            "bad.conf:3: queues[1].rate.burst: expected a whole number from 1 to 1000000000, got 0\n"
            "bad.conf:3: queues[1].on_dead: expected a type (1 to 100 of A-Z a-z 0-9 . _ - : /), or \"\" for none, got "
            "\"t t\"\n"
            "bad.conf:4: queues[2].rate: expected a group { ... }, got 100\n"
            "bad.conf:4: queues[2].group.rate.period: expected seconds from 0.001 to 31622400, got 40000000\n"
            "bad.conf:4: queues[2].group.rate.brust: unknown setting; did you mean \"burst\"?\n");
}

static void test_duplicates(void **state)
{
    (void)state;
    refused(
        "pools = ( { name = \"p\"; queues = [ \"a\", \"b\", \"a\" ]; },\n { name = \"p\"; queues = [ \"a\" ]; } );\n"
        "handlers = ( { type = \"t\"; },\n { type = \"u\"; }, { type = \"t\"; } );\n"
        "queues = ( { name = \"q\"; }, { name = \"q\"; } );\nplugins = [ \"x\", \"x\" ];\n",
        "bad.conf:6: plugins[1]: \"x\" stands at [0] already (line 6)\n"
        "bad.conf:2: pools[1].name: \"p\" stands at [0] already (line 1)\n"
        "bad.conf:1: pools[0].queues[2]: \"a\" stands at [0] already (line 1)\n"
        "bad.conf:4: handlers[2].type: \"t\" stands at [0] already (line 3)\n"
        "bad.conf:5: queues[1].name: \"q\" stands at [0] already (line 5)\n");
}

static void test_lists_that_are_none(void **state)
{
    (void)state;
    refused(POOL "handlers = ( { type = \"a\"; backoff = { shape = \"list\"; }; },\n"
                 "  { type = \"b\"; backoff = { list = [ 1 ]; }; },\n"
                 "  { type = \"c\"; backoff = { shape = \"list\"; list = [ 1 ]; base = 3; }; },\n"
                 "  { type = \"d\"; backoff = { shape = \"list\"; list = [ 1 ]; cap = 3; }; } );\n",
            "bad.conf:2: handlers[0].backoff.list: missing; shape is \"list\"\n"
            "bad.conf:3: handlers[1].backoff.list: only with shape = \"list\"\n"
            "bad.conf:4: handlers[2].backoff.base: not with shape = \"list\": the delays are those of the list\n"
            "bad.conf:5: handlers[3].backoff.cap: not with shape = \"list\": the delays are those of the list\n");
    refused(POOL "queues = ( { name = \"a\"; backoff = { shape = \"list\"; list = [ ]; }; },\n"
                 "  { name = \"b\"; backoff = { shape = \"list\"; list = 5; }; },\n"
                 "  { name = \"c\"; backoff = { shape = \"list\"; list = ( 1, \"x\", 0 ); }; },\n"
                 "  { name = \"d\"; backoff = { shape = \"list\"; list = [ 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 ]; }; } );\n",
            "bad.conf:2: queues[0].backoff.list: expected a list [ ... ] of 1 to 16, each seconds from 0.001 to 2000000000, got an empty list\n"
            "bad.conf:3: queues[1].backoff.list: expected a list [ ... ] of 1 to 16, each seconds from 0.001 to 2000000000, got 5\n"
            "bad.conf:4: queues[2].backoff.list[1]: expected seconds from 0.001 to 2000000000, got \"x\"\n"
            "bad.conf:4: queues[2].backoff.list[2]: expected seconds from 0.001 to 2000000000, got 0\n"
            "bad.conf:5: queues[3].backoff.list: expected at most 16, got 17\n");
    refused(POOL "queues = ( { name = \"q\"; attempts = 0; max_crashes = 0; timeout = 0; backoff = 7; } );\n",
            "bad.conf:2: queues[0].attempts: expected a whole number from 1 to 1000000, got 0\n"
            "bad.conf:2: queues[0].max_crashes: expected a whole number from 1 to 1000000, got 0\n"
            "bad.conf:2: queues[0].timeout: expected seconds from 0.001 to 2000000000, got 0\n"
            "bad.conf:2: queues[0].backoff: expected a group { ... }, got 7\n");
}

static void test_backoff_order(void **state)
{
    (void)state;
    refused(POOL "queues = ( { name = \"q\"; backoff = { base = 20; cap = 7.5; }; } );\n",
            "bad.conf:2: queues[0].backoff.base: expected at most cap (7.5), got 20\n");
    refused(POOL "handlers = ( { type = \"t\"; backoff = { base = 20; cap = 7.5; }; } );\n",
            "bad.conf:2: handlers[0].backoff.base: expected at most cap (7.5), got 20\n");
}

/* The words come from the parser of URLs; a password is in none of them. */
static void test_urls(void **state)
{
    (void)state;
    refused(
        POOL "redis = \"http://:hush@x\";\n",
        "bad.conf:2: redis: a Redis URL begins with redis://, rediss://, unix://, redis-sentinel://, redis-cluster:// "
        "or embedded:\n");
    refused(POOL "redis = 7;\n", "bad.conf:2: redis: expected a Redis URL, got 7\n");
    refused(POOL "redis = \"redis://:hush@host:99999\";\n",
            "bad.conf:2: redis: the port in the Redis URL is no number from 1 to 65535 (a password ends with an '@': "
            "redis://:password@host)\n");
    refused(POOL "redis = \"redis-cluster://a,b\";\n",
            "bad.conf:2: redis: redis-cluster://a:6379,b:6379: this version of reeve cannot speak to Redis Cluster "
            "(redis-cluster://); use redis:// or unix:// instead\n");
    rv_config_free(loaded(POOL "redis = \"embedded:\";\n"));
    rv_config_free(loaded(POOL "redis = \"unix:///run/redis.sock?db=3\";\n"));
}

static void test_syntax(void **state)
{
    (void)state;
    refused(POOL "worker = {\n  session = ;\n};\n", "bad.conf:3: syntax error\n");
    refused(POOL "namespace = \"a\";\nnamespace = \"b\";\n", "bad.conf:3: duplicate setting name\n");
    refused(POOL "redis = \"never ends;\n", "bad.conf:3: syntax error\n");
    refused(POOL "worker = { session = 99999999999; };\n", "bad.conf:2: too large a number: 99999999999\n");
    refused(POOL "worker = { session = 0x1ffffffff; };\n", "bad.conf:2: too large a number: 0x1ffffffff\n");
}

static void test_bad_includes(void **state)
{
    (void)state;
    assert_int_equal(mkdir("etc", 0700), 0);
    write_text("etc/part.conf", "\nnamespace = 7;\n");
    write_text("etc/broken.conf", "namespace = ;\n");
    write_text("etc/main.conf", POOL "@include \"part.conf\"\n");
    write_text("etc/other.conf", POOL "@include \"broken.conf\"\n");
    refused_file("etc/main.conf", REEVE_EINVAL,
                 "etc/part.conf:2: namespace: expected 1 to 64 of A-Z a-z 0-9 . _ : -, got 7\n");
    refused_file("etc/other.conf", REEVE_EINVAL, "etc/broken.conf:1: syntax error\n");
    assert_int_equal(mkdir("directory", 0700), 0);
    write_text("broken.conf", "namespace = \"a\";\nworker = { ;\n");
    write_text("wrong.conf", "\nnamespace = 7;\nworker = { drain = -1; };\n");
    write_text("large.conf", "/* 2\n3 */\nworker = { drain = 3000000000; };\n");
    write_text("loop.conf", "@include \"loop.conf\"\n");
    refused(POOL "@include \"nowhere.conf\"\n", "bad.conf:2: cannot open include file\n");
    refused(POOL "  @include \"directory\"\n", "bad.conf:2: not a file, cannot be included: directory\n");
    refused(POOL "@include \"broken.conf\"\n", "broken.conf:2: syntax error\n");
    refused(POOL "@include \"wrong.conf\"\n",
            "wrong.conf:2: namespace: expected 1 to 64 of A-Z a-z 0-9 . _ : -, got 7\n"
            "wrong.conf:3: worker.drain: expected seconds from 0 to 86400, got -1\n");
    refused(POOL "@include \"large.conf\"\n", "large.conf:3: too large a number: 3000000000\n");
    refused_file("loop.conf", REEVE_EINVAL, "loop.conf:1: include file nesting too deep\n");
}

static void test_unreadable(void **state)
{
    (void)state;
    refused_file("nowhere.conf", REEVE_ESYSTEM, "nowhere.conf: cannot be opened: No such file or directory\n");
    refused_file(".", REEVE_ESYSTEM, ".: cannot be read: Is a directory\n");
    write_file("zero.conf", POOL "\0", sizeof(POOL));
    refused_file("zero.conf", REEVE_EINVAL, "zero.conf: has a zero byte: not a text file\n");
    refused_file("/dev/zero", REEVE_EINVAL, "/dev/zero: is larger than 1048576 bytes\n");
}

/* Twenty are told, the rest is counted. */
static void test_many_errors(void **state)
{
    (void)state;
    rv_config_errors errors;
    rv_config *config;
    FILE *file = fopen("many.conf", "w");
    int lines = 0;

    assert_non_null(file);
    for (int i = 0; i < 50; i++) fprintf(file, "zzz%d = 1;\n", i);
    assert_int_equal(fclose(file), 0);
    rv_config_errors_init(&errors);
    assert_int_equal(rv_config_load("many.conf", &config, &errors), REEVE_EINVAL);
    for (const char *at = rv_buf_text(&errors.text); *at != '\0'; at++) lines += *at == '\n';
    assert_int_equal(lines, RV_CONFIG_ERRORS_MAX);
    assert_int_equal(errors.count, 51);
    rv_config_errors_fini(&errors);
}

/* Long names and values are cut, bytes that are no text are shown as such. */
static void test_odd_text(void **state)
{
    (void)state;
    char text[9000];

    (void)snprintf(text, sizeof(text), "%sn%06000d = 1;\n", POOL, 1);
    write_text("bad.conf", text);
    rv_config_errors errors;
    rv_config *config;
    rv_config_errors_init(&errors);
    assert_int_equal(rv_config_load("bad.conf", &config, &errors), REEVE_EINVAL);
    assert_int_equal(errors.count, 1);
    rv_config_errors_fini(&errors);

    (void)snprintf(text, sizeof(text), "%snamespace = \"%0200d\";\n", POOL, 0);
    char expected[400];
    (void)snprintf(expected, sizeof(expected),
                   "bad.conf:2: namespace: expected 1 to 64 of A-Z a-z 0-9 . _ : -, got \"%0100d\"...\n", 0);
    refused(text, expected);
    refused(POOL "namespace = \"a\xff\tb\";\n",
            "bad.conf:2: namespace: expected 1 to 64 of A-Z a-z 0-9 . _ : -, got \"a?\\tb\"\n");
}

/* Fails the first allocation, then the second, until nothing is left to fail. */
static void test_no_memory(void **state)
{
    (void)state;
    rv_config_errors errors;
    rv_config *config;
    reeve_status status;
    unsigned long nth = 0;

    write_text("good.conf", "pools = ( { queues = [ \"a\" ]; order = \"weighted\"; weights = [ 2 ]; } );\n"
                                 "worker = { name = \"w\"; };\nplugins = [ \"p\" ];\n"
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
    assert_string_equal(config->handlers[0].where, "good.conf:4");
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
        cmocka_unit_test(test_defaults),      cmocka_unit_test(test_everything),
        cmocka_unit_test(test_backoff),       cmocka_unit_test(test_keep),
        cmocka_unit_test(test_includes),      cmocka_unit_test(test_large_numbers_elsewhere),
        cmocka_unit_test(test_values),        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_missing),       cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_limits),        cmocka_unit_test(test_bad_limits),
        cmocka_unit_test(test_later),         cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_lists),         cmocka_unit_test(test_policies_of_queues),
        cmocka_unit_test(test_lists_that_are_none),
        cmocka_unit_test(test_backoff_order), cmocka_unit_test(test_urls),
        cmocka_unit_test(test_syntax),        cmocka_unit_test(test_bad_includes),
        cmocka_unit_test(test_unreadable),    cmocka_unit_test(test_many_errors),
        cmocka_unit_test(test_odd_text),      cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_free_null),     cmocka_unit_test(test_orders),
        cmocka_unit_test(test_weights),
    };

    if (chdir(test_dir()) != 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
