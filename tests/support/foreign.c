#include "support/foreign.h"

#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"

#define WITH(fields) "{\"at\":1,\"type\":\"t\"," fields "}\npayload"

const char *const test_malformed[] = {
    /* no header */
    "",
    "{\"at\":1,\"type\":\"t\"}",
    "\n",
    /* no object of JSON */
    "no JSON\npayload",
    "{\"at\":1,\"type\":\"t\"\n",
    "[1,2]\n",
    "12\n",
    "null\n",
    "\"text\"\n",
    /* neither a time nor a type where they belong */
    "{}\n",
    "{\"type\":\"t\"}\n",
    "{\"type\":\"t\",\"at\":1}\n",
    "{\"at\":null,\"type\":\"t\"}\n",
    "{\"at\":99999999999999999999999,\"type\":\"t\"}\n",
    "{\"at\":1,\"type\":null}\n",
    "{\"at\":1,\"type\":\"\"}\n",
    "{\"at\":1,\"type\":\"a b\"}\n",
    "{\"at\":1,\"type\":\"t\",\"type\":\"u\"}\n",
    "{\"info\":1}\n",
    "{\"id\":1}",
    "{\"info\":1,\"at\":1,\"type\":\"t\",\"group\":null}\n",
    "{\"info\":1,\"at\":1,\"p\":3,\"deadline\":9,\"type\":\"t\",\"tags\":7}\n",
    /* fields of another type, or outside their range */
    WITH("\"group\":null"),
    WITH("\"group\":\"\""),
    WITH("\"group\":{}"),
    WITH("\"priority\":null"),
    WITH("\"priority\":\"high\""),
    WITH("\"priority\":128"),
    WITH("\"priority\":-1e300"),
    WITH("\"priority\":0.5"),
    WITH("\"priority\":NaN"),
    WITH("\"group\":\"g\",\"weight\":0"),
    WITH("\"group\":\"g\",\"weight\":-1"),
    WITH("\"group\":\"g\",\"weight\":NaN"),
    WITH("\"group\":\"g\",\"weight\":\"2\""),
    WITH("\"cost\":0"),
    WITH("\"cost\":1.5"),
    WITH("\"cost\":1000001"),
    WITH("\"cost\":\"2\""),
    WITH("\"cost\":null"),
    WITH("\"limit_keys\":\"gpu\""),
    WITH("\"limit_keys\":[\"\"]"),
    WITH("\"limit_keys\":[1]"),
    WITH("\"limit_keys\":{\"a\":\"b\"}"),
    WITH("\"limit_keys\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"]"),
    WITH("\"limit_keys\":null"),
    WITH("\"unique\":null"),
    WITH("\"unique\":7"),
    WITH("\"until\":\"started\""),
    WITH("\"unique\":\"u\",\"unique_for\":0"),
    WITH("\"tags\":\"a\""),
    WITH("\"tags\":null"),
    WITH("\"tags\":[null]"),
    WITH("\"tags\":[\"a\",1]"),
    WITH("\"tags\":{\"a\":\"b\"}"),
    WITH("\"on_dead\":null"),
    WITH("\"on_dead\":\"a\\\"b\""),
};
const size_t test_malformed_count = sizeof(test_malformed) / sizeof(test_malformed[0]);

void test_foreign(const char *queue, const char *set, double score, const char *id, const char *envelope)
{
    char key[128], text[32];
    const rv_reply *reply;
    (void)snprintf(key, sizeof(key), "reeve:{%s}:tasks", queue);
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "HSET");
    rv_args(test_conn, key);
    rv_args(test_conn, id);
    rv_args(test_conn, envelope);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    (void)snprintf(key, sizeof(key), "reeve:{%s}:%s", queue, set);
    (void)snprintf(text, sizeof(text), "%.0f", score);
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "ZADD");
    rv_args(test_conn, key);
    rv_args(test_conn, text);
    rv_args(test_conn, id);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
}
