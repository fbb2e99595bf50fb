/*
 * slow.c - a plugin whose hooks take time: as many milliseconds as the first number in the file that REEVE_TEST_SLOW
 * names says for load, and the second one for unload. Without the file they take none.
 */
#include <reeve/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void read_times(unsigned ret[2])
{
    const char *path = getenv("REEVE_TEST_SLOW");
    FILE *file = path != NULL ? fopen(path, "r") : NULL;
    ret[0] = ret[1] = 0;
    if (file == NULL) return;
    if (fscanf(file, "%u %u", &ret[0], &ret[1]) != 2) ret[1] = 0;
    (void)fclose(file);
}

static void wait_ms(unsigned ms)
{
    for (; ms > 100; ms -= 100) (void)usleep(100000);
    (void)usleep(ms * 1000);
}

static int load(void)
{
    unsigned times[2];
    read_times(times);
    wait_ms(times[0]);
    return 0;
}

static void unload(void)
{
    unsigned times[2];
    read_times(times);
    wait_ms(times[1]);
}

static reeve_outcome run_slow(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, NULL, 0);
}

static const reeve_handler handlers[] = {{REEVE_HANDLER, .type = "slow", .run = run_slow}};

REEVE_PLUGIN(.name = "slow", .version = "1", .summary = "has slow hooks", .handlers = handlers, .handler_count = 1,
             .load = load, .unload = unload)
