#include "new_queue.h"

#include "base/nearest.h"
#include "client/client.h"
#include "maintain.h"

bool cli_is_new_queue(const cli_context *cli, const char *queue)
{
    bool known = true;

    return rv_client_knows_of(cli->client, queue, &known) == REEVE_OK && !known;
}

void cli_note_new_queue(const cli_context *cli, const char *queue)
{
    bool known = true;

    if (rv_client_knows(cli->client, queue, &known) == REEVE_OK && !known)
        cli_note(cli, "no such queue yet: %s; the change applies to it once it has tasks", queue);
}

void cli_note_no_queue(const cli_context *cli, const char *queue)
{
    reeve_queue_info *list = NULL;
    size_t count = 0;
    rv_nearest nearest;

    if (cli->json || !cli_is_new_queue(cli, queue)) return;
    rv_nearest_init(&nearest, queue);
    if (reeve_queues(cli->client, &list, &count) != REEVE_OK) count = 0;
    for (size_t i = 0; i < count; i++) rv_nearest_try(&nearest, list[i].name);
    if (nearest.name != NULL)
        cli_note(cli, "no such queue yet: %s; did you mean \"%s\"?", queue, nearest.name);
    else
        cli_note(cli, "no such queue yet: %s", queue);
    reeve_queues_free(list);
}

int cli_open_known_queue(cli_context *cli, const char *queue)
{
    int status = cli_open_queue(cli, queue);

    if (status == CLI_DONE) cli_note_no_queue(cli, queue);
    return status;
}
