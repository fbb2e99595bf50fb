/*
 * redis_call.c - one command to a Redis server, and its reply as redis-cli prints it where its output is no terminal. redis-cli takes
 * some twenty times as long to start, for its libraries, and the system tests call Redis some thousand times.
 *
 *     redis_call SOCKET|PORT COMMAND [ARGUMENT...]
 *
 * The server listens on a unix socket or on 127.0.0.1. REDISCLI_AUTH is the password of the default user. Ends with 0 when there was a
 * reply, be it an error, else with 1.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static FILE *from, *to;

static void give_up(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void give_up(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    (void)vfprintf(stderr, format, list);
    va_end(list);
    (void)fputc('\n', stderr);
    exit(1);
}

/* ---- the connection -------------------------------------------------------------------------------------------- */

static int connect_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path)) give_up("%s: this path is too long", path);
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? fd : -1;
}

static int connect_port(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? fd : -1;
}

static void open_connection(const char *where)
{
    int fd = strchr(where, '/') != NULL ? connect_unix(where) : connect_port(where);
    if (fd < 0) give_up("Could not connect to Redis at %s: %s", where, strerror(errno));
    from = fdopen(fd, "r");
    to = fdopen(dup(fd), "w");
    if (from == NULL || to == NULL) give_up("out of memory");
}

static void send_command(char *const *words, size_t count)
{
    (void)fprintf(to, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++) (void)fprintf(to, "$%zu\r\n%s\r\n", strlen(words[i]), words[i]);
    (void)fflush(to); /* (what went wrong with it, the reply shows) */
}

/* ---- the reply ------------------------------------------------------------------------------------------------- */

/* A line of the reply without its end. */
static const char *read_line(void)
{
    static char *line;
    static size_t size;
    ssize_t length = getline(&line, &size, from);
    if (length < 2) give_up("Error: Server closed the connection");
    line[length - 2] = '\0';
    return line;
}

static void print_bytes(long length)
{
    for (; length > 0; length--) {
        int byte = getc(from);
        if (byte == EOF) give_up("Error: Server closed the connection");
        (void)putchar(byte);
    }
    (void)read_line();
}

/* Values of a list stand on lines of their own; nothing is printed for a value that is not there. */
static void print_reply(void)
{
    const char *line = read_line();
    long count = strtol(line + 1, NULL, 10);
    switch (line[0]) {
    case '+':
    case ':':
        (void)fputs(line + 1, stdout);
        return;
    case '-':
        (void)puts(line + 1);
        return;
    case '$':
        if (count >= 0) print_bytes(count);
        return;
    case '*':
        for (long i = 0; i < count; i++) {
            if (i > 0) (void)putchar('\n');
            print_reply();
        }
        return;
    default:
        give_up("Error: Protocol error: %s", line);
    }
}

static void say_password(const char *password)
{
    char *words[] = {strdup("AUTH"), strdup(password)};
    send_command(words, 2);
    const char *line = read_line();
    if (line[0] == '-') (void)fprintf(stderr, "AUTH failed: %s\n", line + 1);
}

int main(int argc, char **argv)
{
    if (argc < 3) give_up("usage: redis_call SOCKET|PORT COMMAND [ARGUMENT...]");
    open_connection(argv[1]);
    const char *password = getenv("REDISCLI_AUTH");
    if (password != NULL) say_password(password);
    send_command(argv + 2, (size_t)argc - 2);
    print_reply();
    (void)putchar('\n');
    return 0;
}
