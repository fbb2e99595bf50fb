#include "web_pace.h"

#define CALM_MAX 2
#define RISE 4         /* by a quarter at a reading */
#define LEAST_RISE 256 /* many answers of a kind are read */
#define LEAST_TIMES 4

/* The new cost, if it is not much more than the old one. */
static int64_t towards(int64_t cost_us, int64_t old_us, int64_t part)
{
    int64_t most = old_us + old_us / part + 1;

    return old_us > 0 && cost_us > most ? most : cost_us;
}

void web_pace_note(web_pace *pace, int64_t *least_us, int64_t cost_us, bool changed)
{
    pace->calm = changed ? 0 : pace->calm < CALM_MAX ? pace->calm + 1 : CALM_MAX;
    if (cost_us < 1) cost_us = 1;
    *least_us = towards(cost_us, *least_us, LEAST_RISE);
    if (cost_us > *least_us * LEAST_TIMES) cost_us = *least_us * LEAST_TIMES;
    pace->cost_us = towards(cost_us, pace->cost_us > 0 ? pace->cost_us : *least_us, RISE);
}

void web_pace_add(web_pace_sum *sum, const web_pace *pace)
{
    double asked = pace->interval_ms > 0 ? (double)pace->cost_us * 1000 / (double)pace->interval_ms : 0;

    sum->asked += asked;
    sum->calm += asked / (1u << pace->calm);
}

int64_t web_pace_interval(const web_pace *pace, const web_pace_sum *sum)
{
    double factor = sum->calm / WEB_PACE_BUDGET_US * (1u << pace->calm);

    if (sum->asked <= WEB_PACE_BUDGET_US || factor <= 1) return pace->interval_ms;
    double interval_ms = (double)pace->interval_ms * factor;
    if (interval_ms < WEB_PACE_INTERVAL_MAX_MS) return (int64_t)interval_ms;
    return pace->interval_ms > WEB_PACE_INTERVAL_MAX_MS ? pace->interval_ms : WEB_PACE_INTERVAL_MAX_MS;
}
