#include "exposition.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "reeve/reeve.h"
#include "reeve/version.h"

void rv_exposition_begin(rv_exposition *to, FILE *out, const char *accept)
{
    *to = (rv_exposition){.out = out, .open_metrics = accept != NULL && strstr(accept, "application/openmetrics-text")};
}

void rv_exposition_end(rv_exposition *to)
{
    if (to->open_metrics) (void)fputs("# EOF\n", to->out);
}

const char *rv_exposition_type(const rv_exposition *to)
{
    return to->open_metrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                            : "text/plain; version=0.0.4; charset=utf-8";
}

static void write_escaped(FILE *out, const char *text, bool quotes)
{
    for (; *text != '\0'; text++) {
        if (*text == '\\' || (quotes && *text == '"'))
            (void)fprintf(out, "\\%c", *text);
        else if (*text == '\n')
            (void)fputs("\\n", out);
        else
            (void)fputc(*text, out);
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
    (void)fprintf(to->out, "# HELP %s%s ", name, suffix);
    write_escaped(to->out, help, to->open_metrics);
    (void)fprintf(to->out, "\n# TYPE %s%s %s\n", name, suffix, kinds[kind]);
    if (to->open_metrics && unit != NULL) (void)fprintf(to->out, "# UNIT %s %s\n", name, unit);
}

static void write_number(FILE *out, double value)
{
    if (isinf(value))
        (void)fputs(value > 0 ? "+Inf" : "-Inf", out);
    else if (isnan(value))
        (void)fputs("NaN", out);
    else
        (void)fprintf(out, "%.15g", value);
}

/* more: a last label, "le" for instance; NULL: none. */
static void write_labels(FILE *out, rv_exposition_labels labels, const char *more, double value)
{
    bool any = false;

    for (size_t i = 0; labels != NULL && labels[i] != NULL; i += 2) {
        (void)fprintf(out, "%s%s=\"", any ? "," : "{", labels[i]);
        write_escaped(out, labels[i + 1], true);
        (void)fputc('"', out);
        any = true;
    }
    if (more != NULL) {
        (void)fprintf(out, "%s%s=\"", any ? "," : "{", more);
        write_number(out, value);
        (void)fputc('"', out);
        any = true;
    }
    if (any) (void)fputc('}', out);
}

static void write_sample(const rv_exposition *to, const char *suffix, rv_exposition_labels labels, double value)
{
    (void)fprintf(to->out, "%s%s", to->name, suffix);
    write_labels(to->out, labels, NULL, 0);
    (void)fputc(' ', to->out);
    write_number(to->out, value);
    (void)fputc('\n', to->out);
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
        (void)fprintf(to->out, "%s_bucket", to->name);
        write_labels(to->out, labels, "le", i < bound_count ? bounds[i] : INFINITY);
        (void)fprintf(to->out, " %" PRIu64 "\n", total);
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

/* ---- the process ----------------------------------------------------------------------------------------------- */

static double resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long long size = 0, resident = 0;

    if (file == NULL) return 0;
    if (fscanf(file, "%llu %llu", &size, &resident) != 2) resident = 0; /* NOLINT(cert-err34-c) */
    (void)fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static double open_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    double count = 0;

    if (directory == NULL) return 0;
    while (readdir(directory) != NULL) count++;
    (void)closedir(directory);
    return count > 3 ? count - 3 : 0; /* without ".", ".." and the directory itself */
}

void rv_exposition_process(rv_exposition *to, int64_t started_ms)
{
    const char *const labels[] = {"version", reeve_version(), NULL};
    struct rusage usage = {0};
    struct rlimit files = {0};

    (void)getrusage(RUSAGE_SELF, &usage);
    (void)getrlimit(RLIMIT_NOFILE, &files);
    rv_exposition_family(to, "reeve_build_info", RV_EXPOSITION_GAUGE, NULL, "The version of reeve; always 1.");
    rv_exposition_sample(to, labels, 1);
    rv_exposition_counter(to, "process_cpu_seconds", "seconds", "Processor time of the process.",
                          (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                              (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    rv_exposition_gauge(to, "process_resident_memory_bytes", "bytes", "Resident memory of the process.",
                        resident_bytes());
    rv_exposition_gauge(to, "process_start_time_seconds", "seconds", "When the process began, since the epoch.",
                        (double)started_ms / 1000);
    rv_exposition_gauge(to, "process_open_fds", NULL, "Open file descriptors.", open_descriptors());
    rv_exposition_gauge(to, "process_max_fds", NULL, "Maximum number of open file descriptors.",
                        (double)files.rlim_cur);
}
