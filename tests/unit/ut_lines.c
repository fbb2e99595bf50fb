/* ut_lines.c - the line reader of the command line: any length, any chunking, in bounded memory. */
#include "support/cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cli/lines.h"

static cli_lines open_text(const char *text, size_t max, int ends[2])
{
    cli_lines lines;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
    cli_lines_init(&lines, ends[0], -1, max);
    return lines;
}

static void close_text(cli_lines *lines, const int ends[2])
{
    cli_lines_fini(lines);
    (void)close(ends[0]);
}

static void expect_line(cli_lines *lines, const char *expected)
{
    const char *text;
    size_t length;

    assert_int_equal(cli_lines_next(lines, true, &text, &length), CLI_LINE);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(text, expected, length);
}

static void expect_kind(cli_lines *lines, bool may_block, cli_line kind)
{
    const char *text;
    size_t length;

    assert_int_equal(cli_lines_next(lines, may_block, &text, &length), kind);
}

static void lines_of_a_text(void **state)
{
    (void)state;
    int ends[2];
    cli_lines lines = open_text("one\n\nthree\nlast", 10, ends);

    (void)close(ends[1]);
    expect_line(&lines, "one");
    expect_line(&lines, "");
    expect_line(&lines, "three");
    expect_line(&lines, "last");
    expect_kind(&lines, true, CLI_LINE_END);
    expect_kind(&lines, true, CLI_LINE_END);
    close_text(&lines, ends);
}

static void lines_that_are_too_long(void **state)
{
    (void)state;
    int ends[2];
    cli_lines lines = open_text("0123456789\n01234567890\nok\n0123456789012345678901234567890123456789", 10, ends);

    (void)close(ends[1]);
    expect_line(&lines, "0123456789");
    expect_kind(&lines, true, CLI_LINE_TOO_LONG);
    expect_line(&lines, "ok");
    expect_kind(&lines, true, CLI_LINE_TOO_LONG);
    expect_kind(&lines, true, CLI_LINE_END);
    close_text(&lines, ends);
}

static void a_pause_is_told(void **state)
{
    (void)state;
    int ends[2];
    cli_lines lines = open_text("one\nhal", 10, ends);

    expect_line(&lines, "one");
    expect_kind(&lines, false, CLI_LINE_WAIT);
    expect_kind(&lines, false, CLI_LINE_WAIT);
    assert_int_equal(write(ends[1], "f\n", 2), 2);
    expect_line(&lines, "half");
    (void)close(ends[1]);
    expect_kind(&lines, false, CLI_LINE_END);
    close_text(&lines, ends);
}

static void a_read_that_fails(void **state)
{
    (void)state;
    cli_lines lines;

    int directory = open("/", O_RDONLY | O_CLOEXEC);

    assert_true(directory >= 0);
    cli_lines_init(&lines, directory, -1, 10);
    expect_kind(&lines, true, CLI_LINE_ERROR);
    assert_int_equal(errno, EISDIR);
    cli_lines_fini(&lines);
    (void)close(directory);
}

static void waiting_can_be_ended(void **state)
{
    (void)state;
    int ends[2], wake = eventfd(0, EFD_CLOEXEC);
    cli_lines lines = open_text("one\n", 10, ends);

    lines.wake_fd = wake;
    expect_line(&lines, "one");
    assert_int_equal(eventfd_write(wake, 1), 0);
    expect_kind(&lines, true, CLI_LINE_ERROR);
    assert_int_equal(errno, EINTR);
    (void)close(wake);
    (void)close(ends[1]);
    close_text(&lines, ends);
}

/* A feeder for what does not fit into a pipe: 3 MiB, 40 MiB that are too long, then short lines. */
static void *feed(void *pointer)
{
    int fd = *(int *)pointer;
    char *block = malloc(1024 * 1024);

    memset(block, 'x', 1024 * 1024);
    for (int i = 0; i < 3; i++) assert_int_equal(write(fd, block, 1024 * 1024), 1024 * 1024);
    assert_int_equal(write(fd, "\n", 1), 1);
    for (int i = 0; i < 40; i++) assert_int_equal(write(fd, block, 1024 * 1024), 1024 * 1024);
    assert_int_equal(write(fd, "\nshort\n", 7), 7);
    for (int i = 0; i < 20000; i++) assert_int_equal(write(fd, "0123456789\n", 11), 11);
    free(block);
    (void)close(fd);
    return NULL;
}

static void memory_stays_bounded(void **state)
{
    (void)state;
    enum { MAX = 4 * 1024 * 1024 };
    int ends[2];
    cli_lines lines = open_text("", MAX, ends);
    pthread_t feeder;
    const char *text;
    size_t length;

    assert_int_equal(pthread_create(&feeder, NULL, feed, &ends[1]), 0);
    assert_int_equal(cli_lines_next(&lines, true, &text, &length), CLI_LINE);
    assert_int_equal(length, 3 * 1024 * 1024);
    expect_kind(&lines, true, CLI_LINE_TOO_LONG);
    assert_true(lines.capacity <= MAX + 2);
    expect_line(&lines, "short");
    for (int i = 0; i < 20000; i++) expect_line(&lines, "0123456789");
    expect_kind(&lines, true, CLI_LINE_END);
    assert_true(lines.capacity <= 1024 * 1024); /* what the long line needed was given back */
    assert_int_equal(pthread_join(feeder, NULL), 0);
    close_text(&lines, ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_a_text),      cmocka_unit_test(lines_that_are_too_long),
        cmocka_unit_test(a_pause_is_told),      cmocka_unit_test(a_read_that_fails),
        cmocka_unit_test(waiting_can_be_ended), cmocka_unit_test(memory_stays_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
