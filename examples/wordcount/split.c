/*
 * split.c - type "wordcount.split": the fan-out.
 *
 * It lists the files below a directory, deals them out to tasks that count, and hands on these and one that sums up
 * after all of them. Handed on means: enqueued in the very step in which this task is completed. When the worker is
 * killed in here there is no half of a fan-out to find and clear away: the next attempt begins with nothing.
 */
#include <errno.h>
#include <fts.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "wordcount.h"

/* A file a task, until there are more files than one task may hand on (REEVE_CHAIN_MAX): then some each. */
#define SHARES_MAX 900

struct paths {
    char **items;
    size_t count;
    size_t room;
};

static void paths_free(struct paths *paths)
{
    for (size_t i = 0; i < paths->count; i++) free(paths->items[i]);
    free(paths->items);
}

static bool paths_add(struct paths *paths, const char *path)
{
    if (paths->count == paths->room) {
        size_t room = paths->room > 0 ? 2 * paths->room : 64;
        char **items = realloc(paths->items, room * sizeof(*items));

        if (items == NULL) return false;
        paths->items = items;
        paths->room = room;
    }
    paths->items[paths->count] = strdup(path);
    if (paths->items[paths->count] == NULL) return false;
    paths->count++;
    return true;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* 0, or an errno. */
static int look_at(const FTSENT *entry, struct paths *paths)
{
    switch (entry->fts_info) {
    case FTS_F:
        return S_ISREG(entry->fts_statp->st_mode) && !paths_add(paths, entry->fts_path) ? ENOMEM : 0;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return entry->fts_errno;
    default:
        return 0;
    }
}

/* Regular files below the directory; links are not followed. 0, or an errno, and of which path. */
static int list(const char *directory, struct paths *ret, char *ret_path, size_t size)
{
    char *const roots[] = {(char *)(uintptr_t)directory, NULL}; /* (fts does not change it) */
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    int error = tree == NULL ? errno : 0;

    (void)snprintf(ret_path, size, "%s", directory);
    while (error == 0) {
        FTSENT *entry;

        errno = 0;
        entry = fts_read(tree);
        if (entry == NULL) {
            error = errno;
            break;
        }
        error = look_at(entry, ret);
        if (error != 0) (void)snprintf(ret_path, size, "%s", entry->fts_path);
    }
    if (tree != NULL) (void)fts_close(tree);
    return error;
}

/* Hands on the task that counts every step-th file from the first on; its payload: paths, a zero byte after each. */
static reeve_status hand_on_share(reeve_task *task, const struct paths *paths, size_t first, size_t step,
                                  char *ret_handle)
{
    char id[REEVE_ID_MAX], *payload = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&payload, &length);
    reeve_status status = REEVE_ENOMEM;

    if (out == NULL) return status;
    for (size_t i = first; i < paths->count; i += step) {
        fwrite(paths->items[i], 1, strlen(paths->items[i]) + 1, out);
    }
    if (fclose(out) == 0) {
        const reeve_task_spec spec = {.size = sizeof(spec),
                                      .queue = reeve_task_queue(task),
                                      .type = "wordcount.count",
                                      .payload = {payload, length},
                                      .group = reeve_task_id(task)}; /* two trees at a time take turns */

        status = reeve_task_chain(task, &spec, id);
        (void)snprintf(ret_handle, REEVE_HANDLE_MAX, "%s/%s", spec.queue, id);
    }
    free(payload);
    return status;
}

/* Hands on the task that sums up when all shares are counted. */
static reeve_status hand_on_summary(reeve_task *task, const reeve_parent *after, size_t count,
                                    char ret_id[REEVE_ID_MAX])
{
    const reeve_meta meta = {"output", reeve_task_meta(task, "output")};
    char id[REEVE_ID_MAX + sizeof(".summary")];
    const reeve_task_spec spec = {.size = sizeof(spec),
                                  .queue = reeve_task_queue(task),
                                  .type = "wordcount.summary",
                                  .id = id,
                                  .group = reeve_task_id(task),
                                  .meta = &meta,
                                  .meta_count = 1,
                                  .after = after,
                                  .after_count = count};

    (void)snprintf(id, sizeof(id), "%s.summary", reeve_task_id(task)); /* known to whoever knows ours */
    return reeve_task_chain(task, &spec, ret_id);
}

static reeve_status hand_on_all(reeve_task *task, const struct paths *paths, char ret_id[REEVE_ID_MAX])
{
    size_t shares = paths->count < SHARES_MAX ? paths->count : SHARES_MAX;
    char(*handles)[REEVE_HANDLE_MAX] = calloc(shares + 1, sizeof(*handles));
    reeve_parent *after = calloc(shares + 1, sizeof(*after));
    reeve_status status = handles != NULL && after != NULL ? REEVE_OK : REEVE_ENOMEM;

    for (size_t i = 0; i < shares && status == REEVE_OK; i++) {
        status = hand_on_share(task, paths, i, shares, handles[i]);
        /* A sum that lacks a file is wrong: when a share dies the summary waits until somebody has it retried. */
        after[i] = (reeve_parent){.handle = handles[i], .on_death = REEVE_PARENT_WAIT};
    }
    if (status == REEVE_OK) status = hand_on_summary(task, after, shares, ret_id);
    free(after);
    free(handles);
    return status;
}

/* The payload is the directory, the metadata "output" the file to write; both absolute: the worker stands elsewhere. */
reeve_outcome wordcount_split(reeve_task *task, void *user)
{
    const char *directory = reeve_task_payload(task).data; /* a zero byte follows a payload */
    const char *output = reeve_task_meta(task, "output");
    struct paths paths = {0};
    char id[REEVE_ID_MAX] = "", handle[REEVE_HANDLE_MAX], where[512];
    reeve_outcome outcome;
    int error;

    (void)user;
    if (directory[0] != '/' || strlen(directory) != reeve_task_payload(task).length) {
        return reeve_task_fail(task, "payload", "expected the absolute path of a directory");
    }
    if (output == NULL || output[0] != '/') {
        return reeve_task_fail(task, "payload", "expected the metadata output=FILE, an absolute path");
    }
    error = list(directory, &paths, where, sizeof(where));
    if (error != 0) {
        outcome = reeve_task_retry(task, -1, "read", "%s: %s", where, strerror(error));
    } else {
        reeve_status status = hand_on_all(task, &paths, id);

        (void)snprintf(handle, sizeof(handle), "%s/%s", reeve_task_queue(task), id);
        if (status == REEVE_OK) {
            outcome = reeve_task_done(task, handle, strlen(handle));
        } else {
            outcome = reeve_task_fail(task, "split", "%zu files: %s", paths.count, reeve_status_text(status));
        }
    }
    paths_free(&paths);
    return outcome;
}
