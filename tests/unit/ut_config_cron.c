/* The recurring entries of a worker's configuration: what they become, and the words about bad ones. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/cmocka.h"
#include "support/config.h"
#include "support/dirs.h"

#define ENTRY "name = \"n\"; spec = \"@daily\"; queue = \"q\"; type = \"t\"; "

static void defaults(void **state)
{
    (void)state;
    rv_config_entry made;
    rv_config *config = test_config(TEST_POOL "cron = ( { " ENTRY "} );\n");
    assert_int_equal(config->cron_count, 1);
    assert_int_equal(rv_config_entry_make(&made, &config->cron[0]), REEVE_OK);
    assert_string_equal(made.entry.name, "n");
    assert_string_equal(made.entry.spec, "@daily");
    assert_false(made.entry.local);
    assert_int_equal(made.entry.catch_up, REEVE_CATCH_UP_ONCE);
    assert_int_equal(made.entry.catch_up_max, 0);
    assert_false(made.entry.no_overlap);
    assert_string_equal(made.task.queue, "q");
    assert_string_equal(made.task.type, "t");
    assert_int_equal(made.task.payload.length, 0);
    assert_null(made.task.group);
    assert_null(made.task.backoff);
    assert_int_equal(made.task.tag_count, 0);
    assert_int_equal(reeve_cron_check(&made.entry, NULL, 0), REEVE_OK);
    rv_config_entry_fini(&made);
    rv_config_free(config);
    config = test_config(TEST_POOL "cron = ( );\n");
    assert_int_equal(config->cron_count, 0);
    rv_config_free(config);
}

static void everything(void **state)
{
    (void)state;
    rv_config_entry made;
    rv_config *config = test_config(
        TEST_POOL
        "cron = ( { name = \"n\"; spec = \"every 90s\"; queue = \"q\"; type = \"t\"; payload = \"{\\\"a\\\":1}\";\n"
        "  zone = \"local\"; catch_up = \"all\"; catch_up_max = 7; overlap = false; priority = -3; group = \"g\";\n"
        "  weight = 4; attempts = 5; max_crashes = 2; timeout = 1.5; tags = [ \"x\", \"y\" ];\n"
        "  meta = [ \"k=v=w\", \"l=\" ]; expires_in = 60; heartbeat = 2.5; retry_for = 9; at_most_once = true; on_dead "
        "= \"d\";\n"
        "  starts = \"2030-01-01T00:00:00Z\"; ends = \"2031-01-01T00:00:00Z\"; offset = 2; jitter = 1.5; runs = 4;\n"
        "  backoff = { shape = \"fixed\"; base = 2; }; }, { name = \"m\"; spec = \"0 3 * * *\"; queue = \"other\";\n"
        "  type = \"t\"; payload = \"\"; catch_up = \"skip\"; overlap = true; } );\n");
    assert_int_equal(config->cron_count, 2);
    assert_int_equal(rv_config_entry_make(&made, &config->cron[0]), REEVE_OK);
    assert_string_equal(made.entry.zone, "local");
    assert_true(made.entry.no_overlap);
    assert_int_equal(made.entry.catch_up, REEVE_CATCH_UP_ALL);
    assert_int_equal(made.entry.catch_up_max, 7);
    assert_int_equal(made.task.payload.length, 7);
    assert_memory_equal(made.task.payload.data, "{\"a\":1}", 7);
    assert_int_equal(made.task.priority, -3);
    assert_string_equal(made.task.group, "g");
    assert_int_equal(made.task.weight, 4);
    assert_int_equal(made.task.attempts, 5);
    assert_int_equal(made.task.max_crashes, 2);
    assert_int_equal(made.task.timeout_ms, 1500);
    assert_int_equal(made.task.backoff->base_ms, 2000);
    assert_int_equal(made.task.tag_count, 2);
    assert_string_equal(made.task.tags[1], "y");
    assert_int_equal(made.task.meta_count, 2);
    assert_string_equal(made.task.meta[0].key, "k");
    assert_string_equal(made.task.meta[0].value, "v=w");
    assert_string_equal(made.task.meta[1].value, "");
    assert_int_equal(made.task.expires_in_ms, 60000);
    assert_int_equal(made.task.heartbeat_ms, 2500);
    assert_int_equal(made.task.retry_for_ms, 9000);
    assert_true(made.task.at_most_once);
    assert_string_equal(made.task.on_dead, "d");
    assert_int_equal(made.entry.starts_ms, 1893456000000);
    assert_int_equal(made.entry.ends_ms, 1924992000000);
    assert_int_equal(made.entry.offset_ms, 2000);
    assert_int_equal(made.entry.jitter_ms, 1500);
    assert_int_equal(made.entry.runs, 4);
    rv_config_entry_fini(&made);
    assert_int_equal(config->cron[1].catch_up, REEVE_CATCH_UP_SKIP);
    assert_true(config->cron[1].overlap);
    rv_config_free(config);
}

static void bad_ones(void **state)
{
    (void)state;
    test_config_refused(
        TEST_POOL "cron = (\n  { " ENTRY
                  "},\n  { name = \"m\"; spec = \"61 * * * *\";\n    queue = \"q\"; type = \"t\"; } );\n",
        "bad.conf:4: cron[1].spec: minute \"61\": allowed are 0 to 59, \"*\", ranges (a-b), steps (*/n, a-b/n) and "
        "lists of these (a,b)\n");
    test_config_refused(
        TEST_POOL "cron = ( { } );\n",
        "bad.conf:2: cron[0].name: missing; expected 1 to 64 of A-Z a-z 0-9 . _ -\n"
        "bad.conf:2: cron[0].spec: missing; expected a schedule such as \"0 3 * * *\", \"@hourly\" or \"every 90s\"\n"
        "bad.conf:2: cron[0].queue: missing; expected a queue name (1 to 64 of A-Z a-z 0-9 . _ -)\n"
        "bad.conf:2: cron[0].type: missing; expected a type (1 to 100 of A-Z a-z 0-9 . _ - : /)\n");
    test_config_refused(
        TEST_POOL "cron = ( { " ENTRY
                  "zone = \"mars\";\n overlap = 1;\n catch_up = \"twice\";\n priority = 128;\n group = \"\";\n"
                  " tags = [ \"\" ]; } );\n",
        "bad.conf:2: cron[0].zone: there is no time zone \"mars\" in /usr/share/zoneinfo: expected utc, local, or a "
        "name such as Europe/Berlin\n"
        "bad.conf:3: cron[0].overlap: expected true or false, got 1\n"
        "bad.conf:4: cron[0].catch_up: expected \"once\" or \"skip\" or \"all\", got \"twice\"\n"
        "bad.conf:5: cron[0].priority: expected a whole number from -128 to 127, got 128\n"
        "bad.conf:6: cron[0].group: expected 1 to 100 bytes of UTF-8, got \"\"\n"
        "bad.conf:7: cron[0].tags[0]: expected a tag, got \"\"\n");
    test_config_refused(TEST_POOL "cron = 5;\n",
                        "bad.conf:2: cron: expected a list of groups ( { ... }, { ... } ), got 5\n");
}

static void what_does_not_fit_together(void **state)
{
    (void)state;
    test_config_refused(TEST_POOL "cron = ( { " ENTRY "catch_up_max = 5; } );\n",
                        "bad.conf:2: cron[0]: catch_up_max 5 goes with catch-up \"all\" only, not with \"once\"\n");
    test_config_refused(TEST_POOL "cron = ( { " ENTRY "weight = 2; } );\n",
                        "bad.conf:2: cron[0]: weight 2: needs a group, whose share it is\n");
    test_config_refused(TEST_POOL "cron = ( { " ENTRY "},\n { " ENTRY "} );\n",
                        "bad.conf:3: cron[1].name: \"n\" stands at [0] already (bad.conf:2)\n");
    test_config_refused(TEST_POOL "cron = ( { " ENTRY
                                  "},\n { name = \"n\"; spec = \"@daily\"; queue = \"r\"; type = \"t\"; } );\n",
                        "bad.conf:3: cron[1].name: \"n\" stands at [0] already (bad.conf:2)\n");
    test_config_refused(TEST_POOL "cron = ( { " ENTRY "backoff = { base = 5; cap = 1; }; } );\n",
                        "bad.conf:2: cron[0].backoff.base: expected at most cap (1), got 5\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(defaults), cmocka_unit_test(everything),
                                       cmocka_unit_test(bad_ones), cmocka_unit_test(what_does_not_fit_together)};
    if (chdir(test_dir()) != 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
