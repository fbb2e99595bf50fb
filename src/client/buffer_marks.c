/*
 * buffer_marks.c - what happens to the tasks of a client's buffer, and what its file says of it.
 */
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/buffer.h"

/* The file may have so much more than what waits. */
#define SPARE_BYTES ((int64_t)1024 * 1024)
#define RECORD_SPARE 256

void rv_buffer_pop(rv_buffer *buffer)
{
    rv_buffered *task = buffer->first;
    buffer->first = task->next;
    if (buffer->first == NULL) buffer->end = &buffer->first;
    buffer->count--;
    buffer->gone++;
    buffer->bytes -= task->length;
    rv_free(task);
}

void rv_buffer_note_sent(rv_buffer *buffer, size_t count, int64_t at_ms)
{
    for (rv_buffered *task = buffer->first; task != NULL && count > 0; task = task->next, count--) {
        if (task->sent_ms == 0) rv_buffer_record_set_sent(task, at_ms);
    }
}

static void add_mark(rv_buf *framed, char kind, size_t count, int64_t at_ms)
{
    rv_buf record;
    rv_buf_init(&record, RECORD_SPARE);
    rv_buffer_record_mark(&record, kind, count, at_ms);
    if (!record.failed) rv_buffer_file_add(framed, record.data, record.length);
    framed->failed = framed->failed || record.failed;
    rv_buf_fini(&record);
}

void rv_buffer_add_behind(const rv_buffer *buffer, rv_buf *framed)
{
    if (buffer->behind > 0) add_mark(framed, 'D', buffer->behind, 0);
}

/* A mark counts from the first task of the file, so those that are gone are taken out before it. */
static reeve_status write_mark(rv_buffer *buffer, char kind, size_t count, int64_t at_ms, rv_error *error)
{
    rv_buf framed;
    if (buffer->file == NULL) return REEVE_OK;
    rv_buf_init(&framed, RECORD_SPARE);
    rv_buffer_add_behind(buffer, &framed);
    add_mark(&framed, kind, count, at_ms);
    reeve_status status = rv_buffer_file_append(buffer->file, &framed, error);
    if (status == REEVE_OK) buffer->behind = 0;
    rv_buf_fini(&framed);
    return status;
}

reeve_status rv_buffer_mark_sent(rv_buffer *buffer, size_t count, rv_error *error)
{
    reeve_status status = write_mark(buffer, 'S', count, rv_wall_ms(), error);
    if (status != REEVE_OK) status = rv_buffer_file_flag(buffer->file, 'T', buffer->gone, count, error);
    if (status == REEVE_OK) rv_error_clear(error);
    return status;
}

/* Most of the file has been delivered: it is written anew. */
static reeve_status shrink_file(rv_buffer *buffer, rv_error *error)
{
    rv_buf records;
    rv_buf_init(&records, SIZE_MAX);
    for (const rv_buffered *task = buffer->first; task != NULL; task = task->next)
        rv_buffer_file_add(&records, task->record, task->length);
    reeve_status status = rv_buffer_file_replace(buffer->file, &records, error);
    /* (marks in a file without records would be about tasks that are not there) */
    if (status == REEVE_OK || rv_buffer_file_is_empty(buffer->file)) buffer->behind = buffer->gone = 0;
    rv_buf_fini(&records);
    return status;
}

reeve_status rv_buffer_drop(rv_buffer *buffer, size_t count, rv_error *error)
{
    reeve_status status = write_mark(buffer, 'D', count, 0, error);
    if (status != REEVE_OK) buffer->behind += count;
    for (size_t i = 0; i < count; i++) rv_buffer_pop(buffer);
    if (buffer->file == NULL) return REEVE_OK;
    /* An empty file needs no space. */
    if (buffer->count == 0) return shrink_file(buffer, error);
    bool large = rv_buffer_file_size(buffer->file) > 2 * (int64_t)buffer->bytes + SPARE_BYTES;
    return status == REEVE_OK && large ? shrink_file(buffer, error) : status;
}

void rv_buffer_forget_delivered(rv_buffer *buffer)
{
    rv_error error = {0};
    rv_buf framed;
    if (buffer->file == NULL || buffer->behind == 0) return;
    rv_buf_init(&framed, RECORD_SPARE);
    rv_buffer_add_behind(buffer, &framed);
    reeve_status status =
        buffer->count == 0 ? shrink_file(buffer, &error) : rv_buffer_file_append(buffer->file, &framed, &error);
    rv_buf_fini(&framed);
    if (status != REEVE_OK)
        rv_log(REEVE_LOG_WARN, "client.buffer_behind", "the file of the buffer still has tasks that were delivered",
               "error", error.text, NULL);
}

/* ---- tasks that Redis refuses -------------------------------------------------------------------------------------- */

static void add_of_queue(const rv_buffer *buffer, const char *queue, bool is_this, rv_buf *records)
{
    for (const rv_buffered *task = buffer->first; task != NULL; task = task->next) {
        if ((strcmp(task->queue, queue) == 0) == is_this) rv_buffer_file_add(records, task->record, task->length);
    }
}

/* Two lists, of which the second one is put behind the first. */
static void put_behind(rv_buffer *buffer, const char *queue)
{
    rv_buffered *aside = NULL, **aside_end = &aside, **end = &buffer->first;
    for (rv_buffered *task = buffer->first, *next; task != NULL; task = next) {
        next = task->next;
        rv_buffered ***to = strcmp(task->queue, queue) == 0 ? &aside_end : &end;
        if (to == &aside_end) task->refused_in = buffer->delivery;
        **to = task;
        *to = &task->next;
    }
    *end = aside;
    *aside_end = NULL;
    buffer->end = aside_end;
}

reeve_status rv_buffer_put_aside(rv_buffer *buffer, rv_error *error)
{
    const char *queue = buffer->first->queue;
    reeve_status status = REEVE_OK;
    if (buffer->file != NULL) {
        rv_buf records;
        rv_buf_init(&records, SIZE_MAX);
        add_of_queue(buffer, queue, false, &records);
        add_of_queue(buffer, queue, true, &records);
        status = rv_buffer_file_replace(buffer->file, &records, error);
        rv_buf_fini(&records);
    }
    if (status != REEVE_OK) return status;
    buffer->behind = buffer->gone = 0;
    put_behind(buffer, queue);
    return REEVE_OK;
}
