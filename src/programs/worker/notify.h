/*
 * notify.h - telling a service manager, by systemd's protocol (sd_notify): a datagram to the socket that NOTIFY_SOCKET
 * names. Without that variable nothing happens.
 */
#ifndef HOST_NOTIFY_H
#define HOST_NOTIFY_H

#include <stdint.h>

/* Sends "READY=1" and the like, best effort. The first call is the main thread's. */
void host_notify(const char *state);

/* How often "WATCHDOG=1" is due, in milliseconds: half of what the manager asks for; 0: it does not ask. */
int64_t host_watchdog_ms(void);

#endif
