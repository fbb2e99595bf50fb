#include "config/planned.h"

#include <stdio.h>
#include <string.h>

const rv_planned rv_planned_features[] = {
    {NULL, NULL},
};

const rv_planned *rv_planned_find(const char *above, const char *name, const char *value)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s%s%s%s%s", above, *above != '\0' ? "." : "", name, value != NULL ? " = " : "",
                   value != NULL ? value : "");
    for (const rv_planned *row = rv_planned_features; row->name != NULL; row++) {
        if (strcmp(row->name, path) == 0) return row;
    }
    return NULL;
}
