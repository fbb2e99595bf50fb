#include "lines.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define FIRST_CAPACITY (64u * 1024)

void cli_lines_init(cli_lines *lines, int fd, int wake_fd, size_t max)
{
    memset(lines, 0, sizeof(*lines));
    lines->fd = fd;
    lines->wake_fd = wake_fd;
    lines->max = max;
}

void cli_lines_fini(cli_lines *lines)
{
    rv_free(lines->data);
    cli_lines_init(lines, lines->fd, lines->wake_fd, lines->max);
}

/* Hands out the line that ends before `end`; what follows begins at `next`. */
static cli_line hand_out(cli_lines *lines, size_t end, size_t next, const char **ret, size_t *ret_length)
{
    bool too_long = lines->skipping || end - lines->start > lines->max;

    *ret = lines->data + lines->start;
    *ret_length = end - lines->start;
    lines->start = lines->looked = next;
    lines->skipping = false;
    return too_long ? CLI_LINE_TOO_LONG : CLI_LINE;
}

/* Moves what is left to the front, and gives back the memory of a long line once it is through. */
static void settle(cli_lines *lines)
{
    size_t left = lines->end - lines->start;
    char *smaller;

    if (lines->start == 0) return;
    memmove(lines->data, lines->data + lines->start, left);
    lines->looked -= lines->start;
    lines->start = 0;
    lines->end = left;
    if (lines->capacity <= 16 * FIRST_CAPACITY || left > FIRST_CAPACITY / 2) return;
    smaller = rv_realloc(lines->data, FIRST_CAPACITY);
    if (smaller == NULL) return;
    lines->data = smaller;
    lines->capacity = FIRST_CAPACITY;
}

/* Room for more bytes: by growing, or by dropping the beginning of a line that is too long already. */
static bool make_room(cli_lines *lines)
{
    size_t max = lines->max + 2, capacity = lines->capacity == 0 ? FIRST_CAPACITY : lines->capacity * 2;
    char *data;

    settle(lines);
    if (lines->skipping || lines->end > lines->max) {
        lines->skipping = true;
        lines->looked = lines->end = 0;
    }
    if (lines->end < lines->capacity) return true;
    if (capacity > max) capacity = max;
    data = rv_realloc(lines->data, capacity);
    if (data == NULL) {
        errno = ENOMEM;
        return false;
    }
    lines->data = data;
    lines->capacity = capacity;
    return true;
}

/* Waits until there is input (CLI_LINE: read will not block), or says why not. */
static cli_line await(const cli_lines *lines, bool may_block)
{
    struct pollfd fds[] = {{.fd = lines->fd, .events = POLLIN}, {.fd = lines->wake_fd, .events = POLLIN}};
    int ready = poll(fds, 2, may_block ? -1 : 0);

    if (ready < 0) return CLI_LINE_ERROR;
    if (fds[1].revents != 0) {
        errno = EINTR;
        return CLI_LINE_ERROR;
    }
    return ready == 0 ? CLI_LINE_WAIT : CLI_LINE;
}

/* Reads what there is into the room behind end. */
static cli_line fill(cli_lines *lines, bool may_block)
{
    cli_line line = await(lines, may_block);
    ssize_t got;

    if (line != CLI_LINE) return line;
    if (!make_room(lines)) return CLI_LINE_ERROR;
    got = read(lines->fd, lines->data + lines->end, lines->capacity - lines->end);
    if (got < 0) return CLI_LINE_ERROR;
    lines->ended = got == 0;
    lines->end += (size_t)got;
    return CLI_LINE;
}

/* The line feed that ends the next line, or NULL. */
static char *find_feed(cli_lines *lines)
{
    size_t from = lines->looked;

    lines->looked = lines->end;
    return from == lines->end ? NULL : memchr(lines->data + from, '\n', lines->end - from);
}

cli_line cli_lines_next(cli_lines *lines, bool may_block, const char **ret, size_t *ret_length)
{
    for (;;) {
        char *feed = find_feed(lines);
        cli_line line;

        if (feed != NULL) {
            size_t at = (size_t)(feed - lines->data);
            return hand_out(lines, at, at + 1, ret, ret_length);
        }
        if (lines->ended && (lines->end > lines->start || lines->skipping))
            return hand_out(lines, lines->end, lines->end, ret, ret_length);
        if (lines->ended) return CLI_LINE_END;
        line = fill(lines, may_block);
        if (line != CLI_LINE) return line;
    }
}
