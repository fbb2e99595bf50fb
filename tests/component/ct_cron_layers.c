/* Recurring entries whose tasks pass layers that make another task of the same one each time. */
#include <stdio.h>
#include <string.h>

#include "reeve/layer.h"
#include "support/cron.h"

#define Q "reeve:{q}:"

static unsigned nonce;
static const char *secret;

/* What encryption and tracing do. */
static reeve_status seal(reeve_outgoing *task, reeve_task_spec *spec, void *user)
{
    char text[64], number[16];
    (void)user;
    if (strcmp(spec->type, "plain") == 0) return REEVE_OK;
    (void)snprintf(number, sizeof(number), "%u", ++nonce);
    int length = snprintf(text, sizeof(text), "<%.*s>", (int)spec->payload.length, (const char *)spec->payload.data);
    if (secret != NULL) reeve_outgoing_set_digest_key(task, secret, strlen(secret));
    reeve_status status = reeve_outgoing_set_payload(task, text, (size_t)length);
    return status == REEVE_OK ? reeve_outgoing_set_meta(task, "nonce", number) : status;
}

static reeve_client *open_layered(void)
{
    const reeve_layer layer = {REEVE_LAYER, .name = "seal", .enqueue = seal};
    reeve_client *client = test_client_open(5000);
    test_ok(client, reeve_client_add_layer(client, &layer));
    return client;
}

static bool set(reeve_client *client, const char *type, const char *payload, const char *spec, int64_t runs)
{
    bool changed;
    const reeve_task_spec task = {.queue = "q", .type = type, .payload = {payload, strlen(payload)}};
    const reeve_cron_entry entry = {
        .name = "n", .spec = spec, .catch_up = REEVE_CATCH_UP_ALL, .runs = runs, .task = &task};
    test_ok(client, reeve_cron_set(client, &entry, &changed));
    return changed;
}

static reeve_cron_entry *get(void)
{
    reeve_cron_entry *entry;
    test_ok(test_client, reeve_cron_get(test_client, NULL, "n", &entry));
    return entry;
}

static void assert_payload(const char *expected)
{
    reeve_cron_entry *entry = get();
    assert_int_equal(entry->task->payload.length, strlen(expected));
    assert_memory_equal(entry->task->payload.data, expected, strlen(expected));
    reeve_cron_entry_free(entry);
}

static const char *definition(void)
{
    static char text[512];
    rv_copy_text(text, sizeof(text), test_cmd(test_conn, "HGET " Q "cron n"));
    return text;
}

/* What is set again is the same entry: the slots of a downtime are caught up on, and its runs count on. The task is
 * that of the layers now, which may have another key. */
static void set_again_nothing_is_lost(void **state)
{
    (void)state;
    char before[512];
    reeve_client *client = open_layered();
    assert_true(set(client, "t", "p", "*/10 * * * *", 7));
    test_cron_start_worker("q");
    test_cron_later(1);
    test_cron_later(10 * TEST_MINUTE);
    assert_int_equal(test_cron_tasks(), 1);
    test_cron_stop_worker();
    test_clock_set(TEST_NOON + 51 * TEST_MINUTE);
    rv_copy_text(before, sizeof(before), definition());
    assert_false(set(client, "t", "p", "*/10 * * * *", 7));
    assert_string_not_equal(definition(), before);
    test_cron_start_worker("q");
    test_cron_look();
    for (int i = 1; i <= 5; i++) assert_true(test_cron_is_made(TEST_NOON + i * 10 * TEST_MINUTE));
    reeve_cron_info *info = test_cron_only();
    assert_int_equal(info->enqueued, 5);
    assert_non_null(info->entry->layered);
    reeve_cron_free(info, 1);
    reeve_client_close(client);
}

static void what_is_a_change(void **state)
{
    (void)state;
    reeve_client *client = open_layered();
    (void)set(client, "t", "p", "@daily", 0);
    test_clock_advance(TEST_MINUTE);
    int64_t due = test_cron_due();
    assert_true(set(client, "t", "another", "@daily", 0));
    assert_true(test_cron_due() > due);
    assert_true(set(client, "t", "another", "@hourly", 0));
    assert_true(set(client, "t", "another", "@hourly", 4));
    assert_false(set(client, "t", "another", "@hourly", 4));
    assert_true(set(test_client, "t", "another", "@hourly", 4)); /* without layers, and with them again */
    assert_payload("another");
    assert_null(strstr(definition(), "layered"));
    assert_true(set(client, "t", "another", "@hourly", 4));
    assert_payload("<another>");
    /* What the layers leave alone has no mark. */
    assert_true(set(client, "plain", "p", "@hourly", 4));
    assert_null(strstr(definition(), "layered"));
    assert_false(set(test_client, "plain", "p", "@hourly", 4));
    reeve_client_close(client);
}

/* Nobody can check a guess of what a layer hides: the digest depends on its key. */
static void a_digest_with_a_key(void **state)
{
    (void)state;
    char one[64];
    reeve_client *client = open_layered();
    secret = "one";
    (void)set(client, "t", "p", "@daily", 0);
    rv_copy_text(one, sizeof(one), strstr(definition(), "\"layered\":\"k"));
    assert_false(set(client, "t", "p", "@daily", 0));
    secret = "two";
    assert_true(set(client, "t", "p", "@daily", 0));
    assert_string_not_equal(strstr(definition(), "\"layered\":\"k"), one);
    secret = NULL;
    reeve_client_close(client);
}

/* A task that has passed layers does not pass them again. */
static void a_part_is_changed(void **state)
{
    (void)state;
    bool changed;
    reeve_client *client = open_layered();
    (void)set(client, "t", "p", "@daily", 0);
    reeve_cron_entry *entry = get(), copy = *entry;
    test_ok(client, reeve_cron_set(client, &copy, &changed));
    assert_false(changed);
    copy.spec = "@hourly";
    test_ok(client, reeve_cron_set(client, &copy, &changed));
    assert_true(changed);
    assert_payload("<p>");
    reeve_task_spec task = *entry->task;
    copy.task = &task;
    task.priority = 3;
    test_ok(client, reeve_cron_set(client, &copy, &changed));
    assert_true(changed);
    assert_payload("<p>");
    task.payload = (reeve_bytes){"new", 3};
    test_refused(client, reeve_cron_set(client, &copy, &changed), REEVE_EINVAL, "passed layers");
    task = *entry->task;
    task.type = "another";
    test_refused(client, reeve_cron_set(client, &copy, &changed), REEVE_EINVAL, "passed layers");
    copy.layered = "rubbish";
    test_refused(client, reeve_cron_set(client, &copy, &changed), REEVE_EINVAL, "passed layers");
    task.payload = (reeve_bytes){"new", 3};
    task.meta_count = 0;
    copy.layered = NULL;
    test_ok(client, reeve_cron_set(client, &copy, &changed));
    assert_payload("<new>");
    reeve_cron_entry_free(entry);
    reeve_client_close(client);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_cron_set_up, test_cron_tear_down)
    const struct CMUnitTest tests[] = {TEST(set_again_nothing_is_lost), TEST(what_is_a_change),
                                       TEST(a_digest_with_a_key), TEST(a_part_is_changed)};
    test_cron_zone("UTC");
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_cron_layers", tests, test_place_start, test_place_stop);
}
