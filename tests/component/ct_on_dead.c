/* What a death calls for: a task that is enqueued with it. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "support/clock.h"
#include "support/queue.h"
#include "support/script.h"

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

static void set_on_dead(const char *type)
{
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.on_dead = type}));
}

/* Leases the task that a death has called for, and checks what it says. */
static void expect_told(const char *dead, const char *type, const char *kind, const char *message, int failures,
                        int crashes)
{
    char id[REEVE_ID_MAX];
    assert_int_equal(test_lease(&hand, 9), 1);
    rv_copy_text(id, sizeof(id), hand.leased[0].id);
    reeve_task_info *info = test_show("q", id);
    assert_string_equal(info->type, type);
    assert_int_equal(info->priority, 0);
    assert_int_equal(info->enqueued_ms, test_clock_now());
    cJSON *json = cJSON_ParseWithLength(info->payload.data, info->payload.length);
    assert_non_null(json);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(json, "queue")), "q");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(json, "id")), dead);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(json, "type")), "t/1");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(json, "kind")), kind);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(json, "message")), message);
    assert_int_equal((int64_t)cJSON_GetNumberValue(cJSON_GetObjectItem(json, "at")), test_clock_now());
    assert_int_equal((int)cJSON_GetNumberValue(cJSON_GetObjectItem(json, "failures")), failures);
    assert_int_equal((int)cJSON_GetNumberValue(cJSON_GetObjectItem(json, "crashes")), crashes);
    assert_int_equal(cJSON_GetArraySize(json), 8);
    cJSON_Delete(json);
    reeve_task_info_free(info);
    test_settle(&hand, TEST_DONE(id));
}

static void put_with(const char *id, const char *on_dead)
{
    test_put_spec((reeve_task_spec){.id = id, .type = "t/1", .on_dead = on_dead});
}

static void nothing_is_called_for(void **state)
{
    (void)state;
    put_with("a", NULL);
    settle_dead("a", "k", "m");
    put_with("b", "");
    settle_dead("b", "k", "m");
    assert_int_equal(test_number("HLEN " Q "tasks"), 2);
    assert_int_equal(test_lease(&hand, 9), 0);
}

static void by_the_task(void **state)
{
    (void)state;
    put_with("a", "mourn/er");
    settle_dead("a", "k\"\\\n", "m\"\\\n\t\x01 \xc3\xa9");
    assert_string_equal(test_state("q", "a"), "dead");
    expect_told("a", "mourn/er", "k\"\\\n", "m\"\\\n\t\x01 \xc3\xa9", 1, 0);
}

static void by_the_queue(void **state)
{
    (void)state;
    set_on_dead("mourner");
    put_with("a", NULL);
    settle_dead("a", "k", "");
    expect_told("a", "mourner", "k", "", 1, 0);
    /* The task's word comes first. */
    put_with("b", "own");
    settle_dead("b", "k", "m");
    expect_told("b", "own", "k", "m", 1, 0);
    put_with("c", "");
    settle_dead("c", "k", "m");
    assert_int_equal(test_lease(&hand, 9), 0);
    /* Left as it is; another; none. */
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.on_dead = NULL}));
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings on_dead"), "mourner");
    const reeve_keep keep = {.age_ms = 1000, .count = 5};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.on_dead = "x", .dead = &keep}));
    assert_string_equal(test_cmd(test_conn, "HMGET " Q "settings on_dead dead_age dead_count"), "[x 1000 5]");
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.on_dead = "", .dead = &keep}));
    assert_string_equal(test_cmd(test_conn, "HMGET " Q "settings on_dead dead_age"), "[(nil) 1000]");
    put_with("d", NULL);
    settle_dead("d", "k", "m");
    assert_int_equal(test_lease(&hand, 9), 0);
    test_refused(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.on_dead = "no type"}),
                 REEVE_EINVAL, "on_dead \"no type\": a type has");
}

static void the_death_of_such_a_task(void **state)
{
    (void)state;
    set_on_dead("mourner");
    put_with("a", NULL);
    settle_dead("a", "k", "m");
    assert_int_equal(test_lease(&hand, 9), 1);
    char id[REEVE_ID_MAX];
    rv_copy_text(id, sizeof(id), hand.leased[0].id);
    test_settle(&hand, DIE(id, "k", "m"));
    assert_string_equal(test_state("q", id), "dead");
    assert_int_equal(test_count("q", "dead"), 2);
    assert_int_equal(test_lease(&hand, 9), 0);
    assert_int_equal(test_number("HLEN " Q "tasks"), 2);
    /* Retried it is such a one still. */
    test_ok(test_client, reeve_retry(test_client, "q", id));
    settle_dead(id, "k", "m");
    assert_int_equal(test_lease(&hand, 9), 0);
}

/* A death by crashes is no failure of an attempt. */
static void by_crashes(void **state)
{
    (void)state;
    set_on_dead("mourner");
    put_with("a", NULL);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(test_lease(&hand, 1), 1);
        if (i == 2) assert_true(test_says_it_runs(&hand, "alone"));
        test_expire(&hand);
        test_maintain_all("q");
        test_hand_init(&hand, "1", "q");
    }
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_int_equal(hand.leased[0].crashes, 3);
    const test_outcome crashed = {
        0, {.id = "a", .outcome = REEVE_OUTCOME_FAIL, .counts = false, .kind = "crash", .message = "gone"}};
    test_settle(&hand, crashed);
    assert_int_equal(test_number("ZCARD " Q "failures:crash"), 1);
    expect_told("a", "mourner", "crash", "gone", 0, 3);
}

/* Ids that are too long to carry more, and many that begin alike and die at once. */
static void ids_at_their_limit(void **state)
{
    (void)state;
    enum { MANY = 20 };
    char ids[MANY][REEVE_ID_MAX];
    test_outcome outcomes[MANY];
    for (size_t i = 0; i < MANY; i++) {
        memset(ids[i], 'x', REEVE_ID_LENGTH_MAX);
        (void)snprintf(ids[i] + REEVE_ID_LENGTH_MAX - 2, 3, "%02zu", i);
        put_with(ids[i], "mourner");
        outcomes[i] = (test_outcome)DIE(ids[i], "k", "m");
    }
    assert_int_equal(test_lease(&hand, MANY), MANY);
    assert_int_equal(test_turn(&hand, MANY, outcomes, MANY), MANY); /* and has the others in the same turn */
    bool seen[MANY] = {false};
    for (size_t i = 0; i < MANY; i++) {
        assert_in_range(strlen(hand.leased[i].id), 1, REEVE_ID_LENGTH_MAX);
        reeve_task_info *info = test_show("q", hand.leased[i].id);
        assert_string_equal(info->type, "mourner");
        assert_true(info->payload.length < 500);
        for (size_t j = 0; j < MANY; j++) {
            char payload[500] = "";
            memcpy(payload, info->payload.data, info->payload.length);
            if (strstr(payload, ids[j])) seen[j] = true;
        }
        reeve_task_info_free(info);
    }
    for (size_t j = 0; j < MANY; j++) assert_true(seen[j]);
}

/* Sent again, an outcome is refused: one death, one task. */
static void one_death_one_task(void **state)
{
    (void)state;
    put_with("a", "mourner");
    settle_dead("a", "k", "m");
    const test_outcome again = DIE("a", "k", "m");
    test_settle(&hand, again);
    assert_string_equal(hand.refused, "a");
    assert_int_equal(test_number("HLEN " Q "tasks"), 2);
    /* Another death of the same task in the same moment is another one. */
    expect_told("a", "mourner", "k", "m", 1, 0);
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    settle_dead("a", "k", "m");
    expect_told("a", "mourner", "k", "m", 1, 0);
    assert_int_equal(test_number("HLEN " Q "tasks"), 3);
}

static void told_of_though_not_kept(void **state)
{
    (void)state;
    const reeve_keep none = {0};
    test_ok(test_client,
            reeve_queue_set(test_client, "q", &(reeve_queue_settings){.dead = &none, .on_dead = "mourner"}));
    put_with("a", NULL);
    settle_dead("a", "k", "m");
    assert_string_equal(test_state("q", "a"), "");
    expect_told("a", "mourner", "k", "m", 1, 0);
    assert_int_equal(test_number("EXISTS " Q "failures " Q "failures:k"), 0);
}

static void with_a_unique_key(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .type = "t/1", .on_dead = "mourner", .unique = "k"});
    settle_dead("a", "k", "m");
    assert_int_equal(test_number("EXISTS " Q "unique:k"), 0);
    expect_told("a", "mourner", "k", "m", 1, 0);
}

/* Somebody who waits in the queue is woken, and it stands behind what is there. */
static void in_its_order(void **state)
{
    (void)state;
    put_with("a", "mourner");
    test_put("q", "b");
    assert_int_equal(test_lease(&hand, 1), 1);
    (void)test_cmd(test_conn, "DEL " Q "wake");
    test_settle(&hand, DIE("a", "k", "m"));
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
    assert_int_equal(test_lease(&hand, 9), 2);
    assert_string_equal(hand.leased[0].id, "b");
}

/* Such a task would be malformed, and its death call for another one. */
static void not_of_a_type_that_is_too_long(void **state)
{
    (void)state;
    char type[102];
    memset(type, 'x', 101);
    type[101] = '\0';
    (void)test_cmd(test_conn, "HSET " Q "settings on_dead %s", type);
    test_put("q", "a");
    settle_dead("a", "k", "m");
    assert_int_equal(test_lease(&hand, 9), 0);
    assert_int_equal(test_number("HLEN " Q "tasks"), 1);
}

static void not_by_the_death_of_such_a_task_that_is_malformed(void **state)
{
    (void)state;
    set_on_dead("died");
    (void)TEST_WORDS("HSET", Q "tasks", "a:dead:1900000000000", "{\"at\":x}\n");
    (void)test_cmd(test_conn, "ZADD " Q "scheduled 1 a:dead:1900000000000");
    test_maintain_all("q");
    assert_string_equal(test_state("q", "a:dead:1900000000000"), "dead");
    assert_int_equal(test_lease(&hand, 9), 0);
    assert_int_equal(test_number("HLEN " Q "tasks"), 1);
}

/* Another program has written a key that the new task needs: the call is refused, and leaves nothing of that task. */
static void of_a_refused_call_nothing_is_left(void **state)
{
    (void)state;
    set_on_dead("mourn");
    test_put("q", "a");
    assert_int_equal(test_lease(&hand, 1), 1);
    for (int attempt = 0; attempt < 2; attempt++) {
        test_clock_advance(1);
        if (attempt == 0) (void)test_cmd(test_conn, "RENAME " Q "sequence kept");
        if (attempt == 0) (void)test_cmd(test_conn, "SET " Q "sequence x");
        (void)TEST_SCRIPT(turn, Q, "1", "0", "1", "", hand.sessions[0], "1", hand.sessions[0], "", "0", "1", "fail",
                          "a", "1", "k", "m");
        (void)test_cmd(test_conn, "RENAME kept " Q "sequence");
        if (attempt == 0)
            assert_string_equal(TEST_SCRIPT(regain, Q, hand.sessions[0], "a", "1700000000000 1"), "[1 1]");
    }
    assert_string_equal(test_state("q", "a"), "dead");
    assert_int_equal(test_count("q", "ready"), 1);
    assert_int_equal(test_number("HLEN " Q "tasks"), 2);
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_is_called_for, set_up),
        cmocka_unit_test_setup(by_the_task, set_up),
        cmocka_unit_test_setup(by_the_queue, set_up),
        cmocka_unit_test_setup(the_death_of_such_a_task, set_up),
        cmocka_unit_test_setup(by_crashes, set_up),
        cmocka_unit_test_setup(ids_at_their_limit, set_up),
        cmocka_unit_test_setup(one_death_one_task, set_up),
        cmocka_unit_test_setup(told_of_though_not_kept, set_up),
        cmocka_unit_test_setup(with_a_unique_key, set_up),
        cmocka_unit_test_setup(in_its_order, set_up),
        cmocka_unit_test_setup(not_of_a_type_that_is_too_long, set_up),
        cmocka_unit_test_setup(not_by_the_death_of_such_a_task_that_is_malformed, set_up),
        cmocka_unit_test_setup(of_a_refused_call_nothing_is_left, set_up),
    };
    test_clock_set(1900000000000); /* it stands still */
    return cmocka_run_group_tests_name("ct_on_dead", tests, test_place_start, test_place_stop);
}
