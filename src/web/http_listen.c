#include "http_listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/listen_address.h"

#define BACKLOG 256

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
    if (address->sa_family != AF_INET6) return false;
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

/* The address in force. */
static void take_name(rv_http_listen *listen)
{
    struct sockaddr_storage own = {0};
    socklen_t length = sizeof(own);
    char host[64] = "", port[8] = "";

    if (getsockname(listen->fd, (struct sockaddr *)&own, &length) != 0) return;
    listen->loopback = is_loopback((const struct sockaddr *)&own);
    (void)getnameinfo((const struct sockaddr *)&own, length, host, sizeof(host), port, sizeof(port),
                      NI_NUMERICHOST | NI_NUMERICSERV);
    (void)snprintf(listen->text, sizeof(listen->text), own.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

static int bind_one(const struct addrinfo *at)
{
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

    if (fd < 0) return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0) return fd;
    int saved = errno;
    (void)close(fd);
    errno = saved;
    return -1;
}

static reeve_status open_tcp(rv_http_listen *ret, const char *address, rv_error *error)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found = NULL;
    char host[RV_LISTEN_HOST_SIZE], port[RV_LISTEN_PORT_SIZE];

    if (!rv_listen_address_split(address, host, port))
        return rv_fail(error, REEVE_EINVAL, "\"%.200s\" is no address: expected HOST:PORT or unix:PATH", address);
    int failed = getaddrinfo(host[0] == '\0' ? NULL : host, port, &hints, &found);
    if (failed != 0) return rv_fail(error, REEVE_EINVAL, "%s: %s", address, gai_strerror(failed));
    for (const struct addrinfo *at = found; at != NULL && ret->fd < 0; at = at->ai_next) ret->fd = bind_one(at);
    int reason = errno;
    freeaddrinfo(found);
    if (ret->fd < 0) return rv_fail(error, REEVE_ESYSTEM, "cannot listen on %s: %s", address, strerror(reason));
    take_name(ret);
    return REEVE_OK;
}

/* Whether a server listens on the socket. */
static bool is_served(const struct sockaddr_un *at)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool served = fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof(*at)) == 0;

    if (fd >= 0) (void)close(fd);
    return served;
}

static reeve_status open_unix(rv_http_listen *ret, const char *path, rv_error *error)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct stat about;

    if (path[0] == '\0' || strlen(path) >= sizeof(at.sun_path))
        return rv_fail(error, REEVE_EINVAL, "unix:%.200s: expected a path of 1 to %zu bytes", path,
                       sizeof(at.sun_path) - 1);
    memcpy(at.sun_path, path, strlen(path) + 1);
    if (lstat(path, &about) == 0 && S_ISSOCK(about.st_mode) && !is_served(&at)) (void)unlink(path);
    ret->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t mask = umask(0077); /* the file's owner alone may connect; its mode can be changed later */
    bool good = ret->fd >= 0 && bind(ret->fd, (const struct sockaddr *)&at, sizeof(at)) == 0;
    (void)umask(mask);
    if (!good || listen(ret->fd, BACKLOG) != 0)
        return rv_fail(error, REEVE_ESYSTEM, "cannot listen on unix:%s: %s", path, strerror(errno));
    memcpy(ret->path, path, strlen(path) + 1);
    (void)snprintf(ret->text, sizeof(ret->text), "unix:%s", path);
    ret->loopback = ret->is_unix = true;
    return REEVE_OK;
}

reeve_status rv_http_listen_open(rv_http_listen *ret, const char *address, rv_error *error)
{
    bool is_unix = strncmp(address, "unix:", 5) == 0;

    *ret = (rv_http_listen){.fd = -1};
    reeve_status status = is_unix ? open_unix(ret, address + 5, error) : open_tcp(ret, address, error);
    if (status != REEVE_OK) rv_http_listen_close(ret);
    return status;
}

void rv_http_listen_close(rv_http_listen *listen)
{
    if (listen->fd >= 0) (void)close(listen->fd);
    if (listen->path[0] != '\0') (void)unlink(listen->path);
    listen->fd = -1;
    listen->path[0] = '\0';
}
