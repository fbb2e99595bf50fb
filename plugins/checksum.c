/*
 * checksum.c - type "checksum": {"path":"..."} in, {"sha256":"...","bytes":n} out.
 *
 * The path is bytes: whatever follows the rules of JSON strings, UTF-8 or not. Only regular files are opened; a link is
 * followed. Each thread keeps a buffer and a digest context, made before its first task.
 *
 * Option "directory": paths are relative to it, or absolute ones below it; what leaves it ("..", a link) is refused. Not
 * set: any file that the worker can read.
 *
 * What fails, by kind. For good: payload, missing, permission, link-loop, not-a-file, outside. To be tried again: io,
 * resources, changed (somebody wrote to the file while it was read).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "below.h"
#include "payload.h"
#include "printable.h"

#define CHUNK ((size_t)128 * 1024)
#define WORDS REEVE_MESSAGE_MAX

/* What a thread keeps from task to task. */
struct scratch {
    EVP_MD *sha256;
    EVP_MD_CTX *context;
    unsigned char *chunk;
};

static void scratch_stop(void *user, void *state)
{
    struct scratch *scratch = state;

    (void)user;
    if (scratch == NULL) return;
    free(scratch->chunk);
    EVP_MD_CTX_free(scratch->context);
    EVP_MD_free(scratch->sha256);
    free(scratch);
}

static int scratch_start(void *user, void **ret_state)
{
    struct scratch *scratch = calloc(1, sizeof(*scratch));

    if (scratch == NULL) return ENOMEM;
    scratch->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    scratch->context = EVP_MD_CTX_new();
    scratch->chunk = malloc(CHUNK);
    if (scratch->sha256 == NULL || scratch->context == NULL || scratch->chunk == NULL) {
        scratch_stop(user, scratch);
        return ENOMEM;
    }
    *ret_state = scratch;
    return 0;
}

/* ---- failures -------------------------------------------------------------------------------------------------- */

struct cause {
    int number;
    bool passing; /* worth another attempt */
    const char *kind;
    const char *words;
};

static const struct cause causes[] = {
    {ENOENT, false, "missing", "no such file"},
    {ENOTDIR, false, "missing", "no such file (a part of its path is not a directory)"},
    {EACCES, false, "permission", "permission denied"},
    {EPERM, false, "permission", "operation not permitted"},
    {ELOOP, false, "link-loop", "too many symbolic links"},
    {ENAMETOOLONG, false, "payload", "file name too long"},
    {EISDIR, false, "not-a-file", "is a directory"},
    {ENXIO, false, "not-a-file", "not a regular file (a socket, or a device that is not there)"},
    {ENODEV, false, "not-a-file", "not a regular file (a device that is not there)"},
    {EMFILE, true, "resources", "too many open files in this process"},
    {ENFILE, true, "resources", "too many open files in this system"},
    {ENOMEM, true, "resources", "out of memory"},
    {EXDEV, false, "outside", "outside of the directory of the plugin"},
    {ENOSYS, false, "outside", "this system cannot keep to a directory (that needs Linux 5.6 or /proc)"},
};

/* The reason stands before the path, so that cutting a long message spares it. */
static reeve_outcome fail_by_errno(reeve_task *task, int number, const char *path)
{
    char shown[WORDS];

    printable(shown, sizeof(shown), path);
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
        if (causes[i].number != number) continue;
        if (causes[i].passing) return reeve_task_retry(task, -1, causes[i].kind, "%s: %s", causes[i].words, shown);
        return reeve_task_fail(task, causes[i].kind, "%s: %s", causes[i].words, shown);
    }
    return reeve_task_retry(task, -1, "io", "%s: %s", strerror(number), shown);
}

/* ---- the directory that paths keep to -------------------------------------------------------------------------- */

static int base = -1; /* -1: there is none */
static char base_path[4096];

static int open_base(const reeve_options *options)
{
    const char *path = reeve_option_text(options, "directory");

    base = -1;
    if (path == NULL) return 0;
    if (realpath(path, base_path) != NULL) base = open(base_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (strcmp(base_path, "/") == 0) base_path[0] = '\0';
    if (base >= 0) return 0;
    const reeve_log_field fields[] = {{"plugin", "checksum"}, {"directory", path}, {"error", strerror(errno)}};
    reeve_log_write(REEVE_LOG_ERROR, "plugin.option", "the option \"directory\" is no directory", fields, 3);
    return 1;
}

static void close_base(void)
{
    if (base >= 0) (void)close(base);
    base = -1;
}

/* An absolute path below the directory, relative to it; others stay, and those that leave it are refused. */
static const char *below_base(const char *path)
{
    size_t length = strlen(base_path);

    if (strncmp(path, base_path, length) != 0 || path[length] != '/') return path;
    path += length;
    while (*path == '/') path++;
    return *path != '\0' ? path : ".";
}

static int open_once(const char *path, int flags)
{
    return base < 0 ? open(path, flags) : below_open(base, base_path, below_base(path), flags);
}

static int open_path(const char *path, int flags)
{
    int file;

    do file = open_once(path, flags | O_CLOEXEC);
    while (file < 0 && errno == EINTR);
    return file;
}

/* Tells a link to nowhere from a file that is not there. */
static reeve_outcome fail_to_open(reeve_task *task, int number, const char *path)
{
    struct stat about;
    char target[WORDS], shown[WORDS], shown_target[WORDS];
    ssize_t length;

    if (base >= 0 || number != ENOENT || lstat(path, &about) != 0 || !S_ISLNK(about.st_mode)) {
        return fail_by_errno(task, number, path);
    }
    length = readlink(path, target, sizeof(target) - 1);
    if (length < 0) return fail_by_errno(task, number, path);
    target[length] = '\0';
    printable(shown, sizeof(shown), path);
    printable(shown_target, sizeof(shown_target), target);
    return reeve_task_fail(task, "missing", "dangling link: %s -> %s", shown, shown_target);
}

static reeve_outcome fail_not_a_file(reeve_task *task, mode_t mode, const char *path)
{
    const char *what = S_ISDIR(mode)    ? "is a directory"
                       : S_ISFIFO(mode) ? "not a regular file (a FIFO)"
                       : S_ISCHR(mode)  ? "not a regular file (a character device)"
                       : S_ISBLK(mode)  ? "not a regular file (a block device)"
                       : S_ISSOCK(mode) ? "not a regular file (a socket)"
                                        : "not a regular file";
    char shown[WORDS];

    printable(shown, sizeof(shown), path);
    return reeve_task_fail(task, "not-a-file", "%s: %s", what, shown);
}

static reeve_outcome fail_digest(reeve_task *task)
{
    return reeve_task_retry(task, -1, "resources", "OpenSSL could not compute SHA-256");
}

/* ---- the digest ------------------------------------------------------------------------------------------------ */

static reeve_outcome finish_digest(reeve_task *task, EVP_MD_CTX *context, uint64_t bytes)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    char hex[2 * EVP_MAX_MD_SIZE + 1] = "";
    char result[sizeof(hex) + 64];
    int written;

    if (EVP_DigestFinal_ex(context, digest, &length) != 1) return fail_digest(task);
    for (unsigned i = 0; i < length; i++) {
        hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    hex[2 * length] = '\0';
    written = snprintf(result, sizeof(result), "{\"sha256\":\"%s\",\"bytes\":%" PRIu64 "}", hex, bytes);
    return reeve_task_done(task, result, (size_t)written);
}

static bool is_same(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* A digest of what nobody wrote to meanwhile. */
static reeve_outcome finish(reeve_task *task, EVP_MD_CTX *context, uint64_t bytes, int file, const struct stat *before,
                            const char *path)
{
    struct stat after;
    char shown[WORDS];

    if (fstat(file, &after) != 0) return fail_by_errno(task, errno, path);
    if (after.st_size == before->st_size && is_same(after.st_mtim, before->st_mtim) &&
        is_same(after.st_ctim, before->st_ctim)) {
        return finish_digest(task, context, bytes);
    }
    printable(shown, sizeof(shown), path);
    return reeve_task_retry(task, -1, "changed", "the file changed while it was read: %s", shown);
}

static reeve_outcome digest_file(reeve_task *task, int file, const struct stat *before, const char *path)
{
    const struct scratch *scratch = reeve_task_thread_state(task);
    uint64_t bytes = 0;

    if (EVP_DigestInit_ex(scratch->context, scratch->sha256, NULL) != 1) return fail_digest(task);
    for (;;) {
        ssize_t got = read(file, scratch->chunk, CHUNK);

        if (got == 0) return finish(task, scratch->context, bytes, file, before, path);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_by_errno(task, errno, path);
        if (EVP_DigestUpdate(scratch->context, scratch->chunk, (size_t)got) != 1) return fail_digest(task);
        bytes += (uint64_t)got;
        if (reeve_task_should_stop(task)) return reeve_task_snooze(task, 0);
    }
}

/* What is there, without opening it: to open a device may do something. */
static int look_at(const char *path, struct stat *about)
{
    int place = open_path(path, O_PATH);
    int failed;

    if (place < 0) return errno;
    failed = fstat(place, about) != 0 ? errno : 0;
    (void)close(place);
    return failed;
}

/* What was a regular file a moment ago: a FIFO that took its place must not make the open wait. */
static reeve_outcome read_file(reeve_task *task, const char *path)
{
    struct stat about;
    reeve_outcome outcome;
    int file = open_path(path, O_RDONLY | O_NOCTTY | O_NONBLOCK);

    if (file < 0) return fail_to_open(task, errno, path);
    if (fstat(file, &about) != 0) {
        outcome = fail_by_errno(task, errno, path);
    } else if (!S_ISREG(about.st_mode)) {
        outcome = fail_not_a_file(task, about.st_mode, path);
    } else {
        outcome = digest_file(task, file, &about, path);
    }
    (void)close(file); /* it was only read */
    return outcome;
}

static reeve_outcome checksum_path(reeve_task *task, const char *path)
{
    struct stat about;
    int failed = look_at(path, &about);

    if (failed != 0) return fail_to_open(task, failed, path);
    return S_ISREG(about.st_mode) ? read_file(task, path) : fail_not_a_file(task, about.st_mode, path);
}

static reeve_outcome checksum(reeve_task *task, void *user)
{
    const char *why = NULL;
    cJSON *payload = payload_parse(reeve_task_payload(task), &why);
    const char *path = payload != NULL ? payload_text(payload, "path", NULL) : NULL;
    reeve_outcome outcome;

    (void)user;
    if (payload == NULL) {
        outcome = reeve_task_fail(task, "payload", "%s", why);
    } else if (path == NULL || path[0] == '\0') {
        outcome = reeve_task_fail(task, "payload", "the payload has no \"path\"; expected: {\"path\":\"FILE\"}");
    } else {
        outcome = checksum_path(task, path);
    }
    cJSON_Delete(payload);
    return outcome;
}

static const reeve_handler handlers[] = {
    {
        REEVE_HANDLER,
        .type = "checksum",
        .run = checksum,
        .summary = "SHA-256 of a file: {\"path\":\"...\"} gives {\"sha256\":\"...\",\"bytes\":n}",
        .attempts = 5,
        .thread_start = scratch_start,
        .thread_stop = scratch_stop,
    },
};

static const reeve_option options[] = {
    {REEVE_OPTION, .name = "directory", .summary = "paths of tasks are relative to this directory, and stay in it"},
};

REEVE_PLUGIN(.name = "checksum", .version = REEVE_VERSION, .summary = "digests of files", .handlers = handlers,
             .handler_count = sizeof(handlers) / sizeof(handlers[0]), .options = options, .option_count = 1,
             .load_with_options = open_base, .unload = close_base)
