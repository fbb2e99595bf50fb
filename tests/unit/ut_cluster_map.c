/* The map of a Redis Cluster: replies to CLUSTER SLOTS of every kind, hostile ones, and redirections. */
#include "redis/cluster_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/cluster.h"
#include "redis/reply_reader.h"
#include "support/cmocka.h"

/* Two ranges with a hole between them, a replica, and the details that Redis 7 adds. */
#define GOOD                                                                                  \
    "*2\r\n"                                                                                  \
    "*4\r\n:0\r\n:5460\r\n"                                                                   \
    "*4\r\n$9\r\n127.0.0.1\r\n:7000\r\n$3\r\nid1\r\n*2\r\n$8\r\nhostname\r\n$6\r\nhost-1\r\n" \
    "*4\r\n$9\r\n127.0.0.1\r\n:7003\r\n$3\r\nid4\r\n*0\r\n"                                   \
    "*3\r\n:5462\r\n:16383\r\n*4\r\n$6\r\nhost-2\r\n:7001\r\n$3\r\nid2\r\n*2\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n"

static reeve_status take(rv_cluster_map *map, const char *text, size_t length, rv_error *error)
{
    rv_reply_reader reader;
    const rv_reply *reply = NULL;
    reeve_status status = REEVE_EPROTO;
    rv_reply_reader_init(&reader);
    if (rv_reply_reader_feed(&reader, text, length, error) == REEVE_OK &&
        rv_reply_reader_next(&reader, &reply, error) == REEVE_OK && reply != NULL)
        status = rv_cluster_map_read(map, reply, "asked", error);
    rv_reply_reader_fini(&reader);
    return status;
}

static reeve_status take_text(rv_cluster_map *map, const char *text)
{
    rv_error error = {0};
    return take(map, text, strlen(text), &error);
}

static void is_at(const rv_cluster_map *map, unsigned slot, const char *host, int port)
{
    int node = map->owner[slot];
    if (host == NULL) {
        assert_int_equal(node, RV_CLUSTER_NO_NODE);
        return;
    }
    assert_in_range(node, 0, map->node_count - 1);
    assert_string_equal(map->nodes[node].host, host);
    assert_int_equal(map->nodes[node].port, port);
}

static void reads_ranges_and_holes(void **state)
{
    (void)state;
    rv_cluster_map map;
    rv_cluster_map_init(&map);
    is_at(&map, 0, NULL, 0);
    assert_int_equal(take_text(&map, GOOD), REEVE_OK);
    is_at(&map, 0, "127.0.0.1", 7000);
    is_at(&map, 5460, "127.0.0.1", 7000);
    is_at(&map, 5461, NULL, 0);
    is_at(&map, 5462, "host-2", 7001);
    is_at(&map, 16383, "host-2", 7001);
    /* Numbers of nodes stay. */
    assert_int_equal(take_text(&map, "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$6\r\nhost-2\r\n:7001\r\n$1\r\nx\r\n"),
                     REEVE_OK);
    assert_int_equal(map.owner[0], 1);
    assert_int_equal(map.node_count, 2);
    assert_int_equal(take_text(&map, "*0\r\n"), REEVE_OK);
    is_at(&map, 7, NULL, 0);
    rv_cluster_map_fini(&map);
    rv_cluster_map_fini(&map);
}

static void knows_each_kind_of_endpoint(void **state)
{
    (void)state;
    static const struct {
        const char *node, *host;
    } cases[] = {
        {"*3\r\n$0\r\n\r\n:1\r\n$1\r\nx\r\n", "asked"},
        {"*3\r\n$-1\r\n:1\r\n$1\r\nx\r\n", "asked"},
        {"*4\r\n$1\r\n?\r\n:1\r\n$1\r\nx\r\n*2\r\n$2\r\nip\r\n$7\r\n9.9.9.9\r\n", "9.9.9.9"},
        {"*3\r\n$1\r\n?\r\n:1\r\n$1\r\nx\r\n", "asked"},
        {"*3\r\n$3\r\n::1\r\n:1\r\n$1\r\nx\r\n", "::1"},
        {"*2\r\n$1\r\nh\r\n:1\r\n", "h"},
        {"*3\r\n$1\r\nh\r\n:0\r\n$1\r\nx\r\n", NULL}, /* no port for plain connections */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        rv_cluster_map map;
        rv_cluster_map_init(&map);
        (void)snprintf(text, sizeof(text), "*1\r\n*3\r\n:5\r\n:5\r\n%s", cases[i].node);
        assert_int_equal(take_text(&map, text), REEVE_OK);
        is_at(&map, 5, cases[i].host, 1);
        rv_cluster_map_fini(&map);
    }
}

static void refuses_what_is_malformed(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "+OK\r\n",
        "-ERR no\r\n",
        "*1\r\n:1\r\n",
        "*1\r\n*3\r\n:-1\r\n:5\r\n*2\r\n$1\r\nh\r\n:1\r\n",
        "*1\r\n*3\r\n:6\r\n:5\r\n*2\r\n$1\r\nh\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\nh\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:5\r\n*2\r\n$1\r\nh\r\n:65536\r\n",
        "*1\r\n*3\r\n:0\r\n:5\r\n*2\r\n$1\r\nh\r\n$1\r\nx\r\n",
        "*1\r\n*3\r\n:0\r\n:5\r\n*2\r\n$3\r\na@b\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:5\r\n*2\r\n$3\r\na/b\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:5\r\n*2\r\n:7\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:5\r\n:1\r\n",
    };
    rv_cluster_map map;
    rv_cluster_map_init(&map);
    assert_int_equal(take_text(&map, GOOD), REEVE_OK);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(take_text(&map, bad[i]), REEVE_EPROTO);
        is_at(&map, 5462, "host-2", 7001);
        is_at(&map, 5461, NULL, 0);
    }
    rv_cluster_map_fini(&map);
}

/* Whatever comes, each slot has a node that exists, or none. */
static void survives_any_bytes(void **state)
{
    (void)state;
    unsigned seed = 17;
    rv_cluster_map map;
    rv_cluster_map_init(&map);
    for (int round = 0; round < 3000; round++) {
        char text[] = GOOD;
        rv_error error = {0};
        for (int changes = 0; changes <= round % 4; changes++) {
            seed = seed * 1103515245u + 12345u;
            size_t at = (seed >> 8) % (sizeof(text) - 1);
            text[at] = "0123456789*$:-\r\n?x"[(seed >> 20) % 18];
        }
        (void)take(&map, text, sizeof(text) - 1, &error);
        for (size_t slot = 0; slot < RV_SLOTS; slot += 97)
            assert_true(map.owner[slot] == RV_CLUSTER_NO_NODE || (size_t)map.owner[slot] < map.node_count);
    }
    rv_cluster_map_fini(&map);
}

static void reads_redirections(void **state)
{
    (void)state;
    unsigned slot = 0;
    rv_cluster_node node;
    assert_int_equal(rv_cluster_map_redirect("MOVED 3999 127.0.0.1:6381", "a", &slot, &node), RV_REDIRECT_MOVED);
    assert_int_equal(slot, 3999);
    assert_string_equal(node.host, "127.0.0.1");
    assert_int_equal(node.port, 6381);
    assert_int_equal(rv_cluster_map_redirect("MOVED 1 :6381", "a", &slot, &node), RV_REDIRECT_MOVED);
    assert_string_equal(node.host, "a");
    assert_int_equal(rv_cluster_map_redirect("MOVED 1 ::1:6381", "a", &slot, &node), RV_REDIRECT_MOVED);
    assert_string_equal(node.host, "::1");
    assert_int_equal(rv_cluster_map_redirect("MOVED 1 ?:6381", "a", &slot, &node), RV_REDIRECT_MOVED);
    assert_string_equal(node.host, "a");
    assert_int_equal(rv_cluster_map_redirect("ASK 3999 127.0.0.1:6381", "a", &slot, &node), RV_REDIRECT_ASK);
    static const char *const others[] = {"MOVED",           "MOVED ",
                                         "MOVED 1",         "MOVED 16384 a:1",
                                         "MOVED -1 a:1",    "MOVED 1 a",
                                         "MOVED 1 a:0",     "MOVED 1 a:65536",
                                         "MOVED x a:1",     "MOVED 1 a b:1",
                                         "TRYAGAIN x",      "CLUSTERDOWN x",
                                         "MOVED 1 a@b:1",   "MOVED 123456789 a:1",
                                         "ERR MOVED 1 a:1", ""};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_int_equal(rv_cluster_map_redirect(others[i], "a", &slot, &node), RV_REDIRECT_NONE);
}

static void keeps_at_most_so_many_nodes(void **state)
{
    (void)state;
    rv_cluster_map map;
    rv_cluster_map_init(&map);
    for (int i = 0; i < RV_CLUSTER_NODES_MAX; i++) {
        rv_cluster_node node = {.host = "h", .port = i + 1};
        assert_int_equal(rv_cluster_map_set(&map, (unsigned)i, &node), i);
    }
    rv_cluster_node one_more = {.host = "h", .port = 60000}, known = {.host = "h", .port = 7};
    assert_int_equal(rv_cluster_map_set(&map, 1, &one_more), RV_CLUSTER_NO_NODE);
    assert_int_equal(rv_cluster_map_set(&map, 1, &known), 6);
    assert_int_equal(rv_cluster_map_set(&map, RV_SLOTS, &known), RV_CLUSTER_NO_NODE);
    rv_cluster_map_fini(&map);
}

static void is_fetched_once_a_second(void **state)
{
    (void)state;
    rv_cluster_node node = {.host = "h", .port = 1}, got;
    rv_cluster *cluster = rv_cluster_create();
    assert_non_null(cluster);
    assert_int_equal(rv_cluster_owner(cluster, 3), RV_CLUSTER_NO_NODE);
    assert_true(rv_cluster_claim_fetch(cluster, false, 1000)); /* never fetched */
    rv_cluster_note_moved(cluster, 3, &node);
    assert_int_equal(rv_cluster_owner(cluster, 3), 0);
    assert_int_equal(rv_cluster_version(cluster), 1);
    rv_cluster_note_moved(cluster, 3, &node);
    assert_int_equal(rv_cluster_version(cluster), 1);
    assert_int_equal(rv_cluster_hint(cluster), 0);
    assert_true(rv_cluster_node_at(cluster, 0, &got));
    assert_int_equal(got.port, 1);
    assert_false(rv_cluster_node_at(cluster, 1, &got));
    assert_false(rv_cluster_node_at(cluster, -1, &got));
    assert_int_equal(rv_cluster_next_master(cluster, 0), 0);
    assert_int_equal(rv_cluster_next_master(cluster, 1), RV_CLUSTER_NO_NODE);
    assert_int_equal(rv_cluster_slots_of(cluster, 0), 1);
    rv_reply none = {.type = RV_ARRAY};
    rv_error error;
    assert_int_equal(rv_cluster_take(cluster, &none, "h", &error), REEVE_OK);
    assert_int_equal(rv_cluster_version(cluster), 2);
    assert_false(rv_cluster_claim_fetch(cluster, false, INT64_MAX / 2));
    assert_true(rv_cluster_claim_fetch(cluster, true, INT64_MAX / 2));
    assert_false(rv_cluster_claim_fetch(cluster, true, INT64_MAX / 2 + 999));
    assert_true(rv_cluster_claim_fetch(cluster, true, INT64_MAX / 2 + 1000));
    rv_cluster_destroy(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_ranges_and_holes),    cmocka_unit_test(knows_each_kind_of_endpoint),
        cmocka_unit_test(refuses_what_is_malformed), cmocka_unit_test(survives_any_bytes),
        cmocka_unit_test(reads_redirections),        cmocka_unit_test(keeps_at_most_so_many_nodes),
        cmocka_unit_test(is_fetched_once_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
