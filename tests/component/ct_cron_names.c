/* Recurring entries by their names: a name is one entry in whichever queue, and an entry can be read as it was set. */
#include <stdio.h>
#include <string.h>

#include "protocol/scripts.h"
#include "support/cron.h"

#define Q "reeve:{q}:"
#define R "reeve:{r}:"

/* Sets entry n in a queue; says where it was before. */
static const char *set_in(const char *queue, const char *spec)
{
    static char from[REEVE_QUEUE_MAX + 1];
    const reeve_task_spec task = {.queue = queue, .type = "t"};
    const reeve_cron_entry entry = {.name = "n", .spec = spec, .task = &task};
    (void)snprintf(from, sizeof(from), "unwritten");
    test_ok(test_client, reeve_cron_set_with_origin(test_client, &entry, NULL, from));
    return from;
}

static const char *where(void)
{
    return test_cmd(test_conn, "HGET reeve:cron n");
}

/* ---- one queue ------------------------------------------------------------------------------------------------- */

static void another_queue_moves_it(void **state)
{
    (void)state;
    assert_string_equal(set_in("q", "@daily"), "");
    assert_string_equal(set_in("q", "@hourly"), "");
    assert_string_equal(set_in("r", "@hourly"), "q");
    assert_int_equal(test_number("EXISTS " Q "cron " Q "cron:due"), 0);
    assert_int_equal(test_number("HEXISTS " R "cron n"), 1);
    assert_int_equal(test_number("ZCARD " R "cron:due"), 1);
    assert_string_equal(where(), "r");
    assert_string_equal(set_in("r", "@hourly"), "");
    assert_string_equal(set_in("q", "@hourly"), "r");
    assert_int_equal(test_number("EXISTS " R "cron"), 0);
    assert_string_equal(where(), "q");
}

/* "q~0" is another name of q (protocol/partition.h). */
static void the_exact_name_does_not_remove_it(void **state)
{
    (void)state;
    (void)set_in("q", "@daily");
    assert_string_equal(set_in("q~0", "@daily"), "");
    assert_int_equal(test_number("HEXISTS " Q "cron n"), 1);
    assert_string_equal(where(), "q");
    assert_int_equal(test_number("SISMEMBER reeve:queues q~0"), 0);
    /* As an earlier version has written it. */
    assert_int_equal(test_number("HSET reeve:cron n q~0"), 0);
    assert_string_equal(set_in("q", "@hourly"), "");
    assert_int_equal(test_number("HEXISTS " Q "cron n"), 1);
    assert_string_equal(where(), "q");
    test_ok(test_client, reeve_cron_remove(test_client, "q~0", "n"));
    assert_int_equal(test_number("HEXISTS reeve:cron n"), 0);
}

static void a_paused_one_stays_paused(void **state)
{
    (void)state;
    (void)set_in("q", "@daily");
    test_ok(test_client, reeve_cron_pause(test_client, "q", "n", NULL));
    assert_string_equal(set_in("r", "@daily"), "q");
    assert_int_equal(test_number("HEXISTS " R "cron n"), 1);
    assert_int_equal(test_number("EXISTS " R "cron:due"), 0);
    test_ok(test_client, reeve_cron_resume(test_client, "r", "n", NULL));
    assert_int_equal(test_number("ZCARD " R "cron:due"), 1);
}

static void a_name_that_was_removed_is_free(void **state)
{
    (void)state;
    (void)set_in("q", "@daily");
    test_ok(test_client, reeve_cron_remove(test_client, "q", "n"));
    assert_int_equal(test_number("EXISTS reeve:cron"), 0);
    assert_string_equal(set_in("r", "@daily"), "");
    /* Where an older program removed it, too. */
    (void)test_cmd(test_conn, "DEL " R "cron " R "cron:due");
    assert_string_equal(set_in("q", "@daily"), "");
    /* What it is called elsewhere by mistake is not touched. */
    (void)test_cmd(test_conn, "HSET reeve:cron n r");
    test_ok(test_client, reeve_cron_remove(test_client, "q", "n"));
    assert_string_equal(where(), "r");
}

/* A call that was cut short after it had set the entry: the next one finishes it. */
static void a_move_that_was_cut_short_is_finished(void **state)
{
    (void)state;
    (void)set_in("r", "@daily");
    (void)set_in("q", "@daily");
    (void)test_cmd(test_conn, "HSET reeve:cron n r");
    (void)test_cmd(test_conn, "COPY " Q "cron " R "cron");
    assert_string_equal(set_in("q", "@daily"), "r");
    assert_int_equal(test_number("EXISTS " R "cron"), 0);
    assert_string_equal(where(), "q");
}

/* ---- read as it was set ---------------------------------------------------------------------------------------- */

static const reeve_backoff backoff = {.shape = REEVE_BACKOFF_LIST, .list_ms = {1000, 5000}, .jitter = -1};
static const char *const tags[] = {"red", "b \"lue\""};
static const reeve_meta metas[] = {{"k", "v"}, {"trace", "00-\xc3\xa4"}};
static const reeve_task_spec full = {.queue = "q",
                                     .type = "t",
                                     .payload = {"a\0b", 3},
                                     .priority = -7,
                                     .group = "g",
                                     .weight = 3,
                                     .attempts = 4,
                                     .max_crashes = 2,
                                     .timeout_ms = 1500,
                                     .heartbeat_ms = 700,
                                     .at_most_once = true,
                                     .backoff = &backoff,
                                     .on_dead = "told",
                                     .expires_in_ms = 60000,
                                     .tags = tags,
                                     .tag_count = 2,
                                     .meta = metas,
                                     .meta_count = 2};

/* What was read and is set again is the same to the byte. */
static void one_is_read_as_it_was_set(void **state)
{
    reeve_cron_entry *entry = NULL;
    bool changed = true;
    (void)state;
    const reeve_cron_entry one = {.name = "n",
                                  .spec = "0 3 * * *",
                                  .local = true,
                                  .catch_up = REEVE_CATCH_UP_ALL,
                                  .catch_up_max = 7,
                                  .no_overlap = true,
                                  .task = &full};
    test_ok(test_client, reeve_cron_set(test_client, &one, NULL));
    test_ok(test_client, reeve_cron_get(test_client, NULL, "n", &entry));
    test_ok(test_client, reeve_cron_set(test_client, entry, &changed));
    assert_false(changed);
    assert_string_equal(entry->task->queue, "q");
    assert_int_equal(entry->task->attempts, 4);
    assert_string_equal(entry->task->tags[1], tags[1]);
    assert_memory_equal(entry->task->payload.data, "a\0b", 4);
    reeve_cron_entry_free(entry);
    reeve_cron_entry_free(NULL);
    test_cron_set((reeve_cron_entry){.spec = "@daily"}, "t");
    test_ok(test_client, reeve_cron_get(test_client, "q", "n", &entry));
    test_ok(test_client, reeve_cron_set(test_client, entry, &changed));
    assert_false(changed);
    reeve_cron_entry_free(entry);
}

static void what_cannot_be_read(void **state)
{
    static const char *const definitions[] = {
        "rubbish",
        "{}\n\"type\":\"t\"}\n",
        "{\"spec\":\"@daily\",\"zone\":\"utc\",\"catch_up\":\"once\"}\n",
        "{\"spec\":\"@daily\",\"zone\":\"utc\",\"catch_up\":\"once\"}\nrubbish\n",
        "{\"spec\":\"@daily\",\"zone\":\"utc\",\"catch_up\":\"once\"}\n\"type\":5}\n",
        "{\"spec\":\"@daily\",\"zone\":\"mars\",\"catch_up\":\"once\"}\n\"type\":\"t\"}\n"};
    reeve_cron_entry *entry = NULL;
    (void)state;
    test_refused(test_client, reeve_cron_get(test_client, NULL, "n", &entry), REEVE_ENOTFOUND, "entry n");
    test_refused(test_client, reeve_cron_get(test_client, "q", "n", &entry), REEVE_ENOTFOUND, "q/n");
    test_refused(test_client, reeve_cron_get(test_client, "q", "a:b", &entry), REEVE_EINVAL, "a:b");
    for (size_t i = 0; i < sizeof(definitions) / sizeof(definitions[0]); i++) {
        const rv_reply *reply;
        rv_cmd(test_conn, 4);
        rv_args(test_conn, "HSET");
        rv_args(test_conn, Q "cron");
        rv_args(test_conn, "n");
        rv_args(test_conn, definitions[i]);
        assert_int_equal(rv_conn_call(test_conn, rv_deadline(5000), &reply), REEVE_OK);
        test_refused(test_client, reeve_cron_get(test_client, "q", "n", &entry), REEVE_EPROTO, "q/n");
        assert_null(entry);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_cron_set_up, test_cron_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(another_queue_moves_it),
                                       TEST(the_exact_name_does_not_remove_it),
                                       TEST(a_paused_one_stays_paused),
                                       TEST(a_name_that_was_removed_is_free),
                                       TEST(a_move_that_was_cut_short_is_finished),
                                       TEST(one_is_read_as_it_was_set),
                                       TEST(what_cannot_be_read)};
    test_cron_zone("UTC");
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_cron_names", tests, test_place_start, test_place_stop);
}
