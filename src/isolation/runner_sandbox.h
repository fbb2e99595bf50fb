/*
 * runner_sandbox.h - what confines a runner: the user that it runs as, and the parts of the system that its handlers cannot
 * reach. The worker reads and sends it (runner_hello.h); the program reeve-runner puts it in force, before it loads plugins
 * (programs/runner/confine.h).
 */
#ifndef RV_RUNNER_SANDBOX_H
#define RV_RUNNER_SANDBOX_H

#include <sys/types.h>

#include "base/error.h"
#include "isolation/runner_message.h"
#include "reeve/worker.h"

#define RV_RUNNER_SANDBOX_PATHS_MAX 64
#define RV_RUNNER_SANDBOX_TEXT 240 /* of what is in force */

typedef struct rv_runner_path {
    const char *path;
    bool writable;
    bool is_scratch; /* "rw:scratch": each runner has a directory of its own there */
} rv_runner_path;

/* Strings are borrowed, from the options of the pool or from the message. */
typedef struct rv_runner_sandbox {
    bool changes_user;
    uid_t uid;
    gid_t gid;
    bool no_network;
    bool filters_calls; /* system calls that no handler needs fail */
    bool limits_files;  /* only what `paths` has can be reached, and what every program needs */
    rv_runner_path paths[RV_RUNNER_SANDBOX_PATHS_MAX];
    size_t path_count;
} rv_runner_sandbox;

/* Whether it asks for anything. */
bool rv_runner_sandbox_is_set(const rv_runner_sandbox *sandbox);

/* Reads the options of a pool. REEVE_EINVAL names what is wrong: a user that does not exist, or that only root may run as;
 * a path that is neither "ro:/PATH", "rw:/PATH" nor "rw:scratch". Blocks as long as the system needs to find the user. */
reeve_status rv_runner_sandbox_choose(rv_runner_sandbox *ret, const reeve_runner_options *options, rv_error *error);

bool rv_runner_sandbox_equals(const rv_runner_sandbox *one, const rv_runner_sandbox *other);

void rv_runner_sandbox_put(rv_buf *out, const rv_runner_sandbox *sandbox);
void rv_runner_sandbox_get(rv_runner_reader *in, rv_runner_sandbox *ret);

#endif
