#include "signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/clock.h"

static void do_nothing(int signal)
{
    (void)signal;
}

void host_signals_survive_pipes(void)
{
    struct sigaction survive = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};

    (void)sigemptyset(&survive.sa_mask);
    (void)sigaction(SIGPIPE, &survive, NULL); /* (it cannot fail) */
}

/* ---- where a thread does not block them ------------------------------------------------------------------------ */

static pthread_t reader; /* the thread that reads the signals; it blocks them */
static pid_t process;

/* The thread blocks it again, also where it is the reader, which then finds it waiting. In a child that a handler
 * forked, a signal does what it does by default. */
static void pass_on(int signal_number, siginfo_t *about, void *context)
{
    ucontext_t *interrupted = context;
    int saved = errno;

    (void)about;
    if (getpid() == process) {
        (void)sigaddset(&interrupted->uc_sigmask, signal_number);
        (void)pthread_kill(reader, signal_number);
    } else {
        (void)signal(signal_number, SIG_DFL);
        (void)raise(signal_number); /* it comes when this returns */
    }
    errno = saved;
}

/* What the parent ignores stays ignored, also in programs that handlers start. */
static void pass_on_default(int signal_number)
{
    struct sigaction now, then = {.sa_sigaction = pass_on, .sa_flags = SA_RESTART | SA_SIGINFO};

    (void)sigemptyset(&then.sa_mask);
    if (sigaction(signal_number, NULL, &now) != 0 || now.sa_handler != SIG_DFL) return;
    (void)sigaction(signal_number, &then, NULL);
}

/* ---- waiting for them ------------------------------------------------------------------------------------------ */

#define WAKE SIGURG /* nobody else sends it to this thread, and it ends no process */

static sigset_t awaited; /* what the reader blocks and takes */

bool host_signals_open(void)
{
    static const int ours[] = {SIGTERM, SIGINT, SIGTSTP, SIGCONT, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT};

    reader = pthread_self();
    process = getpid();
    (void)sigemptyset(&awaited);
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) (void)sigaddset(&awaited, ours[i]);
    (void)sigaddset(&awaited, WAKE);
    if (sigprocmask(SIG_BLOCK, &awaited, NULL) != 0) return false;
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) pass_on_default(ours[i]);
    pass_on_default(WAKE);
    return true;
}

int host_signals_wait(int64_t deadline)
{
    for (;;) {
        int left = rv_poll_timeout(deadline);
        struct timespec most = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000L};
        int got = left < 0 ? sigwaitinfo(&awaited, NULL) : sigtimedwait(&awaited, NULL, &most);
        if (got == WAKE) return 0;
        if (got > 0) return got;
        if (errno == EAGAIN && rv_now_ms() >= deadline) return 0;
    }
}

void host_signals_wake(void)
{
    (void)pthread_kill(reader, WAKE);
}
