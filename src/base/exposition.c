#include "exposition.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/decimal.h"

void rv_exposition_begin(rv_exposition *to, rv_buf *out, const char *accept)
{
    *to = (rv_exposition){.out = out, .open_metrics = accept != NULL && strstr(accept, "application/openmetrics-text")};
}

void rv_exposition_end(rv_exposition *to)
{
    if (to->open_metrics) rv_buf_adds(to->out, "# EOF\n");
}

const char *rv_exposition_type(const rv_exposition *to)
{
    return to->open_metrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                            : "text/plain; version=0.0.4; charset=utf-8";
}

static void write_escaped(rv_buf *out, const char *text, bool quotes)
{
    for (; *text != '\0'; text++) {
        if (*text == '\\' || (quotes && *text == '"'))
            rv_buf_addf(out, "\\%c", *text);
        else if (*text == '\n')
            rv_buf_adds(out, "\\n");
        else
            rv_buf_addc(out, *text);
    }
}

void rv_exposition_family(rv_exposition *to, const char *name, rv_exposition_kind kind, const char *unit,
                          const char *help)
{
    static const char *const kinds[] = {"gauge", "counter", "histogram"};
    /* In OpenMetrics a counter's family has the name without "_total". */
    const char *suffix = kind == RV_EXPOSITION_COUNTER && !to->open_metrics ? "_total" : "";

    to->name = name;
    to->kind = kind;
    rv_buf_addf(to->out, "# HELP %s%s ", name, suffix);
    write_escaped(to->out, help, to->open_metrics);
    rv_buf_addf(to->out, "\n# TYPE %s%s %s\n", name, suffix, kinds[kind]);
    if (to->open_metrics && unit != NULL) rv_buf_addf(to->out, "# UNIT %s %s\n", name, unit);
}

static void write_number(rv_buf *out, double value)
{
    if (isinf(value))
        rv_buf_adds(out, value > 0 ? "+Inf" : "-Inf");
    else if (isnan(value))
        rv_buf_adds(out, "NaN");
    else
        rv_decimal_add(out, value, 15);
}

/* more: a last label, "le" for instance; NULL: none. */
static void write_labels(rv_buf *out, rv_exposition_labels labels, const char *more, double value)
{
    bool any = false;

    for (size_t i = 0; labels != NULL && labels[i] != NULL; i += 2) {
        rv_buf_addf(out, "%s%s=\"", any ? "," : "{", labels[i]);
        write_escaped(out, labels[i + 1], true);
        rv_buf_addc(out, '"');
        any = true;
    }
    if (more != NULL) {
        rv_buf_addf(out, "%s%s=\"", any ? "," : "{", more);
        write_number(out, value);
        rv_buf_addc(out, '"');
        any = true;
    }
    if (any) rv_buf_addc(out, '}');
}

static void write_sample(const rv_exposition *to, const char *suffix, rv_exposition_labels labels, double value)
{
    rv_buf_addf(to->out, "%s%s", to->name, suffix);
    write_labels(to->out, labels, NULL, 0);
    rv_buf_addc(to->out, ' ');
    write_number(to->out, value);
    rv_buf_addc(to->out, '\n');
}

void rv_exposition_sample(rv_exposition *to, rv_exposition_labels labels, double value)
{
    write_sample(to, to->kind == RV_EXPOSITION_COUNTER ? "_total" : "", labels, value);
}

void rv_exposition_histogram(rv_exposition *to, rv_exposition_labels labels, const double *bounds, size_t bound_count,
                             const uint64_t *count, double sum)
{
    uint64_t total = 0;

    for (size_t i = 0; i <= bound_count; i++) {
        total += count[i];
        rv_buf_addf(to->out, "%s_bucket", to->name);
        write_labels(to->out, labels, "le", i < bound_count ? bounds[i] : INFINITY);
        rv_buf_addf(to->out, " %" PRIu64 "\n", total);
    }
    write_sample(to, "_sum", labels, sum);
    write_sample(to, "_count", labels, (double)total);
}

void rv_exposition_gauge(rv_exposition *to, const char *name, const char *unit, const char *help, double value)
{
    rv_exposition_family(to, name, RV_EXPOSITION_GAUGE, unit, help);
    rv_exposition_sample(to, NULL, value);
}

void rv_exposition_counter(rv_exposition *to, const char *name, const char *unit, const char *help, double value)
{
    rv_exposition_family(to, name, RV_EXPOSITION_COUNTER, unit, help);
    rv_exposition_sample(to, NULL, value);
}
