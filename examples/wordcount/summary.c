/*
 * summary.c - type "wordcount.summary": the fan-in. It runs when all of its parents are completed, reads their results,
 * and writes one file.
 *
 * A task may run more than once (its worker may die when the file is written and Redis does not know yet), so what it
 * does to the world must bear that: it writes a new file and puts it in the place of the old one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table.h"
#include "wordcount.h"

/* Adds what a count task wrote. false: no memory. */
static bool merge(struct table *table, const char *text, uint64_t *files)
{
    char *at;

    *files += strtoull(text, &at, 10);
    at += strcspn(at, "\n");
    while (*at == '\n' && at[1] != '\0') {
        uint64_t count = strtoull(at + 1, &at, 10);
        size_t length = strcspn(++at, "\n");

        if (!table_add(table, at, length, count)) return false;
        at += length;
    }
    return true;
}

/* NONE: all is in the table. */
static reeve_outcome merge_all(reeve_task *task, struct table *table, uint64_t *files)
{
    const reeve_task_parent *parents;
    size_t count;
    reeve_bytes result;

    if (reeve_task_parents(task, &parents, &count) != REEVE_OK) {
        return reeve_task_retry(task, -1, "redis", "the parents were not read");
    }
    for (size_t i = 0; i < count; i++) {
        if (reeve_task_should_stop(task)) return reeve_task_give_back(task);
        if (reeve_task_parent_result(task, parents[i].handle, &result) != REEVE_OK) {
            return reeve_task_retry(task, -1, "redis", "the result of %s was not read", parents[i].handle);
        }
        if (result.data == NULL) {
            /* Each writes one; so this one is not kept any more. No attempt will bring it back. */
            return reeve_task_fail(task, "gone", "the result of %s is not kept any more", parents[i].handle);
        }
        /* (a zero byte follows it) */
        if (!merge(table, result.data, files)) return reeve_task_retry(task, -1, "memory", "out of memory");
    }
    return REEVE_OUTCOME_NONE;
}

/* 0, or an errno. */
static int write_whole(const struct table *table, int file)
{
    FILE *out = fdopen(file, "w");
    int error = 0;

    if (out == NULL) {
        error = errno;
        (void)close(file);
        return error;
    }
    if (!table_write(table, out)) error = ENOMEM;
    if (error == 0 && (fflush(out) != 0 || fchmod(file, 0644) != 0 || fsync(file) != 0)) error = errno;
    if (fclose(out) != 0 && error == 0) error = errno;
    return error;
}

static int replace(const struct table *table, const char *path)
{
    size_t size = strlen(path) + sizeof(".XXXXXX");
    char *fresh = malloc(size);
    int file, error = 0;

    if (fresh == NULL) return ENOMEM;
    (void)snprintf(fresh, size, "%s.XXXXXX", path);
    file = mkstemp(fresh);
    if (file < 0) {
        error = errno;
    } else {
        error = write_whole(table, file);
        if (error == 0 && rename(fresh, path) != 0) error = errno;
        if (error != 0) (void)unlink(fresh);
    }
    free(fresh);
    return error;
}

static reeve_outcome done(reeve_task *task, const struct table *table, uint64_t files)
{
    char words[128];
    int length = snprintf(words, sizeof(words), "%" PRIu64 " files, %" PRIu64 " words, %zu different", files,
                          table->total, table->used);

    return reeve_task_done(task, words, (size_t)length);
}

reeve_outcome wordcount_summary(reeve_task *task, void *user)
{
    const char *output = reeve_task_meta(task, "output");
    struct table table = {0};
    uint64_t files = 0;
    reeve_outcome outcome;
    int error;

    (void)user;
    if (output == NULL) return reeve_task_fail(task, "payload", "expected the metadata output=FILE");
    outcome = merge_all(task, &table, &files);
    if (outcome == REEVE_OUTCOME_NONE) {
        error = replace(&table, output);
        outcome = error == 0 ? done(task, &table, files)
                             : reeve_task_retry(task, -1, "write", "%s: %s", output, strerror(error));
    }
    table_free(&table);
    return outcome;
}
