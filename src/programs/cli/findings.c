#include "findings.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"

#define TEXT_MAX 4096

static char *make_text(const char *format, va_list arguments)
{
    char text[TEXT_MAX];

    (void)vsnprintf(text, sizeof(text), format, arguments);
    return rv_strdup(text);
}

void cli_find(cli_findings *findings, cli_level level, const char *name, const char *queue, const char *format, ...)
{
    cli_finding *list = rv_realloc_array(findings->list, findings->count + 1, sizeof(*list));
    va_list arguments;

    if (list == NULL) {
        findings->failed = true;
        return;
    }
    findings->list = list;
    va_start(arguments, format);
    list[findings->count] =
        (cli_finding){.level = level, .name = name, .queue = queue, .count = -1, .text = make_text(format, arguments)};
    va_end(arguments);
    if (list[findings->count].text == NULL)
        findings->failed = true;
    else
        findings->count++;
}

void cli_advise(cli_findings *findings, const char *format, ...)
{
    va_list arguments;

    if (findings->failed || findings->count == 0) return;
    va_start(arguments, format);
    findings->list[findings->count - 1].advice = make_text(format, arguments);
    va_end(arguments);
    if (findings->list[findings->count - 1].advice == NULL) findings->failed = true;
}

void cli_find_count(cli_findings *findings, int64_t count)
{
    if (!findings->failed && findings->count > 0) findings->list[findings->count - 1].count = count;
}

size_t cli_findings_of(const cli_findings *findings, cli_level level)
{
    size_t count = 0;

    for (size_t i = 0; i < findings->count; i++) count += findings->list[i].level == level;
    return count;
}

void cli_findings_fini(cli_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        rv_free(findings->list[i].text);
        rv_free(findings->list[i].advice);
    }
    rv_free(findings->list);
    *findings = (cli_findings){0};
}
