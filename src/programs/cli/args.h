/*
 * args.h - options by table, on getopt_long. The global options are understood before and after the verb.
 */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include "cli.h"

/* --redis, --redis-file, --ns, --size-limit, --json, --help, --version. */
extern const cli_option cli_global_options[];

/*
 * Reads what stands before the verb; sets the global options, and cli->argc and argv from the verb on (argc 0: there is
 * none). CLI_DONE, or CLI_USAGE after words.
 */
int cli_read_globals(cli_context *cli, int argc, char **argv);

/*
 * Reads the options of cli->verb into its options struct, and global ones on the way; sets rest, count and given.
 * Unless
 * --help was among them, the number of arguments is checked too. CLI_DONE, or CLI_USAGE after words.
 */
int cli_read_options(cli_context *cli, void *options);

/* Whether an option of the verb was given. */
bool cli_was_given(const cli_context *cli, const char *name);

/* For the read functions of options: the value as a number within the option's min and max, as a time, as a duration
 * of at least its least. CLI_DONE, or CLI_USAGE after words. */
int cli_read_number(const cli_context *cli, const cli_option *option, const char *value, int64_t *ret);
int cli_read_time(const cli_context *cli, const cli_option *option, const char *value, int64_t *ret);
int cli_read_duration(const cli_context *cli, const cli_option *option, const char *value, int64_t *ret);

/* Says what the option's value should be; returns CLI_USAGE. */
int cli_bad_value(const cli_context *cli, const cli_option *option, const char *value, const char *should_be);

#endif
