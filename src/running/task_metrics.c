#include "running/task_metrics.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"

const double rv_task_metrics_bounds[RV_TASK_BOUNDS] = {0.001, 0.005, 0.025, 0.1, 0.25, 1, 5, 15, 60, 300, 1800, 7200};

static const uint64_t bounds_us[RV_TASK_BOUNDS] = {1000,    5000,     25000,    100000,    250000,     1000000,
                                                   5000000, 15000000, 60000000, 300000000, 1800000000, 7200000000};

const char *rv_task_metrics_word(rv_task_result result)
{
    static const char *const words[RV_TASK_RESULT_COUNT] = {"completed", "retried",    "dead",
                                                            "cancelled", "given_back", "refused"};
    return words[result];
}

rv_task_metrics *rv_task_metrics_new(atomic_uint *series_count)
{
    rv_task_metrics *metrics = rv_zalloc(sizeof(*metrics));
    if (metrics == NULL) return NULL;
    metrics->series_count = series_count;
    rv_copy_text(metrics->other.type, sizeof(metrics->other.type), "other");
    return metrics;
}

void rv_task_metrics_free(rv_task_metrics *metrics)
{
    if (metrics == NULL) return;
    while (metrics->first != NULL) {
        rv_task_series *next = metrics->first->next;
        rv_free(metrics->first);
        metrics->first = next;
    }
    rv_free(metrics);
}

/* ---- counting -------------------------------------------------------------------------------------------------- */

static bool is_of(const rv_task_series *series, const char *type, size_t length)
{
    return series->length == length && memcmp(series->type, type, length) == 0;
}

static rv_task_series *add_series(rv_task_metrics *metrics, const char *type, size_t length)
{
    if (length > REEVE_TYPE_MAX) return &metrics->other;
    if (atomic_fetch_add(metrics->series_count, 1) >= RV_TASK_SERIES_MAX) {
        (void)atomic_fetch_sub(metrics->series_count, 1);
        return &metrics->other;
    }
    rv_task_series *series = rv_zalloc(sizeof(*series));
    if (series == NULL) {
        (void)atomic_fetch_sub(metrics->series_count, 1);
        return &metrics->other;
    }
    memcpy(series->type, type, length);
    series->length = length;
    series->next = metrics->first;
    return metrics->first = series;
}

static rv_task_series *find_series(rv_task_metrics *metrics, const char *type, size_t length)
{
    if (metrics->last != NULL && is_of(metrics->last, type, length)) return metrics->last;
    rv_task_series *at = metrics->first;
    while (at != NULL && !is_of(at, type, length)) at = at->next;
    return at != NULL ? at : add_series(metrics, type, length);
}

static rv_task_result result_of(const rv_settlement *outcome, bool refused)
{
    if (refused) return RV_TASK_REFUSED;
    switch (outcome->outcome) {
    case REEVE_OUTCOME_DONE:
        return outcome->failed ? RV_TASK_DEAD : RV_TASK_COMPLETED;
    case REEVE_OUTCOME_RETRY:
        return RV_TASK_RETRIED;
    case REEVE_OUTCOME_FAIL:
        return RV_TASK_DEAD;
    case REEVE_OUTCOME_CANCEL:
    case REEVE_OUTCOME_DISCARD:
        return RV_TASK_CANCELLED;
    default:
        return RV_TASK_GIVEN_BACK;
    }
}

static void add_time(rv_task_times *times, uint64_t us)
{
    size_t bucket = 0;
    while (bucket < RV_TASK_BOUNDS && us > bounds_us[bucket]) bucket++;
    times->count[bucket]++;
    times->sum_us += us;
}

void rv_task_metrics_add(rv_task_metrics *metrics, const rv_settlement *outcome, const rv_attempt *attempt,
                         bool refused)
{
    rv_task_series *series = find_series(metrics, attempt->type, attempt->type_length);
    metrics->last = series != &metrics->other ? series : NULL;
    series->results[result_of(outcome, refused)]++;
    if (attempt->run_us <= 0) return; /* its handler did not run */
    add_time(&series->run, (uint64_t)attempt->run_us);
    if (attempt->wait_ms >= 0) add_time(&series->wait, (uint64_t)attempt->wait_ms * 1000);
}

static void merge_times(rv_task_times *to, const rv_task_times *from)
{
    for (size_t i = 0; i <= RV_TASK_BOUNDS; i++) to->count[i] += from->count[i];
    to->sum_us += from->sum_us;
}

void rv_task_metrics_merge(rv_task_series *to, const rv_task_series *from)
{
    for (size_t i = 0; i < RV_TASK_RESULT_COUNT; i++) to->results[i] += from->results[i];
    merge_times(&to->wait, &from->wait);
    merge_times(&to->run, &from->run);
}
