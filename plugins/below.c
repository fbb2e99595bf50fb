/*
 * below.c - opening files that stay below a directory.
 *
 * openat2() lets the kernel keep to the directory. Where it does not exist (an older kernel, a container whose system calls
 * are filtered, valgrind), the file is found without being opened (O_PATH), the kernel tells where it lies, and what lies
 * below the directory is opened by that very handle: nobody can put another file in its place meanwhile.
 */
#include "below.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Keeps errno. */
static void close_quietly(int file)
{
    int number = errno;

    (void)close(file);
    errno = number;
}

static int handle_path(char *target, size_t size, int handle)
{
    int length = snprintf(target, size, "/proc/self/fd/%d", handle);

    return length > 0 && (size_t)length < size ? 0 : -1;
}

/* Whether what a handle stands for lies below root, as the kernel tells. 0, or an error number. */
static int check_place(int handle, const char *root)
{
    char link[64], place[4096 + 16];
    size_t length = strlen(root);
    ssize_t got;

    if (handle_path(link, sizeof(link), handle) != 0) return ENOSYS;
    got = readlink(link, place, sizeof(place) - 1);
    if (got < 0) return errno == ENOENT ? ENOSYS : errno;
    place[got] = '\0';
    return strncmp(place, root, length) == 0 && (place[length] == '/' || place[length] == '\0') ? 0 : EXDEV;
}

static int open_checked(int directory, const char *root, const char *path, int flags)
{
    char link[64];
    int handle, file, number;

    if (path[0] == '/') {
        errno = EXDEV;
        return -1;
    }
    handle = openat(directory, path, O_PATH | O_CLOEXEC);
    if (handle < 0) return -1;
    number = check_place(handle, root);
    if (number == 0 && (flags & O_PATH) != 0) return handle;
    file = number == 0 && handle_path(link, sizeof(link), handle) == 0 ? open(link, flags) : -1;
    if (number != 0) errno = number;
    close_quietly(handle);
    return file;
}

int below_open(int directory, const char *root, const char *path, int flags)
{
    struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_BENEATH};
    int file = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));

    /* Filters of system calls answer EPERM to what they do not know. */
    if (file >= 0 || (errno != ENOSYS && errno != EPERM)) return file;
    return open_checked(directory, root, path, flags);
}
