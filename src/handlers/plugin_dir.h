/*
 * plugin_dir.h - the default directory of plugins.
 */
#ifndef RV_HANDLERS_PLUGIN_DIR_H
#define RV_HANDLERS_PLUGIN_DIR_H

#include <stddef.h>

/*
 * Writes the plugin directory of this installation: found from the place of the shared library, or of the program that
 * holds it, so that an installed tree may stand anywhere; else the directory that the build was configured for. size is
 * at least PATH_MAX. Any thread; looks at the file system.
 */
const char *rv_plugin_dir(char *ret, size_t size);

#endif
