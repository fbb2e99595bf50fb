#include "client/buffer_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32.h"
#include "base/log.h"
#include "base/mem.h"

#define FRAME 8 /* length and checksum */
#define FLAG 0x80000000u
#define APPEND 9 /* 'A' and its place in the file */
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

static void put_number(char *at, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) at[i] = (char)(unsigned char)(number >> 8 * i);
}

static uint64_t read_number(const char *at, unsigned bytes)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < bytes; i++) number |= (uint64_t)(unsigned char)at[i] << 8 * i;
    return number;
}

static uint32_t read_u32(const char *at)
{
    return (uint32_t)read_number(at, 4);
}

static void put_frame(char *at, const char *data, size_t length)
{
    put_number(at, length, 4);
    put_number(at + 4, rv_crc32(data, length), 4);
}

void rv_buffer_file_add(rv_buf *out, const char *data, size_t length)
{
    char frame[FRAME];
    put_frame(frame, data, length);
    rv_buf_add(out, frame, sizeof(frame));
    rv_buf_add(out, data, length);
}

static bool is_zero(const char *data, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (data[i] != '\0') return false;
    }
    return true;
}

/* The record that begins an append at this place of the file. */
static void write_append(int64_t place, char ret[FRAME + APPEND])
{
    ret[FRAME] = 'A';
    put_number(ret + FRAME + 1, (uint64_t)place, APPEND - 1);
    put_frame(ret, ret + FRAME, APPEND);
}

/* What has been read of a file. */
typedef struct reading {
    const char *data;
    size_t at, length;
    rv_buffer_file_fn take;
    void *context;
} reading;

static bool is_whole(const reading *r, size_t size)
{
    const char *record = r->data + r->at;
    return size > 0 && size <= r->length - r->at - FRAME && read_u32(record + 4) == rv_crc32(record + FRAME, size);
}

static bool is_append(const reading *r, size_t size)
{
    const char *data = r->data + r->at + FRAME;
    return size == APPEND && data[0] == 'A' && read_number(data + 1, APPEND - 1) == r->at;
}

/* Whether another append begins behind this place. Then the one before it was on the disk as a whole. */
static bool has_later_append(const reading *r)
{
    for (reading later = *r; later.length - later.at >= FRAME + APPEND; later.at++) {
        size_t size = read_u32(later.data + later.at);
        if (is_append(&later, size) && is_whole(&later, size)) return true;
    }
    return false;
}

/*
 * Takes the whole records, and stops behind them. There is nothing, what the last append left when it was written in
 * part, or (*ret_damaged) damage. The blocks of an append may reach the disk in any order; those that did not are zero.
 */
static void take_records(reading *r, bool *ret_damaged)
{
    size_t first = r->at;
    bool appends = false;
    *ret_damaged = false;
    while (r->length - r->at >= FRAME) {
        uint32_t head = read_u32(r->data + r->at);
        size_t size = head & ~FLAG, rest = r->length - r->at - FRAME;
        bool whole = is_whole(r, size), append = whole && is_append(r, size);
        appends = appends || append;
        if (append || (whole && r->take(r->data + r->at + FRAME, size, (head & FLAG) != 0, r->context))) {
            r->at += FRAME + size;
            continue;
        }
        bool torn = size >= rest || is_zero(r->data + r->at, r->length - r->at) || appends || r->at == first;
        *ret_damaged = whole || !torn || has_later_append(r);
        return;
    }
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

/* So that the name of a new file outlives a power cut. Some file systems cannot, and need not. */
static bool sync_directory(const char *path)
{
    char name[PATH_MAX];
    const char *slash = strrchr(path, '/');
    (void)snprintf(name, sizeof(name), "%.*s.", slash != NULL ? (int)(slash - path + 1) : 0, path);
    int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    if (fd >= 0) (void)close(fd);
    return good;
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
        !write_all(file->fd, file->first_line, length) || fdatasync(file->fd) != 0 || !sync_directory(file->path))
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
    reading r = {.data = all->data, .at = first, .length = all->length, .take = take, .context = context};
    take_records(&r, &damaged);
    if (damaged)
        return rv_fail(error, REEVE_ESYSTEM, "the buffer %s is damaged at byte %zu of %zu, and is left as it is",
                       file->path, r.at, r.length);
    if (r.at < r.length) {
        rv_log(REEVE_LOG_WARN, "client.buffer_torn", "the end of the buffer was written in part: it is dropped", "path",
               file->path, NULL);
        if (ftruncate(file->fd, (off_t)r.at) != 0) return fail_system(file, "cannot be written", error);
    }
    file->size = (int64_t)r.at;
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
    char head[FRAME + APPEND];
    if (records->failed) return rv_fail(error, REEVE_ENOMEM, "no memory for the buffer %s", file->path);
    write_append(file->size, head);
    if (lseek(file->fd, (off_t)file->size, SEEK_SET) >= 0 && write_all(file->fd, head, sizeof(head)) &&
        write_all(file->fd, records->data, records->length) && fdatasync(file->fd) == 0) {
        file->size += (int64_t)(sizeof(head) + records->length);
        return REEVE_OK;
    }
    reeve_status status = fail_system(file, "cannot be written", error);
    if (ftruncate(file->fd, (off_t)file->size) != 0) errno = 0; /* what is there is dropped as a part of a record */
    return status;
}

/* One byte of each record: a crash leaves it with the flag or without. */
static bool flag(rv_buffer_file *file, char kind, size_t skip, size_t count)
{
    int64_t at = (int64_t)strlen(file->first_line);
    while (count > 0) {
        char head[FRAME + 1];
        if (pread(file->fd, head, sizeof(head), (off_t)at) != (ssize_t)sizeof(head)) return false;
        uint32_t length = read_u32(head);
        if (head[FRAME] == kind && skip > 0) {
            skip--;
        } else if (head[FRAME] == kind) {
            head[3] = (char)(unsigned char)((length | FLAG) >> 24);
            if (pwrite(file->fd, head + 3, 1, (off_t)at + 3) != 1) return false;
            count--;
        }
        at += FRAME + (int64_t)(length & ~FLAG);
    }
    return fdatasync(file->fd) == 0;
}

reeve_status rv_buffer_file_flag(rv_buffer_file *file, char kind, size_t skip, size_t count, rv_error *error)
{
    return flag(file, kind, skip, count) ? REEVE_OK : fail_system(file, "cannot be written", error);
}

/* An empty append at the end: damage before it is no append that was written in part. */
static bool write_new(const rv_buffer_file *file, int fd, const char *path, const rv_buf *records)
{
    char tail[FRAME + APPEND];
    size_t first = strlen(file->first_line);
    write_append((int64_t)(first + records->length), tail);
    return flock(fd, LOCK_EX | LOCK_NB) == 0 && write_all(fd, file->first_line, first) &&
           write_all(fd, records->data, records->length) && write_all(fd, tail, sizeof(tail)) && fsync(fd) == 0 &&
           rename(path, file->path) == 0;
}

/* The new file is in use in any case. */
static void warn_of_directory(const rv_buffer_file *file)
{
    rv_log(REEVE_LOG_WARN, "client.buffer_name", "a power cut may bring the file back that was replaced", "path",
           file->path, "error", strerror(errno), NULL);
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
        file->size = (int64_t)(strlen(file->first_line) + records->length + FRAME + APPEND);
        if (!sync_directory(file->path)) warn_of_directory(file);
    }
    rv_buf_fini(&path);
    return status;
}

bool rv_buffer_file_is_empty(const rv_buffer_file *file)
{
    return file->size == (int64_t)strlen(file->first_line);
}

int64_t rv_buffer_file_size(const rv_buffer_file *file)
{
    return file->size;
}
