/*
 * manifest.c - lines as sha256sum writes them, in byte order of the path.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree.h"

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const struct file *)a)->path, ((const struct file *)b)->path);
}

void sort_by_path(struct tree *tree)
{
    if (tree->file_count > 0) qsort(tree->files, tree->file_count, sizeof(*tree->files), compare_paths);
}

static bool trouble(const struct tree *tree)
{
    int reason = errno;
    char room[SHOWN_MAX];

    say("cannot write the manifest %s: %s", shown(room, tree->manifest), strerror(reason));
    return false;
}

/* A name with a newline, a backslash or a carriage return is escaped, and its line begins with a backslash. */
static void write_line(FILE *out, const struct file *file)
{
    if (file->path[strcspn(file->path, "\n\r\\")] != '\0') fputc('\\', out);
    fprintf(out, "%s  ", file->sha256);
    for (const char *at = file->path; *at != '\0'; at++) {
        switch (*at) {
        case '\n':
            fputs("\\n", out);
            break;
        case '\r':
            fputs("\\r", out);
            break;
        case '\\':
            fputs("\\\\", out);
            break;
        default:
            fputc(*at, out);
        }
    }
    fputc('\n', out);
}

/* Writes all lines and closes file. */
static bool write_lines(const struct tree *tree, int file)
{
    FILE *out = fdopen(file, "w");
    bool good;

    if (out == NULL) {
        close(file);
        return false;
    }
    for (size_t i = 0; i < tree->file_count; i++) {
        if (tree->files[i].fate == FATE_DONE) write_line(out, &tree->files[i]);
    }
    good = fflush(out) == 0 && ferror(out) == 0;
    return fclose(out) == 0 && good;
}

/* A new file beside target takes its place when it is whole. */
static bool replace(const struct tree *tree, const char *target)
{
    size_t length = strlen(target);
    char *fresh = malloc(length + sizeof(".XXXXXX"));
    mode_t mask = umask(0);
    bool good = false;
    int file = -1;

    (void)umask(mask);
    if (fresh == NULL) return false;
    memcpy(fresh, target, length);
    memcpy(fresh + length, ".XXXXXX", sizeof(".XXXXXX"));
    file = mkostemp(fresh, O_CLOEXEC);
    if (file < 0) goto out;
    if (fchmod(file, 0666 & ~mask) != 0) {
        close(file);
    } else {
        good = write_lines(tree, file) && rename(fresh, target) == 0;
    }
    if (!good) {
        int reason = errno;

        (void)unlink(fresh);
        errno = reason;
    }
out:
    free(fresh);
    return good;
}

/* What is there and is no regular file (a terminal, /dev/null, a pipe) is written to, not replaced. */
static bool write_into(const struct tree *tree)
{
    int file = open(tree->manifest, O_WRONLY | O_CLOEXEC | O_NOCTTY);

    return file >= 0 && write_lines(tree, file);
}

bool manifest_write(const struct tree *tree)
{
    struct stat about;
    bool good;

    if (stat(tree->manifest, &about) == 0 && !S_ISREG(about.st_mode)) {
        good = write_into(tree);
    } else {
        char *target = realpath(tree->manifest, NULL); /* through links; NULL when it is not there yet */

        good = replace(tree, target != NULL ? target : tree->manifest);
        free(target);
    }
    return good || trouble(tree);
}

bool manifest_check(const struct tree *tree)
{
    const char *slash = strrchr(tree->manifest, '/');
    struct stat about;
    char *directory;
    bool good;

    if (stat(tree->manifest, &about) == 0 && S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return trouble(tree);
    }
    if (slash == NULL) return access(".", W_OK | X_OK) == 0 || trouble(tree);
    directory = strndup(tree->manifest, (size_t)(slash - tree->manifest) + 1);
    good = directory != NULL && access(directory, W_OK | X_OK) == 0;
    if (!good) (void)trouble(tree);
    free(directory);
    return good;
}
