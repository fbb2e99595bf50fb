/*
 * reply.h - a reply of Redis, read by hiredis' reader into an arena: no allocation for each value, all freed at once.
 */
#ifndef RV_REPLY_H
#define RV_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum rv_reply_type { RV_NIL, RV_INT, RV_TEXT, RV_STATUS, RV_ERROR, RV_ARRAY } rv_reply_type;

typedef struct rv_reply {
    rv_reply_type type;
    long long number; /* RV_INT */
    const char *text; /* RV_TEXT, RV_STATUS, RV_ERROR: a zero byte follows; RV_NIL, others: "" */
    size_t length;
    struct rv_reply **items; /* RV_ARRAY */
    size_t count;
} rv_reply;

/* Bounds-checked looks into a reply: NULL, -1, "" when it has no such thing. */
const rv_reply *rv_reply_at(const rv_reply *reply, size_t index);
bool rv_reply_is(const rv_reply *reply, rv_reply_type type);
/* What numbers in scripts can be: those that a double holds exactly. Two of them can be added and subtracted. */
#define RV_REPLY_NUMBER_MAX (INT64_C(1) << 53)
/* An integer, or a text that is one, of at most that size; fallback otherwise. */
int64_t rv_reply_int(const rv_reply *reply, int64_t fallback);
/* The same from min to max. */
int64_t rv_reply_within(const rv_reply *reply, int64_t min, int64_t max, int64_t fallback);
/* A number of things: from 0 to what an int holds; 0 otherwise. */
unsigned rv_reply_count(const rv_reply *reply);
/* A sum that Redis made by itself: any int64_t from 0 on; 0 otherwise. */
uint64_t rv_reply_sum(const rv_reply *reply);
bool rv_reply_is_text(const rv_reply *reply, const char *text);

/* The first word of an error reply is code. */
bool rv_reply_has_error_code(const rv_reply *reply, const char *code);

#endif
