/*
 * pull.c - a program that takes tasks itself, without handlers: the sums of numbers.
 *
 *     pull QUEUE [MAX]
 *
 * Each task has a payload of numbers, separated by blanks; its result is their sum. The program ends when no task has
 * come for a second, or after MAX tasks. A task whose payload is no list of numbers dies.
 */
#include <reeve/reeve.h>
#include <stdio.h>
#include <stdlib.h>

#define AT_ONCE 16

/* Chooses the outcome of a task. */
static reeve_outcome add_up(reeve_task *task)
{
    const char *at = reeve_task_payload(task).data;
    char *end = NULL;
    char text[32];
    long long sum = 0;

    while (*at != '\0') {
        sum += strtoll(at, &end, 10);
        if (end == at) return reeve_task_fail(task, "payload", "\"%.20s\" is no number", at);
        at = end;
        while (*at == ' ' || *at == '\n') at++;
    }
    int length = snprintf(text, sizeof(text), "%lld", sum);
    return reeve_task_done(task, text, (size_t)length);
}

/* One round: leases some tasks, and settles all of them in one call. Returns how many; -1: Redis cannot be reached. */
static int run_some(reeve_consumer *consumer, unsigned max)
{
    reeve_task *tasks[AT_ONCE];
    reeve_outcome outcomes[AT_ONCE];
    unsigned count;

    if (reeve_consumer_lease(consumer, tasks, max < AT_ONCE ? max : AT_ONCE, 1000, &count) != REEVE_OK) return -1;
    for (unsigned i = 0; i < count; i++) {
        printf("%s, attempt %u\n", reeve_task_handle(tasks[i]), reeve_task_attempt(tasks[i]));
        outcomes[i] = add_up(tasks[i]);
    }
    reeve_status status = reeve_consumer_settle_many(consumer, tasks, outcomes, count, NULL);
    /* A lease may have been lost meanwhile: that task runs elsewhere. */
    if (status != REEVE_OK) fprintf(stderr, "pull: %s\n", reeve_consumer_error(consumer));
    return status == REEVE_OK || status == REEVE_EREFUSED ? (int)count : -1;
}

int main(int argc, char **argv)
{
    char error[512];
    reeve_consumer *consumer;
    int ran = 0, count = 1;

    if (argc < 2) {
        fprintf(stderr, "usage: pull QUEUE [MAX]\n");
        return 2;
    }
    int max = argc > 2 ? atoi(argv[2]) : 1000000;
    const char *const queues[] = {argv[1]};
    const reeve_consumer_options options = {.size = sizeof(options), .queues = queues, .queue_count = 1};
    if (reeve_consumer_open(&consumer, &options, error, sizeof(error)) != REEVE_OK) {
        fprintf(stderr, "pull: %s\n", error);
        return 1;
    }
    while (ran < max && (count = run_some(consumer, (unsigned)(max - ran))) > 0) ran += count;
    if (count < 0) fprintf(stderr, "pull: %s\n", reeve_consumer_error(consumer));
    reeve_consumer_close(consumer);
    printf("%d tasks\n", ran);
    return count < 0 ? 1 : 0;
}
