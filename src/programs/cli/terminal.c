#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

size_t cli_terminal_columns(FILE *out)
{
    struct winsize size;

    if (isatty(fileno(out)) != 1 || ioctl(fileno(out), TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
}

bool cli_terminal_colours(FILE *out)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

    if (no_color != NULL && no_color[0] != '\0') return false;
    return isatty(fileno(out)) == 1 && term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
}
