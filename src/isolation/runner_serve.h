/*
 * runner_serve.h - the life of a runner: it loads the plugins, then runs tasks until its worker closes the socket.
 */
#ifndef RV_RUNNER_SERVE_H
#define RV_RUNNER_SERVE_H

#include "isolation/runner_hello.h"

/* Descriptors that the worker gives a runner. */
#define RV_RUNNER_SOCKET_FD 3
#define RV_RUNNER_FLAGS_FD 4
#define RV_RUNNER_CRASH_FD 5 /* memory for the record of a crash; may be absent */

/* Serves the worker at the other end of RV_RUNNER_SOCKET_FD. Returns the exit status of the process. When the worker is
 * gone while a handler runs, the process is killed, with all processes of its group. confine: of the program. */
int rv_runner_serve(rv_runner_confine_fn confine);

#endif
