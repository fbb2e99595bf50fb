#include "handlers/plugin_dir.h"

#include <stdbool.h>
#include <sys/stat.h>

#include "base/file_beside.h"

static const char own_code = 0; /* stands in the same object as this file */

static bool is_directory(char *ret, size_t size, const char *file, const char *there)
{
    struct stat about;
    return rv_file_beside(ret, size, file, there) && stat(ret, &about) == 0 && S_ISDIR(about.st_mode);
}

const char *rv_plugin_dir(char *ret, size_t size)
{
    if (is_directory(ret, size, rv_file_beside_library(&own_code), "reeve/plugins")) return ret;
    if (is_directory(ret, size, "/proc/self/exe", REEVE_PLUGIN_DIR_FROM_BIN)) return ret;
    return REEVE_PLUGIN_DIR;
}
