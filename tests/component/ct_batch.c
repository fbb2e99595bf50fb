/* Batches: called when all have ended, and at the first death; members in several queues; a producer that stops half
 * way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reeve/layer.h"
#include "support/depend.h"

static const reeve_task_spec complete = {.queue = "q", .type = "t", .id = "complete"};
static const reeve_task_spec death = {.queue = "q", .type = "t", .id = "death"};
static reeve_batch batch;

static void open_batch(void)
{
    test_ok(test_client,
            reeve_batch_open(test_client, &batch, &(reeve_batch_callbacks){.complete = &complete, .death = &death}));
}

static void add(const char *queue, const char *id)
{
    const reeve_task_spec spec = {.queue = queue, .type = "t", .id = id};
    reeve_enqueued result;
    test_ok(test_client, reeve_batch_add(test_client, &batch, &spec, 1, &result));
}

static void states_are(const char *of_complete, const char *of_death)
{
    test_settle_queues("p q");
    assert_string_equal(test_state("q", "complete"), of_complete);
    assert_string_equal(test_state("q", "death"), of_death);
}

static void all_complete(void **state)
{
    (void)state;
    open_batch();
    add("p", "a");
    add("q", "b");
    states_are("blocked", "blocked");
    test_complete("p", "a");
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    states_are("blocked", "blocked");
    test_complete("q", "b");
    states_are("ready", "");
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    test_no_edges_left("p");
    test_no_edges_left("q");
}

static void one_dies(void **state)
{
    (void)state;
    open_batch();
    add("p", "a");
    add("p", "b");
    add("p", "c");
    test_kill("p", "a");
    states_are("blocked", "ready");
    /* Others are added after that. */
    add("p", "d");
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    test_kill("p", "b");
    test_complete("p", "c");
    states_are("blocked", "ready");
    test_complete("p", "d");
    states_are("ready", "ready");
}

static reeve_status shorten(reeve_outgoing *task, reeve_task_spec *spec, void *user)
{
    (void)task;
    (void)user;
    spec->payload = (reeve_bytes){"short", 5};
    return REEVE_OK;
}

/* The payload is over the client's limit before its layer, and below it afterwards. */
static void a_member_that_a_layer_shortens_counts(void **state)
{
    (void)state;
    char payload[100] = "";
    reeve_client *client;
    reeve_enqueued result;
    const reeve_layer layer = {REEVE_LAYER, .name = "shorten", .enqueue = shorten};
    const reeve_client_options options = {.redis = test_redis_url(test_redis), .size_limits = {.payload = 64}};
    const reeve_task_spec spec = {.queue = "p", .type = "t", .id = "a", .payload = {payload, sizeof(payload)}};
    open_batch();
    assert_int_equal(reeve_client_open(&client, &options), REEVE_OK);
    test_ok(client, reeve_client_add_layer(client, &layer));
    test_ok(client, reeve_batch_add(client, &batch, &spec, 1, &result));
    assert_int_equal(result.status, REEVE_OK);
    test_ok(client, reeve_batch_close(client, &batch));
    reeve_client_close(client);
    states_are("blocked", "blocked");
    test_complete("p", "a");
    states_are("ready", "");
}

static void it_waits_for_its_close(void **state)
{
    (void)state;
    open_batch();
    add("p", "a");
    test_complete("p", "a");
    states_are("blocked", "blocked");
    add("p", "b");
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    states_are("blocked", "blocked");
    test_complete("p", "b");
    states_are("ready", "");
}

/* A closed batch takes no new member, also from a program that still has its handles: nothing is enqueued then. Members
 * that it has may be added again. */
static void a_closed_batch_takes_no_members(void **state)
{
    (void)state;
    const char *const handles[] = {"q/there", "p/a"};
    reeve_task_spec specs[] = {{.queue = "p", .type = "t", .id = "late"}, {.queue = "q", .type = "t", .id = "later"}};
    reeve_enqueued results[2];
    test_put("q", "there");
    open_batch();
    add("p", "a");
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    test_refused(test_client, reeve_batch_add(test_client, &batch, specs, 2, results), REEVE_ESTATE,
                 "q/complete is closed");
    assert_int_equal(results[0].status, REEVE_ESTATE);
    assert_string_equal(test_state("p", "late"), "");
    assert_string_equal(test_state("q", "later"), "");
    test_refused(test_client, reeve_batch_add_tasks(test_client, &batch, handles, 2), REEVE_ESTATE, "closed");
    test_ok(test_client, reeve_batch_add_tasks(test_client, &batch, handles + 1, 1));
    specs[0].id = "a";
    test_refused(test_client, reeve_batch_add(test_client, &batch, specs, 1, results), REEVE_EEXISTS, "p/a");
    assert_int_equal(test_number("HLEN reeve:{q}:parents:complete"), 1);
    test_complete("p", "a");
    states_are("ready", "");
}

/* A callback for success alone is told apart from one whose members cannot complete any more. */
static void a_closed_batch_for_success_takes_no_members(void **state)
{
    (void)state;
    reeve_enqueued result;
    const reeve_task_spec success = {.queue = "q", .type = "t", .id = "success"};
    const reeve_task_spec late = {.queue = "p", .type = "t", .id = "late"};
    test_ok(test_client, reeve_batch_open(test_client, &batch, &(reeve_batch_callbacks){.success = &success}));
    add("p", "a");
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    test_refused(test_client, reeve_batch_add(test_client, &batch, &late, 1, &result), REEVE_ESTATE, "closed");
    assert_string_equal(test_state("p", "late"), "");
    test_complete("p", "a");
    test_settle_queues("p q");
    assert_string_equal(test_state("q", "success"), "ready");
}

static void without_members(void **state)
{
    (void)state;
    open_batch();
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    states_are("ready", "");
}

static void of_tasks_that_are_there(void **state)
{
    (void)state;
    const char *const handles[] = {"p/a", "p/b", "p/c"};
    test_put("p", "a b c");
    test_complete("p", "a");
    test_kill("p", "b");
    test_ok(test_client, reeve_batch_open(test_client, &batch, &(reeve_batch_callbacks){.death = &death}));
    assert_string_equal(batch.complete, "");
    test_ok(test_client, reeve_batch_add_tasks(test_client, &batch, handles, 3));
    states_are("", "ready");
    test_ok(test_client, reeve_batch_close(test_client, &batch));
}

static void some_are_refused(void **state)
{
    (void)state;
    test_put("q", "taken");
    open_batch();
    const reeve_task_spec specs[] = {{.queue = "q", .type = "t", .id = "taken"},
                                     {.queue = "p", .type = "t", .id = "a"}};
    reeve_enqueued results[2];
    test_refused(test_client, reeve_batch_add(test_client, &batch, specs, 2, results), REEVE_EEXISTS, "q/taken");
    assert_int_equal(results[1].status, REEVE_OK);
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    test_complete("p", "a");
    /* The one that was there is a member: a call may be repeated. */
    states_are("blocked", "blocked");
    test_complete("q", "taken");
    states_are("ready", "");
}

static void refused_ones_are_no_members(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "holder", .unique = "key"});
    open_batch();
    const reeve_parent typo = {.handle = "q/typo"};
    const reeve_task_spec specs[] = {{.queue = "q", .type = "t", .id = "one", .unique = "key"},
                                     {.queue = "q", .type = "t", .id = "two", .after = &typo, .after_count = 1},
                                     {.queue = "q", .type = "bad type", .id = "three"},
                                     {.queue = "p", .type = "t", .id = "a"}};
    reeve_enqueued results[4];
    assert_int_equal(reeve_batch_add(test_client, &batch, specs, 4, results), REEVE_EUNIQUE);
    assert_int_equal(results[1].status, REEVE_ENOTFOUND);
    assert_int_equal(results[2].status, REEVE_EINVAL);
    assert_int_equal(results[3].status, REEVE_OK);
    test_ok(test_client, reeve_batch_close(test_client, &batch));
    test_complete("p", "a");
    states_are("ready", "");
}

/* A member may have died and be gone before the call is through: the callback was there first. */
static void a_death_of_which_nothing_is_kept(void **state)
{
    (void)state;
    const reeve_keep none = {0, 0};
    for (int i = 0; i < 2; i++) {
        const char *queue = i ? "p" : "q";
        (void)test_place_empty(state);
        test_ok(test_client, reeve_queue_set(test_client, queue, &(reeve_queue_settings){.dead = &none}));
        open_batch();
        /* A parent that has died ends a member in the very call that enqueues it. */
        test_put(queue, "root");
        test_ok(test_client, reeve_cancel(test_client, queue, "root"));
        char root[16];
        (void)snprintf(root, sizeof(root), "%s/root", queue);
        const reeve_parent after = {.handle = root};
        const reeve_task_spec spec = {.queue = queue, .type = "t", .id = "m", .after = &after, .after_count = 1};
        reeve_enqueued result;
        test_ok(test_client, reeve_batch_add(test_client, &batch, &spec, 1, &result));
        test_settle_queues("p q");
        assert_string_equal(test_state(queue, "m"), "");
        test_ok(test_client, reeve_batch_close(test_client, &batch));
        states_are("ready", "ready");
    }
}

static void it_cannot_be_opened(void **state)
{
    (void)state;
    test_put("q", "death");
    test_refused(
        test_client,
        reeve_batch_open(test_client, &batch, &(reeve_batch_callbacks){.complete = &complete, .death = &death}),
        REEVE_EEXISTS, "q/death");
    assert_string_equal(test_state("q", "complete"), "");
    test_refused(test_client, reeve_batch_close(test_client, &batch), REEVE_EINVAL, "not open");
    test_refused(test_client, reeve_batch_open(test_client, &batch, &(reeve_batch_callbacks){0}), REEVE_EINVAL,
                 "callback");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(all_complete, test_place_empty),
        cmocka_unit_test_setup(one_dies, test_place_empty),
        cmocka_unit_test_setup(refused_ones_are_no_members, test_place_empty),
        cmocka_unit_test_setup(a_death_of_which_nothing_is_kept, test_place_empty),
        cmocka_unit_test_setup(a_member_that_a_layer_shortens_counts, test_place_empty),
        cmocka_unit_test_setup(it_waits_for_its_close, test_place_empty),
        cmocka_unit_test_setup(a_closed_batch_takes_no_members, test_place_empty),
        cmocka_unit_test_setup(a_closed_batch_for_success_takes_no_members, test_place_empty),
        cmocka_unit_test_setup(without_members, test_place_empty),
        cmocka_unit_test_setup(of_tasks_that_are_there, test_place_empty),
        cmocka_unit_test_setup(some_are_refused, test_place_empty),
        cmocka_unit_test_setup(it_cannot_be_opened, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_batch", tests, test_place_start, test_place_stop);
}
