#include "support/unique.h"

#include <stdio.h>
#include <string.h>

#define Q "reeve:{q}:"

reeve_task_spec test_with_key(const char *id, const char *key)
{
    return (reeve_task_spec){.queue = "q", .type = "t", .id = id, .unique = key};
}

reeve_status test_enqueue(reeve_task_spec spec, char ret_id[REEVE_ID_MAX])
{
    return reeve_enqueue(test_client, &spec, ret_id);
}

void test_put_key(const char *id)
{
    test_put_spec(test_with_key(id, "k"));
}

reeve_task_spec test_replacing(const char *id)
{
    reeve_task_spec spec = test_with_key(id, "k");
    spec.on_conflict = REEVE_CONFLICT_REPLACE;
    spec.payload = (reeve_bytes){id, strlen(id)};
    return spec;
}

void test_put_for(const char *id, int64_t ms)
{
    reeve_task_spec spec = test_with_key(id, "k");
    spec.unique_for_ms = ms;
    test_put_spec(spec);
}

const char *test_holder(const char *key)
{
    return test_cmd(test_conn, "GET " Q "unique:%s", key);
}

void test_held_by(const char *id)
{
    char told[REEVE_ID_MAX] = "", words[300];
    (void)snprintf(words, sizeof(words), "unique key \"k\" is held by q/%s", id);
    assert_string_equal(test_holder("k"), id);
    test_refused(test_client, test_enqueue(test_with_key(NULL, "k"), told), REEVE_EUNIQUE, words);
    assert_string_equal(told, id);
}

void test_is_free(void)
{
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "unique:*"), "[]");
    test_put_key("free");
    test_ok(test_client, reeve_delete(test_client, "q", "free"));
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "unique:*"), "[]");
}

void test_lease_one(test_hand *hand, const char *id)
{
    assert_int_equal(test_lease(hand, 1), 1);
    assert_string_equal(hand->leased[0].id, id);
}

void test_park(const char *id, const char *group)
{
    const char *score = test_cmd(test_conn, "ZSCORE " Q "ready %s", id);
    (void)test_cmd(test_conn, "ZADD " Q "parked %s %s", score, id);
    (void)test_cmd(test_conn, "ZADD " Q "parked:%s %s %s", group, score, id);
    (void)test_cmd(test_conn, "ZADD " Q "limit_due 9007199254740991 %s", group);
    (void)test_cmd(test_conn, "ZREM " Q "ready %s", id);
    assert_string_equal(test_state("q", id), "parked");
}
