/* What is done to many tasks at once: which are picked, in steps, while others come and go. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/scripts.h"
#include "reeve/dead.h"
#include "support/clock.h"
#include "support/proxy.h"
#include "support/queue.h"

#define Q "reeve:{q}:"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    hand.session_ms = 1000000000;
    return test_place_empty(state);
}

/* ---- tasks in each state --------------------------------------------------------------------------------------- */

#define DIE(task, of) {0, {.id = (task), .verb = REEVE_OUTCOME_FAIL, .counts = true, .kind = (of), .message = "m"}}

/* Brings a new task to its end. */
static void put_ended(reeve_task_spec spec, reeve_state end, const char *kind)
{
    test_put_spec(spec);
    if (end == REEVE_STATE_CANCELLED) {
        test_ok(test_client, reeve_cancel(test_client, "q", spec.id));
        return;
    }
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_string_equal(hand.leased[0].id, spec.id);
    if (end == REEVE_STATE_DEAD) {
        test_settle(&hand, DIE(spec.id, kind));
    } else {
        test_settle(&hand, TEST_DONE(spec.id));
    }
}

static void put_dead(const char *id, const char *kind)
{
    put_ended((reeve_task_spec){.id = id}, REEVE_STATE_DEAD, kind);
}

/* Many that end in one moment. */
static void put_many_dead(size_t count)
{
    static test_outcome outcomes[250];
    for (size_t at = 0; at < count;) {
        size_t some = count - at < 250 ? count - at : 250;
        char format[40];
        (void)snprintf(format, sizeof(format), "d%zu-%%03zu", at / 250);
        test_put_many("q", some, format);
        assert_int_equal(test_lease(&hand, (unsigned)some), some);
        for (size_t i = 0; i < some; i++) outcomes[i] = (test_outcome)DIE(hand.leased[i].id, "k");
        (void)test_turn(&hand, 0, outcomes, some);
        at += some;
    }
    assert_int_equal(test_count("q", "dead"), count);
}

/* Parked as by a group at its limit. */
static void park(const char *id)
{
    const char *score = test_cmd(test_conn, "ZSCORE " Q "ready %s", id);
    (void)test_cmd(test_conn, "ZADD " Q "parked %s %s", score, id);
    (void)test_cmd(test_conn, "ZADD " Q "parked:g %s %s", score, id);
    (void)test_cmd(test_conn, "ZADD " Q "opening 9007199254740991 g");
    (void)test_cmd(test_conn, "ZREM " Q "ready %s", id);
}

static reeve_swept swept;

static void sweep(reeve_action action, reeve_filter filter, uint64_t done)
{
    test_ok(test_client, reeve_sweep(test_client, "q", action, &filter, NULL, NULL, &swept));
    assert_int_equal(swept.done, done);
}

static void states_are(const char *expected)
{
    char text[1000] = "";
    size_t at = 0;
    for (int i = 0; i < REEVE_STATE_COUNT; i++) {
        const char *name = reeve_state_name((reeve_state)i);
        uint64_t count = test_count("q", name);
        if (count > 0)
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s:%llu", at > 0 ? " " : "", name,
                                   (unsigned long long)count);
    }
    assert_string_equal(text, expected);
}

/* ---- what is picked -------------------------------------------------------------------------------------------- */

static void each_action_in_each_state(void **state)
{
    (void)state;
    static const struct { reeve_state state; bool retry, cancel, delete; } table[] = {
        {REEVE_STATE_BLOCKED, false, true, true}, {REEVE_STATE_SCHEDULED, true, true, true},
        {REEVE_STATE_READY, false, true, true},     {REEVE_STATE_PARKED, false, true, true},
        {REEVE_STATE_RUNNING, false, false, false}, {REEVE_STATE_COMPLETED, false, false, true},
        {REEVE_STATE_DEAD, true, false, true},      {REEVE_STATE_CANCELLED, true, false, true}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        for (int action = REEVE_ACTION_RETRY; action <= REEVE_ACTION_DELETE; action++) {
            (void)set_up(NULL);
            put_ended((reeve_task_spec){.id = "completed"}, REEVE_STATE_COMPLETED, NULL);
            put_ended((reeve_task_spec){.id = "dead"}, REEVE_STATE_DEAD, "k");
            put_ended((reeve_task_spec){.id = "cancelled"}, REEVE_STATE_CANCELLED, NULL);
            test_put("q", "running");
            (void)test_lease(&hand, 1);
            test_put_spec((reeve_task_spec){.id = "parked", .group = "g"});
            park("parked");
            test_put_spec((reeve_task_spec){.id = "scheduled", .delay_ms = 60000});
            test_put("q", "ready");
            test_put_spec((reeve_task_spec){.id = "blocked", .after = &(reeve_parent){.handle = "!"}, .after_count = 1});
            const char *name = reeve_state_name(table[i].state);
            bool may = action == REEVE_ACTION_RETRY    ? table[i].retry
                       : action == REEVE_ACTION_CANCEL ? table[i].cancel
                                                       : table[i].delete;
            const reeve_filter filter = {.state = table[i].state};
            char before[64];
            rv_copy_text(before, sizeof(before), test_digest());
            if (!may) {
                test_refused(test_client,
                             reeve_sweep(test_client, "q", (reeve_action)action, &filter, NULL, NULL, &swept),
                             REEVE_EINVAL, "cannot ");
                assert_string_equal(test_digest(), before);
                continue;
            }
            sweep((reeve_action)action, filter, 1);
            assert_int_equal(swept.seen, 1);
            assert_int_equal(swept.refused, 0);
            static const char *const become[] = {"ready", "cancelled", ""};
            assert_string_equal(test_state("q", name), become[action]);
            assert_int_equal(test_number("HLEN " Q "tasks"), action == REEVE_ACTION_DELETE ? 7 : 8);
            if (table[i].state == REEVE_STATE_PARKED)
                assert_int_equal(test_number("EXISTS " Q "parked " Q "parked:g " Q "opening"), 0);
            if (table[i].state == REEVE_STATE_DEAD)
                assert_int_equal(test_number("EXISTS " Q "failures " Q "failures:k"), 0);
        }
    }
}

static void by_kind(void **state)
{
    (void)state;
    put_dead("a", "io");
    put_dead("b", "net");
    put_dead("c", "io");
    put_dead("d", " ");
    sweep(REEVE_ACTION_DELETE, (reeve_filter){.state = REEVE_STATE_DEAD, .kind = "none"}, 0);
    assert_int_equal(swept.seen, 0);
    sweep(REEVE_ACTION_RETRY, (reeve_filter){.state = REEVE_STATE_DEAD, .kind = "io"}, 2);
    assert_int_equal(swept.seen, 2);
    sweep(REEVE_ACTION_DELETE, (reeve_filter){.state = REEVE_STATE_DEAD, .kind = " "}, 1);
    states_are("ready:2 dead:1");
    assert_string_equal(test_cmd(test_conn, "ZRANGE " Q "failures 0 -1"), "[net]");
    (void)test_lease(&hand, 9);
    assert_string_equal(test_leased_ids(&hand), "a c"); /* in the order in which they died */
}

static void by_type_and_tag(void **state)
{
    (void)state;
    static const char *const red[] = {"red"}, *const both[] = {"blue", "red"}, *const odd[] = {"re", "\"red\""};
    const struct { const char *id, *type; const char *const *tags; size_t count; } tasks[] = {
        {"a", "t", red, 1}, {"b", "t/u", both, 2}, {"c", "t", NULL, 0}, {"d", "t", odd, 2}, {"e", "t/u", NULL, 0}};
    for (size_t i = 0; i < 5; i++) {
        test_put_spec((reeve_task_spec){.id = tasks[i].id, .type = tasks[i].type, .tags = tasks[i].tags,
                                        .tag_count = tasks[i].count});
    }
    reeve_filter filter = {.state = REEVE_STATE_READY, .type = "t/u", .tag = "red"};
    sweep(REEVE_ACTION_DELETE, filter, 1);
    assert_int_equal(swept.seen, 5);
    assert_string_equal(test_state("q", "b"), "");
    filter.type = NULL;
    sweep(REEVE_ACTION_CANCEL, filter, 1);
    assert_string_equal(test_state("q", "a"), "cancelled");
    filter.tag = "\"red\"";
    sweep(REEVE_ACTION_DELETE, filter, 1);
    assert_string_equal(test_state("q", "d"), "");
    sweep(REEVE_ACTION_DELETE, (reeve_filter){.state = REEVE_STATE_READY, .type = "t/u"}, 1);
    sweep(REEVE_ACTION_DELETE, (reeve_filter){.state = REEVE_STATE_READY, .type = "u"}, 0);
    states_are("ready:1 cancelled:1");
}

static void by_age(void **state)
{
    (void)state;
    /* Those that wait: since when they were enqueued. Those that ended: since then. */
    test_put("q", "w1 d1");
    test_put_spec((reeve_task_spec){.id = "s1", .delay_ms = 9000000});
    test_clock_advance(1000);
    test_put("q", "w2");
    test_put_spec((reeve_task_spec){.id = "s2", .delay_ms = 9000000});
    assert_int_equal(test_lease(&hand, 2), 2);
    test_settle(&hand, TEST_SNOOZE("w1", 0), DIE("d1", "k"));
    test_clock_advance(500);
    reeve_filter filter = {.state = REEVE_STATE_READY, .older_ms = 1501};
    sweep(REEVE_ACTION_CANCEL, filter, 0);
    assert_int_equal(swept.seen, 2);
    filter.older_ms = 1500;
    sweep(REEVE_ACTION_CANCEL, filter, 1);
    assert_string_equal(test_state("q", "w1"), "cancelled");
    filter.state = REEVE_STATE_SCHEDULED;
    sweep(REEVE_ACTION_RETRY, filter, 1);
    assert_string_equal(test_state("q", "s1"), "ready");
    filter.state = REEVE_STATE_DEAD;
    sweep(REEVE_ACTION_DELETE, filter, 0);
    filter.older_ms = 501;
    sweep(REEVE_ACTION_DELETE, filter, 0);
    filter.older_ms = 500;
    filter.kind = "k";
    sweep(REEVE_ACTION_DELETE, filter, 1);
    filter.kind = NULL;
    filter.older_ms = INT64_MAX;
    filter.state = REEVE_STATE_CANCELLED;
    sweep(REEVE_ACTION_DELETE, filter, 0);
}

static void an_empty_queue(void **state)
{
    (void)state;
    for (int i = 0; i < REEVE_STATE_COUNT; i++) {
        if (i == REEVE_STATE_BLOCKED || i == REEVE_STATE_RUNNING) continue;
        sweep(REEVE_ACTION_DELETE, (reeve_filter){.state = (reeve_state)i}, 0);
        assert_int_equal(swept.seen, 0);
    }
    assert_string_equal(test_cmd(test_conn, "KEYS *"), "[]");
}

/* ---- in steps -------------------------------------------------------------------------------------------------- */

typedef struct steps {
    unsigned count;
    unsigned stop_at;
    uint64_t seen;
    void (*between)(unsigned step);
} steps;

static bool on_step(const reeve_swept *so_far, void *user)
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
            (void)set_up(NULL);
            test_put_many("q", counts[i], "r%03zu");
            test_ok(test_client, reeve_sweep(test_client, "q", (reeve_action)action, &filter, on_step, &s, &swept));
            assert_int_equal(swept.seen, counts[i]);
            assert_int_equal(swept.done, counts[i]);
            assert_int_equal(s.count, counts[i] / 200 + 1);
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
    test_ok(test_client, reeve_sweep(test_client, "q", REEVE_ACTION_DELETE, &filter, on_step, &s, &swept));
    assert_int_equal(swept.seen, 1000);
    assert_int_equal(swept.done, 143);
    assert_int_equal(s.count, 6);
    assert_int_equal(test_count("q", "scheduled"), 857);
    sweep(REEVE_ACTION_CANCEL, (reeve_filter){.state = REEVE_STATE_SCHEDULED, .type = "no"}, 857);
    assert_int_equal(swept.seen, 857);
    sweep(REEVE_ACTION_RETRY, (reeve_filter){.state = REEVE_STATE_CANCELLED}, 857); /* (they have one time, too) */
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
        reeve_status status = reeve_delete(test_client, "q", id);
        assert_true(status == REEVE_OK || status == REEVE_ENOTFOUND);
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
    test_ok(second, reeve_sweep(second, "q", REEVE_ACTION_DELETE, &filter, on_step, &s, &swept));
    assert_int_equal(swept.done, 200);
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
    test_ok(second, reeve_sweep(second, "q", REEVE_ACTION_DELETE, &filter, on_step, &s, &swept));
    assert_int_equal(swept.done, 300);
    reeve_client_close(second);
}

/* Dead ones are retried and die at once again: the sweep comes to its end. */
static void die_again(unsigned step)
{
    (void)step;
    test_clock_advance(1);
    (void)test_lease(&hand, 200);
    static test_outcome outcomes[200];
    for (size_t i = 0; i < hand.count; i++) outcomes[i] = (test_outcome)DIE(hand.leased[i].id, "again");
    size_t count = hand.count;
    (void)test_turn(&hand, 0, outcomes, count);
}

static void those_that_die_meanwhile_are_left(void **state)
{
    (void)state;
    put_many_dead(500);
    test_clock_advance(1);
    steps s = {.between = die_again};
    const reeve_filter filter = {.state = REEVE_STATE_DEAD};
    test_ok(test_client, reeve_sweep(test_client, "q", REEVE_ACTION_RETRY, &filter, on_step, &s, &swept));
    assert_int_equal(swept.done, 500);
    assert_int_equal(swept.seen, 500);
    assert_int_equal(s.count, 3);
    states_are("dead:500");
    assert_int_equal(test_number("ZCARD " Q "failures:again"), 500);
    assert_int_equal(test_number("EXISTS " Q "failures:k"), 0);
}

/* As fast as they are cancelled, others come: they are left, and the sweep comes to its end. */
static void put_more(unsigned step)
{
    char format[20];
    test_clock_advance(1);
    (void)snprintf(format, sizeof(format), "m%u-%%03zu", step);
    test_put_many("q", 300, format);
    assert_true(step < 10);
}

static void those_that_come_meanwhile_are_left(void **state)
{
    (void)state;
    test_put_many("q", 500, "r%03zu");
    steps s = {.between = put_more};
    const reeve_filter filter = {.state = REEVE_STATE_READY};
    test_ok(test_client, reeve_sweep(test_client, "q", REEVE_ACTION_DELETE, &filter, on_step, &s, &swept));
    assert_int_equal(swept.done, 500);
    assert_int_equal(s.count, 3);
    assert_int_equal(test_count("q", "ready"), 900);
    /* Those that come before what is looked at, too. */
    (void)set_up(NULL);
    for (int i = 0; i < 201; i++) test_put_spec((reeve_task_spec){.delay_ms = 60000 + i});
    char cursor[100];
    const rv_reply *reply;
    for (int step = 0; step < 2; step++) {
        const char *const args[] = {"cancel", "scheduled", step == 0 ? "" : cursor, "200", "", "", "", "0"};
        rv_cmd_script(test_conn, &rv_script_sweep, 1, 8);
        rv_args(test_conn, Q);
        for (size_t i = 0; i < 8; i++) rv_args(test_conn, args[i]);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        rv_copy_text(cursor, sizeof(cursor), reply->items[0]->text);
        if (step == 1) break;
        test_clock_advance(1);
        test_put_spec((reeve_task_spec){.id = "late", .at_ms = test_clock_now() + 60198});
    }
    assert_string_equal(cursor, "");
    assert_string_equal(test_state("q", "late"), "scheduled");
    assert_int_equal(test_count("q", "cancelled"), 201);
}

static void refused_ones_are_counted(void **state)
{
    (void)state;
    char id[REEVE_ID_MAX], key[20];
    for (int i = 0; i < 30; i++) {
        (void)snprintf(id, sizeof(id), "d%d", i);
        (void)snprintf(key, sizeof(key), "k%d", i % 10);
        put_ended((reeve_task_spec){.id = id, .unique = key}, REEVE_STATE_DEAD, "k");
    }
    test_put_spec((reeve_task_spec){.id = "x", .unique = "k0"});
    sweep(REEVE_ACTION_RETRY, (reeve_filter){.state = REEVE_STATE_DEAD}, 9); /* one a key, but for k0 */
    assert_int_equal(swept.seen, 30);
    assert_int_equal(swept.refused, 21);
    states_are("ready:10 dead:21");
    assert_int_equal(test_number("ZCARD " Q "failures:k"), 21);
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
    test_ok(test_client, reeve_sweep(test_client, "q", REEVE_ACTION_DELETE, &filter, on_step, &s, &swept));
    assert_int_equal(swept.done, 101);
    assert_int_equal(s.count, 3);
}

static void ended_by_its_caller(void **state)
{
    (void)state;
    test_put_many("q", 1000, "r%03zu");
    steps s = {.stop_at = 2};
    const reeve_filter filter = {.state = REEVE_STATE_READY};
    test_refused(test_client, reeve_sweep(test_client, "q", REEVE_ACTION_CANCEL, &filter, on_step, &s, &swept),
                 REEVE_EINTERRUPTED, "ended");
    assert_int_equal(s.count, 2);
    assert_int_equal(swept.done, 400);
    states_are("ready:600 cancelled:400");
}

/* Who waits for one of them hears of it. */
static void unlocked_and_told(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .unique = "k"});
    test_put_spec((reeve_task_spec){.id = "b", .unique = "l"});
    (void)test_cmd(test_conn, "ZADD " Q "waiters 9000000000000 a 9000000000000 b");
    rv_conn *listener = test_conn_open(test_redis);
    const rv_reply *reply;
    (void)test_cmd(listener, "SUBSCRIBE " Q "done:a");
    sweep(REEVE_ACTION_CANCEL, (reeve_filter){.state = REEVE_STATE_READY}, 2);
    assert_int_equal(rv_conn_receive(listener, test_patience(), &reply), REEVE_OK);
    assert_string_equal(test_reply_text(reply), "[message " Q "done:a cancelled]");
    rv_conn_destroy(listener);
    assert_int_equal(test_number("EXISTS " Q "unique:k " Q "unique:l " Q "waiters"), 0);
}

/* ---- misuse, and asked again ----------------------------------------------------------------------------------- */

static void misuse(void **state)
{
    (void)state;
    static const struct { reeve_filter filter; const char *words; } bad[] = {
        {{.state = REEVE_STATE_READY, .kind = "k"}, "only dead tasks"},
        {{.state = REEVE_STATE_DEAD, .kind = ""}, "kind \"\""},
        {{.state = REEVE_STATE_DEAD, .type = ""}, "type"},
        {{.state = REEVE_STATE_DEAD, .type = "a b"}, "type"},
        {{.state = REEVE_STATE_DEAD, .tag = ""}, "the tag is empty"},
        {{.state = REEVE_STATE_DEAD, .older_ms = -1}, "must not be negative"},
        {{.state = (reeve_state)99}, "no such state"},
        {{.size = 3, .state = REEVE_STATE_DEAD}, "size 3"}};
    const reeve_filter good = {.size = sizeof(good), .state = REEVE_STATE_DEAD};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        swept.done = 7;
        test_refused(test_client,
                     reeve_sweep(test_client, "q", REEVE_ACTION_DELETE, &bad[i].filter, NULL, NULL, &swept),
                     REEVE_EINVAL, bad[i].words);
        assert_int_equal(swept.done, 0);
    }
    test_refused(test_client, reeve_sweep(test_client, "q", (reeve_action)3, &good, NULL, NULL, NULL), REEVE_EINVAL,
                 "no such action");
    test_refused(test_client, reeve_sweep(test_client, "q q", REEVE_ACTION_RETRY, &good, NULL, NULL, NULL),
                 REEVE_EINVAL, "queue");
    assert_int_equal(reeve_sweep(NULL, "q", REEVE_ACTION_RETRY, &good, NULL, NULL, NULL), REEVE_EINVAL);
    assert_int_equal(reeve_sweep(test_client, "q", REEVE_ACTION_RETRY, NULL, NULL, NULL, NULL), REEVE_EINVAL);
    test_ok(test_client, reeve_sweep(test_client, "q", REEVE_ACTION_RETRY, &good, NULL, NULL, NULL));
}

static void broken_by_hand(void **state)
{
    (void)state;
    test_put("q", "a b");
    (void)test_cmd(test_conn, "HDEL " Q "tasks a");
    sweep(REEVE_ACTION_DELETE, (reeve_filter){.state = REEVE_STATE_READY}, 1);
    assert_int_equal(swept.seen, 2);
}

static void sent_twice(void **state)
{
    (void)state;
    static const char *const actions[] = {"retry", "delete"};
    for (size_t i = 0; i < 2; i++) {
        (void)set_up(NULL);
        put_many_dead(150);
        const rv_reply *reply;
        char between[64];
        for (int step = 0; step < 2; step++) {
            const char *const args[] = {actions[i], "dead", "", "100", "", "", "", "0"};
            rv_cmd_script(test_conn, &rv_script_sweep, 1, 8);
            rv_args(test_conn, Q);
            for (size_t j = 0; j < 8; j++) rv_args(test_conn, args[j]);
            assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
            assert_int_equal(rv_reply_int(reply->items[2], -1), step == 0 ? 100 : 50);
        }
        rv_copy_text(between, sizeof(between), test_digest());
        sweep((reeve_action)(2 * i), (reeve_filter){.state = REEVE_STATE_DEAD}, 0);
        assert_string_equal(test_digest(), between);
    }
}

static void replies_are_lost(void **state)
{
    (void)state;
    test_proxy *proxy = test_proxy_start(test_redis);
    reeve_client *behind;
    const reeve_client_options options = {.redis = test_proxy_url(proxy), .timeout_ms = 10000};
    const reeve_filter filter = {.state = REEVE_STATE_READY};
    assert_int_equal(reeve_client_open(&behind, &options), REEVE_OK);
    test_put_many("q", 500, "r%03zu");
    sweep(REEVE_ACTION_CANCEL, (reeve_filter){.state = REEVE_STATE_SCHEDULED}, 0); /* (the script is known) */
    test_proxy_lose(proxy, "EVALSHA", 0);
    test_ok(behind, reeve_sweep(behind, "q", REEVE_ACTION_CANCEL, &filter, NULL, NULL, &swept));
    assert_int_equal(test_proxy_lost(proxy), 1);
    states_are("cancelled:500");
    assert_int_equal(swept.done, 300); /* of what was said */
    reeve_client_close(behind);
    test_proxy_stop(proxy);
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_action_in_each_state, set_up),
        cmocka_unit_test_setup(by_kind, set_up),
        cmocka_unit_test_setup(by_type_and_tag, set_up),
        cmocka_unit_test_setup(by_age, set_up),
        cmocka_unit_test_setup(an_empty_queue, set_up),
        cmocka_unit_test_setup(more_than_a_step, set_up),
        cmocka_unit_test_setup(ties_in_time, set_up),
        cmocka_unit_test_setup(ties_that_others_delete, set_up),
        cmocka_unit_test_setup(one_that_was_left_joins_others, set_up),
        cmocka_unit_test_setup(those_that_die_meanwhile_are_left, set_up),
        cmocka_unit_test_setup(those_that_come_meanwhile_are_left, set_up),
        cmocka_unit_test_setup(refused_ones_are_counted, set_up),
        cmocka_unit_test_setup(large_ones_in_smaller_steps, set_up),
        cmocka_unit_test_setup(ended_by_its_caller, set_up),
        cmocka_unit_test_setup(unlocked_and_told, set_up),
        cmocka_unit_test_setup(misuse, set_up),
        cmocka_unit_test_setup(broken_by_hand, set_up),
        cmocka_unit_test_setup(sent_twice, set_up),
        cmocka_unit_test_setup(replies_are_lost, set_up),
    };
    test_clock_set(1900000000000); /* it stands still */
    return cmocka_run_group_tests_name("ct_sweep", tests, test_place_start, test_place_stop);
}
