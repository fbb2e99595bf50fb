/*
 * confine.h - puts the sandbox of a runner in force: its user, Landlock (files, TCP, signals) and a filter of system calls
 * by libseccomp. As much of it as the kernel and the build allow; what is in force goes to the worker.
 */
#ifndef HOST_CONFINE_H
#define HOST_CONFINE_H

#include "isolation/runner_sandbox.h"

/* plugins: the files that are loaded afterwards, which may be read in any case. Writes what is in force, and what of the
 * sandbox is not, in words. REEVE_ESYSTEM: the user could not be changed. */
reeve_status host_confine(const rv_runner_sandbox *sandbox, const char *const *plugins, size_t plugin_count,
                          char ret[RV_RUNNER_SANDBOX_TEXT], rv_error *error);

#endif
