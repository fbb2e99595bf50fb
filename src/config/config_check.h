/*
 * check.h - what must hold between settings. Private to this room.
 */
#ifndef RV_CONFIG_CHECK_H
#define RV_CONFIG_CHECK_H

#include <libconfig.h>

#include "config/config.h"

/* Names that stand twice in a list, and values that do not fit together. Messages need the places: root. */
void rv_config_check_run(const config_setting_t *root, const rv_config *config, rv_config_errors *errors);

#endif
