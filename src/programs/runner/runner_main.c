/*
 * reeve-runner: the process in which the handlers of a thread run, of a pool with process isolation. A worker starts it
 * (src/isolation/runner_process.h); it is of no use by itself.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/streams.h"
#include "confine.h"
#include "isolation/runner_serve.h"
#include "running/flight.h"
#include "worker/crash_handler.h"
#include "worker/stacks.h"

/* A fault is recorded in memory of the worker, if that has given any, and stacks are when it asks. */
static void record_crashes(void)
{
    struct stat about;
    if (fstat(RV_RUNNER_CRASH_FD, &about) != 0 || about.st_size != (off_t)sizeof(rv_flight_runner)) return;
    rv_flight_runner *record = mmap(NULL, sizeof(*record), PROT_READ | PROT_WRITE, MAP_SHARED, RV_RUNNER_CRASH_FD, 0);
    (void)close(RV_RUNNER_CRASH_FD);
    if (record == MAP_FAILED) return;
    host_crash_handler_begin(&record->crash);
    host_stacks_begin(&record->stacks);
}

int main(void)
{
    int kind = 0;
    socklen_t size = sizeof(kind);
    rv_streams_fill();
    if (getsockopt(RV_RUNNER_SOCKET_FD, SOL_SOCKET, SO_TYPE, &kind, &size) != 0 || kind != SOCK_SEQPACKET) {
        (void)fprintf(stderr, "reeve-runner: is started by a worker, for a pool with isolation = \"process\"\n");
        return 2;
    }
    record_crashes();
    return rv_runner_serve(host_confine);
}
