/*
 * hiredis.h - the calls of transaction.h for programs that use hiredis. Include it where they are used; reeve.h does
 * not, and the program links hiredis itself.
 */
#ifndef REEVE_HIREDIS_H
#define REEVE_HIREDIS_H

#include <hiredis/hiredis.h>

#include "transaction.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends the commands to the output of a connection, as redisAppendCommandArgv does. The caller then reads
 * commands->count replies. Returns REDIS_OK or REDIS_ERR. */
static inline int reeve_hiredis_append(redisContext *redis, const reeve_commands *commands)
{
    for (size_t i = 0; i < commands->count; i++) {
        const reeve_command *command = &commands->list[i];

        if (redisAppendCommandArgv(redis, command->argc, command->argv, command->lengths) != REDIS_OK) return REDIS_ERR;
    }
    return REDIS_OK;
}

/* Converts a reply of hiredis into one of transaction.h, without the elements of an array. */
static inline reeve_reply reeve_hiredis_reply(const redisReply *reply)
{
    reeve_reply made = {REEVE_REPLY_NIL, 0, NULL, 0, NULL, 0};

    if (reply == NULL) return made;
    made.number = reply->integer;
    made.text = reply->str;
    made.length = reply->len;
    made.count = reply->elements;
    if (reply->type == REDIS_REPLY_INTEGER) made.kind = REEVE_REPLY_INTEGER;
    if (reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS) made.kind = REEVE_REPLY_TEXT;
    if (reply->type == REDIS_REPLY_ERROR) made.kind = REEVE_REPLY_ERROR;
    if (reply->type == REDIS_REPLY_ARRAY) made.kind = REEVE_REPLY_ARRAY;
    return made;
}

/* Reads a reply of hiredis as reeve_commands_read does. The caller still owns the reply. NULL counts as nil. Does not
 * block. */
static inline reeve_status reeve_hiredis_read(reeve_commands *commands, size_t index, const redisReply *reply)
{
    reeve_reply elements[REEVE_COMMAND_TASKS_MAX];
    reeve_reply whole = reeve_hiredis_reply(reply);

    if (whole.kind != REEVE_REPLY_ARRAY) return reeve_commands_read(commands, index, &whole);
    for (size_t i = 0; i < whole.count && i < REEVE_COMMAND_TASKS_MAX; i++)
        elements[i] = reeve_hiredis_reply(reply->element[i]);
    whole.elements = elements;
    return reeve_commands_read(commands, index, &whole);
}

#ifdef __cplusplus
}
#endif
#endif
