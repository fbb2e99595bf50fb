/*
 * transaction_read.c - the replies to commands that a program sent on its own connection.
 */
#include <string.h>

#include "client/transaction.h"
#include "protocol/enqueue_refusal.h"
#include "protocol/parents.h"
#include "redis/refusal.h"

/* A text of a reply is not ended by a zero byte. */
static void copy_text(char *ret, size_t size, const reeve_reply *reply)
{
    size_t length = reply->text == NULL ? 0 : reply->length < size - 1 ? reply->length : size - 1;
    if (length > 0) memcpy(ret, reply->text, length);
    ret[length] = '\0';
}

/* The first failure of a call is the one that it returns. */
static reeve_status fail_task(rv_transaction *made, reeve_enqueued *task, const rv_error *why)
{
    task->status = why->status;
    if (made->error.status == REEVE_OK) made->error = *why;
    return why->status;
}

static void fail_all(rv_transaction *made, const rv_transaction_command *command, const rv_error *why)
{
    if (made->error.status == REEVE_OK) made->error = *why;
    for (size_t i = 0; i < command->task_count; i++) made->tasks[command->first_task + i].status = why->status;
}

/* The task's id exists. Where the library made it, nobody else has it: an earlier copy of the command enqueued it. */
static void read_number(rv_transaction *made, size_t index, int64_t number)
{
    reeve_enqueued *task = &made->tasks[index];
    rv_error why = {0};
    if (number > 0 || (number == 0 && made->own_ids[index])) {
        task->status = REEVE_OK;
        return;
    }
    if (number == 0)
        (void)rv_fail(&why, REEVE_EEXISTS, "a task with the id %s exists already", task->id);
    else
        (void)rv_fail(&why, REEVE_ELOST,
                      "unknown whether the task %s was enqueued: it is not there, and may have ended and not be kept",
                      task->id);
    (void)fail_task(made, task, &why);
}

/* A text refuses the task (enqueue_refusal.h). */
static void read_words(rv_transaction *made, size_t index, const reeve_reply *answer)
{
    reeve_enqueued *task = &made->tasks[index];
    char text[REEVE_ID_MAX + 16];
    const char *words;
    rv_error why = {0};
    copy_text(text, sizeof(text), answer);
    reeve_status status = rv_enqueue_refusal_read(text, &words);
    if (status == REEVE_ETOOBIG)
        (void)rv_fail(&why, status,
                      "task %s: the payload is longer than its queue allows: at most %s bytes (payload_max of the "
                      "queue raises it)",
                      task->id, words);
    else if (status == REEVE_ENOTFOUND)
        (void)rv_fail(&why, status, "task %s: its parent %s does not exist", task->id, words);
    else
        (void)rv_fail(&why, status, "task %s: its unique key is held by the task %s", task->id, words);
    if (status != REEVE_ETOOBIG) rv_copy_text(task->id, sizeof(task->id), words);
    (void)fail_task(made, task, &why);
}

static void read_odd(rv_transaction *made, const rv_transaction_command *command)
{
    rv_error why = {0};
    (void)rv_fail(&why, REEVE_EPROTO, "the reply is not one of this command: unknown whether it was carried out");
    fail_all(made, command, &why);
}

static void read_error(rv_transaction *made, const rv_transaction_command *command, const reeve_reply *reply)
{
    char words[400];
    rv_error why = {0};
    copy_text(words, sizeof(words), reply);
    made->is.not_loaded = strncmp(words, "NOSCRIPT", 8) == 0;
    (void)rv_fail(&why, REEVE_EREDIS, "Redis answered: %s%s", words,
                  made->is.not_loaded ? "; send reeve_commands_load, then the command again"
                                      : rv_refusal_advice(words));
    fail_all(made, command, &why);
}

static void read_enqueue(rv_transaction *made, const rv_transaction_command *command, const reeve_reply *reply)
{
    bool alike = reply->kind == REEVE_REPLY_INTEGER;
    bool each = reply->kind == REEVE_REPLY_ARRAY && reply->count == command->task_count && reply->elements != NULL;
    for (size_t i = 0; each && i < reply->count; i++) {
        reeve_reply_kind kind = reply->elements[i].kind;
        each = kind == REEVE_REPLY_INTEGER || kind == REEVE_REPLY_TEXT;
    }
    if (!alike && !each) {
        read_odd(made, command);
        return;
    }
    for (size_t i = 0; i < command->task_count; i++) {
        const reeve_reply *answer = alike ? reply : &reply->elements[i];
        if (answer->kind == REEVE_REPLY_INTEGER)
            read_number(made, command->first_task + i, answer->number);
        else
            read_words(made, command->first_task + i, answer);
    }
}

reeve_status reeve_commands_read(reeve_commands *commands, size_t index, const reeve_reply *reply)
{
    rv_transaction *made = (rv_transaction *)commands;
    if (commands == NULL || reply == NULL || index >= commands->count) return REEVE_EINVAL;
    const rv_transaction_command *command = &made->commands[index];
    rv_error_clear(&made->error);
    made->is.not_loaded = false;
    if (reply->kind == REEVE_REPLY_ERROR)
        read_error(made, command, reply);
    else if (command->task_count > 0)
        read_enqueue(made, command, reply);
    made->is.error = made->error.text;
    return made->error.status;
}
