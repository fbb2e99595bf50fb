#include "by_queue.h"

#include <inttypes.h>
#include <stdio.h>

#include "maintain.h"
#include "new_queue.h"
#include "verbs.h"

#define PAGE_MAX 500

struct showing {
    cli_context *cli;
    const cli_by_queue_kind *kind;
    const cli_page *page;
    cli_table table;
    uint64_t shown, total; /* in all queues so far */
};

static int show_page(struct showing *showing, const char *queue, uint64_t offset, uint64_t left, size_t *ret_count,
                     uint64_t *ret_total)
{
    const cli_by_queue_kind *kind = showing->kind;
    size_t max = left < PAGE_MAX ? (size_t)left : PAGE_MAX;
    void *list = NULL;
    reeve_status status = kind->fetch(showing->cli->client, queue, offset, max, &list, ret_count, ret_total);

    if (status != REEVE_OK) return cli_fail_call(showing->cli, status, queue);
    for (size_t i = 0; i < *ret_count; i++) {
        const void *item = (const char *)list + i * kind->item_size;

        if (showing->cli->json)
            kind->print_json(queue, item);
        else
            kind->add_row(&showing->table, queue, item);
    }
    kind->free_list(list);
    return ferror(stdout) == 0 ? CLI_DONE : CLI_REFUSED;
}

static int show_queue(struct showing *showing, const char *queue)
{
    uint64_t offset = (uint64_t)showing->page->offset, total = 0;
    uint64_t left = showing->page->limit == 0 ? UINT64_MAX : (uint64_t)showing->page->limit;
    size_t count = 1;
    int status = CLI_DONE;

    while (status == CLI_DONE && left > 0 && count > 0 && (total == 0 || offset < total)) {
        count = 0;
        status = show_page(showing, queue, offset, left, &count, &total);
        offset += count;
        left -= count;
        showing->shown += count;
    }
    showing->total += total;
    return status;
}

int cli_each_queue(cli_context *cli, int (*show)(const reeve_queue_info *queue, void *context), void *context,
                   size_t *ret_count)
{
    reeve_queue_info *list = NULL;
    reeve_status result = reeve_queues(cli->client, &list, ret_count);
    int status = CLI_DONE;

    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    for (size_t i = 0; i < *ret_count && status == CLI_DONE; i++) status = show(&list[i], context);
    reeve_queues_free(list);
    return status;
}

static int show_if_any(const reeve_queue_info *queue, void *context)
{
    struct showing *showing = context;

    if (showing->kind->may_have != NULL && !showing->kind->may_have(queue)) return CLI_DONE;
    return show_queue(showing, queue->name);
}

/* For people: that there is nothing, or more. */
static void say_rest(const struct showing *showing)
{
    const cli_context *cli = showing->cli;

    if (cli->json || !cli_flush(cli)) return;
    if (showing->total == 0)
        (void)fprintf(stderr, "%s in %s\n", showing->kind->none, cli->count == 0 ? "any queue" : cli->rest[0]);
    else if (showing->shown < showing->total)
        (void)fprintf(stderr, "%" PRIu64 " of %" PRIu64 " %s (--limit 0 lists all)\n", showing->shown, showing->total,
                      showing->kind->names);
}

int cli_by_queue(cli_context *cli, const cli_by_queue_kind *kind, const cli_page *page)
{
    struct showing showing = {.cli = cli, .kind = kind, .page = page};
    size_t queues = 0;
    int status = cli->count > 0 ? cli_queue_argument(cli, cli->rest[0]) : CLI_DONE;

    if (cli->count == 0 && page->offset > 0) return cli_usage(cli, "--offset goes with a QUEUE");
    if (status == CLI_DONE) status = cli_open(cli);
    if (status != CLI_DONE) return status;
    if (cli->count > 0) cli_maintain(cli, cli->rest[0]);
    if (cli->count > 0) cli_note_no_queue(cli, cli->rest[0]);
    cli_table_init(&showing.table, kind->columns, kind->column_count);
    status = cli->count > 0 ? show_queue(&showing, cli->rest[0]) : cli_each_queue(cli, show_if_any, &showing, &queues);
    if ((showing.table.used > 0 || showing.table.failed) && !cli_table_print(&showing.table, stdout))
        status = cli_no_memory(cli);
    if (status == CLI_DONE) say_rest(&showing);
    cli_table_fini(&showing.table);
    return status;
}
