/*
 * reply_reader.h - from bytes to replies: hiredis' reader, building rv_reply values in an arena.
 *
 * Nothing here believes a length that came over the wire: memory grows with the bytes that have arrived, a declared
 * length past the limit and arrays nested more than eight deep are REEVE_EPROTO. After a failure only forget and fini
 * are of use. One thread at a time; does no I/O.
 *
 * What arrives is written twice more on its way: into the parser's buffer, and from there to where it stays. A long
 * value is spared both. When its length has come and its end has not, it gets its place in the arena at once (the one
 * length that is believed, up to RV_PLACED_MAX: memory that nothing has touched yet), and what comes goes right there:
 * by feed, or read(2) by the caller to where rv_reply_reader_place says.
 */
#ifndef RV_REPLY_READER_H
#define RV_REPLY_READER_H

#include "base/error.h"
#include "redis/arena.h"
#include "redis/reply.h"

#define RV_REPLY_MAX (1024u * 1024 * 1024) /* of one reply, in memory */
#define RV_BULK_MAX (512u * 1024 * 1024)   /* of one value; also Redis's own limit */
#define RV_LINE_MAX (1024u * 1024)         /* of a status or an error */
#define RV_PLACED_MIN (16u * 1024)         /* values from this size on are read into their final memory */
#define RV_PLACED_MAX (65u * 1024 * 1024)  /* has come: the largest payload with its header, and more */

struct redisReader;

/* A value that has its place and has not come to its end. */
typedef struct rv_placed_value {
    rv_reply *reply; /* NULL: there is none */
    char *data;      /* room for length and the two bytes that end it on the wire */
    size_t length;
    size_t got; /* of both */
} rv_placed_value;

typedef struct rv_reply_reader {
    struct redisReader *parser; /* NULL while it holds nothing */
    rv_arena arena;
    rv_placed_value placed;
    const char *fault;                    /* what a value was refused for, or NULL */
    bool in_line;                         /* the end of a line has not come yet: no use looking for it again */
    size_t buffered_held;                 /* the most the parser had to hold since it was made */
    size_t buffered_peak;                 /* the same since the last settle */
    size_t arena_peak;                    /* the same for the arena */
    size_t buffered_before, arena_before; /* the peaks of the settle before */
} rv_reply_reader;

void rv_reply_reader_init(rv_reply_reader *reader);
void rv_reply_reader_fini(rv_reply_reader *reader);
/* Drops every byte and half a reply, for a new connection. */
void rv_reply_reader_forget(rv_reply_reader *reader);

/* Takes bytes as they arrived. REEVE_OK, REEVE_ENOMEM. */
reeve_status rv_reply_reader_feed(rv_reply_reader *reader, const void *data, size_t length, rv_error *error);
/*
 * Where the next bytes belong, when so many are awaited there that it is worth reading them without a way round: at
 * most *ret_size of them, then told by came. NULL: they are to be fed. Ask after next, which wanted more.
 */
void *rv_reply_reader_place(rv_reply_reader *reader, size_t *ret_size);
/* So many bytes, at least one, were written there. REEVE_OK, REEVE_ENOMEM. */
reeve_status rv_reply_reader_came(rv_reply_reader *reader, size_t length, rv_error *error);
/* The next reply, or NULL when more bytes are needed. It lives until the next call that asks for one, or settles.
 * REEVE_OK, REEVE_EPROTO, REEVE_ENOMEM. */
reeve_status rv_reply_reader_next(rv_reply_reader *reader, const rv_reply **ret, rv_error *error);
/* True when no reply is half read and no byte is left over. */
bool rv_reply_reader_is_at_rest(const rv_reply_reader *reader);

/*
 * Gives memory back. settle, after each exchange, keeps what the last two of them both needed: a steady load allocates
 * nothing, a single big reply leaves nothing behind. The last reply is gone after it. idle, before a long wait, keeps
 * next to nothing. Neither does anything while a reply is half read.
 */
void rv_reply_reader_settle(rv_reply_reader *reader);
void rv_reply_reader_idle(rv_reply_reader *reader);

/* What settle keeps of a buffer whose use peaked at now, and at *before the time before; moves now to *before. */
size_t rv_reply_reader_worth_keeping(size_t now, size_t *before);

#endif
