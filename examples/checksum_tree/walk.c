/*
 * walk.c - the regular files below a directory, named as `find DIRECTORY -type f` names them. Links are not followed,
 * except that the directory itself may be one.
 */
#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

#include "tree.h"

#define NAMED_MAX 10

static void note_unreadable(struct tree *tree, const char *path, int reason)
{
    char room[SHOWN_MAX];

    tree->unreadable++;
    if (tree->unreadable <= NAMED_MAX) say("cannot look into %s: %s", shown(room, path), strerror(reason));
    if (tree->unreadable == NAMED_MAX) say("(more such places are counted, not named)");
}

static bool visit(struct tree *tree, const FTSENT *entry)
{
    switch (entry->fts_info) {
    case FTS_F:
        return produce(tree, entry->fts_path);
    case FTS_DNR: /* a directory that cannot be read */
    case FTS_NS:  /* something in a directory that can be read but not entered */
    case FTS_ERR:
        note_unreadable(tree, entry->fts_path, entry->fts_errno);
        return true;
    case FTS_DC:
        note_unreadable(tree, entry->fts_path, ELOOP);
        return true;
    default: /* directories on the way, links, FIFOs, devices */
        return true;
    }
}

bool walk(struct tree *tree)
{
    /* fts wants names that it could write to; it does not */
    char *const roots[] = {(char *)tree->directory, NULL};
    struct stat about;
    char room[SHOWN_MAX];
    FTSENT *entry;
    bool going = true;
    FTS *places;

    if (stat(tree->directory, &about) != 0) {
        say("%s: %s", shown(room, tree->directory), strerror(errno));
        return false;
    }
    /* FTS_NOCHDIR: this program's working directory is not fts's to change */
    places = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    if (places == NULL) {
        say("%s: %s", shown(room, tree->directory), strerror(errno));
        return false;
    }
    while (going && stop_signal == 0) {
        errno = 0;
        entry = fts_read(places);
        if (entry == NULL) break;
        going = visit(tree, entry);
    }
    if (going && stop_signal == 0 && errno != 0) {
        say("%s: the walk ended early: %s", shown(room, tree->directory), strerror(errno));
        going = false;
    }
    (void)fts_close(places);
    return going && stop_signal == 0 && produce_rest(tree);
}
