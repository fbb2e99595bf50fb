#include "each.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "maintain.h"

int cli_each_read(const cli_context *cli, bool queues, const char *argument, cli_handle *ret)
{
    int status;

    if (!queues || strchr(argument, '/') != NULL) return cli_handle_argument(cli, ret, argument);
    status = cli_queue_argument(cli, argument);
    if (status != CLI_DONE) return status;
    rv_copy_text(ret->queue, sizeof(ret->queue), argument);
    ret->id[0] = '\0';
    return CLI_DONE;
}

void cli_each_separate(const cli_context *cli, const cli_each_item *item)
{
    if (item->follows && !cli->json) (void)putchar('\n');
}

/* Whether the verb looks at the items that follow one with this exit status. */
static bool goes_on(int status)
{
    return (status == CLI_DONE || status == CLI_REFUSED || (status >= CLI_DEAD && status < CLI_SIGNALLED)) &&
           ferror(stdout) == 0;
}

int cli_each(cli_context *cli, bool queues, cli_each_fn look, const void *options)
{
    cli_each_item item = {.follows = false};
    int status = CLI_DONE, last = CLI_DONE;

    for (size_t i = 0; i < cli->count && status == CLI_DONE; i++)
        status = cli_each_read(cli, queues, cli->rest[i], &item.handle);
    if (status == CLI_DONE) status = cli_open(cli);
    if (status != CLI_DONE) return status;
    for (size_t i = 0; i < cli->count && goes_on(last); i++) {
        item.name = cli->rest[i];
        (void)cli_each_read(cli, queues, item.name, &item.handle);
        cli_maintain(cli, item.handle.queue);
        last = look(cli, &item, options);
        if (last == CLI_DONE)
            item.follows = true;
        else
            status = last;
    }
    return status;
}
