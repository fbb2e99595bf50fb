#include "after.h"

#include <ctype.h>
#include <string.h>

#include "base/nearest.h"
#include "handle.h"

#define RULES 3

static const char *const rules[RULES] = {"fail", "go", "wait"}; /* by reeve_on_parent_death */

/* A word that is none of them but almost, or one that only C knows. */
static bool is_mistaken(const char *word)
{
    rv_nearest nearest;

    if (strcmp(word, "death") == 0) return true;
    for (const char *at = word; *at != '\0'; at++)
        if (!islower((unsigned char)*at)) return false;
    rv_nearest_init(&nearest, word);
    for (int i = 0; i < RULES; i++) rv_nearest_try(&nearest, rules[i]);
    return *word != '\0' && nearest.name != NULL;
}

bool cli_after_parse(char *text, reeve_parent *ret)
{
    cli_handle handle;
    char *colon = strrchr(text, ':');
    int rule = 0;

    ret->on_death = REEVE_PARENT_FAIL;
    while (colon != NULL && rule < RULES && strcmp(colon + 1, rules[rule]) != 0) rule++;
    if (colon != NULL && rule == RULES && is_mistaken(colon + 1)) return false;
    if (colon != NULL && rule < RULES) {
        *colon = '\0';
        ret->on_death = (reeve_on_parent_death)rule;
    }
    ret->handle = text;
    return cli_handle_parse(&handle, text);
}
