/*
 * settings_view.h - what holds for a queue's tasks, for people and for programs.
 *
 * For programs: of what a policy may say, null is not said (the default holds); an age or a count of null is no limit.
 */
#ifndef CLI_SETTINGS_VIEW_H
#define CLI_SETTINGS_VIEW_H

#include "cli.h"

/* Prints a queue's settings; returns the exit status. */
int cli_show_settings(const cli_context *cli, const char *queue, const reeve_queue_settings *settings);

#endif
