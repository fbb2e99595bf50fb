/*
 * mhd.h - the functions of libmicrohttpd, which is loaded when the first server starts. It brings a dozen libraries of its
 * own, 4 MiB of memory and some milliseconds, which most workers and commands do not need.
 */
#ifndef RV_WEB_MHD_H
#define RV_WEB_MHD_H

#include <microhttpd.h>

#include "base/error.h"

#define RV_MHD_FUNCTIONS(X)          \
    X(start_daemon)                  \
    X(quiesce_daemon)                \
    X(stop_daemon)                   \
    X(get_connection_info)           \
    X(get_connection_values)         \
    X(lookup_connection_value)       \
    X(set_connection_value)          \
    X(create_response_from_buffer)   \
    X(create_response_from_callback) \
    X(add_response_header)           \
    X(queue_response)                \
    X(destroy_response)

#define RV_MHD_MEMBER(name) __typeof__(MHD_##name) *name;

typedef struct rv_mhd_functions {
    RV_MHD_FUNCTIONS(RV_MHD_MEMBER)
} rv_mhd_functions;

/* Set by rv_mhd_load. */
extern rv_mhd_functions rv_mhd;

/* Loads the library; again: does nothing. Any thread. REEVE_ESYSTEM: it is missing, or lacks a function. */
reeve_status rv_mhd_load(rv_error *error);

#endif
