#include "new_queue.h"

#include "client/client.h"

void cli_note_new_queue(const cli_context *cli, const char *queue)
{
    bool known = true;

    if (rv_client_knows(cli->client, queue, &known) == REEVE_OK && !known)
        cli_note(cli, "no such queue yet: %s; the change applies to it once it has tasks", queue);
}
