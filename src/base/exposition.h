/*
 * exposition.h - metrics in the text format of Prometheus, or OpenMetrics: families, samples with labels, escapes. No
 * I/O, but for rv_exposition_process. Any thread. The text goes to a buffer, which says whether memory was missing.
 */
#ifndef RV_BASE_EXPOSITION_H
#define RV_BASE_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

typedef enum rv_exposition_kind {
    RV_EXPOSITION_GAUGE,
    RV_EXPOSITION_COUNTER,
    RV_EXPOSITION_HISTOGRAM
} rv_exposition_kind;

typedef struct rv_exposition {
    rv_buf *out;
    bool open_metrics;
    const char *name; /* of the family */
    rv_exposition_kind kind;
} rv_exposition;

/* Labels: pairs of a name and a value, ended by NULL. NULL: none. */
typedef const char *const *rv_exposition_labels;

/* accept: the header Accept of the request, or NULL; it decides the format. */
void rv_exposition_begin(rv_exposition *to, rv_buf *out, const char *accept);
void rv_exposition_end(rv_exposition *to);
/* The Content-Type. */
const char *rv_exposition_type(const rv_exposition *to);

/* Begins a family. The name of a counter has no "_total": it is added to its samples. unit: NULL: none. */
void rv_exposition_family(rv_exposition *to, const char *name, rv_exposition_kind kind, const char *unit,
                          const char *help);
/* A sample of a gauge or a counter. */
void rv_exposition_sample(rv_exposition *to, rv_exposition_labels labels, double value);
/* A histogram: count[i] values that are at most bounds[i], and not at most bounds[i - 1]; count[bound_count]: the rest. */
void rv_exposition_histogram(rv_exposition *to, rv_exposition_labels labels, const double *bounds, size_t bound_count,
                             const uint64_t *count, double sum);
/* A family with one sample and no labels. */
void rv_exposition_gauge(rv_exposition *to, const char *name, const char *unit, const char *help, double value);
void rv_exposition_counter(rv_exposition *to, const char *name, const char *unit, const char *help, double value);

/* reeve_build_info: the version. */
void rv_exposition_build_info(rv_exposition *to);
/* process_*: processor time, memory, descriptors, start. Reads /proc (exposition_process.c). */
void rv_exposition_process(rv_exposition *to, int64_t started_ms);

#endif
