/*
 * start.c - from the start of a reeve-worker to the end of its first task, which waits for it.
 *
 *     bench-start URL QUEUE WORKER ARGUMENT...     the worker's program and arguments: it must serve QUEUE, type noop
 */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <reeve/reeve.h>

#include "figures.h"

extern char **environ;

static void check(reeve_status status, const char *words)
{
    if (status != REEVE_OK) fail(reeve_status_text(status), words);
}

int main(int argc, char **argv)
{
    reeve_client *client;
    char id[REEVE_ID_MAX], words[256] = "";
    double began, begun;
    pid_t pid;

    if (argc < 4) fail("bench-start", "see the head of its source");
    reeve_client_options options = {.size = sizeof(options), .redis = argv[1]};
    reeve_task_spec spec = {.size = sizeof(spec), .queue = argv[2], .type = "noop"};
    check(reeve_client_open_with_error(&client, &options, words, sizeof(words)), words);
    check(reeve_enqueue(client, &spec, id), reeve_client_error(client));
    began = now();
    if (posix_spawn(&pid, argv[3], NULL, NULL, argv + 3, environ) != 0) fail(argv[3], "cannot be started");
    check(reeve_wait(client, argv[2], id, 20000, NULL), reeve_client_error(client));
    begun = now();
    (void)kill(pid, SIGTERM);
    (void)waitpid(pid, NULL, 0);
    reeve_client_close(client);
    (void)printf("start_ms=%.2f\n", (begun - began) * 1e3);
    return 0;
}
