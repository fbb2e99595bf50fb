#include "isolation/runner_program.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file_beside.h"

static const char own_code = 0; /* stands in the same object as this file */

static bool is_program(char *ret, size_t size, const char *file, const char *there)
{
    return rv_file_beside(ret, size, file, there) && access(ret, X_OK) == 0;
}

const char *rv_runner_program(char *ret, size_t size)
{
    const char *given = getenv("REEVE_RUNNER");
    if (given != NULL && given[0] != '\0') return given;
    if (is_program(ret, size, rv_file_beside_library(&own_code), REEVE_RUNNER_FROM_LIB)) return ret;
    if (is_program(ret, size, "/proc/self/exe", "reeve-runner")) return ret; /* as in a build directory */
    if (is_program(ret, size, "/proc/self/exe", REEVE_RUNNER_FROM_BIN)) return ret;
    return REEVE_RUNNER_PROGRAM;
}
