#include "isolation/runner_program.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes the path of the program at the relative path `there` from the directory of the file; false when it does not
 * exist. */
static bool from_file(char *ret, size_t size, const char *file, const char *there)
{
    char path[PATH_MAX];
    if (file == NULL || realpath(file, path) == NULL) return false;
    char *slash = strrchr(path, '/');
    if (slash == NULL) return false;
    *slash = '\0';
    int length = snprintf(ret, size, "%s/%s", path, there);
    return length > 0 && (size_t)length < size && access(ret, X_OK) == 0;
}

static const char *own_library(void)
{
    Dl_info about;
    if (dladdr(rv_runner_program, &about) == 0 || about.dli_fname == NULL) return NULL;
    return strstr(about.dli_fname, ".so") != NULL ? about.dli_fname : NULL;
}

const char *rv_runner_program(char *ret, size_t size)
{
    const char *given = getenv("REEVE_RUNNER");
    if (given != NULL && given[0] != '\0') return given;
    if (from_file(ret, size, own_library(), REEVE_RUNNER_FROM_LIB)) return ret;
    if (from_file(ret, size, "/proc/self/exe", "reeve-runner")) return ret; /* as in a build directory */
    if (from_file(ret, size, "/proc/self/exe", REEVE_RUNNER_FROM_BIN)) return ret;
    return REEVE_RUNNER_PROGRAM;
}
