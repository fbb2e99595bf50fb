#include "interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/log.h"
#include "log/log_writer.h"
#include "running/os_thread.h"

static struct {
    pthread_t id;
    bool started;
    const char *doing;
} watch;

#define RETURNED SIGURG /* to the watching thread: the code of plugins has returned */

static void end_process(void)
{
    rv_log(REEVE_LOG_WARN, "program.ended", "told to stop while code of plugins runs: ending at once", "while",
           watch.doing, NULL);
    host_log_flush(HOST_LOG_END_MS);
    _exit(0);
}

/* TERM and INT alone: the others wait for the main thread. */
static void *wait_for_signal(void *unused)
{
    sigset_t set;

    (void)unused;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, RETURNED);
    for (;;) {
        int got = sigwaitinfo(&set, NULL);
        if (got == RETURNED) return NULL;
        if (got > 0) end_process();
    }
}

void host_interrupt_begin(const char *doing)
{
    rv_error error = {0};

    watch.doing = doing;
    watch.started = rv_os_thread_start(&watch.id, wait_for_signal, NULL, "reeve-interrupt", &error) == REEVE_OK;
}

void host_interrupt_end(void)
{
    if (!watch.started) return;
    (void)pthread_kill(watch.id, RETURNED);
    rv_lock_check(pthread_join(watch.id, NULL));
    watch.started = false;
}
