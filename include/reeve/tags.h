/*
 * tags.h - tasks are found by the tags that they were enqueued with (reeve_task_spec), in whatever state, as long as
 * they exist.
 */
#ifndef REEVE_TAGS_H
#define REEVE_TAGS_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct reeve_tag {
    char name[REEVE_TAG_MAX + 1];
    uint64_t count;  /* tasks with it, in any state */
    int64_t last_ms; /* when one was last enqueued with it */
} reeve_tag;

/* A page of the tags of a queue's tasks, the one that was given last first; *ret_total: how many tags. limit is at most
 * 1000. One array, freed with reeve_tags_free. */
REEVE_API reeve_status reeve_tags(reeve_client *client, const char *queue, uint64_t offset, size_t limit,
                                  reeve_tag **ret, size_t *ret_count, uint64_t *ret_total);
REEVE_API void reeve_tags_free(reeve_tag *list);

/*
 * A page of the tasks with a tag, the one that was enqueued last first: passes over offset of them, looks at up to
 * limit of the others (at most 1000), and returns those in the state (NULL: in any). ret has count entries, perhaps
 * none; free with reeve_task_list_free. *ret_next is the offset to go on with, or -1 at the end. Payloads and results
 * are included; where they are large, a page ends early.
 */
REEVE_API reeve_status reeve_list_tag(reeve_client *client, const char *queue, const char *tag,
                                      const reeve_state *state, uint64_t offset, size_t limit, reeve_task_info ***ret,
                                      size_t *ret_count, int64_t *ret_next);

#ifdef __cplusplus
}
#endif
#endif
