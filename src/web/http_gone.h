/*
 * http_gone.h - tells calls that wait when their clients have closed the connection. One thread waits for all of them.
 */
#ifndef RV_WEB_HTTP_GONE_H
#define RV_WEB_HTTP_GONE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rv_http_gone rv_http_gone;

/* A call that waits. */
typedef struct rv_http_gone_watch {
    struct rv_http_gone_watch *next;
    uint64_t number;
    int fd;
    bool told;
    void (*gone)(void *user);
    void *user;
} rv_http_gone_watch;

/* NULL: no memory, descriptors or threads. */
rv_http_gone *rv_http_gone_open(void);
/* Nothing may be watched any more. NULL: does nothing. */
void rv_http_gone_close(rv_http_gone *gone);

/*
 * Calls watch->gone once, on another thread, when the other side of the socket has closed it, or its direction to here.
 * The members `fd`, `gone` and `user` are set; the watch stays the caller's. Without memory nothing is watched.
 */
void rv_http_gone_add(rv_http_gone *gone, rv_http_gone_watch *watch);
/* After that watch->gone is not running, and is not called any more. True: it was called. */
bool rv_http_gone_remove(rv_http_gone *gone, rv_http_gone_watch *watch);

#endif
