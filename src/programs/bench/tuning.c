#include "tuning.h"

#define BATCH_DEFAULT 128
#define ENOUGH 0.9 /* of the highest rate: more threads are not worth it */
#define BETTER_BATCH 1.1
#define GAIN 1.05           /* a rate that rises less does not rise */
#define SHARE 0.7           /* of the highest rate, at which waits are measured */
#define ARRIVALS_MAX 5000.0 /* one client enqueues so many, whatever else the machine does */
#define HEADROOM 1.1        /* threads that run fewer tasks than this many times those that come fall behind */

static int step(bench_tuning *tuning, unsigned threads, unsigned batch, double arrivals)
{
    bench_trial *trial = &tuning->steps[tuning->count];

    *trial = (bench_trial){.threads = threads, .batch = batch, .arrivals = arrivals};
    cli_note(tuning->subject.cli, "%u thread%s, batch %u", threads, threads == 1 ? "" : "s", batch);
    int status = bench_trial_run(&tuning->subject, trial);
    if (status != CLI_DONE) return status;
    if (trial->rate <= 0)
        return cli_fail(tuning->subject.cli, CLI_REFUSED, "no task ended within a step: give a longer --for");
    tuning->count++;
    return CLI_DONE;
}

/* The first of these steps that does as well as the best. */
static size_t choose(const bench_tuning *tuning, size_t from, double enough)
{
    double highest = 0;
    size_t i = from;

    for (size_t j = from; j < tuning->count; j++)
        if (tuning->steps[j].rate > highest) highest = tuning->steps[j].rate;
    while (i + 1 < tuning->count && tuning->steps[i].rate < enough * highest) i++;
    return i;
}

/* Twice as many each time, until two steps in a row gain nothing. */
static int try_threads(bench_tuning *tuning)
{
    int status = CLI_DONE, in_vain = 0;
    double highest = 0;

    for (unsigned threads = 1; status == CLI_DONE && in_vain < 2; threads *= 2) {
        unsigned tried = threads < tuning->max_threads ? threads : tuning->max_threads;

        status = step(tuning, tried, BATCH_DEFAULT, 0);
        if (status != CLI_DONE) return status;
        double rate = tuning->steps[tuning->count - 1].rate;
        in_vain = rate > GAIN * highest ? 0 : in_vain + 1;
        if (rate > highest) highest = rate;
        if (tried == tuning->max_threads) return CLI_DONE;
    }
    return status;
}

/* Waits, where the threads keep up. */
static int try_waits(bench_tuning *tuning)
{
    int status = CLI_DONE;
    size_t count = tuning->count, highest = choose(tuning, 0, 1);

    if (tuning->arrivals <= 0) tuning->arrivals = SHARE * tuning->steps[highest].rate;
    if (tuning->arrivals > ARRIVALS_MAX) tuning->arrivals = ARRIVALS_MAX;
    for (size_t i = 0; i < count && status == CLI_DONE; i++) {
        bench_trial *full = &tuning->steps[i];

        full->fell_behind = full->rate < HEADROOM * tuning->arrivals;
        if (full->fell_behind) continue;
        status = step(tuning, full->threads, full->batch, tuning->arrivals);
        if (status != CLI_DONE) break;
        const bench_trial *steady = &tuning->steps[--tuning->count];
        full->wait_p50_ms = steady->wait_p50_ms;
        full->wait_p95_ms = steady->wait_p95_ms;
        full->fell_behind = steady->fell_behind;
    }
    return status;
}

static int try_batches(bench_tuning *tuning, unsigned threads)
{
    static const unsigned batches[] = {1, 8, 32};
    int status = CLI_DONE;

    for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]) && status == CLI_DONE; i++) {
        status = step(tuning, threads, batches[i], 0);
        if (status == CLI_DONE) tuning->steps[tuning->count - 1].fell_behind = true; /* its waits were not measured */
    }
    return status;
}

static const char *explain(const bench_tuning *tuning, size_t of_threads)
{
    const bench_trial *best = &tuning->steps[tuning->best], *last = &tuning->steps[of_threads - 1];

    if (best->cpu > 0.85 * tuning->processors)
        return "the handler keeps all processors busy with so many threads: more of them only share these";
    if (best->threads == last->threads && of_threads > 1)
        return "the rate rises up to the last step: measure with a higher --max-threads";
    if (of_threads == 1) return "no other number was measured";
    return "with more threads the rate rises by less than a tenth";
}

int bench_tuning_run(bench_tuning *tuning)
{
    int status = try_threads(tuning);
    size_t of_threads = tuning->count;

    if (status == CLI_DONE) status = try_waits(tuning);
    if (status != CLI_DONE) return status;
    tuning->best = choose(tuning, 0, ENOUGH);
    tuning->reason = explain(tuning, of_threads);
    status = try_batches(tuning, tuning->steps[tuning->best].threads);
    if (status != CLI_DONE) return status;
    /* The default stands, unless a smaller one does better. */
    for (size_t i = of_threads; i < tuning->count; i++)
        if (tuning->steps[i].rate > BETTER_BATCH * tuning->steps[tuning->best].rate) tuning->best = i;
    return CLI_DONE;
}
