#include "conflict.h"

#include <string.h>

bool cli_until_parse(const char *text, bool *ret_until_started)
{
    *ret_until_started = strcmp(text, "started") == 0;
    return *ret_until_started || strcmp(text, "ended") == 0;
}

bool cli_conflict_parse(const char *text, reeve_conflict *ret)
{
    static const struct {
        const char *name;
        reeve_conflict value;
    } names[] = {
        {"reject", REEVE_CONFLICT_REJECT}, {"replace", REEVE_CONFLICT_REPLACE}, {"debounce", REEVE_CONFLICT_DEBOUNCE}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i].name) != 0) continue;
        *ret = names[i].value;
        return true;
    }
    return false;
}

bool cli_exists_parse(const char *text, reeve_if_exists *ret)
{
    static const char *const names[] = {
        [REEVE_EXISTS_REFUSE] = "refuse", [REEVE_EXISTS_IGNORE] = "ignore", [REEVE_EXISTS_AGAIN] = "again"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *ret = (reeve_if_exists)i;
        return true;
    }
    return false;
}
