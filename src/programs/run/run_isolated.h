/*
 * run_isolated.h - `reeve run --isolation process`: the handler runs in a runner, as in a pool with process isolation. Its
 * calls are made on the task of the test run, so that the report is the same.
 */
#ifndef CLI_RUN_ISOLATED_H
#define CLI_RUN_ISOLATED_H

#include "handlers/plugin.h"
#include "reeve/testing.h"

/* Runs the task of run->type. layers: the plugin whose layers are around the handler, or NULL. The caller frees the
 * report, as that of reeve_test_run_plugin. */
reeve_test_report *cli_run_isolated(reeve_plugin_handle *plugin, reeve_plugin_handle *layers,
                                    const reeve_test_options *run);

#endif
