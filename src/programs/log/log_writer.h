/*
 * log_writer.h - the log of reeve-worker and of `reeve web`: a bounded buffer and a thread that writes it to standard
 * error, or to the file in its place (worker/log_file.h).
 *
 * Whoever reads the log may stall or go away: then only that thread waits. Lines for which the buffer has no room are
 * dropped and counted; the line `event=log.dropped` reports their number as soon as lines are written again.
 */
#ifndef HOST_LOG_WRITER_H
#define HOST_LOG_WRITER_H

#include <stdbool.h>

#include "config/config.h"

/* Sets the library's log to this one. Call it once, before other threads are started. Without a thread to be had, lines
 * are written by whoever logs. */
void host_log_open(rv_log_format format, reeve_log_level min);

/* Changes the format and the level of the running log. */
void host_log_change(rv_log_format format, reeve_log_level min);

/* Waits until all lines are written, at most so long. */
void host_log_flush(int64_t max_ms);

/* The last call: silences the library's log, flushes, and ends the thread unless it is stuck in a write. */
void host_log_close(int64_t max_ms);

/* How long the end of the program waits for the reader of its log. */
#define HOST_LOG_END_MS 1000

#endif
