#include "after.h"

#include <string.h>

#include "handle.h"

bool cli_after_parse(char *text, reeve_parent *ret)
{
    static const char *const rules[] = {":fail", ":go", ":wait"}; /* by reeve_on_parent_death */
    cli_handle handle;
    char *colon = strrchr(text, ':');

    ret->on_death = REEVE_PARENT_FAIL;
    for (int i = 0; colon != NULL && i < 3; i++) {
        if (strcmp(colon, rules[i]) != 0) continue;
        *colon = '\0';
        ret->on_death = (reeve_on_parent_death)i;
        break;
    }
    ret->handle = text;
    return cli_handle_parse(&handle, text);
}
