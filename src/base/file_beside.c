#include "base/file_beside.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool rv_file_beside(char *ret, size_t size, const char *file, const char *there)
{
    char path[PATH_MAX];
    if (file == NULL || realpath(file, path) == NULL) return false;
    char *slash = strrchr(path, '/');
    if (slash == NULL) return false;
    *slash = '\0';
    int length = snprintf(ret, size, "%s/%s", path, there);
    return length > 0 && (size_t)length < size;
}

const char *rv_file_beside_library(const void *code)
{
    Dl_info about;
    if (dladdr(code, &about) == 0 || about.dli_fname == NULL) return NULL;
    return strstr(about.dli_fname, ".so") != NULL ? about.dli_fname : NULL;
}
