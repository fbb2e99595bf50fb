/*
 * buffer_record.c - the records of a client's buffer. Numbers are 64 bits, least significant byte first.
 *
 *     'T' since sent own-id queue \0 id \0 options \0 rest      a task; own-id is one byte, '0' or '1'
 *     'S' count at, 'D' count at                                marks
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/buffer.h"
#include "protocol/spec.h"

#define NUMBER 8
#define HEAD (1 + 2 * NUMBER + 1)
#define MARK (1 + 2 * NUMBER)

static void add_number(rv_buf *out, int64_t number)
{
    for (unsigned i = 0; i < NUMBER; i++) rv_buf_addc(out, (char)(unsigned char)((uint64_t)number >> 8 * i));
}

static int64_t read_number(const char *at)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < NUMBER; i++) number |= (uint64_t)(unsigned char)at[i] << 8 * i;
    return (int64_t)number;
}

static int64_t add_time(int64_t now, int64_t ms)
{
    return ms > INT64_MAX - now ? INT64_MAX : now + ms;
}

/* The times of a task count from its call, not from its delivery. */
static void fix_times(reeve_task_spec *spec, int64_t now)
{
    if (spec->in_ms > 0) spec->at_ms = add_time(now, spec->in_ms);
    if (spec->expires_in_ms > 0) spec->deadline_ms = add_time(now, spec->expires_in_ms);
    spec->in_ms = spec->expires_in_ms = 0;
}

void rv_buffer_record_write(rv_buf *out, const reeve_task_spec *given, const char *id, int64_t sent_ms)
{
    reeve_task_spec spec = *given;
    int64_t now = rv_wall_ms();
    fix_times(&spec, now);
    rv_buf_addc(out, 'T');
    add_number(out, now);
    add_number(out, sent_ms);
    rv_buf_addc(out, given->id == NULL || given->if_exists == REEVE_EXISTS_IGNORE ? '1' : '0');
    rv_buf_add(out, spec.queue, strlen(spec.queue) + 1);
    rv_buf_add(out, id, strlen(id) + 1);
    rv_spec_write_options(out, &spec);
    rv_buf_addc(out, '\0');
    rv_spec_write_envelope(out, &spec);
}

/* The next text, which ends in a zero byte; NULL: there is none. */
static const char *read_text(const char **at, const char *end)
{
    const char *text = *at, *zero = memchr(text, '\0', (size_t)(end - text));
    if (zero == NULL) return NULL;
    *at = zero + 1;
    return text;
}

static bool take_apart(rv_buffered *task)
{
    const char *at = task->record + HEAD, *end = task->record + task->length;
    task->since_ms = read_number(task->record + 1);
    task->sent_ms = read_number(task->record + 1 + NUMBER);
    task->own_id = task->record[HEAD - 1] == '1';
    task->queue = read_text(&at, end);
    task->id = task->queue != NULL ? read_text(&at, end) : NULL;
    const char *options = task->id != NULL ? read_text(&at, end) : NULL;
    if (options == NULL) return false;
    task->options = (reeve_bytes){options, strlen(options)};
    task->rest = (reeve_bytes){at, (size_t)(end - at)};
    return rv_keys_check_queue(task->queue, NULL) == REEVE_OK && rv_keys_check_id(task->id, NULL) == REEVE_OK;
}

rv_buffered *rv_buffer_record_read(const char *data, size_t length, bool *ret_no_memory)
{
    *ret_no_memory = false;
    if (length < HEAD || data[0] != 'T') return NULL;
    rv_buffered *task = rv_alloc(sizeof(*task) + length);
    *ret_no_memory = task == NULL;
    if (task == NULL) return NULL;
    *task = (rv_buffered){.length = length};
    memcpy(task->record, data, length);
    if (take_apart(task)) return task;
    rv_free(task);
    return NULL;
}

void rv_buffer_record_set_sent(rv_buffered *task, int64_t sent_ms)
{
    task->sent_ms = sent_ms;
    for (unsigned i = 0; i < NUMBER; i++)
        task->record[1 + NUMBER + i] = (char)(unsigned char)((uint64_t)sent_ms >> 8 * i);
}

void rv_buffer_record_mark(rv_buf *out, char kind, size_t count, int64_t at_ms)
{
    rv_buf_addc(out, kind);
    add_number(out, (int64_t)count);
    add_number(out, at_ms);
}

bool rv_buffer_record_read_mark(const char *data, size_t length, size_t *ret_count, int64_t *ret_at_ms)
{
    if (length != MARK) return false;
    int64_t count = read_number(data + 1);
    *ret_at_ms = read_number(data + 1 + NUMBER);
    *ret_count = (size_t)count;
    return count > 0;
}
