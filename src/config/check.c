#include "config/check.h"

#include <string.h>

#include "config/complain.h"
#include "config/read.h"

typedef struct checker {
    const char *file;
    rv_config_errors *errors;
} checker;

/* The text at an element of a list: its own, or that of its member of this name. */
static const config_setting_t *text_at(const config_setting_t *list, int index, const char *member)
{
    const config_setting_t *element = config_setting_get_elem(list, (unsigned)index);

    if (member != NULL) element = config_setting_is_group(element) ? config_setting_get_member(element, member) : NULL;
    return element != NULL && config_setting_type(element) == CONFIG_TYPE_STRING ? element : NULL;
}

static void check_unique(checker *in, const config_setting_t *list, const char *member)
{
    for (int i = 1; i < config_setting_length(list); i++) {
        const config_setting_t *later = text_at(list, i, member);

        for (int j = 0; later != NULL && j < i; j++) {
            const config_setting_t *earlier = text_at(list, j, member);
            const char *text = config_setting_get_string(later);

            if (earlier == NULL || strcmp(text, config_setting_get_string(earlier)) != 0) continue;
            rv_complain_at(in->errors, in->file, later, NULL, "\"%s\" stands at [%d] already (line %u)", text, j,
                           config_setting_source_line(earlier));
            break;
        }
    }
}

/* All unique rows below a group, and in the groups of its lists. */
static void check_names(checker *in, const config_setting_t *group, const rv_setting *parent)
{
    for (const rv_setting *row = rv_setting_next(parent, NULL); row != NULL; row = rv_setting_next(parent, row)) {
        const config_setting_t *list = config_setting_get_member(group, rv_setting_name(row));

        if (list == NULL || !rv_config_is_list(list)) continue;
        if (row->kind == RV_SETTING_NAMES && row->unique) check_unique(in, list, NULL);
        if (row->kind != RV_SETTING_GROUPS) continue;
        for (const rv_setting *below = rv_setting_next(row, NULL); below != NULL; below = rv_setting_next(row, below)) {
            if (below->kind == RV_SETTING_TEXT && below->unique) check_unique(in, list, rv_setting_name(below));
        }
        for (int i = 0; i < config_setting_length(list); i++) {
            const config_setting_t *element = config_setting_get_elem(list, (unsigned)i);
            if (config_setting_is_group(element)) check_names(in, element, row);
        }
    }
}

static void check_backoffs(checker *in, const config_setting_t *root, const rv_config *config)
{
    const config_setting_t *list = config_setting_get_member(root, "handlers");

    for (size_t i = 0; i < config->handler_count; i++) {
        const reeve_backoff *backoff = &config->handlers[i].backoff;

        if (backoff->cap_ms == 0 || backoff->base_ms <= backoff->cap_ms) continue;
        const config_setting_t *group = config_setting_get_elem(list, (unsigned)i);
        rv_complain_at(in->errors, in->file, config_setting_get_member(group, "backoff"), "base",
                       "expected at most cap (%.10g), got %.10g", (double)backoff->cap_ms / 1000,
                       (double)backoff->base_ms / 1000);
    }
}

void rv_config_check(const config_setting_t *root, const rv_config *config, rv_config_errors *errors)
{
    checker in = {config->file, errors};

    check_names(&in, root, NULL);
    check_backoffs(&in, root, config);
}
