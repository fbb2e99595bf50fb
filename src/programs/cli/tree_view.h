/*
 * tree_view.h - the tree of a task, as `reeve show --tree` prints it.
 */
#ifndef CLI_TREE_VIEW_H
#define CLI_TREE_VIEW_H

#include "handle.h"

#define CLI_TREE_DEFAULT 100

/* Prints the tree of at most `limit` tasks, and how many were left out. Returns the exit status. */
int cli_tree_show(cli_context *cli, const cli_handle *handle, size_t limit);

#endif
