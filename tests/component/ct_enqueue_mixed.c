/* Producing many tasks of many sorts in one call: queues and options mixed, what each of them is told, and in words. */
#include <stdio.h>
#include <string.h>

#include "reeve/depend.h"
#include "support/proxy.h"
#include "support/queue.h"

#define Q "reeve:{q}:"
enum { MANY = 1000 };

static reeve_task_spec specs[MANY];
static reeve_enqueued results[MANY];
static char ids[MANY][REEVE_ID_MAX], keys[MANY][16], handles[MANY][REEVE_HANDLE_MAX];
static reeve_parent parents[MANY];

static void make(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(ids[i], REEVE_ID_MAX, "n%04zu", i);
        specs[i] = (reeve_task_spec){.queue = "q", .type = "t", .id = ids[i]};
    }
    memset(results, 0xff, sizeof(results));
}

/* What result i has in words. */
static const char *words_of(const reeve_client *client, size_t i)
{
    static char words[512];
    (void)snprintf(words, sizeof(words), "untouched");
    reeve_enqueued_error(client, &specs[i], &results[i], words, sizeof(words));
    return words;
}

static void expect_words(size_t i, reeve_status status, const char *words)
{
    assert_int_equal(results[i].status, status);
    const char *said = words_of(test_client, i);
    if (strstr(said, words) == NULL) fail_msg("%zu: \"%s\" has no \"%s\"", i, said, words);
}

/* ---- options --------------------------------------------------------------------------------------------------- */

static const char *const tags[] = {"red", "a \"b\""};
static const reeve_meta meta[] = {{"k", "v"}};

/* Seven sorts in turn, over three queues. */
static void make_mixed(void)
{
    static const char *const queues[] = {"q", "r", "s"};
    make(MANY);
    for (size_t i = 0; i < MANY; i++) {
        reeve_task_spec *spec = &specs[i];
        spec->queue = queues[i % 3];
        (void)snprintf(handles[i], sizeof(handles[i]), "%s/n%04zu", spec->queue, i);
        if (i % 7 == 1) {
            spec->group = "g";
            spec->weight = 3;
            spec->priority = -5;
        } else if (i % 7 == 2) {
            (void)snprintf(keys[i], sizeof(keys[i]), "key%zu", i);
            spec->unique = keys[i];
        } else if (i % 7 == 3) {
            parents[i].handle = handles[i - 1]; /* of another queue */
            spec->after = &parents[i];
            spec->after_count = 1;
        } else if (i % 7 == 4) {
            spec->in_ms = 3600000;
        } else if (i % 7 == 5) {
            spec->at_ms = 4102444800000;
        } else if (i % 7 == 6) {
            spec->tags = tags;
            spec->tag_count = 2;
            spec->meta = meta;
            spec->meta_count = 1;
        }
    }
}

static const char *state_of(size_t i)
{
    return test_state(specs[i].queue, ids[i]);
}

static void expect_mixed(void)
{
    for (size_t i = 0; i < MANY; i++) {
        const char *expected = i % 7 == 3 ? "blocked" : i % 7 == 4 || i % 7 == 5 ? "scheduled" : "ready";
        assert_int_equal(results[i].status, REEVE_OK);
        assert_string_equal(results[i].id, ids[i]);
        if (strcmp(state_of(i), expected) != 0) fail_msg("%zu is %s, not %s", i, state_of(i), expected);
    }
    assert_string_equal(test_cmd(test_conn, "GET " Q "unique:key9"), "n0009");
    reeve_task_info *info = test_show("q", ids[15]); /* 15: the second sort, in the first queue */
    assert_int_equal(info->priority, -5);
    assert_string_equal(info->group, "g");
    assert_int_equal(info->weight, 3);
    reeve_task_info_free(info);
    info = test_show("q", ids[6]);
    assert_string_equal(info->tags, "[\"red\",\"a \\\"b\\\"\"]");
    assert_string_equal(info->meta, "{\"k\":\"v\"}");
    reeve_task_info_free(info);
    info = test_show("q", ids[3]);
    assert_int_equal(info->parent_count, 1);
    assert_non_null(strstr(info->parents, "\"s/n0002\""));
    reeve_task_info_free(info);
}

static void queues_and_options(void **state)
{
    (void)state;
    make_mixed();
    test_ok(test_client, reeve_enqueue_many(test_client, specs, MANY, results));
    expect_mixed();
}

/* Sent again, nothing is doubled, and no task is told that its own key is taken. */
static void and_the_connection_is_lost_on_the_way(void **state)
{
    (void)state;
    static const size_t passes[] = {0, 10, 100, 1000};
    char words[512];
    test_proxy *proxy = test_proxy_start(test_redis);
    const reeve_client_options options = {.redis = test_proxy_url(proxy), .timeout_ms = 10000};
    reeve_client *behind = NULL;
    if (reeve_client_open_with_error(&behind, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
        (void)test_place_empty(NULL);
        test_put("other", "x"); /* so that the script is known */
        make_mixed();
        unsigned lost = test_proxy_lost(proxy);
        test_proxy_lose(proxy, "EVALSHA", passes[i]);
        test_ok(behind, reeve_enqueue_many(behind, specs, MANY, results));
        assert_int_equal(test_proxy_lost(proxy), lost + 1);
        expect_mixed();
        long long there = 0;
        static const char *const queues[] = {"q", "r", "s"};
        for (size_t j = 0; j < 3; j++) there += test_number("HLEN reeve:{%s}:tasks", queues[j]);
        assert_int_equal(there, MANY);
    }
    reeve_client_close(behind);
    test_proxy_stop(proxy);
}

/* ---- refusals -------------------------------------------------------------------------------------------------- */

static void one_bad_among_a_thousand(void **state)
{
    (void)state;
    make(MANY);
    specs[500].type = "no good";
    test_refused(test_client, reeve_enqueue_many(test_client, specs, MANY, results), REEVE_EINVAL, "no good");
    for (size_t i = 0; i < MANY; i++) {
        if (results[i].status != (i == 500 ? REEVE_EINVAL : REEVE_OK)) fail_msg("%zu: %d", i, (int)results[i].status);
        if (i != 500) assert_string_equal(words_of(test_client, i), "");
    }
    expect_words(500, REEVE_EINVAL, "\"no good\"");
    assert_int_equal(test_count("q", "ready"), MANY - 1);
}

static void a_key_twice_in_a_call(void **state)
{
    (void)state;
    make(6);
    for (size_t i = 0; i < 6; i++) specs[i].unique = i == 3 ? "other" : "k";
    specs[2].queue = "r"; /* keys are a queue's own */
    specs[4].on_conflict = REEVE_CONFLICT_REPLACE;
    test_refused(test_client, reeve_enqueue_many(test_client, specs, 6, results), REEVE_EUNIQUE,
                 "the unique key \"k\" is held by q/n0000");
    expect_words(0, REEVE_OK, "");
    expect_words(1, REEVE_EUNIQUE, "the unique key \"k\" is held by q/n0000");
    assert_string_equal(results[1].id, "n0000");
    expect_words(2, REEVE_OK, "");
    expect_words(3, REEVE_OK, "");
    expect_words(4, REEVE_OK, "");
    expect_words(5, REEVE_EUNIQUE, "the unique key \"k\" is held by q/n0004");
    assert_string_equal(results[5].id, "n0004");
    assert_string_equal(test_state("q", "n0000"), ""); /* it went */
    assert_int_equal(test_count("q", "ready"), 2);
}

/* Not those of the first failure, which the client has. */
static void each_has_its_own_words(void **state)
{
    (void)state;
    static reeve_parent crowd[REEVE_PARENTS_MAX + 1];
    for (size_t i = 0; i <= REEVE_PARENTS_MAX; i++) crowd[i].handle = "q/x";
    test_put("q", "n0001");
    (void)test_cmd(test_conn, "SET reeve:{wrong}:tasks x");
    (void)test_cmd(test_conn, "SET reeve:{bad}:tasks x");
    make(8);
    specs[2].priority = 999;
    specs[3].queue = "wrong";
    specs[4].payload = (reeve_bytes){"", REEVE_PAYLOAD_MAX + 1};
    specs[5].after = crowd;
    specs[5].after_count = REEVE_PARENTS_MAX + 1;
    specs[6].queue = "bad";
    test_refused(test_client, reeve_enqueue_many(test_client, specs, 8, results), REEVE_EEXISTS, "q/n0001");
    expect_words(0, REEVE_OK, "");
    expect_words(1, REEVE_EEXISTS, "a task q/n0001 exists already");
    expect_words(2, REEVE_EINVAL, "priority 999");
    expect_words(3, REEVE_EREDIS, "queue wrong: WRONGTYPE");
    expect_words(4, REEVE_ETOOBIG, "the payload has 67108865 bytes");
    expect_words(5, REEVE_ETOOBIG, "parents: at most");
    expect_words(6, REEVE_EREDIS, "queue bad: WRONGTYPE");
    expect_words(7, REEVE_OK, "");
    /* The next call begins anew. */
    specs[3].queue = "q";
    test_refused(test_client, reeve_enqueue_many(test_client, &specs[6], 1, &results[6]), REEVE_EREDIS, "queue bad");
    expect_words(6, REEVE_EREDIS, "queue bad: WRONGTYPE");
}

/* More sorts of failures than a client keeps words for. */
static void more_than_are_kept(void **state)
{
    (void)state;
    static char names[8][16];
    make(8);
    for (size_t i = 0; i < 8; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "wrong%zu", i);
        (void)test_cmd(test_conn, "SET reeve:{%s}:tasks x", names[i]);
        specs[i].queue = names[i];
    }
    assert_int_equal(reeve_enqueue_many(test_client, specs, 8, results), REEVE_EREDIS);
    expect_words(0, REEVE_EREDIS, "queue wrong0: WRONGTYPE");
    expect_words(3, REEVE_EREDIS, "queue wrong3: WRONGTYPE");
    expect_words(7, REEVE_EREDIS, "queue wrong0, and others: WRONGTYPE");
}

static void misuse(void **state)
{
    (void)state;
    char words[4] = "abc";
    make(1);
    specs[0].type = "";
    assert_int_equal(reeve_enqueue_many(test_client, specs, 1, results), REEVE_EINVAL);
    reeve_enqueued_error(test_client, specs, results, words, sizeof(words));
    assert_int_equal(strlen(words), 3); /* cut */
    reeve_enqueued_error(NULL, specs, results, words, sizeof(words));
    assert_string_equal(words, "");
    reeve_enqueued_error(test_client, specs, results, NULL, 4);
    reeve_enqueued_error(test_client, specs, results, words, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(queues_and_options, test_place_empty),
        cmocka_unit_test_setup(and_the_connection_is_lost_on_the_way, test_place_empty),
        cmocka_unit_test_setup(one_bad_among_a_thousand, test_place_empty),
        cmocka_unit_test_setup(a_key_twice_in_a_call, test_place_empty),
        cmocka_unit_test_setup(each_has_its_own_words, test_place_empty),
        cmocka_unit_test_setup(more_than_are_kept, test_place_empty),
        cmocka_unit_test_setup(misuse, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_enqueue_mixed", tests, test_place_start, test_place_stop);
}
