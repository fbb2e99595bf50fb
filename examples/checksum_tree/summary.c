/*
 * summary.c - what became of it all, for people, on standard output.
 */
#include <stdlib.h>
#include <string.h>

#include "tree.h"

#define EXAMPLES 3

/* Failures of one kind. */
struct kind {
    const char *name;
    size_t count;
    const struct file *examples[EXAMPLES];
};

struct sums {
    size_t done, failed;
    uint64_t bytes;
    struct kind *kinds;
    size_t kind_count;
};

static struct kind *kind_of(struct sums *sums, const char *name)
{
    struct kind *kinds;

    for (size_t i = 0; i < sums->kind_count; i++) {
        if (strcmp(sums->kinds[i].name, name) == 0) return &sums->kinds[i];
    }
    kinds = reallocarray(sums->kinds, sums->kind_count + 1, sizeof(*kinds));
    if (kinds == NULL) return NULL;
    sums->kinds = kinds;
    kinds[sums->kind_count] = (struct kind){.name = name};
    return &kinds[sums->kind_count++];
}

static void add_failure(struct sums *sums, const struct file *file)
{
    struct kind *kind = kind_of(sums, file->kind != NULL ? file->kind : "unknown");

    sums->failed++;
    if (kind == NULL) return;
    if (kind->count < EXAMPLES) kind->examples[kind->count] = file;
    kind->count++;
}

static int max_first(const void *a, const void *b)
{
    const struct kind *one = a, *other = b;

    if (one->count != other->count) return one->count < other->count ? 1 : -1;
    return strcmp(one->name, other->name);
}

static void add_up(struct sums *sums, const struct tree *tree)
{
    for (size_t i = 0; i < tree->file_count; i++) {
        const struct file *file = &tree->files[i];

        if (file->fate == FATE_FAILED) add_failure(sums, file);
        if (file->fate != FATE_DONE) continue;
        sums->done++;
        sums->bytes += file->bytes;
    }
    if (sums->kind_count > 0) qsort(sums->kinds, sums->kind_count, sizeof(*sums->kinds), max_first);
}

static void print_size(uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    double size = (double)bytes / 1024;
    size_t unit = 0;
    char room[NUMBER_MAX];

    printf("  bytes      %14s", grouped(room, bytes));
    while (size >= 1024 && unit < 4) {
        size /= 1024;
        unit++;
    }
    if (bytes >= 1024) printf("   (%.1f %s)", size, units[unit]);
    printf("\n");
}

static void print_count(const char *name, uint64_t count)
{
    char room[NUMBER_MAX];

    printf("  %-10s %14s\n", name, grouped(room, count));
}

static void print_numbers(const struct tree *tree, const struct sums *sums)
{
    double seconds = tree->last_ms > tree->first_ms ? (double)(tree->last_ms - tree->first_ms) / 1000 : 0.001;

    print_count("files", tree->file_count);
    print_count("done", sums->done);
    print_count("failed", sums->failed);
    if (tree->missing > 0) print_count("gone", tree->missing);
    print_size(sums->bytes);
    if (sums->done + sums->failed == 0) return;
    printf("  %-10s %14.2f\n", "seconds", seconds);
    print_count("tasks/s", (uint64_t)((double)(sums->done + sums->failed) / seconds));
}

static void print_example(const struct file *file)
{
    const char *message = file->message != NULL ? file->message : "";
    char room[SHOWN_MAX];

    printf("      ");
    /* most messages name the path themselves */
    if (strstr(message, shown(room, file->path)) == NULL) {
        put_text(stdout, file->path);
        printf(": ");
    }
    put_text(stdout, message);
    printf("\n");
}

static void print_failures(const struct sums *sums)
{
    char room[NUMBER_MAX];

    if (sums->kind_count == 0) return;
    printf("\nfailures by kind\n");
    for (size_t i = 0; i < sums->kind_count; i++) {
        const struct kind *kind = &sums->kinds[i];
        size_t examples = kind->count < EXAMPLES ? kind->count : EXAMPLES;

        printf("  ");
        put_text(stdout, kind->name);
        printf("  %s\n", grouped(room, kind->count));
        for (size_t j = 0; j < examples; j++) print_example(kind->examples[j]);
        if (kind->count > examples) printf("      ... and %s more\n", grouped(room, kind->count - examples));
    }
}

/* ---- where to look next ---------------------------------------------------------------------------------------- */

/* Where the password of a URL is, or NULL. */
static const char *find_password(const char *url, size_t *ret_length)
{
    const char *host = strstr(url, "://");
    const char *at, *colon;

    if (host == NULL) return NULL;
    host += 3;
    at = memrchr(host, '@', strcspn(host, "/?"));
    colon = at != NULL ? memchr(host, ':', (size_t)(at - host)) : NULL;
    if (colon == NULL) return NULL;
    *ret_length = (size_t)(at - colon) - 1;
    return colon + 1;
}

/* A word of a command line, quoted for the shell if need be; a password stays out of sight. */
static void print_url(const char *url)
{
    bool plain = url[strspn(url, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:/.,@%+=_-")] == '\0';
    size_t length = 0;
    const char *password = find_password(url, &length);

    if (!plain) putchar('\'');
    for (const char *at = url; *at != '\0'; at++) {
        if (password != NULL && at >= password && at < password + length) {
            if (at == password) printf("PASSWORD");
        } else if (*at == '\'') {
            printf("'\\''");
        } else {
            putchar(*at);
        }
    }
    if (!plain) putchar('\'');
}

static void print_command(const struct tree *tree, const char *verb)
{
    printf("  reeve ");
    if (tree->redis != NULL) {
        printf("--redis ");
        print_url(tree->redis);
        putchar(' ');
    }
    printf("%s ", verb);
}

static const struct file *file_to_show(const struct tree *tree, const struct sums *sums)
{
    if (sums->kind_count > 0 && sums->kinds[0].examples[0] != NULL) return sums->kinds[0].examples[0];
    return tree->file_count > 0 ? &tree->files[0] : NULL;
}

static void print_next_steps(const struct tree *tree, const struct sums *sums)
{
    const struct file *file = file_to_show(tree, sums);

    if (file == NULL) return;
    printf("\nwhere to look next\n");
    print_command(tree, "list");
    printf("%s --state dead\n", tree->queue);
    print_command(tree, "show");
    printf("%s/%s\n", tree->queue, file->id);
}

void summarise(const struct tree *tree)
{
    struct sums sums = {0};

    add_up(&sums, tree);
    put_text(stdout, tree->directory);
    printf("\n");
    print_numbers(tree, &sums);
    if (tree->unreadable > 0) print_count("unreadable", tree->unreadable);
    print_failures(&sums);
    print_next_steps(tree, &sums);
    free(sums.kinds);
}
