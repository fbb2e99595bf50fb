/*
 * top_screen.h - `reeve top` on a terminal, by ncurses.
 */
#ifndef CLI_TOP_SCREEN_H
#define CLI_TOP_SCREEN_H

#include "top_model.h"

/* Shows it until the user leaves, reading anew every interval_ms. Returns the exit status. */
int cli_top_on_screen(cli_top *top, int64_t interval_ms);

#endif
