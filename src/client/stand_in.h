/*
 * stand_in.h - what carries out the calls of a client that has no Redis: a client for tests (reeve/testing.h).
 */
#ifndef RV_CLIENT_STAND_IN_H
#define RV_CLIENT_STAND_IN_H

#include "client/client.h"

typedef struct rv_stand_in {
    /* Enqueues a checked task under an id. all: the specs of the call. REEVE_EUNIQUE, REEVE_ENOTFOUND: other has the id
     * of the holder or of the parent. */
    reeve_status (*enqueue)(void *context, const reeve_task_spec *spec, const char *id, const reeve_task_spec *all,
                            size_t all_count, char other[REEVE_ID_MAX]);
    /* A script on a task. *ret lives until the next call. NULL: there is no such script here. */
    const rv_reply *(*script)(void *context, const rv_simple_call *call);
    /* Adds parents to a waiting task, or removes the handles from them. closed: as rv_client_depend_add_members, or
     * NULL. */
    reeve_status (*depend)(void *context, const char *queue, const char *id, const reeve_parent *parents,
                           const char *const *handles, size_t count, bool *closed, rv_error *error);
    void (*close)(void *context);
} rv_stand_in;

/* Opens a client that has this in place of Redis. On failure the caller still owns the context, and ret_error has the
 * reason. */
reeve_status rv_stand_in_open(reeve_client **ret, const rv_stand_in *stand_in, void *context,
                              const reeve_size_limits *size_limits, rv_error *error);

/* reeve_enqueue_many of specs that have been read. */
reeve_status rv_stand_in_enqueue(reeve_client *client, const reeve_task_spec *specs, size_t count,
                                 reeve_enqueued *results);

/* rv_client_script. */
reeve_status rv_stand_in_script(reeve_client *client, const rv_simple_call *call, const rv_reply **ret);

/* REEVE_EUNSUPPORTED: the client has no Redis. */
reeve_status rv_stand_in_refuse(reeve_client *client);

#endif
