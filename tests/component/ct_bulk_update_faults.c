/* What is done to many tasks at once: asked wrongly, asked twice, with data broken by hand, and with replies lost. */
#include <stdio.h>
#include <string.h>

#include "reeve/search.h"
#include "support/bulk_update.h"
#include "support/clock.h"
#include "support/proxy.h"

#define Q "reeve:{q}:"

static void misuse(void **state)
{
    (void)state;
    static const struct {
        reeve_filter filter;
        const char *words;
    } bad[] = {{{.state = REEVE_STATE_DEAD, .kind = ""}, "kind \"\""},
               {{.state = REEVE_STATE_DEAD, .type = ""}, "type"},
               {{.state = REEVE_STATE_DEAD, .type = "a b"}, "type"},
               {{.state = REEVE_STATE_DEAD, .tag = ""}, "the tag is empty"},
               {{.state = REEVE_STATE_DEAD, .older_ms = -1}, "must not be negative"},
               {{.state = (reeve_state)99}, "no such state"},
               {{.size = 3, .state = REEVE_STATE_DEAD}, "size 3"}};
    const reeve_filter good = {.size = sizeof(good), .state = REEVE_STATE_DEAD};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        test_swept.done = 7;
        test_refused(test_client,
                     reeve_bulk_update(test_client, "q", REEVE_ACTION_DELETE, &bad[i].filter, NULL, NULL, &test_swept),
                     REEVE_EINVAL, bad[i].words);
        assert_int_equal(test_swept.done, 0);
    }
    test_refused(test_client, reeve_bulk_update(test_client, "q", (reeve_action)3, &good, NULL, NULL, NULL),
                 REEVE_EINVAL, "no such action");
    test_refused(test_client, reeve_bulk_update(test_client, "q q", REEVE_ACTION_RETRY, &good, NULL, NULL, NULL),
                 REEVE_EINVAL, "queue");
    assert_int_equal(reeve_bulk_update(NULL, "q", REEVE_ACTION_RETRY, &good, NULL, NULL, NULL), REEVE_EINVAL);
    assert_int_equal(reeve_bulk_update(test_client, "q", REEVE_ACTION_RETRY, NULL, NULL, NULL, NULL), REEVE_EINVAL);
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_RETRY, &good, NULL, NULL, NULL));
}

static void broken_by_hand(void **state)
{
    (void)state;
    test_put("q", "a b");
    (void)test_cmd(test_conn, "HDEL " Q "tasks a");
    test_bulk_update(REEVE_ACTION_DELETE, (reeve_filter){.state = REEVE_STATE_READY}, 1);
    assert_int_equal(test_swept.seen, 2);
}

static void sent_twice(void **state)
{
    (void)state;
    static const char *const actions[] = {"retry", "delete"};
    for (size_t i = 0; i < 2; i++) {
        (void)test_bulk_update_begin(NULL);
        test_put_many_dead(30);
        char between[64];
        for (int step = 0; step < 3; step++) {
            const rv_reply *reply = test_bulk_update_step(actions[i], "dead", "", "10");
            assert_int_equal(rv_reply_int(reply->items[2], -1), 10);
        }
        rv_copy_text(between, sizeof(between), test_digest());
        test_bulk_update((reeve_action)(2 * i), (reeve_filter){.state = REEVE_STATE_DEAD}, 0);
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
    test_bulk_update(REEVE_ACTION_CANCEL, (reeve_filter){.state = REEVE_STATE_SCHEDULED},
                     0); /* (the script is known) */
    test_proxy_lose(proxy, "EVALSHA", 0);
    test_ok(behind, reeve_bulk_update(behind, "q", REEVE_ACTION_CANCEL, &filter, NULL, NULL, &test_swept));
    assert_int_equal(test_proxy_lost(proxy), 1);
    test_states_are("cancelled:500");
    assert_true(test_swept.done > 0 && test_swept.done < 500); /* of what was said */
    reeve_client_close(behind);
    test_proxy_stop(proxy);
}

enum { MALFORMED = 450, GOOD = 3 };

static void put_dead_at_one_time(const char *id, size_t length)
{
    static const char envelope[] = "{\"at\":1,\"type\":\"noop\"}\nx";
    const rv_reply *reply;
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "HSET");
    rv_args(test_conn, Q "tasks");
    rv_arg(test_conn, id, length);
    rv_args(test_conn, envelope);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "ZADD");
    rv_args(test_conn, Q "dead");
    rv_args(test_conn, "1700000000000");
    rv_arg(test_conn, id, length);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
}

/* Ids that are none, of another producer: with a zero byte, and longer than a cursor. All died at the same time. */
static void put_malformed(bool are_long)
{
    for (int i = 0; i < MALFORMED; i++) {
        char id[400];
        memset(id, 'm', sizeof(id));
        (void)snprintf(id, sizeof(id), "m%05d", i);
        id[6] = are_long ? 'm' : '\0';
        put_dead_at_one_time(id, are_long ? sizeof(id) : 8);
    }
    for (int i = 0; i < GOOD; i++) {
        char id[8];
        (void)snprintf(id, sizeof(id), "z%d", i);
        put_dead_at_one_time(id, strlen(id));
    }
}

static bool stops_late(const reeve_bulk_result *updated, void *user)
{
    (void)user;
    return updated->seen <= 2 * MALFORMED;
}

static void malformed_ids_stop_no_bulk_update(void **state)
{
    const reeve_filter filter = {.size = sizeof(filter), .state = REEVE_STATE_DEAD};
    for (int are_long = 0; are_long < 2; are_long++) {
        reeve_bulk_result found = {0};
        (void)test_bulk_update_begin(state);
        put_malformed(are_long);
        test_ok(test_client,
                reeve_bulk_update(test_client, "q", REEVE_ACTION_RETRY, &filter, stops_late, NULL, &test_swept));
        assert_int_equal(test_swept.done, GOOD);
        assert_int_equal(test_swept.refused, MALFORMED);
        test_ok(test_client,
                reeve_bulk_update_preview(test_client, "q", REEVE_ACTION_DELETE, &filter, &found, NULL, NULL));
        assert_int_equal(found.done, MALFORMED);
        test_bulk_update(REEVE_ACTION_DELETE, filter, MALFORMED);
        test_states_are("ready:3");
    }
}

static void malformed_ids_stop_no_search(void **state)
{
    const reeve_filter filter = {.size = sizeof(filter), .state = REEVE_STATE_DEAD};
    for (int are_long = 0; are_long < 2; are_long++) {
        char cursor[REEVE_CURSOR_MAX] = "";
        uint64_t seen = 0;
        size_t good = 0;
        (void)test_bulk_update_begin(state);
        put_malformed(are_long);
        do {
            reeve_task_info **found;
            size_t count;
            uint64_t more;
            test_ok(test_client, reeve_find(test_client, "q", &filter, cursor, 100, &found, &count, &more));
            for (size_t i = 0; i < count; i++) good += found[i]->id[0] == 'z';
            reeve_task_list_free(found, count);
            seen += more;
        } while (cursor[0] != '\0' && seen <= 2 * MALFORMED);
        assert_int_equal(seen, MALFORMED + GOOD);
        assert_int_equal(good, GOOD);
    }
}

/* The index of kinds has dead tasks alone: no call may look for tasks of other states there. */
static void a_kind_selects_no_task_of_another_state(void **state)
{
    (void)state;
    const reeve_filter filter = {.size = sizeof(filter), .state = REEVE_STATE_READY, .kind = "boom"};
    test_put_ended((reeve_task_spec){.id = "a"}, REEVE_STATE_DEAD, "boom");
    test_put("q", "b");
    test_bulk_update(REEVE_ACTION_CANCEL, filter, 0);
    test_states_are("ready:1 dead:1");
    assert_non_null(strstr(test_cmd(test_conn, "ZRANGE " Q "failures:boom 0 -1"), "a"));
    assert_int_equal(test_number("EXISTS " Q "cancelled"), 0);
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(misuse, test_bulk_update_begin),
        cmocka_unit_test_setup(broken_by_hand, test_bulk_update_begin),
        cmocka_unit_test_setup(sent_twice, test_bulk_update_begin),
        cmocka_unit_test_setup(replies_are_lost, test_bulk_update_begin),
        cmocka_unit_test_setup(malformed_ids_stop_no_bulk_update, test_bulk_update_begin),
        cmocka_unit_test_setup(a_kind_selects_no_task_of_another_state, test_bulk_update_begin),
        cmocka_unit_test_setup(malformed_ids_stop_no_search, test_bulk_update_begin),
    };
    test_clock_set(1900000000000); /* it stands still */
    return cmocka_run_group_tests_name("ct_bulk_update_faults", tests, test_place_start, test_place_stop);
}
