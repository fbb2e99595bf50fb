/*
 * bulk_values.h - the values of the members of a bulk line: each is checked, and put into the line's spec. For
 * bulk_line.c alone; no I/O.
 */
#ifndef CLI_BULK_VALUES_H
#define CLI_BULK_VALUES_H

#include <stdint.h>

#include "bulk_line.h"
#include "json_scan.h"

#define CLI_BULK_NAME_SHOWN 64

/* Reading one line: where its strings go, and which members it had. */
typedef struct cli_bulk_reading {
    cli_bulk_line *line;
    char *at; /* the free part of line->memory; what is put there is never longer than its source, so it never ends */
    cli_bulk_fault *fault;
    uint64_t seen;                      /* a bit for each row of the member table */
    char name[CLI_BULK_NAME_SHOWN + 1]; /* the member being read */
} cli_bulk_reading;

typedef struct cli_bulk_member cli_bulk_member;

/* Reads a value into the place that the member has in the spec. False: it is refused, and the fault is filled. */
typedef bool (*cli_bulk_read_fn)(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value);

struct cli_bulk_member {
    const char *name;
    cli_bulk_read_fn read;
    size_t at; /* offset in reeve_task_spec */
    int64_t min, max;
};

/* ---- refusing: all return false -------------------------------------------------------------------------------- */

bool cli_bulk_refuse(cli_bulk_reading *reading, const char *reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool cli_bulk_no_memory(cli_bulk_reading *reading);
bool cli_bulk_refuse_type(cli_bulk_reading *reading, const char *should_be);
bool cli_bulk_refuse_value(cli_bulk_reading *reading, const cli_value *value, const char *should_be);

/* ---- bulk_values.c: one value ---------------------------------------------------------------------------------- */

/* A string's characters with a zero byte, in the line's memory. */
bool cli_bulk_take_string(cli_bulk_reading *reading, const cli_value *value, const char **ret);

bool cli_bulk_read_text(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value);
bool cli_bulk_read_int(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value);
bool cli_bulk_read_duration(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value);
bool cli_bulk_read_time(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value);
bool cli_bulk_read_truth(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value);
bool cli_bulk_read_payload(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value);
bool cli_bulk_read_base64(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value);
bool cli_bulk_read_backoff(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value);
bool cli_bulk_read_until(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value);
bool cli_bulk_read_if_exists(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value);
bool cli_bulk_read_conflict(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value);

/* ---- bulk_lists.c: several in one ------------------------------------------------------------------------------ */

bool cli_bulk_read_tags(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value);
bool cli_bulk_read_limit_keys(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value);
bool cli_bulk_read_meta(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value);
bool cli_bulk_read_after(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value);

#endif
