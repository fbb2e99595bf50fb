#include "exit_guard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "crash_handler.h"
#include "log/log_writer.h"

static _Atomic pid_t guarded; /* 0: exit() is the program's own */

static void tell_exit(void)
{
    char thread[32];

    /* In a forked child the locks of the log may be held for ever. */
    if (atomic_load(&guarded) != getpid()) return;
    host_crash_handler_note_exit();
    if (pthread_getname_np(pthread_self(), thread, sizeof(thread)) != 0) rv_copy_text(thread, sizeof(thread), "");
    rv_log(REEVE_LOG_ERROR, "program.exit",
           "a plugin or handler called exit: the process ends, and what it runs counts as crashed", "thread", thread,
           NULL);
    host_log_flush(HOST_LOG_END_MS);
    _exit(HOST_EXIT_STATUS);
}

void host_exit_guard_begin(void)
{
    if (atexit(tell_exit) == 0) atomic_store(&guarded, getpid());
}

void host_exit_guard_end(void)
{
    atomic_store(&guarded, 0);
}
