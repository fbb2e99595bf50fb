#include "protocol/tally.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

rv_tally *rv_tally_new(int64_t day)
{
    rv_tally *tally = rv_zalloc(sizeof(*tally));
    if (tally != NULL) tally->day = day;
    return tally;
}

void rv_tally_free(rv_tally *tally)
{
    if (tally == NULL) return;
    rv_free(tally->kinds);
    rv_type_tallies_fini(&tally->types);
    rv_free(tally);
}

/* ---- adding ---------------------------------------------------------------------------------------------------- */

static reeve_kind_stats *find_kind(rv_tally *tally, const char *kind)
{
    for (size_t i = 0; i < tally->kind_count; i++) {
        if (strcmp(tally->kinds[i].kind, kind) == 0) return &tally->kinds[i];
    }
    return NULL;
}

/* NULL: no memory. */
static reeve_kind_stats *kind_of(rv_tally *tally, const char *kind)
{
    reeve_kind_stats *known = find_kind(tally, kind);
    if (known != NULL) return known;
    if (tally->kind_count >= RV_TALLY_KINDS && kind[0] != '\0') return kind_of(tally, "");
    if (tally->kind_count == tally->kind_capacity) {
        size_t capacity = tally->kind_capacity == 0 ? 4 : 2 * tally->kind_capacity;
        reeve_kind_stats *kinds = rv_realloc_array(tally->kinds, capacity, sizeof(*kinds));
        if (kinds == NULL) return NULL;
        tally->kinds = kinds;
        tally->kind_capacity = capacity;
    }
    known = &tally->kinds[tally->kind_count++];
    memset(known, 0, sizeof(*known));
    rv_copy_text(known->kind, sizeof(known->kind), kind);
    return known;
}

static void add_kind(rv_tally *tally, const char *name, const rv_settlement_count *counts)
{
    reeve_kind_stats *kind = kind_of(tally, name != NULL ? name : "");
    if (kind == NULL) return;
    kind->retried += counts->retried;
    kind->dead += counts->dead;
}

static void add_type(rv_tally *tally, const rv_settlement_count *counts, const rv_attempt *attempt, bool ran)
{
    rv_type_tally *type = rv_type_tallies_find(&tally->types, attempt->type, attempt->type_length);
    if (type == NULL) return;
    type->completed += counts->completed;
    type->failed += counts->failed;
    type->dead += counts->dead;
    if (ran) rv_type_tallies_add_range(&type->run, (uint64_t)attempt->run_us);
    if (ran && attempt->wait_ms >= 0) rv_type_tallies_add_range(&type->wait, (uint64_t)attempt->wait_ms);
}

void rv_tally_add(rv_tally *tally, const rv_settlement *outcome, const rv_attempt *attempt)
{
    rv_settlement_count counts = rv_settlement_counts(outcome);
    if (counts.completed + counts.retried + counts.dead == 0) return;
    tally->completed += counts.completed;
    tally->retried += counts.retried;
    tally->dead += counts.dead;
    tally->failed += counts.failed;
    if (!counts.completed) add_kind(tally, outcome->kind, &counts);
    bool ran = attempt->run_us > 0 && (!counts.dead || counts.failed);
    add_type(tally, &counts, attempt, ran);
    if (!ran) return;
    rv_times_add_us(&tally->run, attempt->run_us);
    if (attempt->wait_ms >= 0) rv_times_add_ms(&tally->wait, attempt->wait_ms);
}

/* ---- flushing -------------------------------------------------------------------------------------------------- */

/* Both passes, counting and writing, come through here: conn NULL counts. */
static size_t one_number(rv_conn *conn, const char *group, const char *name, uint64_t number)
{
    if (conn == NULL) return 1;
    rv_arg2(conn, group, strlen(group), name, strlen(name));
    rv_argi(conn, (int64_t)number);
    return 1;
}

static size_t one_sum(rv_conn *conn, const char *group, const char *name, uint64_t number)
{
    return number > 0 ? one_number(conn, group, name, number) : 0;
}

static size_t times_sums(rv_conn *conn, const char *group, const rv_times *times)
{
    char name[24];
    uint64_t squares[3] = {times->squares[0], times->squares[1], times->squares[2]};
    rv_times_carry(squares);
    size_t sums = one_sum(conn, group, "count", times->count) + one_sum(conn, group, "sum", times->sum) +
                  one_sum(conn, group, "max", times->max);
    /* A minimum of 0 is sent: there may be a larger one of another worker. */
    if (times->count > 0) sums += one_number(conn, group, "min", times->min);
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(name, sizeof(name), "squares%zu", i);
        sums += one_sum(conn, group, name, squares[i]);
    }
    for (size_t i = 0; times->count > 0 && i < REEVE_STATS_BUCKETS; i++) {
        if (times->buckets[i] == 0) continue;
        (void)snprintf(name, sizeof(name), "%zu", i);
        sums += one_sum(conn, group, name, times->buckets[i]);
    }
    return sums;
}

static size_t all_sums(rv_conn *conn, const rv_tally *tally)
{
    return one_sum(conn, "", "completed", tally->completed) + one_sum(conn, "", "failed", tally->failed) +
           one_sum(conn, "", "retried", tally->retried) + one_sum(conn, "", "dead", tally->dead) +
           times_sums(conn, "wait:", &tally->wait) + times_sums(conn, "run:", &tally->run);
}

size_t rv_tally_args(const rv_tally *tally)
{
    return 3 + 2 * all_sums(NULL, tally) + 3 * tally->kind_count + RV_TALLY_TYPE_ARGS * tally->types.count;
}

void rv_tally_build(rv_conn *conn, const rv_tally *tally)
{
    rv_argi(conn, tally->day);
    rv_argi(conn, (int64_t)all_sums(NULL, tally));
    rv_argi(conn, (int64_t)tally->kind_count);
    (void)all_sums(conn, tally);
    for (size_t i = 0; i < tally->kind_count; i++) {
        const reeve_kind_stats *kind = &tally->kinds[i];
        rv_args(conn, kind->kind);
        rv_argi(conn, (int64_t)kind->retried);
        rv_argi(conn, (int64_t)kind->dead);
    }
    rv_type_tallies_build(conn, &tally->types);
}
