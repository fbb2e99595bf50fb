/*
 * plugin_file.h - the file of a plugin: which version of it is there, whether it is complete, and a private copy of it.
 *
 * The loader knows a library by its name and its inode, and maps it: a file that was replaced would not be loaded again,
 * and one that is written in place changes under the code that runs. A copy in memory has a name and an inode of its own.
 */
#ifndef RV_HANDLERS_PLUGIN_FILE_H
#define RV_HANDLERS_PLUGIN_FILE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"

/* What tells the versions of a file apart. */
typedef struct rv_plugin_stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified;
} rv_plugin_stamp;

#define RV_PLUGIN_COPY_PATH 160

/* Looks at the file. REEVE_EPLUGIN: it cannot be opened, is no regular file, or is a library of which a part is missing. */
reeve_status rv_plugin_file_look(rv_plugin_stamp *ret, const char *path, rv_error *error);

bool rv_plugin_file_is_same(const rv_plugin_stamp *one, const rv_plugin_stamp *other);

/* Copies the file into memory. Returns its descriptor, which the caller closes; -1: that is not possible here, or the
 * file is not the one of the stamp any more. */
int rv_plugin_file_copy(const char *path, const rv_plugin_stamp *stamp);

/* A name for the copy by which no library of this process was loaded before. */
void rv_plugin_file_copy_path(char ret[RV_PLUGIN_COPY_PATH], int fd);

/*
 * shown: a path of /proc/PID/maps. That of a copy becomes the path of the file that was copied. False: the file that is
 * there now is another one.
 */
bool rv_plugin_file_of_memory(char *shown);

#endif
