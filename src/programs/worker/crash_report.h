/*
 * crash_report.h - what is told of the death of a worker's process: in a message of one line, and in a backtrace with a
 * frame a line.
 */
#ifndef HOST_CRASH_REPORT_H
#define HOST_CRASH_REPORT_H

#include "base/buf.h"
#include "reeve/task.h"
#include "running/flight.h"

#define HOST_BACKTRACE_MAX 8192

typedef struct host_crash_report {
    char message[REEVE_MESSAGE_MAX + 1];
    char backtrace[HOST_BACKTRACE_MAX]; /* "": not known */
} host_crash_report;

/* status: as from waitpid. crash: what the process recorded; not trusted. Reads the modules from their files. */
void host_crash_report_make(host_crash_report *ret, int status, const rv_flight_crash *crash);

/* Of a runner (rv_worker_on_runner_crash). False: no fault was recorded. */
bool host_crash_report_describe(const rv_flight_crash *crash, rv_buf *message, rv_buf *backtrace);

/* Copies a text of lines, of which the last ones are left out where there is no room. */
void host_crash_report_cut(char *ret, size_t size, const char *text);

#endif
