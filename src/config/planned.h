/*
 * planned.h - what the documents of the project declare and this version does not have yet: one table of settings
 * and values, each of which is refused by name. A feature that comes takes its row out.
 */
#ifndef RV_CONFIG_PLANNED_H
#define RV_CONFIG_PLANNED_H

#include <stdbool.h>
#include <stddef.h>

typedef struct rv_planned {
    const char *name;    /* "web", "pools[].isolation = process"; NULL ends the table */
    const char *purpose; /* "the dashboard and the JSON API" */
} rv_planned;

extern const rv_planned rv_planned_features[];

/* The row of a setting, NULL: there is none. above: the path that its name follows, "" in the file itself; value:
 * NULL for the setting as a whole. */
const rv_planned *rv_planned_find(const char *above, const char *name, const char *value);

#endif
