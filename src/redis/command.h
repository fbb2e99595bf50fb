/*
 * command.h - commands in RESP, built one after the other in a buffer, with the offset of each. Long arguments may
 * be lent instead of copied: they are sent from the memory of the caller, between two bytes of the buffer. A failed
 * step (no memory, too large, a wrong number of arguments) is kept, and reported once by rv_command_check.
 */
#ifndef RV_COMMAND_H
#define RV_COMMAND_H

#include "base/buf.h"
#include "base/error.h"
#include "redis/script.h"

#define RV_COMMANDS_MAX (1024u * 1024 * 1024) /* bytes of one exchange */
#define RV_LENT_MIN (64u * 1024)              /* less is copied sooner than sent by itself */

/* Lent bytes, to be sent when `out` has been sent up to `at`. */
typedef struct rv_lent {
    size_t at;
    const char *data;
    size_t length;
} rv_lent;

typedef struct rv_mark {
    size_t offset;           /* of the command in out */
    const rv_script *script; /* or NULL */
    bool missing;            /* Redis does not know the script */
} rv_mark;

typedef struct rv_commands {
    rv_buf out;
    rv_mark *marks;
    size_t count;
    size_t capacity;
    rv_lent *lent; /* in order */
    size_t lent_count;
    size_t lent_capacity;
    size_t lent_bytes;
    size_t open_args;   /* missing arguments of the last command */
    size_t open_bytes;  /* missing bytes of the last argument */
    reeve_status fault; /* the first one */
    size_t out_before;  /* how long out was the time before */
} rv_commands;

void rv_command_init(rv_commands *commands);
void rv_command_fini(rv_commands *commands);
void rv_command_clear(rv_commands *commands); /* keeps memory that two exchanges in a row needed */

void rv_command_begin(rv_commands *commands, size_t argc, const rv_script *script);
void rv_command_add(rv_commands *commands, const void *data, size_t length);
void rv_command_add2(rv_commands *commands, const void *a, size_t a_length, const void *b, size_t b_length);
/* As add2, but b may be lent: it stays as it is until the commands are cleared. */
void rv_command_lend2(rv_commands *commands, const void *a, size_t a_length, const void *b, size_t b_length);
/* One argument with a length; its bytes are added in parts, all of them before the next argument. */
void rv_command_add_parts(rv_commands *commands, size_t length);
void rv_command_part(rv_commands *commands, const void *data, size_t length);
void rv_command_adds(rv_commands *commands, const char *text);
void rv_command_addi(rv_commands *commands, int64_t number);

/* REEVE_OK, REEVE_ENOMEM, REEVE_ETOOBIG, REEVE_EINVAL. */
reeve_status rv_command_check(const rv_commands *commands, rv_error *error);
/* Where a command ends in out. */
size_t rv_command_end(const rv_commands *commands, size_t index);
/* Appends the bytes of a command of others, with what is lent to it. */
void rv_command_repeat(rv_commands *commands, const rv_commands *others, size_t index);
/* The same as a command of its own, with its script. */
void rv_command_forward(rv_commands *commands, const rv_commands *others, size_t index);

#endif
