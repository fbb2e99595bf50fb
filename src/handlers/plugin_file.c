#include "handlers/plugin_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "base/text.h"

#define PATH_SHOWN_MAX ((size_t)220)
#define MEMORY_NAME 249 /* the limit of the kernel */

/* ---- looking --------------------------------------------------------------------------------------------------- */

static void take_stamp(rv_plugin_stamp *ret, const struct stat *about)
{
    *ret = (rv_plugin_stamp){
        .device = about->st_dev, .inode = about->st_ino, .size = about->st_size, .modified = about->st_mtim};
}

bool rv_plugin_file_is_same(const rv_plugin_stamp *one, const rv_plugin_stamp *other)
{
    return one->device == other->device && one->inode == other->inode && one->size == other->size &&
           one->modified.tv_sec == other->modified.tv_sec && one->modified.tv_nsec == other->modified.tv_nsec;
}

static bool is_library(const Elf64_Ehdr *header, ssize_t length)
{
    const uint16_t one = 1;
    unsigned char order = *(const unsigned char *)&one == 1 ? ELFDATA2LSB : ELFDATA2MSB;

    return length == (ssize_t)sizeof(*header) && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == order &&
           header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum <= 1000;
}

/* Where the last of its segments and the table of its sections end, as far as it can be read. */
static uint64_t end_of(int fd, const Elf64_Ehdr *header)
{
    uint64_t end = header->e_phoff + (uint64_t)header->e_phnum * sizeof(Elf64_Phdr);
    uint64_t sections = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;

    for (uint16_t i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        off_t at = (off_t)(header->e_phoff + (uint64_t)i * sizeof(segment));

        if (pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment)) break;
        if (segment.p_type == PT_LOAD && segment.p_offset + segment.p_filesz > end)
            end = segment.p_offset + segment.p_filesz;
    }
    return header->e_shoff > 0 && sections > end ? sections : end;
}

/* The loader maps what is not there, and a process that touches it ends. What is no library at all it refuses itself. */
static reeve_status check_complete(int fd, const char *path, off_t size, rv_error *error)
{
    Elf64_Ehdr header;
    ssize_t length = pread(fd, &header, sizeof(header), 0);

    if (!is_library(&header, length)) return REEVE_OK;
    uint64_t end = end_of(fd, &header);
    if (end <= (uint64_t)size) return REEVE_OK;
    return rv_fail(error, REEVE_EPLUGIN,
                   "plugin %s: cannot open it: it has %lld of %llu bytes: write it beside, and rename it when it is "
                   "complete",
                   path, (long long)size, (unsigned long long)end);
}

reeve_status rv_plugin_file_look(rv_plugin_stamp *ret, const char *path, rv_error *error)
{
    struct stat about;

    /* dlopen would block on a FIFO, and reports a directory unclearly. */
    if (stat(path, &about) != 0)
        return rv_fail(error, REEVE_EPLUGIN, "plugin %s: cannot open it: %s", path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return rv_fail(error, REEVE_EPLUGIN, "plugin %s: cannot open it: not a regular file", path);
    take_stamp(ret, &about);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return rv_fail(error, REEVE_EPLUGIN, "plugin %s: cannot open it: %s", path, strerror(errno));
    reeve_status status = check_complete(fd, path, about.st_size, error);
    close(fd);
    return status;
}

/* ---- copying --------------------------------------------------------------------------------------------------- */

static int64_t time_of(const struct timespec *modified)
{
    return (int64_t)modified->tv_sec * 1000000000 + modified->tv_nsec;
}

/* What /proc/self/maps shows of it: the file's path and time. */
static int make_memory(const char *path, const rv_plugin_stamp *stamp)
{
    const char *slash = strrchr(path, '/');
    char name[MEMORY_NAME];

    if (strlen(path) > PATH_SHOWN_MAX && slash != NULL) path = slash + 1;
    (void)snprintf(name, sizeof(name), "%.220s@%" PRIx64, path, (uint64_t)time_of(&stamp->modified));
    return memfd_create(name, MFD_CLOEXEC);
}

/* "/memfd:PATH@TIME (deleted)" */
bool rv_plugin_file_of_memory(char *shown)
{
    static const char begin[] = "/memfd:";
    char *at = strrchr(shown, '@'), *rest = NULL;
    struct stat about;

    if (strncmp(shown, begin, sizeof(begin) - 1) != 0 || at == NULL) return true;
    int64_t modified = (int64_t)strtoull(at + 1, &rest, 16);
    if (strcmp(rest, " (deleted)") != 0) return true;
    *at = '\0';
    memmove(shown, shown + sizeof(begin) - 1, strlen(shown + sizeof(begin) - 1) + 1);
    return stat(shown, &about) == 0 && time_of(&about.st_mtim) == modified;
}

static bool copy_all(int from, int to, off_t size)
{
    while (size > 0) {
        ssize_t sent = sendfile(to, from, NULL, (size_t)size);

        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        size -= sent;
    }
    return true;
}

/* Nobody wrote to it while it was copied. */
static bool is_still(int fd, const rv_plugin_stamp *stamp)
{
    struct stat about;
    rv_plugin_stamp present;

    if (fstat(fd, &about) != 0) return false;
    take_stamp(&present, &about);
    return rv_plugin_file_is_same(&present, stamp);
}

int rv_plugin_file_copy(const char *path, const rv_plugin_stamp *stamp)
{
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int to = from < 0 ? -1 : make_memory(path, stamp);

    if (to >= 0 && !(is_still(from, stamp) && copy_all(from, to, stamp->size) && is_still(from, stamp))) {
        close(to);
        to = -1;
    }
    if (from >= 0) close(from);
    return to;
}

/* A library that cannot be unloaded keeps its name, and its descriptor may be that of the next copy: the number of the
 * copy is in the name, in dots and slashes. */
void rv_plugin_file_copy_path(char ret[RV_PLUGIN_COPY_PATH], int fd)
{
    static atomic_uint copies;
    char number[3 * 32 + 1] = "";
    size_t length = 0;

    for (unsigned left = atomic_fetch_add(&copies, 1) + 1; left > 0; left /= 2) {
        rv_copy_text(number + length, sizeof(number) - length, left % 2 == 1 ? ".//" : "./");
        length = strlen(number);
    }
    (void)snprintf(ret, RV_PLUGIN_COPY_PATH, "/proc/self/fd/%s%d", number, fd);
}
