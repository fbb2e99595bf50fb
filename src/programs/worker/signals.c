#include "signals.h"

#include <signal.h>
#include <sys/signalfd.h>
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

int host_signals_open(void)
{
    static const int ours[] = {SIGTERM, SIGINT, SIGTSTP, SIGHUP, SIGUSR1};
    sigset_t set;

    if (sigemptyset(&set) != 0) return -1;
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        if (sigaddset(&set, ours[i]) != 0) return -1;
    }
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int host_signals_next(int fd)
{
    struct signalfd_siginfo got;

    return read(fd, &got, sizeof(got)) == (ssize_t)sizeof(got) ? (int)got.ssi_signo : 0;
}
