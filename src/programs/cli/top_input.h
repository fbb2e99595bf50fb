/*
 * top_input.h - what keys do in `reeve top`.
 */
#ifndef CLI_TOP_INPUT_H
#define CLI_TOP_INPUT_H

#include "top_model.h"

/* What remains to be done for a key by whoever has the terminal. */
typedef enum cli_top_want {
    CLI_TOP_NOTHING, /* draw */
    CLI_TOP_REFRESH, /* read anew, and draw */
    CLI_TOP_QUIT,
    CLI_TOP_ASK_FILTER,
    CLI_TOP_ASK_COMMAND,
    CLI_TOP_ASK_ACTION, /* whether the action of this key is meant */
} cli_top_want;

/* Keys beyond characters. */
enum { CLI_TOP_UP = 1000, CLI_TOP_DOWN, CLI_TOP_PAGE_UP, CLI_TOP_PAGE_DOWN, CLI_TOP_HOME, CLI_TOP_END };

cli_top_want cli_top_key(cli_top *top, int key);

#endif
