/*
 * queue_settings.h - the settings of a queue as a table (definition/settings.lua), and what the table makes general:
 * converting settings between the public struct, plain values, and the fields of the hash `settings` in Redis.
 */
#ifndef RV_PROTOCOL_QUEUE_SETTINGS_H
#define RV_PROTOCOL_QUEUE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "protocol/settings_rows.h"

/* The types of settings; MEMBERS is that of a field whose settings are the members of a JSON object. */
typedef enum rv_queue_setting_type {
    RV_QUEUE_IS_COUNT,
    RV_QUEUE_IS_MS,
    RV_QUEUE_IS_BYTES,
    RV_QUEUE_IS_DAYS,
    RV_QUEUE_IS_FLAG,
    RV_QUEUE_IS_TYPE,
    RV_QUEUE_IS_BACKOFF,
    RV_QUEUE_IS_RATE,
    RV_QUEUE_IS_MEMBERS
} rv_queue_setting_type;

/* The C type of a setting in the public struct. */
typedef enum rv_queue_store {
    RV_STORE_INT64_T,
    RV_STORE_INT,
    RV_STORE_UNSIGNED,
    RV_STORE_BOOL,
    RV_STORE_CHAR, /* a text */
    RV_STORE_REEVE_BACKOFF
} rv_queue_store;

#define RV_NOT_PUBLIC SIZE_MAX
#define RV_QUEUE_WORDS 2

/* A value that the command line names. */
typedef struct rv_queue_word {
    const char *word; /* NULL ends the list */
    int64_t number;
} rv_queue_word;

typedef struct rv_queue_setting {
    const char *name;   /* its path in the configuration, below queues[] */
    size_t field;       /* index in rv_queue_fields */
    const char *member; /* of the JSON object in the field; NULL: the field has the value itself */
    rv_queue_setting_type type;
    int64_t min, max;
    int64_t otherwise; /* the default */
    bool can_unset;    /* 0, or the empty text, removes it */
    rv_queue_word words[RV_QUEUE_WORDS + 1];
    size_t at;   /* of the pointer in reeve_queue_settings, or RV_NOT_PUBLIC */
    size_t held; /* the offset of the pointed-to value in rv_held_settings */
    size_t part; /* the offset within the pointed-to struct */
    rv_queue_store store;
    const char *flag;    /* the option of `reeve settings`, or NULL */
    const char *value;   /* the name of the option's value; NULL: a further part of the value */
    const char *example; /* a value of several parts, or NULL */
    const char *json;    /* its path in the output of `reeve --json settings`, or NULL */
    int64_t json_null;   /* the value that is null there */
    const char *script;  /* the script that changes it */
} rv_queue_setting;

typedef struct rv_queue_field {
    const char *name;
    const char *settings; /* the names of its settings, for messages */
    rv_queue_setting_type type;
    size_t first;       /* the first of its settings */
    const char *script; /* the script that changes it */
} rv_queue_field;

extern const rv_queue_setting rv_queue_settings[RV_QUEUE_SETTINGS];
extern const rv_queue_field rv_queue_fields[RV_QUEUE_FIELDS];

/* Values of settings. A type is in text, a backoff in `backoff` while its number is 1, all others are numbers. */
typedef struct rv_queue_values {
    bool given[RV_QUEUE_SETTINGS]; /* the others stay as they are */
    int64_t number[RV_QUEUE_SETTINGS];
    const char *text[RV_QUEUE_SETTINGS]; /* NULL: "" */
    reeve_backoff backoff;
} rv_queue_values;

/* Whether any of a field's settings is given. */
bool rv_queue_settings_is_given(const rv_queue_values *values, size_t field);

/* The values of the public struct; those behind a NULL are not given. They point into it. */
void rv_queue_settings_from(rv_queue_values *ret, const reeve_queue_settings *settings);

/* Makes the public struct of the given values, or of all. A negative number means 0 where 0 removes the setting. */
void rv_queue_settings_hold(rv_held_settings *ret, const rv_queue_values *values, bool all);

/* REEVE_EINVAL: a given value is out of range. */
reeve_status rv_queue_settings_check(const rv_queue_values *values, rv_error *error);

/* Appends the text of a field as the hash has it; nothing: the field is removed. */
void rv_queue_settings_write(rv_buf *out, const rv_queue_values *values, size_t field);

/* Sets the values of a field from its text, NULL: it is absent. Text that makes no sense counts as absent. They point
 * into it. REEVE_ENOMEM: they are not known. */
reeve_status rv_queue_settings_read(rv_queue_values *values, size_t field, const char *text, size_t length);

#endif
