/*
 * embedded.c - who joins, who leaves, and that there is one server at most.
 *
 * Three locks (flock) in the directory. start.lock serializes joining, reviving and leaving, and is held only while
 * that goes on. users.lock is shared by all users for as long as they live. server.lock is held by the server itself:
 * it inherits the open file, and the kernel lets go of it when the server ends, however it ends. So a second server on
 * the same files cannot be started, not even when the one who started the first was killed half way through.
 */
#include "redis/embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/mem.h"
#include "redis/conn.h"
#include "redis/embedded_dir.h"
#include "redis/embedded_launch.h"

#define LEAVE_MS 10000
#define ATTEMPT_MS 1000
#define PAUSE_MS 5

struct rv_embedded {
    rv_embedded_dir dir;
    int users_fd;
    rv_url url; /* of the server's socket */
};

static int open_lock(const rv_embedded *embedded, const char *name, rv_error *error)
{
    int fd = openat(embedded->dir.fd, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) return fd;
    char words[128];
    (void)rv_fail(error, REEVE_ESYSTEM, "%s/%s cannot be written: %s; name another directory, as in embedded:/path",
                  embedded->dir.path, name, strerror_r(errno, words, sizeof(words)));
    return -1;
}

static void pause_until(int64_t deadline)
{
    int64_t soon = rv_deadline(PAUSE_MS);
    (void)poll(NULL, 0, rv_poll_timeout(soon < deadline ? soon : deadline));
}

/* flock(2) knows no deadline. */
static bool lock_until(int fd, int kind, int64_t deadline)
{
    while (flock(fd, kind | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return false;
        if (rv_now_ms() >= deadline) return false;
        pause_until(deadline);
    }
    return true;
}

/* A child that the host forks has the same open file, and would keep the lock when the host only closes it. */
static void unlock(int fd)
{
    (void)flock(fd, LOCK_UN);
    close(fd);
}

/* Returns the lock's descriptor, for unlock, or -1. */
static int begin(const rv_embedded *embedded, int64_t deadline, rv_error *error)
{
    int fd = open_lock(embedded, "start.lock", error);
    if (fd < 0 || lock_until(fd, LOCK_EX, deadline)) return fd;
    close(fd);
    (void)rv_fail(error, REEVE_ETIMEOUT, "another process is still starting or stopping the embedded Redis in %s",
                  embedded->dir.path);
    return -1;
}

/* ---- the server ------------------------------------------------------------------------------------------------ */

static reeve_status connect_once(rv_conn *conn, int64_t deadline)
{
    int64_t soon = rv_deadline(ATTEMPT_MS);
    return rv_conn_open(conn, soon < deadline ? soon : deadline);
}

/* A child that another thread forks meanwhile would keep the server's lock after the server. */
static int open_server_lock(const rv_embedded *embedded, rv_error *error)
{
    (void)rv_fork_generation(); /* forks are watched from now on */
    rv_fork_hold();
    int fd = open_lock(embedded, "server.lock", error);
    if (fd >= 0) rv_fork_add_private(fd);
    rv_fork_release();
    return fd;
}

static void close_server_lock(int fd)
{
    rv_fork_hold();
    rv_fork_remove_private(fd);
    close(fd);
    rv_fork_release();
}

/* The server.lock when no server holds it, or -1. */
static int take_server_lock(const rv_embedded *embedded, rv_error *error)
{
    int fd = open_server_lock(embedded, error);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    close_server_lock(fd);
    rv_error_clear(error);
    return -1;
}

static reeve_status launch_if_gone(const rv_embedded *embedded, bool *launched, rv_error *error)
{
    rv_error_clear(error);
    int lock = take_server_lock(embedded, error);
    if (lock < 0) return error->status;
    reeve_status status;
    if (*launched) {
        status = rv_embedded_launch_failed(&embedded->dir, error);
    } else {
        status = rv_embedded_launch(&embedded->dir, lock, error);
        *launched = true;
    }
    if (status != REEVE_OK) (void)flock(lock, LOCK_UN); /* else the server has it now */
    close_server_lock(lock);
    return status;
}

/* Until a server answers: one that starts, or one that is there and still loads its data. */
static reeve_status await_server(const rv_embedded *embedded, rv_conn *conn, int64_t deadline, rv_error *error)
{
    bool launched = false;
    while (connect_once(conn, deadline) != REEVE_OK) {
        if (rv_conn_error(conn)->status == REEVE_ENOMEM)
            return rv_fail(error, REEVE_ENOMEM, "%s", rv_conn_error(conn)->text);
        reeve_status status = launch_if_gone(embedded, &launched, error);
        if (status != REEVE_OK) return status;
        if (rv_now_ms() >= deadline)
            return rv_fail(error, REEVE_ETIMEOUT, "the embedded Redis in %s does not answer yet: %s",
                           embedded->dir.path, rv_conn_error(conn)->text);
        pause_until(deadline);
    }
    /* Only now it is known: it may have ended at once, or not be able to load its data. */
    rv_log(REEVE_LOG_INFO, "redis.embedded", launched ? "started an embedded Redis" : "joined an embedded Redis", "dir",
           embedded->dir.path, NULL);
    return REEVE_OK;
}

/* Called with start.lock held. */
static reeve_status ensure_server(const rv_embedded *embedded, int64_t deadline, rv_error *error)
{
    rv_error reason = {0};
    rv_conn *conn;
    const rv_conn_options options = {.url = &embedded->url, .name = "reeve-embedded"};
    reeve_status status = rv_conn_create(&conn, &options, &reason);
    if (status == REEVE_OK) status = await_server(embedded, conn, deadline, &reason);
    rv_conn_destroy(conn);
    return status == REEVE_OK ? status : rv_fail(error, status, "%s", reason.text);
}

/* ---- joining --------------------------------------------------------------------------------------------------- */

static reeve_status make_url(rv_url *ret, const rv_embedded *embedded, int db, rv_error *error)
{
    char text[RV_SOCKET_PATH_SIZE + 32];
    (void)snprintf(text, sizeof(text), "unix://%s?db=%d", embedded->dir.socket, db);
    return rv_url_parse(ret, text, error);
}

static reeve_status become_user(rv_embedded *embedded, int64_t deadline, rv_error *error)
{
    embedded->users_fd = open_lock(embedded, "users.lock", error);
    if (embedded->users_fd < 0) return REEVE_ESYSTEM;
    /* Only a process that holds start.lock, as this one does, takes the lock exclusively. It may have been killed
     * then, and a child that it forked may keep the lock. */
    if (lock_until(embedded->users_fd, LOCK_SH, deadline)) return REEVE_OK;
    return rv_fail(error, REEVE_ETIMEOUT, "%s/users.lock cannot be locked: another process holds it",
                   embedded->dir.path);
}

/* Frees what this process has of it. The lock of users stays with the processes that share the open file. */
static void destroy(rv_embedded *embedded)
{
    if (embedded->users_fd >= 0) close(embedded->users_fd);
    rv_embedded_dir_close(&embedded->dir);
    rv_url_fini(&embedded->url);
    rv_free(embedded);
}

/* The process is no user any more. Its forked children never were, and must not be taken for users now. */
static void resign(rv_embedded *embedded)
{
    if (embedded->users_fd >= 0) (void)flock(embedded->users_fd, LOCK_UN);
    destroy(embedded);
}

static reeve_status join_locked(rv_embedded *embedded, int64_t deadline, rv_error *error)
{
    int start = begin(embedded, deadline, error);
    if (start < 0) return error->status;
    reeve_status status = become_user(embedded, deadline, error);
    if (status == REEVE_OK) status = ensure_server(embedded, deadline, error);
    unlock(start);
    return status;
}

static reeve_status create(rv_embedded **ret, const char *path, rv_error *error)
{
    rv_embedded *embedded = rv_zalloc(sizeof(*embedded));
    if (!embedded) return rv_fail(error, REEVE_ENOMEM, "out of memory for an embedded Redis");
    embedded->users_fd = -1;
    embedded->dir.fd = -1;
    reeve_status status = rv_embedded_dir_open(&embedded->dir, path, error);
    if (status == REEVE_OK) status = make_url(&embedded->url, embedded, 0, error);
    if (status == REEVE_OK)
        *ret = embedded;
    else
        destroy(embedded);
    return status;
}

/* A server that is not ready in time, with much data to load, goes on: who comes next finds it ready. */
static void give_up(rv_embedded *embedded, reeve_status status)
{
    if (embedded && status == REEVE_ETIMEOUT)
        resign(embedded);
    else
        rv_embedded_leave(embedded);
}

reeve_status rv_embedded_join(rv_embedded **ret, const rv_url *url, rv_url *ret_socket, int64_t deadline,
                              rv_error *error)
{
    rv_error reason = {0};
    rv_embedded *embedded = NULL;
    *ret = NULL;
    reeve_status status = create(&embedded, url->path, &reason);
    if (status == REEVE_OK) status = join_locked(embedded, deadline, &reason);
    if (status == REEVE_OK) status = make_url(ret_socket, embedded, url->db, &reason);
    if (status == REEVE_OK) {
        *ret = embedded;
        return REEVE_OK;
    }
    give_up(embedded, status);
    return rv_fail(error, status, "%s", reason.text);
}

reeve_status rv_embedded_revive(rv_embedded *embedded, int64_t deadline, rv_error *error)
{
    rv_error reason = {0};
    int start = begin(embedded, deadline, &reason);
    if (start < 0) return rv_fail(error, reason.status, "%s", reason.text);
    reeve_status status = ensure_server(embedded, deadline, error);
    unlock(start);
    return status;
}

/* ---- leaving --------------------------------------------------------------------------------------------------- */

static void await_end(const rv_embedded *embedded, int64_t deadline)
{
    int lock = open_lock(embedded, "server.lock", NULL);
    if (lock < 0) return;
    bool ended = lock_until(lock, LOCK_EX, deadline);
    unlock(lock);
    rv_log(ended ? REEVE_LOG_INFO : REEVE_LOG_WARN, "redis.embedded",
           ended ? "stopped the embedded Redis" : "the embedded Redis does not stop", "dir", embedded->dir.path, NULL);
}

/* Redis writes out its append-only file and closes the connection instead of answering. */
static void stop_server(const rv_embedded *embedded, int64_t deadline)
{
    rv_conn *conn;
    const rv_reply *reply;
    const rv_conn_options options = {.url = &embedded->url, .name = "reeve-embedded"};
    if (rv_conn_create(&conn, &options, NULL) != REEVE_OK) return;
    if (rv_conn_open(conn, deadline) != REEVE_OK) goto out;
    rv_cmd(conn, 1);
    rv_args(conn, "SHUTDOWN");
    if (rv_conn_call(conn, deadline, &reply) == REEVE_ELOST)
        await_end(embedded, deadline);
    else
        rv_log(REEVE_LOG_WARN, "redis.embedded", "the embedded Redis was not stopped", "dir", embedded->dir.path,
               "error", rv_conn_error(conn)->text, NULL);
out:
    rv_conn_destroy(conn);
}

void rv_embedded_forsake(rv_embedded *embedded)
{
    if (embedded) destroy(embedded);
}

void rv_embedded_leave(rv_embedded *embedded)
{
    if (!embedded) return;
    int64_t deadline = rv_deadline(LEAVE_MS);
    int start = embedded->users_fd >= 0 ? begin(embedded, deadline, NULL) : -1;
    if (start >= 0 && flock(embedded->users_fd, LOCK_EX | LOCK_NB) == 0) stop_server(embedded, deadline);
    resign(embedded); /* before the others may look who is left */
    if (start >= 0) unlock(start);
}
