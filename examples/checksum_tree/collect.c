/*
 * collect.c - what became of the tasks: pages of those that have ended, matched with our files by id.
 */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"

#define PAGE 500

static int compare_ids(const void *a, const void *b)
{
    return strcmp(((const struct file *)a)->id, ((const struct file *)b)->id);
}

static struct file *find_file(const struct tree *tree, const char *id)
{
    struct file wanted = {0};

    if (strlen(id) >= sizeof(wanted.id)) return NULL;
    memcpy(wanted.id, id, strlen(id) + 1);
    return bsearch(&wanted, tree->files, tree->file_count, sizeof(wanted), compare_ids);
}

/* {"sha256":"...","bytes":n} */
static bool read_result(struct file *file, reeve_bytes result)
{
    cJSON *object = cJSON_ParseWithLength(result.data != NULL ? result.data : "", result.length);
    const char *sha256 = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "sha256"));
    const cJSON *bytes = cJSON_GetObjectItemCaseSensitive(object, "bytes");
    bool good = sha256 != NULL && strlen(sha256) == 64 && strspn(sha256, "0123456789abcdef") == 64 &&
                cJSON_IsNumber(bytes) && bytes->valuedouble >= 0 && bytes->valuedouble < 9e15;

    if (good) {
        memcpy(file->sha256, sha256, sizeof(file->sha256));
        file->bytes = (uint64_t)bytes->valuedouble;
    }
    cJSON_Delete(object);
    return good;
}

static void note_failure(struct file *file, const char *kind, const char *message)
{
    file->fate = FATE_FAILED;
    file->kind = strdup(kind != NULL ? kind : "unknown");
    file->message = strdup(message != NULL ? message : "");
}

static void note_fate(struct tree *tree, const reeve_task_info *info)
{
    struct file *file = find_file(tree, info->id);

    if (file == NULL || file->fate != FATE_UNKNOWN) return; /* somebody else's, or seen on another page */
    if (tree->first_ms == 0 || info->enqueued_ms < tree->first_ms) tree->first_ms = info->enqueued_ms;
    if (info->ended_ms > tree->last_ms) tree->last_ms = info->ended_ms;
    tree->missing--;
    if (info->state == REEVE_STATE_CANCELLED) {
        note_failure(file, "cancelled", "the task was cancelled");
    } else if (info->state == REEVE_STATE_DEAD) {
        note_failure(file, info->error_kind, info->error_message);
    } else if (read_result(file, info->result)) {
        file->fate = FATE_DONE;
    } else {
        note_failure(file, "result", "the task's result is not {\"sha256\":\"...\",\"bytes\":n}");
    }
}

static bool collect_state(struct tree *tree, reeve_state state)
{
    uint64_t offset = 0, total = 0;

    do {
        reeve_task_info **page = NULL;
        size_t count = 0;
        reeve_status status;

        do status = reeve_list(tree->client, tree->queue, state, offset, PAGE, &page, &count, &total);
        while (patience_again(tree, status));
        if (status != REEVE_OK) return false;
        for (size_t i = 0; i < count; i++) note_fate(tree, page[i]);
        reeve_task_list_free(page, count);
        if (count == 0) break;
        offset += count;
    } while (offset < total && tree->missing > 0 && stop_signal == 0);
    return stop_signal == 0;
}

bool collect(struct tree *tree)
{
    static const reeve_state states[] = {REEVE_STATE_COMPLETED, REEVE_STATE_DEAD, REEVE_STATE_CANCELLED};

    qsort(tree->files, tree->file_count, sizeof(*tree->files), compare_ids);
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]) && tree->missing > 0; i++) {
        if (!collect_state(tree, states[i])) return false;
    }
    return true;
}
