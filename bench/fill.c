/*
 * fill.c - puts tasks into a queue, a fixed number a call, for those who count what that costs (see count).
 *
 *     bench-fill URL QUEUE [TASKS [A_CALL]]     of type noop, with payloads of 100 bytes; A_CALL 1: reeve_enqueue
 */
#include <stdlib.h>
#include <string.h>

#include <reeve/reeve.h>

#include "figures.h"

#define PAYLOAD 100

static void check(reeve_status status, const char *words)
{
    if (status != REEVE_OK) fail(reeve_status_text(status), words);
}

int main(int argc, char **argv)
{
    char payload[PAYLOAD], words[256] = "";
    long tasks = number_argument(argc, argv, 3, 1000, 1), a_call = number_argument(argc, argv, 4, 1000, 1);
    reeve_task_spec *specs = calloc((size_t)a_call, sizeof(*specs));
    reeve_enqueued *results = calloc((size_t)a_call, sizeof(*results));
    reeve_client *client;

    if (argc < 3 || specs == NULL || results == NULL) fail("bench-fill", "see the head of its source");
    reeve_client_options options = {.size = sizeof(options), .redis = argv[1], .timeout_ms = 60000};
    reeve_queue_settings settings = {.size = sizeof(settings), .completed = &(reeve_keep){0, 0}};
    check(reeve_client_open_with_error(&client, &options, words, sizeof(words)), words);
    check(reeve_queue_set(client, argv[2], &settings), reeve_client_error(client));
    memset(payload, 'x', sizeof(payload));
    for (long i = 0; i < a_call; i++)
        specs[i] = (reeve_task_spec){.queue = argv[2], .type = "noop", .payload = {payload, sizeof(payload)}};
    for (long done = 0; done < tasks; done += a_call) {
        size_t count = (size_t)(tasks - done < a_call ? tasks - done : a_call);

        check(a_call == 1 ? reeve_enqueue(client, &specs[0], NULL) : reeve_enqueue_many(client, specs, count, results),
              reeve_client_error(client));
    }
    reeve_client_close(client);
    free(results);
    free(specs);
    return 0;
}
