/*
 * config_paths.h - relative paths in a configuration are relative to its file.
 */
#ifndef RV_CONFIG_PATHS_H
#define RV_CONFIG_PATHS_H

#include "config/config.h"

/* Puts the directory of the file before each relative path: of files, directories and sockets, and of plugins that are
 * named by a path. REEVE_ENOMEM. */
reeve_status rv_config_paths_place(rv_config *config);

#endif
