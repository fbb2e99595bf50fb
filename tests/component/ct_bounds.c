/* How much a single call of a script does at most, in commands, however much there is to do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/scripts.h"
#include "support/clock.h"
#include "support/limits.h"

#define Q "reeve:{q}:"

/* Calls of one command since the last reset, those by scripts included; NULL: of all. */
static long long calls_of(const char *command)
{
    char key[64];
    long long sum = 0;
    (void)snprintf(key, sizeof(key), "cmdstat_%s:calls=", command ? command : "");
    const char *found = test_cmd(test_conn, "INFO commandstats"), *what = command ? key : ":calls=";
    for (; (found = strstr(found, what)) != NULL; found++) sum += atoll(found + strlen(what));
    return sum;
}

static void count_anew(void)
{
    assert_string_equal(test_cmd(test_conn, "CONFIG RESETSTAT"), "OK");
}

/* `count` tasks whose ids differ behind their 75th character, all past their deadlines. */
static void put_late(size_t count, reeve_task_spec like)
{
    reeve_task_spec *specs = calloc(count, sizeof(*specs));
    reeve_enqueued *results = calloc(count, sizeof(*results));
    char(*ids)[REEVE_ID_MAX] = calloc(count, sizeof(*ids));
    assert_true(specs && results && ids);
    for (size_t i = 0; i < count; i++) {
        memset(ids[i], 'x', 75);
        (void)snprintf(ids[i] + 75, 8, "%04zu", i);
        specs[i] = like;
        specs[i].id = ids[i];
        specs[i].queue = "q";
        specs[i].type = "t";
        specs[i].expires_in_ms = 1;
    }
    test_ok(test_client, reeve_enqueue_many(test_client, specs, count, results));
    free(specs);
    free(results);
    free(ids);
    test_clock_advance(10);
}

/* Each of many deaths in one ms is told of by one try, also where their ids are cut to the same name. */
static void deaths_in_one_ms_are_told_of_at_the_first_try(void **state)
{
    (void)state;
    enum { DEATHS = 20 };
    put_late(DEATHS, (reeve_task_spec){.on_dead = "mourner"});
    count_anew();
    (void)test_maintain("q", 200);
    assert_int_equal(calls_of("hsetnx"), DEATHS);
    assert_int_equal(test_count("q", "dead"), DEATHS);
    assert_int_equal(test_count("q", "ready"), DEATHS);
}

/* ---- maintenance ----------------------------------------------------------------------------------------------- */

/* One call of maintain.lua may take so many commands, of one kind of work and of several at once. */
#define MAINTAIN_MAX 1100
#define MAINTAIN_MAX_OF_ALL 1800

/* Maintains the queue to the end, in several calls none of which does more. */
static void maintain_in_short_calls(long long max)
{
    unsigned calls = 0;
    for (bool more = true; more; calls++) {
        count_anew();
        more = test_maintain("q", 200).more;
        long long taken = calls_of(NULL);
        if (taken > max) fail_msg("call %u of tend took %lld commands", calls + 1, taken);
    }
    assert_in_range(calls, 3, 1000);
}

static void keep_dead(int64_t count)
{
    const reeve_keep keep = {-1, count};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.dead = &keep}));
}

static void deadlines_that_are_over(void **state)
{
    (void)state;
    put_late(200, (reeve_task_spec){.on_dead = "mourner", .group = "g"});
    maintain_in_short_calls(MAINTAIN_MAX);
    assert_int_equal(test_count("q", "dead"), 200);
    assert_int_equal(test_count("q", "ready"), 200);
}

static void deadlines_of_tagged_tasks_that_are_not_kept(void **state)
{
    (void)state;
    const char *const tags[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"};
    keep_dead(0);
    put_late(200, (reeve_task_spec){.tags = tags, .tag_count = sizeof(tags) / sizeof(tags[0])});
    maintain_in_short_calls(MAINTAIN_MAX);
    assert_int_equal(test_number("EXISTS " Q "tasks " Q "tags " Q "tag:a"), 0);
}

static test_hand lost;

/* A session that has expired holds `count` tasks of as many groups, which have a limit. */
static void lose(size_t count)
{
    char id[24], group[24];
    assert_in_range(count, 1, 256);
    test_hand_init(&lost, "1", "q");
    test_limit_groups(2, NULL);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(id, sizeof(id), "lost%03zu", i);
        (void)snprintf(group, sizeof(group), "g%zu", i);
        test_put_spec((reeve_task_spec){.id = id, .type = "t", .group = group});
    }
    for (size_t held = 0; held < count;) held += test_lease(&lost, 100);
    test_expire(&lost);
}

static void leases_of_limited_groups(void **state)
{
    (void)state;
    lose(200);
    maintain_in_short_calls(MAINTAIN_MAX);
    assert_int_equal(test_count("q", "ready"), 200);
}

/* Those of one session come back in their order, also where that takes several calls. */
static void leases_come_back_in_order(void **state)
{
    (void)state;
    enum { MANY = 120 };
    test_hand_init(&lost, "1", "q");
    test_put_many("q", MANY, "a%03zu");
    assert_int_equal(test_lease(&lost, MANY), MANY);
    test_expire(&lost);
    maintain_in_short_calls(MAINTAIN_MAX);
    test_hand_init(&lost, "1", "q");
    for (size_t i = 0; i < MANY; i++) {
        char id[24];
        (void)snprintf(id, sizeof(id), "a%03zu", i);
        assert_int_equal(test_lease(&lost, 1), 1);
        assert_string_equal(lost.leased[0].id, id);
        test_settle(&lost, TEST_DONE(id));
    }
}

/* ---- what is kept ---------------------------------------------------------------------------------------------- */

static const char *const many_tags[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k",
                                        "l", "m", "n", "o", "p", "q", "r", "s", "t", "u", "v"};

/* So many completed tasks, with tags that all have, or each has for itself; then so few are to be kept. */
static void complete_tagged(size_t count, bool own, int64_t kept)
{
    char id[24], text[22][24];
    const char *tags[22];
    test_hand_init(&lost, "1", "q");
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < 22; j++) {
            (void)snprintf(text[j], sizeof(text[j]), "%s%zu", many_tags[j], own ? i : 0);
            tags[j] = text[j];
        }
        (void)snprintf(id, sizeof(id), "c%03zu", i);
        test_put_spec((reeve_task_spec){.id = id, .type = "t", .tags = tags, .tag_count = 22});
        assert_int_equal(test_lease(&lost, 1), 1);
        test_settle(&lost, TEST_DONE(id));
    }
    const reeve_keep keep = {-1, kept};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &keep}));
}

static void tagged_records_that_go(void **state)
{
    (void)state;
    for (int own = 0; own <= 1; own++) {
        complete_tagged(200, own, 10);
        maintain_in_short_calls(MAINTAIN_MAX);
        assert_int_equal(test_count("q", "completed"), 10);
        assert_int_equal(test_number("ZCARD " Q "tags"), own ? 220 : 22);
        assert_int_equal(test_number("ZCARD " Q "tag:a%d", own ? 199 : 0), own ? 1 : 10);
        assert_int_equal(test_number("EXISTS " Q "tag:a100"), 0);
        (void)test_cmd(test_conn, "FLUSHALL");
    }
}

/* A turn leaves most of many that go to maintenance, which is told. */
static void tagged_records_that_go_with_a_turn(void **state)
{
    (void)state;
    complete_tagged(400, true, 10);
    test_put("q", "last");
    assert_int_equal(test_lease(&lost, 1), 1);
    (void)test_cmd(test_conn, "HSET " Q "counters completed 9");
    count_anew();
    test_settle(&lost, TEST_DONE("last"));
    assert_in_range(calls_of(NULL), 100, 2000);
    assert_int_equal(calls_of("publish"), 1);
    assert_in_range(test_count("q", "completed"), 300, 390);
    maintain_in_short_calls(MAINTAIN_MAX);
    assert_int_equal(test_count("q", "completed"), 10);
}

static void all_at_once(void **state)
{
    (void)state;
    lose(100);
    keep_dead(10);
    put_late(200, (reeve_task_spec){.on_dead = "mourner"});
    for (int i = 0; i < 300; i++) {
        char id[24];
        (void)snprintf(id, sizeof(id), "due%03d", i);
        test_put_spec((reeve_task_spec){.id = id, .type = "t", .in_ms = 1});
    }
    test_clock_advance(10);
    maintain_in_short_calls(MAINTAIN_MAX_OF_ALL);
    assert_int_equal(test_count("q", "ready"), 100 + 200 + 300);
    assert_int_equal(test_count("q", "dead"), 10);
}

/* ---- messages to other queues ---------------------------------------------------------------------------------- */

static void arg_message(size_t number)
{
    char text[64];
    (void)snprintf(text, sizeof(text), "U %zu q/c%zu p/a", number, number);
    rv_args(test_conn, text);
}

static const rv_reply *call(void)
{
    const rv_reply *reply;
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    if (rv_reply_is(reply, RV_ERROR)) fail_msg("%s", reply->text);
    return reply;
}

/* Takes out every second of 64 messages behind those that stay; all were there, or none. */
static void take_out_behind(size_t stay)
{
    count_anew();
    rv_cmd_script(test_conn, &rv_script_outbox, 1, 33);
    rv_args(test_conn, Q);
    char what[32];
    (void)snprintf(what, sizeof(what), "64 %zu", stay + 32);
    rv_args(test_conn, what);
    for (size_t i = 0; i < 64; i += 2) arg_message(stay + i + 1);
    (void)call();
    assert_in_range(calls_of("lrem"), 0, 1);
    assert_in_range(calls_of(NULL), 1, 64 * 25);
}

static void messages_behind_many_that_stay(void **state)
{
    (void)state;
    enum { STAY = 5000, ALL = STAY + 100 };
    for (size_t i = 1; i <= ALL; i++) {
        rv_cmd(test_conn, 3);
        rv_args(test_conn, "RPUSH");
        rv_args(test_conn, Q "outbox");
        arg_message(i);
        (void)call();
    }
    for (int again = 0; again <= 1; again++) {
        take_out_behind(STAY);
        assert_int_equal(test_number("LLEN " Q "outbox"), ALL - 32);
    }
    const rv_reply *left;
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "LRANGE");
    rv_args(test_conn, Q "outbox");
    rv_args(test_conn, "0");
    rv_args(test_conn, "-1");
    left = call();
    for (size_t i = 0; i < left->count; i++) {
        size_t number = i < STAY ? i + 1 : i < STAY + 32 ? STAY + 2 * (i - STAY + 1) : i + 33;
        assert_int_equal(atoll(left->items[i]->text + 2), number);
    }
}

/* ---- idle threads ---------------------------------------------------------------------------------------------- */

static void make_idle(const char *session, int from, int count)
{
    char name[64];
    (void)test_cmd(test_conn, "HSET " Q "running:%s # {}", session);
    for (int i = from; i < from + count; i++) {
        (void)snprintf(name, sizeof(name), "RPUSH " Q "idle %s:%d", session, i);
        (void)test_cmd(test_conn, "%s", name);
    }
}

static void pause_queue(void)
{
    count_anew();
    test_ok(test_client, reeve_pause(test_client, "q"));
    assert_in_range(calls_of(NULL), 1, 600);
    assert_int_equal(test_number("EXISTS " Q "idle"), 0);
}

/* A queue that is paused, or limited, tells all idle threads to look: those of sessions that stand, in short calls. */
static void many_idle_threads_are_told_to_look(void **state)
{
    (void)state;
    make_idle("a-1", 0, 1000);
    make_idle("b-1", 0, 100);
    (void)test_cmd(test_conn, "ZADD " Q "sessions 9000000000000 a-1");
    pause_queue();
    assert_int_equal(test_number("LLEN " Q "wake_later"), 900);
    (void)test_cmd(test_conn, "DEL " Q "running:b-1");
    /* Again, before all were told. */
    test_ok(test_client, reeve_resume(test_client, "q"));
    make_idle("a-1", 1000, 500);
    pause_queue();
    assert_int_equal(test_number("LLEN " Q "wake_later"), 1200);
    maintain_in_short_calls(MAINTAIN_MAX);
    assert_int_equal(test_number("EXISTS " Q "wake_later " Q "hand:b-1:99"), 0);
    assert_int_equal(test_number("SCARD " Q "woken:a-1"), 1500);
    for (int i = 0; i < 1500; i += 100) assert_int_equal(test_number("LLEN " Q "hand:a-1:%d", i), 1);
}

static void many_idle_threads_and_a_limit(void **state)
{
    (void)state;
    make_idle("a-1", 0, 1000);
    count_anew();
    test_limit_queue(5, NULL);
    assert_in_range(calls_of(NULL), 1, 600);
    assert_int_equal(test_number("EXISTS " Q "idle"), 0);
    maintain_in_short_calls(MAINTAIN_MAX);
    assert_int_equal(test_number("SCARD " Q "woken:a-1"), 1000);
}

/* Of many idle threads whose workers do not listen a few are asked, and the others are told to look later. */
static void many_idle_threads_that_are_not_there(void **state)
{
    (void)state;
    const reeve_task_spec specs[] = {{.queue = "q", .type = "t"}, {.queue = "q", .type = "t", .priority = 1}};
    (void)test_cmd(test_conn, "ZADD " Q "sessions 9000000000000 a-1");
    for (size_t i = 0; i < 2; i++) {
        (void)test_cmd(test_conn, "DEL " Q "wake " Q "woken:a-1");
        make_idle("a-1", 1000 * (int)i, 1000);
        count_anew();
        test_ok(test_client, reeve_enqueue(test_client, &specs[i], NULL));
        assert_in_range(calls_of(NULL), 1, 1200);
        assert_int_equal(test_number("LLEN " Q "wake"), 1);
        assert_int_equal(test_number("EXISTS " Q "idle"), 0);
        maintain_in_short_calls(MAINTAIN_MAX);
        assert_int_equal(test_number("SCARD " Q "woken:a-1"), 1000);
    }
}

/* They are told of a task that was there before, too. */
static void many_idle_threads_and_what_is_ready(void **state)
{
    (void)state;
    make_idle("a-1", 0, 1000);
    (void)test_cmd(test_conn, "ZADD " Q "sessions 9000000000000 a-1");
    (void)test_cmd(test_conn, "HSET " Q "tasks x {\"at\":1,\"type\":\"t\"}");
    (void)test_cmd(test_conn, "ZADD " Q "ready 1099511627776 x");
    maintain_in_short_calls(MAINTAIN_MAX);
    assert_int_equal(test_number("SCARD " Q "woken:a-1"), 1000);
    assert_int_equal(test_number("EXISTS " Q "idle " Q "wake_later"), 0);
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
}

/* A session that is lost leaves none of its threads idle, nor a word for one. */
static void idle_threads_of_a_session_that_is_lost(void **state)
{
    (void)state;
    make_idle("b-1", 0, 4);
    make_idle("a-1", 0, 900);
    make_idle("b-1", 4, 4);
    for (int i = 1000; i < 1900; i++) {
        (void)test_cmd(test_conn,
                       "EVAL redis.call('RPUSH',KEYS[1]..'hand:a-1:'..ARGV[1],'')"
                       "redis.call('SADD',KEYS[1]..'woken:a-1','a-1:'..ARGV[1]) 1 " Q " %d",
                       i);
    }
    (void)test_cmd(test_conn, "ZADD " Q "sessions 1 a-1 9000000000000 b-1");
    maintain_in_short_calls(MAINTAIN_MAX);
    assert_string_equal(test_cmd(test_conn, "LPOP " Q "idle"), "b-1:0");
    assert_string_equal(test_cmd(test_conn, "RPOP " Q "idle"), "b-1:7");
    assert_int_equal(test_number("LLEN " Q "idle"), 6);
    assert_int_equal(test_number("EXISTS " Q "woken:a-1 " Q "hand:a-1:1000 " Q "hand:a-1:1899"), 0);
    assert_int_equal(test_number("ZCARD " Q "sessions"), 1);
}

/* A page of running tasks reads the leases of few sessions, and of the others how many they have. */
static void running_tasks_of_many_sessions(void **state)
{
    (void)state;
    enum { SESSIONS = 300, EACH = 20, PAGE = 100 };
    bool met[SESSIONS * EACH] = {false};
    for (int i = 0; i < SESSIONS; i++) {
        (void)test_cmd(test_conn, "ZADD %ssessions %lld s%04d", Q, 2000000000000LL + i, i);
        (void)test_cmd(test_conn, "HSET %srunning:s%04d # {} #flushed 0 #suspect 0", Q, i);
        for (int j = i * EACH; j < (i + 1) * EACH; j++) {
            (void)test_cmd(test_conn, "HSET %stasks t%d {\"at\":1,\"type\":\"t\"}", Q, j);
            (void)test_cmd(test_conn, "HSET %srunning:s%04d t%d 1-0", Q, i, j);
        }
    }
    for (uint64_t at = 0; at < SESSIONS * EACH; at += PAGE) {
        reeve_task_info **list;
        size_t count;
        uint64_t total;
        count_anew();
        test_ok(test_client, reeve_list(test_client, "q", REEVE_STATE_RUNNING, at, PAGE, &list, &count, &total));
        assert_true(calls_of("hkeys") + calls_of("hgetall") - 2 * PAGE < SESSIONS / 4);
        assert_true(calls_of(NULL) < 2 * SESSIONS + 10 * PAGE);
        assert_int_equal(total, SESSIONS * EACH);
        assert_int_equal(count, PAGE);
        for (size_t i = 0; i < count; i++) {
            int number = atoi(list[i]->id + 1);
            assert_false(met[number]);
            met[number] = true;
        }
        reeve_task_list_free(list, count);
    }
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(deaths_in_one_ms_are_told_of_at_the_first_try, test_place_empty),
        cmocka_unit_test_setup(deadlines_that_are_over, test_place_empty),
        cmocka_unit_test_setup(deadlines_of_tagged_tasks_that_are_not_kept, test_place_empty),
        cmocka_unit_test_setup(leases_of_limited_groups, test_place_empty),
        cmocka_unit_test_setup(leases_come_back_in_order, test_place_empty),
        cmocka_unit_test_setup(tagged_records_that_go, test_place_empty),
        cmocka_unit_test_setup(tagged_records_that_go_with_a_turn, test_place_empty),
        cmocka_unit_test_setup(all_at_once, test_place_empty),
        cmocka_unit_test_setup(many_idle_threads_are_told_to_look, test_place_empty),
        cmocka_unit_test_setup(many_idle_threads_and_a_limit, test_place_empty),
        cmocka_unit_test_setup(many_idle_threads_that_are_not_there, test_place_empty),
        cmocka_unit_test_setup(many_idle_threads_and_what_is_ready, test_place_empty),
        cmocka_unit_test_setup(idle_threads_of_a_session_that_is_lost, test_place_empty),
        cmocka_unit_test_setup(messages_behind_many_that_stay, test_place_empty),
        cmocka_unit_test_setup(running_tasks_of_many_sessions, test_place_empty),
    };
    test_clock_set(1900000000000); /* it stands still */
    return cmocka_run_group_tests_name("ct_bounds", tests, test_place_start, test_place_stop);
}
