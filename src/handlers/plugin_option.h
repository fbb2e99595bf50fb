/*
 * plugin_option.h - options of a plugin: their declarations are checked, then the values that a program gives.
 */
#ifndef RV_HANDLERS_PLUGIN_OPTION_H
#define RV_HANDLERS_PLUGIN_OPTION_H

#include "base/error.h"
#include "reeve/plugin.h"

/* The index of no value. */
#define RV_PLUGIN_OPTION_NONE SIZE_MAX

/* Checks a declaration; `earlier` are those before it in its table. REEVE_EINVAL with words that begin with path. */
reeve_status rv_plugin_option_check(const reeve_option *option, const reeve_option *earlier, size_t count,
                                    const char *path, rv_error *error);

/*
 * Checks values against the declarations of plugin, whose options rv_plugin_read has checked, and fills in defaults. On
 * success *ret is owned by the caller until rv_plugin_option_free; it points to the declarations. On failure *ret_bad is
 * the index of the value that is wrong, RV_PLUGIN_OPTION_NONE for a value that is missing. REEVE_EINVAL, REEVE_ENOMEM.
 */
reeve_status rv_plugin_option_read(reeve_options **ret, const reeve_plugin *plugin, const reeve_option_value *values,
                                   size_t count, const char *path, size_t *ret_bad, rv_error *error);
void rv_plugin_option_free(reeve_options *options); /* NULL is ignored */

/* The name of the option at this index and its value as text, NULL: not set. False: there is none at that index. Both
 * belong to the options; NULL has none. */
bool rv_plugin_option_next(const reeve_options *options, size_t index, const char **ret_name, const char **ret_value);

/* The values that are no defaults, at most REEVE_OPTIONS_MAX: to open another version of the plugin with them. They point
 * into the options. Returns how many. */
size_t rv_plugin_option_given(const reeve_options *options, reeve_option_value *ret);

/* Whether both have the same values. */
bool rv_plugin_option_equal(const reeve_options *one, const reeve_options *other);

/* "a whole number from 1 to 100". */
void rv_plugin_option_expected(const reeve_option *option, char *ret, size_t size);
/* "whole": the name of a type. */
const char *rv_plugin_option_type_name(reeve_option_type type);

#endif
