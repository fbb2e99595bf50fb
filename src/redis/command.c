#include "redis/command.h"

#include <string.h>

#include "base/mem.h"
#include "redis/conn_private.h"
#include "redis/reply_reader.h"

#define DIGITS_MAX 20
#define HEAD_MAX (1 + DIGITS_MAX + 2) /* "$", a length, "\r\n" */
#define FIRST_MARKS 8
#define MARKS_KEPT 256

void rv_command_init(rv_commands *commands)
{
    *commands = (rv_commands){0};
    rv_buf_init(&commands->out, RV_COMMANDS_MAX);
}

void rv_command_fini(rv_commands *commands)
{
    rv_buf_fini(&commands->out);
    rv_free(commands->marks);
    rv_free(commands->lent);
    rv_command_init(commands);
}

void rv_command_clear(rv_commands *commands)
{
    size_t keep = rv_reply_reader_worth_keeping(commands->out.length, &commands->out_before);
    rv_buf_clear(&commands->out);
    if (commands->out.capacity > keep * 2) rv_buf_trim(&commands->out, keep);
    if (commands->count <= MARKS_KEPT && commands->capacity > MARKS_KEPT) {
        rv_free(commands->marks);
        commands->marks = NULL;
        commands->capacity = 0;
    }
    if (commands->lent_count <= MARKS_KEPT && commands->lent_capacity > MARKS_KEPT) {
        rv_free(commands->lent);
        commands->lent = NULL;
        commands->lent_capacity = 0;
    }
    commands->count = 0;
    commands->lent_count = 0;
    commands->lent_bytes = 0;
    commands->open_args = 0;
    commands->open_bytes = 0;
    commands->fault = REEVE_OK;
}

static void fault(rv_commands *commands, reeve_status status)
{
    if (commands->fault == REEVE_OK) commands->fault = status;
}

static bool have_room(rv_commands *commands, size_t more)
{
    if (commands->fault != REEVE_OK) return false;
    if (more > RV_COMMANDS_MAX - commands->out.length - commands->lent_bytes) {
        fault(commands, REEVE_ETOOBIG);
        return false;
    }
    if (more < commands->out.capacity - commands->out.length || rv_buf_reserve(&commands->out, more)) return true;
    fault(commands, REEVE_ENOMEM);
    return false;
}

/* Writes "$123\r\n" at a place that have_room made; returns where it ends. */
static char *put_head(char *at, char kind, size_t number)
{
    char digits[DIGITS_MAX];
    size_t first = sizeof(digits);
    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    *at++ = kind;
    memcpy(at, digits + first, sizeof(digits) - first);
    at += sizeof(digits) - first;
    *at++ = '\r';
    *at++ = '\n';
    return at;
}

static void end_at(rv_commands *commands, const char *end)
{
    commands->out.length = (size_t)(end - commands->out.data);
    commands->out.data[commands->out.length] = '\0';
}

static bool have_mark(rv_commands *commands)
{
    if (commands->count < commands->capacity) return true;
    size_t capacity = commands->capacity ? commands->capacity * 2 : FIRST_MARKS;
    rv_mark *marks = rv_realloc_array(commands->marks, capacity, sizeof(rv_mark));
    if (!marks) {
        fault(commands, REEVE_ENOMEM);
        return false;
    }
    commands->marks = marks;
    commands->capacity = capacity;
    return true;
}

void rv_command_begin(rv_commands *commands, size_t argc, const rv_script *script)
{
    if (commands->open_args > 0 || commands->open_bytes > 0 || argc == 0) fault(commands, REEVE_EINVAL);
    if (!have_room(commands, HEAD_MAX) || !have_mark(commands)) return;
    commands->marks[commands->count++] = (rv_mark){.offset = commands->out.length, .script = script};
    commands->open_args = argc;
    end_at(commands, put_head(commands->out.data + commands->out.length, '*', argc));
}

void rv_command_add2(rv_commands *commands, const void *a, size_t a_length, const void *b, size_t b_length)
{
    if (commands->open_args == 0 || commands->open_bytes > 0) fault(commands, REEVE_EINVAL);
    if (a_length > RV_COMMANDS_MAX || b_length > RV_COMMANDS_MAX) fault(commands, REEVE_ETOOBIG);
    if (!have_room(commands, HEAD_MAX + a_length + b_length + 2)) return;
    char *at = put_head(commands->out.data + commands->out.length, '$', a_length + b_length);
    if (a_length > 0) memcpy(at, a, a_length);
    at += a_length;
    if (b_length > 0) memcpy(at, b, b_length);
    at += b_length;
    *at++ = '\r';
    *at++ = '\n';
    end_at(commands, at);
    commands->open_args--;
}

void rv_command_add_parts(rv_commands *commands, size_t length)
{
    if (commands->open_args == 0 || commands->open_bytes > 0) fault(commands, REEVE_EINVAL);
    if (length > RV_COMMANDS_MAX) fault(commands, REEVE_ETOOBIG);
    if (!have_room(commands, HEAD_MAX + length + 2)) return;
    end_at(commands, put_head(commands->out.data + commands->out.length, '$', length));
    commands->open_bytes = length + 2;
    commands->open_args--;
    rv_command_part(commands, NULL, 0);
}

void rv_command_part(rv_commands *commands, const void *data, size_t length)
{
    if (length > RV_COMMANDS_MAX || commands->open_bytes < length + 2) fault(commands, REEVE_EINVAL);
    if (!have_room(commands, length + 2)) return;
    if (length > 0) rv_buf_add(&commands->out, data, length);
    commands->open_bytes -= length;
    if (commands->open_bytes > 2) return;
    rv_buf_add(&commands->out, "\r\n", 2);
    commands->open_bytes = 0;
}

/* Reserves the space of one more argument. */
static bool have_lent(rv_commands *commands, size_t length)
{
    if (commands->fault == REEVE_OK && length > RV_COMMANDS_MAX - commands->out.length - commands->lent_bytes)
        fault(commands, REEVE_ETOOBIG);
    if (commands->fault != REEVE_OK) return false;
    if (commands->lent_count < commands->lent_capacity) return true;
    size_t capacity = commands->lent_capacity ? commands->lent_capacity * 2 : FIRST_MARKS;
    rv_lent *lent = rv_realloc_array(commands->lent, capacity, sizeof(rv_lent));
    if (!lent) {
        fault(commands, REEVE_ENOMEM);
        return false;
    }
    commands->lent = lent;
    commands->lent_capacity = capacity;
    return true;
}

static void lend(rv_commands *commands, const char *data, size_t length)
{
    commands->lent[commands->lent_count++] = (rv_lent){commands->out.length, data, length};
    commands->lent_bytes += length;
}

void rv_command_lend2(rv_commands *commands, const void *a, size_t a_length, const void *b, size_t b_length)
{
    if (b_length < RV_LENT_MIN) {
        rv_command_add2(commands, a, a_length, b, b_length);
        return;
    }
    if (commands->open_args == 0 || commands->open_bytes > 0) fault(commands, REEVE_EINVAL);
    if (a_length > RV_COMMANDS_MAX || b_length > RV_COMMANDS_MAX) fault(commands, REEVE_ETOOBIG);
    size_t own = HEAD_MAX + a_length + 2;
    if (!have_room(commands, own) || !have_lent(commands, own + b_length)) return;
    char *at = put_head(commands->out.data + commands->out.length, '$', a_length + b_length);
    if (a_length > 0) memcpy(at, a, a_length);
    end_at(commands, at + a_length);
    lend(commands, b, b_length);
    rv_buf_add(&commands->out, "\r\n", 2); /* the caller has reserved the space */
    commands->open_args--;
}

void rv_command_repeat(rv_commands *commands, const rv_commands *others, size_t index)
{
    size_t offset = others->marks[index].offset, end = rv_command_end(others, index);
    size_t base = commands->out.length;
    if (!have_room(commands, end - offset)) return;
    rv_buf_add(&commands->out, others->out.data + offset, end - offset);
    for (size_t i = 0; i < others->lent_count; i++) {
        const rv_lent *lent = &others->lent[i];
        if (lent->at <= offset || lent->at >= end) continue;
        if (!have_lent(commands, lent->length)) return;
        lend(commands, lent->data, lent->length);
        commands->lent[commands->lent_count - 1].at = base + lent->at - offset;
    }
}

void rv_command_forward(rv_commands *commands, const rv_commands *others, size_t index)
{
    if (!have_mark(commands)) return;
    commands->marks[commands->count++] =
        (rv_mark){.offset = commands->out.length, .script = others->marks[index].script};
    rv_command_repeat(commands, others, index);
}

void rv_command_add(rv_commands *commands, const void *data, size_t length)
{
    rv_command_add2(commands, data, length, NULL, 0);
}

void rv_command_adds(rv_commands *commands, const char *text)
{
    rv_command_add2(commands, text, strlen(text), NULL, 0);
}

void rv_command_addi(rv_commands *commands, int64_t number)
{
    char digits[DIGITS_MAX]; /* INT64_MIN has a sign and 19 digits */
    size_t first = sizeof(digits);
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        digits[--first] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0) digits[--first] = '-';
    rv_command_add2(commands, digits + first, sizeof(digits) - first, NULL, 0);
}

reeve_status rv_command_check(const rv_commands *commands, rv_error *error)
{
    if (commands->fault == REEVE_ENOMEM) return rv_fail(error, REEVE_ENOMEM, "out of memory while building a command");
    if (commands->fault == REEVE_ETOOBIG)
        return rv_fail(error, REEVE_ETOOBIG, "the commands are larger than %u bytes together", RV_COMMANDS_MAX);
    if (commands->fault != REEVE_OK || commands->open_args > 0 || commands->open_bytes > 0)
        return rv_fail(error, REEVE_EINVAL, "command %zu was built with a wrong number of arguments", commands->count);
    return REEVE_OK;
}

size_t rv_command_end(const rv_commands *commands, size_t index)
{
    return index + 1 < commands->count ? commands->marks[index + 1].offset : commands->out.length;
}

/* ---- as conn.h offers it --------------------------------------------------------------------------------------- */

void rv_cmd(rv_conn *conn, size_t argc)
{
    rv_command_begin(&conn->commands, argc, NULL);
}

void rv_cmd_script(rv_conn *conn, const rv_script *script, size_t keys, size_t args)
{
    rv_command_begin(&conn->commands, 3 + keys + args, script);
    rv_command_adds(&conn->commands, "EVALSHA");
    rv_command_adds(&conn->commands, script->sha);
    rv_command_addi(&conn->commands, (int64_t)keys);
}

void rv_cmd_script_text(rv_conn *conn, const rv_script *script, size_t keys, size_t args)
{
    rv_cmd(conn, 3 + keys + args);
    rv_args(conn, "EVAL");
    rv_arg(conn, script->text, script->length);
    rv_argi(conn, (int64_t)keys);
}

void rv_arg(rv_conn *conn, const void *data, size_t length)
{
    rv_command_add2(&conn->commands, data, length, NULL, 0);
}

void rv_args(rv_conn *conn, const char *text)
{
    rv_command_adds(&conn->commands, text);
}

void rv_argi(rv_conn *conn, int64_t number)
{
    rv_command_addi(&conn->commands, number);
}

void rv_arg2(rv_conn *conn, const void *a, size_t a_length, const void *b, size_t b_length)
{
    rv_command_add2(&conn->commands, a, a_length, b, b_length);
}

void rv_arg_lent2(rv_conn *conn, const void *a, size_t a_length, const void *b, size_t b_length)
{
    rv_command_lend2(&conn->commands, a, a_length, b, b_length);
}

void rv_arg_parts(rv_conn *conn, size_t length)
{
    rv_command_add_parts(&conn->commands, length);
}

void rv_arg_part(rv_conn *conn, const void *data, size_t length)
{
    rv_command_part(&conn->commands, data, length);
}

size_t rv_conn_pending(const rv_conn *conn)
{
    return conn->commands.count;
}

void rv_conn_discard(rv_conn *conn)
{
    rv_command_clear(&conn->commands);
}
