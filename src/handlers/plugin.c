/*
 * plugin.c - finding, opening and closing plugins.
 */
#include "handlers/plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"
#include "handlers/plugin_dir.h"
#include "handlers/plugin_option.h"

#define PATH_LENGTH_MAX ((size_t)4096)

/* Guards the list and each handle's users; held while load and unload hooks run, so that each runs once. */
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static reeve_plugin_handle *open_plugins;
static _Thread_local bool owns_lock; /* the thread is in a hook, or in what dlclose runs */
static _Thread_local bool loads;     /* it is in what dlopen runs */

/* False: the thread has it already. */
static bool lock_plugins(void)
{
    if (owns_lock) return false;
    rv_lock(&open_lock);
    owns_lock = true;
    return true;
}

static void unlock_plugins(bool locked)
{
    if (!locked) return;
    owns_lock = false;
    rv_unlock(&open_lock);
}

/* ---- where the file is ----------------------------------------------------------------------------------------- */

static bool is_bare_name(const char *name)
{
    return name[0] != '\0' &&
           name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")] == '\0';
}

static const char *plugin_directory(const char *given, char found[PATH_MAX])
{
    if (given == NULL || given[0] == '\0') given = getenv("REEVE_PLUGIN_DIR");
    return given == NULL || given[0] == '\0' ? rv_plugin_dir(found, PATH_MAX) : given;
}

/* A path stays; a bare name becomes a file of the plugin directory. */
static reeve_status find_file(char **ret, const char *name, const char *directory, rv_error *error)
{
    bool is_path = strchr(name, '/') != NULL;
    char found[PATH_MAX];
    rv_buf path;

    if (!is_path && !is_bare_name(name)) {
        return rv_fail(error, REEVE_EINVAL,
                       "\"%.200s\" names no plugin: a path with a '/', or a bare name of A-Z a-z 0-9 . _ -", name);
    }
    directory = is_path ? "" : plugin_directory(directory, found);
    if (strlen(directory) + strlen(name) > PATH_LENGTH_MAX) {
        return rv_fail(error, REEVE_EINVAL, "plugin %.200s...: the path is too long", name);
    }
    rv_buf_init(&path, PATH_LENGTH_MAX + sizeof("/.so"));
    if (is_path) {
        rv_buf_adds(&path, name);
    } else {
        rv_buf_addf(&path, "%s/%s.so", directory, name);
    }
    if (path.failed) {
        rv_buf_fini(&path);
        return rv_fail(error, REEVE_ENOMEM, "plugin %s: out of memory", name);
    }
    *ret = path.data;
    return REEVE_OK;
}

/* ---- the library ----------------------------------------------------------------------------------------------- */

/* The text of dlerror without the path, with which the message of the caller begins. */
static const char *loader_words(const char *path)
{
    const char *words = dlerror();
    size_t length = strlen(path);

    if (words == NULL) return "unknown error";
    return strncmp(words, path, length) == 0 && strncmp(words + length, ": ", 2) == 0 ? words + length + 2 : words;
}

static reeve_status open_library(void **ret, const char *name, const char *path, rv_error *error)
{
    loads = true;
    *ret = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    loads = false;
    if (*ret != NULL) return REEVE_OK;
    return rv_fail(error, REEVE_EPLUGIN, "plugin %s: cannot open it: %s", path, loader_words(name));
}

static void close_library(void *library)
{
    if (library != NULL) (void)dlclose(library); /* a library that cannot be closed stays; nothing depends on it */
}

static reeve_status read_library(reeve_plugin_handle *plugin, void *library, const char *path, rv_error *error)
{
    const reeve_plugin *(*entry)(void);
    void *symbol = dlsym(library, REEVE_PLUGIN_ENTRY);

    if (symbol == NULL) {
        return rv_fail(error, REEVE_EPLUGIN, "plugin %s: is no reeve plugin: it has no symbol %s (see REEVE_PLUGIN)",
                       path, REEVE_PLUGIN_ENTRY);
    }
    memcpy(&entry, &symbol, sizeof(entry));
    return rv_plugin_read(plugin, entry(), path, error);
}

/* ---- handles --------------------------------------------------------------------------------------------------- */

/* What a plugin is opened with. */
typedef struct given_options {
    const reeve_option_value *values;
    size_t count;
    size_t bad;    /* the index of the value that is wrong */
    bool unloaded; /* the plugin is only described */
    bool copies;   /* a private copy of its file is loaded */
} given_options;

/* A library that is open, and where it comes from. */
typedef struct opened {
    void *library;
    int copy; /* as in the handle */
    char *path;
    rv_plugin_stamp stamp;
} opened;

static void release(opened *from)
{
    close_library(from->library);
    if (from->copy >= 0) close(from->copy);
    rv_free(from->path);
}

static void free_handle(reeve_plugin_handle *plugin)
{
    rv_plugin_option_free(plugin->options);
    rv_free(plugin->declared);
    rv_free(plugin->handlers);
    rv_free(plugin->layers);
    rv_free(plugin->path);
    rv_free(plugin);
}

static reeve_status load_plugin(reeve_plugin_handle *plugin, const char *path, given_options *given, rv_error *error)
{
    const reeve_plugin *about = &plugin->plugin;
    reeve_status status =
        rv_plugin_option_read(&plugin->options, about, given->values, given->count, path, &given->bad, error);

    if (status != REEVE_OK) return status;
    int loaded = about->load_with_options != NULL ? about->load_with_options(plugin->options)
                 : about->load != NULL            ? about->load()
                                                  : 0;

    plugin->loaded = loaded == 0;
    if (plugin->loaded) return REEVE_OK;
    return rv_fail(error, REEVE_EPLUGIN, "plugin %s: its load hook failed (it returned %d)", path, loaded);
}

/* On success the handle owns library, copy and path. */
static reeve_status make_handle(reeve_plugin_handle **ret, const opened *from, given_options *given, rv_error *error)
{
    reeve_plugin_handle *plugin = rv_zalloc(sizeof(*plugin));
    reeve_status status;

    if (plugin == NULL) return rv_fail(error, REEVE_ENOMEM, "plugin %s: out of memory", from->path);
    status = read_library(plugin, from->library, from->path, error);
    if (status != REEVE_OK) goto fail;
    status = rv_plugin_gate_init(plugin);
    if (status != REEVE_OK) goto fail;
    status = given->unloaded ? REEVE_OK : load_plugin(plugin, from->path, given, error);
    if (status != REEVE_OK) goto fail_gate;
    plugin->library = from->library;
    plugin->copy = from->copy;
    plugin->path = from->path;
    plugin->stamp = from->stamp;
    plugin->loaded_ms = rv_wall_ms();
    *ret = plugin;
    return REEVE_OK;

fail_gate:
    rv_plugin_gate_fini(plugin);
fail:
    free_handle(plugin);
    return status;
}

/* The handle of a library that is open already; dlopen gives the same pointer for the same file. */
static reeve_plugin_handle *find_open(const void *library)
{
    reeve_plugin_handle *plugin = open_plugins;

    while (plugin != NULL && plugin->library != library) plugin = plugin->next;
    return plugin;
}

static void take_off_list(const reeve_plugin_handle *plugin)
{
    reeve_plugin_handle **link = &open_plugins;

    while (*link != NULL && *link != plugin) link = &(*link)->next;
    if (*link != NULL) *link = plugin->next;
}

/* A plugin that is open keeps its options: values that are given must be those. */
static reeve_status check_options(const reeve_plugin_handle *plugin, given_options *given, rv_error *error)
{
    reeve_options *options;

    if (given->count == 0) return REEVE_OK;
    reeve_status status =
        rv_plugin_option_read(&options, &plugin->plugin, given->values, given->count, plugin->path, &given->bad, error);
    if (status != REEVE_OK) return status;
    bool equal = rv_plugin_option_equal(options, plugin->options);
    rv_plugin_option_free(options);
    if (equal) return REEVE_OK;
    return rv_fail(error, REEVE_ESTATE, "plugin %s: is already open with other options", plugin->path);
}

/* Whether a plugin that is open, with its options, is what a private copy of the file would be. Without values (NULL) its
 * options may be any. */
static bool is_current(const reeve_plugin_handle *plugin, const char *path, const rv_plugin_stamp *stamp,
                       given_options *given)
{
    reeve_options *options;
    rv_error unused = {0};
    size_t bad;

    if (!rv_plugin_file_is_same(&plugin->stamp, stamp)) return false;
    if (given->values == NULL) return true;
    if (rv_plugin_option_read(&options, &plugin->plugin, given->values, given->count, path, &bad, &unused) != REEVE_OK)
        return false;
    bool equal = rv_plugin_option_equal(options, plugin->options);
    rv_plugin_option_free(options);
    return equal;
}

/* The plugin that is open and need not be loaded, or NULL. Where no copy is asked for, that of the path, the last one. */
static reeve_plugin_handle *find_loaded(const char *path, const rv_plugin_stamp *stamp, given_options *given)
{
    reeve_plugin_handle *plugin = open_plugins;

    for (; plugin != NULL; plugin = plugin->next) {
        if (given->copies ? is_current(plugin, path, stamp, given)
                          : plugin->copy >= 0 &&
                                (strcmp(plugin->path, path) == 0 || rv_plugin_file_is_same(&plugin->stamp, stamp)))
            return plugin;
    }
    return NULL;
}

static reeve_status join(reeve_plugin_handle **ret, reeve_plugin_handle *plugin, given_options *given, rv_error *error)
{
    reeve_status status = check_options(plugin, given, error);

    if (status != REEVE_OK) return status;
    plugin->users++;
    *ret = plugin;
    return REEVE_OK;
}

/* The loader returned a library that is open: it was not loaded beside. */
static reeve_status join_library(reeve_plugin_handle **ret, reeve_plugin_handle *plugin, const opened *from,
                                 given_options *given, rv_error *error)
{
    if (given->copies && !is_current(plugin, from->path, &from->stamp, given))
        return rv_fail(error, REEVE_EPLUGIN,
                       "plugin %s: cannot be loaded beside the version that runs: restart the worker to load it",
                       from->path);
    return join(ret, plugin, given, error);
}

/* Consumes what was opened: the new handle has it, or it is released. */
static reeve_status join_or_make(reeve_plugin_handle **ret, opened *from, given_options *given, rv_error *error)
{
    reeve_plugin_handle *plugin = find_open(from->library);
    reeve_status status;

    if (plugin != NULL) {
        status = join_library(ret, plugin, from, given, error);
        release(from);
        return status;
    }
    status = make_handle(&plugin, from, given, error);
    if (status != REEVE_OK) {
        release(from);
        return status;
    }
    plugin->next = open_plugins;
    open_plugins = plugin;
    plugin->users = 1;
    *ret = plugin;
    return REEVE_OK;
}

/* The copy, unless it cannot be loaded; then an error of the file itself is that of the plugin. */
static reeve_status open_file(opened *from, const given_options *given, rv_error *error)
{
    char name[RV_PLUGIN_COPY_PATH];
    rv_error unused = {0};

    from->copy = given->copies ? rv_plugin_file_copy(from->path, &from->stamp) : -1;
    if (from->copy >= 0) {
        rv_plugin_file_copy_path(name, from->copy);
        if (open_library(&from->library, name, from->path, &unused) == REEVE_OK) return REEVE_OK;
        close(from->copy);
        from->copy = -1;
    }
    return open_library(&from->library, from->path, from->path, error);
}

/* Consumes the path. */
static reeve_status open_path(reeve_plugin_handle **ret, char *path, given_options *given, rv_error *error)
{
    opened from = {.copy = -1, .path = path};
    reeve_status status = rv_plugin_file_look(&from.stamp, path, error);

    if (status != REEVE_OK) goto fail;
    bool locked = lock_plugins();
    reeve_plugin_handle *loaded = find_loaded(path, &from.stamp, given);
    if (loaded != NULL) status = join(ret, loaded, given, error);
    unlock_plugins(locked);
    if (loaded != NULL) goto fail;
    status = open_file(&from, given, error);
    if (status != REEVE_OK) goto fail;
    locked = lock_plugins();
    status = join_or_make(ret, &from, given, error);
    unlock_plugins(locked);
    return status;

fail:
    rv_free(path);
    return status;
}

/* name_or_path is set, and the caller is in no hook. */
static reeve_status open_named(reeve_plugin_handle **ret, const char *name_or_path, const char *dir,
                               given_options *given, rv_error *error)
{
    char *path = NULL;
    reeve_status status = find_file(&path, name_or_path, dir, error);

    return status == REEVE_OK ? open_path(ret, path, given, error) : status;
}

static reeve_status open_given(reeve_plugin_handle **ret, const char *name_or_path, const char *dir,
                               given_options *given, size_t *ret_bad, rv_error *error)
{
    *ret = NULL;
    *ret_bad = given->bad = RV_PLUGIN_OPTION_NONE;
    if (owns_lock) return rv_fail(error, REEVE_ESTATE, "a hook of a plugin cannot open plugins");
    if (name_or_path == NULL) return rv_fail(error, REEVE_EINVAL, "no plugin was named");
    if (given->values == NULL && given->count > 0)
        return rv_fail(error, REEVE_EINVAL, "no values of %zu options", given->count);
    reeve_status status = open_named(ret, name_or_path, dir, given, error);
    *ret_bad = given->bad;
    return status;
}

reeve_status rv_plugin_open(reeve_plugin_handle **ret, const char *name_or_path, const char *dir,
                            const reeve_option_value *values, size_t count, size_t *ret_bad, rv_error *error)
{
    given_options given = {.values = values, .count = count};

    return open_given(ret, name_or_path, dir, &given, ret_bad, error);
}

reeve_status rv_plugin_open_copy(reeve_plugin_handle **ret, const char *name_or_path, const char *dir,
                                 const reeve_option_value *values, size_t count, size_t *ret_bad, rv_error *error)
{
    given_options given = {.values = values, .count = count, .copies = true};

    return open_given(ret, name_or_path, dir, &given, ret_bad, error);
}

bool rv_plugin_runs_hook(void)
{
    return owns_lock || loads;
}

reeve_plugin_handle *rv_plugin_hold(reeve_plugin_handle *plugin)
{
    bool locked = lock_plugins();

    plugin->users++;
    unlock_plugins(locked);
    return plugin;
}

reeve_status rv_plugin_open_unloaded(reeve_plugin_handle **ret, const char *name_or_path, const char *dir,
                                     rv_error *error)
{
    given_options given = {.bad = RV_PLUGIN_OPTION_NONE, .unloaded = true};

    *ret = NULL;
    return open_named(ret, name_or_path, dir, &given, error);
}

reeve_status reeve_plugin_open_with_options(reeve_plugin_handle **ret, const char *name_or_path, const char *dir,
                                            const reeve_option_value *values, size_t count, char *ret_error,
                                            size_t size)
{
    rv_error error = {0};
    size_t bad;

    if (ret == NULL) return REEVE_EINVAL;
    reeve_status status = rv_plugin_open(ret, name_or_path, dir, values, count, &bad, &error);
    if (status != REEVE_OK) rv_copy_text(ret_error, size, error.text);
    return status;
}

reeve_status reeve_plugin_open(reeve_plugin_handle **ret, const char *name_or_path, const char *dir, char *ret_error,
                               size_t size)
{
    return reeve_plugin_open_with_options(ret, name_or_path, dir, NULL, 0, ret_error, size);
}

void reeve_plugin_close(reeve_plugin_handle *plugin)
{
    if (plugin == NULL) return;
    bool locked = lock_plugins();
    plugin->users--;
    if (plugin->users == 0) {
        take_off_list(plugin);
        if (plugin->loaded && plugin->plugin.unload != NULL) plugin->plugin.unload();
        close_library(plugin->library);
        if (plugin->copy >= 0) close(plugin->copy);
        rv_plugin_gate_fini(plugin);
        free_handle(plugin);
    }
    unlock_plugins(locked);
}

const reeve_plugin *reeve_plugin_get(const reeve_plugin_handle *plugin)
{
    return &plugin->plugin;
}

const reeve_options *reeve_plugin_options(const reeve_plugin_handle *plugin)
{
    return plugin->options;
}

const char *reeve_plugin_path(const reeve_plugin_handle *plugin)
{
    return plugin->path;
}
