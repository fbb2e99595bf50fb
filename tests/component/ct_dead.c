/* Dead letters: counted and listed by kind, kept and trimmed. */
#include <stdio.h>
#include <string.h>

#include "reeve/dead.h"
#include "support/clock.h"
#include "support/queue.h"

#define Q "reeve:{q}:"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    hand.session_ms = 1000000000;
    return test_place_empty(state);
}

#define DIE(task, of, words)                                                                              \
    {                                                                                                     \
        0,                                                                                                \
        {                                                                                                 \
            .id = (task), .outcome = REEVE_OUTCOME_FAIL, .counts = true, .kind = (of), .message = (words) \
        }                                                                                                 \
    }

static void settle_dead(const char *id, const char *kind, const char *message)
{
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_string_equal(hand.leased[0].id, id);
    test_settle(&hand, DIE(id, kind, message));
    assert_string_equal(hand.refused, "");
}

/* Enqueued, leased and dead; a millisecond passes. */
static void kill_task(const char *id, const char *kind)
{
    test_put("q", id);
    settle_dead(id, kind, "m");
    test_clock_advance(1);
}

/* The kinds, the one seen last first: "k:2 l:1". */
static const char *kinds(void)
{
    static char text[8192];
    reeve_failure *list;
    size_t count, at = 0;
    uint64_t total;
    text[0] = '\0';
    test_ok(test_client, reeve_failures(test_client, "q", 0, 1000, &list, &count, &total));
    assert_int_equal(total, count);
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s:%llu", i > 0 ? " " : "", list[i].kind,
                               (unsigned long long)list[i].count);
    reeve_failures_free(list);
    return text;
}

/* The ids of a kind, newest first. */
static const char *of_kind(const char *kind)
{
    static char text[8192];
    reeve_task_info **list;
    size_t count, at = 0;
    uint64_t total;
    text[0] = '\0';
    test_ok(test_client, reeve_list_kind(test_client, "q", kind, 0, 1000, &list, &count, &total));
    assert_int_equal(total, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(list[i]->state, REEVE_STATE_DEAD);
        assert_string_equal(list[i]->error_kind, kind);
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i > 0 ? " " : "", list[i]->id);
    }
    reeve_task_list_free(list, count);
    return text;
}

/* Nothing of the index is left. */
static void index_is_gone(void)
{
    assert_string_equal(kinds(), "");
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "failures*"), "[]");
}

static void counted_by_kind(void **state)
{
    (void)state;
    index_is_gone();
    kill_task("a", "io");
    kill_task("b", "decode");
    kill_task("c", "io");
    assert_string_equal(kinds(), "io:2 decode:1");
    kill_task("d", "decode");
    assert_string_equal(kinds(), "decode:2 io:2");
    assert_string_equal(of_kind("io"), "c a");
    assert_string_equal(of_kind("decode"), "d b");
    assert_string_equal(of_kind("none"), "");
    assert_int_equal(test_count("q", "dead"), 4);
    /* An attempt that failed is no death. */
    test_put("q", "e");
    (void)test_lease(&hand, 1);
    test_settle(&hand, TEST_RETRY("e", 60000));
    assert_string_equal(kinds(), "decode:2 io:2");
}

static void kill_of_type(const char *id, const char *type, const char *kind)
{
    test_put_spec((reeve_task_spec){.id = id, .type = type});
    settle_dead(id, kind, "m");
    test_clock_advance(1);
}

/* "t:2 u:1", of the latest `look`. */
static const char *types(uint64_t look, uint64_t *ret_seen)
{
    static char text[4096];
    reeve_type_failure *list;
    size_t count, at = 0;
    text[0] = '\0';
    test_ok(test_client, reeve_failures_by_type(test_client, "q", look, &list, &count, ret_seen));
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s:%llu", i > 0 ? " " : "", list[i].type,
                               (unsigned long long)list[i].count);
    reeve_type_failures_free(list);
    return text;
}

static void counted_by_type(void **state)
{
    (void)state;
    char id[16];
    uint64_t seen;
    reeve_type_failure *list;
    size_t count;
    assert_string_equal(types(0, &seen), "");
    assert_int_equal(seen, 0);
    kill_of_type("first", "rare", "io");
    for (int i = 0; i < 450; i++) { /* more than one call looks at */
        (void)snprintf(id, sizeof(id), "n%d", i);
        kill_of_type(id, i % 3 == 0 ? "third" : "often", i == 449 ? "last" : "io");
    }
    assert_string_equal(types(0, &seen), "often:300 third:150 rare:1");
    assert_int_equal(seen, 451);
    assert_string_equal(types(3, &seen), "often:2 third:1");
    assert_int_equal(seen, 3);
    assert_string_equal(types(450, NULL), "often:300 third:150");
    test_ok(test_client, reeve_failures_by_type(test_client, "q", 5, &list, &count, NULL));
    assert_string_equal(list[0].last_id, "n449");
    assert_string_equal(list[0].last_kind, "last");
    assert_string_equal(list[0].last_message, "m");
    assert_int_equal(list[0].last_ms, test_clock_now() - 1);
    reeve_type_failures_free(list);
    assert_int_equal(reeve_failures_by_type(test_client, "q", 0, NULL, &count, NULL), REEVE_EINVAL);
    assert_int_equal(reeve_failures_by_type(test_client, "no queue", 0, &list, &count, NULL), REEVE_EINVAL);
}

static void what_is_told_of_the_last(void **state)
{
    (void)state;
    reeve_failure *list;
    size_t count;
    test_put_spec((reeve_task_spec){.id = "a", .type = "first"});
    settle_dead("a", "io", "disk 1");
    test_clock_advance(1000);
    test_put_spec((reeve_task_spec){.id = "b", .type = "second"});
    settle_dead("b", "io", "disk 2");
    test_ok(test_client, reeve_failures(test_client, "q", 0, 10, &list, &count, NULL));
    assert_int_equal(count, 1);
    assert_int_equal(list[0].count, 2);
    assert_int_equal(list[0].last_ms, test_clock_now());
    assert_string_equal(list[0].last_id, "b");
    assert_string_equal(list[0].last_type, "second");
    assert_string_equal(list[0].last_message, "disk 2");
    reeve_failures_free(list);
    test_ok(test_client, reeve_delete(test_client, "q", "b"));
    test_ok(test_client, reeve_failures(test_client, "q", 0, 10, &list, &count, NULL));
    assert_int_equal(list[0].last_ms, test_clock_now() - 1000);
    assert_string_equal(list[0].last_type, "first");
    assert_string_equal(list[0].last_message, "disk 1");
    reeve_failures_free(list);
}

static void the_index_follows(void **state)
{
    (void)state;
    kill_task("a", "io");
    kill_task("b", "io");
    kill_task("c", "net");
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    assert_string_equal(kinds(), "net:1 io:1");
    test_ok(test_client, reeve_delete(test_client, "q", "c"));
    assert_string_equal(kinds(), "io:1");
    assert_int_equal(test_number("EXISTS " Q "failures:net"), 0);
    settle_dead("a", "net", "again"); /* of another kind, this time */
    assert_string_equal(kinds(), "net:1 io:1");
    assert_string_equal(of_kind("net"), "a");
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    test_ok(test_client, reeve_retry(test_client, "q", "b"));
    index_is_gone();
    (void)test_lease(&hand, 1);
    test_settle(&hand, TEST_DONE("b"));
    test_ok(test_client, reeve_delete(test_client, "q", "b"));
    index_is_gone();
}

static void a_retried_one_starts_anew(void **state)
{
    (void)state;
    test_put("q", "a");
    (void)test_lease(&hand, 1);
    test_settle(&hand, TEST_RETRY("a", 0));
    test_maintain_all("q");
    settle_dead("a", "io", "m");
    reeve_task_info *info = test_show("q", "a");
    assert_int_equal(info->failures, 2);
    reeve_task_info_free(info);
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    info = test_show("q", "a");
    assert_int_equal(info->failures, 0);
    assert_int_equal(info->crashes, 0);
    assert_string_equal(info->error_kind, "io"); /* to be read still */
    assert_string_equal(info->error_message, "m");
    reeve_task_info_free(info);
    (void)test_lease(&hand, 1);
    assert_int_equal(hand.leased[0].failures, 0);
}

static void trimmed_by_count(void **state)
{
    (void)state;
    const reeve_keep two = {.age_ms = -1, .count = 2};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.dead = &two}));
    kill_task("a", "io");
    kill_task("b", "net");
    kill_task("c", "io");
    assert_string_equal(kinds(), "io:1 net:1");
    kill_task("d", "io");
    assert_string_equal(kinds(), "io:2");
    assert_int_equal(test_number("EXISTS " Q "failures:net"), 0);
    assert_string_equal(of_kind("io"), "d c");
    assert_int_equal(test_number("HLEN " Q "tasks"), 2);
    assert_int_equal(test_number("EXISTS " Q "info:a " Q "info:b"), 0);
}

static void trimmed_by_age(void **state)
{
    (void)state;
    const reeve_keep minute = {.age_ms = 60000, .count = -1};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.dead = &minute}));
    kill_task("a", "io");
    kill_task("b", "net");
    test_clock_advance(30000);
    kill_task("c", "io");
    test_clock_advance(30000);
    test_maintain_all("q");
    assert_string_equal(kinds(), "io:1");
    assert_string_equal(of_kind("io"), "c");
    test_clock_advance(30000);
    test_maintain_all("q");
    index_is_gone();
    assert_int_equal(test_number("EXISTS " Q "tasks"), 0);
}

static void nothing_is_kept(void **state)
{
    (void)state;
    static const reeve_keep none[] = {{.age_ms = 0, .count = -1}, {.age_ms = -1, .count = 0}};
    for (size_t i = 0; i < 2; i++) {
        test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.dead = &none[i]}));
        kill_task("a", "io");
        index_is_gone();
        assert_string_equal(test_state("q", "a"), "");
        assert_int_equal(test_number("EXISTS " Q "info:a"), 0);
    }
}

static void kinds_of_any_bytes(void **state)
{
    (void)state;
    char longest[REEVE_KIND_MAX + 1];
    memset(longest, 'k', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    const char *const odd[] = {longest, " ",  "a b", "a:b", "{x}",      "\n", "\r\n$5\r\n", "\x01", "\xff\xfe", "*",
                               "%s",    "\"", "'",   "\\",  "failures", "0",  "-inf",       "(1",   "\xc3\xa9"};
    enum { ODD = sizeof(odd) / sizeof(odd[0]) };
    char id[REEVE_ID_MAX];
    for (size_t i = 0; i < ODD; i++) {
        (void)snprintf(id, sizeof(id), "t%zu", i);
        kill_task(id, odd[i]);
    }
    reeve_failure *list;
    size_t count;
    uint64_t total;
    test_ok(test_client, reeve_failures(test_client, "q", 0, 1000, &list, &count, &total));
    assert_int_equal(count, ODD);
    for (size_t i = 0; i < ODD; i++) {
        (void)snprintf(id, sizeof(id), "t%zu", i);
        assert_string_equal(list[ODD - 1 - i].kind, odd[i]);
        assert_string_equal(list[ODD - 1 - i].last_id, id);
        assert_string_equal(of_kind(odd[i]), id);
    }
    reeve_failures_free(list);
    for (size_t i = 0; i < ODD; i++) {
        (void)snprintf(id, sizeof(id), "t%zu", i);
        test_ok(test_client, reeve_delete(test_client, "q", id));
    }
    index_is_gone();
}

static void pages(void **state)
{
    (void)state;
    reeve_failure *list;
    reeve_task_info **tasks;
    size_t count;
    uint64_t total;
    char id[REEVE_ID_MAX], kind[20];
    for (int i = 0; i < 10; i++) {
        (void)snprintf(id, sizeof(id), "t%d", i);
        (void)snprintf(kind, sizeof(kind), "k%d", i);
        kill_task(id, i < 7 ? kind : "k7");
    }
    test_ok(test_client, reeve_failures(test_client, "q", 3, 2, &list, &count, &total));
    assert_int_equal(count, 2);
    assert_int_equal(total, 8);
    assert_string_equal(list[0].kind, "k4");
    assert_string_equal(list[1].kind, "k3");
    reeve_failures_free(list);
    test_ok(test_client, reeve_failures(test_client, "q", 7, 1000, &list, &count, &total));
    assert_int_equal(count, 1);
    reeve_failures_free(list);
    for (uint64_t offset = 0; offset < 20; offset += 8) {
        test_ok(test_client, reeve_failures(test_client, "q", offset, 0, &list, &count, &total));
        assert_int_equal(count, 0);
        assert_int_equal(total, 8);
        reeve_failures_free(list);
    }
    test_ok(test_client, reeve_list_kind(test_client, "q", "k7", 1, 1, &tasks, &count, &total));
    assert_int_equal(count, 1);
    assert_int_equal(total, 3);
    assert_string_equal(tasks[0]->id, "t8");
    reeve_task_list_free(tasks, count);
    test_ok(test_client, reeve_list_kind(test_client, "q", "k7", 0, 0, &tasks, &count, &total));
    assert_int_equal(count, 0);
    reeve_task_list_free(tasks, count);
}

static void misuse(void **state)
{
    (void)state;
    reeve_failure *list = NULL;
    reeve_task_info **tasks = NULL;
    size_t count;
    char long_kind[REEVE_KIND_MAX + 2];
    memset(long_kind, 'k', sizeof(long_kind) - 1);
    long_kind[sizeof(long_kind) - 1] = '\0';
    assert_int_equal(reeve_failures(NULL, "q", 0, 1, &list, &count, NULL), REEVE_EINVAL);
    assert_int_equal(reeve_failures(test_client, "q", 0, 1, NULL, &count, NULL), REEVE_EINVAL);
    assert_int_equal(reeve_failures(test_client, "q", 0, 1, &list, NULL, NULL), REEVE_EINVAL);
    test_refused(test_client, reeve_failures(test_client, "q q", 0, 1, &list, &count, NULL), REEVE_EINVAL, "queue");
    test_refused(test_client, reeve_failures(test_client, "q", 0, 1001, &list, &count, NULL), REEVE_EINVAL,
                 "at most 1000 kinds");
    test_refused(test_client, reeve_failures(test_client, "q", UINT64_MAX, 1, &list, &count, NULL), REEVE_EINVAL,
                 "offset");
    assert_int_equal(reeve_list_kind(NULL, "q", "k", 0, 1, &tasks, &count, NULL), REEVE_EINVAL);
    assert_int_equal(reeve_list_kind(test_client, "q", NULL, 0, 1, &tasks, &count, NULL), REEVE_EINVAL);
    assert_int_equal(reeve_list_kind(test_client, "q", "k", 0, 1, NULL, &count, NULL), REEVE_EINVAL);
    test_refused(test_client, reeve_list_kind(test_client, "q", "", 0, 1, &tasks, &count, NULL), REEVE_EINVAL,
                 "kind \"\"");
    test_refused(test_client, reeve_list_kind(test_client, "q", long_kind, 0, 1, &tasks, &count, NULL), REEVE_EINVAL,
                 "1 to 100 bytes");
    assert_null(list);
    assert_null(tasks);
    reeve_failures_free(NULL);
}

/* Each call of the script tells of a part; the newest kind comes first. */
static void many_kinds(void **state)
{
    (void)state;
    enum { KINDS = 130, SKIPPED = 3, WANTED = 110 };
    char name[32];
    for (int i = 0; i < KINDS; i++) {
        (void)snprintf(name, sizeof(name), "k%d", i);
        kill_task(name, name);
    }
    reeve_failure *list;
    size_t count;
    uint64_t total;
    test_ok(test_client, reeve_failures(test_client, "q", SKIPPED, WANTED, &list, &count, &total));
    assert_int_equal(total, KINDS);
    assert_int_equal(count, WANTED);
    for (int i = 0; i < WANTED; i++) {
        (void)snprintf(name, sizeof(name), "k%d", KINDS - 1 - SKIPPED - i);
        assert_string_equal(list[i].kind, name);
    }
    reeve_failures_free(list);
    test_ok(test_client, reeve_failures(test_client, "q", KINDS - 1, WANTED, &list, &count, &total));
    assert_int_equal(count, 1);
    reeve_failures_free(list);
    test_ok(test_client, reeve_failures(test_client, "q", KINDS, WANTED, &list, &count, &total));
    assert_int_equal(count, 0);
    assert_int_equal(total, KINDS);
    reeve_failures_free(list);
}

/* What died before there was an index, and what was broken by hand. */
static void dead_ones_without_an_index(void **state)
{
    (void)state;
    kill_task("a", "io");
    kill_task("b", "io");
    (void)test_cmd(test_conn, "DEL " Q "failures " Q "failures:io");
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    test_ok(test_client, reeve_delete(test_client, "q", "b"));
    index_is_gone();
    (void)test_lease(&hand, 1);
    (void)test_cmd(test_conn, "HDEL " Q "tasks a");
    test_settle(&hand, DIE("a", "io", "m")); /* nothing to bury */
    index_is_gone();
    assert_int_equal(test_number("EXISTS " Q "dead"), 0);
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(counted_by_kind, set_up),
        cmocka_unit_test_setup(counted_by_type, set_up),
        cmocka_unit_test_setup(what_is_told_of_the_last, set_up),
        cmocka_unit_test_setup(the_index_follows, set_up),
        cmocka_unit_test_setup(a_retried_one_starts_anew, set_up),
        cmocka_unit_test_setup(trimmed_by_count, set_up),
        cmocka_unit_test_setup(trimmed_by_age, set_up),
        cmocka_unit_test_setup(nothing_is_kept, set_up),
        cmocka_unit_test_setup(kinds_of_any_bytes, set_up),
        cmocka_unit_test_setup(pages, set_up),
        cmocka_unit_test_setup(many_kinds, set_up),
        cmocka_unit_test_setup(misuse, set_up),
        cmocka_unit_test_setup(dead_ones_without_an_index, set_up),
    };
    test_clock_set(1900000000000); /* it stands still */
    return cmocka_run_group_tests_name("ct_dead", tests, test_place_start, test_place_stop);
}
