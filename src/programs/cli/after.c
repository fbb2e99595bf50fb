#include "after.h"

#include <ctype.h>
#include <string.h>

#include "base/nearest.h"
#include "handle.h"
#include "protocol/parents.h"

#define RULES 4
#define KNOWN_OR_GONE "known-or-gone"

static const char *const rules[RULES] = {"fail", "go", "wait", "death"}; /* by reeve_on_parent_death */

/* A word that is none of them but almost. */
static bool is_mistaken(const char *word)
{
    rv_nearest nearest;

    for (const char *at = word; *at != '\0'; at++)
        if (!islower((unsigned char)*at) && *at != '-') return false;
    rv_nearest_init(&nearest, word);
    for (int i = 0; i < RULES; i++) rv_nearest_try(&nearest, rules[i]);
    rv_nearest_try(&nearest, KNOWN_OR_GONE);
    return *word != '\0' && nearest.name != NULL;
}

/* True, and *ret is set, when the word is a rule. */
static bool read_rule(const char *word, reeve_parent *ret)
{
    int rule = 0;

    if (strcmp(word, KNOWN_OR_GONE) == 0) {
        ret->unknown = REEVE_UNKNOWN_COMPLETED;
        return true;
    }
    while (rule < RULES && strcmp(word, rules[rule]) != 0) rule++;
    if (rule < RULES) ret->on_death = (reeve_on_parent_death)rule;
    return rule < RULES;
}

bool cli_after_parse(char *text, reeve_parent *ret)
{
    cli_handle handle;

    *ret = (reeve_parent){.handle = text, .on_death = REEVE_PARENT_FAIL};
    if (rv_parents_signal(text) != NULL) return true;
    /* One of each kind. */
    for (int i = 0; i < 2; i++) {
        char *colon = strrchr(text, ':');

        if (colon == NULL) break;
        if (read_rule(colon + 1, ret))
            *colon = '\0';
        else if (is_mistaken(colon + 1))
            return false;
        else
            break;
    }
    return cli_handle_parse(&handle, text);
}
