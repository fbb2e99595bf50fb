#include "verbs.h"

#include <string.h>

#include "base/nearest.h"

#define ADDRESS(name) &cli_verb_##name,

const cli_verb *const cli_verbs[] = {CLI_VERBS(ADDRESS) NULL};

const cli_verb *cli_find_verb(const char *name)
{
    for (size_t i = 0; cli_verbs[i] != NULL; i++)
        if (strcmp(cli_verbs[i]->name, name) == 0) return cli_verbs[i];
    return NULL;
}

int cli_unknown_verb(const cli_context *cli, const char *name)
{
    rv_nearest nearest;

    rv_nearest_init(&nearest, name);
    for (size_t i = 0; cli_verbs[i] != NULL; i++)
        if (!cli_verbs[i]->hidden) rv_nearest_try(&nearest, cli_verbs[i]->name);
    if (nearest.name == NULL) return cli_usage(cli, "unknown command \"%.100s\"", name);
    return cli_usage(cli, "unknown command \"%.100s\"; did you mean \"%s\"?", name, nearest.name);
}
