/*
 * checksum.c - type "checksum": {"path":"..."} in, {"sha256":"...","bytes":n} out.
 *
 * The path is bytes: whatever follows the rules of JSON strings, UTF-8 or not. Only regular files are read; a link is
 * followed. Each thread keeps a buffer and a digest context, made before its first task.
 *
 * What fails, by kind. For good: payload, missing, permission, link-loop, not-a-file. To be tried again: io, resources.
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

/* Tells a link to nowhere from a file that is not there. */
static reeve_outcome fail_to_open(reeve_task *task, int number, const char *path)
{
    struct stat about;
    char target[WORDS], shown[WORDS], shown_target[WORDS];
    ssize_t length;

    if (number != ENOENT || lstat(path, &about) != 0 || !S_ISLNK(about.st_mode)) {
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

static reeve_outcome finish(reeve_task *task, EVP_MD_CTX *context, uint64_t bytes)
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

static reeve_outcome digest_file(reeve_task *task, int file, const char *path)
{
    const struct scratch *scratch = reeve_task_thread_state(task);
    uint64_t bytes = 0;

    if (EVP_DigestInit_ex(scratch->context, scratch->sha256, NULL) != 1) return fail_digest(task);
    for (;;) {
        ssize_t got = read(file, scratch->chunk, CHUNK);

        if (got == 0) return finish(task, scratch->context, bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_by_errno(task, errno, path);
        if (EVP_DigestUpdate(scratch->context, scratch->chunk, (size_t)got) != 1) return fail_digest(task);
        bytes += (uint64_t)got;
        if (reeve_task_should_stop(task)) return reeve_task_snooze(task, 0);
    }
}

static reeve_outcome checksum_path(reeve_task *task, const char *path)
{
    struct stat about;
    reeve_outcome outcome;
    int file;

    /* O_NONBLOCK: opening a FIFO must not wait for its writer */
    do file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    while (file < 0 && errno == EINTR);
    if (file < 0) return fail_to_open(task, errno, path);

    if (fstat(file, &about) != 0) {
        outcome = fail_by_errno(task, errno, path);
    } else if (!S_ISREG(about.st_mode)) {
        outcome = fail_not_a_file(task, about.st_mode, path);
    } else {
        outcome = digest_file(task, file, path);
    }
    (void)close(file); /* it was only read */
    return outcome;
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
        .max_attempts = 5,
        .thread_start = scratch_start,
        .thread_stop = scratch_stop,
    },
};

REEVE_PLUGIN(.name = "checksum", .version = REEVE_VERSION, .summary = "digests of files", .handlers = handlers,
             .handler_count = sizeof(handlers) / sizeof(handlers[0]))
