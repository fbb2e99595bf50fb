/* Recurring entries: their definitions, and which slots are made into tasks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "protocol/cron_definition.h"
#include "support/cmocka.h"

#define NOON 1700049600000 /* 2023-11-15T12:00:00Z */
#define MINUTE 60000
#define HOUR (60 * MINUTE)

static rv_cron_rule rule_of(const char *spec, reeve_catch_up catch_up, unsigned max, bool no_overlap)
{
    rv_cron_rule rule = {.zone = RV_ZONE_UTC, .catch_up = catch_up, .max = max, .no_overlap = no_overlap};
    rv_error error = {0};
    if (rv_cron_parse(&rule.cron, spec, &error) != REEVE_OK) fail_msg("%s", error.text);
    return rule;
}

/* The slots, as seconds after a time, separated by blanks; then when it is due next. */
static const char *decide(const rv_cron_rule *rule, int64_t due, int64_t now, int64_t after)
{
    static char text[16 * REEVE_CRON_CATCH_UP_MAX];
    static int64_t slots[REEVE_CRON_CATCH_UP_MAX];
    int64_t next = 0;
    size_t count = rv_cron_definition_decide(rule, due, now, slots, &next), length = 0;
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%g ", (double)(slots[i] - after) / 1000);
    (void)snprintf(text + length, sizeof(text) - length, "> %g", (double)(next - after) / 1000);
    return text;
}

static void on_time(void **state)
{
    (void)state;
    for (int how = REEVE_CATCH_UP_ONCE; how <= REEVE_CATCH_UP_ALL; how++) {
        rv_cron_rule rule = rule_of("* * * * *", (reeve_catch_up)how, 1, how == REEVE_CATCH_UP_ALL);
        assert_string_equal(decide(&rule, NOON, NOON, NOON), "0 > 60");
        assert_string_equal(decide(&rule, NOON, NOON + 3, NOON), "0 > 60");
        assert_string_equal(decide(&rule, NOON, NOON + RV_CRON_LATE_MS, NOON), "0 > 60");
    }
}

/* A worker that is a little late, for many slots: none is missed, whatever is said of catching up. */
static void a_little_late(void **state)
{
    (void)state;
    for (int how = REEVE_CATCH_UP_ONCE; how <= REEVE_CATCH_UP_ALL; how++) {
        rv_cron_rule rule = rule_of("every 100ms", (reeve_catch_up)how, 1, false);
        assert_string_equal(decide(&rule, NOON, NOON + 350, NOON), "0 0.1 0.2 0.3 > 0.4");
        assert_int_equal(strlen(decide(&rule, NOON, NOON + 2000, NOON)), strlen("0 1 2 > 2.1") + 18 * 4);
    }
    rv_cron_rule rule = rule_of("every 100ms", REEVE_CATCH_UP_ALL, 9, true);
    assert_string_equal(decide(&rule, NOON, NOON + 350, NOON), "0.3 > 0.4");
}

static void after_a_downtime(void **state)
{
    (void)state;
    rv_cron_rule rule = rule_of("*/10 * * * *", REEVE_CATCH_UP_ONCE, 0, false);
    int64_t late = NOON + HOUR + 90000;
    assert_string_equal(decide(&rule, NOON, late, NOON), "3600 > 4200");
    assert_string_equal(decide(&rule, NOON, NOON + RV_CRON_LATE_MS + 1, NOON), "0 > 600");
    rule.catch_up = REEVE_CATCH_UP_SKIP;
    assert_string_equal(decide(&rule, NOON, late, NOON), "> 4200");
    assert_string_equal(decide(&rule, NOON, NOON + RV_CRON_LATE_MS + 1, NOON), "> 600");
    assert_string_equal(decide(&rule, NOON, NOON + HOUR + RV_CRON_LATE_MS, NOON),
                        "3600 > 4200"); /* that one is not missed */
    rule.catch_up = REEVE_CATCH_UP_ALL;
    rule.max = 100;
    assert_string_equal(decide(&rule, NOON, late, NOON), "0 600 1200 1800 2400 3000 3600 > 4200");
    rule.max = 3;
    assert_string_equal(decide(&rule, NOON, late, NOON), "2400 3000 3600 > 4200");
    rule.no_overlap = true;
    assert_string_equal(decide(&rule, NOON, late, NOON), "3600 > 4200");
}

static void years_of_slots_are_no_work(void **state)
{
    (void)state;
    rv_cron_rule rule = rule_of("every 100ms", REEVE_CATCH_UP_ALL, REEVE_CRON_CATCH_UP_MAX, false);
    static int64_t slots[REEVE_CRON_CATCH_UP_MAX];
    int64_t next;
    assert_int_equal(rv_cron_definition_decide(&rule, 100, NOON, slots, &next), REEVE_CRON_CATCH_UP_MAX);
    assert_int_equal(slots[0], NOON - 100LL * (REEVE_CRON_CATCH_UP_MAX - 1));
    assert_int_equal(slots[REEVE_CRON_CATCH_UP_MAX - 1], NOON);
    assert_int_equal(next, NOON + 100);
}

/* One that was set, or resumed, is looked at at a time that is none of its slots. */
static void due_at_none_of_its_slots(void **state)
{
    (void)state;
    rv_cron_rule rule = rule_of("0 * * * *", REEVE_CATCH_UP_ONCE, 0, false);
    assert_string_equal(decide(&rule, NOON + 1, NOON + 1, NOON), "> 3600");
    assert_string_equal(decide(&rule, NOON + 1, NOON + HOUR - 1, NOON), "> 3600");
    assert_string_equal(decide(&rule, NOON + 1, NOON + HOUR, NOON), "3600 > 7200");
    assert_string_equal(decide(&rule, NOON + 1, NOON + 5 * HOUR, NOON), "18000 > 21600");
}

/* Those that fire from a time on: with a jitter, the slot before that time may be one. */
static void coming_slots(void **state)
{
    (void)state;
    rv_cron_rule rule = rule_of("* * * * *", REEVE_CATCH_UP_ONCE, 0, false);
    int64_t slots[5];
    assert_int_equal(rv_cron_definition_coming(&rule, NOON, 5, slots), 5);
    for (int i = 0; i < 5; i++) assert_int_equal(slots[i], NOON + i * MINUTE);
    rule.starts_ms = NOON + 10 * MINUTE;
    rule.ends_ms = NOON + 11 * MINUTE + 1;
    assert_int_equal(rv_cron_definition_coming(&rule, NOON, 5, slots), 2);
    assert_int_equal(slots[0], NOON + 10 * MINUTE);
    rule.starts_ms = rule.ends_ms = 0;
    rule.jitter_ms = 5 * MINUTE;
    for (int64_t at = NOON; at < NOON + 30 * MINUTE; at += MINUTE / 4) {
        int64_t fires = rv_cron_definition_next(&rule, at);
        assert_int_equal(rv_cron_definition_coming(&rule, fires, 5, slots), 5);
        assert_true(slots[0] > fires - rule.jitter_ms && slots[0] <= fires);
    }
}

/* What an entry says and what its definition says is the same. */
static void the_rule_of_an_entry(void **state)
{
    (void)state;
    rv_cron_rule rule;
    const reeve_cron_entry entry = {.name = "n",
                                    .spec = "every 1h",
                                    .catch_up = REEVE_CATCH_UP_ALL,
                                    .starts_ms = NOON,
                                    .ends_ms = NOON + HOUR,
                                    .offset_ms = MINUTE,
                                    .jitter_ms = 5 * MINUTE,
                                    .runs = 3};
    assert_int_equal(rv_cron_definition_make_rule(&rule, &entry), REEVE_OK);
    assert_true(rule.starts_ms == NOON && rule.ends_ms == NOON + HOUR && rule.cron.offset_ms == MINUTE);
    assert_true(rule.jitter_ms == 5 * MINUTE && rule.runs == 3 && rule.max == 100 && !rule.no_overlap);
    assert_true(rule.cron.interval_ms == HOUR && rule.zone == RV_ZONE_UTC);
}

static void the_last_slot_of_all(void **state)
{
    (void)state;
    rv_cron_rule rule = rule_of("0 0 1 1 *", REEVE_CATCH_UP_ONCE, 0, false);
    int64_t last = 253370764800000, slots[REEVE_CRON_CATCH_UP_MAX], next; /* 9999-01-01 */
    assert_int_equal(rv_cron_definition_decide(&rule, last, last, slots, &next), 1);
    assert_int_equal(slots[0], last);
    assert_int_equal(next, -1);
}

static void zone(const char *name)
{
    assert_int_equal(setenv("TZ", name, 1), 0);
    tzset();
}

/* Berlin, 2023-03-26: 2:00 becomes 3:00 at 1:00 UTC; 2023-10-29: 3:00 becomes 2:00 at 1:00 UTC. */
static void clock_changes(void **state)
{
    (void)state;
    zone("Europe/Berlin");
    const int64_t leap = 1679792400000, fall = 1698541200000;
    rv_cron_rule rule = rule_of("30 2 * * *", REEVE_CATCH_UP_ALL, 100, false);
    rule.zone = RV_ZONE_LOCAL;
    assert_string_equal(decide(&rule, leap - HOUR, leap, leap), "0 > 84600");
    /* The first 2:30, and not the second, an hour later. */
    assert_string_equal(decide(&rule, fall - HOUR, fall + HOUR, fall), "-1800 > 88200");
    /* Every real hour. */
    rule = rule_of("30 * * * *", REEVE_CATCH_UP_ALL, 100, false);
    rule.zone = RV_ZONE_LOCAL;
    assert_string_equal(decide(&rule, fall - HOUR, fall + HOUR, fall), "-1800 1800 > 5400");
    assert_string_equal(decide(&rule, leap - HOUR, leap + HOUR, leap), "-1800 1800 > 5400");
    zone("UTC");
}

static void within_a_range(void **state)
{
    (void)state;
    rv_cron_rule rule = rule_of("* * * * *", REEVE_CATCH_UP_ALL, 100, false);
    rule.starts_ms = NOON + 2 * MINUTE;
    rule.ends_ms = NOON + 4 * MINUTE;
    assert_string_equal(decide(&rule, NOON - HOUR, NOON - HOUR, NOON), "> 120");
    assert_string_equal(decide(&rule, NOON + 2 * MINUTE, NOON + 2 * MINUTE, NOON), "120 > 180");
    assert_string_equal(decide(&rule, NOON, NOON + 3 * MINUTE, NOON), "120 180 > 240");
    rv_cron_rule ended = rule;
    int64_t next, slots[REEVE_CRON_CATCH_UP_MAX];
    assert_int_equal(rv_cron_definition_decide(&ended, NOON, NOON + HOUR, slots, &next), 3);
    assert_int_equal(next, -1);
}

static void intervals_with_an_offset(void **state)
{
    (void)state;
    rv_cron_rule rule = rule_of("every 1h", REEVE_CATCH_UP_ALL, 100, false);
    rule.cron.offset_ms = 20 * MINUTE;
    assert_string_equal(decide(&rule, NOON, NOON, NOON), "> 1200");
    assert_string_equal(decide(&rule, NOON + 20 * MINUTE, NOON + 20 * MINUTE, NOON), "1200 > 4800");
    assert_string_equal(decide(&rule, NOON, NOON + 2 * HOUR, NOON), "1200 4800 > 8400");
    assert_int_equal(rv_cron_next(&rule.cron, RV_ZONE_UTC, -1), 20 * MINUTE);
    assert_int_equal(rv_cron_next(&rule.cron, RV_ZONE_UTC, 20 * MINUTE), 80 * MINUTE);
    assert_int_equal(rv_cron_missed(&rule.cron, RV_ZONE_UTC, 0, 19 * MINUTE, 1, &(int64_t){0}), 0);
}

/* However often it is looked at, each slot fires once, later by less than the jitter. */
static void with_jitter(void **state)
{
    (void)state;
    static const char *const specs[] = {"* * * * *", "every 7s", "*/3 * * * * *"};
    static const int64_t jitters[] = {10 * MINUTE, 7000, 45000}, steps[] = {1, 777, 5000, 61000};
    static int64_t slots[REEVE_CRON_CATCH_UP_MAX];
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 4; j++) {
            rv_cron_rule rule = rule_of(specs[i], REEVE_CATCH_UP_ALL, 1000, false);
            rule.jitter_ms = jitters[i];
            rule.seed = 5 + j;
            int64_t due = rv_cron_definition_next(&rule, NOON), end = NOON + HOUR / 4, fired = 0, later = 0;
            while (due < end) {
                int64_t next, now = due + steps[j] % 1500;
                size_t count = rv_cron_definition_decide(&rule, due, now, slots, &next);
                assert_true(count > 0 && next > now);
                for (size_t k = 0; k < count; k++) {
                    assert_true(slots[k] > now - jitters[i] - 1500 && slots[k] <= now);
                    later += now - slots[k] > 1500;
                }
                fired += (int64_t)count;
                due = next;
            }
            int64_t expected = HOUR / 4 / (i == 0 ? MINUTE : i == 1 ? 7000 : 3000);
            assert_true(fired >= expected - 20 && fired <= expected + 20);
            assert_true(later > 0);
        }
    }
}

/* ---- definitions ----------------------------------------------------------------------------------------------- */

static const reeve_task_spec task = {.queue = "q",
                                     .type = "report",
                                     .payload = {"a\nb\0c", 5},
                                     .priority = -3,
                                     .group = "g\"1\"",
                                     .weight = 2,
                                     .attempts = 7};

static void assert_definition(const reeve_cron_entry *entry, const char *first, const char *rest)
{
    rv_buf out;
    rv_error error = {0};
    if (rv_cron_definition_check(entry, &error) != REEVE_OK) fail_msg("%s", error.text);
    rv_buf_init(&out, 4096);
    rv_cron_definition_write(&out, entry, "");
    assert_false(out.failed);
    char *newline = strchr(out.data, '\n');
    assert_non_null(newline);
    *newline = '\0';
    assert_string_equal(out.data, first);
    assert_int_equal(strncmp(newline + 1, rest, strlen(rest)), 0);
    rv_cron_rule rule;
    if (rv_cron_definition_read_rule(&rule, "n", out.data, strlen(out.data), &error) != REEVE_OK)
        fail_msg("%s", error.text);
    assert_int_equal(rule.zone == RV_ZONE_LOCAL, entry->local);
    assert_int_equal(rule.catch_up, entry->catch_up);
    assert_int_equal(rule.no_overlap, entry->no_overlap);
    assert_int_equal(rule.max, entry->catch_up_max > 0 ? entry->catch_up_max : 100);
    rv_buf_fini(&out);
}

static void definitions(void **state)
{
    (void)state;
    reeve_task_spec plain = {.queue = "q", .type = "t"};
    reeve_cron_entry entry = {.name = "n", .spec = "@daily", .task = &plain};
    assert_definition(&entry, "{\"spec\":\"@daily\",\"zone\":\"utc\",\"catch_up\":\"once\"}", "\"type\":\"t\"}\n");
    entry = (reeve_cron_entry){.name = "n",
                               .spec = "*/5 * * * *",
                               .local = true,
                               .catch_up = REEVE_CATCH_UP_ALL,
                               .no_overlap = true,
                               .task = &task};
    assert_definition(
        &entry,
        "{\"spec\":\"*/5 * * * *\",\"zone\":\"local\",\"catch_up\":\"all\",\"max\":100,\"overlap\":false,"
        "\"options\":{\"priority\":-3,\"group\":\"g\\\"1\\\"\",\"weight\":2}}",
        "\"type\":\"report\",\"priority\":-3,\"group\":\"g\\\"1\\\"\",\"weight\":2,\"attempts\":7}\na\nb");
    reeve_cron_entry limited = {.name = "n",
                                .spec = "every 1h",
                                .task = &plain,
                                .starts_ms = 5,
                                .ends_ms = 900,
                                .offset_ms = 7,
                                .jitter_ms = 8,
                                .runs = 9};
    assert_definition(&limited,
                      "{\"spec\":\"every 1h\",\"zone\":\"utc\",\"catch_up\":\"once\",\"starts\":5,\"ends\":900,"
                      "\"offset\":7,\"jitter\":8,\"runs\":9}",
                      "\"type\":\"t\"}\n");
    entry.catch_up_max = 1000;
    entry.size = sizeof(entry);
    assert_definition(
        &entry,
        "{\"spec\":\"*/5 * * * *\",\"zone\":\"local\",\"catch_up\":\"all\",\"max\":1000,\"overlap\":false,"
        "\"options\":{\"priority\":-3,\"group\":\"g\\\"1\\\"\",\"weight\":2}}",
        "\"type\":");
}

static void assert_unread(const char *line, const char *words)
{
    rv_cron_rule rule;
    rv_error error = {0};
    assert_int_equal(rv_cron_definition_read_rule(&rule, "n", line, strlen(line), &error), REEVE_EINVAL);
    if (strstr(error.text, words) == NULL) fail_msg("%s: \"%s\" has no \"%s\"", line, error.text, words);
}

static void what_is_no_definition(void **state)
{
    (void)state;
    assert_unread("", "no JSON");
    assert_unread("[]", "no JSON object");
    assert_unread("{\"spec\":\"@daily\"", "no JSON");
    assert_unread("{}", "");
    assert_unread("{\"spec\":\"61 * * * *\",\"zone\":\"utc\",\"catch_up\":\"once\"}", "61");
    assert_unread("{\"spec\":\"@daily\",\"zone\":\"mars\",\"catch_up\":\"once\"}", "mars");
    assert_unread("{\"spec\":\"@daily\",\"zone\":\"utc\",\"catch_up\":\"twice\"}", "twice");
    assert_unread("{\"spec\":\"@daily\",\"zone\":\"utc\",\"catch_up\":\"all\",\"max\":1001}", "from 1 to 1000");
    assert_unread("{\"spec\":\"@daily\",\"zone\":\"utc\",\"catch_up\":\"all\",\"max\":0}", "from 1 to 1000");
}

static void refused(const reeve_cron_entry *entry, reeve_status status, const char *words)
{
    char text[512] = "";
    assert_int_equal(reeve_cron_check(entry, text, sizeof(text)), status);
    if (strstr(text, words) == NULL) fail_msg("\"%s\" has no \"%s\"", text, words);
}

static void what_is_no_entry(void **state)
{
    (void)state;
    reeve_task_spec t = {.queue = "q", .type = "t"};
    const reeve_cron_entry good = {.name = "n", .spec = "@daily", .task = &t};
    assert_int_equal(reeve_cron_check(&good, NULL, 0), REEVE_OK);
    refused(NULL, REEVE_EINVAL, "no entry");
    reeve_cron_entry e = good;
    e.size = 3;
    refused(&e, REEVE_EINVAL, "size 3");
    e = good, e.name = NULL;
    refused(&e, REEVE_EINVAL, "no name");
    e = good, e.name = "a:b";
    refused(&e, REEVE_EINVAL, "a:b");
    e = good, e.spec = NULL;
    refused(&e, REEVE_EINVAL, "spec");
    e = good, e.spec = "* * * * mun";
    refused(&e, REEVE_EINVAL, "mun");
    e = good, e.catch_up = (reeve_catch_up)3;
    refused(&e, REEVE_EINVAL, "3");
    e = good, e.catch_up_max = 5;
    refused(&e, REEVE_EINVAL, "\"all\" only");
    e = good, e.catch_up = REEVE_CATCH_UP_ALL, e.catch_up_max = 1001;
    refused(&e, REEVE_EINVAL, "1001");
    e = good, e.task = NULL;
    refused(&e, REEVE_EINVAL, "no task");
    t.id = "x";
    refused(&good, REEVE_EINVAL, "id");
    t = (reeve_task_spec){.queue = "q", .type = "t", .in_ms = 1};
    refused(&good, REEVE_EINVAL, "time");
    t = (reeve_task_spec){.queue = "q", .type = "t", .at_ms = 1};
    refused(&good, REEVE_EINVAL, "time");
    t = (reeve_task_spec){.queue = "q", .type = "t", .unique = "u"};
    refused(&good, REEVE_EINVAL, "unique");
    t = (reeve_task_spec){.queue = "q", .type = "t", .after = &(reeve_parent){.handle = "q/p"}, .after_count = 1};
    refused(&good, REEVE_EINVAL, "parents");
    t = (reeve_task_spec){.queue = "q", .type = "t", .payload = {"", REEVE_CRON_PAYLOAD_MAX + 1}};
    refused(&good, REEVE_ETOOBIG, "65537");
    t = (reeve_task_spec){.queue = "", .type = "t"};
    refused(&good, REEVE_EINVAL, "queue");
    t = (reeve_task_spec){.queue = "q", .type = "t", .priority = 200};
    refused(&good, REEVE_EINVAL, "200");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_time),
        cmocka_unit_test(a_little_late),
        cmocka_unit_test(after_a_downtime),
        cmocka_unit_test(years_of_slots_are_no_work),
        cmocka_unit_test(due_at_none_of_its_slots),
        cmocka_unit_test(coming_slots),
        cmocka_unit_test(the_rule_of_an_entry),
        cmocka_unit_test(the_last_slot_of_all),
        cmocka_unit_test(clock_changes),
        cmocka_unit_test(within_a_range),
        cmocka_unit_test(intervals_with_an_offset),
        cmocka_unit_test(with_jitter),
        cmocka_unit_test(definitions),
        cmocka_unit_test(what_is_no_definition),
        cmocka_unit_test(what_is_no_entry),
    };
    zone("UTC");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
