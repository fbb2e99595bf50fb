/*
 * The table for people. docs/configuration.md has the Markdown of it, and a test compares them.
 */
#include <string.h>

#include "config/planned.h"
#include "config/setting_rows.h"

static bool is_container(const rv_setting *row)
{
    return row->kind == RV_SETTING_GROUP || row->kind == RV_SETTING_GROUPS;
}

static void describe_row(rv_buf *out, const rv_setting *row)
{
    rv_buf_addf(out, "%s\n    %s\n", row->path, row->help);
    rv_buf_adds(out, "    Expected: ");
    rv_setting_expected(row, out);
    if (row->required)
        rv_buf_adds(out, ". Required");
    else if (row->standard != NULL || row->otherwise != NULL)
        rv_buf_addf(out, ". Default: %s", row->standard != NULL ? row->standard : row->otherwise);
    rv_buf_adds(out, ".\n");
}

void rv_config_describe(rv_buf *out)
{
    for (size_t i = 0; i < rv_setting_count; i++) describe_row(out, &rv_settings[i]);
    for (const rv_planned *row = rv_planned_features; row->name != NULL; row++)
        rv_buf_addf(out, "%s\n    Not available in this version: %s.\n", row->name, row->purpose);
}

static void add_markdown_default(rv_buf *out, const rv_setting *row)
{
    if (row->required)
        rv_buf_adds(out, "required");
    else if (row->standard != NULL)
        rv_buf_addf(out, "`%s`", row->standard);
    else
        rv_buf_adds(out, row->otherwise == NULL ? "" : row->otherwise);
}

static void add_markdown_row(rv_buf *out, const rv_setting *row)
{
    rv_buf_addf(out, "| `%s` | ", rv_setting_name(row));
    rv_setting_expected(row, out);
    rv_buf_adds(out, " | ");
    add_markdown_default(out, row);
    rv_buf_addf(out, " | %s |\n", row->help);
}

/* The plain settings of one group as a table. */
static void add_markdown_group(rv_buf *out, const rv_setting *parent)
{
    const rv_setting *row;
    bool plain = false;

    for (row = rv_setting_next(parent, NULL); row != NULL; row = rv_setting_next(parent, row)) {
        if (is_container(row)) continue;
        if (!plain) rv_buf_adds(out, "\n| setting | expected | default | |\n|---|---|---|---|\n");
        plain = true;
        add_markdown_row(out, row);
    }
}

void rv_config_describe_markdown(rv_buf *out)
{
    rv_buf_adds(out, "### The file itself\n");
    add_markdown_group(out, NULL);
    for (size_t i = 0; i < rv_setting_count; i++) {
        const rv_setting *row = &rv_settings[i];

        if (!is_container(row)) continue;
        rv_buf_addf(out, "\n### `%s`\n\n%s", row->path, row->help);
        if (row->required) rv_buf_adds(out, " Required.");
        if (row->otherwise != NULL) rv_buf_addf(out, " Default: %s.", row->otherwise);
        rv_buf_addc(out, '\n');
        add_markdown_group(out, row);
    }
    if (rv_planned_features[0].name == NULL) return;
    rv_buf_adds(out, "\n### Refused in this version\n\n| setting | purpose |\n|---|---|\n");
    for (const rv_planned *row = rv_planned_features; row->name != NULL; row++)
        rv_buf_addf(out, "| `%s` | %s |\n", row->name, row->purpose);
}
