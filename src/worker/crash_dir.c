#include "worker/crash_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "running/flight.h"
#include "worker/aftermath.h"

#define SUFFIX ".flight"
#define BOOT_LENGTH 36 /* of a boot id */
#define SETTLE_MS 5000
#define MAKE_TRIES 100
#define MESSAGE "the program died while the task ran: it crashed or was killed"

struct rv_crash_dir {
    rv_flight flight;
    char path[PATH_MAX];
};

/* ---- files and forks ------------------------------------------------------------------------------------------- */

/* A child that the program forks shares neither the file nor its memory. Both would keep the lock when the program has
 * died: its tasks would wait for the end of the child. */
static int open_private(int dir, const char *path, int flags)
{
    (void)rv_fork_generation(); /* forks are watched from now on */
    rv_fork_hold();
    int fd = openat(dir, path, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) rv_fork_add_private(fd);
    rv_fork_release();
    return fd;
}

static void close_private(int fd)
{
    rv_fork_hold();
    rv_fork_remove_private(fd);
    (void)close(fd);
    rv_fork_release();
}

static void keep_memory_private(const void *mapped, size_t size)
{
    (void)madvise((void *)(uintptr_t)mapped, size, MADV_DONTFORK);
}

/* "" where the system has none. */
static void read_boot_id(char ret[BOOT_LENGTH + 1])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, ret, BOOT_LENGTH) : 0;
    if (fd >= 0) (void)close(fd);
    ret[length > 0 ? length : 0] = '\0';
}

/* ---- what dead processes left ---------------------------------------------------------------------------------- */

static void log_settled(const reeve_worker *worker, const char *name, const rv_aftermath_counts *counts)
{
    char settled[RV_NUMBER_TEXT], given_back[RV_NUMBER_TEXT], crashed[RV_NUMBER_TEXT], unkept[RV_NUMBER_TEXT];
    rv_log(REEVE_LOG_WARN, "worker.crashed",
           "an earlier run of this program died: what it held is settled or goes back", "worker", worker->id, "file",
           name, "task", counts->blamed, "crashed", rv_number_text(crashed, counts->crashed), "settled",
           rv_number_text(settled, counts->settled), "not_kept", rv_number_text(unkept, counts->unkept), "given_back",
           rv_number_text(given_back, counts->given_back), NULL);
}

/* False: Redis does not take it now. */
static bool settle_record(reeve_worker *worker, const char *name, const rv_flight_header *header, size_t size)
{
    rv_error error = {0};
    rv_aftermath_counts counts = {0};
    const rv_aftermath aftermath = {.target = worker->target,
                                    .ns = worker->ns,
                                    .flight = header,
                                    .size = size,
                                    .message = MESSAGE,
                                    .backtrace = ""};
    if (!rv_aftermath_has_work(header, size) || atomic_load(&header->ended) != 0) return true;
    if (rv_aftermath_settle(&aftermath, rv_deadline(SETTLE_MS), &counts, &error) == REEVE_OK) {
        log_settled(worker, name, &counts);
        return true;
    }
    rv_log(REEVE_LOG_WARN, "worker.crashed",
           "an earlier run of this program died, and Redis does not take what it left: the next start tries again",
           "worker", worker->id, "file", name, "error", error.text, NULL);
    return false;
}

/* The file is locked, so that its process has died. */
static bool settle_file(reeve_worker *worker, const char *name, int fd)
{
    struct stat about;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) return false;
    if (about.st_size < (off_t)sizeof(rv_flight_header)) return true;
    void *mapped = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) return false;
    keep_memory_private(mapped, (size_t)about.st_size);
    bool done = settle_record(worker, name, mapped, (size_t)about.st_size);
    (void)munmap(mapped, (size_t)about.st_size);
    return done;
}

/* A file that somebody has removed may have left its name to another one. */
static bool has_name(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 && about.st_nlink > 0;
}

static void take_file(reeve_worker *worker, int dir, const char *name, const char *boot)
{
    const char *own_boot = strchr(name, '.');
    size_t length = strlen(boot);
    int fd = open_private(dir, name, O_NONBLOCK);
    if (fd < 0) return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && has_name(fd)) {
        bool is_of_boot =
            length > 0 && strncmp(own_boot + 1, boot, length) == 0 && strcmp(own_boot + 1 + length, SUFFIX) == 0;
        if (!is_of_boot || settle_file(worker, name, fd)) (void)unlinkat(dir, name, 0);
    }
    close_private(fd);
}

/* "<worker>.<boot id>.flight" */
static bool is_ours(const char *name)
{
    size_t length = strlen(name), end = sizeof(SUFFIX) - 1;
    return strspn(name, "0123456789abcdef") == RV_RANDOM_LENGTH && name[RV_RANDOM_LENGTH] == '.' &&
           length > RV_RANDOM_LENGTH + end && strcmp(name + length - end, SUFFIX) == 0;
}

static reeve_status settle_all(reeve_worker *worker, const char *boot, rv_error *error)
{
    char words[128];
    const struct dirent *entry;
    DIR *dir = opendir(worker->crash_dir);
    if (dir == NULL)
        return rv_fail(error, REEVE_ESYSTEM, "crash_dir %.300s: %s", worker->crash_dir,
                       strerror_r(errno, words, sizeof(words)));
    while ((entry = readdir(dir)) != NULL)
        if (is_ours(entry->d_name)) take_file(worker, dirfd(dir), entry->d_name, boot);
    (void)closedir(dir);
    return REEVE_OK;
}

/* ---- the worker's own file ------------------------------------------------------------------------------------- */

static reeve_status fail_file(const rv_crash_dir *own, int number, rv_error *error)
{
    char words[128];
    return rv_fail(error, REEVE_ESYSTEM, "crash_dir: %.400s: %s", own->path, strerror_r(number, words, sizeof(words)));
}

/* 0, or the number of the error. */
static int lock_file(int fd)
{
    int failed;
    do failed = flock(fd, LOCK_EX) == 0 ? 0 : errno;
    while (failed == EINTR);
    return failed;
}

/* Until it is locked, a program that starts at the same time may take the empty file for one of the dead, lock it for a
 * moment and remove it. */
static reeve_status make_file(rv_crash_dir *own, rv_error *error)
{
    for (int i = 0; i < MAKE_TRIES; i++) {
        own->flight.fd = open_private(AT_FDCWD, own->path, O_CREAT | O_EXCL);
        if (own->flight.fd < 0) return fail_file(own, errno, error);
        int failed = lock_file(own->flight.fd);
        if (failed != 0) return fail_file(own, failed, error);
        if (has_name(own->flight.fd)) return REEVE_OK;
        close_private(own->flight.fd);
        own->flight.fd = -1;
    }
    return fail_file(own, EAGAIN, error);
}

reeve_status rv_crash_dir_begin(reeve_worker *worker, rv_error *error)
{
    char boot[BOOT_LENGTH + 1];
    if (worker->crash_dir == NULL || worker->flight != NULL) return REEVE_OK;
    read_boot_id(boot);
    reeve_status status = settle_all(worker, boot, error);
    if (status != REEVE_OK) return status;
    rv_crash_dir *own = rv_zalloc(sizeof(*own));
    if (own == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for the flight record");
    own->flight.fd = -1;
    own->flight.is_small = true;
    worker->own_flight = own;
    int length = snprintf(own->path, sizeof(own->path), "%s/%s.%s" SUFFIX, worker->crash_dir, worker->id, boot);
    if (length < 0 || (size_t)length >= sizeof(own->path)) return fail_file(own, ENAMETOOLONG, error);
    status = make_file(own, error);
    if (status == REEVE_OK) worker->flight = &own->flight;
    return status;
}

reeve_status rv_crash_dir_fill(reeve_worker *worker, rv_error *error)
{
    const rv_crash_dir *own = worker->own_flight;
    if (own == NULL) return REEVE_OK;
    keep_memory_private(own->flight.header, own->flight.header->size);
    int failed = posix_fallocate(own->flight.fd, 0, (off_t)own->flight.header->size);
    return failed == 0 ? REEVE_OK : fail_file(own, failed, error);
}

void rv_crash_dir_end(reeve_worker *worker)
{
    rv_crash_dir *own = worker->own_flight;
    if (own == NULL || own->flight.fd < 0) return;
    if (own->flight.header != NULL) atomic_store(&own->flight.header->ended, 1);
    (void)unlink(own->path);
    close_private(own->flight.fd);
    own->flight.fd = -1;
}

void rv_crash_dir_free(reeve_worker *worker)
{
    rv_crash_dir *own = worker->own_flight;
    if (own == NULL) return;
    rv_crash_dir_end(worker);
    if (own->flight.header != NULL) (void)munmap(own->flight.header, own->flight.header->size);
    rv_free(own);
    worker->own_flight = NULL;
}
