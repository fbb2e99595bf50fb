#include "settings.h"

#include <reeve/status.h>
#include <stdio.h>
#include <stdlib.h>

const char *setting_text(const char *name)
{
    const char *text = getenv(name);

    return text != NULL && text[0] != '\0' ? text : NULL;
}

bool setting_number(double *ret, const char *name, double max, double fallback)
{
    const char *text = setting_text(name);
    char *end;
    double number = text != NULL ? strtod(text, &end) : fallback;

    if (text == NULL || (end != text && *end == '\0' && number >= 0 && number <= max)) {
        *ret = number;
        return true;
    }
    char expected[64];
    (void)snprintf(expected, sizeof(expected), "a number from 0 to %.15g", max);
    const reeve_log_field fields[] = {{"name", name}, {"value", text}, {"expected", expected}};
    reeve_log_write(REEVE_LOG_ERROR, "plugin.setting", "a variable of the environment is no such number", fields, 3);
    return false;
}
