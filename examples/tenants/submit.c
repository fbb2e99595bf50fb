/*
 * submit.c - the front: a line "TENANT REPORT [MILLISECONDS]" of standard input is a request. Each has its answer:
 *
 *     accepted TENANT REPORT HANDLE       it will be made
 *     known TENANT REPORT HANDLE          it is being made already, or will be: somebody pressed the button twice
 *     refused TENANT REPORT WHY
 */
#include <reeve/client.h>
#include <stdio.h>
#include <string.h>

#include "tenants.h"

#define REQUESTS_MAX 256 /* as many at a time: in one go over the wire, and each answered for */
#define NAME_MAX_TEXT "64"
#define NAME_SIZE 65

struct request {
    char tenant[NAME_SIZE];
    char report[NAME_SIZE];
    char key[2 * NAME_SIZE];
    char payload[NAME_SIZE + 16];
};

/* false: the line is no request. */
static bool parse(const char *line, struct request *ret)
{
    unsigned milliseconds = 50;
    int fields = sscanf(line, "%" NAME_MAX_TEXT "s %" NAME_MAX_TEXT "s %7u", ret->tenant, ret->report, &milliseconds);

    if (fields < 2) return false;
    (void)snprintf(ret->key, sizeof(ret->key), "%s/%s", ret->tenant, ret->report);
    (void)snprintf(ret->payload, sizeof(ret->payload), "%s %u", ret->report, milliseconds);
    return true;
}

/* *good becomes false when a line is none. */
static size_t read_some(struct request *requests, bool *good)
{
    char line[512];
    size_t count = 0;

    while (count < REQUESTS_MAX && fgets(line, sizeof(line), stdin) != NULL) {
        if (parse(line, &requests[count])) {
            count++;
        } else {
            fprintf(stderr, "tenants: expected TENANT REPORT [MILLISECONDS], not: %s", line);
            *good = false;
        }
    }
    return count;
}

static void answer(const struct request *request, const reeve_enqueued *result)
{
    if (result->status == REEVE_OK) {
        printf("accepted %s %s " QUEUE "/%s\n", request->tenant, request->report, result->id);
    } else if (result->status == REEVE_EUNIQUE) {
        printf("known %s %s " QUEUE "/%s\n", request->tenant, request->report, result->id);
    } else {
        printf("refused %s %s %s\n", request->tenant, request->report, reeve_status_text(result->status));
    }
}

/* Whether all were accepted or known. */
static bool enqueue(reeve_client *client, const struct request *requests, size_t count)
{
    reeve_task_spec specs[REQUESTS_MAX] = {{0}};
    reeve_enqueued results[REQUESTS_MAX];
    bool good = true;

    for (size_t i = 0; i < count; i++) {
        specs[i] = (reeve_task_spec){.queue = QUEUE,
                                     .type = TYPE,
                                     .payload = {requests[i].payload, strlen(requests[i].payload)},
                                     .group = requests[i].tenant,                   /* tenants take turns ... */
                                     .weight = plan_of(requests[i].tenant)->weight, /* ... and some get more of them */
                                     .unique = requests[i].key}; /* until it has ended: then it may be asked for anew */
    }
    (void)reeve_enqueue_many(client, specs, count, results); /* the results say it of each */
    for (size_t i = 0; i < count; i++) {
        answer(&requests[i], &results[i]);
        good = good && (results[i].status == REEVE_OK || results[i].status == REEVE_EUNIQUE);
    }
    return good;
}

int submit(const char *redis)
{
    static struct request requests[REQUESTS_MAX];
    const reeve_client_options options = {.size = sizeof(options), .redis = redis, .name = "tenants-submit"};
    reeve_client *client = NULL;
    char words[512] = "";
    bool good = true;
    size_t count;

    if (reeve_client_open_with_error(&client, &options, words, sizeof(words)) != REEVE_OK) {
        fprintf(stderr, "tenants: %s\n", words);
        return 3;
    }
    while ((count = read_some(requests, &good)) > 0) good = enqueue(client, requests, count) && good;
    reeve_client_close(client);
    return good && fflush(stdout) == 0 ? 0 : 1;
}
