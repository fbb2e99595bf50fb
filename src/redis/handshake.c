#include <stdio.h>
#include <string.h>

#include "redis/conn_private.h"
#include "redis/password.h"
#include "redis/refusal.h"
#include "redis/secret.h"

typedef enum step {
    STEP_AUTH,
    STEP_SELECT,
    STEP_NAME,
    STEP_ID,
    STEP_TIME,
    STEP_FORMAT,
    STEP_HASH,
    STEP_ROLE,
    STEP_PING
} step;
#define STEPS_MAX 9

typedef struct handshake {
    rv_conn *conn;
    rv_commands commands;
    const char *password; /* or NULL */
    step steps[STEPS_MAX];
    rv_error refusal; /* the first thing that went wrong */
} handshake;

static void begin(handshake *shake, step what, size_t argc, const char *name)
{
    if (shake->commands.count < STEPS_MAX) shake->steps[shake->commands.count] = what;
    rv_command_begin(&shake->commands, argc, NULL);
    rv_command_adds(&shake->commands, name);
}

static void build(handshake *shake)
{
    const rv_conn *conn = shake->conn;
    const rv_url *url = conn->url;
    if (shake->password) {
        begin(shake, STEP_AUTH, url->user ? 3 : 2, "AUTH");
        if (url->user) rv_command_adds(&shake->commands, url->user);
        rv_command_adds(&shake->commands, shake->password);
    }
    if (url->db != 0) {
        begin(shake, STEP_SELECT, 2, "SELECT");
        rv_command_addi(&shake->commands, url->db);
    }
    if (conn->name) {
        begin(shake, STEP_NAME, 3, "CLIENT");
        rv_command_adds(&shake->commands, "SETNAME");
        rv_command_adds(&shake->commands, conn->name);
    }
    begin(shake, STEP_ID, 2, "CLIENT");
    rv_command_adds(&shake->commands, "ID");
    if (conn->asks_clock) begin(shake, STEP_TIME, 1, "TIME");
    if (conn->ns && !(conn->format_once && conn->epoch > 0)) {
        begin(shake, STEP_FORMAT, 2, "GET");
        rv_command_add2(&shake->commands, conn->ns, strlen(conn->ns), ":format", 7);
    }
    if (conn->ns && conn->hash_suffix) {
        begin(shake, STEP_HASH, 2, "HGETALL");
        rv_command_add2(&shake->commands, conn->ns, strlen(conn->ns), conn->hash_suffix, strlen(conn->hash_suffix));
    }
    if (url->kind == RV_URL_SENTINEL) begin(shake, STEP_ROLE, 1, "ROLE");
    /* The others are answered while Redis loads its data; this one is not. */
    begin(shake, STEP_PING, 1, "PING");
}

static void refuse(handshake *shake, const char *reason)
{
    if (shake->refusal.status == REEVE_OK) (void)rv_fail(&shake->refusal, REEVE_ECONNECT, "%s", reason);
}

/* Words that quote the command have the password in them, whole or in part. */
static bool contains_password(const handshake *shake, const char *words)
{
    const char *password = shake->password;
    return strpbrk(words, "'`\"") || (password[0] != '\0' && strstr(words, password));
}

/* An error that does not concern the user or the password may be transient, such as too many clients. */
static void refuse_auth(handshake *shake, const rv_reply *reply)
{
    bool unset = strstr(reply->text, "without any password") || strstr(reply->text, "no password is set");
    bool wrong = rv_reply_has_error_code(reply, "WRONGPASS") || strstr(reply->text, "invalid password");
    shake->conn->denied = unset || wrong;
    if (unset)
        refuse(shake, "this Redis has no password set, but the URL gives one");
    else if (wrong)
        refuse(shake, "wrong user or password (WRONGPASS)");
    else if (contains_password(shake, reply->text))
        refuse(shake, "Redis refused the command AUTH");
    else
        refuse(shake, reply->text);
}

/* Errors after which the connection is useless, whichever step receives them. */
static bool refuse_any(handshake *shake, const rv_reply *reply)
{
    shake->conn->denied = shake->conn->denied || rv_reply_has_error_code(reply, "NOAUTH");
    if (rv_reply_has_error_code(reply, "NOAUTH"))
        refuse(shake, "it wants a password (NOAUTH): name a file that has it in the URL, as in "
                      "redis://host?password_file=/path, or put it there, as in redis://:password@host");
    else if (rv_reply_has_error_code(reply, "LOADING"))
        refuse(shake, "Redis is loading its data");
    else if (rv_reply_has_error_code(reply, "MASTERDOWN"))
        refuse(shake, "it is a replica that has lost its master");
    else
        return false;
    return true;
}

/* The name, the id, the clock and the probe are conveniences: a user may be denied them, an old Redis may not know
 * them. A version that cannot be read is none: on another node of a cluster, say, or under a key of another type. */
static bool is_harmless(step what, const rv_reply *reply)
{
    if (what == STEP_AUTH || what == STEP_SELECT) return false;
    if (what == STEP_FORMAT || what == STEP_HASH) return true;
    if (rv_reply_has_error_code(reply, "NOPERM") || rv_refusal_passes(rv_refusal_of(reply)) ||
        rv_reply_has_error_code(reply, "OOM"))
        return true;
    return strncmp(reply->text, "ERR unknown ", 12) == 0 || strncmp(reply->text, "ERR Unknown ", 12) == 0;
}

/* A Sentinel knows no commands for keys. */
static bool is_of_sentinel(step what, const rv_reply *reply)
{
    return (what == STEP_FORMAT || what == STEP_HASH) && strncmp(reply->text, "ERR unknown command", 19) == 0;
}

static void judge_error(handshake *shake, step what, const rv_reply *reply)
{
    if (is_of_sentinel(what, reply))
        refuse(shake, "this server is a Sentinel, or has no command GET: for a Sentinel, use a URL of the form "
                      "redis-sentinel://host[:port]/master");
    if (refuse_any(shake, reply) || is_harmless(what, reply)) return;
    if (what == STEP_AUTH)
        refuse_auth(shake, reply);
    else if (rv_reply_has_error_code(reply, "NOPERM"))
        refuse(shake, "this user may not choose a database (NOPERM for SELECT)");
    else
        refuse(shake, reply->text);
}

/* Nothing is read or written where the data may mean something else. */
bool rv_conn_format_fits(const rv_conn *conn, const rv_reply *reply, char *ret_words, size_t size)
{
    int64_t found = rv_reply_is(reply, RV_TEXT) ? rv_reply_int(reply, 0) : 0;
    if (found <= conn->format) return true;
    (void)snprintf(ret_words, size,
                   "the data of namespace %s have format %lld (%s:format), and this release of reeve reads formats up "
                   "to %d: use a newer release, or another namespace",
                   conn->ns, (long long)found, conn->ns, conn->format);
    return false;
}

static void judge_format(handshake *shake, const rv_reply *reply)
{
    char words[256];
    if (rv_conn_format_fits(shake->conn, reply, words, sizeof(words))) return;
    shake->conn->denied = true;
    refuse(shake, words);
}

/* What a Sentinel names may be a replica by now, or not yet the master. */
static void judge_role(handshake *shake, const rv_reply *reply)
{
    if (rv_reply_is_text(rv_reply_at(reply, 0), "master")) return;
    refuse(shake, "Sentinel names this server as the master, but it is a replica");
}

static void on_reply(size_t index, const rv_reply *reply, void *context)
{
    handshake *shake = context;
    step what = shake->steps[index];
    if (rv_reply_is(reply, RV_ERROR))
        judge_error(shake, what, reply);
    else if (what == STEP_ID)
        shake->conn->id = rv_reply_int(reply, 0);
    else if (what == STEP_ROLE)
        judge_role(shake, reply);
    else if (what == STEP_FORMAT)
        judge_format(shake, reply);
    else if (what == STEP_HASH)
        shake->conn->on_hash(reply, shake->conn->hash_context);
    else if (what == STEP_TIME)
        rv_redis_clock_note(&shake->conn->clock, reply);
    else if (!rv_reply_is(reply, RV_STATUS))
        refuse(shake, "what listens there does not answer as Redis does");
}

reeve_status rv_conn_handshake(rv_conn *conn, int64_t deadline, const rv_waker *waker, rv_error *error)
{
    handshake shake = {.conn = conn};
    conn->denied = false;
    conn->clock.known = false;
    char *read;
    if (rv_password_read(&read, conn->url, deadline, error) != REEVE_OK) return error->status;
    shake.password = read ? read : conn->url->password;
    rv_command_init(&shake.commands);
    build(&shake);
    reeve_status status = rv_command_check(&shake.commands, error);
    if (status == REEVE_OK) {
        rv_exchange what = {.replies = shake.commands.count,
                            .deadline = deadline,
                            .waker = waker,
                            .on_reply = on_reply,
                            .context = &shake};
        rv_exchange_send(&what, &shake.commands);
        status = rv_conn_exchange(conn, &what);
        if (status != REEVE_OK) *error = conn->error;
    }
    rv_command_fini(&shake.commands);
    rv_secret_free(read);
    /* Redis may say why and hang up: then the reason is worth more than the end. */
    if (shake.refusal.status != REEVE_OK) return rv_fail(error, REEVE_ECONNECT, "%s", shake.refusal.text);
    if (status == REEVE_OK || status == REEVE_ENOMEM || status == REEVE_EINTERRUPTED) return status;
    return error->status = REEVE_ECONNECT;
}
