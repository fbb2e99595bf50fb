/*
 * tree.h - the program behind scripts/demo: a task for every file below a directory, and what became of them.
 *
 *     main.c      options, and the order of things
 *     walk.c      finds the files
 *     produce.c   enqueues them in chunks
 *     watch.c     waits and shows progress
 *     collect.c   fetches what became of the tasks
 *     summary.c   tells it;  manifest.c writes it as sha256sum would
 *     patience.c  Redis may go away for a while;  say.c  words for people
 */
#ifndef CHECKSUM_TREE_H
#define CHECKSUM_TREE_H

#include <reeve/client.h>
#include <signal.h>
#include <stdio.h>

enum fate { FATE_UNKNOWN = 0, FATE_DONE, FATE_FAILED };

/* One file and its task. */
struct file {
    char *path;  /* as find prints it: any bytes */
    char id[37]; /* of its task, a UUIDv7; "" until it was sent */
    enum fate fate;
    char sha256[65];
    uint64_t bytes;
    char *kind; /* of its failure */
    char *message;
};

/* An outage of Redis: since when, or 0. */
struct patience {
    int64_t since_ms;
};

struct tree {
    /* what was asked for */
    const char *redis; /* NULL: not given */
    const char *queue;
    const char *manifest; /* NULL: none */
    const char *directory;
    bool progress;
    /* what there is */
    reeve_client *client;
    struct patience patience;
    struct file *files;
    size_t file_count, file_room;
    size_t sent;           /* the first so many files are enqueued */
    size_t unreadable;     /* directories and entries that could not be looked at */
    uint64_t ended_before; /* tasks that had ended in this queue before we came */
    int64_t began_ms;
    int64_t first_ms, last_ms; /* Redis's clock: the first task enqueued, the last one ended */
    size_t missing;            /* files whose fate could not be found */
};

/* The signal that asked to stop, or 0. */
extern volatile sig_atomic_t stop_signal;

/* ---- each returns false when the program cannot go on: then the reason was said, or stop_signal is set ---------- */

/* Checks that the directory is there; then walks it and enqueues on the way. */
bool walk(struct tree *tree);
/* Adds a file; enqueues when a chunk is full. Takes a copy of path. */
bool produce(struct tree *tree, const char *path);
/* Enqueues what is left. */
bool produce_rest(struct tree *tree);
/* Waits until the tasks of this tree have ended, and finds out what became of them. */
bool watch(struct tree *tree);
/* Asks for the fate of each file whose fate is not known yet; sets missing. */
bool collect(struct tree *tree);
bool manifest_check(const struct tree *tree); /* can it be written there? */
bool manifest_write(const struct tree *tree);
void summarise(const struct tree *tree);
void sort_by_path(struct tree *tree);

/* ---- progress ---------------------------------------------------------------------------------------------------- */

/* Shows the numbers if they are due; info NULL: while walking, before the next look at the queue. */
void show_progress(struct tree *tree, const reeve_queue_info *info);

/* ---- patience.c -------------------------------------------------------------------------------------------------- */

/* After a call: true when it should be made again, for Redis may come back. Pauses a little. */
bool patience_again(struct tree *tree, reeve_status status);
/* Pauses; a signal ends it early. */
void nap(int ms);
int64_t now_ms(void);

/* ---- say.c ------------------------------------------------------------------------------------------------------- */

/* A line on standard error, in place of a progress line that stands there. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line that the next one replaces (on a terminal). */
void say_in_place(const char *format, ...) __attribute__((format(printf, 1, 2)));
void leave_place(void);
/* Writes text with control characters made harmless. */
void put_text(FILE *out, const char *text);
/* The same into memory. */
#define SHOWN_MAX 512
const char *shown(char room[SHOWN_MAX], const char *text);
/* A number in groups of three: "12,345". */
#define NUMBER_MAX 32
const char *grouped(char room[NUMBER_MAX], uint64_t number);

#endif
