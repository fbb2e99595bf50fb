/* TLS under connections, clients and workers, against a real server with certificates of the test's own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/tls.h"
#include "redis/topology.h"
#include "redis/transport.h"
#include "reeve/client.h"
#include "reeve/worker.h"
#include "support/certs.h"
#include "support/link.h"
#include "support/redis.h"

#define PATIENCE_MS 10000

static rv_test_redis *redis;
static int64_t patience_ms = PATIENCE_MS;
static const char *dir;

/* The server's URL with another host and other parameters; '@' in these is the directory of the certificates. */
static const char *url_of(const char *host, const char *parameters)
{
    static char url[1024];
    size_t length = (size_t)snprintf(url, sizeof(url), "rediss://%s:%d", host, test_redis_tcp_port(redis));
    for (; *parameters != '\0' && length < sizeof(url) - 1; parameters++) {
        if (*parameters == '@')
            length += (size_t)snprintf(url + length, sizeof(url) - length, "%s", dir);
        else
            url[length++] = *parameters;
    }
    assert_true(length < sizeof(url));
    url[length] = '\0';
    return url;
}

/* Opens with options of TLS, and pings. Returns the status; *words gets the reason. */
static reeve_status try_to_open(const char *url, const reeve_tls *options, char words[512])
{
    rv_url parsed;
    rv_error error = {0};
    rv_conn *conn = NULL;
    reeve_status status = rv_url_parse(&parsed, url, &error);
    if (status != REEVE_OK) goto end;
    status = rv_url_secure(&parsed, options, &error);
    if (status != REEVE_OK) goto end_url;
    status = rv_conn_create(&conn, &(rv_conn_options){.url = &parsed, .command_ms = patience_ms}, &error);
    assert_int_equal(status, REEVE_OK);
    status = rv_conn_open(conn, 0);
    if (status == REEVE_OK) assert_string_equal(test_cmd(conn, "PING"), "PONG");
    if (status != REEVE_OK) error = *rv_conn_error(conn);
    rv_conn_destroy(conn);
end_url:
    rv_url_fini(&parsed);
end:
    (void)snprintf(words, 512, "%s", error.text);
    return status;
}

static void opens(const char *url, const reeve_tls *options)
{
    char words[512];
    if (try_to_open(url, options, words) != REEVE_OK) fail_msg("%s: %s", url, words);
}

static void fails(const char *url, const reeve_tls *options, reeve_status status, const char *expected)
{
    char words[512];
    assert_int_equal(try_to_open(url, options, words), status);
    if (strstr(words, expected) == NULL) fail_msg("\"%s\" says nothing of \"%s\"", words, expected);
}

static void opens_when_the_authority_is_known(void **state)
{
    (void)state;
    char ca[256];
    (void)snprintf(ca, sizeof(ca), "%s/ca.pem", dir);
    opens(url_of("127.0.0.1", "?ca=@/ca.pem"), NULL);
    opens(url_of("localhost", "?ca=@/ca.pem&min_version=1.3"), NULL);
    opens(url_of("localhost", ""), &(reeve_tls){.ca = ca});
    assert_int_equal(setenv("REEVE_TLS_CA", ca, 1), 0);
    opens(url_of("localhost", ""), NULL);
    fails(url_of("localhost", "?ca=@/other.pem"), NULL, REEVE_ECONNECT, "unknown authority"); /* the URL comes first */
    assert_int_equal(unsetenv("REEVE_TLS_CA"), 0);
}

static void the_certificate_is_verified(void **state)
{
    (void)state;
    fails(url_of("localhost", ""), NULL, REEVE_ECONNECT, "unknown authority");
    opens(url_of("127.0.0.1", "?ca=@/ca.pem&server_name=localhost"), NULL);
    fails(url_of("127.0.0.1", "?ca=@/ca.pem&server_name=127.0.0.2"), NULL, REEVE_ECONNECT, "not for 127.0.0.2");
    fails(url_of("localhost", "?ca=@/ca.pem&server_name=db.example"), NULL, REEVE_ECONNECT, "not for db.example");
}

static void an_expired_certificate_is_refused(void **state)
{
    (void)state;
    const char *old = test_dir();
    test_certs_authority(old, "ca");
    test_certs_make(old, "server", "ca", "DNS:localhost,IP:127.0.0.1", -1);
    rv_test_redis *expired = test_redis_start(&(test_redis_options){.tcp = true, .tls = old});
    fails(test_redis_tcp_url(expired), NULL, REEVE_ECONNECT, "expired");
    test_redis_stop(expired);
}

static void plain_text_and_tls_do_not_meet(void **state)
{
    (void)state;
    char url[256];
    rv_test_redis *plain = test_redis_start(&(test_redis_options){.tcp = true});
    (void)snprintf(url, sizeof(url), "rediss://127.0.0.1:%d", test_redis_tcp_port(plain));
    patience_ms = 300; /* Redis waits for the end of a line that TLS does not send */
    fails(url, NULL, REEVE_ECONNECT, "may not speak TLS");
    patience_ms = PATIENCE_MS;
    fails(test_redis_tcp_url(plain), &(reeve_tls){.required = true}, REEVE_EINVAL, "TLS is required");
    assert_int_equal(setenv("REEVE_TLS", "required", 1), 0);
    fails(test_redis_tcp_url(plain), NULL, REEVE_EINVAL, "TLS is required");
    opens(test_redis_url(plain), NULL); /* a unix socket leaves no machine */
    assert_int_equal(setenv("REEVE_TLS", "1", 1), 0);
    fails(test_redis_tcp_url(plain), NULL, REEVE_EINVAL, "REEVE_TLS is \"1\"; it can be \"required\"");
    assert_int_equal(setenv("REEVE_TLS", "", 1), 0);
    opens(test_redis_tcp_url(plain), NULL);
    assert_int_equal(unsetenv("REEVE_TLS"), 0);
    test_redis_stop(plain);
}

static void files_that_cannot_be_used_are_named(void **state)
{
    (void)state;
    fails(url_of("localhost", "?ca=@/none.pem"), NULL, REEVE_EINVAL, "none.pem");
    fails(url_of("localhost", "?ca=@/ca.pem&cert=@/client.pem"), NULL, REEVE_EINVAL, "both cert and key");
    fails(url_of("localhost", "?ca=@/ca.pem&cert=@/client.pem&key=@/ca.key"), NULL, REEVE_EINVAL, "ca.key");
    fails(url_of("localhost", "?min_version=1.1"), NULL, REEVE_EINVAL, "min_version");
    fails(url_of("localhost", "?cipher=x"), NULL, REEVE_EURL, "unknown parameter");
    fails(url_of("localhost", "?ca"), NULL, REEVE_EURL, "no value");
}

/* In TLS 1.3 the server says so only after the handshake. */
static void a_server_can_want_a_client_certificate(void **state)
{
    (void)state;
    static const char *const extra[] = {"--tls-auth-clients", "yes", NULL};
    rv_test_redis *strict = test_redis_start(&(test_redis_options){.tcp = true, .tls = dir, .extra = extra});
    char url[1024];
    int port = test_redis_tcp_port(strict);
    fails(test_redis_tcp_url(strict), NULL, REEVE_ECONNECT, "client certificate");
    (void)snprintf(url, sizeof(url), "rediss://localhost:%d?ca=%s/ca.pem&cert=%s/client.pem&key=%s/client.key", port,
                   dir, dir, dir);
    opens(url, NULL);
    test_redis_stop(strict);
}

/* Payloads of many records, in both directions at once. */
static void large_values_pass(void **state)
{
    (void)state;
    reeve_client *client;
    char id[REEVE_ID_MAX];
    size_t length = 5 * 1024 * 1024;
    char *payload = malloc(length);
    assert_non_null(payload);
    for (size_t i = 0; i < length; i++) payload[i] = (char)(i * 7 + i / 65536);
    assert_int_equal(reeve_client_open(&client, &(reeve_client_options){.redis = test_redis_tcp_url(redis)}), REEVE_OK);
    reeve_task_spec task = {.queue = "q", .type = "t", .payload = {payload, length}};
    for (int i = 0; i < 3; i++) assert_int_equal(reeve_enqueue(client, &task, id), REEVE_OK);
    reeve_task_info *info = NULL;
    assert_int_equal(reeve_show(client, "q", id, &info), REEVE_OK);
    assert_int_equal(info->payload.length, length);
    assert_memory_equal(info->payload.data, payload, length);
    reeve_task_info_free(info);
    reeve_client_close(client);
    free(payload);
}

static void sessions_are_resumed(void **state)
{
    (void)state;
    test_link at;
    test_link_begin(&at, test_redis_tcp_url(redis), NULL, 0);
    rv_error error = {0};
    assert_int_equal(rv_url_secure(&at.url, NULL, &error), REEVE_OK);
    for (int i = 0; i < 3; i++) {
        test_link_open(&at);
        assert_string_equal(test_cmd(at.conn, "PING"), "PONG");
        rv_conn_close(at.conn);
    }
    assert_int_equal(rv_tls_resumed(at.url.tls), 2);
    test_link_end(&at);
}

/* Before something is sent: a server that closes a connection of TLS says goodbye first. */
static void an_end_is_seen_before_something_is_sent(void **state)
{
    (void)state;
    test_link at, other;
    rv_error error = {0};
    test_link_begin(&at, test_redis_tcp_url(redis), NULL, 0);
    test_link_begin(&other, test_redis_tcp_url(redis), NULL, 0);
    assert_int_equal(rv_url_secure(&at.url, NULL, &error), REEVE_OK);
    assert_int_equal(rv_url_secure(&other.url, NULL, &error), REEVE_OK);
    test_link_open(&at);
    test_link_open(&other);
    rv_conn_check_end(at.conn);
    assert_true(rv_conn_is_open(at.conn));
    assert_string_equal(test_cmd(at.conn, "PING"), "PONG");
    rv_conn_check_end(at.conn);
    assert_true(rv_conn_is_open(at.conn));
    assert_string_equal(test_cmd(other.conn, "CLIENT KILL TYPE normal SKIPME yes"), "1");
    int64_t end = rv_now_ms() + PATIENCE_MS;
    while (rv_conn_is_open(at.conn) && rv_now_ms() < end) rv_conn_check_end(at.conn);
    assert_false(rv_conn_is_open(at.conn));
    test_link_end(&at);
    test_link_end(&other);
}

static void changed_files_are_read_again(void **state)
{
    (void)state;
    char own[256], command[1200];
    (void)snprintf(own, sizeof(own), "%s/own.pem", dir);
    (void)snprintf(command, sizeof(command), "cp %s/other.pem %s", dir, own);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a command of the test's own */
    test_link at;
    rv_error error = {0};
    test_link_begin(&at, url_of("localhost", "?ca=@/own.pem"), NULL, 0);
    assert_int_equal(rv_url_secure(&at.url, NULL, &error), REEVE_OK);
    assert_int_equal(rv_conn_open(at.conn, 0), REEVE_ECONNECT);
    (void)snprintf(command, sizeof(command), "echo rubbish >%s/new.pem && mv %s/new.pem %s", dir, dir, own);
    assert_int_equal(system(command), 0);                       /* NOLINT(cert-env33-c) */
    assert_int_equal(rv_conn_open(at.conn, 0), REEVE_ECONNECT); /* what was read before stays in force */
    (void)snprintf(command, sizeof(command), "cp %s/ca.pem %s/new.pem && mv %s/new.pem %s", dir, dir, dir, own);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
    test_link_open(&at);
    test_link_end(&at);
}

/* A shell's command, with '@' for the directory of the certificates. */
static void run(const char *words)
{
    char command[1200];
    size_t length = 0;
    for (; *words != '\0'; words++) {
        if (*words == '@')
            length += (size_t)snprintf(command + length, sizeof(command) - length, "%s", dir);
        else
            command[length++] = *words;
        assert_true(length < sizeof(command));
    }
    command[length] = '\0';
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a command of the test's own */
}

/* A directory with the authority in it, as OpenSSL looks for it. */
#define FILL "rm -rf @/known && mkdir @/known && cp @/ca.pem @/known/$(openssl x509 -hash -noout -in @/ca.pem).0"

static void begin_secured(test_link *at, const char *url)
{
    rv_error error = {0};
    test_link_begin(at, url, NULL, 0);
    if (rv_url_secure(&at->url, NULL, &error) != REEVE_OK) fail_msg("%s", error.text);
}

static void an_authority_goes_from_its_directory(void **state)
{
    (void)state;
    test_link at;
    run(FILL);
    begin_secured(&at, url_of("localhost", "?ca_dir=@/known"));
    for (int i = 0; i < 2; i++) {
        test_link_open(&at);
        assert_string_equal(test_cmd(at.conn, "PING"), "PONG");
        rv_conn_close(at.conn);
    }
    assert_int_equal(rv_tls_resumed(at.url.tls), 1);
    run("rm @/known/*");
    assert_int_equal(rv_conn_open(at.conn, 0), REEVE_ECONNECT);
    assert_int_equal(rv_tls_resumed(at.url.tls), 1);
    run(FILL);
    test_link_open(&at);
    test_link_end(&at);
}

/* A connection from before, which reads the server's session only after that. */
static void a_session_from_before_is_not_resumed(void **state)
{
    (void)state;
    static const char ping[] = "*1\r\n$4\r\nPING\r\n";
    test_link at;
    rv_address address;
    rv_transport before;
    rv_error error = {0};
    char reply[16];
    run(FILL);
    begin_secured(&at, url_of("localhost", "?ca_dir=@/known&min_version=1.3"));
    assert_int_equal(rv_topology_resolve(&at.url, &(rv_topology_ask){.slot = -1}, &address, &error), REEVE_OK);
    rv_transport_init(&before, NULL);
    assert_int_equal(rv_transport_open(&before, &address, rv_deadline(PATIENCE_MS), NULL, &error), REEVE_OK);
    run("rm @/known/*");
    assert_int_equal(rv_conn_open(at.conn, 0), REEVE_ECONNECT);
    assert_int_equal(rv_transport_write(&before, ping, sizeof(ping) - 1), sizeof(ping) - 1);
    short events;
    ssize_t got = -1;
    while (got < 0) {
        assert_int_equal(rv_transport_wait(&before, POLLIN, rv_deadline(PATIENCE_MS), NULL, &events), REEVE_OK);
        got = rv_transport_read(&before, reply, sizeof(reply));
    }
    assert_int_equal(got, strlen("+PONG\r\n"));
    assert_int_equal(rv_conn_open(at.conn, 0), REEVE_ECONNECT);
    rv_transport_close(&before, false);
    test_link_end(&at);
}

/* ---- a worker ---------------------------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ran;

static reeve_outcome count(reeve_task *task, void *user)
{
    (void)user;
    pthread_mutex_lock(&lock);
    ran++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return reeve_task_done(task, NULL, 0);
}

static void await(int expected)
{
    pthread_mutex_lock(&lock);
    while (ran < expected) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void a_worker_runs_tasks_and_survives_the_server(void **state)
{
    (void)state;
    rv_test_redis *own = test_redis_start(&(test_redis_options){.tcp = true, .tls = dir, .persist = true});
    reeve_worker *worker;
    reeve_client *client;
    char ca[256], url[256], words[512];
    (void)snprintf(ca, sizeof(ca), "%s/ca.pem", dir);
    (void)snprintf(url, sizeof(url), "rediss://localhost:%d", test_redis_tcp_port(own));
    reeve_tls tls = {.size = sizeof(tls), .ca = ca, .required = true};
    reeve_worker_options options = {.redis = url, .tls = &tls};
    if (reeve_worker_create(&worker, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    assert_int_equal(reeve_worker_handle(worker, "t", count, NULL), REEVE_OK);
    const char *queues[] = {"q"};
    reeve_pool_options pool = {.queues = queues, .queue_count = 1, .threads = 4};
    assert_int_equal(reeve_worker_add_pool(worker, &pool), REEVE_OK);
    assert_int_equal(reeve_worker_start(worker), REEVE_OK);
    assert_int_equal(reeve_client_open(&client, &(reeve_client_options){.redis = url, .tls = &tls}), REEVE_OK);
    reeve_task_spec task = {.queue = "q", .type = "t"};
    for (int i = 0; i < 100; i++) assert_int_equal(reeve_enqueue(client, &task, NULL), REEVE_OK);
    await(100);
    test_redis_restart(own);
    assert_int_equal(reeve_enqueue(client, &task, NULL), REEVE_OK);
    await(101);
    assert_int_equal(reeve_worker_stop(worker, 5000), REEVE_OK);
    reeve_worker_destroy(worker);
    reeve_client_close(client);
    test_redis_stop(own);
}

static int start(void **state)
{
    (void)state;
    static char *made;
    dir = made = test_make_dir();
    test_certs_authority(dir, "ca");
    test_certs_authority(dir, "other");
    test_certs_make(dir, "server", "ca", "DNS:localhost,IP:127.0.0.1", 2);
    test_certs_make(dir, "client", "ca", "DNS:client", 2);
    redis = test_redis_start(&(test_redis_options){.tcp = true, .tls = dir});
    return 0;
}

static int stop(void **state)
{
    (void)state;
    test_redis_stop(redis);
    test_remove_dir(dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_when_the_authority_is_known),
        cmocka_unit_test(the_certificate_is_verified),
        cmocka_unit_test(an_expired_certificate_is_refused),
        cmocka_unit_test(plain_text_and_tls_do_not_meet),
        cmocka_unit_test(files_that_cannot_be_used_are_named),
        cmocka_unit_test(a_server_can_want_a_client_certificate),
        cmocka_unit_test(large_values_pass),
        cmocka_unit_test(sessions_are_resumed),
        cmocka_unit_test(an_end_is_seen_before_something_is_sent),
        cmocka_unit_test(changed_files_are_read_again),
        cmocka_unit_test(an_authority_goes_from_its_directory),
        cmocka_unit_test(a_session_from_before_is_not_resumed),
        cmocka_unit_test(a_worker_runs_tasks_and_survives_the_server),
    };
    return cmocka_run_group_tests_name("ct_tls", tests, start, stop);
}
