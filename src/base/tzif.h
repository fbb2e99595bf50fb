/*
 * tzif.h - time zones as compiled files have them (TZif, RFC 9636), from bytes in memory. No I/O; any thread.
 *
 * The table of a file goes up to some year; what follows is told by the last line of the file, a rule as in the
 * environment variable TZ (POSIX.1, with the extensions of RFC 9636).
 */
#ifndef RV_TZIF_H
#define RV_TZIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When the clock is set, each year: "M3.5.0/2" and so on. */
typedef struct rv_tzif_date {
    char kind; /* 'M' the nth weekday of a month, 'J' a day of the year without February 29, 'n' a day counted from 0 */
    int month, week, day;
    int32_t seconds; /* after midnight, by the clock until then */
} rv_tzif_date;

typedef struct rv_tzif_rule {
    bool is_set;
    bool has_summer;
    int32_t standard, summer; /* seconds east of Greenwich */
    rv_tzif_date begins, ends;
} rv_tzif_rule;

typedef struct rv_tzif {
    size_t count;     /* of changes */
    int64_t *at;      /* when each was, in seconds since 1970, ascending */
    int32_t *offsets; /* the offset from each on */
    int32_t first;    /* the offset before all of them */
    rv_tzif_rule rule;
} rv_tzif;

/* Reads a file. False: it is none, or it counts leap seconds, or there is no memory; then nothing is to be freed. */
bool rv_tzif_read(rv_tzif *ret, const unsigned char *bytes, size_t length);
void rv_tzif_fini(rv_tzif *zone);

/* Seconds east of Greenwich at a moment. */
int64_t rv_tzif_offset(const rv_tzif *zone, int64_t moment);

/* tzif_rule.c: reads a rule; false: it is none. Its offset at a moment. */
bool rv_tzif_rule_read(rv_tzif_rule *ret, const char *text, size_t length);
int64_t rv_tzif_rule_offset(const rv_tzif_rule *rule, int64_t moment);

#endif
