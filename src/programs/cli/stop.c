#include "stop.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static volatile sig_atomic_t came;
static _Atomic(reeve_client *) waiting;
static int wake_fd = -1;

static void note(int number)
{
    reeve_client *client = atomic_load(&waiting);
    int kept = errno;

    came = number;
    if (wake_fd >= 0) (void)eventfd_write(wake_fd, 1);
    if (client != NULL) reeve_client_interrupt(client);
    errno = kept;
}

static void set(void (*handler)(int))
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    action.sa_flags = (int)SA_RESETHAND; /* and no SA_RESTART: a blocked read returns */
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

void cli_stop_catch(reeve_client *client)
{
    atomic_store(&waiting, client);
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    set(note);
}

int cli_stop_signal(void)
{
    return came;
}

void cli_stop_release(void)
{
    set(SIG_DFL);
    atomic_store(&waiting, NULL);
    if (wake_fd >= 0) (void)close(wake_fd);
    wake_fd = -1;
}

int cli_stop_fd(void)
{
    return wake_fd;
}
