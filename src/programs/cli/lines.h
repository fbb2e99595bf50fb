/*
 * lines.h - the lines of a file descriptor, in memory that grows only to the longest line allowed.
 */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>

typedef enum cli_line {
    CLI_LINE,          /* a line, without its line feed; the last one may have none */
    CLI_LINE_TOO_LONG, /* a line that was skipped, unread, because it is longer than max */
    CLI_LINE_WAIT,     /* nothing there now (only without may_block) */
    CLI_LINE_END,
    CLI_LINE_ERROR /* errno says what; EINTR: wake_fd became readable, or a signal came */
} cli_line;

typedef struct cli_lines {
    int fd;      /* not owned */
    int wake_fd; /* not owned; or -1 */
    size_t max;
    char *data; /* what was read and not yet handed out is [start, end) */
    size_t capacity;
    size_t start, looked, end; /* no line feed before looked */
    bool ended;
    bool skipping; /* inside a line that is too long */
} cli_lines;

/* wake_fd: ends the waiting for input when it is readable (stop.h); -1: there is none. */
void cli_lines_init(cli_lines *lines, int fd, int wake_fd, size_t max);
void cli_lines_fini(cli_lines *lines);

/* The next line in *ret, which is valid until the next call. Without may_block it never waits for input. */
cli_line cli_lines_next(cli_lines *lines, bool may_block, const char **ret, size_t *ret_length);

#endif
