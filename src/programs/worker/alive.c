#include "alive.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/lock.h"
#include "notify.h"
#include "running/os_thread.h"
#include "supervised.h"

#define RETURNED SIGURG /* to the other thread: the main thread is back */

static struct {
    int64_t watchdog_ms; /* how often the service manager wants one; -1: never; 0: not yet known */
    int64_t watchdog_at; /* when the next one for it is due */
    pthread_t helper;
    bool helps;
} self;

int64_t host_alive_tick_watchdog(void)
{
    if (self.watchdog_ms == 0) self.watchdog_ms = host_watchdog_ms() > 0 ? host_watchdog_ms() : -1;
    if (self.watchdog_ms < 0) return RV_FOREVER;
    if (rv_now_ms() >= self.watchdog_at) {
        host_notify("WATCHDOG=1");
        self.watchdog_at = rv_deadline(self.watchdog_ms);
    }
    return self.watchdog_at;
}

int64_t host_alive_tick(void)
{
    int64_t watchdog_at = host_alive_tick_watchdog(), tick_at = host_supervised_tick();

    return watchdog_at < tick_at ? watchdog_at : tick_at;
}

static bool is_to_end(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 && (sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1);
}

/* All its signals are blocked. */
static void *tick_until_returned(void *unused)
{
    sigset_t set;

    (void)unused;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, RETURNED);
    for (;;) {
        int left = rv_poll_timeout(is_to_end() ? RV_FOREVER : host_alive_tick());
        struct timespec most = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000L};
        int got = left < 0 ? sigwaitinfo(&set, NULL) : sigtimedwait(&set, NULL, &most);
        if (got == RETURNED) return NULL;
    }
}

/* Without a thread for it, the main thread gives no sign of life for a while. */
void host_alive_begin_slow(void)
{
    rv_error error = {0};

    if (host_alive_tick() == RV_FOREVER) return; /* nobody listens */
    self.helps = rv_os_thread_start(&self.helper, tick_until_returned, NULL, "reeve-alive", &error) == REEVE_OK;
}

void host_alive_end_slow(void)
{
    if (!self.helps) return;
    (void)pthread_kill(self.helper, RETURNED);
    rv_lock_check(pthread_join(self.helper, NULL));
    self.helps = false;
}
