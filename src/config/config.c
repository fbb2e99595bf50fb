#include "config/config.h"

#include <libconfig.h>
#include <libgen.h>
#include <string.h>

#include "base/mem.h"
#include "config/complain.h"
#include "config/config_check.h"
#include "config/config_paths.h"
#include "config/config_read.h"
#include "config/setting_rows.h"
#include "config/source.h"

static reeve_status parse(config_t *parsed, const char *path, const char *text, rv_config_errors *errors)
{
    if (config_read_string(parsed, text) == CONFIG_TRUE) return REEVE_OK;
    const char *file = config_error_file(parsed);
    rv_buf where;

    rv_buf_init(&where, 8192);
    if (file == NULL)
        rv_buf_adds(&where, path);
    else
        rv_complain_add_included(&where, path, file, strlen(file));
    rv_buf_addf(&where, ":%d", config_error_line(parsed));
    rv_complain(errors, rv_buf_text(&where), "%s", config_error_text(parsed));
    rv_buf_fini(&where);
    return REEVE_EINVAL;
}

static reeve_status build(rv_config **ret, const char *path, const config_t *parsed, rv_config_errors *errors)
{
    const config_setting_t *root = config_root_setting(parsed);
    rv_config *config = rv_zalloc(sizeof(*config));

    if (config == NULL) return REEVE_ENOMEM;
    config->file = rv_strdup(path);
    reeve_status status = config->file == NULL ? REEVE_ENOMEM : rv_config_read_run(root, config, errors);
    if (status == REEVE_OK) {
        rv_config_check_run(root, config, errors);
        if (errors->count > 0) status = REEVE_EINVAL;
    }
    if (status == REEVE_OK) status = rv_config_paths_place(config);
    if (status == REEVE_OK) {
        rv_config_paths_check(root, config, errors);
        if (errors->count > 0) status = REEVE_EINVAL;
    }
    if (status == REEVE_OK)
        *ret = config;
    else
        rv_config_free(config);
    return status;
}

reeve_status rv_config_load(const char *path, rv_config **ret, rv_config_errors *errors)
{
    rv_buf text;
    config_t parsed;

    *ret = NULL;
    config_init(&parsed);
    char *copy = rv_strdup(path);
    reeve_status status = rv_source_read(path, &text, errors);
    if (status == REEVE_OK && copy == NULL) status = REEVE_ENOMEM;
    if (status != REEVE_OK) goto out;

    config_set_include_dir(&parsed, dirname(copy));
    rv_source_check(path, rv_buf_text(&text), errors);
    if (errors->count > 0) status = REEVE_EINVAL;
    if (status == REEVE_OK) status = parse(&parsed, path, rv_buf_text(&text), errors);
    if (status == REEVE_OK) status = build(ret, path, &parsed, errors);
out:
    rv_buf_fini(&text);
    config_destroy(&parsed);
    rv_free(copy);
    return status;
}

void rv_config_free(rv_config *config)
{
    if (config == NULL) return;
    rv_setting_release(NULL, (char *)config);
    rv_free(config->file);
    rv_free(config);
}
