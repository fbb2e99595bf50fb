/* ut_config_bad.c - a worker's configuration: the exact words about every kind of bad file. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/cmocka.h"
#include "support/config.h"
#include "support/dirs.h"

static void test_values(void **state)
{
    (void)state;
    test_config_refused(
        "pools = ( { queues = [ \"a\" ]; },\n          { queues = [ \"a\" ];\n            threads = \"many\"; } );\n",
        "bad.conf:3: pools[1].threads: expected a whole number from 1 to 1024, got \"many\"\n");
    test_config_refused(TEST_POOL "worker = { session = 0.4;\n drain = \"x\"; };\n",
                        "bad.conf:2: worker.session: expected seconds from 0.5 to 86400, got 0.4\n"
                        "bad.conf:3: worker.drain: expected seconds from 0 to 86400, got \"x\"\n");
    test_config_refused(
        TEST_POOL "worker = { log = { level = \"loud\"; format = 3; }; };\n",
        "bad.conf:2: worker.log.level: expected \"debug\" or \"info\" or \"warn\" or \"error\" or \"off\", got "
        "\"loud\"\n"
        "bad.conf:2: worker.log.format: expected \"logfmt\" or \"json\" or \"journald\", got 3\n");
    test_config_refused("pools = ( { queues = [ \"a\" ]; threads = { min = 8; max = 4; }; cpus = \"3-1\"; } );\n",
                        "bad.conf:1: pools[0].cpus: expected a list of processors, such as \"0-3,8\", got \"3-1\"\n"
                        "bad.conf:1: pools[0].threads.min: expected at most max (4), got 8\n");
    test_config_refused("pools = ( { queues = [ \"a\" ]; threads = { max = 4; }; } );\n",
                        "bad.conf:1: pools[0].threads.min: missing; expected a whole number from 1 to 1024\n");
    test_config_refused(
        "pools = ( { queues = [ \"a\", \"b c\", \"\" ]; threads = 1025; batch = 1.5; } );\n",
        "bad.conf:1: pools[0].queues[1]: expected a queue name (1 to 64 of A-Z a-z 0-9 . _ -), got \"b c\"\n"
        "bad.conf:1: pools[0].queues[2]: expected a queue name (1 to 64 of A-Z a-z 0-9 . _ -), got \"\"\n"
        "bad.conf:1: pools[0].threads: expected a whole number from 1 to 1024, got 1025\n"
        "bad.conf:1: pools[0].batch: expected a whole number from 1 to 256, got 1.5\n");
    test_config_refused(
        TEST_POOL "handlers = ( { type = \"a b\"; attempts = 0; backoff = { jitter = 1.1; }; } );\n",
        "bad.conf:2: handlers[0].type: expected a type (1 to 100 of A-Z a-z 0-9 . _ - : /), got \"a b\"\n"
        "bad.conf:2: handlers[0].attempts: expected a whole number from 1 to 1000000, got 0\n"
        "bad.conf:2: handlers[0].backoff.jitter: expected a number from 0 to 1, got 1.1\n");
    test_config_refused(
        TEST_POOL "queues = ( { name = \"q\"; keep = { dead = { age = -2; count = true; }; }; } );\n",
        "bad.conf:2: queues[0].keep.dead.age: expected seconds from 0 to 2000000000, or -1, got -2\n"
        "bad.conf:2: queues[0].keep.dead.count: expected a whole number from 0 to 1000000000, or -1, got true\n");
    test_config_refused(TEST_POOL "namespace = \"a b\"; plugin_dir = \"\"; plugins = [ \"\" ];\n",
                        "bad.conf:2: namespace: expected 1 to 64 of A-Z a-z 0-9 . _ : -, got \"a b\"\n"
                        "bad.conf:2: plugin_dir: expected a directory, got \"\"\n"
                        "bad.conf:2: plugins[0]: expected a plugin's name or path, got \"\"\n");
}

static void test_sizes(void **state)
{
    (void)state;
    test_config_refused(
        TEST_POOL "worker = { size_limits = { payload = 67108865; tags = 0; batch = 1001; tag = -1; }; };\n"
                  "queues = ( { name = \"q\"; result_max = 16777217; keep = { completed = { bytes = 0; }; }; } );\n",
        "bad.conf:2: worker.size_limits.payload: expected a whole number from 1 to 67108864, got 67108865\n"
        "bad.conf:2: worker.size_limits.tags: expected a whole number from 1 to 64, got 0\n"
        "bad.conf:2: worker.size_limits.batch: expected a whole number from 1 to 1000, got 1001\n"
        "bad.conf:2: worker.size_limits.tag: expected a whole number from 1 to 200, got -1\n"
        "bad.conf:3: queues[0].result_max: expected a whole number from 1 to 16777216, or -1, got 16777217\n"
        "bad.conf:3: queues[0].keep.completed.bytes: expected a whole number from 1 to 1000000000000000, or -1, got "
        "0\n");
}

static void test_shapes(void **state)
{
    (void)state;
    test_config_refused("pools = { queues = [ \"a\" ]; };\n",
                        "bad.conf:1: pools: expected a list of groups ( { ... }, { ... } ), got a group\n");
    test_config_refused("pools = ( );\n",
                        "bad.conf:1: pools: expected a list of groups ( { ... }, { ... } ), got an empty list\n");
    test_config_refused("pools = ( 7 );\n", "bad.conf:1: pools[0]: expected a group { ... }, got 7\n");
    test_config_refused(TEST_POOL "worker = \"x\";\nplugins = \"checksum\";\n",
                        "bad.conf:2: worker: expected a group { ... }, got \"x\"\n"
                        "bad.conf:3: plugins: expected a list ( ... ), each a group { ... } or the text of its name, "
                        "got \"checksum\"\n");
    test_config_refused("pools = ( { queues = [ ]; } );\n",
                        "bad.conf:1: pools[0].queues: expected a list [ ... ], each a queue name (1 "
                        "to 64 of A-Z a-z 0-9 . _ -), got an empty list\n");
}

static void test_missing(void **state)
{
    (void)state;
    test_config_refused("", "bad.conf: pools: missing; expected a list of groups ( { ... }, { ... } )\n");
    test_config_refused(
        "handlers = ( { } );\nqueues = ( { } );\npools = ( { } );\n",
        "bad.conf:1: handlers[0].type: missing; expected a type (1 to 100 of A-Z a-z 0-9 . _ - : /)\n"
        "bad.conf:2: queues[0].name: missing; expected a queue name (1 to 64 of A-Z a-z 0-9 . _ -)\n"
        "bad.conf:3: pools[0].queues: missing; expected a list [ ... ], each a queue name (1 to 64 of A-Z a-z 0-9 . "
        "_ -)\n");
}

static void test_unknown(void **state)
{
    (void)state;
    test_config_refused("pools = ( { queues = [ \"a\" ]; thread = 2; } );\nplugin = [ ];\n",
                        "bad.conf:1: pools[0].thread: unknown setting; did you mean \"threads\"?\n"
                        "bad.conf:2: plugin: unknown setting; did you mean \"plugins\"?\n");
    test_config_refused(TEST_POOL "worker = { log = { colour = true; }; };\n",
                        "bad.conf:2: worker.log.colour: unknown setting; there are: level, format, file, flood\n");
}

static void test_later(void **state)
{
    (void)state;
    test_config_refused(TEST_POOL "queues = ( { name = \"q\"; partitions = 65; } );\n",
                        "bad.conf:2: queues[0].partitions: expected a whole number from 1 to 64, got 65\n");
}

static void test_weights(void **state)
{
    (void)state;
    test_config_refused("pools = ( { queues = [ \"a\", \"b\" ]; order = \"weighted\"; weights = [ 5 ]; },\n"
                        "  { queues = [ \"a\" ]; order = \"weighted\"; weights = [ 5, 1 ]; },\n"
                        "  { queues = [ \"a\" ]; weights = [ 5 ]; },\n"
                        "  { queues = [ \"a\" ]; order = \"round-robin\";\n    weights = [ 5 ]; } );\n",
                        "bad.conf:1: pools[0].weights: expected one for each of the 2 queues, got 1\n"
                        "bad.conf:2: pools[1].weights: expected one for each of the 1 queues, got 2\n"
                        "bad.conf:3: pools[2].weights: only with order = \"weighted\", here it is \"strict\"\n"
                        "bad.conf:5: pools[3].weights: only with order = \"weighted\", here it is \"round-robin\"\n");
    test_config_refused(
        "pools = ( { queues = [ \"a\" ]; order = \"weighted\"; weights = [ ]; },\n"
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
    test_config_refused(
        "pools = ( { queues = [ \"a\" ]; order = \"heavy\"; weights = [ 5 ]; },\n"
        "  { queues = [ \"a\" ]; order = 3; weights = [ 5 ]; } );\n",
        "bad.conf:1: pools[0].order: expected \"strict\" or \"weighted\" or \"round-robin\", got \"heavy\"\n"
        "bad.conf:2: pools[1].order: expected \"strict\" or \"weighted\" or \"round-robin\", got 3\n");
}

static void test_bad_limits(void **state)
{
    (void)state;
    test_config_refused(
        TEST_POOL "queues = ( { name = \"a\"; concurrency = 0; rate = { period = 1; }; group = 1; },\n"
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
    test_config_refused(
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
    test_config_refused(
        TEST_POOL "handlers = ( { type = \"a\"; backoff = { shape = \"list\"; }; },\n"
                  "  { type = \"b\"; backoff = { list = [ 1 ]; }; },\n"
                  "  { type = \"c\"; backoff = { shape = \"list\"; list = [ 1 ]; base = 3; }; },\n"
                  "  { type = \"d\"; backoff = { shape = \"list\"; list = [ 1 ]; cap = 3; }; } );\n",
        "bad.conf:2: handlers[0].backoff.list: missing; shape is \"list\"\n"
        "bad.conf:3: handlers[1].backoff.list: only with shape = \"list\"\n"
        "bad.conf:4: handlers[2].backoff.base: not with shape = \"list\": the delays are those of the list\n"
        "bad.conf:5: handlers[3].backoff.cap: not with shape = \"list\": the delays are those of the list\n");
    test_config_refused(
        TEST_POOL
        "queues = ( { name = \"a\"; backoff = { shape = \"list\"; list = [ ]; }; },\n"
        "  { name = \"b\"; backoff = { shape = \"list\"; list = 5; }; },\n"
        "  { name = \"c\"; backoff = { shape = \"list\"; list = ( 1, \"x\", 0 ); }; },\n"
        "  { name = \"d\"; backoff = { shape = \"list\"; list = [ 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 ]; }; } );\n",
        "bad.conf:2: queues[0].backoff.list: expected a list [ ... ] of 1 to 16, each seconds from 0.001 to "
        "2000000000, got an empty list\n"
        "bad.conf:3: queues[1].backoff.list: expected a list [ ... ] of 1 to 16, each seconds from 0.001 to "
        "2000000000, got 5\n"
        "bad.conf:4: queues[2].backoff.list[1]: expected seconds from 0.001 to 2000000000, got \"x\"\n"
        "bad.conf:4: queues[2].backoff.list[2]: expected seconds from 0.001 to 2000000000, got 0\n"
        "bad.conf:5: queues[3].backoff.list: expected at most 16, got 17\n");
    test_config_refused(TEST_POOL
                        "queues = ( { name = \"q\"; attempts = 0; max_crashes = 0; timeout = 0; backoff = 7; } );\n",
                        "bad.conf:2: queues[0].attempts: expected a whole number from 1 to 1000000, got 0\n"
                        "bad.conf:2: queues[0].max_crashes: expected a whole number from 1 to 1000000, got 0\n"
                        "bad.conf:2: queues[0].timeout: expected seconds from 0.001 to 2000000000, got 0\n"
                        "bad.conf:2: queues[0].backoff: expected a group { ... }, got 7\n");
}

static void test_backoff_order(void **state)
{
    (void)state;
    test_config_refused(TEST_POOL "queues = ( { name = \"q\"; backoff = { base = 20; cap = 7.5; }; } );\n",
                        "bad.conf:2: queues[0].backoff.base: expected at most cap (7.5), got 20\n");
    test_config_refused(TEST_POOL "handlers = ( { type = \"t\"; backoff = { base = 20; cap = 7.5; }; } );\n",
                        "bad.conf:2: handlers[0].backoff.base: expected at most cap (7.5), got 20\n");
}

/* The words come from the parser of URLs; a password is in none of them. */
static void test_urls(void **state)
{
    (void)state;
    test_config_refused(
        TEST_POOL "redis = \"http://:hush@x\";\n",
        "bad.conf:2: redis: a Redis URL begins with redis://, rediss://, unix://, redis-sentinel://, redis-cluster:// "
        "or embedded:\n");
    test_config_refused(TEST_POOL "redis = 7;\n", "bad.conf:2: redis: expected a Redis URL, got 7\n");
    test_config_refused(
        TEST_POOL "redis = \"redis://:hush@host:99999\";\n",
        "bad.conf:2: redis: the port in the Redis URL is no number from 1 to 65535 (a password ends with an '@': "
        "redis://:password@host)\n");
    rv_config_free(test_config(TEST_POOL "redis = \"redis-cluster://a,b\";\n"));
    rv_config_free(test_config(TEST_POOL "redis = \"embedded:\";\n"));
    rv_config_free(test_config(TEST_POOL "redis = \"unix:///run/redis.sock?db=3\";\n"));
}

static void test_syntax(void **state)
{
    (void)state;
    test_config_refused(TEST_POOL "worker = {\n  session = ;\n};\n", "bad.conf:3: syntax error\n");
    test_config_refused(TEST_POOL "namespace = \"a\";\nnamespace = \"b\";\n", "bad.conf:3: duplicate setting name\n");
    test_config_refused(TEST_POOL "redis = \"never ends;\n", "bad.conf:3: syntax error\n");
    test_config_refused(TEST_POOL "worker = { session = 99999999999; };\n",
                        "bad.conf:2: too large a number: 99999999999\n");
    test_config_refused(TEST_POOL "worker = { session = 0x1ffffffff; };\n",
                        "bad.conf:2: too large a number: 0x1ffffffff\n");
}

static void test_bad_includes(void **state)
{
    (void)state;
    assert_int_equal(mkdir("etc", 0700), 0);
    test_write_text("etc/part.conf", "\nnamespace = 7;\n");
    test_write_text("etc/broken.conf", "namespace = ;\n");
    test_write_text("etc/main.conf", TEST_POOL "@include \"part.conf\"\n");
    test_write_text("etc/other.conf", TEST_POOL "@include \"broken.conf\"\n");
    test_config_refused_file("etc/main.conf", REEVE_EINVAL,
                             "etc/part.conf:2: namespace: expected 1 to 64 of A-Z a-z 0-9 . _ : -, got 7\n");
    test_config_refused_file("etc/other.conf", REEVE_EINVAL, "etc/broken.conf:1: syntax error\n");
    assert_int_equal(mkdir("directory", 0700), 0);
    test_write_text("broken.conf", "namespace = \"a\";\nworker = { ;\n");
    test_write_text("wrong.conf", "\nnamespace = 7;\nworker = { drain = -1; };\n");
    test_write_text("large.conf", "/* 2\n3 */\nworker = { drain = 3000000000; };\n");
    test_write_text("loop.conf", "@include \"loop.conf\"\n");
    test_config_refused(TEST_POOL "@include \"nowhere.conf\"\n", "bad.conf:2: cannot open include file\n");
    test_config_refused(TEST_POOL "  @include \"directory\"\n",
                        "bad.conf:2: not a file, cannot be included: directory\n");
    test_config_refused(TEST_POOL "@include \"broken.conf\"\n", "broken.conf:2: syntax error\n");
    test_config_refused(TEST_POOL "@include \"wrong.conf\"\n",
                        "wrong.conf:2: namespace: expected 1 to 64 of A-Z a-z 0-9 . _ : -, got 7\n"
                        "wrong.conf:3: worker.drain: expected seconds from 0 to 86400, got -1\n");
    test_config_refused(TEST_POOL "@include \"large.conf\"\n", "large.conf:3: too large a number: 3000000000\n");
    test_config_refused_file("loop.conf", REEVE_EINVAL, "loop.conf:1: include file nesting too deep\n");
}

static void test_unreadable(void **state)
{
    (void)state;
    test_config_refused_file("nowhere.conf", REEVE_ESYSTEM,
                             "nowhere.conf: cannot be opened: No such file or directory\n");
    test_config_refused_file(".", REEVE_ESYSTEM, ".: cannot be read: Is a directory\n");
    test_write_file("zero.conf", TEST_POOL "\0", sizeof(TEST_POOL));
    test_config_refused_file("zero.conf", REEVE_EINVAL, "zero.conf: has a zero byte: not a text file\n");
    test_config_refused_file("/dev/zero", REEVE_EINVAL, "/dev/zero: is larger than 1048576 bytes\n");
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

    (void)snprintf(text, sizeof(text), "%sn%06000d = 1;\n", TEST_POOL, 1);
    test_write_text("bad.conf", text);
    rv_config_errors errors;
    rv_config *config;
    rv_config_errors_init(&errors);
    assert_int_equal(rv_config_load("bad.conf", &config, &errors), REEVE_EINVAL);
    assert_int_equal(errors.count, 1);
    rv_config_errors_fini(&errors);

    (void)snprintf(text, sizeof(text), "%snamespace = \"%0200d\";\n", TEST_POOL, 0);
    char expected[400];
    (void)snprintf(expected, sizeof(expected),
                   "bad.conf:2: namespace: expected 1 to 64 of A-Z a-z 0-9 . _ : -, got \"%0100d\"...\n", 0);
    test_config_refused(text, expected);
    test_config_refused(TEST_POOL "namespace = \"a\xff\tb\";\n",
                        "bad.conf:2: namespace: expected 1 to 64 of A-Z a-z 0-9 . _ : -, got \"a?\\tb\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_shapes),        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_unknown),       cmocka_unit_test(test_later),
        cmocka_unit_test(test_weights),       cmocka_unit_test(test_bad_limits),
        cmocka_unit_test(test_duplicates),    cmocka_unit_test(test_lists_that_are_none),
        cmocka_unit_test(test_backoff_order), cmocka_unit_test(test_urls),
        cmocka_unit_test(test_syntax),        cmocka_unit_test(test_bad_includes),
        cmocka_unit_test(test_unreadable),    cmocka_unit_test(test_many_errors),
        cmocka_unit_test(test_odd_text),
    };

    if (chdir(test_dir()) != 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
