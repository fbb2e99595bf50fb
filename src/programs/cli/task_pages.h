/*
 * task_pages.h - a listing of tasks whose pages may hold more than is to be printed.
 */
#ifndef CLI_TASK_PAGES_H
#define CLI_TASK_PAGES_H

#include "page.h"
#include "table.h"

typedef struct cli_task_pages {
    bool json;
    uint64_t skip; /* the tasks that are passed over before any is printed */
    uint64_t left; /* the tasks that may still be printed */
    uint64_t shown;
    cli_table table; /* for people; not used with json */
    void (*add_row)(cli_table *table, const reeve_task_info *info);
} cli_task_pages;

/* columns outlive the listing. */
void cli_task_pages_init(cli_task_pages *pages, const cli_context *cli, const cli_page *page, const cli_column *columns,
                         size_t count);
void cli_task_pages_fini(cli_task_pages *pages);

/* Prints the tasks of a page: as JSON at once, as a table when it has more than `rows` rows. False: out of memory. */
bool cli_task_pages_print(cli_task_pages *pages, reeve_task_info **page, size_t count, size_t rows);

#endif
