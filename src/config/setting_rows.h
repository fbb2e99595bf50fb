/*
 * setting_rows.h - the rows of the settings table. Private to this room.
 */
#ifndef RV_CONFIG_SETTING_ROWS_H
#define RV_CONFIG_SETTING_ROWS_H

#include "config/config.h"

#define RV_NOWHERE SIZE_MAX

/* The kind of a value in the file, and its type in the struct. */
typedef enum rv_setting_kind {
    RV_SETTING_GROUP,   /* { ... }; a bool that it was given, or nothing. The rows below have its path and a '.' */
    RV_SETTING_GROUPS,  /* ( { ... }, ... ): an array of structs. The rows below have its path and "[]." */
    RV_SETTING_TEXT,    /* char * */
    RV_SETTING_OPTIONS, /* { name = value; group = { ... }; }: an array of rv_config_option */
    RV_SETTING_NAMES,   /* [ "a", "b" ]: an array of rv_config_name */
    RV_SETTING_NUMBERS, /* [ 1, 2 ], at least one: an array of rv_config_number, each in the row's range */
    RV_SETTING_WHOLE,   /* int64_t */
    RV_SETTING_SECONDS, /* int64_t, milliseconds */
    RV_SETTING_DELAYS,  /* [ 1.0, 5.0 ] in seconds, at least one: int64_t[REEVE_BACKOFF_LIST_MAX], milliseconds */
    RV_SETTING_SHARE,   /* double; none (0) becomes -1, since the library takes 0 as not given */
    RV_SETTING_CHOICE,  /* an enum, or nothing */
    RV_SETTING_TRUTH,   /* true or false: bool */
    RV_SETTING_SWITCH   /* true or false: int64_t, 1 or -1; 0 where it is not given */
} rv_setting_kind;

typedef struct rv_choice {
    const char *name; /* NULL ends the list */
    int value;
} rv_choice;

/* Whether a text is valid. If not, it may set the reason (never a password); else the message has the row's
 * `expected`. */
typedef bool (*rv_check_fn)(const char *text, rv_error *why);

typedef struct rv_setting {
    const char *path;
    rv_setting_kind kind;
    size_t at; /* the offset in the struct of its list element, else in rv_config; or RV_NOWHERE */
    size_t
        given_at; /* of a bool that becomes true when the file sets it; 0: there is none. A file that has its group sets
                         * it, too, if it has a default */
    size_t count_at;  /* lists: the size_t that counts the elements */
    size_t item_size; /* lists: of an element */
    double min, max;  /* numbers, in the unit of the file */
    bool forever;     /* numbers: -1 means no limit */
    const char
        *short_name; /* groups: an element may be a text, which is its setting of this name; a group may be its value
                             * alone; or NULL */
    bool required;
    bool unique; /* may not be repeated in its list */
    const rv_choice *choices;
    rv_check_fn check;     /* texts; NULL: anything but nothing */
    const char *expected;  /* texts: what is expected, in words */
    const char *standard;  /* the default as it would stand in the file, or NULL: zero */
    const char *otherwise; /* what zero means, in words */
    const char *help;
} rv_setting;

extern const rv_setting rv_settings[];
extern const size_t rv_setting_count;

/* The setting of this name below a group, a list element's group, or (NULL) in the file itself; NULL when unknown. */
const rv_setting *rv_setting_find(const rv_setting *parent, const char *name);
/* The row after `before` (NULL: the first) directly below parent, or NULL. */
const rv_setting *rv_setting_next(const rv_setting *parent, const rv_setting *before);
/* The last part of the path. */
const char *rv_setting_name(const rv_setting *setting);
/* "a whole number from 1 to 1024". */
void rv_setting_expected(const rv_setting *setting, rv_buf *out);

/* Writes the defaults of all rows below parent into base; false: out of memory. */
bool rv_setting_fill(const rv_setting *parent, char *base);
/* Frees what the rows below parent own in base. */
void rv_setting_release(const rv_setting *parent, char *base);

/* The value of a choice, or NULL. */
const rv_choice *rv_setting_choice(const rv_choice *choices, const char *name);
/* Stores a number in its row's unit. */
void rv_setting_store_number(const rv_setting *setting, char *base, double number);
void rv_setting_store_choice(const rv_setting *setting, char *base, const rv_choice *choice);

#endif
