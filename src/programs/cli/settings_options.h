/*
 * settings_options.h - the values of the options of `reeve settings`, by the rows of protocol/queue_settings.h.
 */
#ifndef CLI_SETTINGS_OPTIONS_H
#define CLI_SETTINGS_OPTIONS_H

#include "args.h"
#include "protocol/queue_settings.h"

/* For a cli_option whose `at` is the index of its first row: reads the value into an rv_queue_values, whose texts point
 * into it. CLI_DONE, or CLI_USAGE after words. */
int cli_read_queue_setting(const cli_context *cli, const cli_option *option, void *values, char *value);

#endif
