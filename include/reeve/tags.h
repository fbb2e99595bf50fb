/*
 * tags.h - find tasks by their tags (reeve_task_spec.tags), in any state, as long as they or their records exist.
 */
#ifndef REEVE_TAGS_H
#define REEVE_TAGS_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A tag of tasks of a queue, with its use. reeve_tags returns an array of them. */
typedef struct reeve_tag {
    char name[REEVE_TAG_MAX + 1];
    uint64_t count;  /* number of tasks with the tag, in any state */
    int64_t last_ms; /* when a task with the tag was last enqueued */
} reeve_tag;

/* Gets a page of the tags of a queue's tasks as one array, the most recently used tag first. `limit` is at most 1000;
 * *ret_total is the number of tags. Free the array with reeve_tags_free. */
REEVE_API reeve_status reeve_tags(reeve_client *client, const char *queue, uint64_t offset, size_t limit,
                                  reeve_tag **ret, size_t *ret_count, uint64_t *ret_total);
REEVE_API void reeve_tags_free(reeve_tag *list);

/*
 * Gets a page of the tasks with a tag. The task that was enqueued last comes first. The call skips `offset` tasks and
 * examines the next `limit` tasks, at most 1000. The page has those of them that are in the state *state, or all of
 * them if `state` is NULL; it may be empty. *ret_next is the offset of the next page, or -1 at the end. The tasks
 * have their payloads and results; if these are large, the page is shorter. Free it with reeve_task_list_free.
 */
REEVE_API reeve_status reeve_list_tag(reeve_client *client, const char *queue, const char *tag,
                                      const reeve_state *state, uint64_t offset, size_t limit, reeve_task_info ***ret,
                                      size_t *ret_count, int64_t *ret_next);

#ifdef __cplusplus
}
#endif
#endif
