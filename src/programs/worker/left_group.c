#include "left_group.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

#define GRACE_MS 2000
#define LOOK_AGAIN_MS 20

/* Also one that has ended and is not reaped. */
static bool has_children(pid_t group)
{
    siginfo_t about = {0};

    return waitid(P_PGID, (id_t)group, &about, WEXITED | WNOHANG | WNOWAIT) == 0;
}

void host_left_group_ask(pid_t worker)
{
    (void)kill(-worker, SIGTERM);
}

static void kill_first(host_left_groups *of)
{
    char number[RV_NUMBER_TEXT];
    pid_t group = of->list[0].id;

    of->count--;
    memmove(&of->list[0], &of->list[1], of->count * sizeof(of->list[0]));
    if (!has_children(group)) return;
    rv_log(REEVE_LOG_WARN, "worker.left_behind", "processes that handlers have started did not end: they are killed",
           "pid", rv_number_text(number, (uint64_t)group), NULL);
    (void)kill(-group, SIGKILL);
}

void host_left_group_add(host_left_groups *of, pid_t worker)
{
    if (!has_children(worker)) return;
    if (of->count == HOST_LEFT_GROUPS) kill_first(of);
    of->list[of->count].id = worker;
    of->list[of->count++].until_ms = rv_deadline(GRACE_MS);
}

int64_t host_left_group_look(host_left_groups *of)
{
    while (of->count > 0 && (rv_now_ms() >= of->list[0].until_ms || !has_children(of->list[0].id))) kill_first(of);
    return of->count > 0 ? of->list[0].until_ms : RV_FOREVER;
}

void host_left_group_wait(host_left_groups *of)
{
    while (host_left_group_look(of) != RV_FOREVER) {
        (void)poll(NULL, 0, LOOK_AGAIN_MS);
        while (waitpid(-1, NULL, WNOHANG) > 0) continue;
    }
}
