#include "redis/reply_reader.h"

#include <hiredis/hiredis.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#define KEEP_MIN (8u * 1024)
#define KEEP_MAX (1024u * 1024)
#define ITEMS_AT_FIRST 1024u /* however many an array declares */
#define NESTING_MAX 8

/*
 * Of hiredis' reader this file uses, besides its functions, the fields that 0.14 and 1.x have in common: buf, pos, len,
 * ridx, err, errstr, privdata, maxbuf. What differs between them: an array's length, and values of RESP3 in 1.x, which
 * are refused (Redis does not send them unless it was asked to).
 */
#if HIREDIS_MAJOR == 0
typedef int array_length;
#else
typedef size_t array_length;
#endif

/* An array with what is needed while it fills. */
typedef struct array_value {
    rv_reply reply; /* first, so that a pointer to it is one to the whole */
    size_t capacity;
    size_t declared;
} array_value;

static void *take(rv_reply_reader *reader, size_t size)
{
    if (size > RV_REPLY_MAX - reader->arena.used) {
        reader->fault = "a reply is larger than the limit";
        return NULL;
    }
    return rv_arena_alloc(&reader->arena, size);
}

/* Doubles the room for items; the old run stays behind in the arena. */
static bool grow(rv_reply_reader *reader, array_value *array)
{
    size_t capacity = array->capacity * 2;
    if (capacity > array->declared) capacity = array->declared;
    rv_reply **items = take(reader, capacity * sizeof(rv_reply *));
    if (!items) return false;
    memcpy(items, array->reply.items, array->reply.count * sizeof(rv_reply *));
    array->reply.items = items;
    array->capacity = capacity;
    return true;
}

/* Hangs a value into the array that it belongs to, if any. */
static void *attach(const redisReadTask *task, rv_reply *value)
{
    if (!value || !task->parent) return value;
    array_value *array = task->parent->obj;
    if (array->reply.count == array->declared) return NULL;
    if (array->reply.count == array->capacity && !grow(task->privdata, array)) return NULL;
    array->reply.items[array->reply.count++] = value;
    return value;
}

static rv_reply *new_value(rv_reply_reader *reader, rv_reply_type type, size_t size)
{
    rv_reply *value = take(reader, size);
    if (!value) return NULL;
    *value = (rv_reply){.type = type, .text = ""};
    return value;
}

static rv_reply_type text_type(int wire_type)
{
    if (wire_type == REDIS_REPLY_STATUS) return RV_STATUS;
    return wire_type == REDIS_REPLY_ERROR ? RV_ERROR : RV_TEXT;
}

/* What the parser took for an empty value. */
static rv_reply *end_placed(rv_reply_reader *reader)
{
    rv_reply *value = reader->placed.reply;
    value->text = reader->placed.data;
    value->length = reader->placed.length;
    reader->placed = (rv_placed_value){0};
    return value;
}

static void *refuse(const redisReadTask *task, const char *fault)
{
    rv_reply_reader *reader = task->privdata;
    reader->fault = fault;
    return NULL;
}

static bool is_text_type(int wire_type)
{
    return wire_type == REDIS_REPLY_STRING || wire_type == REDIS_REPLY_STATUS || wire_type == REDIS_REPLY_ERROR;
}

static void *create_text(const redisReadTask *task, char *text, size_t length)
{
    rv_reply_reader *reader = task->privdata;
    if (!is_text_type(task->type)) return refuse(task, "a value has an unknown type");
    if (reader->placed.reply) return attach(task, end_placed(reader));
    /* The parser steps over these two bytes without a look at them. */
    if (text[length] != '\r' || text[length + 1] != '\n') return refuse(task, "a value is not as long as declared");
    if (length > RV_BULK_MAX) return NULL;
    rv_reply *value = new_value(reader, text_type(task->type), sizeof(rv_reply) + length + 1);
    if (!value) return NULL;
    char *copy = (char *)(value + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    value->text = copy;
    value->length = length;
    return attach(task, value);
}

static unsigned depth_of(const redisReadTask *task)
{
    unsigned depth = 0;
    for (; task->parent != NULL; task = task->parent) depth++;
    return depth;
}

static void *create_array(const redisReadTask *task, array_length count)
{
    rv_reply_reader *reader = task->privdata;
    if (task->type != REDIS_REPLY_ARRAY) return refuse(task, "a value has an unknown type");
    if (depth_of(task) >= NESTING_MAX) return refuse(task, "arrays are nested too deep");
    if ((size_t)count > INT_MAX) return refuse(task, "an array is longer than the limit");
    size_t declared = (size_t)count;
    size_t capacity = declared < ITEMS_AT_FIRST ? declared : ITEMS_AT_FIRST;
    array_value *array = (array_value *)new_value(reader, RV_ARRAY, sizeof(array_value));
    if (!array) return NULL;
    array->declared = declared;
    array->capacity = capacity;
    if (capacity > 0) {
        array->reply.items = take(reader, capacity * sizeof(rv_reply *));
        if (!array->reply.items) return NULL;
    }
    return attach(task, &array->reply);
}

static void *create_integer(const redisReadTask *task, long long number)
{
    rv_reply *value = new_value(task->privdata, RV_INT, sizeof(rv_reply));
    if (value) value->number = number;
    return attach(task, value);
}

static void *create_nil(const redisReadTask *task)
{
    return attach(task, new_value(task->privdata, RV_NIL, sizeof(rv_reply)));
}

static void free_nothing(void *value)
{
    (void)value; /* it lives in the arena */
}

#if HIREDIS_MAJOR > 0
static void *refuse_double(const redisReadTask *task, double number, char *text, size_t length)
{
    (void)number;
    (void)text;
    (void)length;
    return refuse(task, "a value has an unknown type");
}

static void *refuse_bool(const redisReadTask *task, int value)
{
    (void)value;
    return refuse(task, "a value has an unknown type");
}
#endif

static redisReplyObjectFunctions builders = {
    .createString = create_text,
    .createArray = create_array,
    .createInteger = create_integer,
    .createNil = create_nil,
    .freeObject = free_nothing,
#if HIREDIS_MAJOR > 0
    .createDouble = refuse_double,
    .createBool = refuse_bool,
#endif
};

void rv_reply_reader_init(rv_reply_reader *reader)
{
    *reader = (rv_reply_reader){0};
    rv_arena_init(&reader->arena);
}

void rv_reply_reader_fini(rv_reply_reader *reader)
{
    rv_reply_reader_forget(reader);
    rv_arena_fini(&reader->arena);
}

void rv_reply_reader_forget(rv_reply_reader *reader)
{
    /* A partial reply began with a rewind: no other reply in this arena is in use. */
    if (reader->parser && reader->parser->ridx >= 0) rv_arena_trim(&reader->arena, KEEP_MIN);
    reader->placed = (rv_placed_value){0};
    redisReaderFree(reader->parser);
    reader->parser = NULL;
    reader->fault = NULL;
    reader->in_line = false;
    reader->buffered_held = 0;
}

static bool have_parser(rv_reply_reader *reader)
{
    if (reader->parser) return true;
    reader->parser = redisReaderCreateWithFunctions(&builders);
    if (!reader->parser) return false;
    reader->parser->privdata = reader;
    reader->parser->maxbuf = 0; /* settle and idle decide what is kept */
    return true;
}

static reeve_status feed_parser(rv_reply_reader *reader, const char *data, size_t length, rv_error *error)
{
    if (!have_parser(reader) || redisReaderFeed(reader->parser, data, length) != REDIS_OK)
        return rv_fail(error, REEVE_ENOMEM, "out of memory while reading a reply");
    if (reader->in_line && memchr(data, '\n', length)) reader->in_line = false;
    if (reader->parser->len > reader->buffered_peak) reader->buffered_peak = reader->parser->len;
    if (reader->parser->len > reader->buffered_held) reader->buffered_held = reader->parser->len;
    return REEVE_OK;
}

/* ---- long values ----------------------------------------------------------------------------------------------- */

/* How many bytes it waits for, its end's two among them. */
static size_t placed_rest(const rv_placed_value *placed)
{
    return placed->reply ? placed->length + 2 - placed->got : 0;
}

/* Reserves the memory of the value that the parser has begun. head: the bytes with its length, before the part that
 * has arrived. */
static reeve_status place_value(rv_reply_reader *reader, size_t length, size_t head, rv_error *error)
{
    redisReader *parser = reader->parser;
    size_t come = parser->len - parser->pos - head;
    rv_reply *value = new_value(reader, RV_TEXT, sizeof(rv_reply) + length + 2);
    if (!value && reader->fault) return REEVE_OK;
    if (!value) return rv_fail(error, REEVE_ENOMEM, "out of memory for a value of %zu bytes", length);
    reader->placed = (rv_placed_value){.reply = value, .data = (char *)(value + 1), .length = length, .got = come};
    memcpy(reader->placed.data, parser->buf + parser->pos + head, come);
    parser->pos = parser->len;
    return REEVE_OK;
}

/* For a value that is complete the parser gets an empty one, which the value replaces when it is created. */
reeve_status rv_reply_reader_came(rv_reply_reader *reader, size_t length, rv_error *error)
{
    rv_placed_value *placed = &reader->placed;
    placed->got += length;
    if (placed_rest(placed) > 0) return REEVE_OK;
    if (memcmp(placed->data + placed->length, "\r\n", 2) != 0) reader->fault = "a value is not as long as declared";
    placed->data[placed->length] = '\0';
    return feed_parser(reader, "0\r\n\r\n", 5, error);
}

#ifdef REEVE_NO_PLACED_VALUES
static bool placing_works(void)
{
    return false;
}
#else
/* Half a value is taken away from the parser, which is then given an empty one: does it see that? */
static bool try_placing(rv_reply_reader *probe)
{
    static const char half[] = "$3\r\na", rest[] = "3\r\na";
    void *reply = NULL;
    if (feed_parser(probe, half, strlen(half), NULL) != REEVE_OK) return false;
    redisReader *parser = probe->parser;
    if (redisReaderGetReply(parser, &reply) != REDIS_OK || reply != NULL || parser->ridx != 0) return false;
    if (parser->len < parser->pos || parser->len - parser->pos != strlen(rest)) return false;
    if (memcmp(parser->buf + parser->pos, rest, strlen(rest)) != 0) return false;
    parser->pos = parser->len;
    if (feed_parser(probe, "0\r\n\r\n", 5, NULL) != REEVE_OK) return false;
    if (redisReaderGetReply(parser, &reply) != REDIS_OK || reply == NULL) return false;
    return rv_reply_is(reply, RV_TEXT) && ((rv_reply *)reply)->length == 0 && rv_reply_reader_is_at_rest(probe);
}

/* Whether the hiredis that was loaded does with its fields what place_value relies on; else values come all the same,
 * copied twice. Tried once in a process. */
static bool placing_works(void)
{
    static atomic_int known; /* 1: yes, 2: no */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer == 0) {
        rv_reply_reader probe;
        rv_reply_reader_init(&probe);
        answer = try_placing(&probe) ? 1 : 2;
        rv_reply_reader_fini(&probe);
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == 1;
}
#endif

void *rv_reply_reader_place(rv_reply_reader *reader, size_t *ret_size)
{
    *ret_size = placed_rest(&reader->placed);
    return *ret_size >= RV_PLACED_MIN ? reader->placed.data + reader->placed.got : NULL;
}

/* ---- bytes in -------------------------------------------------------------------------------------------------- */

reeve_status rv_reply_reader_feed(rv_reply_reader *reader, const void *data, size_t length, rv_error *error)
{
    size_t rest = placed_rest(&reader->placed);
    if (rest == 0) return feed_parser(reader, data, length, error);
    if (rest > length) rest = length;
    memcpy(reader->placed.data + reader->placed.got, data, rest);
    reeve_status status = rv_reply_reader_came(reader, rest, error);
    if (status != REEVE_OK || rest == length) return status;
    return feed_parser(reader, (const char *)data + rest, length - rest, error);
}

/* ---- replies out ----------------------------------------------------------------------------------------------- */

#define DIGITS_MAX 19 /* numbers with so many digits fit */

/*
 * Reads a line of digits, and says where they end; false: there is none, or it is not complete. The parser leaves a
 * complete line behind only when it is the length of a value whose end has not come.
 */
static bool declared_length(const char *text, size_t length, unsigned long long *ret, size_t *ret_digits)
{
    unsigned long long number = 0;
    size_t i = 0;
    for (; i < length && i < DIGITS_MAX && text[i] >= '0' && text[i] <= '9'; i++)
        number = number * 10 + (unsigned long long)(text[i] - '0');
    if (i == 0 || i + 2 > length || text[i] != '\r' || text[i + 1] != '\n') return false;
    *ret = number;
    *ret_digits = i;
    return true;
}

/* Looks at what the parser cannot use yet: will the rest ever come, do we want it, and where to? */
static reeve_status judge_pending(rv_reply_reader *reader, rv_error *error)
{
    const redisReader *parser = reader->parser;
    size_t pending = parser->len - parser->pos, digits = 0;
    if (parser->ridx < 0 || pending == 0) return REEVE_OK;
    unsigned long long declared = 0;
    reader->in_line = !declared_length(parser->buf + parser->pos, pending, &declared, &digits);
    if (declared > RV_BULK_MAX) reader->fault = "a value is longer than the limit";
    if (reader->in_line && pending > RV_LINE_MAX) reader->fault = "a line is longer than the limit";
    if (reader->in_line || declared < RV_PLACED_MIN || declared > RV_PLACED_MAX) return REEVE_OK;
    if (pending - digits >= declared + 4 || !placing_works()) return REEVE_OK;
    return place_value(reader, (size_t)declared, digits + 2, error);
}

static reeve_status read_failed(const rv_reply_reader *reader, rv_error *error)
{
    const redisReader *parser = reader->parser;
    if (reader->fault) return rv_fail(error, REEVE_EPROTO, "this is not a reply of Redis: %s", reader->fault);
    if (parser->err == REDIS_ERR_OOM) return rv_fail(error, REEVE_ENOMEM, "out of memory while reading a reply");
    return rv_fail(error, REEVE_EPROTO, "this is not a reply of Redis: %s", parser->errstr);
}

reeve_status rv_reply_reader_next(rv_reply_reader *reader, const rv_reply **ret, rv_error *error)
{
    redisReader *parser = reader->parser;
    *ret = NULL;
    if (!parser || placed_rest(&reader->placed) > 0 || rv_reply_reader_is_at_rest(reader)) return REEVE_OK;
    if (parser->ridx < 0) rv_arena_rewind(&reader->arena);
    void *reply = NULL;
    if (!reader->in_line && redisReaderGetReply(parser, &reply) != REDIS_OK) return read_failed(reader, error);
    reeve_status status = reply ? REEVE_OK : judge_pending(reader, error);
    if (status != REEVE_OK) return status;
    if (reader->fault) return read_failed(reader, error);
    if (reader->arena.used > reader->arena_peak) reader->arena_peak = reader->arena.used;
    *ret = reply;
    return REEVE_OK;
}

bool rv_reply_reader_is_at_rest(const rv_reply_reader *reader)
{
    const redisReader *parser = reader->parser;
    return !parser || (parser->ridx < 0 && parser->pos == parser->len);
}

size_t rv_reply_reader_worth_keeping(size_t now, size_t *before)
{
    size_t both = now < *before ? now : *before;
    *before = now;
    if (both > KEEP_MAX) both = KEEP_MAX;
    return both < KEEP_MIN ? KEEP_MIN : both;
}

void rv_reply_reader_settle(rv_reply_reader *reader)
{
    if (!rv_reply_reader_is_at_rest(reader)) return;
    size_t buffer_keep = rv_reply_reader_worth_keeping(reader->buffered_peak, &reader->buffered_before);
    size_t arena_keep = rv_reply_reader_worth_keeping(reader->arena_peak, &reader->arena_before);
    if (reader->buffered_held > buffer_keep * 2) rv_reply_reader_forget(reader);
    /* Blocks double, and big values end the block before them early: what holds n bytes may take three times that. */
    if (reader->arena.held > arena_keep * 3) rv_arena_trim(&reader->arena, arena_keep * 3);
    reader->buffered_peak = 0;
    reader->arena_peak = 0;
}

void rv_reply_reader_idle(rv_reply_reader *reader)
{
    if (!rv_reply_reader_is_at_rest(reader)) return;
    if (reader->buffered_held > KEEP_MIN) rv_reply_reader_forget(reader);
    if (reader->arena.held > KEEP_MIN) rv_arena_trim(&reader->arena, KEEP_MIN);
    reader->buffered_peak = reader->buffered_before = 0;
    reader->arena_peak = reader->arena_before = 0;
}
