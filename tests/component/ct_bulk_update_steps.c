/* What is done to many tasks at once is done in bounded steps, while others come and go. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/bulk_update.h"
#include "support/clock.h"
#include "support/script.h"

#define Q "reeve:{q}:"

typedef struct steps {
    unsigned count;
    unsigned stop_at;
    uint64_t seen;
    void (*between)(unsigned step);
} steps;

static bool on_step(const reeve_bulk_result *so_far, void *user)
{
    steps *s = user;
    s->count++;
    assert_true(so_far->seen >= s->seen);
    s->seen = so_far->seen;
    if (s->between) s->between(s->count);
    return s->count != s->stop_at;
}

static void more_than_a_step(void **state)
{
    (void)state;
    static const size_t counts[] = {199, 200, 201, 400, 1000};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        for (int action = REEVE_ACTION_CANCEL; action <= REEVE_ACTION_DELETE; action++) {
            steps s = {0};
            const reeve_filter filter = {.state = REEVE_STATE_READY};
            (void)test_bulk_update_begin(NULL);
            test_put_many("q", counts[i], "r%03zu");
            test_ok(test_client,
                    reeve_bulk_update(test_client, "q", (reeve_action)action, &filter, on_step, &s, &test_swept));
            assert_int_equal(test_swept.seen, counts[i]);
            assert_int_equal(test_swept.done, counts[i]);
            assert_true(s.count >= counts[i] / 200 + 1);
            assert_int_equal(test_count("q", "ready"), 0);
            assert_int_equal(test_count("q", "cancelled"), action == REEVE_ACTION_CANCEL ? counts[i] : 0);
        }
    }
}

/* All with one and the same time, of which most are not meant. */
static void ties_in_time(void **state)
{
    (void)state;
    reeve_task_spec *specs = calloc(1000, sizeof(*specs));
    reeve_enqueued *results = calloc(1000, sizeof(*results));
    for (size_t i = 0; i < 1000; i++)
        specs[i] = (reeve_task_spec){
            .queue = "q", .type = i % 7 == 0 ? "yes" : "no", .at_ms = 2000000000000 + (int64_t)(i / 600)};
    test_ok(test_client, reeve_enqueue_many(test_client, specs, 1000, results));
    steps s = {0};
    const reeve_filter filter = {.state = REEVE_STATE_SCHEDULED, .type = "yes"};
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_DELETE, &filter, on_step, &s, &test_swept));
    assert_int_equal(test_swept.seen, 1000);
    assert_int_equal(test_swept.done, 143);
    assert_true(s.count >= 6);
    assert_int_equal(test_count("q", "scheduled"), 857);
    test_bulk_update(REEVE_ACTION_CANCEL, (reeve_filter){.state = REEVE_STATE_SCHEDULED, .type = "no"}, 857);
    assert_int_equal(test_swept.seen, 857);
    test_bulk_update(REEVE_ACTION_RETRY, (reeve_filter){.state = REEVE_STATE_CANCELLED},
                     857); /* (they have one time, too) */
    assert_int_equal(test_count("q", "ready"), 857);
    free(specs);
    free(results);
}

/* What was looked at and left goes meanwhile: nothing is passed over. */
static void delete_what_was_left(unsigned step)
{
    char id[REEVE_ID_MAX];
    if (step > 4) return;
    for (unsigned i = 0; i < 150; i++) {
        (void)snprintf(id, sizeof(id), "d%04u", (step - 1) * 200 + 199 - i);
        test_ok(test_client, reeve_delete(test_client, "q", id));
    }
}

static void ties_that_others_delete(void **state)
{
    (void)state;
    reeve_task_spec *specs = calloc(1000, sizeof(*specs));
    reeve_enqueued *results = calloc(1000, sizeof(*results));
    char(*ids)[REEVE_ID_MAX] = calloc(1000, sizeof(*ids));
    for (size_t i = 0; i < 1000; i++) {
        (void)snprintf(ids[i], REEVE_ID_MAX, "d%04zu", i);
        specs[i] =
            (reeve_task_spec){.queue = "q", .type = i < 800 ? "no" : "yes", .id = ids[i], .at_ms = 2000000000000};
    }
    test_ok(test_client, reeve_enqueue_many(test_client, specs, 1000, results));
    reeve_client *second = test_client_open(5000);
    steps s = {.between = delete_what_was_left};
    const reeve_filter filter = {.state = REEVE_STATE_SCHEDULED, .type = "yes"};
    test_ok(second, reeve_bulk_update(second, "q", REEVE_ACTION_DELETE, &filter, on_step, &s, &test_swept));
    assert_int_equal(test_swept.done, 200);
    reeve_client_close(second);
    free(specs);
    free(results);
    free(ids);
}

static void move_what_was_left(unsigned step)
{
    if (step == 1) test_ok(test_client, reeve_reschedule(test_client, "q", "z", 2000000000001));
}

static void one_that_was_left_joins_others(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "z", .type = "no", .at_ms = 2000000000000});
    for (int i = 0; i < 300; i++) test_put_spec((reeve_task_spec){.at_ms = 2000000000001});
    reeve_client *second = test_client_open(5000);
    steps s = {.between = move_what_was_left};
    const reeve_filter filter = {.state = REEVE_STATE_SCHEDULED, .type = "t"};
    test_ok(second, reeve_bulk_update(second, "q", REEVE_ACTION_DELETE, &filter, on_step, &s, &test_swept));
    assert_int_equal(test_swept.done, 300);
    reeve_client_close(second);
}

/* Dead ones are retried and die at once again: the sweep comes to its end. */
static void die_again(unsigned step)
{
    (void)step;
    test_clock_advance(1);
    (void)test_lease(&test_bulk_update_hand, 200);
    static test_outcome outcomes[200];
    for (size_t i = 0; i < test_bulk_update_hand.count; i++)
        outcomes[i] = (test_outcome)TEST_DIE(test_bulk_update_hand.leased[i].id, "again");
    size_t count = test_bulk_update_hand.count;
    (void)test_turn(&test_bulk_update_hand, 0, outcomes, count);
}

static void those_that_die_meanwhile_are_left(void **state)
{
    (void)state;
    test_put_many_dead(500);
    test_clock_advance(1);
    steps s = {.between = die_again};
    const reeve_filter filter = {.state = REEVE_STATE_DEAD};
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_RETRY, &filter, on_step, &s, &test_swept));
    assert_int_equal(test_swept.done, 500);
    assert_int_equal(test_swept.seen, 500);
    assert_true(s.count >= 3);
    test_states_are("dead:500");
    assert_int_equal(test_number("ZCARD " Q "failures:again"), 500);
    assert_int_equal(test_number("EXISTS " Q "failures:k"), 0);
}

/* The clock was set back: those that ended before have times to come. Those that die again are left. */
static void those_that_died_before_the_clock_went_back(void **state)
{
    (void)state;
    test_put_many_dead(500);
    test_clock_advance(-3600000);
    test_put("q", "last");
    assert_int_equal(test_lease(&test_bulk_update_hand, 1), 1);
    test_settle(&test_bulk_update_hand, TEST_DIE("last", "k"));
    test_clock_advance(1);
    steps s = {.between = die_again};
    const reeve_filter filter = {.state = REEVE_STATE_DEAD};
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_RETRY, &filter, on_step, &s, &test_swept));
    assert_int_equal(test_swept.done, 501);
    assert_int_equal(test_swept.seen, 501);
    test_clock_advance(3600000);
}

/* As fast as they are cancelled, others come: they are left, and the sweep comes to its end. */
static void put_more(unsigned step)
{
    char format[20];
    test_clock_advance(1);
    (void)snprintf(format, sizeof(format), "m%u-%%03zu", step);
    test_put_many("q", 300, format);
    assert_true(step < 30);
}

static void those_that_come_meanwhile_are_left(void **state)
{
    (void)state;
    test_put_many("q", 500, "r%03zu");
    steps s = {.between = put_more};
    const reeve_filter filter = {.state = REEVE_STATE_READY};
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_DELETE, &filter, on_step, &s, &test_swept));
    assert_int_equal(test_swept.done, 500);
    assert_true(s.count >= 3);
    assert_int_equal(test_count("q", "ready"), 300 * s.count);
}

/* Also one that comes to where the sweep has yet to look. */
static void one_that_comes_in_its_way_is_left(void **state)
{
    (void)state;
    for (int i = 0; i < 201; i++) test_put_spec((reeve_task_spec){.in_ms = 60000 + i});
    char cursor[100] = "", max[24];
    const rv_reply *reply;
    for (int64_t left = 200; left > 0; left -= rv_reply_int(reply->items[1], 200)) {
        (void)snprintf(max, sizeof(max), "%d", (int)left);
        reply = test_bulk_update_step("cancel", "scheduled", cursor, max);
        rv_copy_text(cursor, sizeof(cursor), reply->items[0]->text);
    }
    test_clock_advance(1);
    test_put_spec((reeve_task_spec){.id = "late", .at_ms = test_clock_now() + 60198});
    reply = test_bulk_update_step("cancel", "scheduled", cursor, "200");
    assert_string_equal(reply->items[0]->text, "");
    assert_int_equal(rv_reply_int(reply->items[1], -1), 2);
    assert_string_equal(test_state("q", "late"), "scheduled");
    assert_int_equal(test_count("q", "cancelled"), 201);
}

static void large_ones_in_smaller_steps(void **state)
{
    (void)state;
    char *payload = calloc(1, 70000);
    test_put_spec((reeve_task_spec){.id = "x", .payload = {payload, 70000}});
    free(payload);
    test_put_many("q", 100, "r%02zu");
    steps s = {0};
    const reeve_filter filter = {.state = REEVE_STATE_READY};
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_DELETE, &filter, on_step, &s, &test_swept));
    assert_int_equal(test_swept.done, 101);
    assert_true(s.count >= 3);
}

/* Tasks with long headers take a call longer to look at: it looks at fewer. */
static void long_headers_in_smaller_steps(void **state)
{
    (void)state;
    char line[4096] = "{\"at\":1,\"type\":\"t\",\"tags\":[", *end = line + strlen(line), id[8];
    for (int i = 0; i < 64; i++) end += sprintf(end, "%s\"%030d\"", i > 0 ? "," : "", i);
    (void)strcpy(end, "]}\n{}");
    for (int i = 0; i < 200; i++) {
        (void)snprintf(id, sizeof(id), "r%03d", i);
        (void)TEST_WORDS("HSET", "reeve:{q}:tasks", id, line);
        (void)TEST_WORDS("ZADD", "reeve:{q}:dead", "5", id);
    }
    int seen = -1, meant = -1;
    const char *said = TEST_SCRIPT(bulk_look, "reeve:{q}:", "dead", "", "200", "", "", "", "0");
    const char *counts = strstr(said, " r");
    if (counts == NULL || sscanf(strchr(counts + 1, ' '), "%d %d", &seen, &meant) != 2) fail_msg("%s", said);
    assert_true(seen > 0 && seen < 100);
    assert_int_equal(meant, seen);
    steps s = {0};
    const reeve_filter filter = {.state = REEVE_STATE_DEAD};
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_DELETE, &filter, on_step, &s, &test_swept));
    assert_int_equal(test_swept.done, 200);
}

static void ended_by_its_caller(void **state)
{
    (void)state;
    test_put_many("q", 1000, "r%03zu");
    steps s = {.stop_at = 2};
    const reeve_filter filter = {.state = REEVE_STATE_READY};
    test_refused(test_client,
                 reeve_bulk_update(test_client, "q", REEVE_ACTION_CANCEL, &filter, on_step, &s, &test_swept),
                 REEVE_EINTERRUPTED, "interrupted");
    assert_int_equal(s.count, 2);
    assert_true(test_swept.done > 0 && test_swept.done <= 400);
    assert_int_equal(test_count("q", "cancelled"), test_swept.done);
    assert_int_equal(test_count("q", "ready"), 1000 - test_swept.done);
}

/* Ids that are none, from producers in other languages, may stand at the end of a page. */
static void an_id_with_a_blank_ends_no_page_twice(void **state)
{
    (void)state;
    char id[16];
    for (int i = 0; i < 3; i++) {
        (void)snprintf(id, sizeof(id), "user %d", i);
        (void)TEST_WORDS("HSET", "reeve:{q}:tasks", id, "{\"at\":1,\"type\":\"t\"}\n{}");
        (void)TEST_WORDS("ZADD", "reeve:{q}:dead", "5", id);
    }
    assert_string_equal(TEST_SCRIPT(bulk_look, "reeve:{q}:", "dead", "9 9 5 user 1", "2", "", "", "", "0"),
                        "[ 1 1 [user 2]]");
}

static void a_page_of_nothing_is_refused(void **state)
{
    (void)state;
    test_put("q", "a b");
    const char *said = TEST_SCRIPT(bulk_update, "reeve:{q}:", "delete", "ready", "", "0", "", "", "", "0");
    if (strncmp(said, "(error) ERR bulk_update: ", 25) != 0) fail_msg("%s", said);
    assert_int_equal(test_count("q", "ready"), 2);
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(more_than_a_step, test_bulk_update_begin),
        cmocka_unit_test_setup(ties_in_time, test_bulk_update_begin),
        cmocka_unit_test_setup(ties_that_others_delete, test_bulk_update_begin),
        cmocka_unit_test_setup(one_that_was_left_joins_others, test_bulk_update_begin),
        cmocka_unit_test_setup(those_that_die_meanwhile_are_left, test_bulk_update_begin),
        cmocka_unit_test_setup(those_that_died_before_the_clock_went_back, test_bulk_update_begin),
        cmocka_unit_test_setup(those_that_come_meanwhile_are_left, test_bulk_update_begin),
        cmocka_unit_test_setup(one_that_comes_in_its_way_is_left, test_bulk_update_begin),
        cmocka_unit_test_setup(large_ones_in_smaller_steps, test_bulk_update_begin),
        cmocka_unit_test_setup(long_headers_in_smaller_steps, test_bulk_update_begin),
        cmocka_unit_test_setup(ended_by_its_caller, test_bulk_update_begin),
        cmocka_unit_test_setup(an_id_with_a_blank_ends_no_page_twice, test_place_empty),
        cmocka_unit_test_setup(a_page_of_nothing_is_refused, test_place_empty),
    };
    test_clock_set(1900000000000); /* it stands still */
    return cmocka_run_group_tests_name("ct_bulk_update_steps", tests, test_place_start, test_place_stop);
}
