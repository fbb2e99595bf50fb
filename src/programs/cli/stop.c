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
static atomic_bool hung_up;
static bool catches_hangup;

static void note(int number)
{
    void *what = atomic_load(&waiting);
    int kept = errno;

    came = number;
    if (wake_fd >= 0) (void)eventfd_write(wake_fd, 1);
    if (what != NULL) wake_waiting(what);
    errno = kept;
}

static void note_hangup(int number)
{
    int kept = errno;

    (void)number;
    atomic_store(&hung_up, true);
    if (wake_fd >= 0) (void)eventfd_write(wake_fd, 1);
    errno = kept;
}

static void set_hangup(void (*handler)(int))
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    (void)sigaction(SIGHUP, &action, NULL);
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

void cli_stop_catch_hangup(void)
{
    struct sigaction before;

    if (sigaction(SIGHUP, NULL, &before) != 0 || before.sa_handler == SIG_IGN) return;
    catches_hangup = true;
    set_hangup(note_hangup);
}

bool cli_stop_take_hangup(void)
{
    eventfd_t count;

    if (!atomic_exchange(&hung_up, false)) return false;
    if (wake_fd >= 0 && came == 0) (void)eventfd_read(wake_fd, &count);
    return true;
}

int cli_stop_signal(void)
{
    return came;
}

void cli_stop_release(void)
{
    set(SIG_DFL);
    if (catches_hangup) set_hangup(SIG_DFL);
    catches_hangup = false;
    atomic_store(&waiting, NULL);
    if (wake_fd >= 0) (void)close(wake_fd);
    wake_fd = -1;
}

int cli_stop_fd(void)
{
    return wake_fd;
}
