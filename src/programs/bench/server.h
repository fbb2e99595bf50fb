/*
 * server.h - a redis-server for one benchmark: on a unix socket in a directory of its own, without persistence, ended
 * and removed with it. When this process is killed the kernel kills the server; the directory is then left behind.
 */
#ifndef BENCH_SERVER_H
#define BENCH_SERVER_H

#include <sys/types.h>

#include "base/error.h"

#define BENCH_PATH_SIZE 80 /* a socket's path takes no more than 107 */

typedef struct bench_server {
    pid_t pid; /* 0: none */
    char dir[BENCH_PATH_SIZE];
    char url[BENCH_PATH_SIZE + 32];
} bench_server;

/* Starts it and waits until it can be connected to. REEVE_ESYSTEM, REEVE_ETIMEOUT, with words; then nothing is left.
 * The calling thread must live as long as the server is to. */
reeve_status bench_server_start(bench_server *ret, rv_error *error);
void bench_server_stop(bench_server *server); /* fine when it was not started */

#endif
