#include "notify.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"
#include "supervised.h"

/* A path, or with an '@' a name in Linux's abstract namespace; returns the address's length, 0 when it is neither. */
static socklen_t address_of(struct sockaddr_un *address, const char *name)
{
    size_t length = strlen(name);

    if ((name[0] != '/' && name[0] != '@') || length < 2 || length >= sizeof(address->sun_path)) return 0;
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path, name, length);
    if (name[0] == '@') address->sun_path[0] = '\0';
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

void host_notify(const char *state)
{
    /* Read once: later, a plugin may change the environment at the same time. */
    static struct sockaddr_un address;
    static socklen_t length;
    static bool is_read;
    const char *name = is_read ? NULL : getenv("NOTIFY_SOCKET");

    if (name != NULL) length = address_of(&address, name);
    is_read = true;
    if (host_supervised_notify(state) || length == 0) return;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return;
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address, length);
    close(fd);
}

int64_t host_watchdog_ms(void)
{
    int64_t pid, us;

    if (getenv("WATCHDOG_PID") != NULL && (!rv_parse_int(getenv("WATCHDOG_PID"), 1, INT32_MAX, &pid) ||
                                           (pid != (int64_t)getpid() && pid != (int64_t)host_supervised_by())))
        return 0;
    if (!rv_parse_int(getenv("WATCHDOG_USEC"), 1, INT64_MAX, &us)) return 0;
    return us / 2000 > 0 ? us / 2000 : 1;
}
