#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "support/cmocka.h"

#define MODEL_TRANSITION(name, words) words,
static const char *const transitions[TRANSITIONS] = {MODEL_TRANSITIONS(MODEL_TRANSITION)};
#undef MODEL_TRANSITION

static unsigned long counts[TRANSITIONS];

/* A transition that is looked for counts as a difference: so the shortest list that leads to it is found. */
void model_cover(int transition)
{
    static const char *wanted;
    if (!wanted) wanted = getenv("REEVE_TEST_FIND") ? getenv("REEVE_TEST_FIND") : "";
    if (*wanted && strcmp(wanted, transitions[transition]) == 0) model_differ("found: %s", wanted);
    counts[transition]++;
}

bool model_covered_all(void)
{
    for (int i = 0; i < TRANSITIONS; i++)
        if (counts[i] == 0) return false;
    return model_made_all();
}

void model_show_missing(void)
{
    for (int i = 0; i < TRANSITIONS; i++)
        if (counts[i] == 0) print_error("never happened: %s\n", transitions[i]);
    model_show_unmade();
}

void model_show_cover(void)
{
    for (int i = 0; i < TRANSITIONS; i++) print_message("%8lu %s\n", counts[i], transitions[i]);
    model_show_made();
}
