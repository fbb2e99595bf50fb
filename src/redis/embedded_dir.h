/*
 * embedded_dir.h - the directory of an embedded server: chosen, made, checked, and how its socket is reached.
 */
#ifndef RV_EMBEDDED_DIR_H
#define RV_EMBEDDED_DIR_H

#include "base/error.h"

#define RV_SOCKET_PATH_SIZE 108 /* what a unix socket's address holds, with the zero byte */

typedef struct rv_embedded_dir {
    char *path; /* absolute */
    int fd;
    /*
     * What a client of this process connects to: <path>/redis.sock. Where that is longer than an address can hold it
     * goes by way of our descriptor, /proc/self/fd/<fd>/redis.sock, and is good only in this process.
     */
    char socket[RV_SOCKET_PATH_SIZE];
} rv_embedded_dir;

/* path NULL: the default one. Makes what is missing (0700). REEVE_ESYSTEM (with words), REEVE_ENOMEM. */
reeve_status rv_embedded_dir_open(rv_embedded_dir *ret, const char *path, rv_error *error);
void rv_embedded_dir_close(rv_embedded_dir *dir);

#endif
