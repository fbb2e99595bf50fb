/*
 * search.h - find tasks by a filter.
 *
 * The same filter selects tasks for reeve_find and for bulk operations (dead.h). Redis compares tasks one by one, in
 * steps of one round trip each, so that it serves other clients in between. The time of a search grows with the number
 * of tasks that it examines. With `kind` and the state dead it examines only the dead tasks of that kind.
 */
#ifndef REEVE_SEARCH_H
#define REEVE_SEARCH_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REEVE_FILTER_META_MAX 8
#define REEVE_CURSOR_MAX 256

/* Whether an attempt of a task has failed. With the state scheduled, REEVE_FAILED_YES selects the tasks that wait for a
 * retry, and REEVE_FAILED_NO those that wait for their first attempt. */
typedef enum reeve_filter_failed {
    REEVE_FAILED_ANY = 0,
    REEVE_FAILED_YES = 1, /* only tasks with a failed attempt */
    REEVE_FAILED_NO = 2   /* only tasks without a failed attempt */
} reeve_filter_failed;

/*
 * A filter selects the tasks of a queue that are in the state `state` and match all other fields that are set. Zero or
 * NULL matches any task. A pair of fields such as due_from_ms and due_to_ms matches times from the first value on and
 * before the second.
 */
typedef struct reeve_filter {
    size_t size;             /* sizeof(reeve_filter), or 0 */
    reeve_state state;       /* reeve_find: any state; bulk operations: any but running */
    const char *kind;        /* kind of the last error */
    const char *type;        /* its type */
    const char *tag;         /* one of its tags */
    int64_t older_ms;        /* minimum age in ms, from the end of the task, or from its enqueue if it has not ended */
    const char *group;       /* its group */
    const char *id_prefix;   /* its id begins with this */
    const char *payload_has; /* its payload contains these bytes, without the final zero byte */
    const reeve_meta *meta;  /* its metadata has all of these, at most REEVE_FILTER_META_MAX */
    size_t meta_count;
    /* The id of a worker: running tasks that it runs; completed tasks that it ran, in a queue with record_runs
     * (reeve_queue_policy). Tasks in other states do not match. */
    const char *worker;
    reeve_filter_failed failed;
    int64_t enqueued_from_ms, enqueued_to_ms; /* when it was enqueued */
    int64_t due_from_ms, due_to_ms;           /* when it becomes ready: only scheduled tasks match */
    int64_t ended_from_ms, ended_to_ms;       /* when it ended: only completed, dead and cancelled tasks match */
    uint64_t limit; /* bulk operations: maximum number of tasks to change; 0: no limit. reeve_find ignores it */
    bool parents;   /* true: reeve_find returns the parents and children of blocked tasks, too */
} reeve_filter;

/*
 * Gets the next tasks that a filter selects, in one round trip. For the first call, `cursor` is "". Each call writes
 * the position of the next call to `cursor`, and "" at the end. A call examines at most 1000 tasks, or fewer if they
 * are expensive to examine, and returns at most `limit` of them (at most 1000). A call can return no tasks although
 * further calls return some. *ret_seen, when not NULL, is the number of tasks that this call has examined. Waiting
 * tasks are in the order in which they will run, ended tasks in the order in which they ended, the last one first. A
 * task that changes its state between two calls may be missing, or be returned twice. The tasks have their payloads and
 * results. Free the page with reeve_task_list_free. REEVE_EINVAL: the filter or the cursor is not valid.
 */
REEVE_API reeve_status reeve_find(reeve_client *client, const char *queue, const reeve_filter *filter,
                                  char cursor[REEVE_CURSOR_MAX], size_t limit, reeve_task_info ***ret,
                                  size_t *ret_count, uint64_t *ret_seen);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_find_sized(reeve_client *client, const char *queue, const reeve_filter *filter,
                                        char cursor[REEVE_CURSOR_MAX], size_t limit, reeve_task_info ***ret,
                                        size_t *ret_count, uint64_t *ret_seen, size_t filter_size);
#define reeve_find(...) reeve_find_sized(__VA_ARGS__, sizeof(reeve_filter))

#ifdef __cplusplus
}
#endif
#endif
