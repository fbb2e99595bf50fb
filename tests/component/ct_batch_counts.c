/* Batches: the callback of success, the counts of members, and a batch that is found by the handles of its callbacks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/depend.h"

static const reeve_task_spec success = {.queue = "q", .type = "t", .id = "success"};
static const reeve_task_spec complete = {.queue = "q", .type = "t", .id = "complete"};
static const reeve_task_spec death = {.queue = "d", .type = "t", .id = "death"};
static reeve_batch batch;

static void open_batch(void)
{
    const reeve_batch_callbacks callbacks = {.success = &success, .complete = &complete, .death = &death};
    test_ok(test_client, reeve_batch_open(test_client, &batch, &callbacks));
}

static void add(const char *queue, const char *id)
{
    const reeve_task_spec spec = {.queue = queue, .type = "t", .id = id};
    reeve_enqueued result;
    test_ok(test_client, reeve_batch_add(test_client, &batch, &spec, 1, &result));
}

/* "open 4: 1 completed, 0 dead, 0 cancelled, 3 left, 1 failed"; "" for a callback that is not there. */
static const char *counts_of(const char *handle)
{
    static char text[160];
    reeve_batch_counts counts;
    reeve_status status = reeve_batch_count(test_client, handle, &counts);
    text[0] = '\0';
    if (status == REEVE_ENOTFOUND) return text;
    test_ok(test_client, status);
    (void)snprintf(text, sizeof(text),
                   "%s %" PRIu64 ": %" PRIu64 " completed, %" PRIu64 " dead, %" PRIu64 " cancelled, %" PRIu64
                   " left, %" PRIu64 " failed",
                   counts.open ? "open" : "closed", counts.members, counts.completed, counts.dead, counts.cancelled,
                   counts.left, counts.failed);
    return text;
}

static void states_are(const char *of_success, const char *of_complete, const char *of_death)
{
    test_settle_queues("p q d");
    assert_string_equal(test_state("q", "success"), of_success);
    assert_string_equal(test_state("q", "complete"), of_complete);
    assert_string_equal(test_state("d", "death"), of_death);
}

static void success_comes_when_all_have_completed(void **state)
{
    (void)state;
    open_batch();
    add("p", "a");
    add("q", "b");
    test_complete("p", "a");
    test_complete("q", "b");
    states_are("blocked", "blocked", "blocked");
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    states_are("ready", "ready", "");
    test_no_edges_left("p");
    test_no_edges_left("q");
}

static void success_waits_for_a_retry(void **state)
{
    (void)state;
    open_batch();
    add("p", "a");
    add("q", "b");
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    test_complete("p", "a");
    test_kill("q", "b");
    states_are("blocked", "ready", "ready");
    assert_string_equal(counts_of("q/success"), "closed 2: 1 completed, 1 dead, 0 cancelled, 0 left, 0 failed");
    test_ok(test_client, reeve_cancel(test_client, "q", "complete"));
    test_ok(test_client, reeve_retry(test_client, "q", "b"));
    assert_string_equal(counts_of("q/success"), "closed 2: 1 completed, 0 dead, 0 cancelled, 1 left, 0 failed");
    test_complete("q", "b");
    states_are("ready", "cancelled", "ready");
    assert_string_equal(counts_of("q/success"), "closed 2: 2 completed, 0 dead, 0 cancelled, 0 left, 0 failed");
}

/* Nobody can retry it any more. Others can still be added for the other callbacks. */
static void success_dies_with_a_member_that_is_gone(void **state)
{
    const reeve_keep none = {0, 0};
    (void)state;
    test_ok(test_client, reeve_queue_set(test_client, "p", &(reeve_queue_settings){.dead = &none}));
    open_batch();
    add("p", "a");
    test_kill("p", "a");
    states_are("dead", "blocked", "ready");
    add("q", "b");
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    states_are("dead", "blocked", "ready");
    test_complete("q", "b");
    states_are("dead", "ready", "ready");
    assert_string_equal(counts_of("q/complete"), "closed 2: 1 completed, 1 dead, 0 cancelled, 0 left, 0 failed");
}

static void one_callback_cannot_be_enqueued(void **state)
{
    const reeve_batch_callbacks callbacks = {.success = &success, .complete = &complete, .death = &death};
    (void)state;
    test_put("d", "death");
    test_refused(test_client, reeve_batch_open(test_client, &batch, &callbacks), REEVE_EEXISTS, "d/death");
    assert_string_equal(test_state("q", "success"), "");
    assert_string_equal(test_state("q", "complete"), "");
    assert_string_equal(batch.success, "");
    assert_string_equal(batch.complete, "");
}

/* ---- counts ---------------------------------------------------------------------------------------------------- */

static void fail_once(const char *queue, const char *id)
{
    const test_outcome failed = {
        0,
        {.id = id, .outcome = REEVE_OUTCOME_RETRY, .counts = true, .delay_ms = 3600000, .kind = "k", .message = "m"}};
    test_hand hand;
    test_hand_init(&hand, "9", queue);
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_string_equal(hand.leased[0].id, id);
    (void)test_turn(&hand, 0, &failed, 1);
    assert_string_equal(hand.refused, "");
}

/* A task on which others depend cannot be cancelled alone: it was before. */
static void add_cancelled(const char *queue, const char *id)
{
    char handle[16];
    const char *const handles[] = {handle};
    (void)snprintf(handle, sizeof(handle), "%s/%s", queue, id);
    test_put(queue, id);
    test_ok(test_client, reeve_cancel(test_client, queue, id));
    test_ok(test_client, reeve_batch_add_tasks(test_client, &batch, handles, 1));
}

static void members_are_counted(void **state)
{
    static const char *const queues[] = {"p", "q"};
    (void)state;
    open_batch();
    assert_string_equal(counts_of("q/complete"), "open 0: 0 completed, 0 dead, 0 cancelled, 0 left, 0 failed");
    for (int i = 0; i < 2; i++) {
        add_cancelled(queues[i], "x");
        for (const char *id = "abcde"; *id != '\0'; id++) {
            const char name[] = {*id, '\0'};
            add(queues[i], name);
        }
        test_complete(queues[i], "a");
        test_kill(queues[i], "b");
        fail_once(queues[i], "c");
    }
    /* The queue of the callback has not been told yet what happened in the other one. */
    assert_string_equal(counts_of("q/complete"), "open 12: 1 completed, 2 dead, 2 cancelled, 7 left, 2 failed");
    test_settle_queues("p q d");
    assert_string_equal(counts_of("q/complete"), "open 12: 2 completed, 2 dead, 2 cancelled, 6 left, 2 failed");
    assert_string_equal(counts_of("q/success"), "open 12: 2 completed, 2 dead, 2 cancelled, 6 left, 2 failed");
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    assert_string_equal(counts_of("q/complete"), "closed 12: 2 completed, 2 dead, 2 cancelled, 6 left, 2 failed");
    assert_string_equal(counts_of("q/nope"), "");
    reeve_batch_counts counts;
    test_refused(test_client, reeve_batch_count(test_client, "no handle", &counts), REEVE_EINVAL, "no handle");
    assert_int_equal(reeve_batch_count(test_client, NULL, &counts), REEVE_EINVAL);
}

/* More than a page of edges, and of members that have not ended. */
static void many_members_are_counted(void **state)
{
    enum { MANY = 2300 };
    static char ids[MANY][16];
    static reeve_task_spec specs[MANY];
    static reeve_enqueued results[MANY];
    (void)state;
    open_batch();
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "m%d", i);
        specs[i] = (reeve_task_spec){.queue = i % 2 ? "p" : "q", .type = "t", .id = ids[i]};
    }
    test_ok(test_client, reeve_batch_add(test_client, &batch, specs, 1000, results));
    test_ok(test_client, reeve_batch_add(test_client, &batch, specs + 1000, 1000, results));
    test_ok(test_client, reeve_batch_add(test_client, &batch, specs + 2000, MANY - 2000, results));
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    assert_string_equal(counts_of("q/complete"), "closed 2300: 0 completed, 0 dead, 0 cancelled, 2300 left, 0 failed");
    test_complete("q", "m0");
    assert_string_equal(counts_of("q/complete"), "closed 2300: 1 completed, 0 dead, 0 cancelled, 2299 left, 0 failed");
}

/* What another program wrote is no member, nor a number. A key of another type is reported. */
static void foreign_values_do_not_count(void **state)
{
    reeve_batch_counts counts;
    (void)state;
    open_batch();
    add("q", "a");
    (void)test_cmd(test_conn, "HSET reeve:{q}:parents:complete junk g-9 p/b x p/c g");
    (void)test_cmd(test_conn, "HSET reeve:{q}:info:a failures many");
    /* "p/b" has an edge of one letter: it is none. */
    assert_string_equal(counts_of("q/complete"), "open 1: 0 completed, 0 dead, 0 cancelled, 1 left, 0 failed");
    (void)test_cmd(test_conn, "SET reeve:{q}:dead text");
    test_refused(test_client, reeve_batch_count(test_client, "q/complete", &counts), REEVE_EREDIS, "members");
    (void)test_cmd(test_conn, "DEL reeve:{q}:dead reeve:{q}:parents:complete");
    (void)test_cmd(test_conn, "SET reeve:{q}:parents:complete text");
    test_refused(test_client, reeve_batch_count(test_client, "q/complete", &counts), REEVE_EREDIS, "WRONGTYPE");
}

/* ---- a batch that is found ------------------------------------------------------------------------------------- */

static void it_is_found_by_its_callbacks(void **state)
{
    const char *const handles[] = {"d/death", "q/complete", "q/success"};
    const char *const twice[] = {"q/complete", "q/other"};
    const char *const none[] = {"q/a"};
    const reeve_task_spec other = {.queue = "q", .type = "t", .id = "other"};
    reeve_batch found, second;
    (void)state;
    open_batch();
    add("q", "a");
    test_ok(test_client, reeve_batch_find(test_client, handles, 3, &found));
    assert_string_equal(found.success, "q/success");
    assert_string_equal(found.complete, "q/complete");
    assert_string_equal(found.death, "d/death");
    test_ok(test_client, reeve_batch_find(test_client, handles + 1, 1, &found));
    assert_string_equal(found.success, "");
    assert_string_equal(found.complete, "q/complete");
    test_ok(test_client, reeve_batch_open(test_client, &second, &(reeve_batch_callbacks){.complete = &other}));
    test_refused(test_client, reeve_batch_find(test_client, twice, 2, &found), REEVE_EINVAL, "two batches");
    test_refused(test_client, reeve_batch_find(test_client, none, 1, &found), REEVE_ESTATE, "open batch");
    test_refused(test_client, reeve_batch_find(test_client, none, 0, &found), REEVE_ESTATE, "open batch");
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    test_refused(test_client, reeve_batch_find(test_client, handles, 3, &found), REEVE_ESTATE, "d/death");
}

/* A member that runs adds another one. The callbacks wait for both, although all that was added before has ended. */
static void a_member_adds_members(void **state)
{
    const char *const handles[] = {"q/complete", "d/death", "q/success"};
    test_hand hand;
    (void)state;
    open_batch();
    add("p", "a");
    test_hand_init(&hand, "8", "p");
    assert_int_equal(test_lease(&hand, 1), 1);
    memset(&batch, 0, sizeof(batch));
    test_ok(test_client, reeve_batch_find(test_client, handles, 3, &batch));
    add("q", "b");
    add("q", "b2");
    const test_outcome done = {0, {.id = "a", .outcome = REEVE_OUTCOME_DONE, .has_info = hand.leased[0].has_info}};
    (void)test_turn(&hand, 0, &done, 1);
    assert_string_equal(hand.refused, "");
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    states_are("blocked", "blocked", "blocked");
    assert_string_equal(counts_of("q/complete"), "closed 3: 1 completed, 0 dead, 0 cancelled, 2 left, 0 failed");
    test_complete("q", "b");
    test_complete("q", "b2");
    states_are("ready", "ready", "");
}

/* Members that wait are cancelled, one that runs is asked; those that have ended stay. The callbacks hear of it. */
static void members_are_cancelled(void **state)
{
    reeve_batch_cancelled counts;
    test_hand hand;
    (void)state;
    open_batch();
    add("p", "runs");
    add("q", "a");
    add("q", "b");
    test_complete("q", "a");
    test_hand_init(&hand, "8", "p");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    test_refused(test_client, reeve_cancel(test_client, "q", "b"), REEVE_ESTATE, "others wait for it");
    test_ok(test_client, reeve_batch_cancel(test_client, "q/complete", "not needed", &counts));
    assert_int_equal(counts.cancelled, 1);
    assert_int_equal(counts.asked, 1);
    reeve_task_info *info = test_show("q", "b");
    assert_int_equal(info->state, REEVE_STATE_CANCELLED);
    assert_string_equal(info->cancel_reason, "not needed");
    reeve_task_info_free(info);
    assert_string_equal(counts_of("q/complete"), "closed 3: 1 completed, 0 dead, 1 cancelled, 1 left, 0 failed");
    const test_outcome snooze = {0, {.id = "runs", .outcome = REEVE_OUTCOME_SNOOZE, .begun = true, .delay_ms = 1}};
    (void)test_turn(&hand, 0, &snooze, 1);
    test_settle_queues("p q d");
    states_are("blocked", "ready", "ready");
    test_refused(test_client, reeve_batch_cancel(test_client, "q/nope", NULL, NULL), REEVE_ENOTFOUND, "");
    test_refused(test_client, reeve_batch_cancel(test_client, "nope", NULL, NULL), REEVE_EINVAL, "");
    test_refused(test_client, reeve_batch_cancel(test_client, "q/complete", "a\nb", NULL), REEVE_EINVAL, "line");
}

/* The callbacks of a queue, "<id> <callback> <members>", sorted by what finds them. */
static const char *list_of(const char *queue)
{
    static char text[500];
    char cursor[REEVE_CURSOR_MAX] = "";
    size_t at = 0, count;
    text[0] = '\0';
    do {
        reeve_batch_entry **list;
        test_ok(test_client, reeve_batch_list(test_client, queue, cursor, &list, &count, NULL));
        for (size_t i = 0; i < count; i++)
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %s %d, ", list[i]->handle, list[i]->callback,
                                   (int)list[i]->counts.members);
        reeve_batch_list_free(list, count);
    } while (*cursor);
    return text;
}

static void callbacks_are_listed(void **state)
{
    (void)state;
    open_batch();
    test_put("q", "x");
    test_put_after("q", "no-callback", "f:q/x");
    test_put_after("q", "neither", "g:q/x w:p/y");
    add("q", "a");
    assert_non_null(strstr(list_of("q"), "q/success success 1, "));
    assert_non_null(strstr(list_of("q"), "q/complete complete 1, "));
    assert_null(strstr(list_of("q"), "no-callback"));
    assert_null(strstr(list_of("q"), "neither"));
    assert_string_equal(list_of("d"), "d/death death 1, ");
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    assert_non_null(strstr(list_of("q"), "q/complete complete 1, "));
    test_complete("q", "x");
    test_complete("q", "a");
    test_settle_queues("p q d");
    assert_null(strstr(list_of("q"), "complete"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(success_comes_when_all_have_completed, test_place_empty),
        cmocka_unit_test_setup(success_waits_for_a_retry, test_place_empty),
        cmocka_unit_test_setup(success_dies_with_a_member_that_is_gone, test_place_empty),
        cmocka_unit_test_setup(one_callback_cannot_be_enqueued, test_place_empty),
        cmocka_unit_test_setup(members_are_counted, test_place_empty),
        cmocka_unit_test_setup(many_members_are_counted, test_place_empty),
        cmocka_unit_test_setup(foreign_values_do_not_count, test_place_empty),
        cmocka_unit_test_setup(it_is_found_by_its_callbacks, test_place_empty),
        cmocka_unit_test_setup(a_member_adds_members, test_place_empty),
        cmocka_unit_test_setup(members_are_cancelled, test_place_empty),
        cmocka_unit_test_setup(callbacks_are_listed, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_batch_counts", tests, test_place_start, test_place_stop);
}
