/*
 * buffer.h - tasks that a client keeps while Redis is away (reeve/buffer.h): a queue in memory, and where there is a
 * file a copy of it there (buffer_file.h). buffer_deliver.c sends them.
 *
 * Records of the file: 'T' a task (see buffer_record.c); 'S' and a number: so many tasks from the first on are about to
 * be sent, at this time; 'D' and a number: so many have been answered, and are gone. So a client that finds 'S' without
 * 'D' knows which tasks may be in Redis. On a full disk, the flag of a task stands for 'S'. A task with neither is not
 * sent.
 */
#ifndef RV_CLIENT_BUFFER_H
#define RV_CLIENT_BUFFER_H

#include "client/buffer_file.h"
#include "client/client.h"
#include "reeve/buffer.h"

/* A task: the arguments of enqueue.lua. The texts lead into its record. */
typedef struct rv_buffered {
    struct rv_buffered *next;
    uint64_t refused_in; /* the delivery in which Redis refused the tasks of its queue */
    int64_t since_ms;    /* by this machine's clock: when it came, */
    int64_t sent_ms;     /* and when it may have been sent first; 0: it was not */
    bool own_id;         /* the library made its id, or one that exists is ignored */
    const char *queue;
    const char *id;
    reeve_bytes options;
    reeve_bytes rest;
    size_t length; /* of the record */
    char record[];
} rv_buffered;

typedef struct rv_buffer {
    rv_buffered *first, **end;
    size_t count;
    size_t bytes;
    size_t max_bytes;
    int64_t wait_ms;
    int64_t away_until_ms; /* rv_now_ms: until then Redis is not tried */
    rv_buffer_file *file;  /* or NULL */
    size_t behind;         /* the first tasks of the file that are gone, for it could not be written */
    size_t gone;           /* all tasks of the file that are gone */
    unsigned off;          /* calls under way that need Redis */
    uint64_t delivery;     /* number of the last delivery, from 1 */
    /* All tasks are of queues whose tasks Redis refuses, for instance because the user has no rights to them. Tasks of
     * other queues need not wait for them. */
    bool only_refused;
    rv_error refusal;         /* the last one */
    int64_t refused_until_ms; /* rv_now_ms: until then no other try, while only_refused */
    uint64_t delivered, refused, unknown;
    reeve_buffer_refused_fn on_refused;
    void *user;
} rv_buffer;

/* Opens the buffer of a client, if its options ask for one. */
reeve_status rv_buffer_open(reeve_client *client, const reeve_client_options *options);
/* is_owner: the process is the one that opened it. */
void rv_buffer_close(rv_buffer *buffer, bool is_owner);

/* reeve_enqueue_many of specs that have been read, with a buffer. */
reeve_status rv_buffer_enqueue(reeve_client *client, const reeve_task_spec *specs, size_t count,
                               reeve_enqueued *results);

/* Whether the client's calls use a buffer now. */
bool rv_buffer_is_on(const reeve_client *client);

/* Around calls that need Redis themselves. */
void rv_buffer_switch_off(reeve_client *client);
void rv_buffer_switch_on(reeve_client *client);

/* An outage, which passes: the tasks of the last call can be kept. */
bool rv_buffer_is_outage(const reeve_client *client, reeve_status status);

/* Delivers until the deadline. REEVE_OK: nothing waits. */
reeve_status rv_buffer_deliver(reeve_client *client, int64_t deadline);

/* Takes the first task out, in memory. */
void rv_buffer_pop(rv_buffer *buffer);

/* Adds the mark of tasks that are gone and still in the file: it comes before what is appended about others. */
void rv_buffer_add_behind(const rv_buffer *buffer, rv_buf *framed);

/* The same for a client that is closed: writes it. */
void rv_buffer_forget_delivered(rv_buffer *buffer);

/* Writes that `count` tasks from the first on are about to be sent ('S', now), or have been answered ('D'), and takes
 * the latter out. After the former has failed, the tasks must not be sent. */
reeve_status rv_buffer_mark_sent(rv_buffer *buffer, size_t count, rv_error *error);
void rv_buffer_note_sent(rv_buffer *buffer, size_t count, int64_t at_ms); /* the first ones, in memory */
reeve_status rv_buffer_drop(rv_buffer *buffer, size_t count, rv_error *error);

/* Redis has refused the call with the first task. Puts the tasks of its queue behind those of all others. The file then
 * has no mark of this call: nothing of it was executed. After a failure the order is as before. */
reeve_status rv_buffer_put_aside(rv_buffer *buffer, rv_error *error);

/* ---- records (buffer_record.c) ----------------------------------------------------------------------------------- */

/* Appends the record of a checked task. sent_ms: as above. */
void rv_buffer_record_write(rv_buf *out, const reeve_task_spec *spec, const char *id, int64_t sent_ms);

/* Reads it; NULL: it is none, or (*ret_no_memory) there is no memory. */
rv_buffered *rv_buffer_record_read(const char *data, size_t length, bool *ret_no_memory);

/* Notes when a task may have been sent first. */
void rv_buffer_record_set_sent(rv_buffered *task, int64_t sent_ms);

/* The record of a mark, and its reading. */
void rv_buffer_record_mark(rv_buf *out, char kind, size_t count, int64_t at_ms);
bool rv_buffer_record_read_mark(const char *data, size_t length, size_t *ret_count, int64_t *ret_at_ms);

#endif
