/*
 * conn.h - one connection to Redis: commands out, replies in, every wait with a deadline.
 *
 * A connection belongs to one thread at a time. Commands are built into an out buffer, sent together by rv_conn_exec,
 * which then reads a reply for each. The buffer is kept until then, so that a script that Redis does not know
 * (NOSCRIPT) is loaded and sent again without the caller's help.
 *
 * What a call promises: REEVE_OK, all replies came (they may be error replies where a callback takes them); REEVE_ELOST
 * or REEVE_ETIMEOUT, the connection was closed (abruptly: nothing unsent leaves any more) and what Redis did is
 * unknown; REEVE_ECONNECT, nothing was sent. Once closed, the next rv_conn_open makes it anew.
 */
#ifndef RV_CONN_H
#define RV_CONN_H

#include "base/clock.h"
#include "redis/address.h"
#include "redis/arena.h"
#include "redis/refusal.h"
#include "redis/reply.h"
#include "redis/script.h"
#include "redis/url.h"
#include "redis/waker.h"

typedef struct rv_conn rv_conn;

typedef struct rv_conn_options {
    const rv_url *url;     /* borrowed; outlives the connection */
    const char *name;      /* CLIENT SETNAME; copied, blanks become '-' */
    const rv_waker *waker; /* may be NULL; borrowed: ends interruptible waits */
    const rv_waker *quit;  /* may be NULL; borrowed: once rung, the deadline of every wait has passed */
    int64_t command_ms;    /* the usual deadline of a command and of connecting; 0: 10000 */
    int64_t spin_us;       /* how long to look for a reply before sleeping for it (spin.h); 0: not at all */
    const char *ns;        /* may be NULL; borrowed: the namespace whose data the connection is for, */
    int format;       /* and the highest version of them: where the key <ns>:format has a higher one, it is refused; */
    bool format_once; /* only when it is opened for the first time */
} rv_conn_options;

reeve_status rv_conn_create(rv_conn **ret, const rv_conn_options *options, rv_error *error);
void rv_conn_destroy(rv_conn *conn); /* closes; NULL is fine */

/*
 * By the URL of a Redis Cluster a connection is one to each node that it needs (cluster_links.h): each command goes to
 * the node of its key, wherever that is at the moment. With homes, which are keys, it is open only while it is connected
 * to the node of each; without one, nodes are connected when a command needs them. Does nothing for one server. Before
 * the first rv_conn_open. REEVE_OK, REEVE_ENOMEM.
 */
reeve_status rv_conn_add_home(rv_conn *conn, const char *key, size_t length);

/* One attempt to connect, AUTH, SELECT and name the connection, until the deadline; does nothing when it is open. Where
 * Sentinels name the server, one that cannot be reached or is no master leads to another question, until the deadline. */
reeve_status rv_conn_open(rv_conn *conn, int64_t deadline);
/*
 * False also after a reply that this node refuses work (RV_REFUSAL_NODE), or when another connection found that the
 * data have moved (rv_topology_is_current): nothing more is sent to it, and rv_conn_open closes the connection, resolves
 * the endpoint again and connects.
 */
bool rv_conn_is_open(const rv_conn *conn);
void rv_conn_close(rv_conn *conn);
/* The same as such a reply: another connection to the same endpoint received it. */
void rv_conn_leave(rv_conn *conn);

/*
 * Opens again and again with a jittered, growing pause until it succeeds (REEVE_OK) or the waker is rung
 * (REEVE_EINTERRUPTED). Logs redis.down once for each outage and redis.up when it ends.
 */
reeve_status rv_conn_persist(rv_conn *conn);

/* Changes options.quit; the connection's thread. */
void rv_conn_set_quit(rv_conn *conn, const rv_waker *quit);

/* The last attempt to open failed since the server refused the user or password, or wants them; or since the data of
 * the namespace have a version that is not known. */
bool rv_conn_is_denied(const rv_conn *conn);

/* Called before a command is sent: closes the connection if the server has closed it or sent unexpected data. */
void rv_conn_check_end(rv_conn *conn);

/*
 * Ends, on the server, the connections that were lost before this one: what was sent over them is then carried out by
 * now, or never. A server that was frozen may have read a part only, and would come to it later; so may a proxy. Best
 * effort: a user may be denied CLIENT LIST or KILL, and another server does not have them. One round trip, and one
 * for each that is still there. Where this connection is lost meanwhile, the next call ends them all.
 */
void rv_conn_end_lost(rv_conn *conn, int64_t deadline);
/* From now on rv_conn_end_lost of `conn` ends those that `other` lost, too. The two are made to the same server, and
 * `other` lives as long. */
void rv_conn_adopt_losses(rv_conn *conn, const rv_conn *other);

/* The words of the last failure. */
const rv_error *rv_conn_error(const rv_conn *conn);
/* The server that it is, or was last, open to. */
const rv_address *rv_conn_address(const rv_conn *conn);
/* Redis's CLIENT ID of the open connection; 0 when unknown. */
int64_t rv_conn_id(const rv_conn *conn);
/* How often it has been opened: a caller sees a reconnect by a change. */
unsigned rv_conn_epoch(const rv_conn *conn);

/* What a connection knows of Redis's clock, from a reply to TIME. */
typedef struct rv_redis_clock {
    bool known;
    int64_t ahead_ms; /* of rv_now_ms: so much, or more by the way of the command and its reply */
    int64_t noted_ms; /* when, of rv_now_ms */
} rv_redis_clock;

/* Each rv_conn_open asks for it from now on. */
void rv_conn_ask_clock(rv_conn *conn);

/*
 * Each time that the connection is opened, it reads the hash <ns><suffix> with HGETALL, and on_hash receives the reply,
 * which may be an error. Nothing is read where that costs a failed open: no such right, a node of a cluster that is away.
 * `suffix` is borrowed.
 */
typedef void (*rv_on_hash)(const rv_reply *reply, void *context);
void rv_conn_ask_hash(rv_conn *conn, const char *suffix, rv_on_hash on_hash, void *context);
/* A reply to TIME that has just come; what is none is passed over. */
void rv_redis_clock_note(rv_redis_clock *clock, const rv_reply *reply);
/* Of the open connection; lives as long as the connection. The caller may note a later reply there. */
rv_redis_clock *rv_conn_clock(rv_conn *conn);

/* ---- building: each command is begun with its number of arguments, which must then be added ------------------- */

void rv_cmd(rv_conn *conn, size_t argc); /* a plain command: argc counts its name */
void rv_cmd_script(rv_conn *conn, const rv_script *script, size_t keys, size_t args);      /* EVALSHA sha keys ... */
void rv_cmd_script_text(rv_conn *conn, const rv_script *script, size_t keys, size_t args); /* EVAL text keys ... */
void rv_arg(rv_conn *conn, const void *data, size_t length);
void rv_args(rv_conn *conn, const char *text);
void rv_argi(rv_conn *conn, int64_t number);
/* An argument made of two parts (a prefix and a name, say). */
void rv_arg2(rv_conn *conn, const void *a, size_t a_length, const void *b, size_t b_length);
/* The same, but b may be sent from where it is: it stays as it is until the call that sends it has returned. */
void rv_arg_lent2(rv_conn *conn, const void *a, size_t a_length, const void *b, size_t b_length);
/* One argument with a length; its bytes are added in parts, all of them before the next argument. */
void rv_arg_parts(rv_conn *conn, size_t length);
void rv_arg_part(rv_conn *conn, const void *data, size_t length);
/* How many commands wait to be sent, and drops them. */
size_t rv_conn_pending(const rv_conn *conn);
void rv_conn_discard(rv_conn *conn);

/* ---- sending and reading --------------------------------------------------------------------------------------- */

/* Called for each reply, in the order of the commands; that of a script that had to be loaded comes later. index:
 * the command. The reply is valid until the callback returns. */
typedef void (*rv_on_reply)(size_t index, const rv_reply *reply, void *context);

/*
 * Sends what was built and reads all replies. deadline 0: now + command_ms. Not interruptible. Error replies reach the
 * callback (NULL: ignored). REEVE_OK, REEVE_ECONNECT (not open), REEVE_ELOST, REEVE_ETIMEOUT, REEVE_EPROTO,
 * REEVE_ENOMEM.
 */
reeve_status rv_conn_exec(rv_conn *conn, int64_t deadline, rv_on_reply on_reply, void *context);

/*
 * The same for exactly one command; *ret lives until the next call on this connection. An error reply is REEVE_EREDIS
 * with its words in rv_conn_error, and what to do about it; *ret is then that reply, for rv_refusal_of.
 */
reeve_status rv_conn_call(rv_conn *conn, int64_t deadline, const rv_reply **ret);

/*
 * The same with two deadlines: the reply must have begun by one (monotonic ms), and be there within command_ms. A
 * connection that is dead without a sign is noticed early, and a long reply on a slow one is not cut off.
 */
reeve_status rv_conn_call_begun_by(rv_conn *conn, int64_t begins_by, const rv_reply **ret);

/*
 * The same for several commands, all for one server: *ret is the reply of the last one, and on_reply receives the others,
 * as with rv_conn_exec. Only the last may be a script by its SHA1. An error reply of another one is REEVE_EREDIS with *ret
 * NULL; the effect of the last command is unknown then.
 */
reeve_status rv_conn_call_last(rv_conn *conn, int64_t deadline, rv_on_reply on_reply, void *context,
                               const rv_reply **ret);

/*
 * After rv_conn_call: the reply's memory goes to *mine, so that it lives on while the connection is used; what *mine
 * held before is forgotten, and its blocks serve the connection's next reply. *mine: rv_arena_init first, rv_arena_fini
 * last.
 */
void rv_conn_take_reply(rv_conn *conn, rv_arena *mine);

/*
 * For a blocking command, and commands behind it that Redis executes as soon as it unblocks, before its reply has
 * arrived: *ret is the reply of the last one. REEVE_EINTERRUPTED when the waker is rung: the commands are still in
 * flight, and rv_conn_resume continues to wait until its deadline (REEVE_OK). An error reply of the last command is
 * as in rv_conn_call. One of an earlier command is REEVE_EREDIS with *ret NULL; the effect of the last command is
 * unknown then.
 */
reeve_status rv_conn_call_blocking(rv_conn *conn, int64_t deadline, const rv_reply **ret);
reeve_status rv_conn_resume(rv_conn *conn, int64_t deadline, const rv_reply **ret);

/*
 * For a Redis Cluster: waits with each of the commands that were built, which block (BLPOP, without a time limit) and are
 * for different hash slots, until one of them is answered. Each has a connection of its own meanwhile. Then the others are
 * ended (CLIENT UNBLOCK); some may have been answered until then: ret_answered, one for each command, tells which. The
 * answers themselves are not kept. REEVE_OK: some were answered, or none by the deadline (monotonic ms). REEVE_EINTERRUPTED
 * when the waker is rung, REEVE_ELOST, REEVE_EREDIS and others: what was answered is unknown, and the connection is closed.
 */
reeve_status rv_conn_wait_any(rv_conn *conn, int64_t deadline, bool *ret_answered);

/*
 * From now on rv_conn_receive sends a PING after every_ms without a message, and the connection is lost when nothing
 * follows within answer_ms: a proxy or a firewall may have dropped the other half of it. every_ms 0: no PING.
 */
void rv_conn_set_pings(rv_conn *conn, int64_t every_ms, int64_t answer_ms);

/* The next message of a connection in subscribe mode: REEVE_OK, REEVE_ETIMEOUT (nothing until the deadline, the
 * connection stays open), REEVE_EINTERRUPTED, REEVE_ELOST. */
reeve_status rv_conn_receive(rv_conn *conn, int64_t deadline, const rv_reply **ret);

#endif
