#include "supervised.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "crash_handler.h"
#include "worker/abandon.h"

#define TICKS 4 /* in the time for which a supervisor waits for one */

static struct {
    pid_t supervisor; /* 0: there is none */
    rv_flight_header *header;
    rv_flight flight;
    int notify_fd;
    int64_t frozen_ms;
    int64_t tick_at;
    unsigned told; /* how often the supervisor has told it to end, as far as that was taken */
} self;

void host_supervised_begin(pid_t supervisor, int flight_fd, rv_flight_header *header, int notify_fd, int64_t frozen_ms)
{
    self.supervisor = supervisor;
    self.header = header;
    self.flight = (rv_flight){.fd = flight_fd, .on_thread = host_crash_handler_on_thread};
    self.notify_fd = notify_fd;
    self.frozen_ms = frozen_ms;
    host_crash_handler_begin(&header->crash);
}

rv_flight_stacks *host_supervised_stacks(void)
{
    return self.supervisor != 0 ? &self.header->stacks : NULL;
}

void host_supervised_prepare(reeve_worker *worker)
{
    if (self.supervisor != 0) rv_worker_set_flight(worker, &self.flight);
}

void host_supervised_works(void)
{
    if (self.supervisor != 0) atomic_store(&self.header->ended, 0);
}

void host_supervised_ends(void)
{
    if (self.supervisor != 0) atomic_store(&self.header->ended, 1);
}

bool host_supervised_renew(bool renews)
{
    if (self.supervisor == 0) return false;
    atomic_store(&self.header->renews, renews ? 1 : 0);
    return true;
}

int64_t host_supervised_tick(void)
{
    if (self.supervisor == 0 || self.frozen_ms <= 0) return RV_FOREVER;
    if (rv_now_ms() >= self.tick_at) {
        atomic_store(&self.header->tick_ms, rv_now_ms());
        self.tick_at = rv_deadline(self.frozen_ms / TICKS);
    }
    return self.tick_at;
}

bool host_supervised_is_orphan(void)
{
    return self.supervisor != 0 && getppid() != self.supervisor;
}

bool host_supervised_was_told(void)
{
    if (self.supervisor == 0) return true;
    unsigned told = atomic_load(&self.header->told);
    bool is_new = told != self.told;
    self.told = told;
    return is_new;
}

void host_supervised_end_group(void)
{
    if (!host_supervised_is_orphan()) return;
    (void)signal(SIGTERM, SIG_IGN);
    (void)kill(0, SIGTERM);
}

pid_t host_supervised_by(void)
{
    return self.supervisor;
}

bool host_supervised_notify(const char *state)
{
    if (self.supervisor == 0) return false;
    (void)send(self.notify_fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT);
    return true;
}
