/* Batches whose calls fail half way: no callback is released before a member has ended, and none waits for a task that
 * will never come, without the program knowing it. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reeve/depend.h"
#include "reeve/layer.h"
#include "reeve/status.h"
#include "support/depend.h"
#include "support/proxy.h"
#include "support/queue.h"

enum { MEMBERS = 6, PARENTS_LIMIT = 5000 };

static test_proxy *proxy;
static reeve_client *behind; /* the proxy */
static const reeve_task_spec complete = {.queue = "q", .type = "callback", .id = "c"};
static const reeve_task_spec death = {.queue = "q", .type = "callback", .id = "d"};
static reeve_batch batch;
static char ids[MEMBERS][16];
static reeve_task_spec specs[MEMBERS];
static reeve_enqueued results[MEMBERS];

static int start(void **state)
{
    char words[512];
    test_place_start(state);
    proxy = test_proxy_start(test_redis);
    const reeve_client_options options = {
        .redis = test_proxy_url(proxy), .timeout_ms = 500, .size_limits = {.parents = PARENTS_LIMIT}};
    if (reeve_client_open_with_error(&behind, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    return 0;
}

static int stop(void **state)
{
    reeve_client_close(behind);
    test_proxy_stop(proxy);
    return test_place_stop(state);
}

static void name_members(void)
{
    for (size_t i = 0; i < MEMBERS; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "m%zu", i);
        specs[i] = (reeve_task_spec){.queue = i % 2 ? "p" : "q", .type = "t", .id = ids[i]};
    }
}

static int set_up(void **state)
{
    test_proxy_lose_all(proxy, "", 0);
    test_place_empty(state);
    name_members();
    test_ok(test_client, reeve_batch_open(test_client, &batch, &(reeve_batch_callbacks){.complete = &complete}));
    return 0;
}

/* Members that the callback waits for. */
static long long pending(void)
{
    return test_number("HGET reeve:{q}:info:c pending") - test_number("HEXISTS reeve:{q}:parents:c !");
}

static bool is_unknown(reeve_status status)
{
    return status == REEVE_ELOST || status == REEVE_ETIMEOUT || status == REEVE_ECONNECT;
}

/* ---- no answer ------------------------------------------------------------------------------------------------- */

static void members_stay_when_the_answer_is_lost(void **state)
{
    const char *const none = "q/none";
    (void)state;
    /* Redis knows the script from here on, and carries out the first request that is lost. */
    test_ok(behind, reeve_remove_dependency(behind, "q", "c", &none, 1));
    test_proxy_lose_all(proxy, "add 5000", 1000);
    assert_true(is_unknown(reeve_batch_add(behind, &batch, specs, MEMBERS, results)));
    for (size_t i = 0; i < MEMBERS; i++) {
        assert_true(is_unknown(results[i].status));
        assert_string_equal(results[i].id, ids[i]);
    }
    assert_int_equal(pending(), MEMBERS);
    test_proxy_lose_all(proxy, "", 0);
    test_ok(behind, reeve_batch_add(behind, &batch, specs, MEMBERS, results));
    test_ok(behind, reeve_batch_close(behind, &batch));
    assert_string_equal(test_state("q", "c"), "blocked");
    assert_int_equal(pending(), MEMBERS);
}

static void a_repeated_call_that_fails_removes_no_member_of_the_first(void **state)
{
    (void)state;
    test_ok(behind, reeve_batch_add(behind, &batch, specs, MEMBERS, results));
    test_proxy_lose_all(proxy, "add 5000", 1000);
    assert_true(is_unknown(reeve_batch_add(behind, &batch, specs, MEMBERS, results)));
    assert_int_equal(pending(), MEMBERS);
    test_proxy_lose_all(proxy, "", 0);
    test_ok(behind, reeve_batch_close(behind, &batch));
    assert_string_equal(test_state("q", "c"), "blocked");
}

static void a_callback_that_may_stand_is_returned(void **state)
{
    (void)state;
    reeve_batch other;
    const reeve_task_spec unnamed = {.queue = "q", .type = "callback"};
    test_ok(behind, reeve_resume(behind, "q"));
    test_redis_freeze(test_redis);
    reeve_status status =
        reeve_batch_open(behind, &other, &(reeve_batch_callbacks){.complete = &unnamed, .death = &death});
    test_redis_thaw(test_redis);
    assert_true(is_unknown(status));
    assert_int_equal(strncmp(other.complete, "q/", 2), 0);
    assert_string_equal(other.death, "");
    if (strstr(reeve_client_error(behind), other.complete) == NULL) fail_msg("%s", reeve_client_error(behind));
}

/* ---- no memory ------------------------------------------------------------------------------------------------- */

static atomic_long allowed = -1; /* allocations until one fails; -1: none fails */
static atomic_bool all_fail;     /* those behind it, too */
static atomic_bool failed;

static bool may_allocate(void)
{
    if (atomic_load(&allowed) < 0) return true;
    if (atomic_load(&allowed) > 0) {
        atomic_fetch_sub(&allowed, 1);
        return true;
    }
    atomic_store(&failed, true);
    if (!atomic_load(&all_fail)) atomic_store(&allowed, -1);
    return false;
}

static void *allocate(size_t size, void *user)
{
    (void)user;
    return may_allocate() ? malloc(size) : NULL;
}

static void *reallocate(void *pointer, size_t size, void *user)
{
    (void)user;
    return may_allocate() ? realloc(pointer, size) : NULL;
}

static void release(void *pointer, void *user)
{
    (void)user;
    free(pointer);
}

static void check_round(long at)
{
    long long enqueued = 0, unknown = 0;
    for (size_t i = 0; i < MEMBERS; i++) {
        bool is_there = test_state(specs[i].queue, ids[i])[0] != '\0';
        if ((results[i].status == REEVE_OK) != is_there && !is_unknown(results[i].status))
            fail_msg("at %ld: member %zu: status %d, but it %s", at, i, (int)results[i].status,
                     is_there ? "exists" : "does not exist");
        enqueued += is_there;
        unknown += !is_there && is_unknown(results[i].status);
    }
    test_settle_queues("p q");
    long long waits_for = pending();
    if (waits_for < enqueued || waits_for > enqueued + unknown)
        fail_msg("at %ld: %lld members were enqueued, %lld are unknown, and the callback waits for %lld (%s)", at,
                 enqueued, unknown, waits_for, reeve_client_error(behind));
}

static void add_while_memory_fails(bool all)
{
    void *state = NULL;
    for (long at = 0; at < 400; at++) {
        reeve_client *client = NULL;
        (void)set_up(&state);
        const reeve_client_options options = {.redis = test_redis_url(test_redis)};
        assert_int_equal(reeve_client_open(&client, &options), REEVE_OK);
        memset(results, 0, sizeof(results));
        atomic_store(&failed, false);
        atomic_store(&all_fail, all);
        atomic_store(&allowed, at);
        (void)reeve_batch_add(client, &batch, specs, MEMBERS, results);
        atomic_store(&allowed, -1);
        check_round(at);
        reeve_client_close(client);
        if (!atomic_load(&failed)) return;
    }
    fail_msg("it never ended");
}

static void one_allocation_fails(void **state)
{
    (void)state;
    add_while_memory_fails(false);
}

static void all_further_allocations_fail(void **state)
{
    (void)state;
    add_while_memory_fails(true);
}

/* ---- no memory in Redis ---------------------------------------------------------------------------------------- */

/* At the last member it takes Redis its memory: by then the callback waits for all of them. */
static reeve_status take_memory(reeve_outgoing *task, reeve_task_spec *spec, void *user)
{
    size_t *left = user;
    (void)spec;
    (void)task;
    if (--*left > 0) return REEVE_OK;
    assert_int_equal(pending(), MEMBERS + 1);
    assert_string_equal(test_cmd(test_conn, "CONFIG SET maxmemory-policy noeviction maxmemory 1"), "OK");
    return REEVE_OK;
}

/* Redis has no memory for the members, which are removed from the callback at once. */
static void members_that_do_not_fit_are_taken_back(void **state)
{
    (void)state;
    size_t left = MEMBERS;
    reeve_client *client;
    const reeve_task_spec there = {.queue = "p", .type = "t", .id = "there"};
    const reeve_client_options options = {.redis = test_redis_url(test_redis)};
    const reeve_layer layer = {REEVE_LAYER, .name = "memory", .enqueue = take_memory, .user = &left};
    assert_int_equal(reeve_client_open(&client, &options), REEVE_OK);
    test_ok(client, reeve_client_add_layer(client, &layer));
    test_ok(test_client, reeve_batch_add(test_client, &batch, &there, 1, results));
    reeve_status status = reeve_batch_add(client, &batch, specs, MEMBERS, results);
    const long long waits_for = pending();
    const reeve_status closed = reeve_batch_close(client, &batch);
    assert_string_equal(test_cmd(test_conn, "CONFIG SET maxmemory 0"), "OK");
    reeve_client_close(client);
    assert_int_equal(status, REEVE_EREDIS);
    for (size_t i = 0; i < MEMBERS; i++) assert_int_equal(results[i].status, REEVE_EREDIS);
    assert_int_equal(closed, REEVE_OK);
    assert_int_equal(waits_for, 1);
    test_complete("p", "there");
    test_settle_queues("p q");
    assert_string_equal(test_state("q", "c"), "ready");
}

/* ---- results --------------------------------------------------------------------------------------------------- */

static void all_results_are_written_for_a_batch_that_is_not_open(void **state)
{
    (void)state;
    const reeve_batch none = {.complete = ""};
    memset(results, 0, sizeof(results));
    test_refused(test_client, reeve_batch_add(test_client, &none, specs, MEMBERS, results), REEVE_EINVAL, "not open");
    for (size_t i = 0; i < MEMBERS; i++) assert_int_equal(results[i].status, REEVE_EINVAL);
}

int main(void)
{
    const reeve_memory_hooks hooks = {.allocate = allocate, .reallocate = reallocate, .release = release};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(members_stay_when_the_answer_is_lost, set_up),
        cmocka_unit_test_setup(a_repeated_call_that_fails_removes_no_member_of_the_first, set_up),
        cmocka_unit_test_setup(a_callback_that_may_stand_is_returned, set_up),
        cmocka_unit_test_setup(one_allocation_fails, set_up),
        cmocka_unit_test_setup(all_further_allocations_fail, set_up),
        cmocka_unit_test_setup(members_that_do_not_fit_are_taken_back, set_up),
        cmocka_unit_test_setup(all_results_are_written_for_a_batch_that_is_not_open, set_up),
    };
    if (reeve_memory_set(&hooks) != REEVE_OK) return 1;
    return cmocka_run_group_tests_name("ct_batch_loss", tests, start, stop);
}
