/*
 * web_dead_types.c - the latest dead tasks of a queue by type. Redis counts them by kind of error only, so a limited number of them is
 * read, and the answer says how many.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/failure_json.h"
#include "web.h"

#define QUEUE(call) ((call)->params.value[0])

void web_run_dead_types(web_call *call)
{
    reeve_type_failure *list = NULL;
    reeve_queue_info info;
    size_t count = 0;
    uint64_t seen = 0;
    int64_t look;

    if (!web_query_number(call, "look", 1, 10000, 1000, &look)) return;
    reeve_status status = reeve_queue(call->client, QUEUE(call), &info);
    if (status == REEVE_OK)
        status = reeve_failures_by_type(call->client, QUEUE(call), (uint64_t)look, &list, &count, &seen);
    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return;
    }
    (void)fputs("{\"types\":[", call->out);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) (void)fputc(',', call->out);
        cli_type_failure_json(QUEUE(call), &list[i], call->out);
    }
    (void)fprintf(call->out, "],\"seen\":%" PRIu64 ",\"total\":%" PRIu64 "}\n", seen, info.count[REEVE_STATE_DEAD]);
    reeve_type_failures_free(list);
}
