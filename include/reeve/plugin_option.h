/*
 * plugin_option.h - options of a plugin: the plugin declares them, a configuration or a program sets them.
 *
 *     static const reeve_option options[] = {
 *         { REEVE_OPTION, .name = "quality", .type = REEVE_OPTION_WHOLE, .min = 1, .max = 100, .otherwise = "80" },
 *     };
 *     static int64_t quality;
 *     static int load(const reeve_options *given) { quality = reeve_option_whole(given, "quality"); return 0; }
 *     REEVE_PLUGIN(.name = "thumbs", ..., .options = options, .option_count = 1, .load_with_options = load)
 *
 * In the configuration of a worker:
 *
 *     plugins = ( { name = "thumbs"; options = { quality = 90; }; } );
 *
 * Every value is checked against its declaration before the load hook runs. An option that is not declared, a value of
 * another type or outside its range, and a required option without a value keep the plugin from being loaded.
 */
#ifndef REEVE_PLUGIN_OPTION_H
#define REEVE_PLUGIN_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "version.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REEVE_OPTIONS_MAX 256       /* options of a plugin */
#define REEVE_OPTION_NAME_MAX 64    /* length of a name */
#define REEVE_OPTION_VALUE_MAX 4096 /* length of a value, in bytes */

/* The type of the value of an option. */
typedef enum reeve_option_type {
    REEVE_OPTION_TEXT,    /* any text without a zero byte */
    REEVE_OPTION_WHOLE,   /* a whole number, such as 80 */
    REEVE_OPTION_NUMBER,  /* a number, such as 0.5 */
    REEVE_OPTION_SECONDS, /* a time in seconds, whole or fractional; reeve_option_ms returns milliseconds */
    REEVE_OPTION_TRUTH    /* true or false */
} reeve_option_type;

/* The declaration of an option: an element of a plugin's table. Zero selects the default of each field. */
typedef struct reeve_option {
    size_t size; /* sizeof(reeve_option); REEVE_OPTION sets it */
    /* Required: 1 to REEVE_OPTION_NAME_MAX of a-z 0-9 _ and the dot. "retry.max" is the setting `max` in the group
     * `retry` of the configuration. */
    const char *name;
    reeve_option_type type;
    bool required;         /* without a value the plugin is not loaded */
    double min;            /* numeric types: smallest value, in seconds for REEVE_OPTION_SECONDS */
    double max;            /* numeric types: largest value; min and max both 0: no limits */
    const char *otherwise; /* the default value, as text: "80", "0.5", "true"; NULL: the option is then not set */
    /* REEVE_OPTION_TEXT: the allowed values, with a NULL at the end; NULL: any text */
    const char *const *choices;
    const char *summary; /* one line for people */
} reeve_option;

#define REEVE_OPTION .size = sizeof(reeve_option)

/* The values of a plugin's options, each checked. They exist until the plugin is unloaded. */
typedef struct reeve_options reeve_options;

/*
 * The value of an option: the value that was set, else the default of its declaration. An option that has neither, or
 * that is not declared, or that has another type, is NULL, 0 or false. The text is owned by the plugin's handle and is
 * valid until the plugin is unloaded. These functions do not block. Any thread.
 */
REEVE_API const char *reeve_option_text(const reeve_options *options, const char *name);
REEVE_API int64_t reeve_option_whole(const reeve_options *options, const char *name);
REEVE_API double reeve_option_number(const reeve_options *options, const char *name);
REEVE_API int64_t reeve_option_ms(const reeve_options *options, const char *name); /* REEVE_OPTION_SECONDS */
REEVE_API bool reeve_option_truth(const reeve_options *options, const char *name);
/* Returns true if the option has a value: one that was set, or a default. */
REEVE_API bool reeve_option_is_set(const reeve_options *options, const char *name);

/* A value for reeve_plugin_open_with_options: the text of the value, as in a configuration file without quotes. */
typedef struct reeve_option_value {
    const char *name;
    const char *value;
} reeve_option_value;

#ifdef __cplusplus
}
#endif
#endif
