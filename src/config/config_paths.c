#include "config/config_paths.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define PATH_LENGTH_MAX 16384

/* Puts the directory of the configuration before a relative path. */
static reeve_status place(char **path, const char *file)
{
    const char *slash = strrchr(file, '/');
    if (*path == NULL || (*path)[0] == '/' || (*path)[0] == '\0' || slash == NULL) return REEVE_OK;
    rv_buf placed;
    rv_buf_init(&placed, PATH_LENGTH_MAX);
    rv_buf_add(&placed, file, (size_t)(slash - file) + 1);
    rv_buf_adds(&placed, *path);
    char *text = placed.failed ? NULL : rv_strdup(rv_buf_text(&placed));
    rv_buf_fini(&placed);
    if (text == NULL) return REEVE_ENOMEM;
    rv_free(*path);
    *path = text;
    return REEVE_OK;
}

reeve_status rv_config_paths_place(rv_config *config)
{
    reeve_status status = place(&config->plugin_dir, config->file);
    if (status == REEVE_OK) status = place(&config->redis_password_file, config->file);
    if (status == REEVE_OK) status = place(&config->worker.log_file, config->file);
    if (status == REEVE_OK) status = place(&config->worker.crash_dir, config->file);
    char **const files[] = {&config->web.users, &config->web.token_file, &config->web.cert, &config->web.key};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && status == REEVE_OK; i++)
        status = place(files[i], config->file);
    for (size_t i = 0; i < config->plugin_count && status == REEVE_OK; i++) {
        char **text = &config->plugins[i].name;
        if (*text != NULL && strchr(*text, '/') != NULL) status = place(text, config->file);
    }
    return status;
}
