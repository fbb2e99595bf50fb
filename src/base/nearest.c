#include "base/nearest.h"

#include <string.h>

#define LONGEST 32

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edit distance (insert, remove, replace), a row of the matrix at a time; both names at most LONGEST long. */
static size_t edits(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t row[LONGEST + 1];

    for (size_t j = 0; j <= b_length; j++) row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = min(replaced, min(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_length];
}

/* Distance first, then how much the lengths differ. */
static size_t score(size_t distance, size_t a_length, size_t b_length)
{
    return distance * (LONGEST + 1) + (a_length > b_length ? a_length - b_length : b_length - a_length);
}

void rv_nearest_init(rv_nearest *nearest, const char *wanted)
{
    nearest->wanted = wanted;
    nearest->name = NULL;
    nearest->score = score(strlen(wanted) < 3 ? 2 : 3, 0, 0); /* the least that is not near */
}

void rv_nearest_try(rv_nearest *nearest, const char *name)
{
    size_t wanted = strlen(nearest->wanted), length = strlen(name), distance = 0;

    if (wanted == 0 || wanted > LONGEST || length > LONGEST) return;
    if (wanted < 2 || strncmp(name, nearest->wanted, min(wanted, length)) != 0)
        distance = edits(nearest->wanted, wanted, name, length);
    size_t found = score(distance, wanted, length);
    if (found >= nearest->score) return;
    nearest->score = found;
    nearest->name = name;
}
