/*
 * read.h - from libconfig's values to the structs, by the table. Private to this room.
 */
#ifndef RV_CONFIG_READ_H
#define RV_CONFIG_READ_H

#include <libconfig.h>

#include "config/config.h"

/*
 * Reads everything below root into config, which is zeroed but for its file; whatever is wrong is added to errors.
 * REEVE_ENOMEM: what was read so far is in config.
 */
reeve_status rv_config_read_run(const config_setting_t *root, rv_config *config, rv_config_errors *errors);

/* Whether it is [ ... ] or ( ... ). */
bool rv_config_read_is_list(const config_setting_t *at);

#endif
