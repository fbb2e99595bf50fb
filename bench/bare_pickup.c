/*
 * bare_pickup.c - the yardstick of a pickup: from just before a push to the moment in which the thread that blocks in a
 * pop has the payload. One at a time, with irregular pauses.
 *
 *     bench-bare-pickup SOCKET [SAMPLES]
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "figures.h"

#define WARM_UP 50

static sem_t seen;
static double seen_at;
static long samples;

static void *pop(void *redis)
{
    for (long i = 0; i < samples + WARM_UP; i++) {
        redisReply *reply = redisCommand(redis, "BRPOP raw 0");

        seen_at = now();
        if (reply == NULL) fail("redis", ((redisContext *)redis)->errstr);
        freeReplyObject(reply);
        (void)sem_post(&seen);
    }
    return NULL;
}

static void rest(void)
{
    struct timespec pause = {.tv_nsec = 1000000 + random() % 3000000};

    (void)nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
    redisContext *producer, *consumer;
    double *values;
    pthread_t thread;

    samples = number_argument(argc, argv, 2, 1000, 1);
    if (argc < 2) fail("bench-bare-pickup", "see the head of its source");
    values = calloc((size_t)samples, sizeof(*values));
    if (values == NULL || sem_init(&seen, 0, 0) != 0) fail("bench-bare-pickup", "no memory");
    producer = dial(argv[1]);
    consumer = dial(argv[1]);
    must(producer, "FLUSHALL");
    if (pthread_create(&thread, NULL, pop, consumer) != 0) fail("bench-bare-pickup", "no thread");
    for (long i = -WARM_UP; i < samples; i++) {
        double sent;

        rest();
        sent = now();
        must(producer, "LPUSH raw %0100d", 0);
        while (sem_wait(&seen) != 0) {}
        if (i >= 0) values[i] = (seen_at - sent) * 1e6;
    }
    (void)pthread_join(thread, NULL);
    print_percentiles(values, samples);
    free(values);
    redisFree(consumer);
    redisFree(producer);
    return 0;
}
