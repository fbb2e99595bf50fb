#include "client/buffer_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32.h"
#include "base/log.h"
#include "base/mem.h"

#define FRAME 8 /* length and checksum */
#define FIRST_LINE_MAX 128

struct rv_buffer_file {
    int fd;
    int64_t size;
    char *path;
    char first_line[FIRST_LINE_MAX];
};

static reeve_status fail_system(const rv_buffer_file *file, const char *what, rv_error *error)
{
    return rv_fail(error, REEVE_ESYSTEM, "the buffer %s: %s: %s", file->path, what, strerror(errno));
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void add_u32(rv_buf *out, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++) rv_buf_addc(out, (char)(unsigned char)(number >> 8 * i));
}

static uint32_t read_u32(const char *at)
{
    uint32_t number = 0;
    for (unsigned i = 0; i < 4; i++) number |= (uint32_t)(unsigned char)at[i] << 8 * i;
    return number;
}

void rv_buffer_file_add(rv_buf *out, const char *data, size_t length)
{
    add_u32(out, (uint32_t)length);
    add_u32(out, rv_crc32(data, length));
    rv_buf_add(out, data, length);
}

static bool is_zero(const char *data, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (data[i] != '\0') return false;
    }
    return true;
}

/* Where the whole records end. Behind it there is nothing, a record that was written in part, or (*ret_damaged)
 * damage. */
static size_t take_records(const char *data, size_t length, rv_buffer_file_fn take, void *context, bool *ret_damaged)
{
    size_t at = 0;
    *ret_damaged = false;
    while (length - at >= FRAME) {
        size_t size = read_u32(data + at), rest = length - at - FRAME;
        bool whole = size > 0 && size <= rest && read_u32(data + at + 4) == rv_crc32(data + at + FRAME, size);
        if (whole && take(data + at + FRAME, size, context)) {
            at += FRAME + size;
            continue;
        }
        /* The last record may be written in part, and what a file system has not written may be zero. */
        bool torn = !whole && (size >= rest || is_zero(data + at, length - at));
        *ret_damaged = !torn;
        return at;
    }
    return at;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static bool read_all(const rv_buffer_file *file, rv_buf *ret)
{
    char part[65536];
    ssize_t got;
    if (lseek(file->fd, 0, SEEK_SET) != 0) return false;
    while ((got = read(file->fd, part, sizeof(part))) != 0) {
        if (got < 0 && errno != EINTR) return false;
        if (got > 0) rv_buf_add(ret, part, (size_t)got);
    }
    return true;
}

static bool write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t done = write(fd, data, length);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        data += done;
        length -= (size_t)done;
    }
    return true;
}

/* Whether the path still names the open file: the client that had it may have written it anew. */
static bool is_current(const rv_buffer_file *file)
{
    struct stat open_one, named;
    return fstat(file->fd, &open_one) == 0 && stat(file->path, &named) == 0 && open_one.st_ino == named.st_ino &&
           open_one.st_dev == named.st_dev;
}

static reeve_status lock_file(rv_buffer_file *file, rv_error *error)
{
    for (;;) {
        file->fd = open(file->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (file->fd < 0) return fail_system(file, "cannot be opened", error);
        if (flock(file->fd, LOCK_EX | LOCK_NB) != 0) {
            if (errno != EWOULDBLOCK) return fail_system(file, "cannot be locked", error);
            return rv_fail(error, REEVE_ESTATE, "the buffer %s is used by another client", file->path);
        }
        if (is_current(file)) return REEVE_OK;
        (void)close(file->fd);
        file->fd = -1;
    }
}

static reeve_status begin_file(rv_buffer_file *file, rv_error *error)
{
    size_t length = strlen(file->first_line);
    if (ftruncate(file->fd, 0) != 0 || lseek(file->fd, 0, SEEK_SET) != 0 ||
        !write_all(file->fd, file->first_line, length) || fdatasync(file->fd) != 0)
        return fail_system(file, "cannot be written", error);
    file->size = (int64_t)length;
    return REEVE_OK;
}

/* The first line stays where it is: on a full disk it could not be written again. */
static reeve_status empty_file(rv_buffer_file *file, rv_error *error)
{
    size_t length = strlen(file->first_line);
    if (ftruncate(file->fd, (off_t)length) != 0) return fail_system(file, "cannot be written", error);
    file->size = (int64_t)length;
    return fdatasync(file->fd) == 0 ? REEVE_OK : fail_system(file, "cannot be written", error);
}

static reeve_status take_all(rv_buffer_file *file, const rv_buf *all, rv_buffer_file_fn take, void *context,
                             rv_error *error)
{
    size_t first = strlen(file->first_line);
    bool damaged;
    /* A first line that was written in part: nothing was ever put there. */
    if (all->length < first && strncmp(rv_buf_text(all), file->first_line, all->length) == 0)
        return begin_file(file, error);
    if (all->length < first || memcmp(all->data, file->first_line, first) != 0)
        return rv_fail(error, REEVE_ESTATE, "%s is no buffer of this namespace: its first line is not \"%.*s\"",
                       file->path, (int)first - 1, file->first_line);
    size_t end = first + take_records(all->data + first, all->length - first, take, context, &damaged);
    if (damaged)
        return rv_fail(error, REEVE_ESYSTEM, "the buffer %s is damaged at byte %zu of %zu, and is left as it is",
                       file->path, end, all->length);
    if (end < all->length) {
        rv_log(REEVE_LOG_WARN, "client.buffer_torn", "the last record of the buffer was written in part: it is dropped",
               "path", file->path, NULL);
        if (ftruncate(file->fd, (off_t)end) != 0) return fail_system(file, "cannot be written", error);
    }
    file->size = (int64_t)end;
    return REEVE_OK;
}

reeve_status rv_buffer_file_open(rv_buffer_file **ret, const char *path, const char *ns, rv_buffer_file_fn take,
                                 void *context, rv_error *error)
{
    rv_buf all;
    rv_buffer_file *file = rv_zalloc(sizeof(*file));
    if (file == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for the buffer %s", path);
    file->fd = -1;
    file->path = rv_strdup(path);
    (void)snprintf(file->first_line, sizeof(file->first_line), "reeve buffer 1 %s\n", ns);
    rv_buf_init(&all, SIZE_MAX);
    reeve_status status = file->path != NULL ? lock_file(file, error) : REEVE_ENOMEM;
    if (status == REEVE_OK && !read_all(file, &all)) status = fail_system(file, "cannot be read", error);
    if (status == REEVE_ENOMEM || all.failed)
        status = rv_fail(error, REEVE_ENOMEM, "no memory for the buffer %s", path);
    if (status == REEVE_OK) status = take_all(file, &all, take, context, error);
    rv_buf_fini(&all);
    if (status == REEVE_OK)
        *ret = file;
    else
        rv_buffer_file_close(file);
    return status;
}

void rv_buffer_file_close(rv_buffer_file *file)
{
    if (file == NULL) return;
    if (file->fd >= 0) (void)close(file->fd);
    rv_free(file->path);
    rv_free(file);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

reeve_status rv_buffer_file_append(rv_buffer_file *file, const rv_buf *records, rv_error *error)
{
    if (records->failed) return rv_fail(error, REEVE_ENOMEM, "no memory for the buffer %s", file->path);
    if (lseek(file->fd, (off_t)file->size, SEEK_SET) >= 0 && write_all(file->fd, records->data, records->length) &&
        fdatasync(file->fd) == 0) {
        file->size += (int64_t)records->length;
        return REEVE_OK;
    }
    reeve_status status = fail_system(file, "cannot be written", error);
    if (ftruncate(file->fd, (off_t)file->size) != 0) errno = 0; /* what is there is dropped as a part of a record */
    return status;
}

static bool write_new(rv_buffer_file *file, int fd, const char *path, const rv_buf *records)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0 && write_all(fd, file->first_line, strlen(file->first_line)) &&
           write_all(fd, records->data, records->length) && fsync(fd) == 0 && rename(path, file->path) == 0;
}

reeve_status rv_buffer_file_replace(rv_buffer_file *file, const rv_buf *records, rv_error *error)
{
    if (records->failed) return rv_fail(error, REEVE_ENOMEM, "no memory for the buffer %s", file->path);
    if (records->length == 0) return empty_file(file, error);
    rv_buf path;
    rv_buf_init(&path, 4096);
    rv_buf_addf(&path, "%s.new", file->path);
    int fd = path.failed ? -1 : open(path.data, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    reeve_status status = REEVE_OK;
    if (fd < 0 || !write_new(file, fd, path.data, records)) {
        status = fail_system(file, "cannot be written anew", error);
        if (fd >= 0) (void)close(fd);
        if (fd >= 0) (void)unlink(path.data); /* on a full disk, it is in the way */
    } else {
        (void)close(file->fd);
        file->fd = fd;
        file->size = (int64_t)(strlen(file->first_line) + records->length);
    }
    rv_buf_fini(&path);
    return status;
}

int64_t rv_buffer_file_size(const rv_buffer_file *file)
{
    return file->size;
}
