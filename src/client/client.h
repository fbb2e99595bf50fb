/*
 * client.h - the inside of reeve_client: one connection, and calls that survive its loss.
 */
#ifndef RV_CLIENT_CLIENT_H
#define RV_CLIENT_CLIENT_H

#include "base/buf.h"
#include "client/known_queues.h"
#include "protocol/keys.h"
#include "protocol/layers.h"
#include "protocol/partition.h"
#include "protocol/size_limits.h"
#include "redis/conn.h"
#include "redis/embedded.h"
#include "reeve/client.h"

/* Why tasks of a call of reeve_enqueue_many failed: those of a queue, or (queue "") those without an answer. */
typedef struct rv_cause {
    char queue[REEVE_QUEUE_MAX + 1];
    rv_error error;
} rv_cause;

#define RV_CAUSES 4 /* with more failed queues, the error of one of the others is reported */

/* A queue with its own setting of what enqueues wait for. */
typedef struct rv_confirmed_queue {
    char queue[REEVE_QUEUE_MAX + 1];
    reeve_confirmation confirmation;
} rv_confirmed_queue;

struct reeve_client {
    rv_url url;            /* where to connect: for an embedded server, its socket */
    rv_embedded *embedded; /* or NULL */
    rv_conn *conn;
    rv_conn *listener;   /* for reeve_wait; made when first needed */
    unsigned generation; /* of the process that opened it (base/fork.h) */
    rv_waker waker;      /* rung by reeve_client_interrupt */
    bool saw_deletion;   /* the last reeve_wait ended because the task was deleted */
    bool waiting;        /* in reeve_wait: a ring ends also the search for a connection */
    char ns[RV_NS_MAX + 1];
    char name[64];
    int64_t timeout_ms;
    int64_t spin_us;
    reeve_size_limits size_limits; /* in force: none is zero */
    rv_error error;
    int64_t began_ms;           /* when the first try of the call under way began */
    rv_redis_clock began_clock; /* as it was known then */
    bool unsure;                /* of the last call: a try whose reply did not come may have been carried out */
    rv_error put_off;           /* of the try under way: why a call in it was not carried out and is sent again */
    bool on_replica;            /* the same: as the server is a replica */
    bool can_read;              /* for the call under way: its caller has another one that a replica carries out */
    rv_buf scratch;             /* for what enqueueing builds */
    rv_known_queues known;
    rv_partition_map partitions; /* client/partitions.h */
    int64_t partitions_until_ms; /* when they are read again */
    unsigned next_partition;     /* for the next task that may go to any */
    bool handed_over;            /* the last task that came alone was handed to a thread: the next may be, too */
    /* Redis's clock, as this connection learnt it last; see bulk_insert.h */
    bool clock_known;
    unsigned clock_epoch;
    int64_t clock_ahead_ms;             /* of rv_now_ms */
    bool can_bulk_insert;               /* it was asked, and has what laying takes */
    bool cannot_bulk_insert;            /* Redis has no transactions, or none for this user */
    char uncommon[REEVE_QUEUE_MAX + 1]; /* a queue in which it was in vain; of a partition the divided queue, */
    unsigned uncommon_calls;            /* and for how many more calls it is not tried there */
    rv_layers layers;                   /* for its enqueues */
    reeve_confirmation opened_with;     /* what enqueues wait for, by the options, */
    reeve_confirmation confirmation;    /* by now, */
    rv_confirmed_queue *confirmed;      /* and of queues with settings of their own (confirm.h); NULL: none has */
    size_t confirmed_count;
    struct rv_buffer *buffer; /* for its enqueues while Redis is away (buffer.h), or NULL */
    /* in place of Redis (stand_in.h), or NULL: then there is no connection */
    const struct rv_stand_in *stand_in;
    void *stand_in_context;
    rv_cause causes[RV_CAUSES]; /* of the last reeve_enqueue_many */
    size_t cause_count;
};

/* Opens a client to servers that this program has connected to before: the options do not say where, and the URL stays
 * for as long as the client is open. reeve_client_close. */
reeve_status rv_client_open_to(reeve_client **ret, const rv_url *url, const reeve_client_options *options,
                               rv_error *error);

/* Fails with REEVE_EINVAL in a forked child: what the client has is its parent's. */
reeve_status rv_client_check_process(reeve_client *client);

/* Notes why, unless this is noted already. */
void rv_client_note_cause(reeve_client *client, const char *queue, const rv_error *error);

/* What reeve_enqueue_many refuses by itself. */
reeve_status rv_enqueue_error_check(const reeve_task_spec *spec, const reeve_size_limits *size_limits, rv_error *error);

/* Refuses a call with too many tasks as a whole: sets the error of the size limit `at`, about `what` ("tasks in one
 * call"). */
reeve_status rv_enqueue_error_refuse_all(reeve_client *client, size_t count, reeve_enqueued *ret_results, size_t at,
                                         const char *what);

/* Adds a call's commands to the connection; called again for each try. again: an earlier try may have been executed. */
typedef void (*rv_build_fn)(rv_conn *conn, bool again, const void *context);

/*
 * Opens the connection if need be, builds, sends and reads the replies; when the connection is lost, does so again
 * until the client's timeout, so what is built must be safe to send twice. Errors are in client->error. ret_again (may
 * be NULL): whether an earlier try may have been executed.
 */
reeve_status rv_client_exec(reeve_client *client, rv_build_fn build, const void *context, rv_on_reply on_reply,
                            void *reply_context, bool *ret_again);

/*
 * For on_reply: whether an error reply means that the node refuses work now (refusal.h). The call counts as
 * unanswered then: after this try the client connects again and repeats it, until the timeout.
 */
bool rv_client_put_off(reeve_client *client, const rv_reply *reply);
/* Of the last call, which ended with REEVE_EREDIS: the node refused it to the end, but such a refusal passes. */
bool rv_client_was_put_off(const reeve_client *client);

/*
 * Whether the last call, made while client->can_read was set, ended with REEVE_EREDIS because the server is a
 * replica. It was not sent again: the caller has another one that only reads.
 */
bool rv_client_is_on_replica(const reeve_client *client);

/*
 * Fails a call whose reply was an error with this text: REEVE_EREDIS, nothing was done; or REEVE_ELOST where an earlier
 * try of the last call may have been carried out.
 */
reeve_status rv_client_refused(reeve_client *client, const char *text);

/* The same for one command; *ret lives until the next call. An error reply is REEVE_EREDIS
 * (or REEVE_ELOST, as above). */
reeve_status rv_client_call(reeve_client *client, rv_build_fn build, const void *context, const rv_reply **ret,
                            bool *ret_again);

#define RV_SIMPLE_ARGS 64

/* A script with one key, the prefix of a queue, and a few text arguments: most calls are that. Checks the name. */
typedef struct rv_simple_call {
    const rv_script *script;
    const char *queue;
    const char *args[RV_SIMPLE_ARGS];
    size_t count;
} rv_simple_call;

reeve_status rv_client_script(reeve_client *client, const rv_simple_call *call, const rv_reply **ret, bool *ret_again);

/* rv_client_script, or where the server is a replica the second call, which only reads; *ret_read: that was so. */
reeve_status rv_client_script_or_read(reeve_client *client, const rv_simple_call *call, const rv_simple_call *read,
                                      const rv_reply **ret, bool *ret_read);

/* Fails with REEVE_EPROTO: the reply is none that this call understands. */
reeve_status rv_client_odd_reply(reeve_client *client, const char *what);

/* Whether it is among the queues of the namespace: it has had tasks or a worker. */
reeve_status rv_client_knows(reeve_client *client, const char *queue, bool *ret);
/* The same, or it has settings, limits or recurring entries. */
reeve_status rv_client_knows_of(reeve_client *client, const char *queue, bool *ret);

/* Which page of a list; checked by rv_inspect_page_args, which writes the numbers as text. */
typedef struct rv_page {
    uint64_t offset;
    size_t limit;
    char skip[24];
    char max[24];
} rv_page;

reeve_status rv_inspect_page_args(reeve_client *client, rv_page *page, const char *what);

/* reeve_list; kind: only dead ones of this kind; "": of any. */
reeve_status rv_inspect_list(reeve_client *client, const char *queue, reeve_state state, const char *kind,
                             rv_page *page, reeve_task_info ***ret, size_t *ret_count, uint64_t *ret_total);

/* Reads tasks in the format of list.lua, from the element `first` on. */
reeve_status rv_inspect_read(reeve_client *client, const char *queue, const rv_reply *reply, size_t first,
                             reeve_task_info ***ret, size_t *ret_count);

/* Reads a reply of list.lua that is a page. */
reeve_status rv_inspect_read_page(reeve_client *client, const char *queue, const rv_reply *reply,
                                  reeve_task_info ***ret, size_t *ret_count, uint64_t *ret_total);

/* Reads a reply of show.lua. */
reeve_status rv_task_info_read(const char *queue, const rv_reply *reply, reeve_task_info **ret);

#endif
