/*
 * option_read.h - reads options of a task from the header of an envelope. Absent, or of another type: not set. No I/O.
 */
#ifndef RV_PROTOCOL_OPTION_READ_H
#define RV_PROTOCOL_OPTION_READ_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/* 0 below min; max above it. */
int rv_option_read_int(const cJSON *header, const char *name, int min, int max);

/* Milliseconds, at most 9e15; 0 when it is not set. */
int64_t rv_option_read_span(const cJSON *header, const char *name);

bool rv_option_read_flag(const cJSON *header, const char *name);

#endif
