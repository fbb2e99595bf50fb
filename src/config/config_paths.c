#include "config/config_paths.h"

#include <string.h>

#include "base/buf.h"
#include "base/listen_address.h"
#include "base/mem.h"
#include "config/complain.h"

#define PATH_LENGTH_MAX 16384

static const char unix_prefix[] = "unix:";

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

/* The path in "unix:PATH"; NULL: it is an address of the network, or none. */
static const char *socket_of(const char *address)
{
    const size_t length = sizeof(unix_prefix) - 1;
    return address != NULL && strncmp(address, unix_prefix, length) == 0 ? address + length : NULL;
}

/* "unix:PATH"; an address of the network stays. */
static reeve_status place_address(char **address, const char *file)
{
    const char *inner = socket_of(*address);
    if (inner == NULL) return REEVE_OK;
    rv_buf placed;
    rv_buf_init(&placed, PATH_LENGTH_MAX);
    rv_buf_adds(&placed, unix_prefix);
    char *path = rv_strdup(inner), *text = NULL;
    reeve_status status = path != NULL ? place(&path, file) : REEVE_ENOMEM;
    if (status == REEVE_OK) rv_buf_adds(&placed, path);
    if (status == REEVE_OK && !placed.failed) text = rv_strdup(rv_buf_text(&placed));
    rv_buf_fini(&placed);
    rv_free(path);
    if (text == NULL) return REEVE_ENOMEM;
    rv_free(*address);
    *address = text;
    return REEVE_OK;
}

static reeve_status place_plugins(rv_config *config)
{
    reeve_status status = place(&config->plugin_dir, config->file);
    for (size_t i = 0; i < config->plugin_count && status == REEVE_OK; i++) {
        char **text = &config->plugins[i].name;
        if (*text != NULL && strchr(*text, '/') != NULL) status = place(text, config->file);
    }
    return status;
}

reeve_status rv_config_paths_place(rv_config *config)
{
    char **const files[] = {&config->redis_password_file, &config->worker.log_file,  &config->worker.crash_dir,
                            &config->worker.health,       (char **)&config->tls.ca,  (char **)&config->tls.ca_dir,
                            (char **)&config->tls.cert,   (char **)&config->tls.key, &config->web.users,
                            &config->web.token_file,      &config->web.cert,         &config->web.key};
    reeve_status status = place_plugins(config);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && status == REEVE_OK; i++)
        status = place(files[i], config->file);
    for (size_t i = 0; i < config->pool_count && status == REEVE_OK; i++)
        status = place(&config->pools[i].runner.scratch, config->file);
    if (status == REEVE_OK) status = place_address(&config->web.listen, config->file);
    return status == REEVE_OK ? place_address(&config->metrics.listen, config->file) : status;
}

void rv_config_paths_check(const config_setting_t *root, const rv_config *config, rv_config_errors *errors)
{
    const struct {
        const char *group, *member, *path;
    } sockets[] = {{"worker", "health", config->worker.health},
                   {"web", "listen", socket_of(config->web.listen)},
                   {"metrics", "listen", socket_of(config->metrics.listen)}};
    for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++) {
        const config_setting_t *group = config_setting_get_member(root, sockets[i].group);
        const config_setting_t *at = group != NULL ? config_setting_get_member(group, sockets[i].member) : NULL;
        size_t length = sockets[i].path != NULL ? strlen(sockets[i].path) : 0;
        if (at == NULL || length <= RV_LISTEN_PATH_MAX) continue;
        rv_complain_at(errors, config->file, at, NULL,
                       "the path of a socket has at most %d bytes, and \"%s\" has %zu: choose a shorter one",
                       RV_LISTEN_PATH_MAX, sockets[i].path, length);
    }
}
