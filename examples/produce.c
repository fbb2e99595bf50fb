/*
 * produce.c - a program that only produces: it opens a client, enqueues, and prints the handles of its tasks.
 *
 *     produce [REDIS-URL]          (without one: $REEVE_REDIS, else the embedded server)
 *
 *     cc -std=c11 -o produce produce.c $(pkg-config --cflags --libs reeve)
 *
 * The tasks are of the types of the sample plugin; a worker that has it loaded runs them:
 * `reeve wait HANDLE` waits for one, `reeve show HANDLE` shows all that is known about it.
 */
#include <reeve/client.h>
#include <stdio.h>
#include <string.h>

#define QUEUE "example"

static reeve_bytes text(const char *words)
{
    return (reeve_bytes){words, strlen(words)};
}

/* One task with most of what can be asked for. */
static reeve_status enqueue_one(reeve_client *client)
{
    static const char *const tags[] = {"example", "nightly"};
    static const reeve_meta meta[] = {{"trace", "4bf92f3577b34da6"}};
    const reeve_task_spec spec = {
        .size = sizeof(spec),
        .queue = QUEUE,
        .type = "echo",
        .payload = text("{\"hello\":\"world\"}"),
        .priority = -5,        /* before tasks of priority 0 */
        .in_ms = 2000,         /* not before two seconds have passed */
        .group = "customer-7", /* takes turns with other groups */
        .attempts = 5,
        .timeout_ms = 30000,
        .backoff = &(reeve_backoff){.base_ms = 500, .cap_ms = 60000},
        .tags = tags,
        .tag_count = 2,
        .meta = meta,
        .meta_count = 1,
    };
    char id[REEVE_ID_MAX];
    reeve_status status = reeve_enqueue(client, &spec, id);

    if (status == REEVE_OK) printf("%s/%s\n", spec.queue, id);
    return status;
}

/*
 * The producer's own id makes enqueueing repeatable: whoever is not sure whether it went through (REEVE_ELOST, a crash
 * of its own) does it again, and REEVE_EEXISTS says that the task is there.
 */
static reeve_status enqueue_once(reeve_client *client)
{
    const reeve_task_spec spec = {.queue = QUEUE, .type = "noop", .id = "invoice-2026-0001"};
    reeve_status status = reeve_enqueue(client, &spec, NULL);

    if (status == REEVE_EEXISTS) {
        fprintf(stderr, "produce: %s/%s was there before\n", spec.queue, spec.id);
        status = REEVE_OK;
    }
    if (status == REEVE_OK) printf("%s/%s\n", spec.queue, spec.id);
    return status;
}

/* Many go in bulk, and each is answered for. */
static reeve_status enqueue_many(reeve_client *client)
{
    enum { COUNT = 10 };
    reeve_task_spec specs[COUNT];
    reeve_enqueued results[COUNT];
    reeve_status status;

    for (int i = 0; i < COUNT; i++) {
        specs[i] = (reeve_task_spec){.queue = QUEUE, .type = "sleep", .payload = text("{\"ms\":100}"), .priority = i};
    }
    status = reeve_enqueue_many(client, specs, COUNT, results);
    for (int i = 0; i < COUNT; i++) {
        if (results[i].status == REEVE_OK) {
            printf("%s/%s\n", QUEUE, results[i].id);
        } else {
            fprintf(stderr, "produce: task %d: %s\n", i + 1, reeve_status_text(results[i].status));
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    reeve_client_options options = {.size = sizeof(options), .redis = argc > 1 ? argv[1] : NULL, .name = "produce"};
    reeve_client *client = NULL;
    char words[512] = "";
    reeve_status status = reeve_client_open_with_error(&client, &options, words, sizeof(words));

    if (status != REEVE_OK) {
        fprintf(stderr, "produce: %s\n", words);
        return 3;
    }
    status = enqueue_one(client);
    if (status == REEVE_OK) status = enqueue_once(client);
    if (status == REEVE_OK) status = enqueue_many(client);
    if (status != REEVE_OK)
        fprintf(stderr, "produce: %s (%s)\n", reeve_client_error(client), reeve_status_text(status));
    reeve_client_close(client);
    return status == REEVE_OK ? 0 : 1;
}
