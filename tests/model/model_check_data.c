/* reeve check: it finds nothing in a queue that only scripts have changed, whatever they have done. */
#include <stdio.h>
#include <stdlib.h>

#include "model/model_seen.h"
#include "reeve/check.h"
#include "support/queue.h"

enum { QUEUE };

void model_check_data_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
}

static void differ(const reeve_finding *finding, void *context)
{
    (void)context;
    model_differ("check finds %s in queue %s: %s", finding->kind, finding->queue, finding->text);
}

void model_check_data(const int arg[ARGS])
{
    reeve_checked checked;
    const char *queue = arg[QUEUE] == 0 ? "a" : "b";
    reeve_status status = reeve_check(test_client, queue, false, differ, NULL, NULL, &checked);
    if (status != REEVE_OK) model_differ("check fails: %s", reeve_client_error(test_client));
    COVER(CHECK);
}

void model_check_data_always(void)
{
    static int always = -1;
    if (always < 0) always = getenv("REEVE_TEST_CHECK") != NULL;
    for (int queue = 0; always && queue < QUEUES && !model.words[0]; queue++)
        model_check_data((const int[ARGS]){queue});
}
