/*
 * by_queue.h - verbs that list something of a queue, or of each queue there is: in pages, as a table or as JSON.
 */
#ifndef CLI_BY_QUEUE_H
#define CLI_BY_QUEUE_H

#include "page.h"
#include "table.h"

/* What is listed. An item is what `fetch` gives, passed on untouched. */
typedef struct cli_by_queue_kind {
    const char *none;  /* "no dead task": what is said with " in QUEUE" when there is nothing */
    const char *names; /* "kinds": of which so many of so many are shown */
    const cli_column *columns;
    size_t column_count;
    size_t item_size; /* of one in the list */
    /* A page, as the calls of include/reeve give it; *ret_list is then freed with free_list. */
    reeve_status (*fetch)(reeve_client *client, const char *queue, uint64_t offset, size_t max, void **ret_list,
                          size_t *ret_count, uint64_t *ret_total);
    void (*free_list)(void *list);
    void (*print_json)(const char *queue, const void *item);
    void (*add_row)(cli_table *table, const char *queue, const void *item);
    bool (*may_have)(const reeve_queue_info *queue); /* NULL: any queue */
} cli_by_queue_kind;

/* Calls show for each queue there is, until one call is not CLI_DONE, and returns that one's exit status. *ret_count:
 * how many queues there are. */
int cli_each_queue(cli_context *cli, int (*show)(const reeve_queue_info *queue, void *context), void *context,
                   size_t *ret_count);

/* Of the queue that the first argument names, else of all; --offset goes with a queue. Returns the exit status. */
int cli_by_queue(cli_context *cli, const cli_by_queue_kind *kind, const cli_page *page);

#endif
