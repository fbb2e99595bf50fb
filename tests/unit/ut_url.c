/* Redis URLs: what they say, and that no message gives a password away. */
#include "redis/url.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "redis/topology.h"
#include "support/cmocka.h"

static rv_url parse(const char *text)
{
    rv_url url;
    rv_error error = {0};
    if (rv_url_parse(&url, text, &error) != REEVE_OK) fail_msg("%s: %s", text, error.text);
    return url;
}

static void same(const char *got, const char *wanted)
{
    if (wanted)
        assert_string_equal(got, wanted);
    else
        assert_null(got);
}

static void check_tcp(const char *text, const char *host, int port, int db, const char *user, const char *password)
{
    rv_url url = parse(text);
    assert_int_equal(url.kind, RV_URL_TCP);
    assert_int_equal(url.endpoint_count, 1);
    assert_string_equal(url.endpoints[0].host, host);
    assert_int_equal(url.endpoints[0].port, port);
    assert_int_equal(url.db, db);
    same(url.user, user);
    same(url.password, password);
    rv_url_fini(&url);
}

static void tcp(void **state)
{
    (void)state;
    check_tcp("redis://host", "host", 6379, 0, NULL, NULL);
    check_tcp("redis://host/", "host", 6379, 0, NULL, NULL);
    check_tcp("redis://127.0.0.1:7000/3", "127.0.0.1", 7000, 3, NULL, NULL);
    check_tcp("redis://:pw@host:1", "host", 1, 0, NULL, "pw");
    check_tcp("redis://user:pw@host/15", "host", 6379, 15, "user", "pw");
    check_tcp("redis://user:@host", "host", 6379, 0, "user", "");
    check_tcp("redis://@host", "host", 6379, 0, NULL, NULL);
    check_tcp("redis://[::1]", "::1", 6379, 0, NULL, NULL);
    check_tcp("redis://u:p@[fe80::1]:65535/2", "fe80::1", 65535, 2, "u", "p");
    check_tcp("redis://us%65r:p%40%2f%3A%25@host", "host", 6379, 0, "user", "p@/:%");
    check_tcp("redis://user:a:b@host", "host", 6379, 0, "user", "a:b");
}

/* Not escaped, as people do: the last '@' ends it. */
static void careless_passwords(void **state)
{
    (void)state;
    check_tcp("redis://user:p@ss@host", "host", 6379, 0, "user", "p@ss");
    check_tcp("redis://user:p/ss@host/1", "host", 6379, 1, "user", "p/ss");
    check_tcp("redis://user:p?s#s@host/1", "host", 6379, 1, "user", "p?s#s");
}

static void check_path(const char *text, rv_url_kind kind, const char *path, int db)
{
    rv_url url = parse(text);
    assert_int_equal(url.kind, kind);
    same(url.path, path);
    assert_int_equal(url.db, db);
    assert_int_equal(url.endpoint_count, 0);
    rv_url_fini(&url);
}

static void paths(void **state)
{
    (void)state;
    check_path("unix:///run/redis.sock", RV_URL_UNIX, "/run/redis.sock", 0);
    check_path("unix:///run/redis.sock?db=4", RV_URL_UNIX, "/run/redis.sock", 4);
    check_path("unix:///run/a@b.sock", RV_URL_UNIX, "/run/a@b.sock", 0);
    check_path("unix://user:pw@/run/redis.sock?db=1", RV_URL_UNIX, "/run/redis.sock", 1);
    check_path("embedded:", RV_URL_EMBEDDED, NULL, 0);
    check_path("embedded:?db=2", RV_URL_EMBEDDED, NULL, 2);
    check_path("embedded:/var/lib/x", RV_URL_EMBEDDED, "/var/lib/x", 0);
    check_path("embedded:data?db=2", RV_URL_EMBEDDED, "data", 2);
    rv_url url = parse("unix://user:pw@/run/redis.sock");
    assert_string_equal(url.user, "user");
    assert_string_equal(url.password, "pw");
    rv_url_fini(&url);
}

static void careless_passwords_of_paths(void **state)
{
    (void)state;
    rv_url url = parse("unix://user:p@ss@/b@/redis.sock");
    assert_string_equal(url.password, "p@ss@/b");
    assert_string_equal(url.path, "/redis.sock");
    rv_url_fini(&url);
}

static void many_hosts(void **state)
{
    (void)state;
    rv_url url = parse("redis-sentinel://:pw@one,two:7,[::3]/mymaster/5");
    assert_int_equal(url.kind, RV_URL_SENTINEL);
    assert_int_equal(url.endpoint_count, 3);
    assert_string_equal(url.endpoints[0].host, "one");
    assert_int_equal(url.endpoints[0].port, 26379);
    assert_int_equal(url.endpoints[1].port, 7);
    assert_string_equal(url.endpoints[2].host, "::3");
    assert_string_equal(url.master, "mymaster");
    assert_int_equal(url.db, 5);
    rv_url_fini(&url);
    url = parse("redis-cluster://one,two:7");
    assert_int_equal(url.kind, RV_URL_CLUSTER);
    assert_int_equal(url.endpoint_count, 2);
    assert_int_equal(url.endpoints[0].port, 6379);
    assert_false(url.is_tls);
    rv_url_fini(&url);
    url = parse("rediss-cluster://one,two:7?ca=/ca.pem");
    assert_int_equal(url.kind, RV_URL_CLUSTER);
    assert_true(url.is_tls);
    assert_int_equal(url.endpoint_count, 2);
    assert_string_equal(url.tls_settings.ca, "/ca.pem");
    rv_url_fini(&url);
    url = parse("rediss://host:1?ca=/a%20b.pem&server_name=x");
    assert_string_equal(url.tls_settings.ca, "/a b.pem");
    assert_string_equal(url.tls_settings.server_name, "x");
    assert_null(url.tls_settings.cert);
    assert_int_equal(url.kind, RV_URL_TLS);
    rv_url_fini(&url);
}

static void check_redacted(const char *text, const char *redacted)
{
    rv_url url = parse(text);
    assert_string_equal(url.redacted, redacted);
    rv_url_fini(&url);
}

static void redacted(void **state)
{
    (void)state;
    check_redacted("redis://host", "redis://host:6379");
    check_redacted("redis://user:secret@host:1/2", "redis://user:***@host:1/2");
    check_redacted("redis://:secret@[::1]", "redis://:***@[::1]:6379");
    check_redacted("unix://u:secret@/a.sock?db=1", "unix://u:***@/a.sock?db=1");
    check_redacted("unix:///a.sock", "unix:///a.sock");
    check_redacted("embedded:", "embedded:");
    check_redacted("embedded:/x?db=1", "embedded:/x?db=1");
    check_redacted("redis-sentinel://:secret@a,b:2/m/3", "redis-sentinel://:***@a:26379,b:2/m/3");
    check_redacted("redis-cluster://a,b:2", "redis-cluster://a:6379,b:2");
}

static void malformed(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "secret",
                                        "host:6379",
                                        "secret@host",
                                        "http://secret@host",
                                        "redis:/secret@host",
                                        "redis:secret",
                                        "REDIS://secret",
                                        "redis://",
                                        "redis:///1",
                                        "redis://:secret",
                                        "redis://user:secret",
                                        "redis://secret@host",
                                        "redis://host:0",
                                        "redis://host:65536",
                                        "redis://host:secret",
                                        "redis://host:",
                                        "redis://host:1x",
                                        "redis://host/secret",
                                        "redis://host/-1",
                                        "redis://host/1/2",
                                        "redis://host/99999999999",
                                        "redis://:secret@",
                                        "redis://:secret%@host",
                                        "redis://:secret%2@host",
                                        "redis://:secret%zz@host",
                                        "redis://:secret%00@host",
                                        "redis://[::1",
                                        "redis://[::1]secret",
                                        "redis://[]",
                                        "redis://a,b",
                                        "redis://user:secret/@",
                                        "unix://",
                                        "unix://secret",
                                        "unix://relative/secret.sock",
                                        "unix://u:secret@",
                                        "unix:///a?secret=1",
                                        "unix:///a?db=secret",
                                        "unix:///a?db=-1",
                                        "unix://?db=1",
                                        "redis-sentinel://secret",
                                        "redis-sentinel://a/",
                                        "redis-sentinel://a,/m",
                                        "redis-sentinel:///m",
                                        "redis-sentinel://a/m?secret=1",
                                        "redis-sentinel://a/m?sentinel_tls=secret",
                                        "redis-sentinel://a/m?sentinel_password=",
                                        "redis-sentinel://a/m?sentinel_user=a&sentinel_user=b",
                                        "redis-sentinel://a/m?ca=/secret",
                                        "redis-cluster://a/1",
                                        "redis-cluster://a,",
                                        "redis://a?password_file=secret",
                                        "redis://:secret@a?password_file=/b",
                                        "redis://a?password_file=/b&password_command=secret",
                                        "redis://a?secret=/b",
                                        "embedded:/x?password_file=/secret",
                                        "embedded:/x?secret"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        rv_url url;
        rv_error error = {0};
        if (rv_url_parse(&url, texts[i], &error) != REEVE_EURL) fail_msg("%s was taken", texts[i]);
        assert_int_equal(error.status, REEVE_EURL);
        assert_true(strlen(error.text) > 20);
        if (strstr(error.text, "secret")) fail_msg("%s", error.text);
    }
}

static void long_ones(void **state)
{
    (void)state;
    static char text[200000];
    rv_url url;
    rv_error error;
    memset(text, 'x', sizeof(text) - 1);
    memcpy(text, "redis://", 8);
    assert_int_equal(rv_url_parse(&url, text, &error), REEVE_EURL);
    memcpy(text, "unix:///", 8);
    text[7 + 108] = '\0';
    assert_int_equal(rv_url_parse(&url, text, &error), REEVE_EURL);
    assert_non_null(strstr(error.text, "107"));
    text[7 + 107] = '\0';
    url = parse(text);
    assert_int_equal(strlen(url.path), 107);
    rv_url_fini(&url);
}

static void chosen(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("REEVE_REDIS"), 0);
    assert_string_equal(rv_url_choose(NULL), "embedded:");
    assert_string_equal(rv_url_choose("redis://a"), "redis://a");
    assert_int_equal(setenv("REEVE_REDIS", "redis://b", 1), 0);
    assert_string_equal(rv_url_choose(NULL), "redis://b");
    assert_string_equal(rv_url_choose(""), ""); /* given, and wrong */
    assert_string_equal(rv_url_choose("redis://a"), "redis://a");
    assert_int_equal(setenv("REEVE_REDIS", "", 1), 0);
    assert_string_equal(rv_url_choose(NULL), "embedded:");
}

static const rv_topology_ask nothing = {.deadline = RV_FOREVER, .slot = -1};

static void resolved(void **state)
{
    (void)state;
    rv_address address;
    rv_error error = {0};
    rv_url url = parse("redis://host:7/1");
    assert_int_equal(rv_topology_resolve(&url, &nothing, &address, &error), REEVE_OK);
    assert_string_equal(address.host, "host");
    assert_int_equal(address.port, 7);
    assert_null(address.path);
    assert_false(address.tls);
    rv_url_fini(&url);
    url = parse("unix:///a.sock");
    assert_int_equal(rv_topology_resolve(&url, &nothing, &address, &error), REEVE_OK);
    assert_string_equal(address.path, "/a.sock");
    assert_true(rv_topology_is_current(&url, &address));
    assert_false(rv_topology_failed(&url, &address));
    assert_int_equal(rv_topology_attempt(&url, RV_FOREVER), RV_FOREVER);
    rv_url_fini(&url);
}

static void not_yet(void **state)
{
    (void)state;
    static const char *const texts[][2] = {{"embedded:/x", "embedded"}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        rv_address address;
        rv_error error = {0};
        rv_url url = parse(texts[i][0]);
        assert_int_equal(rv_topology_resolve(&url, &nothing, &address, &error), REEVE_EUNSUPPORTED);
        assert_int_equal(rv_topology_check(&url, NULL), REEVE_EUNSUPPORTED);
        assert_non_null(strstr(error.text, texts[i][1]));
        assert_null(strstr(error.text, "secret"));
        rv_url_fini(&url);
    }
}

static void passwords_elsewhere(void **state)
{
    (void)state;
    rv_url url = parse("redis://user:@h/2?password_file=/run/a%20b");
    assert_string_equal(url.user, "user");
    assert_string_equal(url.password_file, "/run/a b");
    assert_int_equal(url.db, 2);
    rv_url_fini(&url);
    url = parse("unix:///s?db=3&password_command=echo%20x");
    assert_string_equal(url.password_command, "echo x");
    assert_string_equal(url.path, "/s");
    assert_int_equal(url.db, 3);
    rv_url_fini(&url);
}

static void sentinels(void **state)
{
    (void)state;
    rv_address address;
    rv_error error = {0};
    rv_buf servers;
    rv_url url =
        parse("rediss-sentinel://u:p@a,b:7,a/m?sentinel_user=su&sentinel_password=s%40w&sentinel_tls=no&ca=/ca");
    assert_string_equal(url.sentinel_user, "su");
    assert_string_equal(url.sentinel_password, "s@w");
    assert_true(url.sentinel_plain);
    assert_string_equal(url.tls_settings.ca, "/ca");
    assert_null(strstr(url.redacted, "s@w"));
    assert_int_equal(rv_topology_check(&url, NULL), rv_tls_is_built() ? REEVE_OK : REEVE_EUNSUPPORTED);
    assert_int_not_equal(rv_topology_resolve(&url, &nothing, &address, &error), REEVE_OK); /* it was not secured */
    rv_url_fini(&url);
    url = parse("redis-sentinel://a,b:7,a/m");
    assert_int_equal(rv_url_secure(&url, NULL, &error), REEVE_OK);
    rv_buf_init(&servers, 4096);
    rv_topology_write_servers(&url, &servers);
    assert_string_equal(rv_buf_text(&servers), "a:26379, b:7");
    rv_buf_fini(&servers);
    rv_url_fini(&url);
}

static void no_memory(void **state)
{
    (void)state;
    static const char *const texts[] = {"redis://u:p@h:1/2", "unix://u:p@/a?db=1", "embedded:/x",
                                        "redis-sentinel://a,b,c/m?sentinel_password=p"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        reeve_status status = REEVE_ENOMEM;
        for (unsigned long nth = 1; status == REEVE_ENOMEM; nth++) {
            rv_url url;
            rv_error error;
            rv_mem_fail_at(nth);
            status = rv_url_parse(&url, texts[i], &error);
            rv_mem_fail_at(0);
            if (status == REEVE_OK) rv_url_fini(&url);
            assert_true(nth < 100);
        }
        assert_int_equal(status, REEVE_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tcp),
        cmocka_unit_test(careless_passwords),
        cmocka_unit_test(careless_passwords_of_paths),
        cmocka_unit_test(paths),
        cmocka_unit_test(many_hosts),
        cmocka_unit_test(redacted),
        cmocka_unit_test(malformed),
        cmocka_unit_test(long_ones),
        cmocka_unit_test(chosen),
        cmocka_unit_test(resolved),
        cmocka_unit_test(not_yet),
        cmocka_unit_test(passwords_elsewhere),
        cmocka_unit_test(sentinels),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("ut_url", tests, NULL, NULL);
}
