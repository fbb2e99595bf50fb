/*
 * settings.h - numbers from the environment, for the plugins that come with reeve.
 */
#ifndef REEVE_PLUGINS_SETTINGS_H
#define REEVE_PLUGINS_SETTINGS_H

#include <stdbool.h>

/*
 * Reads a variable as a number from 0 to most; fallback when it is not set or empty. False, and the log says so, when
 * it is something else.
 */
bool setting_number(double *ret, const char *name, double max, double fallback);

/* The variable's text; NULL when it is not set or empty. */
const char *setting_text(const char *name);

#endif
