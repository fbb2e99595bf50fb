/*
 * cron_keep.h - `reeve cron add` on an entry that is there: what is not given stays as it is.
 */
#ifndef CLI_CRON_KEEP_H
#define CLI_CRON_KEEP_H

#include "verb_cron.h"

/* Room for the names of all options of `cron add`, and of the payload. */
#define CLI_KEPT_MAX 32

typedef struct cli_kept {
    reeve_cron_entry *old; /* what is kept stands in it: freed when the entry is set; or NULL */
    const char *names[CLI_KEPT_MAX];
    size_t count;
} cli_kept;

/*
 * Puts into options->entry and its task what the entry of this name has and the command line does not give. The entry
 * of a name in another queue counts, too. CLI_DONE, also where there is none; or an exit status after words.
 */
int cli_cron_keep(cli_context *cli, cli_cron_options *options, cli_kept *ret);

#endif
