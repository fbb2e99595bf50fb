#include "base/listen_address.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

bool rv_listen_address_split(const char *address, char ret_host[RV_LISTEN_HOST_SIZE],
                             char ret_port[RV_LISTEN_PORT_SIZE])
{
    const char *colon = strrchr(address, ':');
    int64_t number;

    if (colon == NULL || !rv_parse_int(colon + 1, 0, 65535, &number)) return false;
    size_t length = (size_t)(colon - address);
    if (length >= 2 && address[0] == '[' && address[length - 1] == ']') {
        address++;
        length -= 2;
    } else if (memchr(address, ':', length) != NULL) {
        return false;
    }
    if (length >= RV_LISTEN_HOST_SIZE) return false;
    memcpy(ret_host, address, length);
    ret_host[length] = '\0';
    (void)snprintf(ret_port, RV_LISTEN_PORT_SIZE, "%d", (int)number);
    return true;
}

bool rv_listen_address_is_valid(const char *address)
{
    char host[RV_LISTEN_HOST_SIZE], port[RV_LISTEN_PORT_SIZE];

    if (strncmp(address, "unix:", 5) == 0) return address[5] != '\0' && strlen(address + 5) <= RV_LISTEN_PATH_MAX;
    return rv_listen_address_split(address, host, port);
}
