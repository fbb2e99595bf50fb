#include "settle_word.h"

#include <stdio.h>
#include <string.h>

#include "after.h"

static const cli_settle_word words[] = {
    {"done", REEVE_OUTCOME_DONE, " result ", NULL},       {"retry", REEVE_OUTCOME_RETRY, " in kind message ", NULL},
    {"fail", REEVE_OUTCOME_FAIL, " kind message ", NULL}, {"snooze", REEVE_OUTCOME_SNOOZE, " in ", "in"},
    {"give-back", REEVE_OUTCOME_SNOOZE, " ", NULL},       {"cancel", REEVE_OUTCOME_CANCEL, " reason ", NULL},
    {"discard", REEVE_OUTCOME_DISCARD, " ", NULL},        {"wait", REEVE_OUTCOME_SNOOZE, " after ", "after"},
};

const char *const cli_settle_word_options[] = {"result", "in", "kind", "message", "reason", "after", NULL};

const cli_settle_word *cli_settle_word_find(const char *text)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i].word, text) == 0) return &words[i];
    return NULL;
}

bool cli_settle_word_takes(const cli_settle_word *word, const char *option)
{
    char blank[16];

    (void)snprintf(blank, sizeof(blank), " %s ", option);
    return strstr(word->options, blank) != NULL;
}

bool cli_settle_word_after(char *text, reeve_parent *ret)
{
    return cli_after_parse(text, ret) && ret->on_death != REEVE_PARENT_DEATH && ret->unknown == REEVE_UNKNOWN_REFUSE;
}
