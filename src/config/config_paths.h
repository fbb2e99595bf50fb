/*
 * config_paths.h - relative paths in a configuration are relative to its file. Private to this room.
 */
#ifndef RV_CONFIG_PATHS_H
#define RV_CONFIG_PATHS_H

#include <libconfig.h>

#include "config/config.h"

/* Puts the directory of the file before each relative path: of files, directories and sockets, and of plugins that are
 * named by a path. REEVE_ENOMEM. */
reeve_status rv_config_paths_place(rv_config *config);

/* Complains of sockets whose paths, with the directory, are longer than the system allows. Messages need the places:
 * root. */
void rv_config_paths_check(const config_setting_t *root, const rv_config *config, rv_config_errors *errors);

#endif
