/*
 * produce.c - a "checksum" task for each file, enqueued in chunks.
 *
 * A chunk that fails half way is sent again with the ids that its tasks were given: a task that Redis took before its
 * reply was lost answers "exists" then, and is not enqueued twice.
 */
#include <stdlib.h>
#include <string.h>

#include "tree.h"

#define CHUNK ((size_t)500)

static bool no_memory(void)
{
    say("out of memory");
    return false;
}

/* {"path":"..."}; bytes of 0x80 and above stay as they are. Owned by the caller; NULL: out of memory. */
static char *payload_of(const char *path)
{
    char *payload = malloc(6 * strlen(path) + sizeof("{\"path\":\"\"}"));
    char *at = payload;

    if (payload == NULL) return NULL;
    memcpy(at, "{\"path\":\"", 9);
    at += 9;
    for (; *path != '\0'; path++) {
        unsigned char byte = (unsigned char)*path;

        if (byte < 0x20) {
            memcpy(at, "\\u00", 4);
            at[4] = "0123456789abcdef"[byte >> 4];
            at[5] = "0123456789abcdef"[byte & 15];
            at += 6;
            continue;
        }
        if (byte == '"' || byte == '\\') *at++ = '\\';
        *at++ = *path;
    }
    memcpy(at, "\"}", 3);
    return payload;
}

static bool is_there(const struct file *file, const reeve_enqueued *result)
{
    /* an id of ours that exists is our task: an earlier try got through */
    return result->status == REEVE_OK || (result->status == REEVE_EEXISTS && file->id[0] != '\0');
}

/* One call for the files that are not there yet. Returns the first failure among them. */
static reeve_status try_chunk(struct tree *tree, struct file *files, const reeve_task_spec *specs, bool *there,
                              size_t count)
{
    reeve_task_spec left[CHUNK];
    reeve_enqueued results[CHUNK];
    size_t index[CHUNK], left_count = 0;
    reeve_status status = REEVE_OK;

    for (size_t i = 0; i < count; i++) {
        if (there[i]) continue;
        left[left_count] = specs[i];
        left[left_count].id = files[i].id[0] != '\0' ? files[i].id : NULL;
        index[left_count++] = i;
    }
    (void)reeve_enqueue_many(tree->client, left, left_count, results); /* each result is looked at */
    for (size_t i = 0; i < left_count; i++) {
        struct file *file = &files[index[i]];

        there[index[i]] = is_there(file, &results[i]);
        if (!there[index[i]] && status == REEVE_OK) status = results[i].status;
        if (strlen(results[i].id) < sizeof(file->id)) memcpy(file->id, results[i].id, strlen(results[i].id) + 1);
    }
    return status;
}

static bool send_chunk(struct tree *tree, struct file *files, size_t count)
{
    reeve_task_spec specs[CHUNK] = {{0}};
    bool there[CHUNK] = {false};
    reeve_status status = REEVE_ENOMEM;
    size_t made = 0;

    for (; made < count; made++) {
        char *payload = payload_of(files[made].path);

        if (payload == NULL) goto out;
        specs[made].size = sizeof(specs[made]);
        specs[made].queue = tree->queue;
        specs[made].type = "checksum";
        specs[made].payload = (reeve_bytes){payload, strlen(payload)};
    }
    do status = try_chunk(tree, files, specs, there, count);
    while (patience_again(tree, status));

out:
    for (size_t i = 0; i < made; i++) free((void *)specs[i].payload.data);
    if (made < count) return no_memory();
    if (status == REEVE_OK) tree->sent += count;
    return status == REEVE_OK;
}

bool produce_rest(struct tree *tree)
{
    size_t left = tree->file_count - tree->sent;

    return left == 0 || send_chunk(tree, tree->files + tree->sent, left);
}

static bool make_room(struct tree *tree)
{
    size_t room = tree->file_room == 0 ? 1024 : 2 * tree->file_room;
    struct file *files;

    if (tree->file_count < tree->file_room) return true;
    files = reallocarray(tree->files, room, sizeof(*files));
    if (files == NULL) return no_memory();
    tree->files = files;
    tree->file_room = room;
    return true;
}

bool produce(struct tree *tree, const char *path)
{
    char *copy;

    if (!make_room(tree)) return false;
    copy = strdup(path);
    if (copy == NULL) return no_memory();
    tree->files[tree->file_count++] = (struct file){.path = copy};
    if (tree->file_count - tree->sent < CHUNK) return true;
    if (!produce_rest(tree)) return false;
    show_progress(tree, NULL);
    return true;
}
