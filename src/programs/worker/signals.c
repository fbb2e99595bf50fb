#include "signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <ucontext.h>
#include <unistd.h>

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

/* ---- reading them ---------------------------------------------------------------------------------------------- */

int host_signals_open(void)
{
    static const int ours[] = {SIGTERM, SIGINT, SIGTSTP, SIGHUP, SIGUSR1};
    sigset_t set;

    reader = pthread_self();
    process = getpid();
    if (sigemptyset(&set) != 0) return -1;
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        if (sigaddset(&set, ours[i]) != 0) return -1;
    }
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) return -1;
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) pass_on_default(ours[i]);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int host_signals_next(int fd)
{
    struct signalfd_siginfo got;

    return read(fd, &got, sizeof(got)) == (ssize_t)sizeof(got) ? (int)got.ssi_signo : 0;
}
