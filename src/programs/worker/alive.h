/*
 * alive.h - signs of life: to the supervisor (supervised.h), and to the service manager, which may have a watchdog.
 *
 * The main thread gives them. At a reload it runs code of plugins, such as load hooks, which may take minutes, and it
 * writes settings to a Redis that may be slow. The worker runs tasks meanwhile and must not count as frozen: another
 * thread gives the signs of life for that time. It stops when TERM or INT wait for the main thread, so that a hook that
 * hangs does not keep a worker that is to end.
 */
#ifndef HOST_ALIVE_H
#define HOST_ALIVE_H

#include <stdint.h>

/* The main thread works. Returns when it is to say so again (monotonic ms), or RV_FOREVER. */
int64_t host_alive_tick(void);

/* The same, for the service manager alone: of the supervisor, while its worker starts or ends. */
int64_t host_alive_tick_watchdog(void);

/* From now on, and no longer, another thread says so. These do not nest. */
void host_alive_begin_slow(void);
void host_alive_end_slow(void);

#endif
