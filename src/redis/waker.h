/*
 * waker.h - ends another thread's wait. A bell that stays rung until its owner silences it (an eventfd).
 */
#ifndef RV_WAKER_H
#define RV_WAKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct rv_waker {
    int fd;
    dev_t device; /* identifies the open descriptor */
    ino_t node;
} rv_waker;

reeve_status rv_waker_init(rv_waker *waker, rv_error *error);
void rv_waker_fini(rv_waker *waker);
void rv_waker_ring(const rv_waker *waker);    /* any thread; safe in a signal handler */
void rv_waker_silence(const rv_waker *waker); /* the owner */
/* Sleeps until rung or the deadline; true when rung (and leaves it rung). */
bool rv_waker_wait(const rv_waker *waker, int64_t deadline);

/* False: other code has closed it, and its number may belong to another file by now. */
bool rv_waker_is_whole(const rv_waker *waker);

#endif
