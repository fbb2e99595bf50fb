/*
 * tenants.h - a service that makes reports for many tenants: what its two halves share.
 */
#ifndef TENANTS_H
#define TENANTS_H

#include <reeve/limits.h>

#define QUEUE "reports"
#define TYPE "report"

/* What a tenant pays for. */
struct plan {
    const char *name;
    unsigned weight;     /* its share against others, when there is more to do than can be done */
    int64_t concurrency; /* so many of its reports at once */
    reeve_rate rate;     /* so many starts; count 0: any number */
};

/* Of a tenant; of NULL: of all that are not named. */
const struct plan *plan_of(const char *tenant);

/* Makes the plans of all tenants hold, for all workers of the queue, from now on. */
reeve_status plans_apply(reeve_client *client);

/* The back makes reports until INT or TERM, the front reads requests from standard input. Each returns a status. */
int serve(const char *redis);
int submit(const char *redis);

#endif
