/*
 * http_receiver.c - a scripted HTTP server: http_receiver FILE STATUS...: prints its port, then answers one request after the other with
 * the next STATUS, the last one again and again; "hang" reads and never answers. Each body is appended to FILE, behind a line "== PATH
 * STATUS". It runs until it is killed.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST_MAX (8 * 1024 * 1024)

/* Reads a request; NULL: it is not complete. *ret_body is in what is returned. */
static char *read_request(int fd, char **ret_body)
{
    char *text = malloc(REQUEST_MAX + 1);
    size_t length = 0;

    while (text != NULL && length < REQUEST_MAX) {
        ssize_t got = read(fd, text + length, REQUEST_MAX - length);
        if (got <= 0) break;
        length += (size_t)got;
        text[length] = '\0';
        char *end = strstr(text, "\r\n\r\n"), *size = strstr(text, "Content-Length: ");
        if (end == NULL || size == NULL) continue;
        if (length - (size_t)(end + 4 - text) < strtoul(size + 16, NULL, 10)) continue;
        *ret_body = end + 4;
        return text;
    }
    free(text);
    return NULL;
}

static void answer(int fd, const char *path, const char *status)
{
    char *body = NULL, *text = read_request(fd, &body);
    FILE *file = text == NULL ? NULL : fopen(path, "a");

    if (file == NULL) exit(1);
    (void)fprintf(file, "== %.*s %s\n%s\n", (int)strcspn(text + 5, " "), text + 5, status, body);
    (void)fclose(file);
    if (strcmp(status, "hang") != 0) (void)dprintf(fd, "HTTP/1.1 %s X\r\nContent-Length: 0\r\n\r\n", status);
    free(text);
}

int main(int count, char **arguments)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (count < 3 || fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, 16) != 0) return 1;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0) return 1;
    (void)printf("%u\n", ntohs(address.sin_port));
    (void)fflush(stdout);
    for (int at = 2;; at = at + 1 < count ? at + 1 : at) {
        int client = accept(fd, NULL, NULL);
        if (client < 0) return 1;
        answer(client, arguments[1], arguments[at]);
        if (strcmp(arguments[at], "hang") != 0) (void)close(client);
    }
}
