#include "handlers/plugin_dir.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_directory(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Writes the directory at the relative path `there` from that of the file; false when it does not exist. */
static bool from_file(char *ret, size_t size, const char *file, const char *there)
{
    char path[PATH_MAX];
    if (file == NULL || realpath(file, path) == NULL) return false;
    char *slash = strrchr(path, '/');
    if (slash == NULL) return false;
    *slash = '\0';
    int length = snprintf(ret, size, "%s/%s", path, there);
    return length > 0 && (size_t)length < size && is_directory(ret);
}

/* The file that contains this code. The loader may know the program itself by a name relative to another directory. */
static bool from_library(char *ret, size_t size)
{
    Dl_info about;
    if (dladdr(rv_plugin_dir, &about) == 0 || about.dli_fname == NULL) return false;
    return strstr(about.dli_fname, ".so") != NULL && from_file(ret, size, about.dli_fname, "reeve/plugins");
}

const char *rv_plugin_dir(char *ret, size_t size)
{
    if (from_library(ret, size)) return ret;
    if (from_file(ret, size, "/proc/self/exe", REEVE_PLUGIN_DIR_FROM_BIN)) return ret;
    return REEVE_PLUGIN_DIR;
}
