#include "running/outcome_counts.h"

void rv_outcome_counts_add(rv_outcome_counts *counts, const rv_settlement *outcome, bool refused)
{
    if (refused) {
        counts->refused++;
        return;
    }
    rv_settlement_count one = rv_settlement_counts(outcome);
    counts->completed += one.completed;
    counts->failed += one.failed;
    counts->dead += one.dead;
    counts->given_back += one.given_back;
}

bool rv_outcome_counts_have_tally(const rv_outcome_counts *counts)
{
    return counts->completed + counts->failed + counts->dead > 0;
}

static void publish(atomic_ullong *total, uint64_t more)
{
    if (more > 0) atomic_fetch_add_explicit(total, more, memory_order_relaxed);
}

void rv_outcome_counts_publish(const rv_outcome_counts *counts, rv_stats *stats)
{
    publish(&stats->completed, counts->completed);
    publish(&stats->failed, counts->failed);
    publish(&stats->dead, counts->dead);
    publish(&stats->given_back, counts->given_back);
    publish(&stats->refused, counts->refused);
}
