/*
 * transaction.h - an enqueue as Redis commands, which a program sends on its own connection, in its own pipeline or
 * transaction (MULTI). The program's own writes and the enqueue are then carried out together:
 *
 *     reeve_commands *commands = NULL;
 *     reeve_status status = reeve_enqueue_commands(&commands, NULL, &spec, 1, words, sizeof(words));
 *     ...
 *     append(redis, "MULTI");
 *     append(redis, "HSET order:7 state paid");
 *     for (size_t i = 0; i < commands->count; i++)
 *         append(redis, commands->list[i].argc, commands->list[i].argv, commands->list[i].lengths);
 *     append(redis, "EXEC");
 *     ... reads the replies; each element of that of EXEC is the reply of one command: reeve_commands_read
 *     reeve_commands_free(commands);
 *
 * Nothing here connects to Redis or blocks, and no client of client.h is needed. hiredis.h has the calls for programs
 * that use hiredis; examples/transaction.c is a whole program.
 *
 * What a transaction of Redis promises: all of its commands are carried out, in order and without others between
 * them, or none is (EXECABORT, or a changed key of WATCH). Redis has no rollback: if one command of a transaction
 * fails, the others are carried out nevertheless. An enqueue fails that way if the task's id exists, another task
 * holds its unique key, or a parent is unknown (the reply says so), and if the user of the connection lacks a right.
 *
 * A client refuses a namespace whose data a newer release has written. These commands do not look.
 *
 * In Redis Cluster the commands concern keys of several slots; there they can be sent in a pipeline only.
 */
#ifndef REEVE_TRANSACTION_H
#define REEVE_TRANSACTION_H

#include "client.h"
#include "layer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One command: `argc` arguments and their lengths in bytes. Arguments can contain zero bytes. The types are those of
 * redisAppendCommandArgv of hiredis. */
typedef struct reeve_command {
    int argc;
    const char **argv;
    const size_t *lengths;
} reeve_command;

/* Maximum number of tasks that one command enqueues, and so of elements in its reply. */
#define REEVE_COMMAND_TASKS_MAX 250

/* Zero selects the default of each field. */
typedef struct reeve_commands_options {
    size_t size;                   /* sizeof(reeve_commands_options), or 0 */
    const char *ns;                /* namespace; NULL: "reeve" */
    reeve_size_limits size_limits; /* size limits of the tasks (size_limits.h); zeroed: the defaults */
    /* false: each enqueue is an EVAL with the text of the script, about 60 KB. It always works. true: it is an EVALSHA,
     * which is short. The program must then send reeve_commands_load first, on each new connection, and again when a
     * reply has the error NOSCRIPT. In a transaction such a reply comes too late: Redis has carried out the other
     * commands then. SCRIPT FLUSH, a restart of Redis and a failover make Redis forget scripts. */
    bool loaded;
    /* Layers through which the tasks go, as through those of a client (layer.h); free_user is not called. Each must
     * have its size (REEVE_LAYER), or that of this version. */
    const reeve_layer *layers;
    size_t layer_count;
} reeve_commands_options;

/* The commands of an enqueue. The library owns the struct and all that it points to; the program only reads it. */
typedef struct reeve_commands {
    const reeve_command *list; /* to be sent in this order */
    size_t count;
    /* The tasks, in the order of the specs. The id of each is known at once. Its status is REEVE_ELOST (unknown) until
     * reeve_commands_read has read the reply that tells of it. */
    const reeve_enqueued *tasks;
    size_t task_count;
    /* The last call of reeve_commands_read met NOSCRIPT: send reeve_commands_load, then the commands again. */
    bool not_loaded;
    const char *error; /* the message of the last call of reeve_commands_read that failed; else "" */
} reeve_commands;

/*
 * Makes the commands that enqueue `count` tasks, of one or several queues. The tasks are checked as by reeve_enqueue;
 * if one of them is refused, no commands are made. On success the caller owns *ret and frees it with
 * reeve_commands_free. On failure *ret is NULL, and the message is written to ret_error, a buffer of `size` bytes, or
 * NULL. The specs are copied. Any thread.
 *
 *   REEVE_EINVAL   a name or an option is not valid, or count is 0
 *   REEVE_ETOOBIG  a task is larger than a size limit, has more than REEVE_PARENTS_MAX parents, or there are more
 *                  tasks than size_limits.batch
 *   REEVE_ENOMEM
 *
 * Parents in other queues learn of a task from the workers, up to a second later than after reeve_enqueue. Idle
 * threads of workers are woken as usual, when the transaction has ended.
 */
REEVE_API reeve_status reeve_enqueue_commands(reeve_commands **ret, const reeve_commands_options *options,
                                              const reeve_task_spec *specs, size_t count, char *ret_error, size_t size);

/* Frees commands; NULL is ignored. */
REEVE_API void reeve_commands_free(reeve_commands *commands);

/*
 * Prepares commands that were sent, and whose replies did not come, to be sent again. Without it, too, a repeat
 * enqueues no task twice whose record still exists: a task whose id was made by the library is then reported as
 * enqueued. With it, the script also recognizes tasks with an id of the program, and refuses those that may have ended
 * and be gone meanwhile (REEVE_ELOST). commands->list stays where it is; `argc` and
 * the arguments change. Any thread, but not two at once for the same commands.
 * REEVE_EINVAL: `commands` is NULL.
 */
REEVE_API reeve_status reeve_commands_repeat(reeve_commands *commands);

/* A reply of Redis, as any client library can describe it. */
typedef enum reeve_reply_kind {
    REEVE_REPLY_NIL = 0,
    REEVE_REPLY_INTEGER, /* number */
    REEVE_REPLY_TEXT,    /* text and length: a bulk or a simple string */
    REEVE_REPLY_ERROR,   /* text and length: the error with its code, such as "NOSCRIPT ..." */
    REEVE_REPLY_ARRAY    /* elements and count */
} reeve_reply_kind;

typedef struct reeve_reply {
    reeve_reply_kind kind;
    int64_t number;
    const char *text;
    size_t length;
    const struct reeve_reply *elements;
    size_t count;
} reeve_reply;

/*
 * Reads the reply of the command commands->list[index]: that of the command itself or, in a transaction, the element of
 * EXEC's reply; not "QUEUED". It sets the status of the tasks that the command enqueues (and, with REEVE_EUNIQUE and
 * REEVE_ENOTFOUND, their id: see reeve_enqueued) and commands->error. It returns the status of the first task of the
 * command that was not enqueued, else REEVE_OK:
 *
 *   REEVE_EEXISTS, REEVE_EUNIQUE, REEVE_ENOTFOUND  as from reeve_enqueue
 *   REEVE_ELOST    after reeve_commands_repeat: unknown, the task may have been enqueued and have ended
 *   REEVE_EREDIS   the reply is an error; none of the tasks of the command is enqueued
 *   REEVE_EPROTO   the reply is not one of this command, such as the nil of an EXEC that was given up
 *   REEVE_EINVAL   there is no such command
 */
REEVE_API reeve_status reeve_commands_read(reeve_commands *commands, size_t index, const reeve_reply *reply);

/* The command that loads the script: SCRIPT LOAD with its text. Valid for the life of the process. Any thread. */
REEVE_API const reeve_command *reeve_commands_load(void);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_enqueue_commands_sized(reeve_commands **ret, const reeve_commands_options *options,
                                                    const reeve_task_spec *specs, size_t count, char *ret_error,
                                                    size_t size, size_t options_size, size_t spec_size);
#define reeve_enqueue_commands(...) \
    reeve_enqueue_commands_sized(__VA_ARGS__, sizeof(reeve_commands_options), sizeof(reeve_task_spec))

#ifdef __cplusplus
}
#endif
#endif
