#include "verbs.h"

#include <string.h>

#include "base/nearest.h"

#define ADDRESS(name) &cli_verb_##name,

const cli_verb *const cli_verbs[] = {CLI_VERBS(ADDRESS) NULL};

/* Verbs that are announced and do not exist yet. A verb leaves this table when its source is added. */
static const struct {
    const char *name;
    const char *purpose;
} later[] = {
    {"tune", "to recommend settings"},
};

const cli_verb *cli_find_verb(const char *name)
{
    for (size_t i = 0; cli_verbs[i] != NULL; i++)
        if (strcmp(cli_verbs[i]->name, name) == 0) return cli_verbs[i];
    return NULL;
}

int cli_unknown_verb(const cli_context *cli, const char *name)
{
    rv_nearest nearest;

    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
        if (strcmp(later[i].name, name) == 0)
            return cli_usage(cli, "\"%s\" comes later: reeve %s has no command %s yet", name, reeve_version(),
                             later[i].purpose);
    rv_nearest_init(&nearest, name);
    for (size_t i = 0; cli_verbs[i] != NULL; i++)
        if (!cli_verbs[i]->hidden) rv_nearest_try(&nearest, cli_verbs[i]->name);
    if (nearest.name == NULL) return cli_usage(cli, "unknown command \"%.100s\"", name);
    return cli_usage(cli, "unknown command \"%.100s\"; did you mean \"%s\"?", name, nearest.name);
}
