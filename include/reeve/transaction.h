/*
 * transaction.h - an enqueue as Redis commands, which a program sends on its own connection, in its own pipeline or
 * transaction (MULTI). Redis then executes the program's own writes and the enqueue together:
 *
 *     reeve_commands *commands = NULL;
 *     reeve_status status = reeve_enqueue_commands(&commands, NULL, &spec, 1, words, sizeof(words));
 *     ...
 *     append(redis, "MULTI");
 *     append(redis, "HSET order:7 state paid");
 *     for (size_t i = 0; i < commands->count; i++)
 *         append(redis, commands->list[i].argc, commands->list[i].argv, commands->list[i].lengths);
 *     append(redis, "EXEC");
 *     ... reads the reply of EXEC. Each of its elements is the reply of one command, for reeve_commands_read
 *     reeve_commands_free(commands);
 *
 * No function of this file connects to Redis or blocks, or needs a client of client.h. Any thread may call them, but
 * only one thread at a time with the same reeve_commands. hiredis.h has functions for programs that use hiredis.
 * examples/transaction.c is a complete program.
 *
 * Redis executes either all commands of a transaction, in order and without other commands between them, or none of
 * them (error EXECABORT, or a key of WATCH has changed). It has no rollback: if one command of a transaction fails, the
 * others are executed nevertheless. The command of an enqueue fails if the task's id exists, another task holds its
 * unique key, a parent does not exist, or the user of the connection lacks a right. Its reply has the reason.
 *
 * A client of client.h refuses a namespace whose data a newer release has written. These commands do not check this.
 *
 * A queue with partitions (partition.h): reeve_partition_of_task gets the partition that a task goes to, which is then
 * the queue of the spec. With the name of the queue, a task goes to partition 0.
 *
 * The commands of one enqueue use keys of different slots, though each command uses keys of one slot only. In Redis
 * Cluster they can therefore be sent only in a pipeline, and not in a transaction.
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
    /* false: each command is an EVAL with the text of the script, about 60 KB. It always works. true: each command is a
     * short EVALSHA. The program must then first send reeve_commands_load on each new connection, and again when a
     * reply has the error NOSCRIPT. In a transaction this error comes too late: Redis has already executed the other
     * commands. SCRIPT FLUSH, a restart of Redis and a failover remove scripts from Redis. */
    bool loaded;
    /* Layers whose function `enqueue` is called for each task, as in a client (layer.h). free_user is not called. Set
     * `size` of each layer with REEVE_LAYER. */
    const reeve_layer *layers;
    size_t layer_count;
} reeve_commands_options;

/* The commands of an enqueue. The library owns the struct and all that it points to; the program only reads it. */
typedef struct reeve_commands {
    const reeve_command *list; /* to be sent in this order */
    size_t count;
    /* The tasks, in the order of the specs. Their ids are already set. The status of each is REEVE_ELOST (unknown)
     * until reeve_commands_read has read the reply of its command. */
    const reeve_enqueued *tasks;
    size_t task_count;
    /* The last reply that reeve_commands_read read was NOSCRIPT: send reeve_commands_load, then the commands again. */
    bool not_loaded;
    const char *error; /* the message of the last call of reeve_commands_read that failed; else "" */
} reeve_commands;

/*
 * Creates the commands that enqueue `count` tasks, in one or several queues. The tasks are checked as by reeve_enqueue;
 * if one of them is refused, no commands are created. On success the caller owns *ret and frees it with
 * reeve_commands_free. On failure *ret is NULL, and the message is written to ret_error, a buffer of `size` bytes, or
 * NULL. The specs are copied. Any thread.
 *
 *   REEVE_EINVAL   a name or an option is not valid, or count is 0
 *   REEVE_ETOOBIG  a task is larger than a size limit, has more than REEVE_PARENTS_MAX parents, or there are more
 *                  tasks than size_limits.batch
 *   REEVE_ENOMEM
 *
 * If a task has parents in other queues, workers register it with these queues, up to a second later than reeve_enqueue
 * does. When the transaction has been executed, idle threads of workers wake up as usual.
 */
REEVE_API reeve_status reeve_enqueue_commands(reeve_commands **ret, const reeve_commands_options *options,
                                              const reeve_task_spec *specs, size_t count, char *ret_error, size_t size);

/* Frees commands; NULL is ignored. */
REEVE_API void reeve_commands_free(reeve_commands *commands);

/*
 * Prepares commands to be sent again, after they were sent and their replies did not arrive. If the record of a task
 * still exists, sending its command again enqueues no second task, even without this call: the task is reported as
 * enqueued if the library made its id, and with REEVE_EEXISTS if the program chose it. After this call, the script
 * reports such a task as enqueued even if the program chose its id. It refuses tasks that may have ended, and whose
 * records may have been deleted, with REEVE_ELOST. The call does not move commands->list, but changes `argc` and the
 * arguments. Any thread, but not two at once for the same commands. REEVE_EINVAL: `commands` is NULL.
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

/* A reply of Redis, as the Redis client of the program returned it. The kind tells which fields are set. */
typedef struct reeve_reply {
    reeve_reply_kind kind;
    int64_t number;
    const char *text;
    size_t length;
    const struct reeve_reply *elements;
    size_t count;
} reeve_reply;

/*
 * Reads the reply of the command commands->list[index]. In a transaction, this is the element of EXEC's reply, not the
 * "QUEUED" that Redis sends before. It sets the status of the tasks that the command enqueues (and, with REEVE_EUNIQUE
 * and REEVE_ENOTFOUND, their id: see reeve_enqueued) and commands->error. It returns the status of the first task of
 * the command that was not enqueued, else REEVE_OK:
 *
 *   REEVE_EEXISTS, REEVE_EUNIQUE, REEVE_ENOTFOUND  as from reeve_enqueue
 *   REEVE_ELOST    after reeve_commands_repeat: unknown, the task may have been enqueued and have ended
 *   REEVE_EREDIS   the reply is an error; none of the tasks of the command is enqueued
 *   REEVE_EPROTO   the reply is not that of this command, for example the nil of an EXEC that executed nothing
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
