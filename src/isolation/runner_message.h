/*
 * runner_message.h - the messages between a thread of a worker and its runner, the process in which the handlers of a
 * pool with process isolation run (docs/architecture.md, "Runners").
 *
 *     worker                        runner
 *       | hello --------------------> |   loads the plugins
 *       | <------------- ready / refused  |
 *       | run ----------------------> |   calls the handler
 *       | <------------------- call   |   for a call of its handler, such as reeve_task_progress
 *       | answer -------------------> |
 *       | <------------------- done   |   the outcomes of all tasks of the run
 *
 * They go over a socketpair that keeps the boundaries of messages. A run has a number, which its calls, their answers
 * and its end carry. Each runner has a socketpair of its own, which is closed when it is killed: what a killed runner has
 * sent is read by nobody. A body that is too long for a packet lies in a sealed memfd, which goes with the packet. Both
 * sides are of one build (the hello says which), so numbers are sent as they lie in memory; the worker checks every
 * number that it receives all the same, since a handler may have overwritten anything in its process.
 */
#ifndef RV_RUNNER_MESSAGE_H
#define RV_RUNNER_MESSAGE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "reeve/status.h"

typedef enum rv_runner_kind {
    RV_RUNNER_HELLO = 1,
    RV_RUNNER_READY,   /* body: what of the sandbox is in force */
    RV_RUNNER_REFUSED, /* body: why */
    RV_RUNNER_RUN,
    RV_RUNNER_CALL,
    RV_RUNNER_ANSWER,
    RV_RUNNER_DONE,
    RV_RUNNER_KINDS
} rv_runner_kind;

#define RV_RUNNER_PACKET_MAX ((size_t)32 * 1024)        /* longest body within a packet */
#define RV_RUNNER_BODY_MAX ((size_t)1024 * 1024 * 1024) /* longest body */

typedef struct rv_runner_message {
    rv_runner_kind kind;
    uint32_t index; /* call, answer: the task of the run */
    uint64_t run;   /* the number of the run; 0: before the first one */
    const char *body;
    size_t length;
} rv_runner_message;

/* Sends a message. Blocks while the other side does not read the ones before, unless wait is false. REEVE_ELOST: the
 * other side is gone. REEVE_ETIMEOUT: it does not read, and wait is false. REEVE_ETOOBIG: the body is longer than
 * RV_RUNNER_BODY_MAX. REEVE_ESYSTEM: no memfd. */
reeve_status rv_runner_message_send(int fd, bool wait, const rv_runner_message *message);

/* Receives a message; its body lies in `into` until that is used again. Blocks until there is one, unless wait is false.
 * REEVE_ELOST: the other side is gone. REEVE_EPROTO: what came is no message. REEVE_ENOMEM. REEVE_ETIMEOUT: there is
 * none, and wait is false. */
reeve_status rv_runner_message_receive(int fd, rv_buf *into, bool wait, rv_runner_message *ret);

/* ---- bodies ---------------------------------------------------------------------------------------------------- */

void rv_runner_message_put_number(rv_buf *out, int64_t number);
void rv_runner_message_put_bytes(rv_buf *out, const void *data, size_t length);
void rv_runner_message_put_text(rv_buf *out, const char *text);

/* Reads what was put, in the same order. `failed` stays set once something was missing. */
typedef struct rv_runner_reader {
    const char *at;
    const char *end;
    bool failed;
} rv_runner_reader;

rv_runner_reader rv_runner_message_read(const rv_runner_message *message);
/* A number in this range, else min and `failed`. */
int64_t rv_runner_message_get_number(rv_runner_reader *in, int64_t min, int64_t max);
/* Bytes that a zero byte follows, which is not counted; else an empty text and `failed`. */
reeve_bytes rv_runner_message_get_bytes(rv_runner_reader *in, size_t max);
/* The same without zero bytes. */
const char *rv_runner_message_get_text(rv_runner_reader *in, size_t max);
/* Whether all was well, and all was read. */
bool rv_runner_message_is_read(const rv_runner_reader *in);

#endif
