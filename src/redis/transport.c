#include "redis/transport.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fork.h"

void rv_transport_init(rv_transport *transport, const rv_waker *quit)
{
    *transport = (rv_transport){.fd = -1, .quit = quit};
}

bool rv_transport_is_open(const rv_transport *transport)
{
    return transport->fd >= 0;
}

ssize_t rv_transport_read(rv_transport *transport, void *data, size_t length)
{
    ssize_t got;
    do {
        got = transport->ops->read(transport, data, length);
    } while (got < 0 && errno == EINTR);
    return got;
}

ssize_t rv_transport_write(rv_transport *transport, const void *data, size_t length)
{
    ssize_t put;
    do {
        put = transport->ops->write(transport, data, length);
    } while (put < 0 && errno == EINTR);
    return put;
}

bool rv_transport_has_news(rv_transport *transport)
{
    return transport->ops->has_news(transport);
}

bool rv_transport_is_inherited(const rv_transport *transport)
{
    return transport->generation != rv_fork_generation();
}

void rv_transport_close(rv_transport *transport, bool abort)
{
    if (transport->fd < 0) return;
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    /* Fails on a unix socket, where there is nothing on its way that could be called back. */
    if (abort && !rv_transport_is_inherited(transport))
        (void)setsockopt(transport->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    transport->ops->close(transport);
    close(transport->fd);
    rv_transport_init(transport, transport->quit);
}

reeve_status rv_transport_wait(rv_transport *transport, short events, int64_t deadline, const rv_waker *waker,
                               short *ret_events)
{
    *ret_events = POLLIN;
    if ((events & POLLIN) && transport->ops->has_buffered(transport)) return REEVE_OK;
    short asked = transport->ops->events ? transport->ops->events(transport, events) : events;
    const rv_waker *quit = transport->quit;
    struct pollfd fds[3] = {{.fd = transport->fd, .events = asked},
                            {.fd = waker ? waker->fd : -1, .events = POLLIN},
                            {.fd = quit ? quit->fd : -1, .events = POLLIN}};
    for (;;) {
        int ready = poll(fds, quit ? 3 : waker ? 2 : 1, rv_poll_timeout(deadline));
        if (ready < 0 && errno != EINTR) return REEVE_ESYSTEM;
        if (ready > 0 && fds[0].revents) break;
        if (ready > 0 && fds[2].revents) return REEVE_ETIMEOUT;
        if (ready > 0) return REEVE_EINTERRUPTED;
        if (rv_now_ms() >= deadline) return REEVE_ETIMEOUT;
    }
    *ret_events = fds[0].revents;
    if (asked != events && (fds[0].revents & POLLOUT)) *ret_events |= POLLIN; /* reading can go on now */
    return REEVE_OK;
}

const char *rv_transport_reason(const rv_transport *transport)
{
    return transport->ops && transport->ops->reason ? transport->ops->reason(transport) : NULL;
}
