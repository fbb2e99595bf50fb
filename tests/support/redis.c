#include "support/redis.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/clock.h"

#define START_MS 30000
#define ARGS_MAX 64

struct rv_test_redis {
    rv_test_redis *next; /* in the list of those that run */
    test_redis_options options;
    char *dir;
    char socket[108];
    char url[256];
    char tcp_url[256];
    char port[16];
    char certificate[256], key[256], authority[256]; /* for TLS */
    rv_url parsed;
    pid_t pid;
};

static rv_test_redis *all;
static pid_t owner; /* a fork of the test must not clean up after it */

static void reap(rv_test_redis *redis)
{
    if (redis->pid <= 0) return;
    kill(redis->pid, SIGKILL);
    while (waitpid(redis->pid, NULL, 0) < 0 && errno == EINTR) continue;
    redis->pid = 0;
}

static void clean_up(void)
{
    if (getpid() != owner) return;
    while (all) test_redis_stop(all);
}

static void remember(rv_test_redis *redis)
{
    if (owner != getpid()) atexit(clean_up);
    owner = getpid();
    redis->next = all;
    all = redis;
}

static void forget(rv_test_redis *redis)
{
    rv_test_redis **link = &all;
    while (*link && *link != redis) link = &(*link)->next;
    if (*link) *link = redis->next;
}

/* A port that is free now. Another process may take it before the server does; then launch fails and tells so. */
static void choose_port(rv_test_redis *redis)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    close(fd);
    (void)snprintf(redis->port, sizeof(redis->port), "%d", ntohs(address.sin_port));
}

static void name_things(rv_test_redis *redis)
{
    const char *password = redis->options.password;
    char credentials[100] = "";
    if (password) (void)snprintf(credentials, sizeof(credentials), ":%s@", password);
    int length = snprintf(redis->socket, sizeof(redis->socket), "%s/redis.sock", redis->dir);
    assert_true(length > 0 && (size_t)length < sizeof(redis->socket));
    (void)snprintf(redis->url, sizeof(redis->url), "unix://%s%s", credentials, redis->socket);
    (void)snprintf(redis->port, sizeof(redis->port), "0");
    if (redis->options.tcp) choose_port(redis);
    (void)snprintf(redis->tcp_url, sizeof(redis->tcp_url), "redis://%s127.0.0.1:%s", credentials, redis->port);
    if (redis->options.tls)
        (void)snprintf(redis->tcp_url, sizeof(redis->tcp_url), "rediss://127.0.0.1:%s?ca=%s/ca.pem", redis->port,
                       redis->options.tls);
    assert_int_equal(rv_url_parse(&redis->parsed, redis->url, NULL), REEVE_OK);
}

static size_t add_tls(const rv_test_redis *redis, const char *args[ARGS_MAX], size_t count)
{
    if (!redis->options.tls) return count;
    const char *const more[] = {"--port",
                                "0",
                                "--tls-cert-file",
                                redis->certificate,
                                "--tls-key-file",
                                redis->key,
                                "--tls-ca-cert-file",
                                redis->authority,
                                "--tls-auth-clients",
                                "no"};
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) args[count++] = more[i];
    return count;
}

static void name_certificates(rv_test_redis *redis)
{
    if (!redis->options.tls) return;
    (void)snprintf(redis->certificate, sizeof(redis->certificate), "%s/server.pem", redis->options.tls);
    (void)snprintf(redis->key, sizeof(redis->key), "%s/server.key", redis->options.tls);
    (void)snprintf(redis->authority, sizeof(redis->authority), "%s/ca.pem", redis->options.tls);
}

static void build_arguments(const rv_test_redis *redis, const char *args[ARGS_MAX])
{
    const test_redis_options *options = &redis->options;
    const char *const usual[] = {"redis-server",
                                 options->tls ? "--tls-port" : "--port",
                                 redis->port,
                                 "--bind",
                                 "127.0.0.1",
                                 "--unixsocket",
                                 redis->socket,
                                 "--dir",
                                 redis->dir,
                                 "--logfile",
                                 "redis.log",
                                 "--save",
                                 "",
                                 "--appendonly",
                                 options->persist ? "yes" : "no",
                                 "--appendfsync",
                                 options->persist ? "always" : "no",
                                 "--daemonize",
                                 "no"};
    size_t count = 0;
    if (options->clock) {
        args[count++] = "env";
        args[count++] = test_clock_preload();
        args[count++] = test_clock_file();
    }
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) args[count++] = usual[i];
    if (options->clock) { /* Its allocator's thread sleeps until a time of the day, and would never sleep. */
        args[count++] = "--jemalloc-bg-thread";
        args[count++] = "no";
    }
    count = add_tls(redis, args, count);
    if (options->password) args[count++] = "--requirepass";
    if (options->password) args[count++] = options->password;
    for (size_t i = 0; options->extra && options->extra[i] && count < ARGS_MAX - 1; i++)
        args[count++] = options->extra[i];
    args[count] = NULL;
}

static void run_server(const char *const args[], pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) dup2(null, 0), dup2(null, 1), dup2(null, 2);
    execvp(args[0], (char *const *)(uintptr_t)args);
    _exit(127);
}

static void show_log(const rv_test_redis *redis)
{
    char path[512], line[512];
    (void)snprintf(path, sizeof(path), "%s/redis.log", redis->dir);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) print_error("%s", line);
    if (file) fclose(file);
}

/* One PING over a socket of its own; true when it was answered, be it by "-NOAUTH". Loading does not count. */
static bool answers(const rv_test_redis *redis)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char answer[16] = "";
    memcpy(address.sun_path, redis->socket, sizeof(address.sun_path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && send(fd, "PING\r\n", 6, MSG_NOSIGNAL) == 6) {
        struct pollfd readable = {.fd = fd, .events = POLLIN};
        if (poll(&readable, 1, 1000) == 1 && recv(fd, answer, sizeof(answer) - 1, 0) < 0) answer[0] = '\0';
    }
    close(fd);
    return strncmp(answer, "+PONG", 5) == 0 || strncmp(answer, "-NOAUTH", 7) == 0;
}

static void await(rv_test_redis *redis)
{
    int64_t deadline = rv_deadline(START_MS);
    while (!answers(redis)) {
        if (waitpid(redis->pid, NULL, WNOHANG) == redis->pid) {
            redis->pid = 0;
            show_log(redis);
            fail_msg("redis-server ended at once (is it installed?)");
        }
        if (rv_now_ms() > deadline) {
            show_log(redis);
            fail_msg("redis-server does not answer");
        }
        (void)poll(NULL, 0, 2);
    }
}

void test_redis_launch(rv_test_redis *redis)
{
    const char *args[ARGS_MAX];
    pid_t parent = getpid();
    assert_int_equal(redis->pid, 0);
    name_certificates(redis);
    build_arguments(redis, args);
    unlink(redis->socket);
    redis->pid = fork();
    assert_true(redis->pid >= 0);
    if (redis->pid == 0) run_server(args, parent);
    await(redis);
}

rv_test_redis *test_redis_start(const test_redis_options *options)
{
    rv_test_redis *redis = calloc(1, sizeof(*redis));
    assert_non_null(redis);
    if (options) redis->options = *options;
    redis->dir = test_make_dir();
    remember(redis);
    name_things(redis);
    test_redis_launch(redis);
    return redis;
}

void test_redis_stop(rv_test_redis *redis)
{
    if (!redis) return;
    forget(redis);
    reap(redis);
    rv_url_fini(&redis->parsed);
    test_remove_dir(redis->dir);
    free(redis->dir);
    free(redis);
}

const char *test_redis_url(const rv_test_redis *redis)
{
    return redis->url;
}

const char *test_redis_tcp_url(const rv_test_redis *redis)
{
    assert_true(redis->options.tcp);
    return redis->tcp_url;
}

int test_redis_tcp_port(const rv_test_redis *redis)
{
    return atoi(redis->port);
}

const char *test_redis_dir(const rv_test_redis *redis)
{
    return redis->dir;
}

pid_t test_redis_pid(const rv_test_redis *redis)
{
    return redis->pid;
}

const rv_url *test_redis_parsed_url(const rv_test_redis *redis)
{
    return &redis->parsed;
}

void test_redis_kill(rv_test_redis *redis)
{
    reap(redis);
}

void test_redis_restart(rv_test_redis *redis)
{
    test_redis_kill(redis);
    test_redis_launch(redis);
}

void test_redis_freeze(rv_test_redis *redis)
{
    int state;
    assert_int_equal(kill(redis->pid, SIGSTOP), 0);
    assert_int_equal(waitpid(redis->pid, &state, WUNTRACED), redis->pid);
    assert_true(WIFSTOPPED(state));
}

void test_redis_thaw(rv_test_redis *redis)
{
    assert_int_equal(kill(redis->pid, SIGCONT), 0);
}

rv_conn *test_conn_open(rv_test_redis *redis)
{
    rv_conn *conn;
    /* A machine that is busy with other things may leave the server without time for long. */
    const rv_conn_options options = {.url = &redis->parsed, .name = "test", .command_ms = 60000};
    assert_int_equal(rv_conn_create(&conn, &options, NULL), REEVE_OK);
    if (rv_conn_open(conn, 0) != REEVE_OK) fail_msg("%s", rv_conn_error(conn)->text);
    return conn;
}

rv_test_redis *test_redis_start_cluster(void)
{
    static char bus[16];
    static const char *const extra[] = {"--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-announce-ip",
                                        "127.0.0.1",         NULL};
    (void)snprintf(bus, sizeof(bus), "%d", 20000 + (int)(getpid() % 12000));
    rv_test_redis *redis = test_redis_start(&(test_redis_options){.tcp = true, .extra = extra});
    rv_conn *conn = test_conn_open(redis);
    assert_string_equal(test_cmd(conn, "CLUSTER ADDSLOTSRANGE 0 16383"), "OK");
    while (!strstr(test_cmd(conn, "CLUSTER INFO"), "cluster_state:ok")) (void)poll(NULL, 0, 10);
    rv_conn_destroy(conn);
    return redis;
}
