/*
 * runner_program.h - where the program reeve-runner is.
 */
#ifndef RV_RUNNER_PROGRAM_H
#define RV_RUNNER_PROGRAM_H

#include <stddef.h>

/* Writes the path of the program: what the environment variable REEVE_RUNNER says, else that of this installation, found
 * from the place of the running program or of the shared library, so that an installed tree may stand anywhere; else
 * where the build was configured to install it. size is at least PATH_MAX. Any thread; looks at the file system. */
const char *rv_runner_program(char *ret, size_t size);

#endif
