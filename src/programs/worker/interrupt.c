#include "interrupt.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/log.h"
#include "log_writer.h"
#include "running/os_thread.h"

static struct {
    pthread_t id;
    int signals; /* TERM and INT alone: the others wait for the main thread */
    int done;    /* event: the code of plugins has returned */
    bool started;
    const char *doing;
} watch = {.signals = -1, .done = -1};

static void end_process(void)
{
    rv_log(REEVE_LOG_WARN, "program.ended", "told to stop while code of plugins runs: ending at once", "while",
           watch.doing, NULL);
    host_log_flush(HOST_LOG_END_MS);
    _exit(0);
}

static void *wait_for_signal(void *unused)
{
    (void)unused;
    for (;;) {
        struct signalfd_siginfo got;
        struct pollfd fds[2] = {{.fd = watch.done, .events = POLLIN}, {.fd = watch.signals, .events = POLLIN}};
        if (poll(fds, 2, -1) <= 0) continue;
        if (fds[0].revents != 0) return NULL;
        if (read(watch.signals, &got, sizeof(got)) == (ssize_t)sizeof(got)) end_process();
    }
}

static int open_signals(void)
{
    sigset_t set;

    if (sigemptyset(&set) != 0 || sigaddset(&set, SIGTERM) != 0 || sigaddset(&set, SIGINT) != 0) return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void close_all(void)
{
    if (watch.signals >= 0) close(watch.signals);
    if (watch.done >= 0) close(watch.done);
    watch.signals = watch.done = -1;
}

void host_interrupt_begin(const char *doing)
{
    rv_error error = {0};

    watch.doing = doing;
    watch.signals = open_signals();
    watch.done = eventfd(0, EFD_CLOEXEC);
    watch.started = watch.signals >= 0 && watch.done >= 0 &&
                    rv_os_thread_start(&watch.id, wait_for_signal, NULL, "reeve-interrupt", &error) == REEVE_OK;
    if (!watch.started) close_all();
}

void host_interrupt_end(void)
{
    if (!watch.started) return;
    (void)eventfd_write(watch.done, 1);
    rv_lock_check(pthread_join(watch.id, NULL));
    watch.started = false;
    close_all();
}
