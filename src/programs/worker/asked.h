/*
 * asked.h - requests to the program that came through Redis (`reeve signal`), on their way from the worker's thread to
 * the main thread.
 */
#ifndef HOST_ASKED_H
#define HOST_ASKED_H

#include <stdbool.h>

typedef enum host_request { HOST_ASKED_STOP, HOST_ASKED_RELOAD, HOST_ASKED_ROTATE, HOST_ASKED_STACK } host_request;

typedef struct host_asked {
    host_request request;
    char id[64];     /* for reeve_worker_answer */
    char thread[64]; /* of HOST_ASKED_STACK: which; "": all */
} host_asked;

/* reeve_worker_options.on_request; ends the main thread's wait (signals.h). */
bool host_asked_note(void *user, const char *id, const char *request);

/* The oldest request; false: there is none. */
bool host_asked_take(host_asked *ret);

#endif
