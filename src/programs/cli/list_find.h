/*
 * list_find.h - `reeve list` with a filter, or in all states.
 */
#ifndef CLI_LIST_FIND_H
#define CLI_LIST_FIND_H

#include "filter.h"
#include "page.h"

typedef struct cli_list_find_plan {
    cli_filter *filter;
    const reeve_state *states; /* in the order in which they are gone through */
    size_t count;
    uint64_t scan; /* how many tasks to look at, about; 0: no limit */
} cli_list_find_plan;

/* Lists the tasks; returns the exit status. */
int cli_list_find(cli_context *cli, const char *queue, const cli_list_find_plan *plan, const cli_page *page);

#endif
