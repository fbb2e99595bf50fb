/*
 * web_pace.h - how often answers that viewers look at are read again. A viewer asks for an interval. Where all answers
 * together would take Redis more than the budget, all intervals grow by the same factor; those of answers that have not
 * changed lately grow more, so that those that change are newer.
 */
#ifndef WEB_PACE_H
#define WEB_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Of the time for which this server waits for Redis in a second; about half of that is time of Redis. */
#define WEB_PACE_BUDGET_US 800
#define WEB_PACE_INTERVAL_MAX_MS 60000 /* an answer is read again after this time, whatever it costs */

/* An answer; zeroed: it was not read yet. */
typedef struct web_pace {
    int64_t interval_ms; /* that its viewers ask for */
    int64_t cost_us;     /* for which Redis was waited */
    unsigned calm;       /* how many reads have found it unchanged, 0 to 2 */
} web_pace;

/* The time of Redis that answers would take in a second, in microseconds; zeroed: no answer. */
typedef struct web_pace_sum {
    double asked; /* with the intervals that viewers ask for */
    double calm;  /* with longer ones for those that are unchanged */
} web_pace_sum;

/* It was read. Where much is read at the same time, the calls wait for each other: so costs rise slowly, fall at once,
 * and are at most four times those of the cheapest answer of the same kind, *least_us. 0: none was read yet. */
void web_pace_note(web_pace *pace, int64_t *least_us, int64_t cost_us, bool changed);

void web_pace_add(web_pace_sum *sum, const web_pace *pace);

/* After how many milliseconds it is read again. sum: of all answers, with this one. */
int64_t web_pace_interval(const web_pace *pace, const web_pace_sum *sum);

#endif
