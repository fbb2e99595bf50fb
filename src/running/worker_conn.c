#include "running/worker_conn.h"

#include <stdio.h>

#include "protocol/definition.h"

reeve_status rv_worker_conn_create(rv_conn **ret, const reeve_worker *worker, const char *role, const rv_waker *waker,
                                   int64_t command_ms, rv_error *error)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "reeve-%s-%s", worker->id, role);
    rv_conn_options options = {.url = worker->target,
                               .name = name,
                               .waker = waker,
                               .quit = &worker->quit,
                               .command_ms = command_ms,
                               .ns = worker->ns,
                               .format = RV_FORMAT,
                               .format_once = true};
    return rv_conn_create(ret, &options, error);
}
