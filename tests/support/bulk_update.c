#include "support/bulk_update.h"

#include <stdio.h>

#include "protocol/scripts.h"

test_hand test_bulk_update_hand;
reeve_bulk_result test_swept;

int test_bulk_update_begin(void **state)
{
    test_hand_init(&test_bulk_update_hand, "1", "q");
    test_bulk_update_hand.session_ms = 1000000000;
    return test_place_empty(state);
}

void test_put_ended(reeve_task_spec spec, reeve_state end, const char *kind)
{
    test_put_spec(spec);
    if (end == REEVE_STATE_CANCELLED) {
        test_ok(test_client, reeve_cancel(test_client, "q", spec.id));
        return;
    }
    assert_int_equal(test_lease(&test_bulk_update_hand, 1), 1);
    assert_string_equal(test_bulk_update_hand.leased[0].id, spec.id);
    if (end == REEVE_STATE_DEAD) {
        test_settle(&test_bulk_update_hand, TEST_DIE(spec.id, kind));
    } else {
        test_settle(&test_bulk_update_hand, TEST_DONE(spec.id));
    }
}

void test_put_many_dead(size_t count)
{
    static test_outcome outcomes[250];
    for (size_t at = 0; at < count;) {
        size_t some = count - at < 250 ? count - at : 250;
        char format[40];
        (void)snprintf(format, sizeof(format), "d%zu-%%03zu", at / 250);
        test_put_many("q", some, format);
        assert_int_equal(test_lease(&test_bulk_update_hand, (unsigned)some), some);
        for (size_t i = 0; i < some; i++) outcomes[i] = (test_outcome)TEST_DIE(test_bulk_update_hand.leased[i].id, "k");
        (void)test_turn(&test_bulk_update_hand, 0, outcomes, some);
        at += some;
    }
    assert_int_equal(test_count("q", "dead"), count);
}

void test_bulk_update(reeve_action action, reeve_filter filter, uint64_t done)
{
    test_ok(test_client, reeve_bulk_update(test_client, "q", action, &filter, NULL, NULL, &test_swept));
    assert_int_equal(test_swept.done, done);
}

const rv_reply *test_bulk_update_step(const char *action, const char *state, const char *cursor, const char *max)
{
    const char *const args[] = {action, state, cursor, max, "", "", "", "0"};
    const rv_reply *reply;
    rv_cmd_script(test_conn, &rv_script_bulk_update, 1, 8);
    rv_args(test_conn, "reeve:{q}:");
    for (size_t i = 0; i < 8; i++) rv_args(test_conn, args[i]);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    return reply;
}

void test_states_are(const char *expected)
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
