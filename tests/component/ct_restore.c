/* A task of many parents that is retried waits for them again, in steps; and whatever is done to it meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/depend.h"

#define NEAR_PARENTS 70
#define FAR_PARENTS 10

static uint64_t seed;

static unsigned chance(unsigned below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

static void state_is(const char *id, const char *state)
{
    const char *found = test_state("q", id);
    if (strcmp(found, state) != 0) fail_msg("q/%s is \"%s\" instead of \"%s\"", id, found, state);
}

/* ---- parents --------------------------------------------------------------------------------------------------- */

static char (*handles)[24];
static reeve_parent *parents;

/* Some tasks of q, p0 and so on, then some of p. */
static void name_parents(size_t near, size_t far, reeve_on_parent_death on_death)
{
    handles = calloc(near + far, sizeof(*handles));
    parents = calloc(near + far, sizeof(*parents));
    for (size_t i = 0; i < near + far; i++) {
        (void)snprintf(handles[i], sizeof(handles[i]), "%c/p%zu", i < near ? 'q' : 'p', i);
        parents[i] = (reeve_parent){.handle = handles[i], .on_death = on_death};
        test_put_spec((reeve_task_spec){.queue = i < near ? "q" : "p", .id = handles[i] + 2});
    }
}

static void put_kid(const char *id, size_t count)
{
    test_put_spec((reeve_task_spec){.queue = "q", .id = id, .after = parents, .after_count = count});
    state_is(id, "blocked");
}

static int forget_parents(void **state)
{
    (void)state;
    free(handles);
    free(parents);
    handles = NULL;
    parents = NULL;
    return 0;
}

/* So that a hash has pages however small it is. */
static int in_pages(void **state)
{
    int failed = test_place_empty(state);
    (void)test_cmd(test_conn, "CONFIG SET hash-max-listpack-entries 0");
    return failed;
}

static void complete(const char *queue, size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++) test_complete(queue, handles[i] + 2);
}

static void again(const char *id)
{
    test_ok(test_client, reeve_cancel(test_client, "q", id));
    test_ok(test_client, reeve_retry(test_client, "q", id));
}

static long long edges_of(const char *id)
{
    return test_number("HLEN reeve:{q}:parents:%s", id);
}

/* ---- one thing meanwhile --------------------------------------------------------------------------------------- */

static void cancelled_and_retried_while_edges_are_made_again(void **state)
{
    (void)state;
    name_parents(NEAR_PARENTS, FAR_PARENTS, REEVE_PARENT_FAIL);
    put_kid("kid", NEAR_PARENTS + FAR_PARENTS);
    for (int i = 0; i < 3; i++) {
        again("kid");
        state_is("kid", "blocked");
        if (i < 2) (void)test_maintain("q", 20);
    }
    test_settle_queues("p q");
    state_is("kid", "blocked");
    assert_int_equal(test_number("HGET reeve:{q}:info:kid pending"), NEAR_PARENTS + FAR_PARENTS);
    complete("p", NEAR_PARENTS, FAR_PARENTS);
    complete("q", 0, NEAR_PARENTS - 1);
    test_settle_queues("p q");
    state_is("kid", "blocked");
    complete("q", NEAR_PARENTS - 1, 1);
    state_is("kid", "ready");
    test_no_edges_left("q");
    test_no_edges_left("p");
}

static void edges_are_removed_and_added_while_they_are_made_again(void **state)
{
    (void)state;
    const char *gone[NEAR_PARENTS];
    name_parents(NEAR_PARENTS + 2, 0, REEVE_PARENT_FAIL);
    put_kid("kid", NEAR_PARENTS);
    again("kid");
    (void)test_maintain("q", 10);
    for (size_t i = 0; i < NEAR_PARENTS; i++) gone[i] = handles[i];
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "kid", gone, NEAR_PARENTS - 1));
    /* One that is there, one that comes, and one that comes by another rule. */
    test_ok(test_client, reeve_add_dependency(test_client, "q", "kid", parents + NEAR_PARENTS - 1, 2));
    parents[NEAR_PARENTS + 1].on_death = REEVE_PARENT_GO;
    test_ok(test_client, reeve_add_dependency(test_client, "q", "kid", parents + NEAR_PARENTS + 1, 1));
    test_settle_queues("q");
    state_is("kid", "blocked");
    assert_int_equal(edges_of("kid"), 3);
    assert_int_equal(test_number("HGET reeve:{q}:info:kid pending"), 3);
    complete("q", 0, NEAR_PARENTS + 2);
    state_is("kid", "ready");
    test_no_edges_left("q");
}

static void all_edges_are_removed_while_they_are_made_again(void **state)
{
    (void)state;
    const char *gone[NEAR_PARENTS];
    name_parents(NEAR_PARENTS, 0, REEVE_PARENT_FAIL);
    put_kid("kid", NEAR_PARENTS);
    again("kid");
    for (size_t i = 0; i < NEAR_PARENTS; i++) gone[i] = handles[i];
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "kid", gone, NEAR_PARENTS));
    test_settle_queues("q");
    state_is("kid", "ready");
    assert_int_equal(edges_of("kid"), 0);
    test_no_edges_left("q");
}

static void deleted_while_edges_are_made_again(void **state)
{
    (void)state;
    name_parents(NEAR_PARENTS, FAR_PARENTS, REEVE_PARENT_FAIL);
    put_kid("kid", NEAR_PARENTS + FAR_PARENTS);
    again("kid");
    (void)test_maintain("q", 10);
    test_ok(test_client, reeve_delete(test_client, "q", "kid"));
    test_put("q", "kid");
    test_settle_queues("p q");
    state_is("kid", "ready");
    assert_int_equal(edges_of("kid"), 0);
    test_no_edges_left("q");
    test_no_edges_left("p");
}

/* Of those that were made again, and of all. */
static void many_parents_are_all_waited_for(void **state)
{
    (void)state;
    enum { MANY = 700 };
    name_parents(MANY, 0, REEVE_PARENT_FAIL);
    put_kid("kid", MANY);
    test_ok(test_client, reeve_cancel(test_client, "q", "kid"));
    test_settle_queues("q");
    test_ok(test_client, reeve_retry(test_client, "q", "kid"));
    (void)test_maintain("q", 200);
    again("kid");
    test_settle_queues("q");
    state_is("kid", "blocked");
    assert_int_equal(test_number("HGET reeve:{q}:info:kid pending"), MANY);
    complete("q", 0, MANY - 1);
    state_is("kid", "blocked");
    complete("q", MANY - 1, 1);
    state_is("kid", "ready");
    test_no_edges_left("q");
}

/* ---- tasks that wait for a death -------------------------------------------------------------------------------- */

static void a_death_that_was_met_before(void **state)
{
    (void)state;
    name_parents(NEAR_PARENTS, 0, REEVE_PARENT_DEATH);
    put_kid("kid", NEAR_PARENTS);
    put_kid("few", 3);
    test_kill("q", "p0");
    test_settle_queues("q");
    state_is("kid", "ready");
    again("kid");
    again("few");
    test_settle_queues("q");
    state_is("kid", "ready");
    state_is("few", "ready");
}

static void a_death_that_is_met_while_it_is_cancelled(void **state)
{
    (void)state;
    name_parents(NEAR_PARENTS, 0, REEVE_PARENT_DEATH);
    put_kid("kid", NEAR_PARENTS);
    put_kid("few", 3);
    test_ok(test_client, reeve_cancel(test_client, "q", "kid"));
    test_ok(test_client, reeve_cancel(test_client, "q", "few"));
    test_settle_queues("q");
    test_kill("q", "p0");
    test_settle_queues("q");
    test_ok(test_client, reeve_retry(test_client, "q", "kid"));
    test_ok(test_client, reeve_retry(test_client, "q", "few"));
    test_settle_queues("q");
    state_is("kid", "ready");
    state_is("few", "ready");
}

/* ---- anything --------------------------------------------------------------------------------------------------- */

/* Whether the task is blocked, its count of open parents, and how many edges make it up. */
static const char look[] =
    "local P, id = KEYS[1], 'kid'\n"
    "local known = redis.call('HMGET', P .. 'info:' .. id, 'pending', 'restoring')\n"
    "local edges, open, ended = redis.call('HVALS', P .. 'parents:' .. id), known[2] and 1 or 0, 0\n"
    "for _, edge in ipairs(edges) do\n"
    "  local number = tonumber(string.match(edge, ' (%d+)$')) or 0\n"
    "  local made = not known[2] or number >= tonumber(known[2])\n"
    "  if string.sub(edge, 2, 2) == '-' and made then open = open + 1 end\n"
    "  if string.sub(edge, 2, 2) == 'c' then ended = ended + 1 end\n"
    "end\n"
    "local blocked = redis.call('ZSCORE', P .. 'blocked', id) and 1 or 0\n"
    "return {blocked, tonumber(known[1]) or 0, open, #edges - ended}\n";

static void check(void)
{
    const rv_reply *reply;
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "EVAL");
    rv_args(test_conn, look);
    rv_args(test_conn, "1");
    rv_args(test_conn, "reeve:{q}:");
    assert_int_equal(rv_conn_call(test_conn, test_patience(), &reply), REEVE_OK);
    int64_t blocked = rv_reply_int(rv_reply_at(reply, 0), -1), pending = rv_reply_int(rv_reply_at(reply, 1), -1);
    int64_t open = rv_reply_int(rv_reply_at(reply, 2), -1), left = rv_reply_int(rv_reply_at(reply, 3), -1);
    if (blocked && pending != open) fail_msg("it waits for %lld, and says %lld", (long long)open, (long long)pending);
    if (!blocked && left > 0 && strcmp(test_state("q", "kid"), "ready") == 0)
        fail_msg("it is ready, and %lld of its parents have not completed", (long long)left);
}

/* The first task that is ready, whichever it is, but for the child. */
static void complete_one(const char *queue)
{
    test_hand hand;
    test_hand_init(&hand, "9", queue);
    if (strcmp(test_state("q", "kid"), "ready") == 0 || test_lease(&hand, 1) == 0) return;
    const test_outcome outcome = {
        0,
        {.id = hand.leased[0].id, .outcome = REEVE_OUTCOME_DONE, .has_info = hand.leased[0].has_info, .counts = true}};
    (void)test_turn(&hand, 0, &outcome, 1);
}

static void do_anything(void)
{
    size_t one = chance(NEAR_PARENTS + FAR_PARENTS);
    switch (chance(9)) {
    case 0:
    case 1:
        (void)reeve_cancel(test_client, "q", "kid");
        break;
    case 2:
    case 3:
        (void)reeve_retry(test_client, "q", "kid");
        break;
    case 4:
        (void)test_maintain("q", 1 + chance(40));
        break;
    case 5:
        complete_one(chance(4) ? "q" : "p");
        break;
    case 6:
        (void)reeve_remove_dependency(test_client, "q", "kid", (const char *[]){handles[one]}, 1);
        break;
    case 7:
        (void)reeve_add_dependency(test_client, "q", "kid", &parents[one], 1);
        break;
    default:
        (void)test_maintain("p", 100);
        break;
    }
}

static void whatever_is_done_it_waits_for_all(void **state)
{
    enum { ROUNDS = 40, STEPS = 120 };
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        (void)in_pages(state);
        seed = round;
        name_parents(NEAR_PARENTS, FAR_PARENTS, REEVE_PARENT_FAIL);
        put_kid("kid", NEAR_PARENTS + FAR_PARENTS);
        if (round % 20 == 3) test_fill_outbox();
        for (int i = 0; i < STEPS; i++) {
            do_anything();
            check();
        }
        (void)reeve_retry(test_client, "q", "kid");
        (void)test_cmd(test_conn, "DEL reeve:{r}:tasks");
        test_settle_queues("p q r");
        check();
        for (int i = 0; i < NEAR_PARENTS; i++) complete_one("q");
        for (int i = 0; i < FAR_PARENTS; i++) complete_one("p");
        test_settle_queues("p q");
        state_is("kid", "ready");
        test_no_edges_left("q");
        test_no_edges_left("p");
        (void)forget_parents(state);
    }
}

#define RESTORE_TEST(test) cmocka_unit_test_setup_teardown(test, in_pages, forget_parents)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RESTORE_TEST(cancelled_and_retried_while_edges_are_made_again),
        RESTORE_TEST(edges_are_removed_and_added_while_they_are_made_again),
        RESTORE_TEST(all_edges_are_removed_while_they_are_made_again),
        RESTORE_TEST(deleted_while_edges_are_made_again),
        RESTORE_TEST(many_parents_are_all_waited_for),
        RESTORE_TEST(a_death_that_was_met_before),
        RESTORE_TEST(a_death_that_is_met_while_it_is_cancelled),
        RESTORE_TEST(whatever_is_done_it_waits_for_all),
    };
    return cmocka_run_group_tests_name("ct_restore", tests, test_place_start, test_place_stop);
}
