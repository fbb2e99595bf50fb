/*
 * plugins.h - the plugins of a configuration, opened to see whether they fit together.
 */
#ifndef HOST_PLUGINS_H
#define HOST_PLUGINS_H

#include "config/config.h"

typedef struct host_plugins {
    reeve_plugin_handle **handles; /* one for each of the configuration's; NULL: could not be opened */
    size_t count;
    size_t handler_count;
} host_plugins;

/*
 * Opens every plugin and looks for types that two of them have, and for settings of types that none has. Whatever is
 * wrong is added to errors, with its place in the configuration. False: out of memory.
 */
bool host_plugins_open(host_plugins *ret, const rv_config *config, rv_config_errors *errors);
void host_plugins_close(host_plugins *plugins);

#endif
