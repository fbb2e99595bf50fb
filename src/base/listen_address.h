/*
 * listen_address.h - addresses to listen on, as texts: "HOST:PORT", ":PORT", "[::1]:PORT" or "unix:PATH". No I/O.
 */
#ifndef RV_BASE_LISTEN_ADDRESS_H
#define RV_BASE_LISTEN_ADDRESS_H

#include <stdbool.h>

#define RV_LISTEN_HOST_SIZE 128
#define RV_LISTEN_PORT_SIZE 8
#define RV_LISTEN_PATH_MAX 107 /* bytes of the path of a unix socket */

/* "HOST:PORT" in its parts, without brackets; an empty host is every address. */
bool rv_listen_address_split(const char *address, char ret_host[RV_LISTEN_HOST_SIZE],
                             char ret_port[RV_LISTEN_PORT_SIZE]);

/* Whether the text is an address. */
bool rv_listen_address_is_valid(const char *address);

#endif
