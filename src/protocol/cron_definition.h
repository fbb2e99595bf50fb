/*
 * cron_definition.h - recurring entries as they lie in Redis, and which of their slots are made into tasks. Nothing
 * here blocks; any thread.
 *
 * A definition is a line of JSON about the entry, a newline, and what follows '{"at":<now>,' in its tasks' envelopes:
 *
 *     {"spec":"0 3 * *
 * *","zone":"utc","catch_up":"all","max":100,"overlap":false,"options":{"priority":-1}}\n"type":...
 *
 * max stands there with "all" only, overlap when it is false, options (those of enqueue.lua) when there are any; and
 * "starts", "ends", "offset", "jitter" (ms) and "runs" when they are set. "layered", before the options, is the digest of
 * protocol/cron_layered.h.
 */
#ifndef RV_PROTOCOL_CRON_DEFINITION_H
#define RV_PROTOCOL_CRON_DEFINITION_H

#include "base/buf.h"
#include "base/cron.h"
#include "reeve/cron.h"

/* A slot that is later than this is missed: what happens to it is a matter of catching up. */
#define RV_CRON_LATE_MS 2000
#define RV_CRON_MAX_DEFAULT 100

/* When an entry fires. */
typedef struct rv_cron_rule {
    rv_cron cron;
    rv_zone zone;
    reeve_catch_up catch_up;
    unsigned max; /* with REEVE_CATCH_UP_ALL */
    bool no_overlap;
    int64_t starts_ms, ends_ms; /* 0: no limit */
    int64_t jitter_ms;
    uint64_t seed; /* of the jitter, from the entry's name */
    int64_t runs;
} rv_cron_rule;

/* Checks everything about an entry. The words do not name it. */
reeve_status rv_cron_definition_check(const reeve_cron_entry *entry, rv_error *error);

/* Copies a program's entry, whatever version it was compiled with; ret->task points to task, if there is one. */
reeve_status rv_cron_definition_read(reeve_cron_entry *ret, reeve_task_spec *task, const reeve_cron_entry *given,
                                     size_t entry_size, size_t spec_size, rv_error *error);
/* REEVE_EINVAL when it is no entry's name. */
reeve_status rv_cron_definition_check_name(const char *name, rv_error *error);

/* Appends the definition of a checked entry. digest: of the task before it passed layers; "": it passed none. */
void rv_cron_definition_write(rv_buf *out, const reeve_cron_entry *entry, const char *digest);
/* Only what it says of its times: the beginning of the definition. */
void rv_cron_definition_write_times(rv_buf *out, const reeve_cron_entry *entry);

/* Reads a definition's first line. REEVE_EINVAL: it is none, or has what this version does not know; ret is then
 * undefined. */
reeve_status rv_cron_definition_read_rule(rv_cron_rule *ret, const char *name, const char *line, size_t length,
                                          rv_error *error);

/* The first time after (not at) a point in time at which an entry fires, its jitter included; -1: none. */
int64_t rv_cron_definition_next(const rv_cron_rule *rule, int64_t after_ms);

/* The first slot after a point in time, without jitter; -1: none. */
int64_t rv_cron_definition_next_slot(const rv_cron_rule *rule, int64_t after_ms);

/* The first slots, at most `max`, that fire at a point in time or later, in ascending order. Returns how many. */
size_t rv_cron_definition_coming(const rv_cron_rule *rule, int64_t from_ms, size_t max, int64_t *ret_slots);

/* The rule of an entry that rv_cron_definition_check accepts, or that was read from Redis. REEVE_EINVAL, REEVE_ENOMEM. */
reeve_status rv_cron_definition_make_rule(rv_cron_rule *ret, const reeve_cron_entry *entry);

/* "once", "skip", "all". */
const char *rv_cron_definition_catch_up_name(reeve_catch_up catch_up);
bool rv_cron_definition_parse_catch_up(const char *name, reeve_catch_up *ret);

/*
 * What is to be done about an entry that has been due since due_ms (whether that is one of its slots or not): for which
 * slots, in ascending order, a task is made, and when it is due next (-1: never). ret_slots has room for
 * REEVE_CRON_CATCH_UP_MAX. Returns how many.
 */
size_t rv_cron_definition_decide(const rv_cron_rule *rule, int64_t due_ms, int64_t now_ms, int64_t *ret_slots,
                                 int64_t *ret_next_ms);

/* "cron:<name>:<slot>", the id of a slot's task. */
void rv_cron_definition_slot_id(char ret[REEVE_ID_MAX], const char *name, int64_t slot_ms);

#endif
