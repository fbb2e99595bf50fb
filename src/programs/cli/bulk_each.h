/*
 * bulk_each.h - a call for each task that a filter selects: what no script does to many at once.
 *
 * Tasks are found before any of them is changed, so that a search does not pass over tasks that a change has moved. With
 * a limit, so many are found at first, and more in the place of those that were refused.
 */
#ifndef CLI_BULK_EACH_H
#define CLI_BULK_EACH_H

#include "control.h"
#include "filter.h"

/* How a search goes on, and what it found. */
typedef struct cli_bulk_each {
    const cli_context *cli;
    const cli_filter *filter;
    const reeve_state *states;
    size_t state_count;
    size_t at; /* the state that is searched */
    char cursor[REEVE_CURSOR_MAX];
    rv_buf found; /* of each task a byte, its state, and its id, which ends in a zero byte */
    size_t count;
    uint64_t seen; /* in all */
} cli_bulk_each;

void cli_bulk_each_init(cli_bulk_each *each, const cli_context *cli, const cli_filter *filter,
                        const reeve_state *states, size_t state_count);
void cli_bulk_each_fini(cli_bulk_each *each);

/* Finds the next tasks, at most `max` (0: all) of the queue that is the one argument, in the place of those before.
 * progress is called after each step; false: REEVE_EINTERRUPTED. */
reeve_status cli_bulk_each_find(cli_bulk_each *each, uint64_t max, bool (*progress)(void *user), void *user);

/* Walks over what was found. place: 0 at first. NULL: no more. */
const char *cli_bulk_each_next(const cli_bulk_each *each, size_t *place, reeve_state *ret_state);

/* Whether a task that was refused has left this state meanwhile, or is gone. It makes a call. */
bool cli_bulk_each_has_left(const cli_bulk_each *each, const cli_handle *handle, reeve_state state);

/* Whether a call failed because of its task, so that the calls for other tasks may succeed. */
bool cli_bulk_each_is_of_task(reeve_status status);

#endif
