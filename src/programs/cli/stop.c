#include "stop.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static volatile sig_atomic_t came;
static _Atomic(void *) waiting;
static void (*wake_waiting)(void *what);
static int wake_fd = -1;

static void note(int number)
{
    void *what = atomic_load(&waiting);
    int kept = errno;

    came = number;
    if (wake_fd >= 0) (void)eventfd_write(wake_fd, 1);
    if (what != NULL) wake_waiting(what);
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

static void wake_client(void *client)
{
    reeve_client_interrupt(client);
}

void cli_stop_catch(reeve_client *client)
{
    cli_stop_catch_with(wake_client, client);
}

void cli_stop_catch_with(void (*wake)(void *what), void *what)
{
    wake_waiting = wake;
    atomic_store(&waiting, what);
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
