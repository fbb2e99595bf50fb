/* ut_http.c - paths, queries and origins of requests, and the text of metrics. */
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exposition.h"
#include "base/listen_address.h"
#include "base/path_prefix.h"
#include "support/cmocka.h"
#include "support/queue.h"
#include "web/http_framing.h"
#include "web/http_gone.h"
#include "web/http_listen.h"
#include "web/http_origin.h"
#include "web/http_path.h"

static void decodes_only_valid_escapes(void **state)
{
    char text[8];

    (void)state;
    assert_true(rv_http_path_decode(text, sizeof(text), "a%2Fb%3a", 8));
    assert_string_equal(text, "a/b:");
    assert_false(rv_http_path_decode(text, sizeof(text), "%00", 3));
    assert_false(rv_http_path_decode(text, sizeof(text), "a%2", 3));
    assert_false(rv_http_path_decode(text, sizeof(text), "%", 1));
    assert_false(rv_http_path_decode(text, sizeof(text), "%zz", 3));
    assert_true(rv_http_path_decode(text, sizeof(text), "1234567", 7));
    assert_false(rv_http_path_decode(text, sizeof(text), "12345678", 8));
}

static void matches_whole_paths(void **state)
{
    rv_http_params params;

    (void)state;
    assert_true(rv_http_path_match("/q/{queue}/t/{id}", "/q/a/t/b%2Fc", &params));
    assert_int_equal(params.count, 2);
    assert_string_equal(params.value[0], "a");
    assert_string_equal(params.value[1], "b/c");
    assert_true(rv_http_path_match("/", "/", &params));
    assert_false(rv_http_path_match("/q/{queue}", "/q/", &params));
    assert_false(rv_http_path_match("/q/{queue}", "/q/a/", &params));
    assert_false(rv_http_path_match("/q/{queue}", "/q", &params));
    assert_false(rv_http_path_match("/q/{queue}", "/q/a%zz", &params));
    assert_false(rv_http_path_match("/health", "/healthy", &params));
}

static unsigned framing_status(const char *const *headers)
{
    rv_http_framing framing = {0};

    for (; *headers != NULL; headers += 2) rv_http_framing_add(&framing, headers[0], headers[1]);
    return rv_http_framing_check(&framing, 1000).status;
}

static void refuses_two_ends_of_a_request(void **state)
{
    (void)state;
    assert_int_equal(framing_status((const char *[]){"Host", "a", "content-length", "1000", NULL}), 0);
    assert_int_equal(framing_status((const char *[]){"Content-Length", "1001", NULL}), 413);
    assert_int_equal(framing_status((const char *[]){"Content-Length", "18446744073709551617", NULL}), 413);
    assert_int_equal(framing_status((const char *[]){"Content-Length", "1", "Content-Length", "1", NULL}), 400);
    assert_int_equal(framing_status((const char *[]){"Content-Length", "1", "Transfer-Encoding", "chunked", NULL}),
                     400);
    assert_int_equal(framing_status((const char *[]){"Content-Length", "1", "Content-Length \t", "2", NULL}), 400);
    assert_int_equal(framing_status((const char *[]){"Transfer-Encoding", "Chunked", NULL}), 0);
    assert_int_equal(framing_status((const char *[]){"Transfer-Encoding", "gzip, chunked", NULL}), 501);
    assert_int_equal(framing_status((const char *[]){"Host", "a", "host", "a", NULL}), 400);
}

static void refuses_other_origins(void **state)
{
    static const struct {
        rv_http_origin request;
        int refused;
    } cases[] = {
        {{.host = "localhost:1"}, 0},
        {{.host = "[::1]:1"}, 0},
        {{.host = NULL}, 1},
        {{.host = "evil.example"}, 1},
        {{.host = "localhost.evil.example"}, 1},
        {{.host = "evil.example", .any_host = true}, 0},
        {{.host = "box:1", .own_host = "box"}, 0},
        {{.host = "localhost:1", .origin = "http://localhost:1", .changes = true}, 0},
        {{.host = "localhost:1", .origin = "http://localhost:2", .changes = true}, 1},
        {{.host = "localhost:1", .origin = "null", .changes = true}, 1},
        {{.host = "localhost:1", .fetch_site = "cross-site", .changes = true}, 1},
        {{.host = "localhost:1", .fetch_site = "same-site", .changes = true}, 1},
        {{.host = "localhost:1", .fetch_site = "same-origin", .changes = true}, 0},
        {{.host = "localhost:1", .fetch_site = "cross-site"}, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(rv_http_origin_refusal(&cases[i].request) != NULL, cases[i].refused);
}

static void reads_addresses(void **state)
{
    static const char *const good[] = {"127.0.0.1:0", ":8420", "[::1]:80", "localhost:65535", "unix:/tmp/a.sock"};
    static const char *const bad[] = {"", "8420", "localhost", "localhost:65536", "localhost:-1", "::1:80", "unix:"};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) assert_true(rv_listen_address_is_valid(good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) assert_false(rv_listen_address_is_valid(bad[i]));
}

/* What a cookie, an address or a header would read in another way, or a browser shorten. */
static void knows_prefixes(void **state)
{
    static const char *const good[] = {"/reeve", "/ops/reeve-1.2_~", "/..x"};
    static const char *const bad[] = {"",     "/",    "reeve", "/a/",   "//a",   "/a//b", "/a b",     "/a;b",
                                      "/a?b", "/%2e", "/.",    "/a/..", "/a\nb", "/a\"b", "/\xc3\xa9"};
    char text[RV_PATH_PREFIX_MAX + 2] = "/";

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) assert_true(rv_path_prefix_is_valid(good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) assert_false(rv_path_prefix_is_valid(bad[i]));
    memset(text + 1, 'x', RV_PATH_PREFIX_MAX - 1);
    assert_true(rv_path_prefix_is_valid(text));
    text[RV_PATH_PREFIX_MAX] = 'x';
    assert_false(rv_path_prefix_is_valid(text));
}

static void writes_both_formats(void **state)
{
    static const double bounds[] = {0.1, 1};
    static const uint64_t count[] = {2, 0, 1};
    const char *const labels[] = {"queue", "a\"b\\c\nd", NULL};

    (void)state;
    for (int open_metrics = 0; open_metrics < 2; open_metrics++) {
        rv_exposition to;
        rv_buf out;
        rv_buf_init(&out, 100000);
        rv_exposition_begin(&to, &out, open_metrics ? "application/openmetrics-text" : NULL);
        rv_exposition_counter(&to, "x_seconds", "seconds", "A help.", 1.5);
        rv_exposition_family(&to, "h", RV_EXPOSITION_HISTOGRAM, NULL, "A \\ help.");
        rv_exposition_histogram(&to, labels, bounds, 2, count, 7);
        rv_exposition_end(&to);
        assert_false(out.failed);
        const char *text = rv_buf_text(&out);
        assert_non_null(strstr(text, "x_seconds_total 1.5\n"));
        assert_non_null(strstr(text, "h_bucket{queue=\"a\\\"b\\\\c\\nd\",le=\"0.1\"} 2\n"));
        assert_non_null(strstr(text, "le=\"+Inf\"} 3\n"));
        assert_non_null(strstr(text, "_count{queue=\"a\\\"b\\\\c\\nd\"} 3\n"));
        assert_true((strstr(text, "# TYPE x_seconds counter\n") != NULL) == (open_metrics == 1));
        assert_true((strstr(text, "# EOF\n") != NULL) == (open_metrics == 1));
        rv_buf_fini(&out);
    }
}

/* ---- clients that go ------------------------------------------------------------------------------------------- */

static void count_gone(void *user)
{
    atomic_uint *count = user;
    atomic_fetch_add(count, 1);
}

/* Waits until the count is another one than this. */
static void wait_while(atomic_uint *count, unsigned value)
{
    int64_t deadline = test_patience();
    while (atomic_load(count) == value && rv_now_ms() < deadline) (void)poll(NULL, 0, 1);
    assert_int_not_equal(atomic_load(count), value);
}

/* The other side closes the connection, or its direction only. */
static void a_call_is_told_once_that_its_client_has_gone(void **state)
{
    rv_http_gone *gone = rv_http_gone_open();
    int near[3], far[3];
    atomic_uint told[3] = {0};
    rv_http_gone_watch watches[3];

    (void)state;
    assert_non_null(gone);
    for (int i = 0; i < 3; i++) {
        int both[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both), 0);
        near[i] = both[0];
        far[i] = both[1];
        watches[i] = (rv_http_gone_watch){.fd = near[i], .gone = count_gone, .user = &told[i]};
        rv_http_gone_add(gone, &watches[i]);
    }
    assert_int_equal(write(far[2], "GET", 3), 3);
    assert_int_equal(shutdown(far[1], SHUT_WR), 0);
    assert_int_equal(close(far[0]), 0);
    wait_while(&told[0], 0);
    wait_while(&told[1], 0);
    for (int i = 0; i < 3; i++) assert_int_equal(rv_http_gone_remove(gone, &watches[i]), i < 2);
    assert_int_equal(close(far[2]), 0);
    rv_http_gone_add(gone, &watches[1]); /* it went before */
    wait_while(&told[1], 1);
    assert_true(rv_http_gone_remove(gone, &watches[1]));
    assert_int_equal(atomic_load(&told[0]), 1);
    assert_int_equal(atomic_load(&told[2]), 0);
    for (int i = 0; i < 3; i++) assert_int_equal(close(near[i]), 0);
    assert_int_equal(close(far[1]), 0);
    rv_http_gone_close(gone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_only_valid_escapes),
        cmocka_unit_test(matches_whole_paths),
        cmocka_unit_test(refuses_two_ends_of_a_request),
        cmocka_unit_test(refuses_other_origins),
        cmocka_unit_test(reads_addresses),
        cmocka_unit_test(knows_prefixes),
        cmocka_unit_test(writes_both_formats),
        cmocka_unit_test(a_call_is_told_once_that_its_client_has_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
