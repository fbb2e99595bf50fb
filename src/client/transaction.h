/*
 * transaction.h - the inside of reeve_commands: transaction.c builds them, transaction_read.c reads their replies.
 */
#ifndef RV_CLIENT_TRANSACTION_H
#define RV_CLIENT_TRANSACTION_H

#include "base/buf.h"
#include "base/error.h"
#include "reeve/transaction.h"

/* A run of bytes in the text of a command. */
typedef struct rv_transaction_part {
    size_t start;
    size_t length;
} rv_transaction_part;

typedef struct rv_transaction_command {
    rv_buf text; /* all parts, one behind the other */
    rv_transaction_part *parts;
    size_t part_count;
    const char **argv; /* into the text, the script and the way */
    size_t *lengths;
    size_t argc;
    size_t first_task; /* of an enqueue: its tasks */
    size_t task_count; /* 0: the command enqueues nothing */
    bool plain;        /* none of the tasks has options */
    char way[32];      /* how the tasks come: see src/lua/enqueue.lua */
} rv_transaction_command;

typedef struct rv_transaction {
    reeve_commands is; /* what the program sees; its commands are as many as is.count */
    rv_transaction_command *commands;
    reeve_command *list;
    reeve_enqueued *tasks;
    bool *own_ids;   /* of each task: it is no error that its id exists: the library made it, or it is to be ignored */
    bool loaded;     /* EVALSHA in place of EVAL */
    bool repeated;   /* reeve_commands_repeat was called */
    int64_t made_ms; /* rv_now_ms */
    rv_error error;
} rv_transaction;

#endif
