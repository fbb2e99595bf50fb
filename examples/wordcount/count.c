/*
 * count.c - type "wordcount.count": one of many. The payload is paths, a zero byte after each; the result is what the
 * summary needs: a line "FILES files", then a line "COUNT WORD" for each word.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table.h"
#include "wordcount.h"

/* A word under way; it may go on in the next piece of the file. */
struct run {
    char text[WORD_MAX];
    size_t length; /* also of what has no room */
};

static bool end_word(struct table *table, struct run *run)
{
    size_t length = run->length;

    run->length = 0;
    return length == 0 || length > WORD_MAX || table_add(table, run->text, length, 1);
}

/* Words are runs of the letters a to z, in lower case. */
static bool take(struct table *table, struct run *run, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char letter = bytes[i];

        if (letter >= 'A' && letter <= 'Z') letter = (char)(letter - 'A' + 'a');
        if (letter < 'a' || letter > 'z') {
            if (!end_word(table, run)) return false;
            continue;
        }
        if (run->length < WORD_MAX) run->text[run->length] = letter;
        if (run->length <= WORD_MAX) run->length++;
    }
    return true;
}

/* 0, or an errno. */
static int count_file(struct table *table, const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* (should it be a FIFO by now: not to wait there) */
    struct run run = {.length = 0};
    struct stat about;
    char piece[65536];
    ssize_t got = 1;
    int error = 0;

    if (file < 0) return errno;
    if (fstat(file, &about) != 0)
        error = errno;
    else if (!S_ISREG(about.st_mode))
        error = EINVAL;
    while (error == 0 && got > 0) {
        got = read(file, piece, sizeof(piece));
        if (got < 0)
            error = errno;
        else if (!take(table, &run, piece, (size_t)got))
            error = ENOMEM;
    }
    if (error == 0 && !end_word(table, &run)) error = ENOMEM;
    (void)close(file);
    return error;
}

static reeve_outcome failed(reeve_task *task, const char *path, int error)
{
    /* What another attempt will not cure is dead at once, and listed: reeve failures. */
    if (error == ENOENT || error == ENOTDIR || error == EACCES || error == EINVAL) {
        return reeve_task_fail(task, "read", "%s: %s", path, strerror(error));
    }
    return reeve_task_retry(task, -1, "read", "%s: %s", path, strerror(error));
}

static reeve_outcome done(reeve_task *task, const struct table *table, size_t files)
{
    char *result = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&result, &length);
    reeve_outcome outcome;
    bool good;

    if (out == NULL) return reeve_task_retry(task, -1, "memory", "out of memory");
    fprintf(out, "%zu files\n", files);
    good = table_write(table, out);
    good = fclose(out) == 0 && good;
    outcome = good ? reeve_task_done(task, result, length) : reeve_task_retry(task, -1, "memory", "out of memory");
    free(result);
    return outcome;
}

reeve_outcome wordcount_count(reeve_task *task, void *user)
{
    reeve_bytes paths = reeve_task_payload(task);
    const char *path = paths.data, *end = path + paths.length;
    struct table table = {0};
    size_t files = 0;
    reeve_outcome outcome = REEVE_OUTCOME_NONE;

    (void)user;
    while (path < end && outcome == REEVE_OUTCOME_NONE) {
        int error = reeve_task_should_stop(task) ? EINTR : count_file(&table, path);

        if (error == EINTR)
            outcome = reeve_task_give_back(task); /* the worker stops: another one does it */
        else if (error != 0)
            outcome = failed(task, path, error);
        files++;
        path += strlen(path) + 1;
    }
    if (outcome == REEVE_OUTCOME_NONE) outcome = done(task, &table, files);
    table_free(&table);
    return outcome;
}
